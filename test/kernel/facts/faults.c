/* Which signal each kind of fault becomes, and what the handler is told. One line a case:
 * ip relative to the faulting instruction; addresses of the stack and of mappings by name. */
#include "facts.h"

#define HOLE 0x10000000ul /* nothing is ever mapped there */

u64 site, resume, scratch;
static u64 page;
static const char *name;

static void put_address(const char *n, u64 v)
{
	put(" "); put(n); put("=");
	if (site && v - site < 16) { put("site+"); put_dec(v - site); }
	else if (page && v - page < 4 * 4096) { put("page+"); put_hex(v - page); }
	else put_hex(v);
}

static void handler(int sig, struct siginfo *si, struct ucontext *uc)
{
	put(name);
	dec("signal", sig);
	dec("signo", si->signo);
	dec("errno", si->err);
	dec("code", si->code);
	put_address("addr", si->addr);
	dec("trapno", uc->mc.trapno);
	hex("err", uc->mc.err);
	put_address("cr2", uc->mc.cr2);
	put_address("ip", uc->mc.ip);
	hex("flags", uc->mc.flags & ~0x8d5ul); /* without the arithmetic ones */
	line();
	uc->mc.flags &= ~0x100ul;
	uc->mc.ip = resume;
	uc->mc.sp = uc->mc.r12;
	uc->mc.bp = uc->mc.r13;
}

