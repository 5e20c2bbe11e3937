// SPDX-License-Identifier: GPL-2.0-only
/* snapshot.c - see snapshot.h. */
#include "record/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".tape"
#define TRIES 9 /* names for snapshots of one second */

/* The directory of the tape's, as a path. */
static void put_parent(char out[PATH_MAX], const char *tape)
{
	size_t size = strlen(tape);

	while (size > 1 && tape[size - 1] == '/')
		size--;
	while (size && tape[size - 1] != '/')
		size--;
	snprintf(out, PATH_MAX, "%.*s", size ? (int)size : 1, size ? tape : ".");
}

/* The tape's name, without what tapes' names end with. */
static void put_name(char out[NAME_MAX + 1], const char *tape)
{
	size_t end = strlen(tape), begin;

	while (end > 1 && tape[end - 1] == '/')
		end--;
	for (begin = end; begin && tape[begin - 1] != '/'; begin--)
		;
	if (end - begin > strlen(SUFFIX) && !strncmp(tape + end - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)))
		end -= strlen(SUFFIX);
	snprintf(out, NAME_MAX + 1, "%.*s", (int)(end - begin), tape + begin);
}

int nt_snapshot_check(const char *tape, const char *where, char *message, size_t size)
{
	struct stat of_tape, of_where;

	if (!where[0])
		return 0;
	if (stat(where, &of_where)) {
		const int error = -errno;

		snprintf(message, size,
			 "no snapshot can be put into %s: %s: make it first, or choose another --snapshot", where,
			 strerror(-error));
		return error;
	}
	if (!S_ISDIR(of_where.st_mode)) {
		snprintf(message, size, "%s is not a directory: choose another --snapshot", where);
		return -ENOTDIR;
	}
	if (stat(tape, &of_tape) || of_tape.st_dev == of_where.st_dev)
		return 0;
	snprintf(message, size,
		 "%s is on another file system than %s, and snapshots are links: choose another --snapshot, or -o",
		 where, tape);
	return -EXDEV;
}

/* The path of the snapshot; `n`: how many of this second there are. */
static void name_it(struct nt_snapshot *snapshot, const char *tape, const char *where, int n)
{
	char parent[PATH_MAX], name[NAME_MAX + 1], date[32], number[16] = "";
	const time_t now = time(NULL);
	const char *slash;
	struct tm local;

	put_parent(parent, tape);
	put_name(name, tape);
	if (where[0])
		snprintf(parent, sizeof(parent), "%s", where);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	if (n)
		snprintf(number, sizeof(number), "-%d", n + 1);
	slash = parent[0] && parent[strlen(parent) - 1] == '/' ? "" : "/";
	if (snprintf(snapshot->path, sizeof(snapshot->path), "%s%s%s-%s%s%s", parent, slash, name, date, number,
		     SUFFIX) >= (int)sizeof(snapshot->path))
		snapshot->path[0] = 0;
}

struct nt_snapshot *nt_snapshot_new(const char *tape, const char *where, const struct nt_tape_owner *owner)
{
	struct nt_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int error = -ENOTEMPTY;

	if (!snapshot)
		return NULL;
	snapshot->directory.fd = snapshot->directory.parent_fd = -1;
	for (int n = 0; n < TRIES && (error == -ENOTEMPTY || error == -EBUSY); n++) {
		nt_tape_directory_release(&snapshot->directory);
		name_it(snapshot, tape, where, n);
		error = nt_tape_directory_open(&snapshot->directory, snapshot->path, owner, "--snapshot",
					       snapshot->message, sizeof(snapshot->message));
	}
	if (error)
		nt_tape_directory_discard(&snapshot->directory);
	else
		snapshot->message[0] = 0;
	return snapshot;
}

void nt_snapshot_fail(struct nt_snapshot *snapshot, int error)
{
	if (!snapshot->message[0])
		snprintf(snapshot->message, sizeof(snapshot->message), "the tape could not be written: %s",
			 strerror(-error));
	nt_tape_directory_discard(&snapshot->directory);
}

/* *n: so many were linked. */
static int link_all(struct nt_snapshot *snapshot, const struct nt_retention *retention, size_t *n)
{
	char name[NT_CHUNK_NAME_MAX];

	for (*n = 0; *n < retention->n; ++*n) {
		nt_chunk_name(name, retention->chunks[retention->first + *n].number, "");
		if (linkat(retention->directory_fd, name, snapshot->directory.fd, name, 0))
			return -errno;
	}
	return fsync(snapshot->directory.fd) ? -errno : 0;
}

static void unlink_all(struct nt_snapshot *snapshot, const struct nt_retention *retention, size_t n)
{
	char name[NT_CHUNK_NAME_MAX];

	for (size_t i = 0; i < n; i++)
		unlinkat(snapshot->directory.fd,
			 nt_chunk_name(name, retention->chunks[retention->first + i].number, ""), 0);
}

void nt_snapshot_link(struct nt_snapshot *snapshot, const struct nt_retention *retention)
{
	size_t n;
	int error;

	if (snapshot->message[0])
		return;
	error = link_all(snapshot, retention, &n);
	if (!error)
		return;
	snprintf(snapshot->message, sizeof(snapshot->message),
		 "its chunks cannot be linked into %s: %s: put snapshots on the tape's file system, with --snapshot",
		 snapshot->path, strerror(-error));
	unlink_all(snapshot, retention, n);
	nt_tape_directory_discard(&snapshot->directory);
}

void nt_snapshot_free(struct nt_snapshot *snapshot)
{
	if (!snapshot)
		return;
	nt_tape_directory_release(&snapshot->directory);
	free(snapshot);
}
