/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what an iterator of rows remembers, shared by rows.c, window.c, loose.c, flow_rows.c, rx_rows.c,
 * elsewhere.c and blocks.c. Private to these, and to learned.c.
 */
#pragma once

#include "report/rows/rows.h"
#include "report/rows/flow_times.h"
#include "report/rows/rx_charge.h"
#include "report/rows/rx_payers.h"
#include "report/rows/rx_rest.h"
#include "report/rows/sample_owners.h"
#include "report/rows/stack_stages.h"
#include "report/tape/clock.h"
#include "report/tape/identities.h"
#include "report/tape/merge.h"
#include "report/util/array.h"
#include "schema/kind.h"

struct nt_rows_counts {
	uint64_t records[NT_KIND_MAX], lost[NT_KIND_MAX];
};

/* A pass over the blocks that hold no events. */
struct nt_block_pass {
	struct nt_tape *tape;
	size_t chunk, block;
	const struct nt_chunk_contents *contents;
	struct nt_buf raw; /* the block that was given last */
};

struct nt_learned {
	struct nt_identities ids;
	struct nt_clocks clocks;
	struct nt_stack_stages stages; /* of stacks that somebody asked for */
	bool has_users;
	struct nt_socket_users users; /* of all of the tape, if somebody asked for them */
};

/* Numbers of columns; 0: the table has none such. */
struct nt_window_columns {
	uint8_t ts, dur, cpu;
};

/* Whoever used a socket so long before a view, or behind it, may pay for what the socket receives in the view. */
#define NT_USERS_NEAR_NS NT_BUCKET_NS

struct nt_rows_window {
	struct nt_window_columns columns[NT_TABLE_COUNT];
	struct nt_place *places; /* by CPU: where reading begins; NULL: everything is read */
	uint64_t *until_ns; /* by CPU: reading does not end before; NULL: it does not end */
	uint64_t ops_from_ns; /* of operations that began before, none matters */
	uint64_t look_ns; /* when to look next whether all operations have ended */
	bool leaves_out; /* not all rows are in the window */
	bool has_loss; /* the window has uncovered time */
	bool has_ended; /* none of its operations is open any more */
};

struct nt_rows {
	struct nt_row_iter iter;
	struct nt_tape *tape;
	struct nt_user_names *names; /* or NULL */
	int64_t session_id;
	struct nt_learned *learned;
	struct nt_learned *own; /* the same, if nobody else's; or NULL */
	struct nt_identity_marks marks;
	struct nt_merge *merge;
	/* NULL: nothing that is wanted needs it. */
	struct nt_timeline *timeline;
	struct nt_rollup *rollup;
	struct nt_rx_charges *charges;
	bool has_flows; /* stretches of packets may come */
	struct nt_socket_users users; /* if charges are summed up */
	struct nt_rx_cost *unpaid; /* costs of sockets that nobody had used yet */
	size_t n_unpaid, unpaid_size;
	struct nt_rx_rest rest; /* rows of flows that came after many others */
	struct nt_sample_owners *owners; /* of stack samples */
	struct nt_flow_times flows; /* if has_estimates */
	bool has_estimates;
	size_t next_flow; /* of its sums */
	struct nt_flow_hash hashes[2]; /* of flows, if has_hashes */
	bool has_hashes;
	struct nt_rows_want want;
	bool is_view; /* and not all of the recording */
	struct nt_view_time time; /* of the view; else of all of the recording */
	uint32_t sources; /* NT_SOURCE_BIT of each that something must be read of */
	struct nt_rows_window window;
	unsigned int step;
	/* Of NT_ROWS_FOLLOWED: */
	uint64_t known_ns; /* nt_rows_known_until */
	uint64_t n_of_round; /* events */
	bool is_behind; /* nt_rows_is_behind */
	bool is_begun; /* the session's row has been made */
	bool pass_is_over; /* all blocks of the whole tape have been read */
	size_t learned_from, learned_to; /* chunks: identities of those before, and behind, are not known */
	uint64_t learned_until_ns; /* no record that ended by then is of a later chunk; 0: to be asked */
	size_t told_chunk, told_block; /* where the pass was when it began anew: only identities are rows again */
	struct nt_merged held; /* the next event, if it waits until its chunk's identities are known */
	bool holds;
	unsigned int n_steps; /* calls of them */
	bool events_done;
	uint64_t at_ns; /* end of the last record */
	uint64_t seen_lately[32]; /* tasks noted, by id; all ones: none */
	/* Rows made and not given yet; their texts are in the arena. */
	struct nt_row *queue;
	size_t n_queue, next_queue, queue_size;
	struct nt_arena arena;
	struct nt_block_pass pass;
	/* Counts for the last rows. */
	struct nt_rows_counts **counts; /* by CPU, NULL where nothing was */
	uint64_t events, lost, bad_lines;
	uint64_t unfit; /* rows left out: a number that SQL cannot hold */
	uint64_t met; /* tables that something was found for, wanted or not */
};

