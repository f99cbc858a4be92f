/*
 * Runs instructions on this machine's kernel and CPU, plain and under a probe, and prints the state after.
 *
 *   exec-record < lines-of-hex > golden
 *
 * An empty line leaves a place free: where a case lies follows from its line.
 * A case is one instruction; behind it stand a jump to cap0, two nops and a jump to cap1, so that a branch
 * over 7 bytes ends at cap1. Each run has a process of its own: registers are loaded by returning from a
 * signal handler, and read in the handler of the trap that ends the run. Probes are uprobe_multi links.
 * The output is what test/helpers/conform/golden.ts reads.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	TEXT = 0x400000, CAP0 = 0x400800, CAP1 = 0x400810, FIRST = 0x401000, STRIDE = 64,
	REGIONS = 0x700000, PAGE = 4096, REGION_COUNT = 3, VECTORS = 8, GPRS = 16, INT3 = 0xcc,
	XSTATE_BV = 512, YMM_HIGH = 576, SECONDS = 2, FLAGS = 0x246, UPROBE_MULTI = 48,
};

/* bpf(BPF_LINK_CREATE) for uprobe_multi; older headers lack it. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

/* guard: no access; stack; data. Byte i of each page: a * i + b. */
static const struct { int prot, a, b; } region[REGION_COUNT] = {
	{ PROT_NONE, 0, 0 }, { PROT_READ | PROT_WRITE, 0, 0x3c }, { PROT_READ | PROT_WRITE, 29, 5 },
};
#define STACK (REGIONS + PAGE)
#define DATA (REGIONS + 2 * PAGE)

/* In the order of REGISTERS in src/conform/exec-table.ts: ax cx dx bx sp bp si di r8-r15. */
static const int greg[GPRS] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
static const char *const name[GPRS] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };
static const uint64_t initial[GPRS] = { 0x8000000000000012, 5, 3, DATA + 0x100, STACK + 0x800, STACK + 0xc00,
	DATA + 0x200, DATA + 0x400, 0x1122334455667788, 9, DATA + 0x600, 0xfedcba9876543210, 0x7fffffff,
	0x8080808080808080, 64, 0xffffffffffffffff };

/* What one run came to. */
struct state {
	uint64_t regs[GPRS], flags, ip, k1;
	uint8_t ymm[VECTORS][32], memory[REGION_COUNT][PAGE];
	int signo, code, trapno, err, done;
	uint64_t addr;
};

static struct state *shared;
static sigjmp_buf again;
static uint64_t entry;
static unsigned mask_offset; /* of k0-k7 in XSAVE; 0 = none */
static int counter, program; /* an array of one hit count, and what raises it */
static char path[] = "/tmp/exec-record-XXXXXX";

static uint8_t vector_byte(int i) { return 11 * i + 3; }

/* What the first return or pop finds: an address that may not be executed. */
#define TOP (STACK + 0x800)
static const uint64_t top = DATA + 0x180;

static uint8_t initial_byte(int r, int i)
{
	const int at = REGIONS + r * PAGE + i;
	if (at >= TOP && at < TOP + 8) return top >> 8 * (at - TOP);
	return region[r].a * i + region[r].b;
}

static void fill(void)
{
	for (int r = 0; r < REGION_COUNT; r++)
		for (int i = 0; region[r].prot && i < PAGE; i++)
			((volatile uint8_t *)(uintptr_t)(REGIONS + r * PAGE))[i] = initial_byte(r, i);
}

static uint64_t *mask1(uint8_t *x) { return (uint64_t *)(x + mask_offset + 8); }

/* SIGUSR1: leaves into the case. */
static void load(int signo, siginfo_t *info, void *context)
{
	ucontext_t *const uc = context;
	uint8_t *const x = (uint8_t *)uc->uc_mcontext.fpregs;
	(void)signo, (void)info;
	for (int i = 0; i < GPRS; i++) uc->uc_mcontext.gregs[greg[i]] = initial[i];
	uc->uc_mcontext.gregs[REG_EFL] = FLAGS;
	uc->uc_mcontext.gregs[REG_RIP] = entry;
	memset(x + 160, 0, 256), memset(x + YMM_HIGH, 0, 256);
	for (int n = 0; n < VECTORS; n++)
		for (int i = 0; i < 32; i++)
			(i < 16 ? x + 160 + 16 * n : x + YMM_HIGH + 16 * n - 16)[i] = vector_byte(32 * n + i);
	*(uint64_t *)(x + XSTATE_BV) |= 7;
	if (mask_offset) *(uint64_t *)(x + XSTATE_BV) |= 32, *mask1(x) = 0x0f1e2d3c4b5a6978;
}

