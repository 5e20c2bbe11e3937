/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read_ahead.h - the items of all CPUs of a tape (cpu_reader.h), read by other threads before they are asked for.
 *
 * Each CPU has a ring of batches. Workers fill them while the caller uses those that are full. A caller that needs a
 * batch before it is full fills some itself. So one CPU does the same as many, and so does a process that gets no
 * thread; and what comes does not depend on who filled what. The workers begin when the caller has used a few batches:
 * for a short part of a tape they would cost more than they save, and read much that nobody asks for. Memory is for the
 * CPUs: what their readers need, and at most 2 MB for all batches together, or 16 KB for each CPU of many.
 *
 * The functions are for one thread, the tape's owner.
 */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "report/tape/cpu_reader.h"

#define NT_MAX_WORKERS 4 /* more would read faster than one thread can merge */
#define NT_BATCHES 4 /* of a CPU */

struct nt_item_batch {
	uint8_t *bytes; /* items, one behind the other */
	size_t size;
	int status; /* what follows: 0: the next batch; 1: nothing; -EAGAIN: nothing yet; below 0: an error of reading
		     */
	uint64_t unknown; /* records of unknown kinds that were skipped so far */
};

/* The items of one CPU. */
struct nt_stream {
	uint32_t cpu;
	const struct nt_item_batch *used; /* by the caller; NULL: none yet */
	struct nt_item_batch batches[NT_BATCHES];
	struct nt_cpu_reader *reader; /* of whoever fills a batch */
	/* Under the lock: how many batches were filled, and how many of those the caller had, the one in use too. */
	uint64_t n_filled, n_had;
	bool queued, being_filled, ended; /* ended: no more is filled */
	TAILQ_ENTRY(nt_stream) of_queue;
};

TAILQ_HEAD(nt_stream_queue, nt_stream);

struct nt_read_ahead {
	struct nt_stream *streams; /* by CPU, of those that have blocks of events and are read */
	size_t n_streams;
	size_t batch_size; /* bytes */
	size_t n_turns; /* batches given so far */
	bool is_followed; /* the tape was, at the begin: then there are no workers */
	pthread_t workers[NT_MAX_WORKERS];
	size_t n_workers;
	pthread_mutex_t lock;
	pthread_cond_t queue_grew, was_filled;
	/* Under the lock: */
	struct nt_stream_queue queue; /* a batch of theirs is to be filled */
	bool stop;
};

/* The places are as nt_merge_new has them. NULL: out of memory. The tape must outlive it. */
struct nt_read_ahead *nt_read_ahead_new(struct nt_tape *tape, const struct nt_place *places);
void nt_read_ahead_free(struct nt_read_ahead *ahead);
/*
 * The next batch of items, in place of the last, which is used up. 0; 1: there is none; -EAGAIN: not yet, ask again
 * when the tape has been looked at (follow.h); or a negative errno of reading.
 */
int nt_read_ahead_turn(struct nt_read_ahead *ahead, struct nt_stream *stream, const struct nt_item_batch **out);
/* No more batches of the stream are filled, and none may be asked for. The last stays as it is. */
void nt_read_ahead_stop(struct nt_read_ahead *ahead, struct nt_stream *stream);
