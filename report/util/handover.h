/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * handover.h - one thread works ahead of another, or behind it. One fills batches, the other empties them in the same
 * order; their places form a ring and are the user's own. This file tracks whose turn it is, and starts and ends the
 * thread. It handles no signal. Where none can be started, has_thread stays false, and its starter does both works.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nt_handover {
	bool has_thread; /* the starter's own, and the thread may look */
	atomic_bool stop; /* the thread is to end as soon as it can; it may look without the lock */
	/* Private: */
	unsigned int n_places;
	pthread_t thread;
	pthread_mutex_t lock; /* of the four below it */
	pthread_cond_t changed;
	uint64_t filled, emptied; /* batches so far */
	bool finish; /* none is filled any more */
};

/*
 * As pthread_create, but the thread takes no signal, for handlers run in the thread that works on what they clean up;
 * except for this one; 0: none.
 */
int nt_thread_start(pthread_t *thread, int except, void *(*run)(void *), void *arg);

void nt_handover_init(struct nt_handover *handover, unsigned int n_places);
/* Its thread has ended. */
void nt_handover_release(struct nt_handover *handover);
/* `except` as for nt_thread_start. */
void nt_handover_start(struct nt_handover *handover, int except, void *(*run)(void *), void *arg);
/* Waits until the thread has emptied all, or has stopped. It may be started again. Nothing is done if there is none. */
void nt_handover_finish(struct nt_handover *handover);
void nt_handover_stop(struct nt_handover *handover);
/* Waits for a place to fill, and gives its number. -1: the thread is to end. */
int nt_handover_to_fill(struct nt_handover *handover);
/* The same of one to empty; -1 also when it has waited so long. UINT64_MAX: however long. */
int nt_handover_to_empty(struct nt_handover *handover, uint64_t most_ns);
/* The place that came last has been filled, or emptied. */
void nt_handover_filled(struct nt_handover *handover);
void nt_handover_emptied(struct nt_handover *handover);
