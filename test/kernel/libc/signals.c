/* What C programs do with signals through their libc. Run here and on the emulator: equal output. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t count;

static void jump(int sig, siginfo_t *si, void *uc)
{
	printf("caught %d code %d\n", sig, si->si_code);
	siglongjmp(back, sig);
}

static void on(int sig, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = { 0 };
	a.sa_sigaction = f;
	a.sa_flags = SA_SIGINFO | flags;
	if (sigaction(sig, &a, NULL)) perror("sigaction");
}

static void faults(void)
{
	int sigs[] = { SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGBUS };
	for (int i = 0; i < 5; i++) on(sigs[i], jump, 0);
	if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1;
	if (!sigsetjmp(back, 1)) *(volatile char *)faults = 1;
	volatile int zero = 0;
	if (!sigsetjmp(back, 1)) printf("%d\n", 100 / zero);
	if (!sigsetjmp(back, 1)) __builtin_trap();
	if (!sigsetjmp(back, 1)) asm volatile("int3");
	if (!sigsetjmp(back, 1)) raise(SIGSEGV);
}

static void skip(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
	uc->uc_mcontext.gregs[REG_RAX] = 42;
	count++;
}

static char *lazy;
static void provide(int sig, siginfo_t *si, void *context)
{
	char *page = (char *)((unsigned long)si->si_addr & -4096ul);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	strcpy(page, "provided");
	count++;
}

static void repairs(void)
{
	long ax;
	on(SIGILL, skip, 0);
	asm volatile("ud2" : "=a"(ax));
	printf("ax %ld after %d traps\n", ax, count);
	on(SIGSEGV, provide, 0);
	lazy = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("%s %s %s", lazy, lazy + 4096, lazy + 8192);
	printf(" after %d faults\n", count);
}

static int recurse(int n) { volatile char room[1 << 16]; room[0] = n; return recurse(n + 1) + room[0]; }
static void overflow(void)
{
	stack_t alternate = { .ss_sp = malloc(65536), .ss_size = 65536 };
	sigaltstack(&alternate, NULL);
	on(SIGSEGV, jump, SA_ONSTACK);
	for (int i = 0; i < 2; i++)
		if (!sigsetjmp(back, 1)) recurse(0);
	printf("still here\n");
}

static void note(int sig, siginfo_t *si, void *uc) { printf("noted %d value %d\n", sig, si->si_code == SI_USER); }
static void waiting(void)
{
	sigset_t set, old;
	int sig;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGUSR1);
	sigpending(&old);
	printf("pending %d %d %d\n", sigismember(&old, SIGUSR1), sigismember(&old, SIGUSR2), sigismember(&old, SIGTERM));
	printf("sigwait %d", sigwait(&set, &sig));
	printf(" signal %d\n", sig);
	on(SIGUSR2, note, 0);
	sigemptyset(&set);
	printf("sigsuspend %d", sigsuspend(&set));
	printf(" %s\n", strerror(errno));
	on(SIGCHLD, note, SA_RESETHAND);
	raise(SIGCHLD);
	raise(SIGCHLD);
	printf("%s, %s\n", strsignal(SIGSEGV), strsignal(SIGRTMIN));
}

static void doubles(int sig, siginfo_t *si, void *uc) { volatile double d = 1; for (int i = 1; i < 30; i++) d = d / 3 + i; }
static void floating(void)
{
	on(SIGUSR1, doubles, 0);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	double sum = 0;
	long double fine = 1;
	for (int i = 1; i < 20; i++) {
		sum += 1.0 / i;
		fine *= 1.1L;
		raise(SIGUSR1);
	}
	printf("%.17g %.20Lg\n", sum, fine);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	faults();
	repairs();
	overflow();
	waiting();
	floating();
	printf("abort\n");
	abort();
}
