/* perf on an event of uprobe_events: by its id, with its arguments and a filter. */
#include "perf.h"

#define TRACING "/sys/kernel/tracing/"
#define GROUP "trapline_perf"

static volatile int sink;
NOINLINE void target(int number, const char *text) { sink += number + !text; }

/* Writes a line and tells what became of it. */
static long tell(const char *file, const char *text)
{
	char path[256];
	int fd, error;
	long done;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0)
		return -1;
	done = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	error = errno;
	close(fd);
	errno = error;
	return done;
}

static int id_of(const char *event)
{
	char path[256];
	int id = -1;
	FILE *file;

	snprintf(path, sizeof(path), TRACING "events/" GROUP "/%s/id", event);
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &id) != 1)
		id = -1;
	if (file)
		fclose(file);
	return id;
}

static void show_raw(struct perf_event_mmap_page *page, int id)
{
	struct { struct perf_event_header header; uint32_t size; uint16_t type; uint8_t flags, preempt_count; int32_t pid;
		 uint64_t ip; uint32_t number, text; char string[8]; } __attribute__((packed)) sample;

	from_ring(page, 0, &sample, sizeof(sample));
	printf("  size %u, raw size %u, type %s, flags %u, preempt_count %u, pid %s, ip %s\n", sample.header.size, sample.size,
	       sample.type == id ? "id" : "?", sample.flags, sample.preempt_count, sample.pid == getpid() ? "own" : "?",
	       sample.ip == (uintptr_t)target ? "target" : "?");
	printf("  number %u, text at %u of %u bytes: %s\n", sample.number, sample.text & 0xffff, sample.text >> 16,
	       sample.string);
}

int main(void)
{
	struct perf_event_attr attr = {0};
	struct perf_event_mmap_page *page;
	char line[5000];
	int fd, other, id;

	start();
	snprintf(line, sizeof(line), "p:" GROUP "/one %s:0x%lx number=%%di:u32 text=+0(%%si):string", self,
		 (long)offset_of(target));
	ask("define", tell("uprobe_events", line));
	id = id_of("one");
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.size = sizeof(attr);
	attr.config = 65535;
	ask("open of no event", open_event(&attr, 0, -1, -1, 0));
	attr.config = (1ull << 32) + id;
	ask("open with a bit too many", open_event(&attr, 0, -1, -1, 0));
	attr.config = id;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	fd = must_open(attr);
	page = map_ring(fd, 1, PROT_READ | PROT_WRITE);
	target(5, "text");
	printf("count %lu\n", count_of(fd));
	show_raw(page, id);
	ask("enable while perf has it", tell("events/" GROUP "/one/enable", "1"));
	ask("remove while perf has it", tell("uprobe_events", "-:" GROUP "/one"));
	other = must_open(attr);
	target(6, "more");
	printf("counts %lu and %lu\n", count_of(fd), count_of(other));
	ask("filter", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "number == 8"));
	ask("a second filter", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "number == 9"));
	ask("a bad filter", ioctl(other, PERF_EVENT_IOC_SET_FILTER, "nobody == 9"));
	ask("a filter at a bad address", ioctl(other, PERF_EVENT_IOC_SET_FILTER, BAD));
	target(7, "");
	target(8, "");
	printf("counts %lu and %lu\n", count_of(fd), count_of(other));
	munmap(page, 2 * PAGE);
	close(fd);
	close(other);
	ask("enable", tell("events/" GROUP "/one/enable", "1"));
	ask("open while a trace has it", open_event(&attr, 0, -1, -1, 0));
	ask("disable", tell("events/" GROUP "/one/enable", "0"));
	ask("remove", tell("uprobe_events", "-:" GROUP "/one"));
	return 0;
}
