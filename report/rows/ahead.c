// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead.c - see ahead.h. Rows go over in batches, which are copies: a row of rows.h is good until the next one only.
 * The batches form a ring. The thread fills those that the reader has given back; a reader without a thread fills one
 * when it needs one. A batch that was stopped in its making is given as it is, and the next one goes on behind it.
 */
#include "report/rows/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	pthread_t thread;
	atomic_bool stop; /* the thread is to end as soon as it can */
	pthread_mutex_t lock; /* of the two below it */
	pthread_cond_t changed;
	uint64_t filled, emptied; /* batches so far */
	/* The reader's own: */
	bool has_thread; /* one that must be joined */
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

/* A batch to fill; NULL: nobody wants more. */
static struct batch *wait_empty(struct nt_ahead *ahead)
{
	struct batch *batch;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop && ahead->filled - ahead->emptied == BATCHES)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	batch = ahead->stop ? NULL : &ahead->batches[ahead->filled % BATCHES];
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

/* Asked while rows are made, by the thread or by the reader. */
static bool is_stopped(void *arg)
{
	struct nt_ahead *ahead = arg;

	if (ahead->has_thread)
		return atomic_load_explicit(&ahead->stop, memory_order_relaxed);
	ahead->is_cut = ahead->config.is_stopped && ahead->config.is_stopped(ahead->config.arg);
	return ahead->is_cut;
}

/* With all signals blocked: handlers run in the thread that works on what they clean up. */
static void start(struct nt_ahead *ahead)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ahead->has_thread = true; /* before it looks */
	if (pthread_create(&ahead->thread, NULL, make_rows, ahead))
		ahead->has_thread = false;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_thread(struct nt_ahead *ahead)
{
	if (!ahead->has_thread)
		return;
	atomic_store(&ahead->stop, true);
	pthread_mutex_lock(&ahead->lock);
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	pthread_join(ahead->thread, NULL);
	ahead->has_thread = false;
	atomic_store(&ahead->stop, false);
}

void nt_ahead_pause(struct nt_ahead_turn *turn)
{
	if (turn->works)
		end_thread(turn->works);
	turn->works = NULL;
}

static void take_turn(struct nt_ahead *ahead)
{
	struct nt_ahead_turn *turn = ahead->config.turn;

	if (turn && turn->works != ahead) {
		nt_ahead_pause(turn);
		turn->works = ahead;
	}
	if (!ahead->has_thread)
		start(ahead);
}

static void init_lock(struct nt_ahead *ahead)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&ahead->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&ahead->lock, NULL);
}

int nt_ahead_open(struct nt_ahead **out, struct nt_rows *rows, const struct nt_ahead_config *config)
{
	struct nt_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return -ENOMEM;
	ahead->rows = rows;
	ahead->config = *config;
	init_lock(ahead);
	nt_rows_ask(rows, is_stopped, ahead);
	take_turn(ahead);
	*out = ahead;
	return 0;
}

void nt_ahead_close(struct nt_ahead *ahead)
{
	if (!ahead)
		return;
	end_thread(ahead);
	if (ahead->config.turn && ahead->config.turn->works == ahead)
		ahead->config.turn->works = NULL;
	nt_rows_ask(ahead->rows, NULL, NULL);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	for (size_t i = 0; i < BATCHES; i++)
		nt_arena_release(&ahead->batches[i].texts);
	free(ahead);
}

static bool is_filled(struct nt_ahead *ahead)
{
	bool is;

	pthread_mutex_lock(&ahead->lock);
	is = ahead->filled != ahead->emptied;
	pthread_mutex_unlock(&ahead->lock);
	return is;
}

/* Until there is a batch, or for a moment. 0, or -ECANCELED. */
static int wait_filled(struct nt_ahead *ahead)
{
	struct timespec until;
	int error = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&ahead->lock);
	while (ahead->filled == ahead->emptied && !error)
		error = pthread_cond_timedwait(&ahead->changed, &ahead->lock, &until);
	pthread_mutex_unlock(&ahead->lock);
	return error && ahead->config.is_stopped && ahead->config.is_stopped(ahead->config.arg) ? -ECANCELED : 0;
}

/* The reader itself makes the next batch. 0, or -ECANCELED. */
static int fill_one(struct nt_ahead *ahead)
{
	ahead->is_cut = false;
	fill(&ahead->batches[ahead->filled % BATCHES], ahead->rows);
	ahead->filled++;
	return ahead->is_cut ? -ECANCELED : 0;
}

/* Another batch in place of the one that was read. 0, or -ECANCELED. */
static int turn_over(struct nt_ahead *ahead)
{
	int error = 0;

	if (ahead->batch)
		count_one_more(ahead, &ahead->emptied);
	ahead->batch = NULL;
	while (!is_filled(ahead) && !error) {
		take_turn(ahead);
		error = ahead->has_thread ? wait_filled(ahead) : fill_one(ahead);
	}
	if (error)
		return error;
	ahead->batch = &ahead->batches[ahead->emptied % BATCHES];
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
