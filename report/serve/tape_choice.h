/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_choice.h - which tape is served: the one at a path or, of a directory of tapes, the one that is recorded; else
 * the one that was written last.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "report/util/fail.h"

struct nt_tape_choice {
	char *path; /* of the tape; NULL: there is none yet */
	char *unreadable; /* a directory that we may not read, and that may be a better one; NULL: none */
	bool is_recorded;
	struct stat status; /* of its directory */
};

/* Tapes that are left out, until something is written there. Zero-initialised: none. */
struct nt_left_tapes {
	struct stat *of;
	size_t n, size;
};

/* Whether the path may be that of a tape, or of a directory of tapes, by now or later. 0, or -1 and a sentence. */
int nt_tape_choice_check(const char *path, char error[NT_ERROR_MAX]);
/* Looks for it. The caller releases it. Where memory is short there is none. */
struct nt_tape_choice nt_tape_choose(const char *path, const struct nt_left_tapes *left);
void nt_tape_choice_release(struct nt_tape_choice *choice);
/* Takes note of what is in the tape's directory now. */
void nt_tape_choice_note(struct nt_tape_choice *choice);
/* Whether both are the same directory, also by another name, and nothing has come or gone there between the two. */
bool nt_tape_choice_is(const struct nt_tape_choice *one, const struct nt_tape_choice *other);

/* 0, or -ENOMEM. */
int nt_tape_leave_out(struct nt_left_tapes *left, const struct nt_tape_choice *choice);
void nt_left_tapes_release(struct nt_left_tapes *left);
