/*
 * Plays a session (see tracefs-sessions.txt) on this machine's tracefs and prints it with the kernel's
 * answers. Static, so that it can be the only program of a virtual machine.
 *
 *   record PROGRAM < session > golden
 *
 * It appends to uprobe_events and removes only events of its own group; everything else happens in a
 * trace instance of its own.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOP "/sys/kernel/tracing/"
#define INSTANCE TOP "instances/trapline_session"
#define GROUP "tps"

static const char *program;
static char text[1 << 20];

static const char *path_of(const char *file)
{
	static char path[512];
	int global = !strncmp(file, "uprobe_", 7) || !strcmp(file, "dynamic_events");

	if (!strncmp(file, "top/", 4))
		snprintf(path, sizeof path, TOP "%s", file + 4);
	else
		snprintf(path, sizeof path, "%s/%s", global ? TOP : INSTANCE, file);
	return path;
}

/* {prog} stands for the program, U+2424 for a line end, U+2409 for a tab, {N*x} for N times x. */
static size_t expand(const char *from, char *to)
{
	char *start = to;

	while (*from) {
		int count, used = 0;
		char what[64];

		if (!strncmp(from, "{prog}", 6)) {
			to = stpcpy(to, program);
			from += 6;
		} else if (!strncmp(from, "\xe2\x90\xa4", 3)) {
			*to++ = '\n';
			from += 3;
		} else if (!strncmp(from, "\xe2\x90\x89", 3)) {
			*to++ = '\t';
			from += 3;
		} else if (sscanf(from, "{%d*%63[^}]}%n", &count, what, &used) == 2 && used) {
			while (count--)
				to = stpcpy(to, what);
			from += used;
		} else
			*to++ = *from++;
	}
	*to = 0;
	return to - start;
}

static void answer(int failed)
{
	printf("  %s\n", failed ? strerrorname_np(errno) : "ok");
}

static void write_file(const char *file, const char *what, int flags)
{
	size_t size = expand(what, text);
	int fd = open(path_of(file), O_WRONLY | flags);
	ssize_t put;

	if (fd < 0) {
		answer(1);
		return;
	}
	put = size || !flags || flags == O_APPEND ? write(fd, text, size) : 0;
	if (put >= 0 && (size_t)put < size)
		printf("  %zd of %zu\n", put, size);
	else
		answer(put < 0);
	close(fd);
}

/* A trace line without its columns: what stands between them and the event differs from run to run. */
static char *body_of(char *line)
{
	char *at = strstr(line, "] ");
	size_t digits;

	if (*line != ' ' || !at)
		return NULL;
	at += 2;
	if (strlen(at) < 6 || at[5] != ' ')
		return NULL;
	at += 6;
	at += strspn(at, " ");
	digits = strspn(at, "0123456789.");
	return digits > 7 && at[digits] == ':' && at[digits + 1] == ' ' ? at + digits + 2 : NULL;
}

static void show(const char *file, char *line)
{
	char *body, *at;
	size_t length = strlen(file);

	if (!strncmp(file, "uprobe_", 7) && !strstr(line, program))
		return;
	if (length > 3 && !strcmp(file + length - 3, "/id"))
		line = "N";
	if (!strncmp(line, "ID: ", 4))
		line = "ID: N";
	at = strstr(line, "#P:");
	if (at)
		strcpy(at, "#P:N");
	if (strstr(file, "error_log") && *line == '[') {
		printf("  |[TIME%s\n", strchr(line, ']'));
		return;
	}
	body = strstr(file, "trace") ? body_of(line) : NULL;
	if (body)
		printf("  |* %s\n", body);
	else if ((at = strstr(line, program))) {
		*at = 0;
		printf("  |%s{prog}%s\n", line, at + strlen(program));
	} else
		printf("  |%s\n", line);
}

static void read_file(const char *file)
{
	int flags = strstr(file, "trace_pipe") ? O_NONBLOCK : 0;
	int fd = open(path_of(file), O_RDONLY | flags);
	size_t size = 0;
	ssize_t got = fd;

	while (fd >= 0 && (got = read(fd, text + size, sizeof text - 1 - size)) > 0)
		size += got;
	text[size] = 0;
	if (got < 0 && !(errno == EAGAIN && size))
		answer(1);
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchrnul(line, '\n');
		int last = !*end;
		*end = 0;
		show(file, line);
		if (last) {
			puts("  (no line end)");
			break;
		}
	}
	if (fd >= 0)
		close(fd);
}

static void list(const char *file)
{
	struct dirent **entries;
	int count = scandir(path_of(file), &entries, NULL, alphasort);

	if (count < 0)
		answer(1);
	for (int i = 0; i < count; i++)
		printf("  |%s\n", entries[i]->d_name);
}

static void run(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execl(program, program, NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	printf("  %s\n", WIFEXITED(status) && !WEXITSTATUS(status) ? "ok" : "failed");
}

static void quiet(const char *file, const char *what)
{
	int fd = open(path_of(file), O_WRONLY | O_APPEND);

	if (fd >= 0) {
		if (write(fd, what, strlen(what)) < 0)
			fd = fd + 0;
		close(fd);
	}
}

/* A fresh instance, and none of our events. */
static void reset(void)
{
	char events[1 << 16];
	int fd;
	ssize_t size;

	quiet("events/" GROUP "/enable", "0");
	rmdir(INSTANCE);
	fd = open(TOP "uprobe_events", O_RDONLY);
	size = read(fd, events, sizeof events - 1);
	close(fd);
	events[size < 0 ? 0 : size] = 0;
	for (char *line = strtok(events, "\n"); line; line = strtok(NULL, "\n")) {
		char command[256];

		if (!strstr(line, program))
			continue;
		snprintf(command, sizeof command, "-%.*s", (int)strcspn(line + 1, " "), line + 1);
		quiet("uprobe_events", command);
	}
	mkdir(INSTANCE, 0750);
}

int main(int argc, char **argv)
{
	static char line[1 << 16];

	if (argc < 2)
		return 2;
	program = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		char *file, *rest;

		line[strcspn(line, "\n")] = 0;
		if (*line == ' ')
			continue;
		puts(line);
		if (*line == '=')
			reset();
		if (*line != '>')
			continue;
		file = line + 4;
		if (line[2] == 'x') {
			run();
			continue;
		}
		rest = strchr(file, ' ');
		if (rest)
			*rest++ = 0;
		else
			rest = "";
		switch (line[2]) {
		case 'w': write_file(file, rest, O_APPEND); break;
		case 'o': write_file(file, rest, 0); break;
		case 't': write_file(file, rest, O_TRUNC); break;
		case 'r': read_file(file); break;
		case 'l': list(file); break;
		case 'm': answer(mkdir(path_of(file), 0750)); break;
		case 'u': answer(rmdir(path_of(file))); break;
		}
	}
	reset();
	rmdir(INSTANCE);
	return 0;
}
