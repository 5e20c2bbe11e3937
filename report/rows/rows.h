/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows.h - a tape as rows of all tables (tables.h), pulled one by one. Knows no SQLite: an import and a virtual table
 * get the same rows. Prints nothing. Memory: for the CPUs, and some bytes for each identity; not for the length of the
 * tape.
 *
 * Rows of one CPU come in time order in cpu_slice and sched_slice; each table's rows come mixed with the others'. The
 * row of the table session comes last, and so do the threads that are only referred to.
 *
 * Only rows of the tables that are wanted are made, and only what they need is read: identities and snapshots cost
 * little, loose records cost a pass over the events, and whatever has an owner or is a sum costs the timeline as well.
 */
#pragma once

#include "report/rows/row_iter.h"
#include "report/rows/view.h"
#include "report/symbols/user_names.h"
#include "report/tape/tape.h"

/*
 * The identities and clocks of a whole tape, which rows of events need for names. Learned once, they serve any number
 * of iterators of the tape, which may be read in turn but not at once; they must outlive these. Problems found on the
 * way are added to the tape. 0, or a negative errno.
 */
struct nt_learned;
int nt_learned_new(struct nt_learned **out, struct nt_tape *tape);
void nt_learned_free(struct nt_learned *learned);

enum nt_rows_order {
	NT_ROWS_EVENTS_FIRST, /* what a database is made of */
	NT_ROWS_IDENTITIES_FIRST, /* identities and clocks, snapshots, events: for who needs names at once */
	/*
	 * Of a tape that is followed (follow.h), as it grows: what has come, then -EAGAIN; after the next look at the
	 * tape the rows go on. Where that is much, -EAGAIN comes between (nt_rows_is_behind). An identity is a row each
	 * time that more is known of it. Sums are those up to nt_rows_known_until, and some beyond; record_count has
	 * what came since the last time. The row of the session comes first, as with `head`. When the tape has its end,
	 * so have the rows. Packets may count a little later than their time. All of the tape; `learned` is NULL.
	 */
	NT_ROWS_FOLLOWED
};

struct nt_rows_want {
	uint64_t tables; /* NT_TABLE_BIT of each */
	enum nt_rows_order order;
	bool head; /* of the session's row only what is known before anything is read: its counts are 0 */
	/*
	 * The rows of a view of the recording, as if nothing else had been recorded; docs/sql-schema.md says which rows
	 * those are. Only blocks that they need are read.
	 */
	struct nt_view view;
	bool buckets_of_recording; /* sums are in the recording's buckets, cut at the edges of the view */
	bool all_ops; /* also operations that only overlap the view: this costs all of the tape */
	/* No view: of the recording's rows those that begin in the view's time, `from_ns <= ts < to_ns`, whole. */
	bool begun_within;
	/*
	 * For who needs no more names than the window's rows do: `thread` has only threads with a name, and `frame`
	 * only stacks that were sampled in the window. So neither needs all of the tape.
	 */
	bool names_within;
	uint64_t events_a_round; /* NT_ROWS_FOLLOWED: then comes -EAGAIN; 0: a million */
	const struct nt_cgroup_names *cgroup_names; /* must outlive the rows; NULL: nobody has named any */
	struct nt_learned *learned; /* of this tape; NULL: nt_rows_open learns for itself */
	/*
	 * Asked now and then, also while no row comes. Where it says true, the next row is -ECANCELED, and the one
	 * after that goes on from there. NULL: nobody is asked.
	 */
	bool (*is_stopped)(void *arg);
	void *stopped_arg;
	/*
	 * At the end it gets the tables that are known to have no rows; not those of which rows were left out, because
	 * SQL cannot hold their numbers. Or NULL.
	 */
	uint64_t *empty;
};

/*
 * `session_id` is what stands in the rows' first column. `names` knows the functions of programs; NULL: nobody does.
 * It and the tape must outlive the rows; problems found on the way are added to the tape. *want is copied. 0, or a
 * negative errno as in schema/block.h; then *out is NULL. So are the errors of the rows.
 */
int nt_rows_open(struct nt_row_iter **out, struct nt_tape *tape, struct nt_user_names *names, int64_t session_id,
		 const struct nt_rows_want *want);

/*
 * Of NT_ROWS_FOLLOWED, after -EAGAIN: the edge of a bucket up to which all sums have been given, of all CPUs. But of
 * operations, one may turn out later to have ended before without a record, and one may lack `lower_bound` where a loss
 * was told of after it. At the end of the rows: the end of the session. 0: of none yet.
 */
uint64_t nt_rows_known_until(const struct nt_row_iter *iter);

/*
 * The same: how many identities it knows; and forgets all that only chunks tell of whose records ended before that time
 * (not after nt_rows_known_until), and who used a socket before that and not since. Those that are left become rows
 * once more, before any other row. 1; 0: nothing was forgotten; or a negative errno.
 *
 * Times and counts go on as before. But who pays for what sockets receive is told by what is left: of a socket's users,
 * those since then, or if there are none the process that holds it; and of sockets that are found by their address,
 * those that a record has spoken of since. An operation that began before and ends without a record may have a task or
 * a socket without a row.
 */
size_t nt_rows_n_identities(const struct nt_row_iter *iter);
int nt_rows_forget(struct nt_row_iter *iter, uint64_t before_ns);

/* The same: whether there is more at hand, so that the rows go on without a look. */
bool nt_rows_is_behind(const struct nt_row_iter *iter);

/* The session's id on tapes as 32 hexadecimal digits, zero-terminated. */
void nt_session_uuid(const struct nt_tape *tape, char uuid[33]);