/* The rows that nt_rows_open opened. */
static inline struct nt_rows *nt_rows_of(struct nt_row_iter *iter)
{
	return (struct nt_rows *)iter;
}

/* Puts the row that `from` makes into the queue, if its table is wanted. */
int nt_rows_push(struct nt_rows *rows, enum nt_table_id table, const void *from);
/* Notes that a row speaks of this task. */
int nt_rows_see(struct nt_rows *rows, uint64_t task);

/* A timeline of the tape, from the window's places on. NULL: out of memory. */
struct nt_timeline *nt_rows_timeline_new(struct nt_rows *rows, const struct nt_timeline_sink *sink);

/* ---- window.c ---- */

/* Finds what must be read. Before the rows' own readers are made. 0, or a negative errno. */
int nt_window_open(struct nt_rows *rows, bool needs_timeline);
void nt_window_release(struct nt_rows *rows);
/* The part of the session that is read, but for what is needed of the time about it. */
uint64_t nt_window_begin(const struct nt_rows *rows);
uint64_t nt_window_end(const struct nt_rows *rows);
/* Whether the row is in the window. Ask if the window leaves any out. */
bool nt_window_has(const struct nt_rows *rows, const struct nt_row *row);
/* A row of uncovered time, in the window or not. */
void nt_window_lost(struct nt_rows *rows, const struct nt_loss_row *loss);
/* This record was fed just now: reading ends, of its CPU or of all, if nothing behind has a part in the window's rows.
 */
void nt_window_fed(struct nt_rows *rows, uint32_t cpu, const union nt_any *record);

/* ---- loose.c ---- */

/* Whether this is loose, or the loss of what is: such are no part of the timeline, but rows themselves. */
static inline bool nt_rows_is_loose(const union nt_any *record)
{
	return nt_kind_is_loose(record->record.kind == NT_LOSS ? record->as_loss.lost_kind : record->record.kind);
}
int nt_rows_push_loose(struct nt_rows *rows, uint32_t cpu, const union nt_any *record);
/* A record that is a row as it comes; nothing where its kind has no such table. */
int nt_rows_push_record(struct nt_rows *rows, const struct nt_cpu_record *from);
/* A stack sample whose owner has been found (nt_owned_fn; arg is the rows). */
int nt_rows_push_owned(void *arg, uint32_t cpu, const struct nt_stack_sample *sample, enum nt_owner owner);
/* One of net_rx whose flow has been found; arg is the rows. */
int nt_rows_push_received(void *arg, const struct nt_rx_sample *sample);

/* ---- rx_rows.c ---- */

/* Whether the recording says whose packets were received. */
bool nt_rx_rows_has_flows(const struct nt_rows *rows);
/* 0 or -ENOMEM. */
int nt_rx_rows_new(struct nt_rows *rows);
void nt_rx_rows_free(struct nt_rows *rows);
/* The timeline's rx_part, and the rollup's rx_cost; arg is the rows. */
int nt_rx_rows_part(void *arg, const struct nt_rx_part *part);
int nt_rx_rows_cost(void *arg, const struct nt_rx_cost *cost);
/* A stack sample of net_rx: becomes a row when it is known whose packets were received (rx_charge.h). */
int nt_rx_rows_sample(struct nt_rows *rows, uint32_t cpu, const struct nt_stack_sample *sample);
/* The user of a socket may pay for the packets that it receives. */
int nt_rx_rows_op(struct nt_rows *rows, const struct nt_op_row *op);
/* All operations are known, and all costs have been given. */
int nt_rx_rows_finish(struct nt_rows *rows);
/* The same of what ended by then, as far as operations are known: whoever has used a socket by now may pay. */
int nt_rx_rows_known(struct nt_rows *rows, uint64_t until_ns);

