/*
 * Asks the running kernel what system calls answer in corner cases, one line a case: `case: answer`.
 * The tests of the rows take these answers as expected values.
 * Build: gcc -static -O1 -o answers answers.c; run in an empty directory, as an ordinary user.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BAD ((void *)0x10)
#define NONCANONICAL ((void *)0x8000000000000000)

static long ask(const char *name, long answer)
{
	if (answer == -1)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, answer);
	return answer;
}
#define Q(nr, ...) ask(#nr "(" #__VA_ARGS__ ")", syscall(SYS_##nr, ##__VA_ARGS__))

static char *edge;	/* the last byte before an unmapped page is edge[-1] */
static int pipes[2], file, dir, nulldev, wronly;

static void io(void)
{
	char buf[64];
	struct { void *base; size_t len; } iov[2] = {{buf, 4}, {buf, 4}}, iovneg[1] = {{buf, -1L}}, iovbad[2] = {{buf, 4}, {BAD, 4}};

	puts("# read write");
	Q(read, 99, buf, 1);
	Q(read, wronly, buf, 1);
	Q(read, dir, buf, 1);
	Q(read, file, BAD, 1);
	Q(read, file, BAD, 0);
	Q(read, file, NONCANONICAL, 0);
	Q(read, file, buf, 0);
	lseek(file, 0, SEEK_END);
	Q(read, file, BAD, 1);
	Q(read, file, NONCANONICAL, 1);
	lseek(file, 0, SEEK_SET);
	Q(read, file, edge - 3, 8);
	Q(lseek, file, 0, SEEK_CUR);
	Q(read, nulldev, BAD, 1);
	Q(read, pipes[0], buf, 0);
	Q(read, pipes[1], buf, 1);
	write(pipes[1], "0123456789", 10);
	Q(read, pipes[0], edge - 4, 10);
	Q(ioctl, pipes[0], FIONREAD, buf);
	printf("left in pipe: %d\n", *(int *)buf);
	Q(read, pipes[0], BAD, 10);
	Q(ioctl, pipes[0], FIONREAD, buf);
	printf("left in pipe: %d\n", *(int *)buf);
	read(pipes[0], buf, 10);
	Q(write, 99, buf, 1);
	Q(write, 99, BAD, 1);
	Q(write, pipes[0], buf, 1);
	Q(write, pipes[1], BAD, 1);
	Q(write, pipes[1], BAD, 0);
	Q(write, pipes[1], edge - 4, 10);
	Q(ioctl, pipes[0], FIONREAD, buf);
	printf("left in pipe: %d\n", *(int *)buf);
	Q(write, pipes[1], edge - 5000, 10000);
	Q(ioctl, pipes[0], FIONREAD, buf);
	printf("left in pipe: %d\n", *(int *)buf);
	{ char big[8192]; fcntl(pipes[0], F_SETFL, O_NONBLOCK); while (read(pipes[0], big, sizeof big) > 0); }
	Q(read, pipes[0], buf, 1);
	Q(write, nulldev, BAD, 5);
	Q(write, wronly, edge - 4, 10);
	Q(write, wronly, BAD, 10);
	Q(readv, file, iov, 0);
	Q(readv, file, iov, -1);
	Q(readv, file, iov, 1025);
	Q(readv, file, BAD, 1);
	Q(readv, file, iovneg, 1);
	Q(readv, 99, iovneg, 1);
	lseek(file, 0, SEEK_SET);
	Q(readv, file, iov, 2);
	lseek(file, 0, SEEK_SET);
	Q(readv, file, iovbad, 2);
	Q(writev, wronly, iovbad, 2);
	Q(writev, pipes[1], iovbad, 2);
	Q(writev, wronly, iov, 0);
	Q(pread64, pipes[0], buf, 1, 0L);
	Q(pread64, 99, buf, 1, -1L);
	Q(pread64, file, buf, 1, -1L);
	Q(pread64, file, buf, 1, 1L << 40);
	Q(pread64, dir, buf, 1, 0L);
	Q(pwrite64, wronly, buf, 1, -1L);
	Q(pwrite64, pipes[1], buf, 1, 0L);
	lseek(file, 0, SEEK_SET);
	Q(preadv, file, iov, 2, 4L, 0L);
	Q(preadv, file, iov, 2, -1L, -1L);
	Q(preadv, pipes[0], iov, 2, 0L, 0L);
	Q(preadv2, file, iov, 2, -1L, -1L, 0);
	Q(lseek, file, 0, SEEK_CUR);
	Q(preadv2, file, iov, 2, 4L, 0L, 0);
	Q(preadv2, file, iov, 2, 4L, 0L, 0x8000);
	Q(pwritev, wronly, iov, 2, 4L, 0L);
	Q(pwritev, wronly, iov, 2, -1L, -1L);
	Q(pwritev2, wronly, iov, 2, 4L, 0L, 0);
	Q(pwritev2, file, iov, 2, 4L, 0L, 0);
	puts("# lseek");
	Q(lseek, 99, 0, 0);
	Q(lseek, pipes[0], 0, 0);
	Q(lseek, pipes[0], 0, 99);
	Q(lseek, file, 0, 99);
	Q(lseek, file, -1L, SEEK_SET);
	Q(lseek, file, -1L, SEEK_END);
	Q(lseek, file, 0x7fffffffffffffffL, SEEK_SET);
	Q(lseek, file, 0x100000L, SEEK_SET);
	Q(lseek, file, 0L, SEEK_DATA);
	Q(lseek, file, 100000L, SEEK_DATA);
	Q(lseek, file, 0L, SEEK_HOLE);
	Q(lseek, nulldev, 77L, SEEK_SET);
	Q(lseek, nulldev, 0L, SEEK_CUR);
	lseek(file, 0, SEEK_SET);
}

