// SPDX-License-Identifier: GPL-2.0-only
/* tape_choice.c - see tape_choice.h. */
#include "report/serve/tape_choice.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/out/denied.h"
#include "report/tape/file_kind.h"
#include "report/tape/follow.h"

int nt_tape_choice_check(const char *path, char error[NT_ERROR_MAX])
{
	char why[NT_DENIED_MAX];
	struct stat status;
	const char *kind;

	if (stat(path, &status))
		return nt_fail(error, "'%s' cannot be read: %s.", path, nt_denied_read(why, path, errno));
	if (S_ISDIR(status.st_mode))
		return access(path, R_OK | X_OK)
			       ? nt_fail(error, "'%s' cannot be read: %s.", path, nt_denied_read(why, path, errno))
			       : 0;
	kind = nt_file_kind(path);
	return nt_fail(error,
		       "'%s' is %s: give the directory that nettape-record writes, or the one that holds its tapes.",
		       path, kind ? kind : "a file");
}

static bool is_better(const struct nt_tape_choice *one, const struct nt_tape_choice *other)
{
	const struct timespec *written = &one->status.st_mtim, *others = &other->status.st_mtim;

	if (one->is_recorded != other->is_recorded)
		return one->is_recorded;
	if (written->tv_sec != others->tv_sec)
		return written->tv_sec > others->tv_sec;
	return written->tv_nsec > others->tv_nsec;
}

/* The better one is kept. Takes `path`. */
static void consider(struct nt_tape_choice *choice, char *path)
{
	struct nt_tape_choice other = {.path = path};

	if (!stat(path, &other.status) && S_ISDIR(other.status.st_mode) && nt_tape_has_chunks(path)) {
		other.is_recorded = nt_tape_is_recorded(path);
		if (!choice->path || is_better(&other, choice)) {
			nt_tape_choice_release(choice);
			*choice = other;
			return;
		}
	}
	free(path);
}

static void consider_entry(struct nt_tape_choice *choice, const char *directory, const char *name)
{
	char *path;

	if (name[0] != '.' && asprintf(&path, "%s/%s", directory, name) >= 0)
		consider(choice, path);
}

struct nt_tape_choice nt_tape_choose(const char *path)
{
	struct nt_tape_choice choice = {.path = NULL};
	const struct dirent *entry;
	char *own = strdup(path);
	DIR *directory;

	if (own)
		consider(&choice, own);
	directory = choice.path ? NULL : opendir(path);
	if (!directory)
		return choice;
	while ((entry = readdir(directory)))
		consider_entry(&choice, path, entry->d_name);
	closedir(directory);
	return choice;
}

void nt_tape_choice_release(struct nt_tape_choice *choice)
{
	free(choice->path);
	choice->path = NULL;
}

bool nt_tape_choice_is(const struct nt_tape_choice *one, const struct nt_tape_choice *other)
{
	return one->path && other->path && one->status.st_dev == other->status.st_dev &&
	       one->status.st_ino == other->status.st_ino;
}