/* Whatever ended the run. */
static void save(int signo, siginfo_t *info, void *context)
{
	const ucontext_t *const uc = context;
	uint8_t *const x = (uint8_t *)uc->uc_mcontext.fpregs;
	const uint64_t bits = *(uint64_t *)(x + XSTATE_BV);
	for (int i = 0; i < GPRS; i++) shared->regs[i] = uc->uc_mcontext.gregs[greg[i]];
	shared->flags = uc->uc_mcontext.gregs[REG_EFL];
	shared->ip = uc->uc_mcontext.gregs[REG_RIP];
	shared->trapno = uc->uc_mcontext.gregs[REG_TRAPNO];
	shared->err = uc->uc_mcontext.gregs[REG_ERR];
	shared->signo = signo, shared->code = info->si_code, shared->addr = (uintptr_t)info->si_addr;
	for (int n = 0; n < VECTORS; n++) {
		memcpy(shared->ymm[n], x + 160 + 16 * n, 16);
		if (bits & 4) memcpy(shared->ymm[n] + 16, x + YMM_HIGH + 16 * n, 16);
		else memset(shared->ymm[n] + 16, 0, 16);
	}
	shared->k1 = mask_offset && bits & 32 ? *mask1(x) : 0;
	for (int r = 0; r < REGION_COUNT; r++)
		if (region[r].prot) memcpy(shared->memory[r], (void *)(uintptr_t)(REGIONS + r * PAGE), PAGE);
	shared->done++;
	siglongjmp(again, 1);
}

static void handlers(void)
{
	static uint8_t stack[1 << 16];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = save, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	const int ends[] = { SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGBUS };

	sigaltstack(&alternate, NULL);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++) sigaction(ends[i], &action, NULL);
	action.sa_sigaction = load;
	sigaction(SIGUSR1, &action, NULL);
}

static void child(int fd, int size, int runs, int ready, int go)
{
	volatile int left = runs;
	char byte = 0;

	mmap((void *)TEXT, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	for (int r = 0; r < REGION_COUNT; r++)
		mmap((void *)(uintptr_t)(REGIONS + r * PAGE), PAGE, region[r].prot,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	handlers();
	alarm(SECONDS);
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1) _exit(1);
	/* The signal comes from outside, so that no system call is needed any more. */
	sigsetjmp(again, 0);
	fill();
	if (left-- > 0 && write(ready, &byte, 1) != 1) _exit(1);
	for (;;) __asm__ volatile("pause");
}

/* lock; *count += 1; return 0 */
static int load_program(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = counter },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1 },
		{ .code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = 1, .src_reg = 2, .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE, .insns = (uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns), .license = (uintptr_t)"GPL",
		.expected_attach_type = UPROBE_MULTI,
	};
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int make_counter(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1 };
	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static uint64_t count(int command, uint64_t value)
{
	uint32_t key = 0;
	union bpf_attr attr = { .map_fd = counter, .key = (uintptr_t)&key, .value = (uintptr_t)&value };
	syscall(SYS_bpf, command, &attr, sizeof(attr));
	return value;
}

