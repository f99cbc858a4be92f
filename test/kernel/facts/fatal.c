/* Ends of a program: argv[1] picks one; the recording holds its exit status or signal. */
#include "facts.h"

static void handler(int sig) { put("handler"); line(); }
static void again(int sig) { put("handler"); line(); asm volatile("ud2"); }
char small_stack[16384] __attribute__((aligned(16)));
static void low(int sig) { put("handler"); line(); asm volatile("lea small_stack+256(%rip),%rsp; ud2"); }

static void end_exit(void) { quit(300 + 7); }
static void end_segv(void) { *(volatile int *)0 = 1; }
static void end_ud2(void) { asm volatile("ud2"); }
static void end_int3(void) { asm volatile("int3"); }
static void end_divide(void) { asm volatile("xor %%edx,%%edx; xor %%ecx,%%ecx; div %%ecx" ::: "rcx", "rdx"); }
static void end_term(void) { sys(KILL, sys(GETPID, 0, 0, 0, 0), SIGTERM, 0, 0); }
static void end_kill(void) { sys(KILL, sys(GETPID, 0, 0, 0, 0), SIGKILL, 0, 0); }
static void end_realtime(void) { sys(KILL, sys(GETPID, 0, 0, 0, 0), 40, 0, 0); }
/* A fault whose signal is blocked or ignored cannot be held back. */
static void end_blocked(void)
{
	u64 set = -1;
	on(SIGSEGV, handler, 0, 0);
	sys(SIGPROCMASK, 2, &set, 0, 8);
	*(volatile int *)0 = 1;
}
static void end_ignored(void) { on(SIGSEGV, (void *)1, 0, 0); *(volatile int *)0 = 1; }
/* The signal is blocked while its own handler runs. */
static void end_again(void) { on(SIGILL, again, 0, 0); asm volatile("ud2"); }
static void end_no_restorer(void)
{
	struct sigaction a = { (u64)handler, 0, 0, 0 };
	sys(SIGACTION, SIGUSR1, &a, 0, 8);
	sys(KILL, sys(GETPID, 0, 0, 0, 0), SIGUSR1, 0, 0);
}
static void end_bad_stack(void)
{
	on(SIGUSR1, handler, 0, 0);
	u64 pid = sys(GETPID, 0, 0, 0, 0);
	asm volatile("mov $0x10000000,%%esp; syscall" ::"a"(KILL), "D"(pid), "S"(SIGUSR1) : "rcx", "r11", "memory");
}
static void end_bad_frame(void) { asm volatile("mov $0x10000000,%%esp; syscall" ::"a"(SIGRETURN) : "rcx", "r11", "memory"); }
/* An alternate stack that has no room for the second frame. */
static void end_small_stack(void)
{
	struct stack s = { (u64)small_stack, 0, 0, sizeof small_stack };
	sys(SIGALTSTACK, &s, 0, 0, 0);
	on(SIGILL, low, SA_ONSTACK | SA_NODEFER, 0);
	asm volatile("ud2");
}
static void end_bad_ip(void) { asm volatile("jmp *%0" ::"r"(0x123456789abcdef0ul)); }
static void on_bad_mxcsr(int sig, struct siginfo *si, struct ucontext *uc) { *(unsigned *)(uc->mc.fpstate + 24) = 0x80001f80; uc->mc.ip += 2; }
static void end_bad_mxcsr(void)
{
	on(SIGILL, on_bad_mxcsr, SA_SIGINFO, 0);
	asm volatile("ud2");
	put("survived"); line();
	quit(0);
}

static void *const ends[] = {
	"exit", end_exit, "segv", end_segv, "ud2", end_ud2, "int3", end_int3, "divide", end_divide, "term", end_term,
	"kill", end_kill, "realtime", end_realtime, "blocked", end_blocked, "ignored", end_ignored, "again", end_again,
	"no-restorer", end_no_restorer, "bad-stack", end_bad_stack, "bad-frame", end_bad_frame,
	"small-stack", end_small_stack, "bad-ip", end_bad_ip, "bad-mxcsr", end_bad_mxcsr, 0 };

void start(u64 *sp)
{
	if (sp[0] < 2)
		for (int i = 0; ends[i]; i += 2) { put(ends[i]); line(); }
	else
		for (int i = 0; ends[i]; i += 2)
			if (same((char *)sp[2], ends[i])) ((void (*)(void))ends[i + 1])();
	quit(0);
}
