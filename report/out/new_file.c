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
#include "report/out/interrupt.h"
#include "report/out/output.h"

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

void nt_new_file_tell(const char *path, const char *how)
{
	char size[NT_HUMAN_MAX];
	struct stat status;

	if (!stat(path, &status))
		fprintf(stderr, "wrote %s (%s): %s\n", path, nt_human_bytes(size, (uint64_t)status.st_size), how);
}

static int write_partial(const struct writing *writing, const char *path, const char *partial)
{
	char why[NT_DENIED_MAX];
	FILE *file;
	int code;

	nt_interrupt_removes(partial, path);
	/* Made anew: what somebody else put in its place may be a link to anywhere. */
	unlink(partial);
	file = open_partial(partial, path);
	if (!file)
		return nt_complain("%s cannot be made: %s.", path, nt_denied_make(why, path, errno));
	code = write_and_close(writing, file, partial, true);
	if (!code && (rename(partial, path) || nt_sync_directory(path)))
		code = nt_complain("%s cannot be finished: %s.", path, nt_denied_make(why, path, errno));
	if (code)
		unlink(partial);
	return code;
}

int nt_new_file(const char *path, const char *how, int (*write)(void *arg, FILE *out), void *arg)
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
	nt_interrupt_end();
	free(partial);
	if (!code)
		nt_new_file_tell(path, how);
	return code;
}