static void descriptors(void)
{
	int two[2], n;

	puts("# dup fcntl ioctl close pipe");
	Q(dup, 99);
	Q(dup2, file, file);
	Q(dup2, 99, 99);
	Q(dup2, file, 5000);
	Q(dup2, file, -1);
	Q(dup2, 99, 5000);
	Q(dup3, file, file, 0);
	Q(dup3, file, 50, 1);
	Q(dup3, 99, 50, O_CLOEXEC);
	Q(dup3, file, 5000, 0);
	Q(dup3, file, 50, O_CLOEXEC);
	Q(fcntl, 50, F_GETFD, 0);
	Q(fcntl, 50, F_SETFD, 0xfe);
	Q(fcntl, 50, F_GETFD, 0);
	Q(fcntl, file, F_DUPFD, 5000);
	Q(fcntl, file, F_DUPFD, -1);
	Q(fcntl, file, F_DUPFD, 50);
	Q(fcntl, file, F_DUPFD_CLOEXEC, 60);
	Q(fcntl, file, 9999, 0);
	Q(fcntl, 99, F_GETFL, 0);
	Q(fcntl, file, F_GETFL, 0);
	Q(fcntl, wronly, F_GETFL, 0);
	Q(fcntl, pipes[1], F_GETFL, 0);
	Q(fcntl, dir, F_GETFL, 0);
	Q(fcntl, file, F_SETFL, O_APPEND | O_NONBLOCK | O_RDWR | O_CREAT);
	Q(fcntl, file, F_GETFL, 0);
	Q(fcntl, file, F_SETFL, 0);
	Q(fcntl, pipes[1], F_GETPIPE_SZ, 0);
	Q(fcntl, file, F_GETPIPE_SZ, 0);
	Q(ioctl, 99, TCGETS, 0);
	Q(ioctl, file, TCGETS, 0);
	Q(ioctl, pipes[0], TCGETS, 0);
	Q(ioctl, nulldev, TCGETS, 0);
	Q(ioctl, dir, TCGETS, 0);
	Q(ioctl, file, TIOCGWINSZ, 0);
	Q(ioctl, file, FIONREAD, &n);
	printf("FIONREAD of file: %d\n", n);
	Q(ioctl, file, FIONREAD, BAD);
	Q(ioctl, dir, FIONREAD, &n);
	Q(ioctl, nulldev, FIONREAD, &n);
	Q(ioctl, file, FIOCLEX, 0);
	Q(fcntl, file, F_GETFD, 0);
	Q(ioctl, file, FIONCLEX, 0);
	Q(ioctl, file, FIONBIO, BAD);
	Q(close, 99);
	Q(close, -1);
	Q(close, 60);
	Q(close, 60);
	Q(close_range, 5, 4, 0);
	Q(close_range, 100, 200, 8);
	Q(close_range, 100, 0xffffffff, 0);
	Q(pipe2, two, 1);
	Q(pipe2, BAD, 0);
	Q(pipe, BAD);
	Q(poll, BAD, 1, 0);
	Q(poll, BAD, 0, 0);
	Q(poll, BAD, 100000, 0);
	struct pollfd fds[4] = {{99, POLLIN, 0}, {-1, POLLIN, 7}, {file, POLLIN | POLLOUT, 0}, {pipes[0], POLLIN, 0}};
	Q(poll, fds, 4, 0);
	printf("revents: %x %x %x %x\n", fds[0].revents, fds[1].revents, fds[2].revents, fds[3].revents);
	Q(sendfile, wronly, pipes[0], 0, 4L);
	Q(sendfile, file, file, 0, 4L);
	Q(sendfile, wronly, file, BAD, 4L);
	Q(sendfile, wronly, file, 0, 4L);
	Q(sendfile, wronly, file, 0, 0L);
	long at = 2, far = 100, to = 0, low = -1;
	Q(sendfile, wronly, file, &at, 4L);
	printf("sendfile left the offset at %ld\n", at);
	Q(sendfile, wronly, pipes[0], &at, 4L);
	Q(sendfile, wronly, file, &low, 4L);
	Q(sendfile, pipes[1], file, &at, 4L);
	Q(ioctl, pipes[0], FIONREAD, &n);
	printf("in the pipe: %d\n", n);
	{ char few[4]; read(pipes[0], few, 4); }
	Q(copy_file_range, file, 0, wronly, 0, 5L, 1);
	Q(copy_file_range, 99, 0, wronly, 0, 5L, 0);
	Q(copy_file_range, file, 0, file, 0, 5L, 0);
	Q(copy_file_range, pipes[0], 0, wronly, 0, 5L, 0);
	Q(copy_file_range, dir, 0, wronly, 0, 5L, 0);
	Q(copy_file_range, file, &at, wronly, &to, 5L, 0);
	printf("copy_file_range left the offsets at %ld %ld\n", at, to);
	Q(copy_file_range, file, &far, wronly, 0, 5L, 0);
	Q(copy_file_range, file, BAD, wronly, 0, 5L, 0);
	struct timespec none = {0, 0}, wrong = {0, -1};
	fd_set set;
	FD_ZERO(&set); FD_SET(file, &set); FD_SET(pipes[0], &set);
	Q(select, 40, &set, 0, 0, &none);
	printf("in the set: %d %d\n", FD_ISSET(file, &set), FD_ISSET(pipes[0], &set));
	FD_ZERO(&set); FD_SET(99, &set);
	Q(select, 64, 0, &set, 0, &none);
	Q(select, 128, 0, &set, 0, &none);
	Q(select, -1, 0, 0, 0, &none);
	Q(select, 5, BAD, 0, 0, &none);
	Q(select, 0, 0, 0, 0, &wrong);
	Q(select, 0, 0, 0, 0, &none);
	FD_ZERO(&set); FD_SET(pipes[1], &set); FD_SET(wronly, &set);
	Q(pselect6, 40, 0, &set, 0, &none, 0L);
	Q(pselect6, 0, 0, 0, 0, &wrong, 0L);
	Q(ppoll, fds, 4, &none, 0, 8L);
	Q(ppoll, fds, 4, &wrong, 0, 8L);
	Q(ppoll, fds, 4, BAD, 0, 8L);
	Q(flock, 99, 2);
	Q(flock, file, 2);
	Q(flock, file, 8);
	Q(fdatasync, wronly);
	Q(fdatasync, pipes[1]);
	Q(sync);
	Q(fadvise64, file, 0L, 0L, 0);
	Q(fadvise64, 99, 0L, 0L, 0);
	Q(fsync, pipes[0]);
	Q(fsync, file);
	Q(fsync, 99);
	Q(ftruncate, file, 0L);
	Q(ftruncate, wronly, -1L);
	Q(ftruncate, pipes[1], 0L);
	Q(ftruncate, 99, -1L);
	Q(ftruncate, 99, 0L);
	Q(ftruncate, dir, 0L);
	Q(truncate, "nofile", 0L);
	Q(truncate, ".", 0L);
	Q(truncate, "file", -1L);
}

