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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
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


#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

static char room[256] __attribute__((aligned(64)));

int main(void)
{
	char buf[512];
	uint32_t word = 5;
	struct timespec ts = {0, 1000000000}, neg = {-1, 0}, short_time = {0, 1000}, out;
	struct rlimit64 bad = {10, 5}, more = {1, 1 << 30}, less = {100, 200};
	unsigned cpu, node;
	long one = 1, zero = 0;

	setvbuf(stdout, 0, _IONBF, 0);
	/* The libc has registered one; what follows starts without. */
	if (__rseq_size)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, 32, 1, RSEQ_SIG);
	puts("# ids");
	Q(getuid); Q(geteuid); Q(getgid); Q(getegid);
	ask("getpgrp == getpgid", syscall(SYS_getpgrp) == syscall(SYS_getpgid, 0));
	ask("getppid > 0", syscall(SYS_getppid) > 0);
	Q(setregid, -1, 1000);
	Q(setregid, 0, 0);
	Q(setresgid, 1000, -1, 1000);
	Q(setresgid, -1, -1, 0);
	Q(getresgid, BAD, BAD, BAD);
	Q(setfsuid, 0);
	Q(setfsgid, -1);
	Q(getpgid, 99999);
	Q(getpgid, -1);
	Q(getsid, 99999);
	Q(getresuid, BAD, BAD, BAD);
	Q(setuid, 1000);
	Q(setuid, 0);
	Q(setgid, 5);
	Q(setresuid, -1, -1, -1);
	Q(setreuid, 0, 0);
	Q(getgroups, 0, BAD);
	Q(getgroups, -1, BAD);
	Q(setgroups, 0, BAD);
	Q(setpgid, 99999, 0);
	Q(getpriority, 0, 0);
	Q(getpriority, 9, 0);
	Q(getpriority, 0, 99999);
	Q(capget, BAD, BAD);
	puts("# thread");
	ask("set_tid_address == gettid", syscall(SYS_set_tid_address, buf) == syscall(SYS_gettid));
	Q(set_robust_list, buf, 23);
	Q(set_robust_list, buf, 24);
	Q(get_robust_list, 0, BAD, BAD);
	Q(rseq, room + 1, 32, 0, RSEQ_SIG);
	Q(rseq, room, 31, 0, RSEQ_SIG);
	Q(rseq, room, 32, 2, RSEQ_SIG);
	Q(rseq, room, 32, 1, RSEQ_SIG);
	Q(rseq, BAD, 32, 0, RSEQ_SIG);
	Q(rseq, room, 32, 0, RSEQ_SIG);
	printf("rseq node %u cid %u\n", ((uint32_t *)room)[5], ((uint32_t *)room)[6]);
	Q(rseq, room, 32, 0, RSEQ_SIG);
	Q(rseq, room, 32, 0, 1);
	Q(rseq, room + 32, 32, 0, RSEQ_SIG);
	Q(rseq, room, 32, 1, 1);
	Q(rseq, room, 33, 1, RSEQ_SIG);
	Q(rseq, room, 32, 1, RSEQ_SIG);
	Q(rseq, room, 32, 1, RSEQ_SIG);
	printf("rseq cpu after: %d %d\n", ((int *)room)[0], ((int *)room)[1]);
	Q(arch_prctl, 0x9999, 0);
	Q(arch_prctl, 0x3001, buf);
	Q(arch_prctl, ARCH_SET_GS, 0x800000000000);
	Q(arch_prctl, ARCH_SET_GS, 0x7ffffffff000);
	Q(arch_prctl, ARCH_SET_GS, 0x7fffffffefff);
	Q(arch_prctl, ARCH_GET_GS, buf);
	printf("gs %lx\n", *(long *)buf);
	Q(arch_prctl, ARCH_GET_GS, BAD);
	Q(arch_prctl, ARCH_SET_GS, 0);
	Q(sched_yield);
	Q(sched_getaffinity, 0, 7, buf);
	Q(sched_getaffinity, 0, 0, buf);
	Q(sched_getaffinity, 99999, 128, buf);
	Q(sched_getaffinity, 0, 128, BAD);
	Q(sched_setaffinity, 0, 8, BAD);
	Q(sched_setaffinity, 99999, 8, &one);
	Q(sched_setaffinity, 0, 8, &one);
	Q(sched_setaffinity, 0, 8, &zero);
	Q(sched_getscheduler, 0);
	Q(sched_getscheduler, 99999);
	Q(sched_getparam, 0, buf);
	Q(sched_getparam, 0, 0);
	Q(sched_get_priority_max, 1);
	Q(sched_get_priority_min, 1);
	Q(sched_get_priority_max, 0);
	Q(sched_get_priority_max, 77);
	Q(getcpu, &cpu, &node, 0);
	Q(getcpu, 0, 0, 0);
	Q(getcpu, BAD, 0, 0);
	puts("# prctl");
	Q(prctl, PR_SET_NAME, "a name longer than fifteen", 0, 0, 0);
	Q(prctl, PR_GET_NAME, buf, 0, 0, 0);
	printf("name %s\n", buf);
	Q(prctl, PR_SET_NAME, BAD, 0, 0, 0);
	Q(prctl, PR_GET_NAME, BAD, 0, 0, 0);
	Q(prctl, 9999, 0, 0, 0, 0);
	Q(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0);
	Q(prctl, PR_SET_DUMPABLE, 2, 0, 0, 0);
	Q(prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
	Q(prctl, PR_SET_PDEATHSIG, 99, 0, 0, 0);
	Q(prctl, PR_GET_PDEATHSIG, buf, 0, 0, 0);
	Q(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	Q(prctl, PR_GET_NO_NEW_PRIVS, 1, 0, 0, 0);
	Q(prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
	Q(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	Q(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	Q(prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
	Q(prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
	Q(prctl, PR_SET_VMA, 0, buf, 4096, 0);
	Q(prctl, PR_CAPBSET_READ, 0, 0, 0, 0);
	Q(prctl, PR_CAPBSET_READ, 99, 0, 0, 0);
	puts("# limits");
	Q(prlimit64, 0, 99, 0, buf);
	Q(prlimit64, 99999, 0, 0, buf);
	Q(prlimit64, 0, RLIMIT_NOFILE, &bad, 0);
	Q(prlimit64, 0, RLIMIT_NOFILE, BAD, 0);
	Q(prlimit64, 0, RLIMIT_NOFILE, 0, BAD);
	Q(prlimit64, 0, RLIMIT_NOFILE, &more, 0);
	Q(prlimit64, 0, RLIMIT_NOFILE, &less, buf);
	Q(prlimit64, 0, RLIMIT_NOFILE, 0, buf);
	printf("limit %ld %ld\n", ((long *)buf)[0], ((long *)buf)[1]);
	Q(prlimit64, 0, RLIMIT_NOFILE, 0, 0);
	Q(getrlimit, 99, buf);
	Q(getrlimit, RLIMIT_STACK, BAD);
	Q(setrlimit, 99, BAD);
	Q(setrlimit, 99, buf);
	Q(uname, BAD);
	Q(sysinfo, BAD);
	Q(getrusage, 7, buf);
	Q(getrusage, 0, BAD);
	Q(getrusage, 1, buf);
	Q(times, BAD);
	puts("# futex");
	Q(futex, &word, 0, 4, 0, 0, 0);
	Q(futex, (char *)&word + 1, 0, 4, 0, 0, 0);
	Q(futex, BAD, 0, 4, 0, 0, 0);
	Q(futex, 0x14, 0, 4, 0, 0, 0);
	Q(futex, &word, 1, 1, 0, 0, 0);
	Q(futex, &word, 129, 1, 0, 0, 0);
	Q(futex, BAD, 129, 1, 0, 0, 0);
	Q(futex, &word, 127, 1, 0, 0, 0);
	Q(futex, &word, 0, 5, &ts, 0, 0);
	Q(futex, &word, 128, 5, &short_time, 0, 0);
	Q(futex, &word, 9, 4, 0, 0, 1);
	Q(futex, &word, 9, 5, 0, 0, 0);
	Q(futex, &word, 137, 5, &short_time, 0, 1);
	Q(futex, &word, 3, 1, 1, buf, 0);
	Q(futex, &word, 4, 1, 1, buf, 4);
	puts("# time");
	Q(clock_gettime, 99, &out);
	Q(clock_gettime, 0, BAD);
	Q(clock_gettime, 2, &out);
	Q(clock_gettime, 3, &out);
	Q(clock_gettime, 10, &out);
	Q(clock_gettime, 11, &out);
	Q(clock_getres, 1, 0);
	Q(clock_getres, 99, 0);
	Q(clock_getres, 1, &out);
	printf("resolution %ld\n", out.tv_nsec);
	Q(clock_getres, 6, &out);
	printf("coarse resolution %ld\n", out.tv_nsec);
	Q(clock_settime, 0, &short_time);
	Q(clock_settime, 1, &short_time);
	Q(gettimeofday, BAD, 0);
	Q(gettimeofday, 0, BAD);
	Q(gettimeofday, 0, 0);
	Q(time, BAD);
	Q(nanosleep, &ts, 0);
	Q(nanosleep, &neg, 0);
	Q(nanosleep, BAD, 0);
	Q(nanosleep, &short_time, BAD);
	Q(clock_nanosleep, 99, 0, &short_time, 0);
	Q(clock_nanosleep, 1, 0, &ts, 0);
	Q(clock_nanosleep, 3, 0, &short_time, 0);
	Q(clock_nanosleep, 1, 1, &short_time, 0);
	Q(clock_nanosleep, 4, 0, &short_time, 0);
	Q(settimeofday, BAD, 0);
	puts("# getrandom");
	Q(getrandom, buf, 16, 8);
	Q(getrandom, buf, 16, 6);
	Q(getrandom, buf, 16, 1);
	Q(getrandom, BAD, 16, 0);
	Q(getrandom, BAD, 0, 0);
	Q(getrandom, buf, 300, 0);
	puts("# other");
	Q(personality, 0xffffffff);
	Q(membarrier, 0, 1, 0);
	Q(membarrier, 0x1000000, 0, 0);
	Q(wait4, -1, 0, 0, 0);
	Q(wait4, -1, 0, 0x100, 0);
	Q(wait4, 99999, 0, 0, 0);
	Q(waitid, 0, 0, 0, 4, 0);
	Q(waitid, 0, 0, 0, 0, 0);
	Q(waitid, 9, 0, 0, 4, 0);
	return 0;
}