/* Runs instructions of which the one at label 1 faults; the handler continues at label 2. */
#define CASE(n, before, insn, ...)                                                                  \
	do {                                                                                        \
		name = n;                                                                           \
		asm volatile("lea 2f(%%rip),%%rax; mov %%rax,resume(%%rip); lea 1f(%%rip),%%rax;"   \
			     "mov %%rax,site(%%rip); mov %%rsp,%%r12; mov %%rbp,%%r13; " before     \
			     "\n1: " insn "\n2: mov %%r12,%%rsp; mov %%r13,%%rbp"                   \
			     ::__VA_ARGS__ : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r12", "r13", "memory", "cc"); \
	} while (0)

static void memory_faults(void)
{
	page = sys6(MMAP, 0, 4 * 4096, 0, 0x22, -1, 0);
	sys(MUNMAP, page + 3 * 4096, 4096, 0, 0);
	sys(MPROTECT, page + 4096, 4096, 1, 0);
	sys(MPROTECT, page + 8192, 4096, 3, 0);
	CASE("read-unmapped", "mov %0,%%rdi", "mov (%%rdi),%%rax", "i"(HOLE));
	CASE("read-across", "lea 0xffc(%0),%%rdi", "mov (%%rdi),%%rax", "r"(page + 8192));
	CASE("write-unmapped", "mov %0,%%rdi", "mov %%rax,(%%rdi)", "i"(HOLE));
	CASE("rmw-unmapped", "mov %0,%%rdi", "add %%rax,(%%rdi)", "i"(HOLE));
	CASE("exec-unmapped", "mov %0,%%rdi", "jmp *%%rdi", "i"(HOLE));
	CASE("read-none", "mov %0,%%rdi", "mov (%%rdi),%%rax", "r"(page));
	CASE("write-none", "mov %0,%%rdi", "mov %%rax,(%%rdi)", "r"(page));
	CASE("write-read-only", "mov %0,%%rdi", "mov %%rax,(%%rdi)", "r"(page + 4096));
	*(volatile char *)(page + 4096);
	CASE("write-read-only-present", "mov %0,%%rdi", "mov %%rax,(%%rdi)", "r"(page + 4096));
	CASE("exec-data", "mov %0,%%rdi", "jmp *%%rdi", "r"(page + 8192));
	*(volatile char *)(page + 8192) = 0;
	CASE("exec-data-present", "mov %0,%%rdi", "jmp *%%rdi", "r"(page + 8192));
	CASE("read-null", "xor %%edi,%%edi", "mov 8(%%rdi),%%rax", "i"(0));
	CASE("read-kernel", "mov $-0x10000,%%rdi", "mov (%%rdi),%%rax", "i"(0));
	CASE("write-kernel", "mov $-0x10000,%%rdi", "mov %%rax,(%%rdi)", "i"(0));
	CASE("exec-kernel", "mov $-0x10000,%%rdi", "jmp *%%rdi", "i"(0));
	CASE("read-last-page", "mov $0x7ffffffff000,%%rdi", "mov (%%rdi),%%rax", "i"(0));
	CASE("push-unmapped", "mov %0,%%rsp", "push %%rax", "i"(HOLE));
	CASE("call-unmapped", "mov %0,%%rsp", "call 2f", "i"(HOLE));
	CASE("sse-read-unmapped", "mov %0,%%rdi", "movups (%%rdi),%%xmm0", "i"(HOLE));
	CASE("x87-read-unmapped", "mov %0,%%rdi", "fldt (%%rdi)", "i"(HOLE));
}

static void protection_faults(void)
{
	CASE("read-noncanonical", "mov $0x1234567812345678,%%rdi", "mov (%%rdi),%%rax", "i"(0));
	CASE("write-noncanonical", "mov $0x1234567812345678,%%rdi", "mov %%rax,(%%rdi)", "i"(0));
	CASE("jump-noncanonical", "mov $0x1234567812345678,%%rdi", "jmp *%%rdi", "i"(0));
	CASE("read-noncanonical-rsp", "mov $0x1234567812345678,%%rsp", "mov (%%rsp),%%rax", "i"(0));
	CASE("push-noncanonical", "mov $0x1234567812345678,%%rsp", "push %%rax", "i"(0));
	CASE("read-noncanonical-rbp", "mov $0x1234567812345678,%%rbp", "mov (%%rbp),%%rax", "i"(0));
	CASE("movaps-misaligned", "", "movaps 1(%%r12),%%xmm0", "i"(0));
	CASE("hlt", "", "hlt", "i"(0));
	CASE("cli", "", "cli", "i"(0));
	CASE("in", "", "in $0x60,%%al", "i"(0));
	CASE("out", "", "out %%al,$0x80", "i"(0));
	CASE("rdmsr", "xor %%ecx,%%ecx", "rdmsr", "i"(0));
	CASE("mov-from-cr0", "", "mov %%cr0,%%rax", "i"(0));
	CASE("lgdt", "", "lgdt (%%r12)", "i"(0));
	CASE("invlpg", "", "invlpg (%%r12)", "i"(0));
	CASE("int-0x20", "", "int $0x20", "i"(0));
	CASE("int-0x80", "", "int $0x80", "i"(0));
	CASE("int-0xff", "", "int $0xff", "i"(0));
	CASE("int-0", "", "int $0", "i"(0));
	CASE("int-1", "", ".byte 0xcd,1", "i"(0));
	CASE("int-4", "", "int $4", "i"(0));
}

static void traps(void)
{
	CASE("int3", "", "int3", "i"(0));
	CASE("int-3", "", ".byte 0xcd,3", "i"(0));
	CASE("int1", "", ".byte 0xf1", "i"(0));
	CASE("single-step", "pushf; orq $0x100,(%%rsp); popf", "nop; nop", "i"(0));
	CASE("ud2", "", "ud2", "i"(0));
	CASE("bad-opcode-06", "", ".byte 0x06", "i"(0));
	CASE("lock-nop", "", ".byte 0xf0,0x90", "i"(0));
	CASE("ud1", "", ".byte 0x0f,0xb9,0xc0", "i"(0));
}

static void arithmetic(void)
{
	static const unsigned masked = 0x1f80;
	static const double one = 1, zero = 0, huge = 1e308, tiny = 1e-300;
	static const unsigned short unmasked_cw = 0x340, inexact_cw = 0x360, default_cw = 0x37f;
	CASE("divide-by-zero", "xor %%edx,%%edx; xor %%ecx,%%ecx", "div %%ecx", "i"(0));
	CASE("idiv-overflow", "mov $0x80000000,%%eax; cltd; mov $-1,%%ecx", "idiv %%ecx", "i"(0));
#define X87(n, cw, ops)                                                                             \
	CASE(n, "fninit; fldcw %0; " ops, "fwait", "m"(cw), "m"(one), "m"(zero), "m"(huge), "m"(tiny)); \
	asm volatile("fninit; fldcw %0" ::"m"(default_cw))
	X87("x87-divide", unmasked_cw, "fldl %1; fldl %2; fdivrp");
	X87("x87-invalid", unmasked_cw, "fldl %2; fldl %2; fdivrp");
	X87("x87-precision", unmasked_cw, "fldl %1; fld1; fld1; fadd %%st(1),%%st; fld1; faddp; fdivrp");
	X87("x87-stack", unmasked_cw, "fstp %%st(0)");
	X87("x87-overflow", inexact_cw, "fldl %3; fmull %3; fstpl scratch");
	X87("x87-underflow", inexact_cw, "fldl %4; fmull %4; fstpl scratch");
#define SSE(n, mxcsr, insn, a)                                                                      \
	do {                                                                                        \
		static const unsigned csr = mxcsr;                                                  \
		CASE(n, "ldmxcsr %0; movsd %1,%%xmm0", insn, "m"(csr), "m"(a), "m"(one), "m"(zero)); \
		asm volatile("ldmxcsr %0" ::"m"(masked));                                           \
	} while (0)
	SSE("sse-divide", 0x1d80, "divsd %3,%%xmm0", one);
	SSE("sse-invalid", 0x1f00, "divsd %3,%%xmm0", zero);
	SSE("sse-overflow", 0x1b80, "mulsd %%xmm0,%%xmm0", huge);
	SSE("sse-underflow", 0x1780, "mulsd %%xmm0,%%xmm0", tiny);
	SSE("sse-precision", 0x0f80, "cvtsd2ss %%xmm0,%%xmm0", huge);
	SSE("sse-overflow-and-precision", 0x0b80, "mulsd %%xmm0,%%xmm0", huge);
}

static void bus(void)
{
	u64 fd = sys(OPEN, "/proc/self/exe", 0, 0, 0);
	u64 file = sys6(MMAP, 0, 1 << 20, 1, 2, fd, 0);
	page = file + (1 << 20) - 4096;
	CASE("read-beyond-file", "mov %0,%%rdi", "mov (%%rdi),%%rax", "r"(page + 8));
}

static void *const groups[] = { "memory", memory_faults, "protection", protection_faults, "traps", traps,
				"arithmetic", arithmetic, "bus", bus };

/* argv[1] names one group; without it all run. */
void start(u64 *sp)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE };
	static char stack[16384];
	struct stack alt = { (u64)stack, 0, 0, sizeof stack };
	sys(SIGALTSTACK, &alt, 0, 0, 0);
	for (int i = 0; i < 5; i++) on(signals[i], handler, SA_SIGINFO | SA_ONSTACK, 0);
	for (int i = 0; i < 10; i += 2)
		if (sp[0] < 2 || same((char *)sp[2], groups[i])) ((void (*)(void))groups[i + 1])();
	quit(0);
}
