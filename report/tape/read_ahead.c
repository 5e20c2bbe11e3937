// SPDX-License-Identifier: GPL-2.0-only
/*
 * read_ahead.c - see read_ahead.h. A queue of streams of which a batch is to be filled, and workers that fill them.
 */
#include "report/tape/read_ahead.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "report/tape/follow.h"
#include "report/util/array.h"
#include "report/util/handover.h"

#define ALL_BATCHES_BYTES (2u << 20)
#define BATCH_LEAST 4096 /* bytes, some hundred items: each batch costs the taking of locks */
#define BATCH_MOST (128u << 10)
#define TURNS_ALONE 2 /* batches of each CPU, or as many of some, that the caller fills before there are workers */

/* ---- filling ---- */

static void fill(const struct nt_read_ahead *ahead, struct nt_stream *stream, struct nt_item_batch *batch)
{
	batch->size = 0;
	do {
		union nt_item *item = (union nt_item *)(batch->bytes + batch->size);

		batch->status = nt_cpu_reader_next(stream->reader, item);
		batch->size += batch->status ? 0 : nt_item_sizes[item->record.kind];
	} while (!batch->status && batch->size + sizeof(union nt_item) <= ahead->batch_size);
	batch->unknown = stream->reader->unknown;
}

/* A stream joins when half of its batches are free. So workers are woken for several. */
static void join_queue(struct nt_read_ahead *ahead, struct nt_stream *stream, unsigned int n_full)
{
	if (stream->ended || stream->queued || stream->being_filled || stream->n_filled - stream->n_had > n_full)
		return;
	TAILQ_INSERT_TAIL(&ahead->queue, stream, of_queue);
	stream->queued = true;
	pthread_cond_signal(&ahead->queue_grew);
}

/* Takes a stream from the queue and fills a batch of it. The lock is held before and after, but not meanwhile. */
static void fill_queued(struct nt_read_ahead *ahead, struct nt_stream *stream)
{
	struct nt_item_batch *batch = &stream->batches[stream->n_filled % NT_BATCHES];

	TAILQ_REMOVE(&ahead->queue, stream, of_queue);
	stream->queued = false;
	stream->being_filled = true;
	pthread_mutex_unlock(&ahead->lock);
	fill(ahead, stream, batch);
	pthread_mutex_lock(&ahead->lock);
	stream->being_filled = false;
	if (batch->status && batch->status != -EAGAIN)
		stream->ended = true;
	stream->n_filled++;
	/* Else nobody need try before somebody asks again. */
	if (batch->status != -EAGAIN)
		join_queue(ahead, stream, NT_BATCHES - 2);
}

