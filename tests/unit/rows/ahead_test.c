// SPDX-License-Identifier: GPL-2.0-only
/*
 * ahead_test.c - rows that a thread makes are those of rows.h, in their order and up to their end, and the thread stops
 * wherever its reader is. So are those that are made where no thread can be started, by readers that take turns, and
 * with stops in between.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "report/rows/ahead.h"
#include "tests/support/no_threads.h"
#include "tests/support/scratch.h"
#include "tests/support/traffic.h"

static char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX];

static int setup(void **state)
{
	const struct traffic_config traffic = {.seed = 1, .dur_ns = 30000000, .n_tasks = 10};
	const struct tape_gen_config config = {.dir = path, .n_cpus = 2};
	struct tape_gen *gen;

	(void)state;
	scratch_make(dir);
	scratch_path(path, dir, "t.tape");
	gen = tape_gen_new(&config);
	traffic_record(gen, 2, &traffic);
	tape_gen_finish(gen, GEN_START_NS + traffic.dur_ns, true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

/* A tape and its rows. */
struct source {
	struct nt_tape *tape;
	struct nt_row_iter *rows;
};

static const struct nt_rows_want all = {.tables = NT_ALL_TABLES, .order = NT_ROWS_EVENTS_FIRST};

static struct nt_tape *open_tape(void)
{
	struct nt_tape *tape;
	char error[NT_ERROR_MAX];

	if (nt_tape_open(&tape, path, error))
		fail_msg("%s", error);
	return tape;
}

static struct source open_source(void)
{
	struct source source = {.tape = open_tape()};

	assert_int_equal(nt_rows_open(&source.rows, source.tape, NULL, 1, &all), 0);
	return source;
}

/* The same with a thread. */
static struct source open_ahead(const struct nt_rows_want *want)
{
	struct source source = {.tape = open_tape()};

	assert_int_equal(nt_ahead_open(&source.rows, NULL, source.tape, NULL, 1, want), 0);
	return source;
}

static void close_source(struct source *source)
{
	nt_row_close(source->rows);
	nt_tape_close(source->tape);
}

static void expect_row(const struct nt_row *row, const struct nt_row *wanted)
{
	assert_int_equal(row->table, wanted->table);
	assert_int_equal(row->n, wanted->n);
	for (uint32_t i = 0; i < row->n; i++) {
		assert_int_equal(row->values[i].type, wanted->values[i].type);
		if (row->values[i].type == NT_VALUE_INTEGER)
			assert_int_equal(row->values[i].integer, wanted->values[i].integer);
		if (row->values[i].type == NT_VALUE_TEXT)
			assert_string_equal(row->values[i].text, wanted->values[i].text);
	}
}

static void the_same_rows(void **state)
{
	struct source direct = open_source(), threaded = open_ahead(&all);
	const struct nt_row *row, *wanted;
	unsigned int permille = 0;
	size_t n = 0;

	(void)state;
	assert_int_equal(nt_row_progress(threaded.rows), 0);
	for (; !nt_row_next(direct.rows, &wanted); n++) {
		assert_int_equal(nt_row_next(threaded.rows, &row), 0);
		expect_row(row, wanted);
		assert_in_range(nt_row_progress(threaded.rows), permille, 1000);
		permille = nt_row_progress(threaded.rows);
	}
	/* So many that batches were used again. */
	assert_true(n > 10000);
	assert_int_equal(permille, 1000);
	assert_int_equal(nt_row_next(threaded.rows, &row), 1);
	assert_int_equal(nt_row_next(threaded.rows, &row), 1);
	close_source(&direct);
	close_source(&threaded);
}

/* Before the first row, in the middle of a batch while the thread waits, and when there is nothing left to make. */
static void stops_anywhere(void **state)
{
	static const size_t reads[] = {0, 1, 512, 700, 5000};

	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct source source = open_ahead(&all);
		const struct nt_row *row;

		for (size_t n = 0; n < reads[i]; n++)
			assert_int_equal(nt_row_next(source.rows, &row), 0);
		close_source(&source);
	}
	nt_row_close(NULL);
}

/* A chunk that goes away while the tape is read is an error, behind the rows that could be made. */
static void an_error_comes_last(void **state)
{
	struct source source = open_ahead(&all);
	const struct nt_row *row;
	int error;

	(void)state;
	assert_int_equal(nt_row_next(source.rows, &row), 0);
	scratch_remove(path);
	while (!(error = nt_row_next(source.rows, &row)))
		assert_int_not_equal(row->table, NT_TABLE_SESSION);
	assert_true(error < 0);
	assert_int_equal(nt_row_next(source.rows, &row), error);
	close_source(&source);
}

/* True each second time. */
static bool is_stopped(void *arg)
{
	return ++*(unsigned int *)arg % 2;
}

static void without_a_thread(void **state)
{
	struct source direct = open_source(), threadless;
	const struct nt_row *row, *wanted;
	unsigned int asked = 0, stopped = 0;
	struct nt_rows_want want = all;

	(void)state;
	want.is_stopped = is_stopped;
	want.stopped_arg = &asked;
	let_threads_fail(true);
	threadless = open_ahead(&want);
	while (!nt_row_next(direct.rows, &wanted)) {
		int error;

		for (; (error = nt_row_next(threadless.rows, &row)) == -ECANCELED; stopped++)
			;
		assert_int_equal(error, 0);
		expect_row(row, wanted);
	}
	assert_int_equal(nt_row_next(threadless.rows, &row), 1);
	assert_true(stopped >= 1);
	assert_int_equal(stopped, (asked + 1) / 2);
	let_threads_fail(false);
	close_source(&direct);
	close_source(&threadless);
}

/* Some rows of one, then some of the other, of one tape; and pauses. */
static void readers_take_turns(void **state)
{
	static const size_t steps[] = {1, 600, 3000, 2, 512, 5000, 700};
	struct source direct[2] = {open_source(), open_source()};
	struct nt_tape *shared = open_tape();
	struct nt_ahead_turn turn = {0};
	struct nt_rows_want want = all;
	struct nt_row_iter *rows[2];
	bool ended[2] = {false, false};

	(void)state;
	assert_int_equal(nt_learned_new(&want.learned, shared), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nt_ahead_open(&rows[i], &turn, shared, NULL, 1, &want), 0);
	for (size_t step = 0; !ended[0] || !ended[1]; step++) {
		const size_t i = step % 2;

		for (size_t n = steps[step % 7]; n && !ended[i]; n--) {
			const struct nt_row *row, *wanted;

			ended[i] = nt_row_next(direct[i].rows, &wanted);
			assert_int_equal(nt_row_next(rows[i], &row), ended[i]);
			if (!ended[i])
				expect_row(row, wanted);
		}
		if (step % 3 == 2)
			nt_ahead_pause(&turn);
	}
	for (int i = 0; i < 2; i++) {
		nt_row_close(rows[i]);
		close_source(&direct[i]);
	}
	nt_learned_free(want.learned);
	nt_tape_close(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_rows),
		cmocka_unit_test(stops_anywhere),
		cmocka_unit_test(without_a_thread),
		cmocka_unit_test(readers_take_turns),
		/* It removes the tape. */
		cmocka_unit_test(an_error_comes_last),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
