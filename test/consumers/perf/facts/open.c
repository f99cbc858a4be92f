/* What perf_event_open answers for uprobes: every field of the attribute, good and bad. */
#include "perf.h"

static volatile int sink;
NOINLINE void target(void) { sink++; }

/* int 0x80, which no probe may sit on, never executed. */
asm(".text\n.globl refused\nrefused: .byte 0x06\n ret\n");
extern char refused[];

static void try_with(const char *name, struct perf_event_attr *attr, int pid, int cpu, int group,
		     unsigned long flags)
{
	uint32_t size = attr->size;
	int fd = open_event(attr, pid, cpu, group, flags);

	ask(name, fd < 0 ? -1 : 0);
	if (attr->size != size)
		printf("  size written back: %u\n", attr->size);
	if (fd >= 0)
		close(fd);
}

#define TRY(change) do { \
	struct perf_event_attr a = probe_on(target); \
	change; \
	try_with(#change, &a, 0, -1, -1, 0); \
} while (0)
#define TRY_AT(pid, cpu, group, flags) do { \
	struct perf_event_attr a = probe_on(target); \
	try_with("pid " #pid " cpu " #cpu " group " #group " flags " #flags, &a, pid, cpu, group, flags); \
} while (0)

static void sizes(void)
{
	static struct { struct perf_event_attr attr; char more[8192]; } big;
	static const uint32_t at[] = {0, 1, 63, 64, 65, 72, 80, 96, 104, 112, 120, 128, 136, 137, 144, 4096, 4097, 8192};

	puts("# size");
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		char name[32];

		memset(&big, 0, sizeof(big));
		big.attr = probe_on(target);
		big.attr.size = at[i];
		sprintf(name, "size %u", at[i]);
		try_with(name, &big.attr, 0, -1, -1, 0);
	}
	big.attr = probe_on(target);
	big.attr.size = 200;
	big.more[60] = 1;
	try_with("size 200 with a byte set behind the known part", &big.attr, 0, -1, -1, 0);
	ask("no attr", open_event(0, 0, -1, -1, 0));
	ask("bad attr", open_event(BAD, 0, -1, -1, 0));
}

static void fields(void)
{
	puts("# fields");
	TRY(a.type = 77);
	TRY(a.type = 0xffffffff);
	TRY(a.config = 1);
	TRY(a.config = 2);
	TRY(a.config = 0xfffffffe);
	TRY(a.config = 1ull << 32);
	TRY(a.config = 2ull << 32);
	TRY(a.config1 = 0);
	TRY(a.config1 = 0x10);
	TRY(a.config1 = (uintptr_t)"");
	TRY(a.config1 = (uintptr_t)"/nowhere");
	TRY(a.config1 = (uintptr_t)"/");
	TRY(a.config1 = (uintptr_t)"/proc/self/exe");
	TRY(a.config1 = (uintptr_t)"/proc/self/exe/more");
	TRY(a.config1 = (uintptr_t)"relative");
	TRY(a.config1 = (uintptr_t)"/dev/zero");
	TRY(a.config2 = 1ull << 40);
	TRY(a.config2 = 1ull << 62);
	TRY(a.config2 = ~0ull);
	TRY(a.config2 = offset_of(refused));
	TRY(a.config2 = offset_of(refused); a.disabled = 1);
	TRY(a.config2 = offset_of(refused); a.enable_on_exec = 1; a.disabled = 1);
	TRY(a.read_format = 31);
	TRY(a.read_format = 32);
	TRY(a.sample_type = 1ull << 25);
	TRY(a.sample_type = 1ull << 63);
	TRY(a.__reserved_1 = 1);
	TRY(a.__reserved_2 = 1);
	TRY(a.__reserved_3 = 1);
	TRY(a.__reserved_3 = 1 << 30);
	TRY(a.sig_data = 1);
	TRY(a.sample_period = 1);
	TRY(a.sample_period = 1ull << 62);
	TRY(a.sample_period = 1ull << 63);
	TRY(a.freq = 1);
	TRY(a.freq = 1; a.sample_freq = 1000);
	TRY(a.freq = 1; a.sample_freq = 100000);
	TRY(a.freq = 1; a.sample_freq = 100001);
	TRY(a.sample_type = PERF_SAMPLE_BRANCH_STACK);
	TRY(a.sample_type = PERF_SAMPLE_BRANCH_STACK; a.branch_sample_type = PERF_SAMPLE_BRANCH_ANY);
	TRY(a.sample_type = PERF_SAMPLE_BRANCH_STACK; a.branch_sample_type = PERF_SAMPLE_BRANCH_USER);
	TRY(a.sample_type = PERF_SAMPLE_BRANCH_STACK; a.branch_sample_type = 1ull << 30);
	TRY(a.branch_sample_type = ~0ull);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 1);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 1 << 11);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 1 << 12);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 1 << 15);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 0xff0fff);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 1 << 24);
	TRY(a.sample_type = PERF_SAMPLE_REGS_USER; a.sample_regs_user = 1ull << 32);
	TRY(a.sample_regs_user = 1 << 12);
	TRY(a.sample_type = PERF_SAMPLE_REGS_INTR);
	TRY(a.sample_type = PERF_SAMPLE_REGS_INTR; a.sample_regs_intr = 0xff0fff);
	TRY(a.sample_type = PERF_SAMPLE_REGS_INTR; a.sample_regs_intr = 1 << 12);
	TRY(a.sample_type = PERF_SAMPLE_REGS_INTR; a.sample_regs_intr = 1ull << 32);
	TRY(a.sample_type = PERF_SAMPLE_STACK_USER);
	TRY(a.sample_type = PERF_SAMPLE_STACK_USER; a.sample_stack_user = 7);
	TRY(a.sample_type = PERF_SAMPLE_STACK_USER; a.sample_stack_user = 8);
	TRY(a.sample_type = PERF_SAMPLE_STACK_USER; a.sample_stack_user = 65520);
	TRY(a.sample_type = PERF_SAMPLE_STACK_USER; a.sample_stack_user = 65528);
	TRY(a.sample_type = PERF_SAMPLE_STACK_USER; a.sample_stack_user = 65536);
	TRY(a.sample_stack_user = 7);
	TRY(a.sample_type = PERF_SAMPLE_CALLCHAIN);
	TRY(a.sample_type = PERF_SAMPLE_CALLCHAIN; a.sample_max_stack = 127);
	TRY(a.sample_type = PERF_SAMPLE_CALLCHAIN; a.sample_max_stack = 128);
	TRY(a.sample_max_stack = 128);
	TRY(a.sample_type = PERF_SAMPLE_WEIGHT);
	TRY(a.sample_type = PERF_SAMPLE_WEIGHT_STRUCT);
	TRY(a.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	TRY(a.sample_type = PERF_SAMPLE_AUX);
	TRY(a.sample_type = PERF_SAMPLE_AUX; a.aux_sample_size = 64);
	TRY(a.aux_sample_size = 64);
	TRY(a.aux_sample_size = 65536);
	TRY(a.aux_watermark = 64);
	TRY(a.clockid = 1);
	TRY(a.use_clockid = 1; a.clockid = 0);
	TRY(a.use_clockid = 1; a.clockid = 1);
	TRY(a.use_clockid = 1; a.clockid = 2);
	TRY(a.use_clockid = 1; a.clockid = 4);
	TRY(a.use_clockid = 1; a.clockid = 7);
	TRY(a.use_clockid = 1; a.clockid = 11);
	TRY(a.use_clockid = 1; a.clockid = 99);
	TRY(a.bp_type = 99);
}

