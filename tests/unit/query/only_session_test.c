// SPDX-License-Identifier: GPL-2.0-only
/*
 * only_session_test.c - the one session of a database that is exported: what it says of itself, at the bounds of its
 * times; databases that are not ours to read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/session.h"
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

static int find(struct nt_session *session)
{
	struct nt_db *db;
	int result = nt_load_open(&db, path, NULL, NULL, NULL, error);

	if (result)
		return -1;
	result = nt_session_only(db, session);
	if (result)
		nt_fail(error, "%s", db->error);
	nt_db_close(db);
	return result;
}

static void finds(struct nt_session *session)
{
	if (find(session))
		fail_msg("%s", error);
}

static void refuses(const char *part)
{
	struct nt_session session;

	assert_int_equal(find(&session), -1);
	if (!strstr(error, part) || !strstr(error, path))
		fail_msg("'%s' does not say '%s'", error, part);
}

static void says_what_the_session_is(void **state)
{
	struct nt_db *db = scratch_db_new(path);
	struct nt_session session;

	(void)state;
	scratch_db_session(db, 7, 1000, 5000, 3);
	scratch_db_run(db, "UPDATE session SET machine = 'x86_64'");
	scratch_db_finish(db);
	finds(&session);
	assert_string_equal(session.uuid, "00000000000000000000000000000007");
	assert_string_equal(session.host, "host");
	assert_string_equal(session.kernel, "6.1.0");
	assert_string_equal(session.machine, "x86_64");
	assert_int_equal(session.start_ts, 1000);
	assert_int_equal(session.end_ts, 5000);
	assert_int_equal(session.start_realtime_ns, SCRATCH_DB_REALTIME_NS);
	assert_int_equal(session.bucket_ns, 100000000);
	assert_int_equal(session.cpus, 3);
	assert_true(session.is_complete);
	assert_false(session.open_end);
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
	struct nt_session session;

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
			finds(&session);
		else
			refuses("holds times that nettape-report did not write");
	}
}

/* The recording is open where nothing says what ended it; a part of one ends where it was cut. */
static void knows_an_open_end(void **state)
{
	static const struct {
		const char *change;
		bool open_end;
	} cases[] = {
		{"UPDATE session SET complete = 0", true},
		{"UPDATE session SET stop = 'signal'", false},
		{"UPDATE session SET stop = NULL; INSERT INTO session_meta(session_id, key, value) VALUES "
		 "(1, '" NT_LOAD_RECORDING_START "', '0'), (1, '" NT_LOAD_RECORDING_END "', '20')",
		 false},
	};
	struct nt_db *db = scratch_db_new(path);
	struct nt_session session;

	(void)state;
	scratch_db_session(db, 1, 0, 10, 1);
	scratch_db_finish(db);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(nt_db_open(&db, path, NT_DB_CHANGE), 0);
		assert_int_equal(nt_db_begin(db), 0);
		scratch_db_run(db, "%s", cases[i].change);
		assert_int_equal(nt_db_finish(db), 0);
		nt_db_close(db);
		finds(&session);
		assert_int_equal(session.open_end, cases[i].open_end);
	}
}

static void wants_one_session(void **state)
{
	struct nt_session session;

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
			finds(&session);
	}
	refuses("it has several sessions");
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(says_what_the_session_is), TEST(checks_the_bounds_of_times), TEST(knows_an_open_end),
		TEST(wants_one_session),	TEST(refuses_a_view_for_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
