/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_directory.h - the directory of a tape: made, or used if it exists and is empty. It is held open, and its files
 * are opened and renamed relative to that descriptor. So it does not matter what the owner of this directory, or of
 * those above, moves or links there meanwhile.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/tape_owner.h"

struct nt_tape_directory {
	int parent_fd, fd; /* -1: not open */
	char name[NAME_MAX + 1]; /* in the parent */
	bool is_new; /* made by us */
	struct nt_tape_owner owner;
	int kept; /* why something could not be given to the owner, as a negative errno; 0: all was */
};

/*
 * Makes the directory `path`, with mode 0700, and gives it to the owner; the directories above must be there. Or takes
 * it if it is there and empty: then its mode and owner stay. The last part of the path may not be a link, and root
 * takes neither other links nor a directory of other users than the owner (trusted_path.h). It is locked against other
 * recorders until it is released. 0; else a negative errno, and a sentence with the remedy in `message`: the path is
 * that of `option`. Release it in any case.
 */
int nt_tape_directory_open(struct nt_tape_directory *directory, const char *path, const struct nt_tape_owner *owner,
			   const char *option, char *message, size_t size);
/*
 * Makes a file in it, for writing, of mode 0600 and given to the owner. Its descriptor, or a negative errno: -EEXIST if
 * anything of this name is there, a link too.
 */
int nt_tape_directory_create(struct nt_tape_directory *directory, const char *name);
/* Removes the directory, if we made it and it is empty. */
void nt_tape_directory_discard(struct nt_tape_directory *directory);
void nt_tape_directory_release(struct nt_tape_directory *directory);