static void flags(void)
{
	puts("# flags");
	TRY(a.disabled = 1);
	TRY(a.inherit = 1);
	TRY(a.inherit = 1; a.read_format = PERF_FORMAT_GROUP);
	TRY(a.inherit = 1; a.sample_type = PERF_SAMPLE_READ);
	TRY(a.inherit = 1; a.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID);
	TRY(a.inherit = 1; a.sample_type = PERF_SAMPLE_READ; a.read_format = PERF_FORMAT_GROUP);
	TRY(a.inherit_thread = 1);
	TRY(a.inherit = 1; a.inherit_thread = 1);
	TRY(a.pinned = 1);
	TRY(a.exclusive = 1);
	TRY(a.exclude_user = 1);
	TRY(a.exclude_kernel = 1);
	TRY(a.exclude_hv = 1);
	TRY(a.exclude_idle = 1);
	TRY(a.exclude_host = 1);
	TRY(a.exclude_guest = 1);
	TRY(a.exclude_callchain_user = 1);
	TRY(a.exclude_callchain_kernel = 1);
	TRY(a.mmap = 1);
	TRY(a.mmap2 = 1);
	TRY(a.mmap_data = 1);
	TRY(a.comm = 1);
	TRY(a.comm_exec = 1);
	TRY(a.task = 1);
	TRY(a.inherit_stat = 1);
	TRY(a.enable_on_exec = 1);
	TRY(a.remove_on_exec = 1);
	TRY(a.enable_on_exec = 1; a.remove_on_exec = 1);
	TRY(a.sigtrap = 1);
	TRY(a.sigtrap = 1; a.remove_on_exec = 1);
	TRY(a.watermark = 1);
	TRY(a.precise_ip = 1);
	TRY(a.precise_ip = 3);
	TRY(a.sample_id_all = 1);
	TRY(a.context_switch = 1);
	TRY(a.write_backward = 1);
	TRY(a.namespaces = 1);
	TRY(a.ksymbol = 1);
	TRY(a.bpf_event = 1);
	TRY(a.aux_output = 1);
	TRY(a.cgroup = 1);
	TRY(a.text_poke = 1);
	TRY(a.build_id = 1);
	TRY(a.build_id = 1; a.mmap2 = 1);
}

