/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status.h - what the recorder prints on standard error while all goes well: a line at the start, on a terminal a
 * status line each second, and at the end the totals and the next command. Never on the path of an event. The status
 * line never waits for the terminal: one that is stopped (Ctrl-S) or far away shows none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/meta.h"
#include "record/options.h"

struct nt_status {
	const struct nt_record_options *options;
	int terminal; /* a descriptor that does not wait; -1: there is no status line */
	bool is_shown;
};

/* Prints what is recorded, where to, and what ends it. Finds out whether there can be a status line. */
void nt_status_begin(struct nt_status *status, const struct nt_record_options *options);
/* Rewrites the status line. `bytes`: of the tape as it is now. */
void nt_status_show(struct nt_status *status, const struct nt_totals *totals, uint64_t bytes);
/* Takes the status line away: to be called before anything else is printed. */
void nt_status_hide(struct nt_status *status);
/*
 * Takes it away, and prints the totals, what would have avoided losses, and the next command; if quiet, only what found
 * the rings full.
 */
void nt_status_end(struct nt_status *status, const struct nt_totals *totals, uint64_t bytes);
/* Safe before nt_status_begin, if `terminal` is -1. */
void nt_status_release(struct nt_status *status);
