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
	int end; /* what follows its rows: 0: another batch; else as nt_rows_next */
	unsigned int permille;
};

struct nt_ahead {
	struct nt_rows *rows;
	struct nt_ahead_config config;
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

static void fill(struct batch *batch, struct nt_rows *rows)
{
	const struct nt_row *row;
	int error = 0;

	batch->n = 0;
	nt_arena_reset(&batch->texts);
	while (batch->n < BATCH_ROWS && !error) {
		error = nt_rows_next(rows, &row);
		if (!error)
			error = copy_row(batch, row);
	}
	batch->end = error == -ECANCELED ? 0 : error;
	batch->permille = nt_rows_progress(rows);
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

/* Asked while rows are made, by the thread or by the reader. */
static bool is_stopped(void *arg)
{
	struct nt_ahead *ahead = arg;

	if (ahead->handover.has_thread)
		return atomic_load_explicit(&ahead->handover.stop, memory_order_relaxed);
	ahead->is_cut = ahead->config.is_stopped && ahead->config.is_stopped(ahead->config.arg);
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
	struct nt_ahead_turn *turn = ahead->config.turn;

	if (turn && turn->works != ahead) {
		nt_ahead_pause(turn);
		turn->works = ahead;
	}
	if (!ahead->handover.has_thread)
		nt_handover_start(&ahead->handover, 0, make_rows, ahead);
}

int nt_ahead_open(struct nt_ahead **out, struct nt_rows *rows, const struct nt_ahead_config *config)
{
	struct nt_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return -ENOMEM;
	ahead->rows = rows;
	ahead->config = *config;
	nt_handover_init(&ahead->handover, BATCHES);
	nt_rows_ask(rows, is_stopped, ahead);
	take_turn(ahead);
	*out = ahead;
	return 0;
}

void nt_ahead_close(struct nt_ahead *ahead)
{
	if (!ahead)
		return;
	nt_handover_stop(&ahead->handover);
	if (ahead->config.turn && ahead->config.turn->works == ahead)
		ahead->config.turn->works = NULL;
	nt_rows_ask(ahead->rows, NULL, NULL);
	nt_handover_release(&ahead->handover);
	for (size_t i = 0; i < BATCHES; i++)
		nt_arena_release(&ahead->batches[i].texts);
	free(ahead);
}

/* Until there is a batch, or for a moment. 0, or -ECANCELED. */
static int wait_filled(struct nt_ahead *ahead)
{
	if (nt_handover_to_empty(&ahead->handover, WAIT_NS) >= 0)
		return 0;
	return ahead->config.is_stopped && ahead->config.is_stopped(ahead->config.arg) ? -ECANCELED : 0;
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

int nt_ahead_next(struct nt_ahead *ahead, const struct nt_row **out)
{
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

unsigned int nt_ahead_progress(const struct nt_ahead *ahead)
{
	return ahead->batch ? ahead->batch->permille : 0;
}
