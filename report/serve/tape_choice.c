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
#include "report/util/array.h"

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

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
	       one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
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

/* Whether it is a tape, as far as one sees. A directory that may not be read is noted in `choice`. */
static bool looks_like_one(struct nt_tape_choice *choice, struct nt_tape_choice *other)
{
	int has;

	if (stat(other->path, &other->status) || !S_ISDIR(other->status.st_mode))
		return false;
	has = nt_tape_has_chunks(other->path);
	if (has == -EACCES && (!choice->path || is_better(other, choice))) {
		free(choice->unreadable);
		choice->unreadable = strdup(other->path);
	}
	return has == 1;
}

/* The better one is kept. Takes `path`. */
static void consider(struct nt_tape_choice *choice, char *path, const struct nt_left_tapes *left)
{
	struct nt_tape_choice other = {.path = path};

	if (looks_like_one(choice, &other) && !NT_ANY(left->n, i, is_same(&left->of[i], &other.status))) {
		other.is_recorded = nt_tape_is_recorded(path);
		if (!choice->path || is_better(&other, choice)) {
			free(choice->path);
			other.unreadable = choice->unreadable;
			*choice = other;
			return;
		}
	}
	free(path);
}

static void consider_entry(struct nt_tape_choice *choice, const char *directory, const char *name,
			   const struct nt_left_tapes *left)
{
	char *path;

	if (name[0] != '.' && asprintf(&path, "%s/%s", directory, name) >= 0)
		consider(choice, path, left);
}

struct nt_tape_choice nt_tape_choose(const char *path, const struct nt_left_tapes *left)
{
	struct nt_tape_choice choice = {.path = NULL};
	const struct dirent *entry;
	char *own = strdup(path);
	DIR *directory;

	if (own)
		consider(&choice, own, left);
	directory = choice.path ? NULL : opendir(path);
	if (!directory)
		return choice;
	while ((entry = readdir(directory)))
		consider_entry(&choice, path, entry->d_name, left);
	closedir(directory);
	return choice;
}

void nt_tape_choice_release(struct nt_tape_choice *choice)
{
	free(choice->path);
	free(choice->unreadable);
	*choice = (struct nt_tape_choice){.path = NULL};
}

void nt_tape_choice_note(struct nt_tape_choice *choice)
{
	struct stat status;

	if (choice->path && !stat(choice->path, &status))
		choice->status = status;
}

bool nt_tape_choice_is(const struct nt_tape_choice *one, const struct nt_tape_choice *other)
{
	return one->path && other->path && is_same(&one->status, &other->status);
}

int nt_tape_leave_out(struct nt_left_tapes *left, const struct nt_tape_choice *choice)
{
	if (NT_ROOM(left->of, left->size, left->n + 1))
		return -ENOMEM;
	left->of[left->n++] = choice->status;
	return 0;
}

void nt_left_tapes_release(struct nt_left_tapes *left)
{
	free(left->of);
	*left = (struct nt_left_tapes){.n = 0};
}
