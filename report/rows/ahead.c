// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead.c - see ahead.h. Rows go over in batches, which are copies: a row of rows.h is good until the next one only.
 * The batches form a ring. The thread fills those that the reader has given back.
 */
#include "report/rows/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 4
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
	pthread_t thread;
	pthread_mutex_t lock; /* of the three below it */
	pthread_cond_t changed;
	uint64_t filled, emptied; /* batches so far */
	bool stop;
	/* The reader's own: */
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

	batch->n = 0;
	batch->end = 0;
	nt_arena_reset(&batch->texts);
	while (batch->n < BATCH_ROWS && !batch->end) {
		batch->end = nt_rows_next(rows, &row);
		if (!batch->end)
			batch->end = copy_row(batch, row);
	}
	batch->permille = nt_rows_progress(rows);
}

/* A batch to fill; NULL: nobody wants more. */
static struct batch *wait_empty(struct nt_ahead *ahead)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop && ahead->filled - ahead->emptied == BATCHES)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	if (!ahead->stop)
		batch = &ahead->batches[ahead->filled % BATCHES];
	pthread_mutex_unlock(&ahead->lock);
	return batch;
}

static void count_one_more(struct nt_ahead *ahead, uint64_t *batches)
{
	pthread_mutex_lock(&ahead->lock);
	++*batches;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

static void *make_rows(void *arg)
{
	struct nt_ahead *ahead = arg;
	struct batch *batch;
	int end = 0;

	while (!end && (batch = wait_empty(ahead))) {
		fill(batch, ahead->rows);
		end = batch->end;
		count_one_more(ahead, &ahead->filled);
	}
	return NULL;
}

/* ---- its reader ---- */

/* With all signals blocked: handlers run in the thread that works on what they clean up. */
static int start(struct nt_ahead *ahead)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&ahead->thread, NULL, make_rows, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

int nt_ahead_open(struct nt_ahead **out, struct nt_rows *rows)
{
	struct nt_ahead *ahead = calloc(1, sizeof(*ahead));
	int error;

	if (!ahead)
		return -ENOMEM;
	ahead->rows = rows;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	error = start(ahead);
	if (error)
		free(ahead);
	else
		*out = ahead;
	return error;
}

void nt_ahead_close(struct nt_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	pthread_join(ahead->thread, NULL);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	for (size_t i = 0; i < BATCHES; i++)
		nt_arena_release(&ahead->batches[i].texts);
	free(ahead);
}

static struct batch *wait_filled(struct nt_ahead *ahead)
{
	struct batch *batch;

	pthread_mutex_lock(&ahead->lock);
	while (ahead->filled == ahead->emptied)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	batch = &ahead->batches[ahead->emptied % BATCHES];
	pthread_mutex_unlock(&ahead->lock);
	return batch;
}

int nt_ahead_next(struct nt_ahead *ahead, const struct nt_row **out)
{
	while (!ahead->batch || ahead->next_row == ahead->batch->n) {
		if (ahead->batch && ahead->batch->end)
			return ahead->batch->end;
		if (ahead->batch)
			count_one_more(ahead, &ahead->emptied);
		ahead->batch = wait_filled(ahead);
		ahead->next_row = 0;
	}
	*out = &ahead->batch->rows[ahead->next_row++];
	return 0;
}

unsigned int nt_ahead_progress(const struct nt_ahead *ahead)
{
	return ahead->batch ? ahead->batch->permille : 0;
}
