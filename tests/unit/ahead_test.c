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
	struct nt_rows *rows;
};

static struct nt_rows *open_rows(struct nt_tape *tape, struct nt_learned *learned)
{
	const struct nt_rows_want want = {.tables = NT_ALL_TABLES, .order = NT_ROWS_EVENTS_FIRST, .learned = learned};
	struct nt_rows *rows;

	assert_int_equal(nt_rows_open(&rows, tape, NULL, 1, &want), 0);
	return rows;
}

static struct source open_source(void)
{
	struct source source;
	char error[NT_ERROR_MAX];

	if (nt_tape_open(&source.tape, path, error))
		fail_msg("%s", error);
	source.rows = open_rows(source.tape, NULL);
	return source;
}

static void close_source(struct source *source)
{
	nt_rows_close(source->rows);
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
	struct source direct = open_source(), threaded = open_source();
	const struct nt_row *row, *wanted;
	struct nt_ahead *ahead;
	unsigned int permille = 0;
	size_t n = 0;

	(void)state;
	assert_int_equal(nt_ahead_open(&ahead, threaded.rows, &(struct nt_ahead_config){0}), 0);
	assert_int_equal(nt_ahead_progress(ahead), 0);
	for (; !nt_rows_next(direct.rows, &wanted); n++) {
		assert_int_equal(nt_ahead_next(ahead, &row), 0);
		expect_row(row, wanted);
		assert_in_range(nt_ahead_progress(ahead), permille, 1000);
		permille = nt_ahead_progress(ahead);
	}
	/* So many that batches were used again. */
	assert_true(n > 10000);
	assert_int_equal(permille, 1000);
	assert_int_equal(nt_ahead_next(ahead, &row), 1);
	assert_int_equal(nt_ahead_next(ahead, &row), 1);
	nt_ahead_close(ahead);
	close_source(&direct);
	close_source(&threaded);
}

/* Before the first row, in the middle of a batch while the thread waits, and when there is nothing left to make. */
static void stops_anywhere(void **state)
{
	static const size_t reads[] = {0, 1, 512, 700, 5000};

	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct source source = open_source();
		const struct nt_row *row;
		struct nt_ahead *ahead;

		assert_int_equal(nt_ahead_open(&ahead, source.rows, &(struct nt_ahead_config){0}), 0);
		for (size_t n = 0; n < reads[i]; n++)
			assert_int_equal(nt_ahead_next(ahead, &row), 0);
		nt_ahead_close(ahead);
		close_source(&source);
	}
	nt_ahead_close(NULL);
}

/* A chunk that goes away while the tape is read is an error, behind the rows that could be made. */
static void an_error_comes_last(void **state)
{
	struct source source = open_source();
	const struct nt_row *row;
	struct nt_ahead *ahead;
	int error;

	(void)state;
	while (!(error = nt_rows_next(source.rows, &row)) && row->table != NT_TABLE_CPU_SLICE)
		;
	assert_int_equal(error, 0);
	scratch_remove(path);
	assert_int_equal(nt_ahead_open(&ahead, source.rows, &(struct nt_ahead_config){0}), 0);
	while (!(error = nt_ahead_next(ahead, &row)))
		assert_int_not_equal(row->table, NT_TABLE_SESSION);
	assert_true(error < 0);
	assert_int_equal(nt_ahead_next(ahead, &row), error);
	nt_ahead_close(ahead);
	close_source(&source);
}

/* Says true each second time. */
static bool is_stopped(void *arg)
{
	return ++*(unsigned int *)arg % 2;
}

static void without_a_thread(void **state)
{
	struct source direct = open_source(), threadless = open_source();
	const struct nt_row *row, *wanted;
	struct nt_ahead *ahead;
	unsigned int asked = 0, stopped = 0;

	(void)state;
	let_threads_fail(true);
	assert_int_equal(nt_ahead_open(&ahead, threadless.rows,
				       &(struct nt_ahead_config){.is_stopped = is_stopped, .arg = &asked}),
			 0);
	while (!nt_rows_next(direct.rows, &wanted)) {
		int error;

		for (; (error = nt_ahead_next(ahead, &row)) == -ECANCELED; stopped++)
			;
		assert_int_equal(error, 0);
		expect_row(row, wanted);
	}
	assert_int_equal(nt_ahead_next(ahead, &row), 1);
	assert_true(stopped >= 1);
	assert_int_equal(stopped, (asked + 1) / 2);
	let_threads_fail(false);
	nt_ahead_close(ahead);
	close_source(&direct);
	close_source(&threadless);
}

/* Some rows of one, then some of the other, of one tape; and pauses. */
static void readers_take_turns(void **state)
{
	static const size_t steps[] = {1, 600, 3000, 2, 512, 5000, 700};
	struct source direct[2] = {open_source(), open_source()}, shared = open_source();
	struct nt_ahead_turn turn = {0};
	struct nt_rows *rows[2];
	struct nt_ahead *aheads[2];
	struct nt_learned *learned;
	bool ended[2] = {false, false};

	(void)state;
	assert_int_equal(nt_learned_new(&learned, shared.tape), 0);
	for (int i = 0; i < 2; i++) {
		rows[i] = open_rows(shared.tape, learned);
		assert_int_equal(nt_ahead_open(&aheads[i], rows[i], &(struct nt_ahead_config){.turn = &turn}), 0);
	}
	for (size_t step = 0; !ended[0] || !ended[1]; step++) {
		const size_t i = step % 2;

		for (size_t n = steps[step % 7]; n && !ended[i]; n--) {
			const struct nt_row *row, *wanted;

			ended[i] = nt_rows_next(direct[i].rows, &wanted);
			assert_int_equal(nt_ahead_next(aheads[i], &row), ended[i]);
			if (!ended[i])
				expect_row(row, wanted);
		}
		if (step % 3 == 2)
			nt_ahead_pause(&turn);
	}
	for (int i = 0; i < 2; i++) {
		nt_ahead_close(aheads[i]);
		nt_rows_close(rows[i]);
		close_source(&direct[i]);
	}
	nt_learned_free(learned);
	close_source(&shared);
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