static int probe(uint64_t offset, pid_t pid)
{
	struct multi_attr attr = {
		.prog_fd = program, .attach_type = UPROBE_MULTI, .path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset, .cnt = 1, .pid = pid,
	};
	count(BPF_MAP_UPDATE_ELEM, 0);
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

struct outcome {
	struct state state;
	int errno_, stepped, optimised, ended;
	uint64_t hits;
};

/* What the process' maps and its byte at the site tell of the probe. */
static void look(pid_t pid, struct outcome *into)
{
	char file[64], line[512];
	uint8_t byte = 0;

	snprintf(file, sizeof(file), "/proc/%d/maps", pid);
	FILE *const maps = fopen(file, "r");
	while (maps && fgets(line, sizeof(line), maps)) into->stepped |= strstr(line, "[uprobes]\n") != NULL;
	if (maps) fclose(maps);
	snprintf(file, sizeof(file), "/proc/%d/mem", pid);
	const int memory = open(file, O_RDONLY);
	if (pread(memory, &byte, 1, entry) == 1) into->optimised = byte == 0xe8 && into->errno_ == 0;
	close(memory);
}

static struct outcome run(int fd, int size, int runs, int probed)
{
	struct outcome outcome = { .errno_ = 0 };
	int ready[2], go[2], event = -1;
	char byte;

	memset(shared, 0, sizeof(*shared));
	if (pipe(ready) || pipe(go)) exit(1);
	const pid_t pid = fork();
	if (pid == 0) child(fd, size, runs, ready[1], go[0]);
	close(ready[1]), close(go[0]);
	if (read(ready[0], &byte, 1) != 1) exit(1);
	if (probed) {
		event = probe(entry - TEXT, pid);
		outcome.errno_ = event < 0 ? errno : 0;
	}
	if (write(go[1], "", 1) != 1) exit(1);
	for (int i = 0; i < runs && read(ready[0], &byte, 1) == 1; i++) {
		kill(pid, SIGUSR1);
		for (int spin = 0; shared->done <= i && kill(pid, 0) == 0 && spin < SECONDS * 20000; spin++) {
			int status;
			if (waitpid(pid, &status, WNOHANG) == pid) goto gone;
			usleep(50);
		}
		if (i == 0) look(pid, &outcome);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
gone:
	outcome.ended = shared->done == runs;
	outcome.state = *shared;
	if (event >= 0) {
		outcome.hits = count(BPF_MAP_LOOKUP_ELEM, 0);
		close(event);
	}
	close(ready[0]), close(go[1]);
	return outcome;
}

static int is_cap(const struct state *s, uint64_t cap) { return s->signo == SIGTRAP && s->ip == cap + 1; }

static void print_memory(const struct state *s)
{
	for (int r = 0; r < REGION_COUNT; r++)
		for (int i = 0; region[r].prot && i < PAGE; i++) {
			if (s->memory[r][i] == initial_byte(r, i)) continue;
			printf(" 0x%x:", REGIONS + r * PAGE + i);
			for (; i < PAGE && s->memory[r][i] != initial_byte(r, i); i++)
				printf("%02x", s->memory[r][i]);
		}
}

static void print_vectors(const struct state *s, int size)
{
	for (int n = 0; n < VECTORS; n++) {
		uint8_t before[32];
		for (int i = 0; i < 32; i++) before[i] = vector_byte(32 * n + i);
		if (memcmp(before, s->ymm[n], size) == 0) continue;
		printf(" %cmm%d=", size == 16 ? 'x' : 'y', n);
		for (int i = 0; i < size; i++) printf("%02x", s->ymm[n][i]);
	}
}

static void print_state(const struct state *s)
{
	const int capped = is_cap(s, CAP0) || is_cap(s, CAP1);

	if (capped) printf(" end=cap%d", is_cap(s, CAP1));
	else if (s->code == SI_KERNEL)
		printf(" signal=%d,%d,-,0x%lx,%d,%d", s->signo, s->code, s->ip, s->trapno, s->err);
	else
		printf(" signal=%d,%d,0x%lx,0x%lx,%d,%d", s->signo, s->code, s->addr, s->ip, s->trapno, s->err);
	if (s->flags != FLAGS) printf(" flags=0x%lx", s->flags);
	for (int i = 0; i < GPRS; i++)
		if (s->regs[i] != initial[i]) printf(" %s=0x%lx", name[i], s->regs[i]);
	if (capped && mask_offset && s->k1 != 0x0f1e2d3c4b5a6978) printf(" k1=0x%lx", s->k1);
	print_vectors(s, capped ? 32 : 16);
	print_memory(s);
}

/* At a cap trapno, code and address are the cap's; how often the handler ran is nobody's affair. */
static int same(struct state a, struct state b)
{
	if ((is_cap(&a, CAP0) || is_cap(&a, CAP1)) && a.ip == b.ip)
		b.trapno = a.trapno, b.code = a.code, b.addr = a.addr, b.err = a.err;
	b.done = a.done;
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void print_run(const char *variant, const struct outcome *o, const struct outcome *plain)
{
	printf(" %s", variant);
	if (plain) printf(" hits=%lu", o->hits);
	if (plain && same(o->state, plain->state)) printf(" same");
	else print_state(&o->state);
	putchar('\n');
}

static void print_head(void)
{
	struct utsname uts;
	uname(&uts);
	printf("kernel %s\ncap0 0x%x\ncap1 0x%x\nflags 0x%x\n", uts.release, CAP0, CAP1, FLAGS);
	printf("region guard 0x%x 4096 none\n", REGIONS);
	printf("region stack 0x%x 4096 rw 0x%02x; 8 bytes at +%d = 0x%lx\n", STACK, region[1].b, TOP - STACK, top);
	printf("region data 0x%x 4096 rw byte i = (%d*i+%d) mod 256\n", DATA, region[2].a, region[2].b);
	printf("vectors ymm0..%d = %d bytes, byte i = (11*i+3) mod 256; k1 = 0x0f1e2d3c4b5a6978; "
	       "x87 as after fninit; MXCSR 0x1f80\nregs", VECTORS - 1, VECTORS * 32);
	for (int i = 0; i < GPRS; i++) printf(" %s=0x%lx", name[i], initial[i]);
	putchar('\n');
}

static void jump(uint8_t *at, uint64_t from, uint64_t to)
{
	const int32_t distance = to - (from + 5);
	*at = 0xe9;
	memcpy(at + 1, &distance, 4);
}

static void one_case(const char *hex, int index)
{
	static uint8_t text[REGIONS - TEXT];
	const int length = strlen(hex) / 2;
	uint8_t *code;
	const char *errno_name;

	entry = FIRST + STRIDE * index;
	code = text + (entry - TEXT);
	memset(text, 0, sizeof(text));
	text[CAP0 - TEXT] = text[CAP1 - TEXT] = INT3;
	for (int i = 0; i < length; i++) sscanf(hex + 2 * i, "%2hhx", code + i);
	jump(code + length, entry + length, CAP0);
	memset(code + length + 5, 0x90, 2);
	jump(code + length + 7, entry + length + 7, CAP1);
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text)) exit(1);
	const struct outcome plain = run(fd, sizeof(text), 1, 0);
	const struct outcome probed = run(fd, sizeof(text), 1, 1);
	const struct outcome thrice = run(fd, sizeof(text), 3, 1);
	close(fd), unlink(path);
	if (!plain.ended || !probed.ended || !thrice.ended) {
		fprintf(stderr, "%s does not end\n", hex);
		return;
	}
	errno_name = probed.errno_ == 0 ? "ok" : probed.errno_ == 524 ? "ENOTSUPP" : probed.errno_ == ENOEXEC ? "ENOEXEC" : "?";
	printf("case %s %s entry=0x%lx errno=%s how=%s optimised=%s\n", hex, hex, entry, errno_name,
	       probed.errno_ ? "-" : probed.stepped ? "xol" : "emulated", probed.optimised ? "yes" : "no");
	print_run("plain", &plain, NULL);
	print_run("probed", &probed, &plain);
	print_run("probed_x3", &thrice, &plain);
	fflush(stdout);
}

int main(void)
{
	char line[64];
	unsigned a, b, c, d;

	counter = make_counter();
	program = load_program();
	if (counter < 0 || program < 0) return perror("bpf"), 1;
	if (__get_cpuid_count(0xd, 5, &a, &b, &c, &d)) mask_offset = b;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	mkstemp(path), unlink(path);
	print_head();
	for (int index = 0; fgets(line, sizeof(line), stdin); index++) {
		line[strcspn(line, "\n")] = 0;
		if (*line) one_case(line, index);
	}
	return 0;
}
