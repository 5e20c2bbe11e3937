// SPDX-License-Identifier: GPL-2.0-only
/*
 * feed_test.c - the rows of one session out of a database: what the session says of itself, at the bounds of its
 * times; databases that are not ours to read; and that no more of a row is put into one than it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/feed.h"
#include "tests/support/scratch.h"
#include "tests/support/scratch_db.h"

#define MOST (1ll << 62)

static char directory[SCRATCH_MAX], path[2 * SCRATCH_MAX], error[NT_ERROR_MAX];

static int set_up(void **state)
{
	(void)state;
	scratch_make(directory);
	scratch_path(path, directory, "a.db");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(directory);
	return 0;
}

static struct nt_feed *open_feed(void)
{
	struct nt_feed *feed;

	if (nt_feed_open(&feed, path, NULL, NULL, error))
		fail_msg("%s", error);
	return feed;
}

static void refuses(const char *part)
{
	struct nt_feed *feed;

	assert_int_equal(nt_feed_open(&feed, path, NULL, NULL, error), -1);
	assert_null(feed);
	if (!strstr(error, part) || !strstr(error, path))
		fail_msg("'%s' does not say '%s'", error, part);
}

static void says_what_the_session_is(void **state)
{
	struct nt_db *db = scratch_db_new(path);
	const struct nt_feed_session *session;
	struct nt_feed *feed;

	(void)state;
	scratch_db_session(db, 7, 1000, 5000, 3);
	scratch_db_run(db, "UPDATE session SET machine = 'x86_64'");
	scratch_db_finish(db);
	feed = open_feed();
	session = nt_feed_session(feed);
	assert_string_equal(session->uuid, "00000000000000000000000000000007");
	assert_string_equal(session->host, "host");
	assert_string_equal(session->kernel, "6.1.0");
	assert_string_equal(session->machine, "x86_64");
	assert_int_equal(session->start_ts, 1000);
	assert_int_equal(session->end_ts, 5000);
	assert_int_equal(session->start_realtime_ns, SCRATCH_DB_REALTIME_NS);
	assert_int_equal(session->bucket_ns, 100000000);
	assert_int_equal(session->cpus, 3);
	nt_feed_close(feed);
}

static void checks_the_bounds_of_times(void **state)
{
	static const struct {
		long long start, end, bucket;
		bool is_good;
	} cases[] = {
		{0, 0, 1000000, true},	 {5, 5, 1000000, true},	   {MOST, MOST, MOST, true},
		{-1, 5, 1000000, false}, {-5, -6, 1000000, false}, {6, 5, 1000000, false},
		{0, 5, 999999, false},	 {0, 5, MOST + 1, false},  {0, MOST + 1, 1000000, false},
	};
	struct nt_db *db = scratch_db_new(path);

	(void)state;
	scratch_db_session(db, 1, 0, 0, 1);
	scratch_db_finish(db);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(nt_db_open(&db, path, NT_DB_CHANGE), 0);
		assert_int_equal(nt_db_begin(db), 0);
		scratch_db_run(db, "UPDATE session SET start_ts = %lld, end_ts = %lld, bucket_ns = %lld",
			       cases[i].start, cases[i].end, cases[i].bucket);
		assert_int_equal(nt_db_finish(db), 0);
		nt_db_close(db);
		if (cases[i].is_good)
			nt_feed_close(open_feed());
		else
			refuses("holds times that nettape-report did not write");
	}
}

static void wants_one_session(void **state)
{
	(void)state;
	scratch_db_finish(scratch_db_new(path));
	refuses("there is no session in it");
	for (int i = 1; i <= 2; i++) {
		struct nt_db *db;

		assert_int_equal(nt_db_open(&db, path, NT_DB_APPEND), 0);
		assert_int_equal(nt_db_begin(db), 0);
		scratch_db_session(db, i, 0, 10, 1);
		assert_int_equal(nt_db_finish(db), 0);
		nt_db_close(db);
		if (i == 1)
			nt_feed_close(open_feed());
	}
	refuses("it has several sessions");
}

/* Rows of this session alone, those that say who is who before those that say what happened. */
static void gives_rows_in_order(void **state)
{
	struct nt_db *db = scratch_db_new(path);
	const struct nt_row *row;
	struct nt_feed *feed;

	(void)state;
	scratch_db_session(db, 1, 0, 10, 1);
	for (int session = 1; session <= 2; session++)
		scratch_db_run(db,
			       "INSERT INTO cgroup(session_id, id, path, label) VALUES (%d, 5, '/a', '/a');"
			       "INSERT INTO problem(session_id, text) VALUES (%d, 'b')",
			       session, session);
	scratch_db_finish(db);
	feed = open_feed();
	assert_int_equal(nt_feed_progress(feed), 0);
	assert_int_equal(nt_feed_next(feed, &row), 0);
	assert_int_equal(row->table, NT_TABLE_CGROUP);
	assert_int_equal(row->n, nt_table(NT_TABLE_CGROUP)->n_columns);
	assert_int_equal(row->values[1].integer, 5);
	assert_string_equal(row->values[2].text, "/a");
	assert_int_equal(nt_feed_next(feed, &row), 0);
	assert_int_equal(row->table, NT_TABLE_PROBLEM);
	assert_string_equal(row->values[1].text, "b");
	assert_int_equal(nt_feed_next(feed, &row), 1);
	assert_int_equal(nt_feed_progress(feed), 1000);
	nt_feed_close(feed);
}

static void refuses_a_view_for_a_table(void **state)
{
	struct nt_db *db = scratch_db_new(path);

	(void)state;
	scratch_db_session(db, 1, 0, 10, 1);
	scratch_db_run(db, "DROP TABLE problem; CREATE VIEW PROBLEM AS SELECT 1 AS session_id, 'x' AS text");
	scratch_db_finish(db);
	refuses("its table problem is not as nettape-report made it");
}

/* Behind the last value of this row there is nothing. */
static void reads_no_more_than_the_row_has(void **state)
{
	const uint32_t n = nt_table(NT_TABLE_PROBLEM)->n_columns;
	struct nt_db *db = scratch_db_new(NULL);
	struct nt_row *row = malloc(offsetof(struct nt_row, values) + n * sizeof(row->values[0]));
	sqlite3_stmt *statement;

	(void)state;
	assert_non_null(row);
	row->table = NT_TABLE_PROBLEM;
	row->n = n;
	row->values[0] = (struct nt_value){.type = NT_VALUE_INTEGER, .integer = 4};
	row->values[1] = (struct nt_value){.type = NT_VALUE_TEXT, .text = "bad"};
	assert_int_equal(nt_db_insert(db, row), 0);
	statement = nt_db_prepare(db, "SELECT session_id, text FROM problem", NULL);
	assert_true(nt_db_next(statement));
	assert_int_equal(sqlite3_column_int64(statement, 0), 4);
	assert_string_equal(nt_db_text(statement, 1), "bad");
	assert_false(nt_db_next(statement));
	assert_int_equal(nt_db_end(db, statement, "problems"), 0);
	free(row);
	nt_db_close(db);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(says_what_the_session_is), TEST(checks_the_bounds_of_times), TEST(wants_one_session),
		TEST(gives_rows_in_order),	TEST(refuses_a_view_for_a_table), TEST(reads_no_more_than_the_row_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
