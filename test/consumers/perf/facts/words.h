/*
 * Probed code with a known stack, and the printing of records word by word: a word that is an
 * address or an id known here is printed by its name.
 */
#include "perf.h"
#include <sched.h>

/*
 * outer calls middle calls run calls through `callee`; frame pointers end at outer. run loads known
 * values into the registers first.
 */
asm(
	".text\n"
	".globl outer, middle, run, after_middle, after_run, after_target\n"
	"outer: push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
	" mov $0xb0, %ebx\n mov $0x120, %r12d\n mov $0x130, %r13d\n mov $0x140, %r14d\n mov $0x150, %r15d\n"
	" xor %ebp, %ebp\n call middle\n"
	"after_middle: pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
	"middle: push %rbp\n mov %rsp, %rbp\n call run\n"
	"after_run: pop %rbp\n ret\n"
	"run: push %rbp\n mov %rsp, %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
	" mov %rbp, run_frame(%rip)\n lea -8(%rsp), %rax\n mov %rax, site_sp(%rip)\n"
	" mov $0xb1, %ebx\n mov $0xc1, %ecx\n mov $0xd1, %edx\n mov $0x51, %esi\n mov $0xd2, %edi\n"
	" mov $0x81, %r8d\n mov $0x91, %r9d\n mov $0x101, %r10d\n mov $0x111, %r11d\n mov $0x121, %r12d\n"
	" mov $0x131, %r13d\n mov $0x141, %r14d\n mov $0x151, %r15d\n mov $0xa1, %eax\n cmp %eax, %eax\n"
	" call *callee(%rip)\n"
	"after_target: pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
	/* How functions begin. */
	".globl pushing, pushed, marked, plain, nop5, tail\n"
	"pushing: push %rbp\n mov %rsp, %rbp\n"
	"pushed: nop\n pop %rbp\n mov $0xa2, %eax\n ret\n"
	"marked: endbr64\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n"
	"plain: nop\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n"
	"nop5: .byte 0x0f, 0x1f, 0x44, 0, 0\n push %rbp\n mov %rsp, %rbp\n pop %rbp\n ret\n"
	"tail: jmp pushing\n"
);
extern char outer[], middle[], run[], after_middle[], after_run[], after_target[];
extern char pushing[], pushed[], marked[], plain[], nop5[], tail[];
void *callee, *run_frame, *site_sp;

static void call(void *function)
{
	callee = function;
	((void (*)(void))outer)();
}

struct name { uint64_t value; const char *name; };
static struct name names[64];
static int named;

static void name(uint64_t value, const char *as)
{
	names[named++] = (struct name){value, as};
}
#define NAME(symbol) name((uintptr_t)(symbol), #symbol)

/* Call once after the first run: the frames are the same every time. */
static void name_places(void)
{
	NAME(outer); NAME(middle); NAME(run); NAME(after_middle); NAME(after_run); NAME(after_target);
	NAME(pushing); NAME(pushed); NAME(marked); NAME(plain); NAME(nop5); NAME(tail);
	NAME(run_frame); NAME(site_sp);
	name(getpid() | (uint64_t)getpid() << 32, "pid/tid");
}

/* The trampoline page lies where the kernel finds room: known by its line in maps. */
static uint64_t trampoline(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[256];
	unsigned long found = 0;

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[uprobes]"))
			sscanf(line, "%lx", &found);
	fclose(maps);
	return found;
}

static void print_word(uint64_t word)
{
	if (word && word == trampoline()) {
		printf(" [uprobes]");
		return;
	}
	for (int i = 0; i < named; i++)
		if (names[i].value == word) {
			printf(" %s", names[i].name);
			return;
		}
	/* Linux may put the stack's top anywhere. */
	if (word - (uintptr_t)site_sp < 0x100)
		printf(" site_sp+%lu", word - (uintptr_t)site_sp);
	else
		printf(" %#lx", word);
}

/* struct trace_entry and what follows it. */
static void print_raw(struct perf_event_mmap_page *page, uint64_t at)
{
	struct { uint32_t size; uint16_t type; uint8_t flags, preempt_count; int32_t pid; } __attribute__((packed)) raw;
	uint64_t word;

	from_ring(page, at, &raw, sizeof(raw));
	printf(" raw size %u, type %u, flags %u, preempt_count %u, %s:", raw.size, raw.type, raw.flags,
	       raw.preempt_count, raw.pid == getpid() ? "pid" : "another pid");
	for (int i = 12; i + 8 <= 4 + raw.size; i += 8) {
		from_ring(page, at + i, &word, 8);
		print_word(word);
	}
}

/* Every record between tail and head; `words` of each at most. */
static void print_records(struct perf_event_mmap_page *page, uint64_t sample_type, int words)
{
	uint64_t at = page->data_tail;

	while (at < page->data_head) {
		struct perf_event_header header;
		uint64_t word;

		from_ring(page, at, &header, sizeof(header));
		printf("  type %u misc %u size %u:", header.type, header.misc, header.size);
		if (sample_type == PERF_SAMPLE_RAW)
			print_raw(page, at + 8);
		else for (int i = 8; i < header.size && i < 8 + 8 * words; i += 8) {
			from_ring(page, at + i, &word, 8);
			print_word(word);
		}
		puts("");
		at += header.size;
	}
	page->data_tail = at;
}

static void on_first_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
