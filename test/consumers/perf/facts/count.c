/* Counting: states, read formats, requests of ioctl, groups, periods. */
#include "perf.h"

static volatile int sink;
NOINLINE void target(void) { sink++; }
NOINLINE void other(void) { sink--; }

static void times_of(int n) { while (n--) target(); }
static void show(const char *title, int fd) { printf("%s: %lu\n", title, count_of(fd)); }

static void states(void)
{
	struct perf_event_attr attr = probe_on(target);
	uint64_t id = 0, other_id = 0;
	int fd = must_open(attr), second;

	puts("# states");
	show("new", fd);
	times_of(3);
	show("after 3 calls", fd);
	ask("DISABLE", ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	printf("site while disabled: %#x\n", *(unsigned char *)target);
	times_of(2);
	show("disabled, 2 calls", fd);
	ask("DISABLE again", ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	ask("ENABLE", ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	times_of(2);
	show("enabled, 2 calls", fd);
	ask("RESET", ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	show("reset", fd);
	ask("ID", ioctl(fd, PERF_EVENT_IOC_ID, &id));
	ask("ID to a bad place", ioctl(fd, PERF_EVENT_IOC_ID, BAD));
	attr.disabled = 1;
	second = must_open(attr);
	ioctl(second, PERF_EVENT_IOC_ID, &other_id);
	printf("the next id: +%ld\n", other_id - id);
	times_of(2);
	show("opened disabled", second);
	close(second);
	attr.disabled = 0;
	attr.enable_on_exec = 1;
	close(fd);
	fd = must_open(attr);
	printf("site of enable_on_exec: %s\n", *(unsigned char *)target == 0xcc ? "breakpoint" : "untouched");
	times_of(2);
	show("enable_on_exec, not disabled", fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	times_of(2);
	show("enabled by hand", fd);
	close(fd);
	printf("site afterwards: %s\n", *(unsigned char *)target == 0xcc ? "breakpoint" : "untouched");
	attr = probe_on(target);
	attr.config |= 1;
	fd = must_open(attr);
	times_of(5);
	show("return probe, 5 calls", fd);
	close(fd);
	attr = probe_on(target);
	fd = open_event(&attr, -1, 0, -1, 0);
	ask("everybody on CPU 0", fd < 0 ? -1 : 0);
	printf("site: %s\n", *(unsigned char *)target == 0xcc ? "breakpoint" : "untouched");
	close(fd);
	attr.exclude_user = attr.exclude_hv = attr.exclude_idle = attr.exclude_host = 1;
	fd = must_open(attr);
	times_of(2);
	show("much excluded", fd);
	close(fd);
}

static void reading(void)
{
	struct perf_event_attr attr = probe_on(target);
	uint64_t value[16];
	int fd;

	puts("# read");
	for (int format = 0; format < 32; format++) {
		char title[64];

		attr.read_format = format;
		fd = must_open(attr);
		times_of(2);
		sprintf(title, "read_format %d, 1 byte", format);
		ask(title, read(fd, value, 1));
		sprintf(title, "read_format %d, 8 bytes", format);
		ask(title, read(fd, value, 8));
		sprintf(title, "read_format %d, 128 bytes", format);
		memset(value, 0, sizeof(value));
		ask(title, read(fd, value, 128));
		printf("  first word: %lu, second: %s\n", value[0], value[1] ? "set" : "0");
		if ((format & 3) == 3)
			printf("  running %s enabled\n", value[format & 8 ? 1 : 1] == value[format & 8 ? 2 : 2] ? "=" : "<");
		close(fd);
	}
	attr.read_format = 0;
	fd = must_open(attr);
	ask("bad buffer", read(fd, BAD, 8));
	ask("no bytes", read(fd, value, 0));
	ask("write", write(fd, value, 8));
	ask("lseek", lseek(fd, 0, SEEK_SET));
	ask("lseek to 5", lseek(fd, 5, SEEK_SET));
	ask("pread", pread(fd, value, 8, 0));
	ask("pread at 8", pread(fd, value, 8, 8));
	close(fd);
}

#define IOCTL(request, arg) ask("ioctl " #request ", " #arg, ioctl(fd, request, arg))

static void requests(void)
{
	struct perf_event_attr attr = probe_on(target);
	uint64_t period = 2, zero = 0, big = 1ull << 63;
	int fd = must_open(attr), word = 0, plain = open("/dev/null", O_RDONLY);

	puts("# requests, counting");
	IOCTL(0x2440, 0);
	IOCTL(0x5401, &word);
	IOCTL(0x541b, &word);
	IOCTL(PERF_EVENT_IOC_REFRESH, 1);
	IOCTL(PERF_EVENT_IOC_REFRESH, 0);
	IOCTL(PERF_EVENT_IOC_PERIOD, &period);
	IOCTL(PERF_EVENT_IOC_PERIOD, BAD);
	IOCTL(PERF_EVENT_IOC_SET_OUTPUT, -1);
	IOCTL(PERF_EVENT_IOC_SET_OUTPUT, 999);
	IOCTL(PERF_EVENT_IOC_SET_OUTPUT, plain);
	IOCTL(PERF_EVENT_IOC_SET_OUTPUT, fd);
	IOCTL(PERF_EVENT_IOC_SET_BPF, -1);
	IOCTL(PERF_EVENT_IOC_SET_BPF, plain);
	IOCTL(PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	IOCTL(PERF_EVENT_IOC_ENABLE, 2);
	IOCTL(PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	IOCTL(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, BAD);
	IOCTL(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
	close(fd);

	puts("# requests, sampling");
	attr.sample_period = 3;
	fd = must_open(attr);
	IOCTL(PERF_EVENT_IOC_REFRESH, 2);
	IOCTL(PERF_EVENT_IOC_REFRESH, 0);
	IOCTL(PERF_EVENT_IOC_PERIOD, &period);
	IOCTL(PERF_EVENT_IOC_PERIOD, &zero);
	IOCTL(PERF_EVENT_IOC_PERIOD, &big);
	close(fd);
	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = must_open(attr);
	big = 100001;
	IOCTL(PERF_EVENT_IOC_PERIOD, &period);
	IOCTL(PERF_EVENT_IOC_PERIOD, &big);
	close(fd);
	attr.freq = 0;
	attr.inherit = 1;
	attr.sample_period = 1;
	fd = must_open(attr);
	puts("# requests, inherited");
	IOCTL(PERF_EVENT_IOC_REFRESH, 2);
	close(fd);
}

static void groups(void)
{
	struct perf_event_attr attr = probe_on(target);
	uint64_t value[16] = {0}, id[2];
	int fd, second;

	puts("# groups");
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fd = must_open(attr);
	attr.config2 = offset_of(other);
	second = open_event(&attr, 0, -1, fd, 0);
	ioctl(fd, PERF_EVENT_IOC_ID, &id[0]);
	ioctl(second, PERF_EVENT_IOC_ID, &id[1]);
	times_of(3);
	other();
	ask("read", read(fd, value, sizeof(value)));
	printf("  %lu events: %lu %s, %lu %s\n", value[0], value[1], value[2] == id[0] ? "leader" : "?", value[3],
	       value[4] == id[1] ? "sibling" : "?");
	ask("read of the sibling", read(second, value, sizeof(value)));
	printf("  %lu events: %lu\n", value[0], value[1]);
	ask("DISABLE of the leader", ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	target();
	other();
	read(fd, value, sizeof(value));
	printf("  %lu and %lu\n", value[1], value[3]);
	ask("ENABLE of the leader", ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	target();
	other();
	read(fd, value, sizeof(value));
	printf("  %lu and %lu\n", value[1], value[3]);
	ask("DISABLE of the group through the sibling", ioctl(second, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	target();
	other();
	read(fd, value, sizeof(value));
	printf("  %lu and %lu\n", value[1], value[3]);
	ask("ENABLE of the sibling", ioctl(second, PERF_EVENT_IOC_ENABLE, 0));
	target();
	other();
	read(fd, value, sizeof(value));
	printf("  %lu and %lu\n", value[1], value[3]);
	ask("RESET of the leader", ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	read(fd, value, sizeof(value));
	printf("  %lu and %lu\n", value[1], value[3]);
	ask("RESET of the group", ioctl(fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	read(fd, value, sizeof(value));
	printf("  %lu and %lu\n", value[1], value[3]);
	close(second);
	ask("read without the sibling", read(fd, value, sizeof(value)));
	close(fd);
}

static int samples(int fd, int size)
{
	struct perf_event_mmap_page *page = map_ring(fd, 1, PROT_READ | PROT_WRITE);
	int n;

	times_of(12);
	n = page->data_head / size;
	munmap(page, 2 * PAGE);
	return n;
}

static void periods(void)
{
	struct perf_event_attr attr = probe_on(target);

	puts("# samples of 12 calls");
	for (int period = 0; period < 6; period++) {
		int fd;

		attr.sample_period = period;
		attr.sample_type = PERF_SAMPLE_IP;
		fd = must_open(attr);
		printf("period %d: %d\n", period, samples(fd, 16));
		show("  count", fd);
		close(fd);
		attr.sample_type = PERF_SAMPLE_PERIOD;
		fd = must_open(attr);
		printf("period %d with SAMPLE_PERIOD: %d\n", period, samples(fd, 16));
		close(fd);
	}
	attr.sample_period = 3;
	attr.sample_type = PERF_SAMPLE_IP;
	for (uint64_t period = 1; period < 6; period++) {
		int fd = must_open(attr);

		times_of(1);
		ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
		printf("period 3, one call, then period %lu: %d\n", period, samples(fd, 16));
		close(fd);
	}
	for (int refresh = 1; refresh < 4; refresh++) {
		struct pollfd p;
		int fd;

		attr.disabled = 1;
		fd = must_open(attr);
		p = (struct pollfd){fd, POLLIN};
		ioctl(fd, PERF_EVENT_IOC_REFRESH, refresh);
		printf("refresh %d: %d\n", refresh, samples(fd, 16));
		show("  count", fd);
		printf("  poll: %d", poll(&p, 1, 0));
		printf(" %#x\n", p.revents);
		close(fd);
	}
}

int main(void)
{
	start();
	states();
	reading();
	requests();
	groups();
	periods();
	return 0;
}
