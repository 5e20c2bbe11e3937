/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows_state.h - what an iterator of rows remembers, shared by rows.c and row_blocks.c. Private to these.
 */
#ifndef NT_REPORT_ROWS_STATE_H
#define NT_REPORT_ROWS_STATE_H

#include "report/identities.h"
#include "report/merge.h"
#include "report/rows.h"

struct nt_rows_counts {
	uint64_t records[NT_KIND_MAX], lost[NT_KIND_MAX];
};

struct nt_rows {
	struct nt_tape *tape;
	int64_t session_id;
	struct nt_identities ids;
	struct nt_merge *merge;
	struct nt_timeline *timeline;
	struct nt_rollup *rollup;
	unsigned int step;
	uint64_t at_ns; /* end of the last record */
	uint64_t seen_last; /* the task noted last */
	/* Rows made and not given yet; their texts are in the arena. */
	struct nt_row *queue;
	size_t n_queue, next_queue, queue_size;
	struct nt_arena arena;
	/* The pass over the blocks that hold no events. */
	size_t chunk, block;
	const struct nt_chunk_contents *contents;
	struct nt_buf raw;
	/* Counts for the last rows. */
	struct nt_rows_counts **counts; /* by CPU, NULL where nothing was */
	uint64_t events, lost, bad_lines;
	uint64_t unfit; /* rows left out: a number that SQL cannot hold */
};

/* Puts the row that `from` makes into the queue. */
int nt_rows_push(struct nt_rows *rows, enum nt_table_id table, const void *from);

/* ---- row_blocks.c ---- */

/* Learns the identities of the whole tape. */
int nt_rows_learn(struct nt_rows *rows);
/* The rows of one block that holds no events. 1: there are no more. */
int nt_rows_step_block(struct nt_rows *rows);
/* Rows for the idle task, and for tasks that events speak of and no identity is known of. */
int nt_rows_push_unknown(struct nt_rows *rows);

#endif