static void *work(void *arg)
{
	struct nt_read_ahead *ahead = arg;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop) {
		if (TAILQ_EMPTY(&ahead->queue)) {
			pthread_cond_wait(&ahead->queue_grew, &ahead->lock);
			continue;
		}
		fill_queued(ahead, TAILQ_FIRST(&ahead->queue));
		pthread_cond_signal(&ahead->was_filled);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* The CPUs that this process may use, but the one that the caller is on. */
static size_t count_workers(size_t n_streams)
{
	cpu_set_t cpus;
	/* It fails on hosts of more CPUs than the set has room for. */
	size_t n = sched_getaffinity(0, sizeof(cpus), &cpus) ? NT_MAX_WORKERS : (size_t)CPU_COUNT(&cpus) - 1;

	if (n > n_streams)
		n = n_streams;
	return n < NT_MAX_WORKERS ? n : NT_MAX_WORKERS;
}

/* Starts as many as there can be. */
static void start_workers(struct nt_read_ahead *ahead)
{
	for (size_t i = 0, n = count_workers(ahead->n_streams); i < n; i++)
		ahead->n_workers += !nt_thread_start(&ahead->workers[ahead->n_workers], 0, work, ahead);
}

/* Waits for a batch of the stream. Meanwhile it fills what it can: this stream's, else another's. */
static void await_batch(struct nt_read_ahead *ahead, struct nt_stream *stream)
{
	while (stream->n_had == stream->n_filled) {
		if (stream->queued)
			fill_queued(ahead, stream);
		else if (!TAILQ_EMPTY(&ahead->queue))
			fill_queued(ahead, TAILQ_FIRST(&ahead->queue));
		else
			pthread_cond_wait(&ahead->was_filled, &ahead->lock);
	}
}

int nt_read_ahead_turn(struct nt_read_ahead *ahead, struct nt_stream *stream, const struct nt_item_batch **out)
{
	const bool is_dry = stream->used && stream->used->status == -EAGAIN;

	if (stream->used && stream->used->status && !is_dry)
		return stream->used->status;
	/* Nobody may read while a tape grows that is followed. */
	if (ahead->n_turns++ == TURNS_ALONE * ahead->n_streams && !ahead->is_followed)
		start_workers(ahead);
	pthread_mutex_lock(&ahead->lock);
	if (is_dry)
		join_queue(ahead, stream, 0);
	await_batch(ahead, stream);
	stream->used = &stream->batches[stream->n_had++ % NT_BATCHES];
	if (!stream->used->status)
		join_queue(ahead, stream, NT_BATCHES / 2 - 1);
	pthread_mutex_unlock(&ahead->lock);
	*out = stream->used;
	return stream->used->size ? 0 : stream->used->status;
}

void nt_read_ahead_stop(struct nt_read_ahead *ahead, struct nt_stream *stream)
{
	pthread_mutex_lock(&ahead->lock);
	stream->ended = true;
	if (stream->queued)
		TAILQ_REMOVE(&ahead->queue, stream, of_queue);
	stream->queued = false;
	pthread_mutex_unlock(&ahead->lock);
}

/* ---- beginning and end ---- */

static bool is_read(const struct nt_tape *tape, const struct nt_place *places, uint32_t cpu)
{
	if (places && places[cpu].leave_out)
		return false;
	/* Blocks may come of any CPU. */
	if (nt_tape_is_followed(tape) && tape->present[cpu])
		return true;
	return NT_ANY(tape->n_chunks, i, nt_tape_chunk_has(&tape->chunks[i], cpu));
}

static size_t count_cpus(const struct nt_tape *tape, const struct nt_place *places)
{
	size_t n = 0;

	for (uint32_t cpu = 0; cpu < tape->n_cpus; cpu++)
		n += is_read(tape, places, cpu);
	return n;
}

static size_t choose_batch_size(size_t n_streams)
{
	size_t size = ALL_BATCHES_BYTES / NT_BATCHES / (n_streams + 1);

	if (size < BATCH_LEAST)
		return BATCH_LEAST;
	return size < BATCH_MOST ? size : BATCH_MOST;
}

/* False: out of memory. */
static bool add_stream(struct nt_read_ahead *ahead, struct nt_tape *tape, const struct nt_place *places, uint32_t cpu)
{
	struct nt_stream *stream = &ahead->streams[ahead->n_streams++];

	stream->cpu = cpu;
	stream->reader = nt_cpu_reader_new(tape, cpu);
	if (!stream->reader)
		return false;
	if (places)
		nt_cpu_reader_begin_at(stream->reader, &places[cpu]);
	for (unsigned int i = 0; i < NT_BATCHES; i++) {
		stream->batches[i].bytes = malloc(ahead->batch_size);
		if (!stream->batches[i].bytes)
			return false;
	}
	join_queue(ahead, stream, 0);
	return true;
}

struct nt_read_ahead *nt_read_ahead_new(struct nt_tape *tape, const struct nt_place *places)
{
	struct nt_read_ahead *ahead = calloc(1, sizeof(*ahead));
	size_t n = count_cpus(tape, places);

	if (!ahead)
		return NULL;
	TAILQ_INIT(&ahead->queue);
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->queue_grew, NULL);
	pthread_cond_init(&ahead->was_filled, NULL);
	ahead->batch_size = choose_batch_size(n);
	ahead->is_followed = nt_tape_is_followed(tape);
	ahead->streams = calloc(n + 1, sizeof(*ahead->streams));
	if (!ahead->streams)
		goto no_memory;
	for (uint32_t cpu = 0; cpu < tape->n_cpus; cpu++) {
		if (is_read(tape, places, cpu) && !add_stream(ahead, tape, places, cpu))
			goto no_memory;
	}
	return ahead;
no_memory:
	nt_read_ahead_free(ahead);
	return NULL;
}

void nt_read_ahead_free(struct nt_read_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->queue_grew);
	pthread_mutex_unlock(&ahead->lock);
	for (size_t i = 0; i < ahead->n_workers; i++)
		pthread_join(ahead->workers[i], NULL);
	for (size_t i = 0; i < ahead->n_streams; i++) {
		nt_cpu_reader_free(ahead->streams[i].reader);
		for (unsigned int k = 0; k < NT_BATCHES; k++)
			free(ahead->streams[i].batches[k].bytes);
	}
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->queue_grew);
	pthread_cond_destroy(&ahead->was_filled);
	free(ahead->streams);
	free(ahead);
}
