/* How a handler is entered, what lies in its frame, and what sigreturn takes from it. */
#include "facts.h"

struct frame { u64 restorer; struct ucontext uc; struct siginfo si; };
_Static_assert(sizeof(struct frame) == 440, "rt_sigframe");

u64 entry_regs[16], entry_flags, entry_sp, sp_before;
unsigned char entry_fx[512] __attribute__((aligned(16)));
static u64 page;

/* Saves ax bx cx dx si di bp r8-r15, flags and the FPU as the handler finds them, then goes on in C. */
void entry(void);
void inspect(int sig, struct siginfo *si, struct ucontext *uc);
asm("entry: mov %rax,entry_regs; mov %rbx,entry_regs+8; mov %rcx,entry_regs+16; mov %rdx,entry_regs+24;"
    "mov %rsi,entry_regs+32; mov %rdi,entry_regs+40; mov %rbp,entry_regs+48; mov %r8,entry_regs+56;"
    "mov %r9,entry_regs+64; mov %r10,entry_regs+72; mov %r11,entry_regs+80; mov %r12,entry_regs+88;"
    "mov %r15,entry_regs+96; mov %rsp,entry_sp; pushf; pop entry_flags; cld; fxsave entry_fx; jmp inspect");

static void fpu(const unsigned char *fx)
{
	hex("fcw", *(uint16_t *)fx);
	hex("fsw", *(uint16_t *)(fx + 2));
	hex("ftw", fx[4]);
	hex("mxcsr", *(unsigned *)(fx + 24));
	hex("xmm1", *(u64 *)(fx + 176));
}

void inspect(int sig, struct siginfo *si, struct ucontext *uc)
{
	struct frame *f = (struct frame *)entry_sp;
	u64 fp = uc->mc.fpstate;
	put("registers");
	hex("ax", entry_regs[0]); hex("bx", entry_regs[1]); hex("cx", entry_regs[2]); hex("bp", entry_regs[6]);
	hex("r8", entry_regs[7]); hex("r9", entry_regs[8]); hex("r10", entry_regs[9]); hex("r11", entry_regs[10]);
	hex("r15", entry_regs[12]); hex("flags", entry_flags);
	line();
	put("arguments");
	dec("signal", sig); dec("siginfo-at", (u64)si - entry_sp); dec("ucontext-at", (u64)uc - entry_sp);
	dec("sp-mod-16", entry_sp & 15); dec("returns-to-restorer", f->restorer == (u64)restorer);
	line();
	put("stack");
	dec("fpstate-aligned", (fp & 63) == 0);
	dec("frame-below-fpstate", entry_sp == ((fp - sizeof *f) & -16ul) - 8);
	dec("red-zone-kept", fp + 512 <= sp_before - 128);
	dec("sp", uc->mc.sp == sp_before);
	line();
	put("ucontext");
	hex("flags-without-xstate", uc->flags & ~1ul); hex("link", uc->link); hex("stack-sp", uc->stack.sp);
	hex("stack-flags", uc->stack.flags); hex("stack-size", uc->stack.size); hex("sigmask", uc->sigmask);
	hex("oldmask", uc->mc.oldmask);
	line();
	put("sigcontext");
	hex("ax", uc->mc.ax); hex("bx", uc->mc.bx); hex("cx", uc->mc.cx); hex("bp", uc->mc.bp); hex("r8", uc->mc.r8);
	hex("r15", uc->mc.r15); hex("flags", uc->mc.flags); hex("cs", uc->mc.cs); hex("gs", uc->mc.gs);
	hex("fs", uc->mc.fs); hex("ss", uc->mc.ss);
	u64 reserved = 0;
	for (int i = 0; i < 8; i++) reserved |= uc->mc.reserved[i];
	hex("reserved", reserved);
	line();
	put("fpu-in-handler"); fpu(entry_fx); line();
	put("fpu-in-frame"); fpu((unsigned char *)fp); line();
	uc->mc.ip += 2; /* past the ud2 */
	uc->mc.bx = 0x1111; uc->mc.r15 = 0x2222; uc->mc.flags = 0xcd5; uc->mc.ax = 0x3333; uc->mc.cx = 0x4444; uc->mc.r11 = 0x5555;
	*(unsigned *)(fp + 24) = 0x1f83; *(u64 *)(fp + 176) = 0x6666; *(uint16_t *)fp = 0x27f;
}

unsigned known_mxcsr = 0x1fa1;
uint16_t known_cw = 0x360;
u64 r[8];
unsigned char after_fx[512] __attribute__((aligned(16)));

