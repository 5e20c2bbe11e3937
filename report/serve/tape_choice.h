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
	bool is_recorded;
	struct stat status; /* of its directory */
};

/* Whether the path may be that of a tape, or of a directory of tapes, by now or later. 0, or -1 and a sentence. */
int nt_tape_choice_check(const char *path, char error[NT_ERROR_MAX]);
/* Looks for it. The caller releases it. Where memory is short, or nothing can be read, there is none. */
struct nt_tape_choice nt_tape_choose(const char *path);
void nt_tape_choice_release(struct nt_tape_choice *choice);
/* Whether both are the same directory, also by another name. */
bool nt_tape_choice_is(const struct nt_tape_choice *one, const struct nt_tape_choice *other);
