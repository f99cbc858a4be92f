/*
 * Asks the running kernel what system calls answer in corner cases, one line a case: `case: answer`.
 * The tests of the rows take these answers as expected values.
 * Build: gcc -static -O1 -o answers answers.c; run in an empty directory, as an ordinary user.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BAD ((void *)0x10)
#define NONCANONICAL ((void *)0x8000000000000000)

static long ask(const char *name, long answer)
{
	if (answer == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, answer);
	return answer;
}
#define Q(nr, ...) ask(#nr "(" #__VA_ARGS__ ")", syscall(SYS_##nr, ##__VA_ARGS__))


static char *page;	/* three pages, the middle one a hole */
static int rdonly, wronly, dir, pipes[2];

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
/* What was mapped in between may have filled the hole. */
#define HOLE munmap(page + 4096, 4096)
#define MAPS(...) ask("mmap(" #__VA_ARGS__ ")", syscall(SYS_mmap, __VA_ARGS__) < 0 ? -1 : 0)

int main(void)
{
	unsigned char vec[16];
	long brk0;

	setvbuf(stdout, 0, _IONBF, 0);
	page = mmap(0, 12288, RW, ANON, -1, 0);
	munmap(page + 4096, 4096);
	rdonly = open("file", O_CREAT | O_RDWR | O_TRUNC, 0644);
	write(rdonly, page, 4096);
	write(rdonly, page, 100);
	close(rdonly);
	rdonly = open("file", O_RDONLY);
	wronly = open("out", O_CREAT | O_WRONLY, 0644);
	dir = open(".", O_RDONLY);
	pipe(pipes);
	puts("# mmap");
	MAPS(0, 0, RW, ANON, -1, 0L);
	MAPS(0, 4096, RW, ANON, -1, 1L);
	MAPS(0, 4096, RW, MAP_ANONYMOUS, -1, 0L);
	MAPS(0, 4096, RW, MAP_ANONYMOUS | 4, -1, 0L);
	MAPS(0, 4096, RW, MAP_PRIVATE, 99, 0L);
	MAPS(0, 0, RW, MAP_PRIVATE, 99, 0L);
	MAPS(0, 4096, RW, MAP_PRIVATE, 99, 1L);
	MAPS(0, 4096, RW, MAP_PRIVATE, wronly, 0L);
	MAPS(0, 4096, RW, MAP_SHARED, wronly, 0L);
	MAPS(0, 4096, RW, MAP_SHARED, rdonly, 0L);
	MAPS(0, 4096, PROT_READ, MAP_SHARED, rdonly, 0L);
	MAPS(0, 4096, RW, MAP_SHARED_VALIDATE | 0x800000, rdonly, 0L);
	MAPS(0, 4096, RW, MAP_PRIVATE, dir, 0L);
	MAPS(0, 4096, RW, MAP_PRIVATE, pipes[0], 0L);
	MAPS(0, 4096, RW, ANON, 99, 0L);
	MAPS(0, -1L, RW, ANON, -1, 0L);
	MAPS(0, 0x7ffffffff000, RW, ANON, -1, 0L);
	MAPS(0, 8192, PROT_READ, MAP_PRIVATE, rdonly, 0x7ffffffffffff000);
	MAPS(0, 8192, PROT_READ, MAP_PRIVATE, rdonly, -4096L);
	MAPS(page + 1, 4096, RW, ANON | MAP_FIXED, -1, 0L);
	MAPS(page, 4096, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0L);
	MAPS(0x7ffffffff000, 4096, RW, ANON | MAP_FIXED, -1, 0L);
	MAPS(0, 4096, RW | 0x100, ANON, -1, 0L);
	MAPS(0, 4096, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0L);
	MAPS(0, 4096, RW, MAP_PRIVATE | MAP_GROWSDOWN, rdonly, 0L);
	HOLE;
	puts("# munmap mprotect");
	Q(munmap, page + 1, 4096);
	Q(munmap, page, 0);
	Q(munmap, page + 4096, 4096);
	Q(munmap, 0x7ffffffff000, 4096);
	Q(munmap, 0, 4096);
	Q(mprotect, page + 1, 4096, PROT_READ);
	Q(mprotect, page + 1, 0, PROT_READ);
	Q(mprotect, page, 0, PROT_READ);
	Q(mprotect, page, 4096, 0x100);
	Q(mprotect, page, 12288, RW);
	Q(mprotect, page + 4096, 4096, RW);
	Q(mprotect, page, -4096L, RW);
	Q(mprotect, page, 4096, RW | PROT_GROWSDOWN);
	Q(mprotect, page, 4096, RW | PROT_GROWSDOWN | PROT_GROWSUP);
	Q(mprotect, page, 4096, RW);
	void *shared = mmap(0, 4096, PROT_READ, MAP_SHARED, rdonly, 0);
	Q(mprotect, shared, 4096, RW);
	HOLE;
	puts("# madvise msync mincore");
	Q(madvise, page + 1, 4096, MADV_DONTNEED);
	Q(madvise, page, 0, MADV_DONTNEED);
	Q(madvise, page, 0, 999);
	Q(madvise, page, 4096, 999);
	Q(madvise, page, 12288, MADV_DONTNEED);
	Q(madvise, page, -1L, MADV_DONTNEED);
	Q(madvise, page, 12288, MADV_NORMAL);
	Q(madvise, page, 4096, MADV_WILLNEED);
	Q(madvise, page, 4096, MADV_FREE);
	Q(madvise, shared, 4096, MADV_FREE);
	page[5] = 7;
	Q(madvise, page, 4096, MADV_DONTNEED);
	printf("after DONTNEED: %d\n", page[5]);
	Q(msync, page + 1, 4096, MS_SYNC);
	Q(msync, page, 4096, MS_SYNC | MS_ASYNC);
	Q(msync, page, 4096, 8);
	Q(msync, page, 12288, MS_SYNC);
	Q(msync, page, 4096, MS_SYNC);
	Q(msync, page, 0, MS_SYNC);
	Q(mincore, page + 1, 4096, vec);
	Q(mincore, page, 12288, vec);
	page[0] = 1;
	Q(mincore, page, 4096, vec);
	printf("resident: %d\n", vec[0] & 1);
	Q(mincore, page, 4096, BAD);
	Q(mincore, page, 0, BAD);
	HOLE;
	puts("# mremap brk mlock");
	Q(mremap, page + 1, 4096, 8192, 0);
	Q(mremap, page, 4096, 0, 0);
	Q(mremap, page, 4096, 8192, 8);
	Q(mremap, page + 4096, 4096, 8192, 0);
	Q(mremap, page, 12288, 16384, MREMAP_MAYMOVE);
	ask("mremap(page, 4096, 4096, 0) == page", syscall(SYS_mremap, page, 4096, 4096, 0) == (long)page);
	Q(mremap, page, 4096, 4096, MREMAP_FIXED, page + 8192);
	Q(mremap, page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page + 1);
	Q(mremap, page, 4096, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, page);
	Q(mremap, page, 4096, 8192, MREMAP_DONTUNMAP);
	brk0 = syscall(SYS_brk, 0);
	ask("brk(1) == brk(0)", syscall(SYS_brk, 1) == brk0);
	ask("brk(up) == up", syscall(SYS_brk, brk0 + 10000) == brk0 + 10000);
	ask("byte behind brk", *(char *)(brk0 + 9999));
	ask("brk(far) == old", syscall(SYS_brk, 0x7fffffffe000) == brk0 + 10000);
	ask("brk(down) == down", syscall(SYS_brk, brk0) == brk0);
	Q(mlock, page, 4096);
	Q(mlock, page + 4096, 4096);
	Q(munlock, page, 4096);
	Q(mlock2, page, 4096, 1);
	Q(mlock2, page, 4096, 2);
	Q(mlockall, 0);
	Q(mlockall, 8);
	Q(munlockall);
	return 0;
}
