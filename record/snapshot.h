/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * snapshot.h - what a tape has at a moment, kept as a tape of its own while the recording goes on: hard links to its
 * finished chunks, in a new directory. Nothing is copied; a chunk takes room as long as one of both tapes has it.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "record/retention.h"
#include "record/tape_directory.h"

struct nt_snapshot {
	char path[PATH_MAX]; /* of its directory: for messages */
	struct nt_tape_directory directory;
	char message[2 * PATH_MAX]; /* why there is none; "": there is */
};

/*
 * Where snapshots of this tape go: `where`, or beside the tape if that is "". 0; else a negative errno, and a sentence
 * with the remedy in `message`: it is not there, or on another file system.
 */
int nt_snapshot_check(const char *tape, const char *where, char *message, size_t size);
/*
 * Makes the directory of a snapshot of now: WHERE/TAPE-DATE-TIME.tape. It is the owner's. NULL: out of memory; else
 * `message` says whether it was made. To be released.
 */
struct nt_snapshot *nt_snapshot_new(const char *tape, const char *where, const struct nt_tape_owner *owner);
/* Links the finished chunks that there are. All or none: else `message` says why, and the directory is removed. */
void nt_snapshot_link(struct nt_snapshot *snapshot, const struct nt_retention *retention);
/* Removes the directory, in which nothing is: `error` ended the recording before. */
void nt_snapshot_fail(struct nt_snapshot *snapshot, int error);
/* Safe on NULL. */
void nt_snapshot_free(struct nt_snapshot *snapshot);
