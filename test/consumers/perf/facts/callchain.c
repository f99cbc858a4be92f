/* Call chains of samples: where functions begin, and where return probes are pending. */
#include "words.h"

static struct perf_event_attr chain_on(const void *address, int at_return)
{
	struct perf_event_attr attr = probe_on(address);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	attr.config = at_return;
	return attr;
}

static void sample(const char *title, struct perf_event_attr attr, void *function, int calls)
{
	int fd = must_open(attr);
	struct perf_event_mmap_page *page = map_ring(fd, 32, PROT_READ | PROT_WRITE);

	while (calls--)
		call(function);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	printf("%s\n", title);
	print_records(page, 0, 200);
	munmap(page, 33 * PAGE);
	close(fd);
}

static int pending(const void *address)
{
	struct perf_event_attr attr = probe_on(address);

	attr.config = 1;
	return must_open(attr);
}

static void beginnings(void)
{
	puts("# how the function begins");
	sample("push", chain_on(pushing, 0), pushing, 1);
	sample("after the push", chain_on(pushed, 0), pushing, 1);
	sample("endbr64", chain_on(marked, 0), marked, 1);
	sample("one nop", chain_on(plain, 0), plain, 1);
	sample("nop of 5 bytes, three times", chain_on(nop5, 0), nop5, 3);
	sample("jump", chain_on(tail, 0), tail, 1);
	sample("return of a push", chain_on(pushing, 1), pushing, 1);
	sample("return of endbr64", chain_on(marked, 1), marked, 1);
}

static void returns(void)
{
	int a, b, c;

	puts("# pending return probes");
	a = pending(pushing);
	sample("same function, at entry", chain_on(pushing, 0), pushing, 1);
	sample("same function, inside", chain_on(pushed, 0), pushing, 1);
	b = pending(run);
	sample("and its caller, at entry", chain_on(pushing, 0), pushing, 1);
	sample("and its caller, inside", chain_on(pushed, 0), pushing, 1);
	c = pending(outer);
	sample("and the outermost, inside", chain_on(pushed, 0), pushing, 1);
	sample("and the outermost, at return", chain_on(pushing, 1), pushing, 1);
	close(a);
	sample("callers only, at entry", chain_on(pushing, 0), pushing, 1);
	sample("callers only, inside", chain_on(pushed, 0), pushing, 1);
	close(b);
	close(c);

	puts("# tail calls");
	a = pending(pushing);
	b = pending(tail);
	sample("two for one return address, at entry", chain_on(pushing, 0), tail, 1);
	sample("two for one return address, inside", chain_on(pushed, 0), tail, 1);
	c = pending(middle);
	sample("and one of a caller, inside", chain_on(pushed, 0), tail, 1);
	sample("and one of a caller, at return", chain_on(pushing, 1), tail, 1);
	sample("and one of a caller, at return of the jump", chain_on(tail, 1), tail, 1);
	close(a);
	close(b);
	close(c);
}

static void limits(void)
{
	struct perf_event_attr attr = chain_on(pushing, 0);

	puts("# limits");
	for (int most = 0; most < 8; most++) {
		char title[32];

		sprintf(title, "sample_max_stack %d", most);
		attr.sample_max_stack = most;
		sample(title, attr, pushing, 1);
	}
	attr = chain_on(pushing, 0);
	attr.exclude_callchain_user = 1;
	sample("exclude_callchain_user", attr, pushing, 1);
	attr.exclude_callchain_user = 0;
	attr.exclude_callchain_kernel = 1;
	sample("exclude_callchain_kernel", attr, pushing, 1);
	attr.exclude_callchain_user = 1;
	sample("exclude both", attr, pushing, 1);
}

/* Frames of our own making: 64-bit pairs of next frame and return address. */
static uint64_t frames[400];
asm(
	".globl with_frames\n"
	"with_frames: push %rbp\n mov %rdi, %rbp\n call plain_leaf\n"
	".globl after_leaf\nafter_leaf: pop %rbp\n ret\n"
	".globl plain_leaf\nplain_leaf: nop\n ret\n"
);
extern char plain_leaf[], after_leaf[];
void with_frames(void *);

static void bad_frames(const char *title, void *first, int max_stack)
{
	struct perf_event_attr attr = chain_on(plain_leaf, 0);
	int fd;
	struct perf_event_mmap_page *page;

	attr.sample_max_stack = max_stack;
	fd = must_open(attr);
	page = map_ring(fd, 32, PROT_READ | PROT_WRITE);
	with_frames(first);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	printf("%s\n", title);
	print_records(page, 0, 200);
	munmap(page, 33 * PAGE);
	close(fd);
}

static void odd_frames(void)
{
	NAME(plain_leaf);
	puts("# odd frames");
	for (int i = 0; i < 400; i += 2) {
		frames[i] = (uintptr_t)(frames + i + 2);
		frames[i + 1] = 0x1000 + i / 2;
	}
	bad_frames("two hundred frames", frames, 0);
	frames[4] = (uintptr_t)frames;
	bad_frames("a loop, 10 at most", frames, 10);
	frames[4] = 0x10;
	bad_frames("unreadable frame", frames, 0);
	frames[4] = 0x800000000000;
	bad_frames("frame in kernel space", frames, 0);
	frames[4] = 0x7ffffffff000 - 8;
	bad_frames("frame at the end of user space", frames, 0);
	frames[4] = (uintptr_t)(frames + 6) + 1;
	memmove((char *)(frames + 6) + 1, frames + 6, 64);
	bad_frames("unaligned frame, 6 at most", frames, 6);
	bad_frames("no frame", 0, 0);
	frames[4] = 0;
	frames[3] = 0;
	bad_frames("return address 0", frames, 0);
	frames[3] = 0xffffffffffffffff;
	bad_frames("return address -1", frames, 0);
}

int main(void)
{
	start();
	on_first_cpu();
	call(pushing);
	name_places();
	beginnings();
	returns();
	limits();
	odd_frames();
	return 0;
}
