/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fake_files.h - files of /proc, /sys and /etc as a test would have them. To be included by one test: it puts its own
 * fopen, open and access in front of libc's, and what the code under test opens by a path in fake_files has that text.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fake_file {
	const char *path;
	const char *text; /* NULL: there is no such file */
};

/* Ends with a NULL path. */
static const struct fake_file *fake_files;

static const struct fake_file *find_fake(const char *path)
{
	for (const struct fake_file *file = fake_files; file && file->path; file++)
		if (!strcmp(file->path, path))
			return file;
	return NULL;
}

static int open_fake(const struct fake_file *file)
{
	int fd;

	if (!file->text) {
		errno = ENOENT;
		return -1;
	}
	fd = memfd_create("fake", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, file->text, strlen(file->text)) == (ssize_t)strlen(file->text))
		lseek(fd, 0, SEEK_SET);
	return fd;
}

int open(const char *path, int flags, ...)
{
	const struct fake_file *file = find_fake(path);
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	return file ? open_fake(file) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	int flags = strchr(mode, 'w') ? O_WRONLY | O_CREAT | O_TRUNC : strchr(mode, '+') ? O_RDWR : O_RDONLY;
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? NULL : fdopen(fd, mode);
}

int access(const char *path, int mode)
{
	const struct fake_file *file = find_fake(path);

	if (!file)
		return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
	errno = ENOENT;
	return file->text ? 0 : -1;
}
