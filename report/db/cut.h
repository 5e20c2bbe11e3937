/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cut.h - which rows of a tape belong to a window of time that alone is imported (docs/sql-schema.md, Databases of a
 * part), and the row of a session that is such a part. Pure.
 */
#pragma once

#include "report/rows/tables.h"
#include "report/tape/tape.h"

/* from_ts <= ts < to_ts, CLOCK_MONOTONIC, within the session and with something between them. */
struct nt_load_window {
	int64_t from_ts, to_ts;
};

struct nt_cut {
	int64_t session_ts; /* where the tape begins */
	struct nt_load_window window; /* of whole buckets */
	struct nt_row row; /* one that was changed */
};

/* The window is widened to whole buckets of cpu_cost. */
void nt_cut_init(struct nt_cut *cut, const struct nt_tape *tape, const struct nt_load_window *window);
/* The row as it is to be imported, good until the next call; NULL: it is not of the window. */
const struct nt_row *nt_cut_row(struct nt_cut *cut, const struct nt_row *row);
