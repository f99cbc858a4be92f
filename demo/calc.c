/*
 * calc EXPRESSION...: a calculator for whole numbers, without a libc, as something to put probes on.
 *
 *   $ calc '6 * (3 + 4)' '5!'
 *   6 * (3 + 4) = 42
 *   5! = 120
 *
 * Built by `make -C fixtures elf`.
 */

/* A function that a probe can name: never inlined, never given another calling convention. */
#define PROBED __attribute__((noinline, noipa))

enum { WRITE = 1, EXIT_GROUP = 231 };

static long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}

static long length(const char *text) {
  long count = 0;
  while (text[count]) count++;
  return count;
}

static void print(int file, const char *text) { system_call(WRITE, file, (long)text, length(text)); }

static void print_number(long value) {
  char digits[24];
  char *at = digits + sizeof digits - 1;
  unsigned long rest = value < 0 ? -(unsigned long)value : (unsigned long)value;
  *at = 0;
  do {
    *--at = (char)('0' + rest % 10);
  } while (rest /= 10);
  if (value < 0) *--at = '-';
  print(1, at);
}

/* --- arithmetic --------------------------------------------------------------------------------- */

PROBED long factorial(long n) { return n < 2 ? 1 : n * factorial(n - 1); }

/* `name` says which operation, for those who watch. */
PROBED long apply(const char *name, long left, long right) {
  switch (*name) {
    case 'a': return left + right;
    case 's': return left - right;
    case 'm': return left * right;
    default: return right ? left / right : 0;
  }
}

/* --- grammar ------------------------------------------------------------------------------------ */

static const char *next; /* what is still to be read */
static int failed;

static long sum(void);

static int accept(char wanted) {
  while (*next == ' ') next++;
  if (*next != wanted) return 0;
  next++;
  return 1;
}

PROBED void fail(const char *reason, const char *where) {
  if (!failed) print(2, "calc: "), print(2, reason), print(2, " at '"), print(2, where), print(2, "'\n");
  failed = 1;
}

static long primary(void) {
  long value = 0;
  if (accept('(')) {
    value = sum();
    if (!accept(')')) fail("no closing parenthesis", next);
    return value;
  }
  if (*next < '0' || *next > '9') fail("no number", next);
  while (*next >= '0' && *next <= '9') value = value * 10 + (*next++ - '0');
  return value;
}

static long postfix(void) {
  long value = primary();
  while (accept('!')) value = factorial(value);
  return value;
}

static long prefix(void) { return accept('-') ? apply("subtract", 0, prefix()) : postfix(); }

static long product(void) {
  long value = prefix();
  for (;;) {
    if (accept('*'))
      value = apply("multiply", value, prefix());
    else if (accept('/'))
      value = apply("divide", value, prefix());
    else
      return value;
  }
}

static long sum(void) {
  long value = product();
  for (;;) {
    if (accept('+'))
      value = apply("add", value, product());
    else if (accept('-'))
      value = apply("subtract", value, product());
    else
      return value;
  }
}

PROBED long evaluate(const char *text) {
  next = text;
  failed = 0;
  const long value = sum();
  while (*next == ' ') next++;
  if (*next) fail("unexpected text", next);
  return value;
}

/* --- program ------------------------------------------------------------------------------------ */

__attribute__((used)) static int run(long argc, char **argv) {
  int status = 0;
  if (argc < 2) print(2, "usage: calc EXPRESSION...\n"), status = 2;
  for (long i = 1; i < argc; i++) {
    const long value = evaluate(argv[i]);
    if (failed) {
      status = 1;
      continue;
    }
    print(1, argv[i]);
    print(1, " = ");
    print_number(value);
    print(1, "\n");
  }
  return status;
}

/* The kernel starts a program with argc at the stack pointer and argv behind it. */
__asm__(
    ".text\n.globl _start\n_start:\n"
    "  mov (%rsp), %rdi\n  lea 8(%rsp), %rsi\n  and $-16, %rsp\n  call run\n"
    "  mov %eax, %edi\n  mov $231, %eax\n  syscall\n");
