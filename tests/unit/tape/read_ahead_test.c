// SPDX-License-Identifier: GPL-2.0-only
/*
 * read_ahead_test.c - batches of items are those of the CPU's reader, full but for the last; memory is bounded for any
 * number of CPUs; workers begin late, are as many as there is use for, and fill what the header says, no more.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "report/tape/read_ahead.h"
#include "tests/support/no_threads.h"
#include "tests/support/scratch.h"
#include "tests/support/traffic.h"

/* The number of CPUs that this process may use, instead of the C library's. 0: not known. */
static int n_cpus_of_host = 2;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *cpus)
{
	(void)pid;
	if (!n_cpus_of_host) {
		errno = EINVAL;
		return -1;
	}
	memset(cpus, 0, size);
	for (int i = 0; i < n_cpus_of_host; i++)
		CPU_SET(i, cpus);
	return 0;
}

static char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX];
static struct nt_tape *tape;

static int setup(void **state)
{
	(void)state;
	scratch_make(dir);
	scratch_path(path, dir, "t.tape");
	n_cpus_of_host = 2;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	let_threads_fail(false);
	nt_tape_close(tape);
	tape = NULL;
	scratch_remove(dir);
	return 0;
}

/* A tape on which each CPU has so many samples. */
static void open_tape(uint32_t n_cpus, size_t n_samples)
{
	const struct tape_gen_config config = {.dir = path, .n_cpus = n_cpus};
	struct tape_gen *gen = tape_gen_new(&config);
	char error[NT_ERROR_MAX];

	for (size_t i = 0; i < n_samples; i++) {
		for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
			tape_gen_event(gen, cpu,
				       &(union nt_any){.as_latency = {.end_ns = GEN_START_NS + 10 * (i + 1) + cpu,
								      .kind = NT_LATENCY}});
	}
	tape_gen_finish(gen, GEN_START_NS + 1000000, true);
	if (nt_tape_open(&tape, path, error))
		fail_msg("%s", error);
}

static struct nt_read_ahead *begin(void)
{
	struct nt_read_ahead *ahead = nt_read_ahead_new(tape, NULL);

	assert_non_null(ahead);
	return ahead;
}

static bool is_quiet(struct nt_read_ahead *ahead)
{
	bool quiet;

	pthread_mutex_lock(&ahead->lock);
	quiet = TAILQ_EMPTY(&ahead->queue);
	for (size_t i = 0; i < ahead->n_streams; i++)
		quiet = quiet && !ahead->streams[i].being_filled;
	pthread_mutex_unlock(&ahead->lock);
	return quiet;
}

/* Until the workers have filled all that they may. */
static void await_quiet(struct nt_read_ahead *ahead)
{
	for (int i = 0; i < 60000 && !is_quiet(ahead); i++)
		usleep(1000);
	assert_true(is_quiet(ahead));
}

static void turn(struct nt_read_ahead *ahead, size_t stream)
{
	const struct nt_item_batch *batch;

	assert_int_equal(nt_read_ahead_turn(ahead, &ahead->streams[stream], &batch), 0);
	assert_ptr_equal(batch, ahead->streams[stream].used);
}

/* ---- what is in the batches ---- */

/* All batches of a stream, beside the items of a reader of its own. */
static void expect_items(struct nt_read_ahead *ahead, struct nt_stream *stream)
{
	struct nt_cpu_reader *reader = nt_cpu_reader_new(tape, stream->cpu);
	const struct nt_item_batch *batch;
	union nt_item item;
	int error;

	assert_non_null(reader);
	while (!(error = nt_read_ahead_turn(ahead, stream, &batch))) {
		assert_true(batch->size <= ahead->batch_size);
		assert_true(batch->status || batch->size + sizeof(item) > ahead->batch_size);
		assert_true(stream->n_filled - stream->n_had < NT_BATCHES);
		for (size_t at = 0; at < batch->size; at += nt_item_sizes[item.record.kind]) {
			assert_int_equal(nt_cpu_reader_next(reader, &item), 0);
			assert_memory_equal(batch->bytes + at, &item, nt_item_sizes[item.record.kind]);
		}
	}
	assert_int_equal(error, 1);
	assert_int_equal(nt_read_ahead_turn(ahead, stream, &batch), 1);
	assert_int_equal(nt_cpu_reader_next(reader, &item), 1);
	nt_cpu_reader_free(reader);
}

static void batches_are_full(void **state)
{
	(void)state;
	open_tape(3, 20000);
	for (int fail = 0; fail < 2; fail++) {
		struct nt_read_ahead *ahead;

		let_threads_fail(fail);
		ahead = begin();
		assert_int_equal(ahead->n_streams, 3);
		for (size_t i = 0; i < ahead->n_streams; i++)
			expect_items(ahead, &ahead->streams[i]);
		assert_int_equal(ahead->n_workers, !fail);
		nt_read_ahead_free(ahead);
	}
}

