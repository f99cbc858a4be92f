/*
 * Asks the running kernel, for each instruction given, whether it lets a uprobe be put there.
 * Nothing is executed: the bytes are only mapped, so that the kernel analyses them.
 *
 *   sweep < lines-of-hex > lines-of-"hex errno"
 *
 * A line holds up to 16 bytes; missing ones are 0.
 *
 * Attaching to a file that nobody maps analyses nothing and so never fails. One link for all sites,
 * then mapping the file, shows at once which sites got their breakpoint; only the refused ones are
 * asked again one by one, for their errno. Detaching waits for every CPU, so threads wait side by side.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STRIDE = 32, BYTES = 16, THREADS = 32, BREAKPOINT = 0xcc, UPROBE_MULTI = 48 };

/* bpf(BPF_LINK_CREATE) for uprobe_multi; older headers lack it. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

static char path[] = "/tmp/sweep-XXXXXX";
static int program;
static size_t count;
static uint8_t (*site)[BYTES];
static int *verdict;
static size_t next_case;

/* A program that answers 0. */
static int load_program(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (uintptr_t)insns,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
		.expected_attach_type = UPROBE_MULTI,
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach(uint64_t *offsets, size_t n)
{
	struct multi_attr attr = {
		.prog_fd = program,
		.attach_type = UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cnt = n,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static void *ask_refused(void *unused)
{
	size_t i;

	while ((i = __atomic_fetch_add(&next_case, 1, __ATOMIC_RELAXED)) < count) {
		uint64_t offset = i * STRIDE;
		int fd;

		if (!verdict[i])
			continue;
		fd = attach(&offset, 1);
		verdict[i] = fd < 0 ? errno : -1;
		if (fd >= 0)
			close(fd);
	}
	return unused;
}

static void read_cases(void)
{
	char line[256];
	size_t room = 0;

	while (fgets(line, sizeof(line), stdin)) {
		if (count == room) {
			room = room ? room * 2 : 1024;
			site = realloc(site, room * sizeof(*site));
		}
		memset(site[count], 0, BYTES);
		for (int i = 0; i < BYTES; i++)
			if (sscanf(line + 2 * i, "%2hhx", &site[count][i]) != 1)
				break;
		count++;
	}
}

static int fail(const char *what)
{
	perror(what);
	unlink(path);
	return 1;
}

int main(void)
{
	pthread_t thread[THREADS];
	uint64_t *offsets;
	uint8_t *text;
	size_t size;
	int fd, link;

	read_cases();
	verdict = calloc(count, sizeof(*verdict));
	offsets = calloc(count, sizeof(*offsets));
	size = (count * STRIDE + 8191) & ~4095ul;
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, size))
		return fail("file");
	for (size_t i = 0; i < count; i++) {
		offsets[i] = i * STRIDE;
		if (pwrite(fd, site[i], BYTES, i * STRIDE) != BYTES)
			return fail("file");
	}
	program = load_program();
	if (program < 0)
		return fail("program");
	link = attach(offsets, count);
	if (link < 0)
		return fail("attach");
	text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return fail("mmap");
	for (size_t i = 0; i < count; i++)
		verdict[i] = text[i * STRIDE] != BREAKPOINT || site[i][0] == BREAKPOINT;
	close(link);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, ask_refused, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < count; i++) {
		for (int j = 0; j < BYTES; j++)
			printf("%02x", site[i][j]);
		printf(" %d\n", verdict[i]);
	}
	unlink(path);
	return 0;
}
