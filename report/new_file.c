// SPDX-License-Identifier: GPL-2.0-only
/*
 * new_file.c - see new_file.h.
 */
#include "report/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/command.h"
#include "report/durable.h"

struct writing {
	int (*write)(void *arg, FILE *out);
	void *arg;
};

static int write_and_close(const struct writing *writing, FILE *file, const char *path, bool to_disk)
{
	int code = writing->write(writing->arg, file);
	bool failed = ferror(file) != 0;

	if (!code && to_disk)
		failed |= fflush(file) || fsync(fileno(file));
	failed |= fclose(file) != 0;
	return !code && failed ? nt_complain("%s cannot be written: is the disk full?", path) : code;
}

static bool is_special(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISREG(status.st_mode);
}

static int write_special(const struct writing *writing, const char *path)
{
	FILE *file = fopen(path, "we");

	return file ? write_and_close(writing, file, path, false)
		    : nt_complain("%s cannot be opened: %s.", path, strerror(errno));
}

/* Only if it was ours: nobody else says who may read what we write. */
static void take_mode(int fd, const char *path)
{
	struct stat before, now;

	if (!lstat(path, &before) && S_ISREG(before.st_mode) && !fstat(fd, &now) && before.st_uid == now.st_uid &&
	    before.st_gid == now.st_gid)
		fchmod(fd, before.st_mode & 0777);
}

static FILE *open_partial(const char *partial, const char *path)
{
	int fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file;

	if (fd < 0)
		return NULL;
	take_mode(fd, path);
	file = fdopen(fd, "w");
	if (!file)
		close(fd);
	return file;
}

static int write_partial(const struct writing *writing, const char *path, const char *partial)
{
	FILE *file;
	int code;

	/* Made anew: what somebody else put in its place may be a link to anywhere. */
	unlink(partial);
	file = open_partial(partial, path);
	if (!file)
		return nt_complain("%s cannot be made: %s.", path, strerror(errno));
	code = write_and_close(writing, file, partial, true);
	if (!code && (rename(partial, path) || nt_sync_directory(path)))
		code = nt_complain("%s cannot be finished: %s.", path, strerror(errno));
	if (code)
		unlink(partial);
	return code;
}

int nt_new_file(const char *path, int (*write)(void *arg, FILE *out), void *arg)
{
	const struct writing writing = {write, arg};
	char *partial;
	int code;

	if (!path)
		return write(arg, stdout);
	if (is_special(path))
		return write_special(&writing, path);
	if (asprintf(&partial, "%s.partial", path) < 0)
		return nt_complain("out of memory.");
	code = write_partial(&writing, path, partial);
	free(partial);
	return code;
}
