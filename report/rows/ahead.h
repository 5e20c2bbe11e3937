/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ahead.h - the rows of rows.h, made by a thread of their own while their reader works: the same rows in the same
 * order, then the same end or error. The thread stops when it is some thousand rows ahead. It handles no signal. Where
 * no thread can be started, the reader makes the rows.
 */
#pragma once

#include "report/rows/rows.h"

struct nt_ahead;

/*
 * Of all rows that are read of one tape, only those at `works` may have a thread: reader after reader takes the turn
 * when it has used what was made for it. All zero: nobody has it.
 */
struct nt_ahead_turn {
	struct nt_ahead *works;
};
/* No thread works on the tape from now on, until nt_ahead_next is called. Rows that were made stay. */
void nt_ahead_pause(struct nt_ahead_turn *turn);

struct nt_ahead_config {
	struct nt_ahead_turn *turn; /* must outlive it; NULL: it is the tape's only reader */
	/*
	 * The reader is asked now and then while nt_ahead_next waits. Where it says true, nt_ahead_next gives
	 * -ECANCELED, and goes on from there when it is called again. NULL: nobody is asked.
	 */
	bool (*is_stopped)(void *arg);
	void *arg;
};

/*
 * Until nt_ahead_close, `rows` is its own. So are their tape and their names, but for the time from nt_ahead_pause to
 * nt_ahead_next. All must outlive it. *config is copied. 0, or a negative errno.
 */
int nt_ahead_open(struct nt_ahead **out, struct nt_rows *rows, const struct nt_ahead_config *config);
/* Stops, wherever it is. Safe on NULL. */
void nt_ahead_close(struct nt_ahead *ahead);
/* As nt_rows_next. After the end or an error: the same again. */
int nt_ahead_next(struct nt_ahead *ahead, const struct nt_row **out);
/* As nt_rows_progress, of the rows that the reader has. */
unsigned int nt_ahead_progress(const struct nt_ahead *ahead);
