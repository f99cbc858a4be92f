/* What samples of uprobes hold: every sample type alone, then some together. */
#include "words.h"

static const char *const types[] = {
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK",
	"REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX",
	"CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
};

static int times = 1;

static void sample(const char *title, struct perf_event_attr attr, void *function, int words)
{
	struct perf_event_mmap_page *page;
	uint64_t id;
	int fd;

	attr.sample_period = 1;
	fd = must_open(attr);
	page = map_ring(fd, 32, PROT_READ | PROT_WRITE);
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	name(id, "id");
	for (int i = 0; i < times; i++)
		call(function);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	printf("%s\n", title);
	print_records(page, attr.sample_type, words);
	named--;
	munmap(page, 33 * PAGE);
	close(fd);
}

static void alone(void)
{
	for (int i = 0; i < 25; i++) {
		struct perf_event_attr attr = probe_on(pushing);

		attr.sample_type = 1ull << i;
		attr.sample_regs_user = attr.sample_regs_intr = 0xff0fff;
		attr.sample_stack_user = 64;
		if (attr.sample_type & (PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_TIME | PERF_SAMPLE_CGROUP))
			continue;
		sample(types[i], attr, pushing, 40);
		attr.config |= 1;
		printf("at return: ");
		sample(types[i], attr, pushing, 40);
	}
}

static void registers(void)
{
	struct perf_event_attr attr = probe_on(pushing);

	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 0x101;
	sample("REGS_USER, ax and ip", attr, pushing, 40);
	attr.sample_regs_user = 0x810100;
	sample("REGS_USER, ip, r8 and r15", attr, pushing, 40);
	attr = probe_on(nop5);
	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 0xff0fff;
	times = 3;
	sample("REGS_USER, three hits of a nop", attr, nop5, 40);
	times = 1;
}

static void stacks(void)
{
	struct perf_event_attr attr = probe_on(pushing);

	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 0;
	sample("STACK_USER of 0", attr, pushing, 40);
	attr.sample_stack_user = 8;
	sample("STACK_USER of 8", attr, pushing, 40);
	attr.sample_stack_user = 32768;
	sample("STACK_USER of 32768: size", attr, pushing, 1);
	attr.sample_stack_user = 65528;
	sample("STACK_USER of 65528: size", attr, pushing, 1);
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 0xff0fff;
	sample("STACK_USER of 65528 with IP and REGS_USER: size", attr, pushing, 20);
}

static void together(void)
{
	struct perf_event_attr attr = probe_on(pushing);

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
		PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ |
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
		PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |
		PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
	attr.sample_regs_user = 0x101;
	attr.sample_regs_intr = 0x100;
	attr.sample_stack_user = 16;
	sample("everything", attr, pushing, 60);
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	sample("READ with id and lost", attr, pushing, 60);
	attr.read_format |= PERF_FORMAT_GROUP;
	sample("READ of a group with id and lost", attr, pushing, 60);
	attr.sample_type = 0;
	sample("no type at all", attr, pushing, 60);
	attr.sample_type = PERF_SAMPLE_IP;
	attr.exclude_user = 1;
	sample("exclude_user", attr, pushing, 60);
	attr.exclude_user = 0;
	attr.exclude_kernel = 1;
	sample("exclude_kernel", attr, pushing, 60);
	attr.exclude_kernel = 0;
	attr.precise_ip = 2;
	sample("precise_ip 2", attr, pushing, 60);
}

int main(void)
{
	start();
	on_first_cpu();
	call(pushing);
	name_places();
	alone();
	registers();
	stacks();
	together();
	return 0;
}