static void opening(void)
{
	char buf[512];
	struct stat st;

	puts("# open and its relatives");
	mkdir("d", 0755);
	close(open("d/in", O_CREAT | O_WRONLY, 0644));
	symlink("file", "link");
	symlink("loop", "loop");
	symlink("nowhere", "dangling");
	Q(open, "", O_RDONLY);
	Q(open, (char *)0, O_RDONLY);
	Q(open, "nofile", O_RDONLY);
	Q(open, "file/", O_RDONLY);
	Q(open, "file/x", O_RDONLY);
	Q(open, "new/", O_CREAT | O_WRONLY, 0644);
	Q(open, "d", O_CREAT | O_WRONLY, 0644);
	Q(open, "d", O_CREAT, 0644);
	Q(open, "d", O_WRONLY);
	Q(open, "d", O_RDONLY | O_TRUNC);
	Q(open, "d", O_CREAT | O_DIRECTORY, 0644);
	Q(open, "file", O_DIRECTORY);
	Q(open, "loop", O_RDONLY);
	Q(open, "link", O_NOFOLLOW);
	Q(open, "link", O_NOFOLLOW | O_DIRECTORY);
	Q(open, "link", O_CREAT | O_EXCL | O_WRONLY, 0644);
	Q(open, "dangling", O_RDONLY);
	Q(open, "dangling", O_CREAT | O_EXCL | O_WRONLY, 0644);
	Q(open, "file", O_CREAT | O_EXCL | O_WRONLY, 0644);
	Q(open, ".", O_TMPFILE | O_RDONLY, 0644);
	Q(openat, 99, "file", O_RDONLY);
	Q(openat, file, "file", O_RDONLY);
	Q(openat, file, "", O_RDONLY);
	Q(openat, 99, "", O_RDONLY);
	memset(buf, 'a', 300); buf[300] = 0;
	ask("open of a name of 300 bytes", open(buf, O_RDONLY));
	Q(stat, "", &st);
	Q(stat, "nofile", BAD);
	Q(stat, "file", BAD);
	Q(fstat, 99, BAD);
	Q(fstat, file, BAD);
	Q(newfstatat, AT_FDCWD, "file", &st, 0x8000);
	Q(newfstatat, AT_FDCWD, "", &st, 0);
	Q(newfstatat, file, "", &st, AT_EMPTY_PATH);
	Q(newfstatat, AT_FDCWD, "", &st, AT_EMPTY_PATH);
	Q(newfstatat, 99, "", &st, AT_EMPTY_PATH);
	Q(newfstatat, 99, (char *)0, &st, AT_EMPTY_PATH);
	Q(newfstatat, file, (char *)0, &st, AT_EMPTY_PATH);
	Q(statx, AT_FDCWD, "file", 0x8000, 0x7ff, buf);
	Q(statx, AT_FDCWD, "file", 0, 0x80000000, buf);
	Q(statx, AT_FDCWD, "file", 0x6000, 0x7ff, buf);
	Q(statx, file, "", AT_EMPTY_PATH, 0x7ff, buf);
	Q(lstat, "link", &st);
	printf("a link: %d\n", S_ISLNK(st.st_mode));
	Q(lstat, "link/", &st);
	Q(lstat, "nofile", BAD);
	Q(faccessat, AT_FDCWD, "file", W_OK);
	Q(faccessat, 99, "file", W_OK);
	Q(access, "file", 8);
	Q(access, "nofile", 8);
	Q(access, "file", X_OK);
	Q(access, "file", R_OK);
	Q(access, "file/", R_OK);
	Q(faccessat2, AT_FDCWD, "file", R_OK, 0x8000);
	Q(faccessat2, AT_FDCWD, "dangling", F_OK, AT_SYMLINK_NOFOLLOW);
	Q(readlink, "file", buf, 10);
	Q(readlink, "link", buf, 0);
	Q(readlink, "link", buf, -1);
	Q(readlink, "link", buf, 2);
	Q(readlink, "link", BAD, 2);
	Q(readlink, "nofile", buf, -1);
	Q(readlinkat, file, "", buf, 10);
	Q(readlinkat, AT_FDCWD, "", buf, 10);
	Q(getcwd, buf, 1);
	Q(getcwd, BAD, 100);
	Q(chdir, "file");
	Q(chdir, "nofile");
	Q(chdir, "");
	Q(fchdir, file);
	Q(fchdir, 99);
	Q(getdents64, file, buf, 512);
	Q(getdents64, dir, buf, 5);
	Q(getdents64, dir, BAD, 512);
	Q(getdents64, 99, BAD, 512);
	Q(mkdir, "d", 0755);
	Q(mkdir, "d/", 0755);
	Q(mkdir, "nodir/x", 0755);
	Q(mkdir, "file/x", 0755);
	Q(mkdir, "/", 0755);
	Q(mkdir, ".", 0755);
	Q(mkdir, "dangling", 0755);
	Q(mkdir, "dangling/", 0755);
	Q(mkdir, "", 0755);
	Q(rmdir, "file");
	Q(rmdir, "d");
	Q(rmdir, ".");
	Q(rmdir, "d/..");
	Q(rmdir, "/");
	Q(rmdir, "nodir");
	Q(rmdir, "link");
	Q(unlink, "d");
	Q(unlink, "d/");
	Q(unlink, "file/");
	Q(unlink, "nofile");
	Q(unlink, "nofile/");
	Q(unlink, ".");
	Q(unlink, "/");
	Q(unlinkat, AT_FDCWD, "d", 0x8000);
	Q(unlinkat, AT_FDCWD, "file", AT_REMOVEDIR);
	Q(rename, "nofile", "x");
	Q(rename, "file", "d");
	Q(rename, "d", "file");
	Q(rename, "d", "d/x");
	Q(rename, "d/in", "d/in");
	Q(rename, ".", "x");
	Q(rename, "file", "nodir/x");
	Q(rename, "file", "x/");
	Q(rename, "/", "x");
	Q(renameat2, AT_FDCWD, "file", AT_FDCWD, "d", 1);
	Q(renameat2, AT_FDCWD, "file", AT_FDCWD, "d", 8);
	Q(renameat2, AT_FDCWD, "file", AT_FDCWD, "d", 3);
	Q(mkdirat, AT_FDCWD, "e", 0700);
	Q(mkdirat, dir, "e", 0700);
	Q(mkdirat, 99, "f", 0700);
	Q(renameat, dir, "e", AT_FDCWD, "f");
	Q(renameat, dir, "e", 99, "f");
	Q(unlinkat, dir, "f", AT_REMOVEDIR);
	int made = ask("creat(made)", syscall(SYS_creat, "made", 0600)) >= 0;
	Q(creat, "d", 0600);
	Q(unlink, "made");
	Q(fchmodat, AT_FDCWD, "file", 0600);
	Q(fchmodat, AT_FDCWD, "nofile", 0600);
	Q(fchmod, file, 0640);
	stat("file", &st);
	printf("mode: %o\n", st.st_mode);
	Q(chmod, "nofile", 0644);
	Q(chmod, "file", 0644);
	Q(fchmod, 99, 0644);
	puts("# times and owners");
	struct timespec when[2] = {{1000000000, 5}, {1100000000, 500}}, omit[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
	struct timespec mtime_only[2] = {{0, UTIME_OMIT}, {1200000000, 0}}, late[2] = {{0, 1000000000}, {0, 0}};
	long seconds[2] = {1300000000, 1400000000}, tv[4] = {1500000000, 7, 1600000000, 9}, badtv[4] = {0, 1000000, 0, 0};
	Q(utimensat, AT_FDCWD, "file", when, 0);
	stat("file", &st);
	printf("mtime %ld.%09ld\n", st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	Q(utimensat, AT_FDCWD, "file", mtime_only, 0);
	stat("file", &st);
	printf("mtime %ld\n", st.st_mtim.tv_sec);
	Q(utimensat, file, 0, when, 0);
	Q(utimensat, file, "", when, AT_EMPTY_PATH);
	Q(utimensat, AT_FDCWD, 0, when, 0);
	Q(utimensat, AT_FDCWD, "file", late, 0);
	Q(utimensat, AT_FDCWD, "file", BAD, 0);
	Q(utimensat, AT_FDCWD, "file", when, 0x8000);
	Q(utimensat, AT_FDCWD, "nofile", when, 0);
	Q(utimensat, AT_FDCWD, "nofile", omit, 0);
	Q(utimensat, AT_FDCWD, "file", 0, 0);
	Q(utimensat, 99, 0, when, 0);
	Q(utime, "file", seconds);
	stat("file", &st);
	printf("mtime %ld\n", st.st_mtim.tv_sec);
	Q(utime, "file", BAD);
	Q(utimes, "file", tv);
	stat("file", &st);
	printf("mtime %ld.%09ld\n", st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	Q(utimes, "file", badtv);
	Q(futimesat, AT_FDCWD, "file", tv);
	Q(chown, "file", 1000, 1000);
	Q(chown, "file", -1, -1);
	Q(chown, "file", 0, -1);
	Q(chown, "nofile", 0, -1);
	Q(lchown, "link", 1000, -1);
	Q(fchown, file, 1000, 1000);
	Q(fchown, 99, 1000, 1000);
	Q(fchown, file, -1, 0);
	Q(fchownat, AT_FDCWD, "file", 1000, 1000, 0);
	Q(fchownat, AT_FDCWD, "file", 1000, 1000, 0x8000);
	Q(fallocate, 99, 0, 0L, 5L);
	Q(fallocate, wronly, 0, -1L, 5L);
	Q(fallocate, wronly, 0, 0L, 0L);
	Q(fallocate, file, 0, 0L, 5L);
	Q(fallocate, pipes[1], 0, 0L, 5L);
	Q(umask, 0777777);
	Q(umask, 022);
}

int main(void)
{
	char *area = mmap(0, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	struct rlimit few = {1024, 4096};

	setrlimit(RLIMIT_NOFILE, &few);
	setvbuf(stdout, 0, _IONBF, 0);
	munmap(area + 8192, 4096);
	edge = area + 8192;
	file = open("file", O_CREAT | O_RDWR | O_TRUNC, 0644);
	write(file, "the bytes of the file", 21);
	close(file);
	file = open("file", O_RDONLY);
	wronly = open("out", O_CREAT | O_WRONLY, 0644);
	dir = open(".", O_RDONLY | O_DIRECTORY);
	nulldev = open("/dev/null", O_RDWR);
	pipe(pipes);
	io();
	descriptors();
	opening();
	return 0;
}
