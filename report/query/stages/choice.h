/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * choice.h - the options of `stages` and `flame`: which part of the recordings, which owners, which groups. Parsed from
 * the command line. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/query/selection.h"

enum nt_stage_by {
	NT_STAGE_BY_NONE,
	NT_STAGE_BY_CPU,
	NT_STAGE_BY_PROCESS,
	NT_STAGE_BY_PAYER, /* the same, and what no process pays for by its own names */
	NT_STAGE_BY_CGROUP,
	NT_STAGE_BY_TIME
};

/* As on the command line; NULL: not given. */
struct nt_stage_args {
	const char *owners; /* --owner */
	bool inclusive, other; /* --inclusive, --other */
	bool folded, user, diff; /* --folded, --user-stacks, --diff */
};

struct nt_stage_choice {
	struct nt_selection selection;
	unsigned int owners; /* 1 << enum nt_owner for each */
	enum nt_stage_by by;
	bool inclusive; /* each stage that a stack passes through, not only the innermost */
	bool other; /* stacks of which no stage is known */
	bool user; /* the stacks of user space too */
};

/* `by` as on the command line, or NULL. 0, or -1 and a sentence that says what is wrong. */
int nt_stage_choose(const struct nt_stage_args *args, const char *by, const struct nt_selection_args *selection,
		    struct nt_stage_choice *choice, char error[NT_ERROR_MAX]);
/* "cpu" and so on; NULL for none. */
const char *nt_stage_by_name(enum nt_stage_by by);
/* Whether groups are those of tasks and payers, with labels. */
bool nt_stage_by_is_labelled(enum nt_stage_by by);