/* ---- elsewhere.c ---- */

/* The timeline's irq_part, and the rollup's elsewhere_cost; arg is the rows. Need the rollup, as the next. */
int nt_elsewhere_irq_part(void *arg, const struct nt_irq_part *part);
int nt_elsewhere_cost(void *arg, const struct nt_elsewhere_cost *cost);
int nt_elsewhere_timer(struct nt_rows *rows, uint32_t cpu, const struct nt_net_timer *timer);

/* ---- flow_rows.c ---- */

/* Before the first record. 0 or -ENOMEM. */
int nt_flow_rows_open(struct nt_rows *rows);
/* The sketch, one of its cells, and a flow's count: in this order, of one time. */
int nt_flow_rows_sketch(struct nt_rows *rows, uint32_t cpu, const union nt_any *record);
int nt_flow_rows_cell(struct nt_rows *rows, uint32_t cpu, const union nt_any *record);
int nt_flow_rows_count(struct nt_rows *rows, const struct nt_flow_count *count);
/* When all have come: the next sum. One by one, since there may be very many. 0; 1: there are no more; or an error. */
int nt_flow_rows_step(struct nt_rows *rows);

/* ---- learned.c ---- */

/* That knows nothing yet. NULL: out of memory. */
struct nt_learned *nt_learned_begin(const struct nt_tape *tape);
/* Learns the block that was loaded, of identities or a clock. */
int nt_learned_block(struct nt_learned *learned, struct nt_block_pass *pass, const struct nt_block_ref *block);
/*
 * Moves to the next block that `wanted` (a set of 1 << type) holds and loads it into pass->raw. 0; 1: no more, and the
 * next call begins again; -EAGAIN: not yet, of a tape that is followed; or a negative errno. Damaged blocks are stepped
 * over: nt_tape_load notes them.
 */
int nt_block_pass_next(struct nt_block_pass *pass, unsigned int wanted, const struct nt_block_ref **out);
void nt_block_pass_release(struct nt_block_pass *pass);
/* Calls visit with each identity of the block that was loaded. */
int nt_block_pass_identities(struct nt_block_pass *pass, int (*visit)(void *arg, const union nt_any *record),
			     void *arg);

/* ---- followed.c: steps, as in rows.c ---- */

/* The session, at first; then the rows of the blocks that have come since the last time, learned as they come. */
int nt_rows_step_new(struct nt_rows *rows);
/* The events that there are, or some seconds of them. 1: that is all for now. */
int nt_rows_step_events_so_far(struct nt_rows *rows);
/* The sums that are known by now, and how many records were read for them. */
int nt_rows_step_known(struct nt_rows *rows);
/* -EAGAIN, and the next step is that of new blocks, or if there is more at hand of events; 1: the tape has its end. */
int nt_rows_step_wait(struct nt_rows *rows);
/* All is known. */
int nt_rows_step_ended(struct nt_rows *rows);

/* ---- rows.c ---- */

/* One record or gap into the timeline, or past it. */
int nt_rows_take_event(struct nt_rows *rows, const struct nt_merged *merged);
/* The row of the session; those of what it says about itself; those of the counts of records. */
int nt_rows_push_session(struct nt_rows *rows);
int nt_rows_push_meta(struct nt_rows *rows);
int nt_rows_push_counts(struct nt_rows *rows);

/* ---- blocks.c ---- */

/* The rows of one block that holds no events; only of identities and clocks; only of snapshots. 1: there are no more.
 */
int nt_rows_step_block(struct nt_rows *rows);
int nt_rows_step_identities(struct nt_rows *rows);
int nt_rows_step_proc_snapshots(struct nt_rows *rows);
/* The rows of the block that was loaded. */
int nt_rows_push_block(struct nt_rows *rows, const struct nt_block_ref *block);
/* Rows for the idle task, and for tasks that events speak of and no identity is known of. */
int nt_rows_push_unknown(struct nt_rows *rows);
