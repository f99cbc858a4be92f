/*
 * Prints what the running kernel puts into a slot of [uprobes] for each instruction given.
 *
 *   slots < lines-of-hex > lines-of-"hex slot"
 *
 * Each instruction is probed and executed once, in a child that catches whatever it does; the slot
 * keeps its bytes afterwards. A line without a slot was refused.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRIDE = 64, CASES = 4096, SLOT = 128, SLOT_BYTES = 16, RET = 0xc3, BREAKPOINT = 0xcc };
enum { UPROBE_MULTI = 48 };

/* bpf(BPF_LINK_CREATE) for uprobe_multi; older headers lack it. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

static char path[] = "/tmp/slots-XXXXXX";
static uint8_t code[CASES][STRIDE];
static int length[CASES];
static int count;
static sigjmp_buf back;

static void caught(int signal)
{
	siglongjmp(back, signal);
}

static void read_cases(void)
{
	char line[256];

	while (count < CASES && fgets(line, sizeof(line), stdin)) {
		memset(code[count], RET, STRIDE);
		for (int i = 0; sscanf(line + 2 * i, "%2hhx", &code[count][i]) == 1; i++)
			length[count] = i + 1;
		count++;
	}
}

static int attach_all(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr program = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
		.expected_attach_type = UPROBE_MULTI,
	};
	static uint64_t offsets[CASES];
	struct multi_attr attr = {
		.prog_fd = syscall(SYS_bpf, BPF_PROG_LOAD, &program, sizeof(program)),
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cnt = count,
	};

	for (int i = 0; i < count; i++)
		offsets[i] = i * STRIDE;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static uint8_t *find_area(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start = 0;
	char line[256];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[uprobes]"))
			start = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	return (uint8_t *)start;
}

static void execute(uint8_t *function)
{
	if (sigsetjmp(back, 1))
		return;
	alarm(2);
	asm volatile("push %%rbp; push %%rbx; push %%r12; push %%r13; push %%r14; push %%r15\n\t"
		     "call *%0\n\t"
		     "pop %%r15; pop %%r14; pop %%r13; pop %%r12; pop %%rbx; pop %%rbp"
		     :
		     : "a"(function)
		     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
}

static void run_all(uint8_t *text)
{
	static uint8_t stack_bytes[65536];
	stack_t stack = { .ss_sp = stack_bytes, .ss_size = sizeof(stack_bytes) };
	struct sigaction action = { .sa_handler = caught, .sa_flags = SA_ONSTACK | SA_NODEFER };

	sigaltstack(&stack, NULL);
	for (int signal = 1; signal < 32; signal++)
		sigaction(signal, &action, NULL);
	for (int i = 0; i < count; i++) {
		uint8_t *area;

		for (int j = 0; j < length[i]; j++)
			printf("%02x", code[i][j]);
		putchar(' ');
		if (text[i * STRIDE] == BREAKPOINT) {
			execute(text + i * STRIDE);
			area = find_area();
			for (int j = 0; area && j < length[i] && j < SLOT_BYTES; j++)
				printf("%02x", ((volatile uint8_t *)area)[SLOT + j]);
		}
		putchar('\n');
	}
	fflush(stdout);
}

int main(void)
{
	uint8_t *text;
	int fd, link;

	read_cases();
	fd = mkstemp(path);
	if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
		return 1;
	link = attach_all();
	text = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (link >= 0 && text != MAP_FAILED && fork() == 0) {
		run_all(text);
		_exit(0);
	}
	wait(NULL);
	unlink(path);
	return link < 0 || text == MAP_FAILED;
}
