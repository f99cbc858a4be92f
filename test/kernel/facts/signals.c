/* Sending, blocking, waiting for and ordering signals; single steps; system calls beside them. */
#include "facts.h"

static const u64 BIT1 = 1;
#define BIT(s) (BIT1 << ((s) - 1))
static int pid;

static void show(int sig, struct siginfo *si, struct ucontext *uc)
{
	u64 mask;
	sys(SIGPROCMASK, 0, 0, &mask, 8);
	put("  handler"); dec("signal", sig); dec("code", si->code); dec("own-pid", si->pid == pid);
	dec("own-uid", si->uid == (int)sys(GETUID, 0, 0, 0, 0)); hex("mask", mask); hex("saved", uc->sigmask);
	dec("trapno", uc->mc.trapno); hex("err", uc->mc.err);
	line();
}

static void mask(int how, u64 set) { sys(SIGPROCMASK, how, &set, 0, 8); }

static void sending(void)
{
	on(SIGUSR1, show, SA_SIGINFO, BIT(SIGTERM));
	result("kill-self", sys(KILL, pid, SIGUSR1, 0, 0));
	result("kill-group", sys(KILL, 0, SIGUSR1, 0, 0));
	result("tkill", sys(TKILL, pid, SIGUSR1, 0, 0));
	result("tgkill", sys(TGKILL, pid, pid, SIGUSR1, 0));
	on(SIGUSR1, show, SA_SIGINFO | SA_NODEFER, 0);
	result("nodefer", sys(KILL, pid, SIGUSR1, 0, 0));
	result("kill-0", sys(KILL, pid, 0, 0, 0));
	result("kill-bad-signal", sys(KILL, pid, 65, 0, 0));
	result("kill-nobody", sys(KILL, 0x3fffff, SIGUSR1, 0, 0));
	result("tgkill-bad-group", sys(TGKILL, pid + 1, pid, SIGUSR1, 0));
	result("tgkill-negative", sys(TGKILL, -1, pid, SIGUSR1, 0));
	result("tkill-zero", sys(TKILL, 0, SIGUSR1, 0, 0));
	result("tkill-nobody", sys(TKILL, 0x3fffff, SIGUSR1, 0, 0));
	on(SIGUSR2, (void *)1, 0, 0);
	result("ignored", sys(KILL, pid, SIGUSR2, 0, 0));
	result("default-ignored", sys(KILL, pid, SIGCHLD, 0, 0));
}

static void actions(void)
{
	struct sigaction a = { (u64)show, SA_SIGINFO | SA_RESTORER | 0x400 | SA_RESETHAND, (u64)restorer, -1 }, old;
	result("sigaction-kill", sys(SIGACTION, SIGKILL, &a, 0, 8));
	result("sigaction-stop", sys(SIGACTION, SIGSTOP, &a, 0, 8));
	result("sigaction-kill-query", sys(SIGACTION, SIGKILL, 0, &old, 8));
	result("sigaction-0", sys(SIGACTION, 0, &a, 0, 8));
	result("sigaction-65", sys(SIGACTION, 65, &a, 0, 8));
	result("sigaction-size", sys(SIGACTION, SIGUSR1, &a, 0, 4));
	result("sigaction-fault", sys(SIGACTION, SIGUSR1, 8, 0, 8));
	result("sigaction-old-fault", sys(SIGACTION, SIGUSR1, 0, 8, 8));
	sys(SIGACTION, SIGUSR2, &a, 0, 8);
	sys(SIGACTION, SIGUSR2, 0, &old, 8);
	put("sigaction-kept"); hex("flags", old.flags); hex("mask", old.mask); line();
	sys(KILL, pid, SIGUSR2, 0, 0);
	sys(SIGACTION, SIGUSR2, 0, &old, 8);
	put("reset-hand"); hex("handler", old.handler); hex("flags", old.flags); hex("mask", old.mask); line();
}

