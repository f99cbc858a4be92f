/*
 * Random mmap, munmap, mprotect and mremap calls in one window of addresses, each printed with its
 * result, and now and then what /proc/self/maps shows. The sequence is fixed by the seed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WINDOW 0x10000000UL
#define PAGES 512
#define PAGE 4096UL
#define TOP_DOWN 0x7fff00000000UL

static uint64_t state;
static char text[1 << 16];
static int file, zero, sink[2];

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(state >> 33) % n;
}

static unsigned long place(void)
{
	/* Two clusters, further apart than the guard gap of a stack. */
	return WINDOW + (below(48) + (below(2) ? 0 : PAGES - 48)) * PAGE;
}
static unsigned long length(void) { return (1 + below(6)) * PAGE; }
/* Rights of real programs come up more often, so that neighbours often agree. */
static int rights(void) { static const int r[] = { 0, 1, 3, 3, 3, 3, 5, 7 }; return r[below(8)]; }

static void result(long value)
{
	if (value == -1) printf(" = %s\n", strerrorname_np(errno));
	else printf(" = 0x%lx\n", value);
}

static void do_map(const char *how, int flags)
{
	unsigned long at = strcmp(how, "any") ? place() : 0, size = length();
	/* Multiples of huge pages are placed otherwise. */
	if (!at && below(4) == 0) size = (1 + below(5)) << 20;
	static const char *const names[] = { "file", "grow" };
	static const int extra[] = { 0, MAP_ANONYMOUS | MAP_GROWSDOWN };
	int prot = rights(), kind = below(10);
	const char *name;
	long offset;
	if (kind > 7) kind = 0;
	if (!at && kind == 1) kind = 2;
	name = kind < 2 ? names[kind] : "anon";
	offset = kind == 0 ? (long)(below(8) * PAGE) : 0;
	printf("map %s 0x%lx 0x%lx %d %s 0x%lx", how, at, size, prot, name, offset);
	result((long)mmap((void *)at, size, prot, MAP_PRIVATE | flags | (kind < 2 ? extra[kind] : MAP_ANONYMOUS),
			  kind == 0 ? file : -1, offset));
}

static void step(void)
{
	unsigned long at = place(), size = length(), other = place(), grown = length();
	int prot = rights();

	switch (below(12)) {
	case 0: case 1: do_map("replace", MAP_FIXED); break;
	case 2: do_map("only", MAP_FIXED_NOREPLACE); break;
	case 3: do_map("hint", 0); break;
	case 4: do_map("any", 0); break;
	case 5:
		printf("unmap 0x%lx 0x%lx", at, size);
		result(munmap((void *)at, size));
		break;
	case 6: case 7:
		printf("protect 0x%lx 0x%lx %d", at, size, prot);
		result(mprotect((void *)at, size, prot));
		break;
	case 8:
		if (prot == 3) grown = 2UL << 20;
		printf("remap 0x%lx 0x%lx 0x%lx %s", at, size, grown, prot & 1 ? "move" : "stay");
		result((long)mremap((void *)at, size, grown, prot & 1 ? MREMAP_MAYMOVE : 0));
		break;
	case 9:
		if (prot == 3) grown = size;
		printf("remap 0x%lx 0x%lx 0x%lx 0x%lx", at, size, grown, other);
		result((long)mremap((void *)at, size, grown, MREMAP_MAYMOVE | MREMAP_FIXED, other));
		break;
	case 10:
		printf("write 0x%lx", at + 5);
		result(read(zero, (void *)(at + 5), 1));
		break;
	case 11:
		printf("read 0x%lx", at + 5);
		result(write(sink[1], (void *)(at + 5), 1));
		break;
	}
}

static void show(void)
{
	int maps = open("/proc/self/maps", O_RDONLY), got, all = 0;
	while ((got = read(maps, text + all, sizeof(text) - 1 - all)) > 0) all += got;
	close(maps);
	text[all] = 0;
	printf("maps\n");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long from, to, offset;
		char perms[5];
		sscanf(line, "%lx-%lx %4s %lx", &from, &to, perms, &offset);
		int inside = (from >= WINDOW && from < WINDOW + 2 * PAGES * PAGE) || from >= TOP_DOWN;
		if (!inside || strchr(line, '[')) continue;
		printf("%lx-%lx %s %lx %s\n", from, to, perms, offset, strchr(line, '/') ? "file" : "anon");
	}
}

int main(int argc, char **argv)
{
	static char out[1 << 16];
	char path[] = "/tmp/vma-walk-XXXXXX";

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	state = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	file = mkstemp(path);
	unlink(path);
	zero = open("/dev/zero", O_RDONLY);
	if (ftruncate(file, 6 * PAGE + 100) || pipe(sink)) return 1;
	for (int i = 1; i <= 400; i++) {
		step();
		if (i % 25 == 0) show();
	}
	return 0;
}