/* Known registers, a ud2, and the registers after the handler has changed some of them. */
static void registers(void)
{
	on(SIGILL, entry, SA_SIGINFO, 1 << (SIGUSR2 - 1));
	asm volatile("push %%rbp; fninit; fldcw known_cw; fld1; ldmxcsr known_mxcsr; mov $0x77,%%eax; movq %%rax,%%xmm1;"
		     "mov $0xa1,%%eax; mov $0xb1,%%ebx; mov $0xc1,%%ecx; mov $0xb9,%%ebp; mov $8,%%r8d; mov $9,%%r9d;"
		     "mov $10,%%r10d; mov $11,%%r11d; mov $15,%%r15d; mov %%rsp,sp_before; cmp %%rsp,%%rsp; std; stc;"
		     "ud2;"
		     "mov %%rax,r; mov %%rbx,r+8; mov %%rcx,r+16; mov %%r11,r+24; mov %%r15,r+32; mov %%rbp,r+40;"
		     "pushf; pop r+48; cld; fxsave after_fx; fninit; pop %%rbp"
		     ::: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r15", "memory", "cc");
	put("after-sigreturn");
	hex("ax", r[0]); hex("bx", r[1]); hex("cx", r[2]); hex("r11", r[3]); hex("r15", r[4]); hex("bp", r[5]); hex("flags", r[6]);
	line();
	put("fpu-after"); fpu(after_fx); line();
}

/* Leaves its result where the fault was: the page becomes readable, the load runs again. */
static void repair(int sig, struct siginfo *si, struct ucontext *uc)
{
	sys(MPROTECT, page, 4096, 3, 0);
	*(u64 *)page = 0xfeed;
	put("repair"); dec("addr-offset", si->addr - page); line();
}

static void restart(void)
{
	u64 value, count = 0;
	page = sys6(MMAP, 0, 4096, 0, 0x22, -1, 0);
	on(SIGSEGV, repair, SA_SIGINFO, 0);
	asm volatile("inc %1; mov (%2),%0" : "=&r"(value), "+r"(count) : "r"(page));
	put("restarted"); hex("value", value); dec("count", count); line();
}

static int depth;
static void nested(int sig, struct siginfo *si, struct ucontext *uc)
{
	static u64 outer;
	put("nested"); dec("depth", ++depth); hex("mask", uc->sigmask);
	if (depth == 1) outer = (u64)uc; else dec("below-outer", (u64)uc < outer);
	line();
	if (depth < 3) asm volatile("ud2");
	put("leave"); dec("depth", depth--); line();
	uc->mc.ip += 2;
}

static char alt_stack[16384];
static int deep(int n) { volatile char hole[1 << 16]; hole[0] = n; return n > 0 ? deep(n - 1) + hole[0] : hole[0]; }
u64 overflow_sp, overflow_ip;
static void overflow(int sig, struct siginfo *si, struct ucontext *uc)
{
	struct stack now, other = { (u64)page, 0, 0, 4096 };
	u64 fp = uc->mc.fpstate, top = (u64)alt_stack + sizeof alt_stack;
	sys(SIGALTSTACK, 0, &now, 0, 0);
	put("overflow");
	dec("code", si->code);
	dec("near-sp", si->addr - uc->mc.sp < (1 << 17) || uc->mc.sp - si->addr < (1 << 17));
	dec("on-alternate-stack", (u64)&now - (u64)alt_stack < sizeof alt_stack);
	dec("no-red-zone", fp + 64 * 64 > top - 128);
	dec("query-flags", now.flags); dec("frame-flags", uc->stack.flags); dec("frame-sp", uc->stack.sp == (u64)alt_stack);
	dec("frame-size", uc->stack.size);
	dec("change-while-active", sys(SIGALTSTACK, &other, 0, 0, 0));
	line();
	uc->mc.sp = overflow_sp;
	uc->mc.ip = overflow_ip;
}

static void disarmed(int sig, struct siginfo *si, struct ucontext *uc)
{
	struct stack now;
	result("altstack-in-handler", sys(SIGALTSTACK, 0, &now, 0, 0));
	put("altstack-in-handler"); hex("sp", now.sp); hex("flags", (unsigned)now.flags); hex("size", now.size);
	hex("frame-flags", (unsigned)uc->stack.flags); dec("on-it", (u64)&now - (u64)alt_stack < sizeof alt_stack); line();
	uc->mc.ip += 2;
}

static void alternate(void)
{
	struct stack s = { (u64)alt_stack, 0, 0, sizeof alt_stack }, old, bad = { 0, 0, 0, 2047 }, odd = { (u64)alt_stack, 4, 0, 8192 };
	sys(SIGALTSTACK, 0, &old, 0, 0);
	put("altstack-first"); hex("sp", old.sp); hex("flags", old.flags); hex("size", old.size); line();
	result("altstack-too-small", sys(SIGALTSTACK, &bad, 0, 0, 0));
	result("altstack-bad-flags", sys(SIGALTSTACK, &odd, 0, 0, 0));
	result("altstack-bad-pointer", sys(SIGALTSTACK, 8, 0, 0, 0));
	result("altstack-set", sys(SIGALTSTACK, &s, &old, 0, 0));
	on(SIGSEGV, overflow, SA_SIGINFO | SA_ONSTACK, 0);
	asm volatile("push %%rbp; push %%rbx; mov %%rsp,overflow_sp; lea 1f(%%rip),%%rax; mov %%rax,overflow_ip; mov $4000,%%edi; call *%0; 1: pop %%rbx; pop %%rbp"
		     ::"c"(deep) : "rax", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory");
	sys(SIGALTSTACK, 0, &old, 0, 0);
	put("altstack-after"); hex("flags", old.flags); dec("same", old.sp == s.sp); line();
	s.flags = 2;
	result("altstack-disable", sys(SIGALTSTACK, &s, 0, 0, 0));
	sys(SIGALTSTACK, 0, &old, 0, 0);
	put("altstack-disabled"); hex("sp", old.sp); hex("flags", old.flags); hex("size", old.size); line();
	s.flags = 0x80000000; s.size = sizeof alt_stack;
	result("altstack-autodisarm", sys(SIGALTSTACK, &s, 0, 0, 0));
	sys(SIGALTSTACK, 0, &old, 0, 0);
	put("altstack-armed"); dec("sp", old.sp == s.sp); hex("flags", (unsigned)old.flags); hex("size", old.size); line();
	on(SIGILL, disarmed, SA_SIGINFO | SA_ONSTACK, 0);
	asm volatile("ud2");
	sys(SIGALTSTACK, 0, &old, 0, 0);
	put("altstack-armed-again"); dec("sp", old.sp == s.sp); hex("flags", (unsigned)old.flags); hex("size", old.size); line();
}

void start(u64 *sp)
{
	registers();
	restart();
	on(SIGILL, nested, SA_SIGINFO | SA_NODEFER, 0);
	asm volatile("ud2");
	alternate();
	quit(0);
}
