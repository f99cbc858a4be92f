// What Linux answers to BPF_LINK_CREATE of uprobe_multi and uprobe_session links, by raw bpf(2).
// Needs root and a kernel with sessions (6.13 or later). Probes only itself.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINK_CREATE = 28, UPROBE_MULTI = 48, UPROBE_SESSION = 57, MAP_VALUE = 2, RETURN = 1 };

struct link_attr {
  uint32_t prog_fd, target_fd, attach_type, link_flags;
  uint64_t path, offsets, ref_ctr_offsets, cookies;
  uint32_t count, flags, pid, pad;
};

static int bpf(int command, void *attr, unsigned size) {
  return syscall(SYS_bpf, command, attr, size);
}

static int map_fd;
static volatile uint64_t *counters;

static void make_map(void) {
  union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 64,
                         .max_entries = 1, .map_flags = BPF_F_MMAPABLE};
  map_fd = bpf(BPF_MAP_CREATE, &attr, sizeof attr);
  counters = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
  if (map_fd < 0 || counters == MAP_FAILED) perror("map"), exit(1);
}

// Adds one to counter `index`, answers `result`.
static int load(int attach_type, int index, int result) {
  struct bpf_insn code[] = {
      {.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = MAP_VALUE, .imm = map_fd},
      {.imm = index * 8},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1},
      {.code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 1, .src_reg = 2, .imm = BPF_ADD},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = result},
      {.code = BPF_JMP | BPF_EXIT},
  };
  union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_KPROBE, .insns = (uintptr_t)code,
                         .insn_cnt = sizeof code / sizeof *code, .license = (uintptr_t) "GPL",
                         .expected_attach_type = attach_type};
  int fd = bpf(BPF_PROG_LOAD, &attr, sizeof attr);
  if (fd < 0) perror("load"), exit(1);
  return fd;
}

// --- the probed program ---------------------------------------------------------------------------

static void nothing(void) {}
static void (*volatile inside)(void) = nothing;

#define PROBED(name) __attribute__((noinline, aligned(16))) void name(void)
PROBED(func_1) { asm volatile("nop; nop"); }
PROBED(func_2) { asm volatile("nop; nop; nop"); }
PROBED(func_3) { asm volatile("nop; nop; nop; nop"); }
PROBED(func_inside) { asm volatile("nop"); inside(); asm volatile("nop"); }
extern char func_int3[];
asm(".pushsection .text; .balign 16; func_int3: int3; ret; .popsection");
unsigned short counter_1 = 0, counter_2 = 0;
static volatile unsigned short keep_data = 7;

extern char __ehdr_start[];
static uint64_t offset_of(const volatile void *p) {  // text is linked so that offset = address - base
  return (uintptr_t)p - (uintptr_t)__ehdr_start;
}
// .data lies one page later in memory than in the file may say: ask /proc/self/maps.
static uint64_t data_offset(const volatile void *p) {
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned long start, end, offset;
  char line[512];
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && (uintptr_t)p >= start && (uintptr_t)p < end)
      return fclose(maps), (uintptr_t)p - start + offset;
  exit(1);
}

static const char *self = "/proc/self/exe";
static int multi, session;

static int attach(int prog, struct link_attr attr) {
  attr.prog_fd = prog;
  return bpf(LINK_CREATE, &attr, sizeof attr);
}

static const char *first_bytes(void) {
  static char text[64];
  const unsigned char *f[] = {(void *)func_1, (void *)func_2, (void *)func_3};
  snprintf(text, sizeof text, "%s %s %s", *f[0] == 0xcc ? "int3" : "own", *f[1] == 0xcc ? "int3" : "own",
           *f[2] == 0xcc ? "int3" : "own");
  return text;
}

static void try_it(const char *name, int prog, int type, struct link_attr attr) {
  attr.attach_type = type;
  int fd = attach(prog, attr);
  printf("%s: %s\n", name, fd >= 0 ? "ok" : errno == 524 ? "ENOTSUPP" : strerrorname_np(errno));
  if (fd >= 0) close(fd);
}

#define P(x) .path = (uintptr_t)(x)
#define O(...) .offsets = (uintptr_t)(uint64_t[]){__VA_ARGS__}
#define R(...) .ref_ctr_offsets = (uintptr_t)(uint64_t[]){__VA_ARGS__}
#define C(...) .cookies = (uintptr_t)(uint64_t[]){__VA_ARGS__}
#define M(name, ...) try_it(name, multi, UPROBE_MULTI, (struct link_attr){__VA_ARGS__})
#define S(name, ...) try_it(name, session, UPROBE_SESSION, (struct link_attr){__VA_ARGS__})

