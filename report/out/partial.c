// SPDX-License-Identifier: GPL-2.0-only
/*
 * partial.c - see partial.h.
 *
 * The lock is one on the first byte, by open file description (fcntl(2)): unlike flock(2) it is also on NFS no matter
 * of SQLite's, which locks other bytes of its file.
 */
#include "report/out/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/out/denied.h"
#include "report/out/interrupt.h"

#define TRIES 100 /* others may make and remove files of this name at the same time */
#define PAUSE_NS 10000000

/* ---- PATH.partial ---- */

/* Signals wait: between a file and the note of it nothing is left behind, and nothing of others is removed. */
static void hold_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

/*
 * Locks so many bytes, from the first; 0: all. False: another program has locked some of them. A file system may know
 * no locks: there nobody is known to write.
 */
static bool lock(int fd, off_t size)
{
	struct flock bytes = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = size};

	return !fcntl(fd, F_OFD_SETLK, &bytes) || (errno != EAGAIN && errno != EACCES);
}

static bool is_at(const char *name, int fd)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !lstat(name, &there) && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/*
 * Removes a file that was left behind under this name. A link or a pipe is not followed, opened or written, but is in
 * the way. All bytes are asked for: older programs have no lock of ours, but SQLite's.
 */
static int remove_left(const char *name)
{
	struct stat there;
	int fd, error = 0;

	if (lstat(name, &there))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(there.st_mode))
		return unlink(name) && errno != ENOENT ? -errno : 0;
	fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : -errno;
	if (!lock(fd, 0))
		error = -EBUSY;
	else if (is_at(name, fd) && unlink(name) && errno != ENOENT)
		error = -errno;
	close(fd);
	return error;
}

/* One that was not locked in time may have been taken for one that was left behind. */
static int make_named(struct nt_partial *partial)
{
	for (int i = 0; i < TRIES; i++) {
		const int fd = open(partial->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		int error = fd < 0 ? -errno : 0;

		if (fd >= 0 && lock(fd, 1) && is_at(partial->name, fd)) {
			partial->fd = fd;
			partial->has_name = true;
			return 0;
		}
		if (fd >= 0)
			close(fd);
		else if (error != -EEXIST)
			return error;
		error = remove_left(partial->name);
		if (error)
			return error;
	}
	return -EBUSY;
}

/* ---- a file without a name ---- */

#define SELF_MAX 32

static const char *path_of(char text[SELF_MAX], int fd)
{
	snprintf(text, SELF_MAX, "/proc/self/fd/%d", fd);
	return text;
}

/* Whatever fails here, the file can be made with a name, or that says why not. */
static int make_nameless(const char *path)
{
	char *copy = strdup(path), self[SELF_MAX];
	const int fd = copy ? open(dirname(copy), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600) : -1;

	free(copy);
	/* It gets its name by way of /proc, which a root of its own may lack. */
	if (fd >= 0 && access(path_of(self, fd), F_OK)) {
		close(fd);
		return -1;
	}
	/* It may get a name that others find. */
	if (fd >= 0)
		lock(fd, 1);
	return fd;
}

static int link_as(int fd, const char *name)
{
	char self[SELF_MAX];

	return linkat(AT_FDCWD, path_of(self, fd), AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* A file that is to replace another gets a name of its own first. Another program that does the same is done at once.
 */
static int link_as_partial(struct nt_partial *partial)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int error = link_as(partial->fd, partial->name);

	for (int i = 0; error == -EEXIST && i < TRIES; i++) {
		error = remove_left(partial->name);
		if (error && error != -EBUSY)
			return error;
		if (error)
			nanosleep(&pause, NULL);
		error = link_as(partial->fd, partial->name);
	}
	partial->has_name = !error;
	return error == -EEXIST ? -EBUSY : error;
}

/* ---- both ---- */

int nt_partial_open(struct nt_partial *partial, const char *path, bool needs_name)
{
	sigset_t before;
	int error = 0;

	*partial = (struct nt_partial){.fd = -1};
	if (asprintf(&partial->name, "%s.partial", path) < 0) {
		partial->name = NULL;
		return -ENOMEM;
	}
	hold_signals(&before);
	if (!needs_name)
		partial->fd = make_nameless(path);
	error = partial->fd < 0 ? make_named(partial) : remove_left(partial->name);
	/* One that another program writes is not in the way of a file without a name. */
	if (error == -EBUSY && partial->fd >= 0)
		error = 0;
	if (!error)
		nt_interrupt_removes(partial->has_name ? partial->name : NULL, path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* Over nothing, where the file system can promise that. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	return (errno != EINVAL && errno != ENOSYS) || rename(from, to) ? -errno : 0;
}

static int give_name(struct nt_partial *partial, const char *path, bool replaces)
{
	int error = 0;

	if (!partial->has_name) {
		error = link_as(partial->fd, path);
		if (error != -EEXIST || !replaces)
			return error;
		error = link_as_partial(partial);
	}
	if (!error && replaces)
		error = rename(partial->name, path) ? -errno : 0;
	else if (!error)
		error = rename_new(partial->name, path);
	partial->has_name = partial->has_name && error;
	return error;
}

int nt_partial_finish(struct nt_partial *partial, const char *path, bool replaces)
{
	sigset_t before;
	int error;

	hold_signals(&before);
	error = give_name(partial, path, replaces);
	/* A signal that came meanwhile finds the file finished, and has nothing to remove. */
	if (!error)
		nt_interrupt_end();
	else if (partial->has_name)
		nt_interrupt_removes(partial->name, path);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void nt_partial_explain(const struct nt_partial *partial, const char *path, int error, char text[NT_ERROR_MAX])
{
	char why[NT_DENIED_MAX];
	struct stat there;

	if (error == -EBUSY)
		nt_fail(text,
			"%s is being written by another nettape-report: wait until it ends, or give another place.",
			path);
	else if (partial->name && !lstat(partial->name, &there))
		nt_fail(text, "%s cannot be replaced: %s.", partial->name, nt_denied_make(why, partial->name, -error));
	else
		nt_fail(text, "%s cannot be made: %s.", path, nt_denied_make(why, path, -error));
}

void nt_partial_release(struct nt_partial *partial)
{
	sigset_t before;

	/* A file that gets the name afterwards is another program's. */
	hold_signals(&before);
	if (partial->has_name)
		unlink(partial->name);
	if (partial->fd >= 0)
		nt_interrupt_end();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (partial->fd >= 0)
		close(partial->fd);
	free(partial->name);
	*partial = (struct nt_partial){.fd = -1};
}
