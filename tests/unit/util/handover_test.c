// SPDX-License-Identifier: GPL-2.0-only
/*
 * handover_test.c - batches come in their order whichever side waits; the thread ends when all is emptied, or at once;
 * it takes no signal; and it can be started again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <unistd.h>

#include "report/util/handover.h"
#include "tests/support/must.h"
#include "tests/support/no_threads.h"

#define PLACES 3
#define BATCHES 1000

struct work {
	struct nt_handover handover;
	unsigned int batches[PLACES];
	unsigned int n; /* batches that the thread has filled or emptied */
	bool slow;
	sigset_t blocked;
};

static void *empty_all(void *arg)
{
	struct work *work = arg;
	int place;

	pthread_sigmask(SIG_SETMASK, NULL, &work->blocked);
	while ((place = nt_handover_to_empty(&work->handover, UINT64_MAX)) >= 0) {
		MUST(work->batches[place] == work->n++);
		if (work->slow)
			usleep(10);
		nt_handover_emptied(&work->handover);
	}
	return NULL;
}

static void *fill_all(void *arg)
{
	struct work *work = arg;
	int place;

	while ((place = nt_handover_to_fill(&work->handover)) >= 0) {
		work->batches[place] = work->n++;
		if (work->slow)
			usleep(10);
		nt_handover_filled(&work->handover);
	}
	return NULL;
}

static void fill_one(struct work *work, unsigned int number)
{
	int place = nt_handover_to_fill(&work->handover);

	assert_in_range(place, 0, PLACES - 1);
	work->batches[place] = number;
	nt_handover_filled(&work->handover);
}

/* A thread behind its starter empties all that was filled. */
static void finishes_what_was_filled(void **state)
{
	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct work work = {.slow = slow};

		nt_handover_init(&work.handover, PLACES);
		nt_handover_start(&work.handover, SIGPIPE, empty_all, &work);
		assert_true(work.handover.has_thread);
		for (unsigned int i = 0; i < BATCHES; i++)
			fill_one(&work, i);
		nt_handover_finish(&work.handover);
		assert_int_equal(work.n, BATCHES);
		assert_false(work.handover.has_thread);
		assert_int_equal(sigismember(&work.blocked, SIGINT), 1);
		assert_int_equal(sigismember(&work.blocked, SIGPIPE), 0);
		nt_handover_release(&work.handover);
	}
}

/* A thread ahead of its starter waits when all is full; it goes on where it was when it is started again. */
static void goes_on_after_a_stop(void **state)
{
	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct work work = {.slow = slow};

		nt_handover_init(&work.handover, PLACES);
		for (unsigned int i = 0; i < BATCHES;) {
			int place;

			if (!work.handover.has_thread)
				nt_handover_start(&work.handover, 0, fill_all, &work);
			place = nt_handover_to_empty(&work.handover, 1000);
			if (place < 0)
				continue;
			assert_int_equal(work.batches[place], i++);
			nt_handover_emptied(&work.handover);
			if (i % 100 == 0)
				nt_handover_stop(&work.handover);
		}
		nt_handover_stop(&work.handover);
		assert_in_range(work.n, BATCHES, BATCHES + PLACES);
		nt_handover_release(&work.handover);
	}
}

/* A place that is filled when the thread is to stop need not be emptied. */
static void stops_with_work_left(void **state)
{
	struct work work = {0};

	(void)state;
	nt_handover_init(&work.handover, PLACES);
	nt_handover_start(&work.handover, 0, empty_all, &work);
	for (unsigned int i = 0; i < BATCHES; i++)
		fill_one(&work, i);
	nt_handover_stop(&work.handover);
	assert_in_range(work.n, BATCHES - PLACES, BATCHES);
	nt_handover_release(&work.handover);
}

static void without_a_thread(void **state)
{
	struct work work = {0};

	(void)state;
	nt_handover_init(&work.handover, PLACES);
	let_threads_fail(true);
	nt_handover_start(&work.handover, 0, empty_all, &work);
	let_threads_fail(false);
	assert_false(work.handover.has_thread);
	assert_int_equal(nt_handover_to_empty(&work.handover, 0), -1);
	fill_one(&work, 7);
	assert_int_equal(nt_handover_to_empty(&work.handover, 0), 0);
	nt_handover_finish(&work.handover);
	nt_handover_stop(&work.handover);
	nt_handover_release(&work.handover);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finishes_what_was_filled),
		cmocka_unit_test(goes_on_after_a_stop),
		cmocka_unit_test(stops_with_work_left),
		cmocka_unit_test(without_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