static void memory_is_bounded(void **state)
{
	static const uint32_t cpus[] = {1, 2, 3, 4, 7, 126, 127, 128, 200};

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct nt_read_ahead *ahead;
		size_t all;

		open_tape(cpus[i], 1);
		ahead = begin();
		all = ahead->batch_size * NT_BATCHES * ahead->n_streams;
		assert_int_equal(ahead->n_streams, cpus[i]);
		/* 2 MB, or 16 KB for each of many; and no less than half of it is used, but by very few. */
		assert_true(ahead->batch_size >= 4096 && ahead->batch_size <= 128u << 10);
		assert_true(all <= 2u << 20 || ahead->batch_size == 4096);
		assert_true(2 * all >= 2u << 20 || ahead->batch_size == 128u << 10);
		assert_true(cpus[i] < 128 || ahead->batch_size == 4096);
		nt_read_ahead_free(ahead);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* ---- who fills ---- */

/* Each stream waits to be filled; a caller without help fills just what it needs, and the stream waits again. */
static void the_caller_fills_what_it_needs(void **state)
{
	struct nt_read_ahead *ahead;

	(void)state;
	open_tape(2, 20000);
	let_threads_fail(true);
	ahead = begin();
	assert_true(ahead->streams[0].queued && ahead->streams[1].queued);
	for (uint64_t n = 1; n < 4; n++) {
		turn(ahead, 1);
		assert_int_equal(ahead->streams[1].n_had, n);
		assert_int_equal(ahead->streams[1].n_filled, n);
		assert_true(ahead->streams[1].queued);
		assert_int_equal(ahead->streams[0].n_filled, 0);
	}
	assert_int_equal(ahead->n_workers, 0);
	nt_read_ahead_free(ahead);
}

static void workers_begin_late(void **state)
{
	static const struct {
		int cpus;
		uint32_t streams;
		size_t workers;
	} cases[] = {{1, 2, 0},	 {2, 2, 1}, {3, 7, 2}, {4, 7, 3}, {5, 7, 4}, {6, 7, 4},
		     {64, 7, 4}, {8, 2, 2}, {8, 3, 3}, {0, 3, 3}, {0, 7, 4}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_read_ahead *ahead;

		n_cpus_of_host = cases[i].cpus;
		open_tape(cases[i].streams, 12000);
		ahead = begin();
		/* Two batches of each CPU; the next has them begin. */
		for (size_t n = 0; n < 2 * (size_t)cases[i].streams; n++) {
			turn(ahead, n % cases[i].streams);
			assert_int_equal(ahead->n_workers, 0);
		}
		turn(ahead, 0);
		assert_int_equal(ahead->n_workers, cases[i].workers);
		turn(ahead, 1);
		assert_int_equal(ahead->n_workers, cases[i].workers);
		nt_read_ahead_free(ahead);
		assert_int_equal(teardown(state), 0);
		assert_int_equal(setup(state), 0);
	}
}

/* They fill all batches but the one in use, and begin again when half are free. */
static void workers_keep_batches_full(void **state)
{
	struct nt_read_ahead *ahead;
	struct nt_stream *stream;

	(void)state;
	open_tape(2, 100000);
	ahead = begin();
	stream = &ahead->streams[0];
	for (size_t n = 0; n < 5; n++)
		turn(ahead, 0);
	await_quiet(ahead);
	/* The turn that begins them may find that they were quicker: it takes one of those that are full. */
	if (stream->n_filled - stream->n_had == NT_BATCHES - 2)
		turn(ahead, 0);
	await_quiet(ahead);
	assert_int_equal(stream->n_filled - stream->n_had, NT_BATCHES - 1);
	assert_int_equal(ahead->streams[1].n_filled, NT_BATCHES - 1);
	turn(ahead, 0);
	await_quiet(ahead);
	assert_int_equal(stream->n_filled - stream->n_had, NT_BATCHES - 2);
	turn(ahead, 0);
	await_quiet(ahead);
	assert_int_equal(stream->n_filled - stream->n_had, NT_BATCHES - 1);
	nt_read_ahead_free(ahead);
}

/* ---- what is not read ---- */

static void nothing_more_after_stop(void **state)
{
	struct nt_read_ahead *ahead;

	(void)state;
	open_tape(2, 20000);
	let_threads_fail(true);
	ahead = begin();
	nt_read_ahead_stop(ahead, &ahead->streams[0]);
	nt_read_ahead_stop(ahead, &ahead->streams[0]);
	assert_false(ahead->streams[0].queued);
	assert_ptr_equal(TAILQ_FIRST(&ahead->queue), &ahead->streams[1]);
	turn(ahead, 1);
	turn(ahead, 1);
	assert_int_equal(ahead->streams[0].n_filled, 0);
	nt_read_ahead_stop(ahead, &ahead->streams[1]);
	assert_true(TAILQ_EMPTY(&ahead->queue));
	nt_read_ahead_free(ahead);
	nt_read_ahead_free(NULL);
}

static void cpus_are_left_out(void **state)
{
	struct nt_place places[3] = {[1] = {.leave_out = true}};
	struct nt_read_ahead *ahead;

	(void)state;
	open_tape(3, 10);
	ahead = nt_read_ahead_new(tape, places);
	assert_non_null(ahead);
	assert_int_equal(ahead->n_streams, 2);
	assert_int_equal(ahead->streams[0].cpu, 0);
	assert_int_equal(ahead->streams[1].cpu, 2);
	nt_read_ahead_free(ahead);
}

/* It comes behind what could be read, and again when asked again. */
static void an_error_stays(void **state)
{
	char chunk[3 * SCRATCH_MAX];
	struct nt_read_ahead *ahead;
	const struct nt_item_batch *batch;

	(void)state;
	open_tape(1, 10);
	ahead = begin();
	scratch_path(chunk, path, "chunk-000000.ntc");
	assert_int_equal(unlink(chunk), 0);
	assert_int_equal(nt_read_ahead_turn(ahead, &ahead->streams[0], &batch), -ENOENT);
	assert_int_equal(nt_read_ahead_turn(ahead, &ahead->streams[0], &batch), -ENOENT);
	nt_read_ahead_free(ahead);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(batches_are_full),
		TEST(memory_is_bounded),
		TEST(the_caller_fills_what_it_needs),
		TEST(workers_begin_late),
		TEST(workers_keep_batches_full),
		TEST(nothing_more_after_stop),
		TEST(cpus_are_left_out),
		TEST(an_error_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
