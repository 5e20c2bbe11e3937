// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead.c - see ahead.h. Rows go over in batches, which are copies: a row of rows.h is good until the next one only.
 * The batches form a ring. The thread fills those that the reader has given back; a reader without a thread fills one
 * when it needs one. A batch that was stopped in its making is given as it is, and the next one goes on behind it.
 */
#include "report/rows/ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/handover.h"

#define BATCHES 4
#define WAIT_NS 20000000 /* from question to question whether to stop */
#define BATCH_ROWS 512 /* what the reader works through stays in the second-level cache */

struct batch {
	struct nt_row rows[BATCH_ROWS];
	size_t n;
	struct nt_arena texts; /* of these rows */
	int end; /* what follows its rows: 0: another batch; else as nt_row_next */
	unsigned int permille;
};

struct nt_ahead {
	struct nt_row_iter iter;
	struct nt_row_iter *rows;
	struct nt_ahead_turn *turn; /* or NULL */
	bool (*is_stopped)(void *arg); /* the reader's; or NULL */
	void *stopped_arg;
	struct nt_handover handover;
	/* The reader's own: */
	bool is_cut; /* its own making of rows was stopped */
	struct batch *batch; /* that it reads; NULL: none */
	size_t next_row;
	struct batch batches[BATCHES];
};

/* ---- the thread ---- */

static int copy_row(struct batch *batch, const struct nt_row *from)
{
	struct nt_row *row = &batch->rows[batch->n];

	row->table = from->table;
	row->n = from->n;
	memcpy(row->values, from->values, from->n * sizeof(*from->values));
	if (nt_values_own(row->values, row->n, &batch->texts))
		return -ENOMEM;
	batch->n++;
	return 0;
}

static void fill(struct batch *batch, struct nt_row_iter *rows)
{
	const struct nt_row *row;
	int error = 0;

	batch->n = 0;
	nt_arena_reset(&batch->texts);
	while (batch->n < BATCH_ROWS && !error) {
		error = nt_row_next(rows, &row);
		if (!error)
			error = copy_row(batch, row);
	}
	batch->end = error == -ECANCELED ? 0 : error;
	batch->permille = nt_row_progress(rows);
}

static void *make_rows(void *arg)
{
	struct nt_ahead *ahead = arg;
	int place, end = 0;

	while (!end && (place = nt_handover_to_fill(&ahead->handover)) >= 0) {
		fill(&ahead->batches[place], ahead->rows);
		end = ahead->batches[place].end;
		nt_handover_filled(&ahead->handover);
	}
	return NULL;
}

/* ---- its reader ---- */

static bool is_reader_stopped(const struct nt_ahead *ahead)
{
	return ahead->is_stopped && ahead->is_stopped(ahead->stopped_arg);
}

/* Asked while rows are made, by the thread or by the reader. */
static bool is_stopped(void *arg)
{
	struct nt_ahead *ahead = arg;

	if (ahead->handover.has_thread)
		return atomic_load_explicit(&ahead->handover.stop, memory_order_relaxed);
	ahead->is_cut = is_reader_stopped(ahead);
	return ahead->is_cut;
}

void nt_ahead_pause(struct nt_ahead_turn *turn)
{
	if (turn->works)
		nt_handover_stop(&turn->works->handover);
	turn->works = NULL;
}

static void take_turn(struct nt_ahead *ahead)
{
	struct nt_ahead_turn *turn = ahead->turn;

	if (turn && turn->works != ahead) {
		nt_ahead_pause(turn);
		turn->works = ahead;
	}
	if (!ahead->handover.has_thread)
		nt_handover_start(&ahead->handover, 0, make_rows, ahead);
}

/* Until there is a batch, or for a moment. 0, or -ECANCELED. */
static int wait_filled(struct nt_ahead *ahead)
{
	if (nt_handover_to_empty(&ahead->handover, WAIT_NS) >= 0)
		return 0;
	return is_reader_stopped(ahead) ? -ECANCELED : 0;
}

/* The reader itself makes the next batch. 0, or -ECANCELED. */
static int fill_one(struct nt_ahead *ahead)
{
	ahead->is_cut = false;
	fill(&ahead->batches[nt_handover_to_fill(&ahead->handover)], ahead->rows);
	nt_handover_filled(&ahead->handover);
	return ahead->is_cut ? -ECANCELED : 0;
}

/* Another batch in place of the one that was read. 0, or -ECANCELED. */
static int turn_over(struct nt_ahead *ahead)
{
	int place, error = 0;

	if (ahead->batch)
		nt_handover_emptied(&ahead->handover);
	ahead->batch = NULL;
	while ((place = nt_handover_to_empty(&ahead->handover, 0)) < 0 && !error) {
		take_turn(ahead);
		error = ahead->handover.has_thread ? wait_filled(ahead) : fill_one(ahead);
	}
	if (error)
		return error;
	ahead->batch = &ahead->batches[place];
	ahead->next_row = 0;
	return 0;
}

static int next(struct nt_row_iter *iter, const struct nt_row **out)
{
	struct nt_ahead *ahead = (struct nt_ahead *)iter;

	while (!ahead->batch || ahead->next_row == ahead->batch->n) {
		int error = ahead->batch ? ahead->batch->end : 0;

		if (!error)
			error = turn_over(ahead);
		if (error)
			return error;
	}
	*out = &ahead->batch->rows[ahead->next_row++];
	return 0;
}

/* Of the rows that the reader has. */
static unsigned int progress(const struct nt_row_iter *iter)
{
	const struct nt_ahead *ahead = (const struct nt_ahead *)iter;

	return ahead->batch ? ahead->batch->permille : 0;
}

static void close_ahead(struct nt_row_iter *iter)
{
	struct nt_ahead *ahead = (struct nt_ahead *)iter;

	nt_handover_stop(&ahead->handover);
	if (ahead->turn && ahead->turn->works == ahead)
		ahead->turn->works = NULL;
	nt_row_close(ahead->rows);
	nt_handover_release(&ahead->handover);
	for (size_t i = 0; i < BATCHES; i++)
		nt_arena_release(&ahead->batches[i].texts);
	free(ahead);
}

int nt_ahead_open(struct nt_row_iter **out, struct nt_ahead_turn *turn, struct nt_tape *tape,
		  struct nt_user_names *names, int64_t session_id, const struct nt_rows_want *want)
{
	struct nt_ahead *ahead = calloc(1, sizeof(*ahead));
	struct nt_rows_want wanted = *want;
	int error;

	*out = NULL;
	if (!ahead)
		return -ENOMEM;
	ahead->iter = (struct nt_row_iter){next, progress, close_ahead};
	ahead->turn = turn;
	ahead->is_stopped = want->is_stopped;
	ahead->stopped_arg = want->stopped_arg;
	wanted.is_stopped = is_stopped;
	wanted.stopped_arg = ahead;
	nt_handover_init(&ahead->handover, BATCHES);
	if (turn)
		nt_ahead_pause(turn);
	error = nt_rows_open(&ahead->rows, tape, names, session_id, &wanted);
	if (error) {
		close_ahead(&ahead->iter);
		return error;
	}
	take_turn(ahead);
	*out = &ahead->iter;
	return 0;
}
