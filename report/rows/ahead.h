/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ahead.h - the rows of rows.h, made by a thread of their own while their reader works: the same rows in the same
 * order, then the same end or error. The thread stops when it is some thousand rows ahead. It handles no signal.
 */
#pragma once

#include "report/rows/rows.h"

struct nt_ahead;

/*
 * Begins. Until nt_ahead_close, `rows`, its tape and its names belong to the thread; they must outlive it. 0, or a
 * negative errno.
 */
int nt_ahead_open(struct nt_ahead **out, struct nt_rows *rows);
/* Stops, wherever it is. Safe on NULL. */
void nt_ahead_close(struct nt_ahead *ahead);
/* As nt_rows_next. After the end or an error: the same again. */
int nt_ahead_next(struct nt_ahead *ahead, const struct nt_row **out);
/* As nt_rows_progress, of the rows that the reader has. */
unsigned int nt_ahead_progress(const struct nt_ahead *ahead);
