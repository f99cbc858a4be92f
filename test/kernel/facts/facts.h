/* What a program needs to report facts about signals without a libc: calls, printing, a handler. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stddef.h>

typedef uint64_t u64;
typedef int64_t s64;

enum { READ = 0, WRITE = 1, MMAP = 9, MPROTECT = 10, MUNMAP = 11, SIGACTION = 13, SIGPROCMASK = 14, SIGRETURN = 15,
       GETPID = 39, EXIT = 60, KILL = 62, SIGPENDING = 127, SIGTIMEDWAIT = 128, SIGSUSPEND = 130,
       SIGALTSTACK = 131, TKILL = 200, TGKILL = 234, OPEN = 2, GETUID = 102 };
enum { SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGUSR1 = 10, SIGSEGV = 11, SIGUSR2 = 12,
       SIGTERM = 15, SIGCHLD = 17, SIGSTOP = 19 };
enum { SA_SIGINFO = 4, SA_RESTORER = 0x04000000, SA_ONSTACK = 0x08000000, SA_NODEFER = 0x40000000 };
#define SA_RESETHAND 0x80000000u

static inline s64 sys6(u64 n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 asm("r10") = d;
	register u64 r8 asm("r8") = e;
	register u64 r9 asm("r9") = f;
	s64 r;
	asm volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return r;
}
#define sys(n, a, b, c, d) sys6(n, (u64)(a), (u64)(b), (u64)(c), (u64)(d), 0, 0)

struct sigaction { u64 handler, flags, restorer, mask; };
struct stack { u64 sp; int flags; int pad; u64 size; };
struct sigcontext {
	u64 r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	u64 err, trapno, oldmask, cr2, fpstate, reserved[8];
};
struct ucontext { u64 flags, link; struct stack stack; struct sigcontext mc; u64 sigmask; };
struct siginfo { int signo, err, code, pad; union { u64 addr; struct { int pid, uid; }; }; u64 rest[13]; };

static char out[256];
static int out_len;
static void flush(void) { sys(WRITE, 1, out, out_len, 0); out_len = 0; }
static void put(const char *s) { while (*s) out[out_len++] = *s++; }
static void put_hex(u64 v)
{
	char b[16];
	int i = 0;
	put("0x");
	do { b[i++] = "0123456789abcdef"[v & 15]; v >>= 4; } while (v);
	while (i) out[out_len++] = b[--i];
}
static void put_dec(s64 v)
{
	char b[20];
	int i = 0;
	if (v < 0) { put("-"); v = -v; }
	do { b[i++] = '0' + v % 10; v /= 10; } while (v);
	while (i) out[out_len++] = b[--i];
}
static void line(void) { put("\n"); flush(); }
/* " name=value" */
static void hex(const char *n, u64 v) { put(" "); put(n); put("="); put_hex(v); }
static void dec(const char *n, s64 v) { put(" "); put(n); put("="); put_dec(v); }
/* One line: "name result=N" */
static void result(const char *n, s64 v) { put(n); dec("result", v); line(); }

void restorer(void);
asm(".globl restorer\nrestorer: mov $15,%eax\nsyscall");

static s64 on(int sig, void *handler, u64 flags, u64 mask)
{
	struct sigaction a = { (u64)handler, flags | SA_RESTORER, (u64)restorer, mask };
	return sys(SIGACTION, sig, &a, 0, 8);
}

void start(u64 *sp);
asm(".globl _start\n_start: mov %rsp,%rdi\nand $-16,%rsp\ncall start\nhlt");
static _Noreturn void quit(int status) { for (;;) sys(EXIT, status, 0, 0, 0); }
static int same(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a == *b; }
