/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * choice.h - which samples of skb_latency a command is about: hooks, groups, the time between two
 * hooks; and of which stretch of time (query/selection.h). Parsed from the command line. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/query/labels.h"
#include "report/query/selection.h"
#include "schema/event.h"

#define NT_MAX_HOOKS 16 /* --hook may be given so often */
#define NT_ALL_HOOKS ((1u << NT_HOOK_COUNT) - 2) /* all but NT_HOOK_NONE */

/* As on the command line; NULL and 0: not given. */
struct nt_latency_args {
	const char *by;
	const char *hooks[NT_MAX_HOOKS];
	unsigned int n_hooks;
	const char *between[2];
	bool include_hol;
};

struct nt_latency_choice {
	struct nt_selection selection;
	enum nt_by by;
	unsigned int hooks; /* a bit for each enum nt_hook */
	enum nt_hook first, second; /* the time between two; NT_HOOK_NONE: the time since the stamp */
	bool include_hol;
};

/* 0, or -1 and a sentence that says what is wrong. */
int nt_latency_choose(const struct nt_latency_args *args, const struct nt_selection_args *selection,
		      struct nt_latency_choice *choice, char error[NT_ERROR_MAX]);
/* The number of a hook by its name; NT_HOOK_NONE: there is none of that name. */
enum nt_hook nt_hook_number(const char *name);
