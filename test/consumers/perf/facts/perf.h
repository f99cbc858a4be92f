/*
 * What the perf fact programs share: probes on functions of their own, answers as one line a case.
 * Addresses are printed by what they point to, so that the lines do not depend on the compiler.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BAD ((void *)0x10)
#define NOINLINE __attribute__((noinline, noclone))

extern char __executable_start[];
static char self[4096];

static long ask(const char *name, long answer)
{
	if (answer == -1 && strerrorname_np(errno))
		printf("%s: %s\n", name, strerrorname_np(errno));
	else if (answer == -1)
		printf("%s: errno %d\n", name, errno);
	else
		printf("%s: %ld\n", name, answer);
	return answer;
}

static int open_event(struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

/* A static program that is not position-independent has its text segment at the same distance. */
static uint64_t offset_of(const void *address)
{
	return (const char *)address - __executable_start;
}

static int pmu_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int type = 0;

	if (!file || fscanf(file, "%d", &type) != 1)
		exit(9);
	fclose(file);
	return type;
}

static struct perf_event_attr probe_on(const void *address)
{
	static int type;
	struct perf_event_attr attr = {0};

	if (!type)
		type = pmu_type();
	attr.type = type;
	attr.size = sizeof(attr);
	attr.config1 = (uintptr_t)self;
	attr.config2 = offset_of(address);
	return attr;
}

/* Opens for this thread on every CPU; a failure ends the program. */
static int must_open(struct perf_event_attr attr)
{
	int fd = open_event(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		printf("perf_event_open: %s\n", strerrorname_np(errno));
		exit(8);
	}
	return fd;
}

static uint64_t count_of(int fd)
{
	uint64_t value[8] = {0};

	return read(fd, value, sizeof(value)) < 8 ? ~0ull : value[0];
}

#define PAGE 4096
static struct perf_event_mmap_page *map_ring(int fd, int pages, int prot)
{
	void *at = mmap(0, (1 + pages) * PAGE, prot, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED) {
		printf("mmap: %s\n", strerrorname_np(errno));
		exit(7);
	}
	return at;
}

/* Copies the bytes at `at` out of the ring. */
static void from_ring(struct perf_event_mmap_page *page, uint64_t at, void *to, size_t size)
{
	char *data = (char *)page + page->data_offset;

	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = data[(at + i) & (page->data_size - 1)];
}

static void start(void)
{
	ssize_t got = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (got < 0)
		exit(6);
	self[got] = 0;
	setvbuf(stdout, 0, _IONBF, 0);
}
