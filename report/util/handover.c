// SPDX-License-Identifier: GPL-2.0-only
/* handover.c - see handover.h. */
#include "report/util/handover.h"

#include <signal.h>
#include <time.h>

#define NS_PER_S 1000000000

int nt_thread_start(pthread_t *thread, int except, void *(*run)(void *), void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	if (except)
		sigdelset(&all, except);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* ---- begin and end ---- */

void nt_handover_init(struct nt_handover *handover, unsigned int n_places)
{
	pthread_condattr_t attributes;

	*handover = (struct nt_handover){.n_places = n_places};
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&handover->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&handover->lock, NULL);
}

void nt_handover_release(struct nt_handover *handover)
{
	pthread_cond_destroy(&handover->changed);
	pthread_mutex_destroy(&handover->lock);
}

void nt_handover_start(struct nt_handover *handover, int except, void *(*run)(void *), void *arg)
{
	handover->has_thread = true; /* before it looks */
	if (nt_thread_start(&handover->thread, except, run, arg))
		handover->has_thread = false;
}

static void end(struct nt_handover *handover, bool stop)
{
	if (!handover->has_thread)
		return;
	pthread_mutex_lock(&handover->lock);
	handover->finish = true;
	atomic_store(&handover->stop, stop);
	pthread_cond_signal(&handover->changed);
	pthread_mutex_unlock(&handover->lock);
	pthread_join(handover->thread, NULL);
	handover->has_thread = handover->finish = false;
	atomic_store(&handover->stop, false);
}

void nt_handover_finish(struct nt_handover *handover)
{
	end(handover, false);
}

void nt_handover_stop(struct nt_handover *handover)
{
	end(handover, true);
}

/* ---- turns ---- */

static int place(const struct nt_handover *handover, uint64_t batch)
{
	return handover->stop ? -1 : (int)(batch % handover->n_places);
}

int nt_handover_to_fill(struct nt_handover *handover)
{
	int to_fill;

	pthread_mutex_lock(&handover->lock);
	while (!handover->stop && handover->filled - handover->emptied == handover->n_places)
		pthread_cond_wait(&handover->changed, &handover->lock);
	to_fill = place(handover, handover->filled);
	pthread_mutex_unlock(&handover->lock);
	return to_fill;
}

static struct timespec time_in(uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec = (long)(ns % NS_PER_S);
	return until;
}

int nt_handover_to_empty(struct nt_handover *handover, uint64_t most_ns)
{
	const bool is_patient = most_ns == UINT64_MAX;
	const struct timespec until = is_patient ? (struct timespec){0} : time_in(most_ns);
	int to_empty = -1, error = 0;

	pthread_mutex_lock(&handover->lock);
	while (handover->filled == handover->emptied && !handover->finish && !error) {
		if (is_patient)
			pthread_cond_wait(&handover->changed, &handover->lock);
		else
			error = pthread_cond_timedwait(&handover->changed, &handover->lock, &until);
	}
	if (handover->filled != handover->emptied)
		to_empty = place(handover, handover->emptied);
	pthread_mutex_unlock(&handover->lock);
	return to_empty;
}

static void count_one_more(struct nt_handover *handover, uint64_t *batches)
{
	pthread_mutex_lock(&handover->lock);
	++*batches;
	pthread_cond_signal(&handover->changed);
	pthread_mutex_unlock(&handover->lock);
}

void nt_handover_filled(struct nt_handover *handover)
{
	count_one_more(handover, &handover->filled);
}

void nt_handover_emptied(struct nt_handover *handover)
{
	count_one_more(handover, &handover->emptied);
}