static void blocking(void)
{
	u64 set = -1, old;
	struct siginfo si;
	struct { u64 s, ns; } none = { 0, 0 }, bad = { 0, 1000000000 };
	result("procmask-all", sys(SIGPROCMASK, 2, &set, 0, 8));
	sys(SIGPROCMASK, 7, 0, &old, 8);
	put("procmask-kept"); hex("mask", old); line();
	result("procmask-how", sys(SIGPROCMASK, 7, &set, 0, 8));
	result("procmask-size", sys(SIGPROCMASK, 0, &set, 0, 16));
	result("procmask-fault", sys(SIGPROCMASK, 0, 8, 0, 8));
	on(SIGUSR1, show, SA_SIGINFO, 0); on(SIGUSR2, show, SA_SIGINFO, 0); on(40, show, SA_SIGINFO, 0); on(SIGTERM, show, SA_SIGINFO, 0);
	sys(KILL, pid, SIGUSR2, 0, 0); sys(KILL, pid, SIGUSR1, 0, 0); sys(KILL, pid, SIGUSR1, 0, 0);
	sys(KILL, pid, 40, 0, 0); sys(KILL, pid, 40, 0, 0); sys(TKILL, pid, SIGTERM, 0, 0);
	result("pending-size", sys(SIGPENDING, &old, 16, 0, 0));
	sys(SIGPENDING, &old, 8, 0, 0);
	put("pending"); hex("set", old); line();
	set = BIT(SIGUSR1);
	result("sigtimedwait-takes", sys(SIGTIMEDWAIT, &set, &si, &none, 8));
	put("sigtimedwait-info"); dec("signo", si.signo); dec("code", si.code); dec("own-pid", si.pid == pid); line();
	result("sigtimedwait-none", sys(SIGTIMEDWAIT, &set, &si, &none, 8));
	result("sigtimedwait-time", sys(SIGTIMEDWAIT, &set, &si, &bad, 8));
	result("sigtimedwait-size", sys(SIGTIMEDWAIT, &set, &si, &none, 4));
	put("unblocking"); line();
	mask(2, 0);
	mask(0, BIT(SIGUSR1));
	sys(KILL, pid, SIGUSR1, 0, 0);
	set = BIT(SIGUSR2);
	result("sigsuspend", sys(SIGSUSPEND, &set, 8, 0, 0));
	sys(SIGPROCMASK, 0, 0, &old, 8);
	put("sigsuspend-mask"); hex("mask", old); line();
	result("sigsuspend-size", sys(SIGSUSPEND, &set, 4, 0, 0));
	mask(2, 0);
}

u64 steps[32];
u64 step_code;
int step_count;
static void step(int sig, struct siginfo *si, struct ucontext *uc)
{
	if (step_count < 32) steps[step_count++] = si->code == 2 && uc->mc.trapno == 1 && si->addr == uc->mc.ip ? uc->mc.ip : 0;
}

/* Which instructions trap while TF is set: offsets from label 1, 16 bytes a line of assembly. */
static void stepping(void)
{
	on(SIGTRAP, step, SA_SIGINFO, 0);
	asm volatile("lea 1f(%%rip),%%rax; mov %%rax,step_code; xor %%edx,%%edx; mov $3,%%ecx; lea step_code,%%rsi; lea steps+128,%%rdi; mov $39,%%eax; pushf; pop %%rbx; pushf; orq $0x100,(%%rsp); popf;"
		     "1: nop;"
		     ".balign 16; rep movsb;"
		     ".balign 16; mov $39,%%eax; syscall; nop; nop;"
		     ".balign 16; pushf; pop %%rdx;"
		     ".balign 16; push %%rbx; popf; nop; nop" ::: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r11", "memory", "cc");
	put("steps");
	for (int i = 0; i < step_count; i++) dec("at", steps[i] - (step_code & -16ul));
	line();
}

/* A fault's numbers stay with the thread and show in later frames. */
static void leftovers(void)
{
	put("leftovers"); line();
	on(SIGUSR1, show, SA_SIGINFO, 0);
	sys(KILL, pid, SIGUSR1, 0, 0);
	result("unknown-call", sys(9999, 0, 0, 0, 0));
	result("negative-call", sys(-1, 0, 0, 0, 0));
	result("call-number-64-bit", sys(0x100000000ul + GETPID, 0, 0, 0, 0) == pid);
}

void start(u64 *sp)
{
	pid = sys(GETPID, 0, 0, 0, 0);
	sending();
	actions();
	blocking();
	stepping();
	leftovers();
	quit(0);
}
