// SPDX-License-Identifier: GPL-2.0-only
/*
 * new_file.c - see new_file.h.
 */
#include "report/out/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/out/complain.h"
#include "report/out/denied.h"
#include "report/out/output.h"
#include "report/out/partial.h"

int nt_sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	/* One that may be written and not read cannot be synced: its names are as safe as the file system is. */
	int result = fd < 0 ? (copy && errno == EACCES ? 0 : -1) : fsync(fd);

	if (fd >= 0)
		close(fd);
	free(copy);
	return result;
}

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
	char why[NT_DENIED_MAX];

	return file ? write_and_close(writing, file, path, false)
		    : nt_complain("%s cannot be written: %s.", path, nt_denied_change(why, path, errno));
}

/* Only if it was ours: nobody else says who may read what we write. */
static void take_mode(int fd, const char *path)
{
	struct stat before, now;

	if (!lstat(path, &before) && S_ISREG(before.st_mode) && !fstat(fd, &now) && before.st_uid == now.st_uid &&
	    before.st_gid == now.st_gid)
		fchmod(fd, before.st_mode & 0777);
}

/* A stream to the same file, which stays open when the stream is closed. */
static FILE *open_stream(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");

	if (!file && copy >= 0)
		close(copy);
	return file;
}

void nt_new_file_tell(const char *path, const char *how)
{
	char size[NT_HUMAN_MAX];
	struct stat status;

	if (!stat(path, &status))
		fprintf(stderr, "wrote %s (%s): %s\n", path, nt_human_bytes(size, (uint64_t)status.st_size), how);
}

static int write_partial(const struct writing *writing, const char *path, struct nt_partial *partial)
{
	char why[NT_DENIED_MAX], error_text[NT_ERROR_MAX];
	int error = nt_partial_open(partial, path, false), code;
	FILE *file;

	if (error) {
		nt_partial_explain(partial, path, error, error_text);
		return nt_complain("%s", error_text);
	}
	take_mode(partial->fd, path);
	file = open_stream(partial->fd);
	if (!file)
		return nt_complain("%s cannot be made: %s.", path, strerror(errno));
	code = write_and_close(writing, file, path, true);
	if (code)
		return code;
	error = nt_partial_finish(partial, path, true);
	if (!error && nt_sync_directory(path))
		error = -errno;
	if (error == -EBUSY) {
		nt_partial_explain(partial, path, error, error_text);
		return nt_complain("%s", error_text);
	}
	return error ? nt_complain("%s cannot be finished: %s.", path, nt_denied_make(why, path, -error)) : 0;
}

int nt_new_file(const char *path, const char *how, int (*write)(void *arg, FILE *out), void *arg)
{
	const struct writing writing = {write, arg};
	struct nt_partial partial;
	int code;

	if (!path)
		return write(arg, stdout);
	if (is_special(path))
		return write_special(&writing, path);
	code = write_partial(&writing, path, &partial);
	nt_partial_release(&partial);
	if (!code && how)
		nt_new_file_tell(path, how);
	return code;
}
