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
/* No thread works on the tape from now on, until the next row of one of them is asked for. Rows that were made stay. */
void nt_ahead_pause(struct nt_ahead_turn *turn);

/*
 * As nt_rows_open. The reader is asked `want->is_stopped` while it waits. `turn` must outlive the rows; NULL: nobody
 * else reads the tape. Until they are closed, the tape and the names are the thread's, but for the time from
 * nt_ahead_pause to the next row. After the end or an error the iterator gives the same again.
 */
int nt_ahead_open(struct nt_row_iter **out, struct nt_ahead_turn *turn, struct nt_tape *tape,
		  struct nt_user_names *names, int64_t session_id, const struct nt_rows_want *want);
