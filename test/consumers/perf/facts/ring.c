/* The ring buffer: its pages, records that do not fit, wake-ups, shared and one-way rings. */
#include "words.h"

static struct perf_event_attr sampling(void)
{
	struct perf_event_attr attr = probe_on(pushing);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP;
	return attr;
}

static void try_map(const char *title, int fd, size_t size, int prot, int flags, off_t offset)
{
	void *at = mmap(0, size, prot, flags, fd, offset);

	ask(title, at == MAP_FAILED ? -1 : 0);
	if (at != MAP_FAILED)
		munmap(at, size);
}
#define MAP(...) try_map(#__VA_ARGS__, __VA_ARGS__)
#define RW (PROT_READ | PROT_WRITE)

static void mapping(void)
{
	struct perf_event_attr attr = sampling();
	int fd = must_open(attr);
	char *at;

	puts("# mmap");
	MAP(fd, PAGE, RW, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, RW, MAP_SHARED, 0);
	MAP(fd, 3 * PAGE, RW, MAP_SHARED, 0);
	MAP(fd, 4 * PAGE, RW, MAP_SHARED, 0);
	MAP(fd, 5 * PAGE, RW, MAP_SHARED, 0);
	MAP(fd, 5 * PAGE - 1, RW, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, RW, MAP_PRIVATE, 0);
	MAP(fd, 2 * PAGE, PROT_READ, MAP_PRIVATE, 0);
	MAP(fd, 2 * PAGE, PROT_READ, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, PROT_NONE, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, PROT_WRITE, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, PROT_EXEC, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, RW | PROT_EXEC, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, RW, MAP_SHARED_VALIDATE, 0);
	MAP(fd, 2 * PAGE, RW, MAP_SHARED, PAGE);
	MAP(fd, 2 * PAGE, RW, MAP_SHARED, 2 * PAGE);
	at = mmap(0, 3 * PAGE - PAGE, RW, MAP_SHARED, fd, 0);
	puts("# mapped with one page of data");
	MAP(fd, 2 * PAGE, RW, MAP_SHARED, 0);
	MAP(fd, 2 * PAGE, PROT_READ, MAP_SHARED, 0);
	MAP(fd, 3 * PAGE, RW, MAP_SHARED, 0);
	MAP(fd, PAGE, RW, MAP_SHARED, 0);
	ask("munmap of the second page", munmap(at + PAGE, PAGE));
	ask("munmap of the first page", munmap(at, PAGE));
	ask("mprotect of the second page", mprotect(at + PAGE, PAGE, PROT_READ));
	ask("mprotect of all", mprotect(at, 2 * PAGE, PROT_READ));
	ask("mprotect with exec", mprotect(at, 2 * PAGE, PROT_READ | PROT_EXEC));
	ask("mremap, larger", mremap(at, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0);
	ask("mremap, smaller", mremap(at, 2 * PAGE, PAGE, 0) == MAP_FAILED ? -1 : 0);
	ask("MADV_DONTNEED", madvise(at, 2 * PAGE, MADV_DONTNEED));
	ask("munmap of all", munmap(at, 2 * PAGE));
	close(fd);
	attr.inherit = 1;
	fd = must_open(attr);
	ask("inherited on every CPU", mmap(0, 2 * PAGE, RW, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	close(fd);
}

static void header(void)
{
	int fd = must_open(sampling());
	struct perf_event_mmap_page *page = map_ring(fd, 2, RW);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[256], rights[8], name[128];
	unsigned long start, end;

	puts("# header page");
	printf("version %u, compat_version %u, index %u, offset %ld, size %u\n", page->version, page->compat_version,
	       page->index, (long)page->offset, page->size);
	printf("data_offset %lu, data_size %lu, head %lu, tail %lu\n", (long)page->data_offset, (long)page->data_size,
	       (long)page->data_head, (long)page->data_tail);
	printf("aux %lu %lu %lu %lu\n", (long)page->aux_head, (long)page->aux_tail, (long)page->aux_offset,
	       (long)page->aux_size);
	printf("lock %s, bits 0, 1 and 2 of capabilities %u\n", page->lock & 1 ? "odd" : "even",
	       (unsigned)page->capabilities & 7);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %127[^\n]", &start, &end, rights, name) == 4 &&
		    start == (uintptr_t)page)
			printf("maps: %lu pages %s %s\n", (end - start) / PAGE, rights, name);
	fclose(maps);
	call(pushing);
	printf("head after a hit: %lu\n", (long)page->data_head);
	printf("page->offset is minus the count: %ld\n", (long)page->offset);
	printf("time_running %s time_enabled\n", page->time_running == page->time_enabled ? "=" : "!=");
	close(fd);
	call(pushing);
	printf("head after a hit with the descriptor closed: %lu\n", (long)page->data_head);
	munmap(page, 3 * PAGE);
	printf("site after munmap: %s\n", *(unsigned char *)pushing == 0xcc ? "breakpoint" : "untouched");
}

/* 256 records of 16 bytes fill the page of data. */
static void losing(int sample_id_all, int read_format)
{
	struct perf_event_attr attr = sampling();
	struct perf_event_mmap_page *page;
	uint64_t value[4], id;
	int fd;

	attr.sample_id_all = sample_id_all;
	attr.sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_ID;
	attr.read_format = read_format;
	fd = must_open(attr);
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	name(id, "id");
	page = map_ring(fd, 1, RW);
	for (int i = 0; i < 135; i++)
		call(pushing);
	printf("head after 135 hits: %lu\n", (long)page->data_head);
	ask("read", read(fd, value, sizeof(value)));
	printf("  %lu %lu\n", (long)value[0], read_format ? (long)value[1] : 0);
	page->data_tail = page->data_head;
	call(pushing);
	call(pushing);
	print_records(page, 0, 8);
	page->data_tail = page->data_head - 4096 + 64;
	for (int i = 0; i < 4; i++)
		call(pushing);
	page->data_tail = page->data_head - 96;
	print_records(page, 0, 8);
	named--;
	munmap(page, 2 * PAGE);
	close(fd);
}

static void overwriting(int backward)
{
	struct perf_event_attr attr = sampling();
	struct perf_event_mmap_page *page;
	uint64_t word;
	int fd;

	attr.write_backward = backward;
	fd = must_open(attr);
	page = map_ring(fd, 1, PROT_READ);
	for (int i = 0; i < 3; i++)
		call(pushing);
	printf("head after 3 hits: %ld\n", (long)page->data_head);
	from_ring(page, page->data_head & 4095, &word, 8);
	printf("word at the head: %#lx\n", word);
	for (int i = 0; i < 300; i++)
		call(pushing);
	printf("head after 303 hits: %ld\n", (long)page->data_head);
	munmap(page, 2 * PAGE);
	page = mmap(0, 2 * PAGE, RW, MAP_SHARED, fd, 0);
	ask("then mapped for writing", page == MAP_FAILED ? -1 : 0);
	if (page != MAP_FAILED) {
		printf("head: %ld\n", (long)page->data_head);
		for (int i = 0; i < 300; i++)
			call(pushing);
		printf("head after 300 more: %ld\n", (long)page->data_head);
		munmap(page, 2 * PAGE);
	}
	close(fd);
}

static void tails(void)
{
	static const long at[] = {0, 8, 15, 4096, 4097, 8192, -1, -4096, 1 << 20};
	struct perf_event_mmap_page *page;
	int fd;

	puts("# odd tails, 256 records fill the ring");
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		fd = must_open(sampling());
		page = map_ring(fd, 1, RW);
		page->data_tail = at[i];
		for (int n = 0; n < 300; n++)
			call(pushing);
		printf("tail %ld: head %ld\n", at[i], (long)page->data_head);
		munmap(page, 2 * PAGE);
		close(fd);
	}
}

static int polled(int fd, int events)
{
	struct pollfd p = {fd, events};

	return poll(&p, 1, 0) ? p.revents : 0;
}

static void waking(const char *title, int watermark, int wakeup, int calls)
{
	struct perf_event_attr attr = sampling();
	struct perf_event_mmap_page *page;
	int fd;

	attr.watermark = watermark;
	attr.wakeup_events = wakeup;
	fd = must_open(attr);
	page = map_ring(fd, 1, RW);
	printf("%s:", title);
	for (int i = 0; i < calls; i++) {
		int got;

		call(pushing);
		got = polled(fd, POLLIN);
		if (got)
			printf(" hit %d %#x", i + 1, got);
	}
	puts("");
	munmap(page, 2 * PAGE);
	close(fd);
}

static void polling(void)
{
	struct perf_event_mmap_page *page;
	struct perf_event_attr attr = sampling();
	int fd;

	puts("# poll");
	fd = must_open(attr);
	printf("not mapped: %#x\n", polled(fd, POLLIN));
	printf("not mapped, nothing asked: %#x\n", polled(fd, 0));
	page = map_ring(fd, 1, RW);
	printf("mapped: %#x\n", polled(fd, POLLIN | POLLOUT));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	printf("disabled: %#x\n", polled(fd, POLLIN));
	munmap(page, 2 * PAGE);
	printf("unmapped: %#x\n", polled(fd, POLLIN));
	close(fd);
	attr.wakeup_events = 1;
	fd = must_open(attr);
	page = map_ring(fd, 1, RW);
	call(pushing);
	printf("a hit, asked for POLLOUT: %#x\n", polled(fd, POLLOUT));
	printf("then for POLLIN: %#x\n", polled(fd, POLLIN));
	call(pushing);
	page->data_tail = page->data_head;
	printf("a hit, already read: %#x\n", polled(fd, POLLIN));
	printf("again: %#x\n", polled(fd, POLLIN));
	munmap(page, 2 * PAGE);
	close(fd);
	fd = must_open(attr);
	page = map_ring(fd, 0, RW);
	call(pushing);
	printf("no pages of data: %#x, head %lu\n", polled(fd, POLLIN), (long)page->data_head);
	munmap(page, PAGE);
	close(fd);
	waking("no wake-up set", 0, 0, 300);
	waking("wakeup_events 1", 0, 1, 5);
	waking("wakeup_events 2", 0, 2, 7);
	waking("wakeup_events 1000", 0, 1000, 300);
	waking("wakeup_watermark 1", 1, 1, 5);
	waking("wakeup_watermark 16", 1, 16, 5);
	waking("wakeup_watermark 100", 1, 100, 20);
	waking("wakeup_watermark 0", 1, 0, 300);
	waking("wakeup_watermark 65536", 1, 65536, 300);
}

static void outputs(void)
{
	struct perf_event_attr attr = sampling();
	struct perf_event_mmap_page *page;
	int a, b, c;

	puts("# outputs");
	a = must_open(attr);
	attr.config2 = offset_of(pushed);
	b = must_open(attr);
	page = map_ring(a, 1, RW);
	ask("SET_OUTPUT", ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, a));
	call(pushing);
	print_records(page, 0, 4);
	ask("mmap of the one without a ring of its own", mmap(0, 2 * PAGE, RW, MAP_SHARED, b, 0) == MAP_FAILED ? -1 : 0);
	ask("PAUSE_OUTPUT 1", ioctl(a, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	call(pushing);
	print_records(page, 0, 4);
	ask("PAUSE_OUTPUT 0", ioctl(a, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	call(pushing);
	print_records(page, 0, 1);
	ask("SET_OUTPUT -1", ioctl(b, PERF_EVENT_IOC_SET_OUTPUT, -1));
	call(pushing);
	print_records(page, 0, 4);
	ask("SET_OUTPUT, to one without a ring", ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, b));
	ask("SET_OUTPUT, to itself", ioctl(a, PERF_EVENT_IOC_SET_OUTPUT, a));
	attr.use_clockid = 1;
	attr.clockid = 1;
	c = must_open(attr);
	ask("SET_OUTPUT, other clock", ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, a));
	close(c);
	attr.use_clockid = attr.clockid = 0;
	c = open_event(&attr, 0, 0, -1, 0);
	ask("SET_OUTPUT, other CPU", ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, a));
	close(c);
	attr.write_backward = 1;
	c = must_open(attr);
	ask("SET_OUTPUT, other direction", ioctl(c, PERF_EVENT_IOC_SET_OUTPUT, a));
	close(c);
	attr.write_backward = 0;
	c = open_event(&attr, 0, -1, a, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	ask("PERF_FLAG_FD_OUTPUT", c < 0 ? -1 : 0);
	call(pushing);
	print_records(page, 0, 4);
	close(a);
	call(pushing);
	print_records(page, 0, 4);
	close(b);
	close(c);
	munmap(page, 2 * PAGE);
}

int main(void)
{
	start();
	on_first_cpu();
	call(pushing);
	name_places();
	mapping();
	header();
	puts("# lost records");
	losing(0, 0);
	losing(1, PERF_FORMAT_LOST);
	puts("# overwriting");
	overwriting(0);
	puts("# overwriting, backward");
	overwriting(1);
	tails();
	polling();
	outputs();
	return 0;
}
