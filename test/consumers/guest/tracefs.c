/*
 * A program that traces itself through /sys/kernel/tracing and prints what it reads there.
 * gcc -O1 -nostdlib -static -no-pie -fno-stack-protector -fcf-protection=none -Wl,--build-id=none \
 *     -o tracefs.elf tracefs.c
 */
#define TRACING "/sys/kernel/tracing/"
#define O_WRONLY 1
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define LINK_ADDRESS 0x400000

static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

static long length(const char *text)
{
	long n = 0;

	while (text[n])
		n++;
	return n;
}

static void put(const char *text)
{
	call(1, 1, (long)text, length(text));
}

static void put_number(long value)
{
	char digits[24];
	int at = sizeof digits - 1;
	long left = value < 0 ? -value : value;

	digits[at] = 0;
	do
		digits[--at] = '0' + left % 10;
	while (left /= 10);
	if (value < 0)
		digits[--at] = '-';
	put(digits + at);
}

static void tell(const char *what, const char *file, long answer)
{
	put(what);
	put(" ");
	put(file);
	put(": ");
	put_number(answer);
	put("\n");
}

static void write_to(const char *file, const char *text, long flags)
{
	long fd = call(2, (long)file, O_WRONLY | flags, 0);
	long answer = fd;

	if (fd >= 0) {
		answer = call(1, fd, (long)text, length(text));
		call(3, fd, 0, 0);
	}
	tell("write", file, answer == length(text) ? 0 : answer);
}

static void show(const char *file, long flags)
{
	static char text[8192];
	long fd = call(2, (long)file, flags, 0);
	long got = fd;

	put("read ");
	put(file);
	put("\n");
	while (fd >= 0 && (got = call(0, fd, (long)text, sizeof text)) > 0)
		call(1, 1, (long)text, got);
	if (got < 0)
		tell("error", file, got);
	if (fd >= 0)
		call(3, fd, 0, 0);
}

__attribute__((noinline)) int probed(int number, const char *text)
{
	__asm__ volatile("nop" : : "D"(number), "S"(text));
	return number + 1;
}

static char definition[256];

static char *append(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	*to = 0;
	return to;
}

static void define(const char *name, const char *path, const char *args)
{
	static const char hex[] = "0123456789abcdef";
	unsigned long offset = (unsigned long)probed - LINK_ADDRESS;
	char *to = append(append(append(definition, name), " "), path);

	to = append(to, ":0x");
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = hex[offset >> shift & 15];
	*to = 0;
	append(to, args);
	write_to(TRACING "uprobe_events", definition, O_APPEND);
}

__attribute__((used)) static void run(long *stack)
{
	const char *self = (const char *)stack[1];

	define("p:guest/in", self, " number=%di:s32 text=+0(%si):string");
	define("r:guest/out", self, " $retval");
	define("p:guest/bad", self, " x=%nosuch");
	show(TRACING "uprobe_events", 0);
	show(TRACING "error_log", 0);
	show(TRACING "events/guest/in/format", 0);
	write_to(TRACING "events/guest/in/filter", "number > 1", 0);
	write_to(TRACING "events/guest/in/filter", "number >", 0);
	show(TRACING "events/guest/in/filter", 0);
	write_to(TRACING "events/guest/in/filter", "number > 1", 0);
	write_to(TRACING "events/guest/enable", "1\n", 0);
	show(TRACING "trace_pipe", O_NONBLOCK);
	probed(1, "one");
	probed(2, "two");
	show(TRACING "trace", 0);
	show(TRACING "trace_pipe", O_NONBLOCK);
	probed(3, "three");
	write_to(TRACING "trace", "", O_TRUNC);
	probed(4, "four");
	show(TRACING "trace", 0);
	show(TRACING "uprobe_profile", 0);
	tell("mkdir", "events/new", call(83, (long)TRACING "events/new", 0750, 0));
	tell("rmdir", "events/guest", call(84, (long)TRACING "events/guest", 0, 0));
	tell("unlink", "trace", call(87, (long)TRACING "trace", 0, 0));
	tell("open", "events/guest", call(2, (long)TRACING "events/guest", O_WRONLY, 0));
	write_to(TRACING "nosuch", "x", 0);
	write_to(TRACING "uprobe_events", "", O_TRUNC);
	write_to(TRACING "events/guest/enable", "0", 0);
	write_to(TRACING "uprobe_events", "-:guest/in\n-:guest/out\n", O_APPEND);
	show(TRACING "uprobe_events", 0);
	write_to(TRACING "error_log", "", O_TRUNC);
	show(TRACING "error_log", 0);
	call(231, 0, 0, 0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call run\n");
