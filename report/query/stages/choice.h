/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * choice.h - the options of `stages` and `flame`: which part of the recordings, which owners, which groups. Parsed from
 * the command line. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/query/by.h"
#include "report/query/selection.h"

/* As on the command line; NULL: not given. */
struct nt_stage_args {
	const char *owners; /* --owner */
	bool inclusive, other; /* --inclusive, --other */
	bool folded, user, diff; /* --folded, --user-stacks, --diff */
};

struct nt_stage_choice {
	struct nt_selection selection;
	unsigned int owners; /* 1 << enum nt_owner for each */
	enum nt_by by;
	bool inclusive; /* each stage that a stack passes through, not only the innermost */
	bool other; /* stacks of which no stage is known */
	bool user; /* the stacks of user space too */
};

/* `by` as on the command line, or NULL. 0, or -1 and a sentence that says what is wrong. */
int nt_stage_choose(const struct nt_stage_args *args, enum nt_by_of command, const char *by,
		    const struct nt_selection_args *selection, struct nt_stage_choice *choice,
		    char error[NT_ERROR_MAX]);
/* Whether groups are those of tasks and payers, with labels. */
bool nt_stage_by_is_labelled(enum nt_by by);