static void errors(void) {
  uint64_t f1 = offset_of(func_1), f2 = offset_of(func_2), f3 = offset_of(func_3);
  uint64_t bad = offset_of(func_int3);
  uint64_t s1 = data_offset(&counter_1), s2 = data_offset(&counter_2);
  struct stat st;
  stat(self, &st);
  static char longest[4096 + 1], longer[4096 + 2];
  memset(longest, '/', 4095);
  memset(longer, '/', 4096);
  // C23
  M("cnt 2^31-1", P(self), O(f1), .count = 0x7fffffff);
  M("cnt 0", P(self), O(f1));
  M("offset -1", P(self), O(-1), .count = 1);
  M("offsets null", P(self), .count = 1);
  M("offsets 1", P(self), .offsets = 1, .count = 1);
  M("path null", O(f1), .count = 1);
  M("path 1", .path = 1, O(f1), .count = 1);
  M("path /", P("/"), O(f1), .count = 1);
  M("cookies 1", P(self), O(f1), .cookies = 1, .count = 1);
  M("ref_ctr_offsets 1", P(self), O(f1), .ref_ctr_offsets = 1, .count = 1);
  M("flags bit 31", P(self), O(f1), .count = 1, .flags = 1u << 31);
  M("pid -2", P(self), O(f1), .count = 1, .pid = -2);
  // which of two mistakes is found first
  M("flags bit 1, path null", O(f1), .count = 1, .flags = 2);
  M("cnt 2^20+1", P(self), O(f1), .count = (1 << 20) + 1);
  M("cnt 2^20+1, path 1", .path = 1, O(f1), .count = (1 << 20) + 1);
  M("path 1, pid -2", .path = 1, O(f1), .count = 1, .pid = -2);
  M("path /, offsets 1", P("/"), .offsets = 1, .count = 1);
  M("path /, pid 2^30", P("/"), O(f1), .count = 1, .pid = 1 << 30);
  M("offsets 1, pid 2^30", P(self), .offsets = 1, .count = 1, .pid = 1 << 30);
  M("offset -1, ref_ctr_offsets 1", P(self), O(-1), .ref_ctr_offsets = 1, .count = 1);
  M("offset -1, cookies 1", P(self), O(-1), .cookies = 1, .count = 1);
  M("int3, then offset -1", P(self), O(bad, -1), .count = 2);
  // paths and processes
  M("path missing", P("/no/such/file"), O(f1), .count = 1);
  M("path through a file", P("/proc/self/exe/x"), O(f1), .count = 1);
  M("path empty", P(""), O(f1), .count = 1);
  M("path of 4095 characters", P(longest), O(f1), .count = 1);
  M("path of 4096 characters", P(longer), O(f1), .count = 1);
  M("pid 2^30", P(self), O(f1), .count = 1, .pid = 1 << 30);
  M("pid own", P(self), O(f1), .count = 1, .pid = getpid());
  // offsets
  M("offset beyond the file", P(self), O(st.st_size + 1), .count = 1);
  M("offset 2^62", P(self), O(1ull << 62), .count = 1);
  M("ref_ctr_offset odd", P(self), O(f1), R(s1 + 1), .count = 1);
  M("the same offset twice", P(self), O(f1, f1), .count = 2);
  M("the same offset twice, one counter", P(self), O(f1, f1), R(s1, 0), .count = 2);
  printf("after all that: %s\n", first_bytes());
  // C24, C25
  M("C24: three functions and an int3", P(self), O(f1, f2, f3, bad), .count = 4);
  printf("C24 after: %s\n", first_bytes());
  M("C25: f2 with two counters", P(self), O(f1, f2, f2), R(s1, s2, s1), .count = 3);
  printf("C25 after: %s, counters %d %d\n", first_bytes(), counter_1, counter_2);
  // kinds
  M("return", P(self), O(f1), .count = 1, .flags = RETURN);
  S("session", P(self), O(f1), .count = 1);
  S("session, return", P(self), O(f1), .count = 1, .flags = RETURN);
  M("link flags 1", P(self), O(f1), .count = 1, .link_flags = 1);
  try_it("multi program as a session", multi, UPROBE_SESSION, (struct link_attr){P(self), O(f1), .count = 1});
  M("cookies", P(self), O(f1, f2), C(1, 2), .count = 2);
  (void)keep_data;
}

// --- C26: consumers come and go inside the function --------------------------------------------------

static int progs[4], links[4];
static unsigned after_set;
static const int types[4] = {UPROBE_MULTI, UPROBE_MULTI, UPROBE_SESSION, UPROBE_SESSION};

static void add(int i) {
  links[i] = attach(progs[i], (struct link_attr){P(self), O(offset_of(func_inside)), .count = 1,
                                                 .attach_type = types[i], .flags = i == 1 ? RETURN : 0});
  if (links[i] < 0) perror("attach"), exit(1);
}
static void take(int i) { close(links[i]); links[i] = -1; }

static void change(void) {
  for (int i = 0; i < 4; i++) if (links[i] >= 0 && !(after_set >> i & 1)) take(i);
  for (int i = 0; i < 4; i++) if (links[i] < 0 && after_set >> i & 1) add(i);
}

static void comings_and_goings(void) {
  for (int i = 0; i < 4; i++) progs[i] = load(types[i], i, i == 3), links[i] = -1;
  for (unsigned before = 0; before < 16; before++)
    for (after_set = 0; after_set < 16; after_set++) {
      memset((void *)counters, 0, 64);
      for (int i = 0; i < 4; i++) if (before >> i & 1) add(i);
      inside = change;
      func_inside();
      inside = nothing;
      printf("%u %u: %lu %lu %lu %lu\n", before, after_set, counters[0], counters[1], counters[2], counters[3]);
      for (int i = 0; i < 4; i++) if (links[i] >= 0) take(i);
    }
}

int main(int argc, char **argv) {
  setvbuf(stdout, 0, _IOLBF, 0);
  make_map();
  multi = load(UPROBE_MULTI, 7, 0);
  session = load(UPROBE_SESSION, 7, 0);
  if (argc > 1 && !strcmp(argv[1], "sessions")) comings_and_goings();
  else errors();
}
