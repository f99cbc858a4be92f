/*
 * Workloads for instructions a second: `speed NAME ROUNDS`. No libc, so that only the workload runs.
 * gcc -O2 -static -nostdlib -fno-builtin -fno-tree-vectorize -fcf-protection=none -o speed speed.c
 */
typedef unsigned char byte;
typedef unsigned int word;
typedef unsigned long quad;

#define KEEP __attribute__((noinline))

static KEEP quad fib(quad n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static byte composite[1 << 16];
static KEEP quad sieve(void) {
  quad primes = 0;
  for (word i = 2; i < sizeof composite; i++) composite[i] = 0;
  for (word i = 2; i < sizeof composite; i++) {
    if (composite[i]) continue;
    primes++;
    for (word j = 2 * i; j < sizeof composite; j += i) composite[j] = 1;
  }
  return primes;
}

static volatile quad from[1024], to[1024];
static KEEP quad copy(void) {
  for (word i = 0; i < 1024; i++) to[i] = from[i];
  return to[1023];
}

static word table[256];
static KEEP quad crc32(void) {
  word crc = ~0u;
  for (word i = 0; i < 256; i++) {
    word c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
    table[i] = c;
  }
  for (word i = 0; i < 65536; i++) crc = table[(crc ^ composite[i]) & 255] ^ crc >> 8;
  return ~crc;
}

/* FIPS 180-4; the constants are computed: cube roots of primes are not needed to keep a CPU busy */
static KEEP quad sha256(void) {
  word w[64], k[64], s[8];
  for (word i = 0; i < 64; i++) k[i] = i * 0x9e3779b9 + 0x428a2f98;
  for (word i = 0; i < 8; i++) s[i] = i * 0x510e527f + 0x6a09e667;
#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))
  for (word block = 0; block < 64; block++) {
    for (word i = 0; i < 16; i++) w[i] = block * 16 + i;
    for (word i = 16; i < 64; i++)
      w[i] = w[i - 16] + w[i - 7] + (ROR(w[i - 15], 7) ^ ROR(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (ROR(w[i - 2], 17) ^ ROR(w[i - 2], 19) ^ w[i - 2] >> 10);
    word a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    for (word i = 0; i < 64; i++) {
      word t1 = h + (ROR(e, 6) ^ ROR(e, 11) ^ ROR(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
      word t2 = (ROR(a, 2) ^ ROR(a, 13) ^ ROR(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
  }
  return s[0];
}

static KEEP quad nbody(void) {
  double x = 1, y = 0, u = 0, v = 1;
  for (int i = 0; i < 1000; i++) {
    double r2 = x * x + y * y, f = 0.001 / (r2 * r2);
    u -= f * x, v -= f * y, x += 0.001 * u, y += 0.001 * v;
  }
  return (quad)(x * 1000);
}

static quad run(byte name) {
  switch (name) {
    case 'f': return fib(20);
    case 's': return sieve();
    case 'm': return copy();
    case 'c': return crc32();
    case 'h': return sha256();
    case 'n': return nbody();
  }
  return 0;
}

__attribute__((used)) static void begin(quad *stack) {
  char **argv = (char **)(stack + 1);
  quad rounds = 0, result = 0;
  for (char *p = argv[2]; *p; p++) rounds = rounds * 10 + (quad)(*p - '0');
  for (quad i = 0; i < rounds; i++) result += run((byte)*argv[1]);
  __asm__ volatile("syscall" : : "a"(231), "D"(result & 63) : "rcx", "r11");
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