static void places(void)
{
	struct perf_event_attr first = probe_on(target), second = probe_on(target);
	int fd, other, plain = open("/dev/null", O_RDONLY);

	puts("# pid, cpu, group, flags");
	TRY_AT(-1, -1, -1, 0);
	TRY_AT(-1, 0, -1, 0);
	TRY_AT(0, 0, -1, 0);
	TRY_AT(getpid(), -1, -1, 0);
	TRY_AT(-2, -1, -1, 0);
	TRY_AT(-2, 0, -1, 0);
	TRY_AT(0x7fffffff, -1, -1, 0);
	TRY_AT(0, -2, -1, 0);
	TRY_AT(0, 4096, -1, 0);
	TRY_AT(-1, 4096, -1, 0);
	TRY_AT(0, 0x7fffffff, -1, 0);
	TRY_AT(0, -1, 999, 0);
	TRY_AT(0, -1, plain, 0);
	TRY_AT(0, -1, -2, 0);
	TRY_AT(0, -1, -1, PERF_FLAG_FD_NO_GROUP);
	TRY_AT(0, -1, -1, PERF_FLAG_FD_OUTPUT);
	TRY_AT(0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	TRY_AT(0, -1, -1, 16);
	TRY_AT(0, -1, -1, PERF_FLAG_PID_CGROUP);
	TRY_AT(999, 0, -1, PERF_FLAG_PID_CGROUP);
	TRY_AT(plain, 0, -1, PERF_FLAG_PID_CGROUP);

	puts("# order of the checks");
	ask("bad flags, bad attr", open_event(BAD, 0, -1, -1, 16));
	first.type = 77;
	first.sample_type = 1ull << 25;
	ask("bad type, bad sample_type", open_event(&first, 0, -1, -1, 0));
	first.sample_type = 0;
	ask("bad type, bad pid", open_event(&first, 0x7fffffff, -1, -1, 0));
	ask("bad type, bad group", open_event(&first, 0, -1, 999, 0));
	ask("bad pid, bad group", open_event(&second, 0x7fffffff, -1, 999, 0));
	second.config1 = 0;
	ask("bad path, bad pid", open_event(&second, 0x7fffffff, -1, -1, 0));
	ask("bad path, bad cpu", open_event(&second, 0, 4096, -1, 0));

	puts("# groups");
	first = probe_on(target);
	second = probe_on(target);
	fd = open_event(&first, 0, -1, -1, 0);
	other = open_event(&second, 0, -1, fd, 0);
	ask("sibling", other < 0 ? -1 : 0);
	ask("sibling of a sibling", open_event(&second, 0, -1, other, 0));
	ask("sibling on another cpu", open_event(&second, 0, 0, fd, 0));
	ask("sibling of another task", open_event(&second, -1, 0, fd, 0));
	second.pinned = 1;
	ask("pinned sibling", open_event(&second, 0, -1, fd, 0));
	second.pinned = 0;
	second.exclusive = 1;
	ask("exclusive sibling", open_event(&second, 0, -1, fd, 0));
	second.exclusive = 0;
	second.use_clockid = 1;
	second.clockid = 1;
	ask("sibling with another clock", open_event(&second, 0, -1, fd, 0));
	close(fd);
	ask("the sibling counts on without its leader", count_of(other));
	target();
	ask("after a call", count_of(other));
	close(other);

	puts("# reference counters");
	first = probe_on(target);
	second = probe_on(target);
	second.config |= 2ull << 32;
	fd = open_event(&first, 0, -1, -1, 0);
	ask("same place with another counter", open_event(&second, 0, -1, -1, 0));
	close(fd);

	puts("# the file's end");
	first = probe_on(target);
	fd = open(self, O_RDONLY);
	first.config2 = lseek(fd, 0, SEEK_END);
	ask("offset = size", open_event(&first, 0, -1, -1, 0) < 0 ? -1 : 0);
	first.config2++;
	ask("offset = size + 1", open_event(&first, 0, -1, -1, 0) < 0 ? -1 : 0);
}

static void paths(void)
{
	static char path[8192];
	struct perf_event_attr a = probe_on(target);

	puts("# long paths");
	memset(path, 'x', sizeof(path) - 1);
	a.config1 = (uintptr_t)path;
	ask("8191 bytes", open_event(&a, 0, -1, -1, 0));
	path[4095] = 0;
	ask("4095 bytes", open_event(&a, 0, -1, -1, 0));
	path[4096 - 1] = 'x';
	path[4096] = 0;
	ask("4096 bytes", open_event(&a, 0, -1, -1, 0));
	for (int i = 0; i < 4094; i += 2)
		memcpy(path + i, "./", 2);
	path[4093] = 0;
	ask("4093 bytes of dots", open_event(&a, 0, -1, -1, 0));
}

int main(void)
{
	start();
	sizes();
	fields();
	flags();
	places();
	paths();
	return 0;
}
