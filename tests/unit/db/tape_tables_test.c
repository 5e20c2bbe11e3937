// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_tables_test.c - SQL on a tape: texts that are numbers, one statement with two looks into a table, cursors beside
 * each other, rowids, and that no view looks at all events for each of them. tests/cli/tape_tables.sh compares random
 * statements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/load.h"
#include "tests/support/scratch.h"
#include "tests/support/scratch_db.h"
#include "tests/support/traffic.h"

#define N_LINES 5
#define DUR_NS 3000000

static char directory[SCRATCH_MAX], path[2 * SCRATCH_MAX], error[NT_ERROR_MAX];
static struct nt_db *db;

/* `samples`: as in struct tape_gen_config. */
static int open_traffic(const char *name, uint64_t dur_ns, uint64_t samples)
{
	const struct traffic_config traffic = {.seed = 1, .dur_ns = dur_ns, .n_tasks = 5};
	const struct tape_gen_config config = {.dir = path, .n_cpus = 2, .session = 1, .samples = samples};
	struct tape_gen *gen;

	scratch_path(path, directory, name);
	gen = tape_gen_new(&config);
	for (int i = 0; i < N_LINES; i++)
		tape_gen_meta(gen, "number", i % 2 ? "05" : "5");
	traffic_record(gen, 2, &traffic);
	tape_gen_finish(gen, GEN_START_NS + dur_ns, true);
	return nt_load_open(&db, path, NULL, NULL, NULL, error);
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(directory);
	return open_traffic("a.tape", DUR_NS, 0);
}

static int tear_down(void **state)
{
	(void)state;
	nt_db_close(db);
	scratch_remove(directory);
	return 0;
}

static int64_t number(const char *sql)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);
	const bool is_there = nt_db_next(statement);
	const int64_t value = is_there ? sqlite3_column_int64(statement, 0) : -1;

	if (nt_db_end(db, statement, "a query"))
		fail_msg("%s: %s", sql, db->error);
	return value;
}

#define LINES "SELECT count(*) FROM session_meta WHERE key = 'number' AND value = "

static void texts_are_compared_as_sqlite_does(void **state)
{
	(void)state;
	assert_int_equal(number(LINES "'5'"), 3);
	assert_int_equal(number(LINES "5"), 3);
	assert_int_equal(number(LINES "5.0"), 0);
	assert_int_equal(number(LINES "CAST('5' AS INTEGER)"), N_LINES);
	assert_int_equal(number(LINES "CAST(5 AS REAL)"), N_LINES);
	assert_int_equal(number(LINES "x'35'"), 0);
	assert_int_equal(number(LINES "NULL"), 0);
	/*
	 * One look after the other by the same plan, with values of other types. The + takes the column's type away:
	 * which one a UNION's column has depends on SQLite's version.
	 */
	assert_int_equal(number("SELECT count(*) FROM (SELECT '05' AS x UNION ALL SELECT CAST(5 AS INTEGER) UNION ALL "
				"SELECT '5' UNION ALL SELECT NULL) AS v CROSS JOIN session_meta AS m "
				"ON m.key = 'number' AND m.value = +v.x"),
			 2 + 3 + 3);
}

static void a_row_that_two_looks_find_comes_once(void **state)
{
	(void)state;
	assert_int_equal(number("SELECT count(*) - (SELECT sum(cpu = 0 OR owner = 'send') FROM cpu_cost) FROM cpu_cost "
				"WHERE cpu = 0 OR owner = 'send'"),
			 0);
	assert_int_equal(number("SELECT count(*) FROM thread WHERE utid = 1 OR utid IN (1, 2) OR tid = -1"), 2);
	/* SQLite tells rows apart by keys that the statement does not name. */
	assert_int_equal(number("SELECT (SELECT count(name) FROM thread WHERE tid = 0 OR name = o.name) = "
				"(SELECT sum(tid = 0 OR name = o.name) FROM thread) FROM thread AS o WHERE utid <> 0"),
			 1);
	assert_int_equal(number("SELECT count(*) = (SELECT count(*) FROM thread) + 1 FROM "
				"(SELECT -7 AS x) AS a FULL JOIN thread AS t ON t.tid = a.x"),
			 1);
}

static void a_rowid_is_the_rows_number_in_the_table(void **state)
{
	(void)state;
	assert_int_equal(number("SELECT sum(n <> id) FROM (SELECT rowid AS id, row_number() OVER (ORDER BY rowid) AS n "
				"FROM cpu_slice)"),
			 0);
	assert_int_equal(number("SELECT count(*) FROM (SELECT rowid AS id FROM cpu_slice WHERE +cpu = 1) AS a "
				"CROSS JOIN cpu_slice AS b ON b.rowid = a.id WHERE b.cpu <> 1"),
			 0);
	/* One look after the other, with values of other types. */
	assert_int_equal(number("SELECT sum(b.rowid) FROM (SELECT NULL AS x UNION ALL SELECT 2 UNION ALL SELECT 3.0 "
				"UNION ALL SELECT '05' UNION ALL SELECT 7.5 UNION ALL SELECT x'31' UNION ALL "
				"SELECT -1 UNION ALL SELECT 11) AS a CROSS JOIN cpu_slice AS b ON b.rowid = a.x"),
			 2 + 3 + 5 + 11);
	assert_int_equal(number("SELECT sum(b.rowid) FROM (SELECT 1 AS x UNION ALL SELECT 2) AS a "
				"CROSS JOIN session_meta AS b ON b.rowid = a.x"),
			 1 + 2);
	assert_null(nt_db_prepare(db, "SELECT rowid FROM thread", NULL));
	assert_non_null(strstr(db->error, "no such column: rowid"));
}

static void fails(const char *sql, const char *why)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);

	while (nt_db_next(statement))
		;
	if (!nt_db_end(db, statement, "a query"))
		fail_msg("%s: it does not fail", sql);
	if (!strstr(db->error, why))
		fail_msg("%s: %s, and not: %s", sql, db->error, why);
}

#define RIGHT_JOIN "SELECT count(*) FROM cpu_cost AS a RIGHT JOIN cpu_slice AS b ON a.owner = b.owner AND "

static void a_part_of_the_tape_has_no_rowids(void **state)
{
	(void)state;
	fails("SELECT rowid FROM cpu_slice WHERE cpu = 1", "rowid is not known");
	fails("SELECT rowid FROM cpu_slice WHERE ts > 1", "write +ts and +cpu");
	assert_true(number("SELECT sum(rowid) > 0 FROM cpu_slice WHERE +cpu = 1 AND +ts > 1"));
	if (sqlite3_libversion_number() >= 3039000) {
		fails(RIGHT_JOIN "b.cpu = 1", "write +ts and +cpu");
		assert_true(number(RIGHT_JOIN "+b.cpu = 1") > 0);
	}
	/* Conditions and ORDER BY may name it. */
	assert_int_equal(number("SELECT count(*) FROM cpu_slice WHERE rowid <= 10 AND cpu >= 0 AND ts > 1"), 10);
	assert_int_equal(number("SELECT (SELECT ts FROM cpu_slice WHERE cpu = 1 ORDER BY rowid DESC LIMIT 1) ="
				" (SELECT max(ts) FROM cpu_slice WHERE cpu = 1)"),
			 1);
}

static void cursors_do_not_disturb_one_another(void **state)
{
	(void)state;
	assert_int_equal(number("SELECT count(*) FROM session AS a, session AS b, session AS c "
				"WHERE a.host = b.host AND b.uuid = c.uuid AND c.start_ts = a.start_ts"),
			 1);
	assert_int_equal(number("SELECT count(*) = (SELECT count(*) FROM sched_slice) FROM sched_slice AS a "
				"WHERE EXISTS (SELECT 1 FROM sched_slice AS b WHERE b.ts = a.ts AND b.cpu = a.cpu)"),
			 1);
}

static void reading_goes_on_beside_what_is_kept(void **state)
{
	sqlite3_stmt *statement = nt_db_prepare(db, "SELECT ts FROM cpu_slice", NULL);
	int64_t n = 0;

	(void)state;
	while (nt_db_next(statement))
		n += n > 10 || number("SELECT count(*) FROM net_cost_cpu") > 0;
	assert_int_equal(nt_db_end(db, statement, "a query"), 0);
	assert_int_equal(number("SELECT count(*) FROM cpu_slice"), n);
}

/*
 * The session's row is the last: rows of other tables are in the store when it comes. A statement that reads what was
 * kept ends well with all rows, or fails; the next one has all.
 */
static void a_pass_that_ends_early_keeps_nothing(void **state)
{
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_SESSION)};
	const int64_t all = number("SELECT count(*) FROM session_meta");
	sqlite3_stmt *statement = nt_db_prepare(db, "SELECT * FROM session_meta", NULL);
	struct nt_row_iter *rows;
	const struct nt_row *row;
	int64_t n = 1;

	(void)state;
	assert_true(nt_db_next(statement));
	assert_int_equal(nt_tape_source_read(&rows, db->source, &want, NT_ALL_TABLES), 0);
	assert_int_equal(nt_row_next(rows, &row), 0);
	nt_row_close(rows);
	while (nt_db_next(statement))
		n++;
	assert_true(nt_db_end(db, statement, "a query") || n == all);
	assert_int_equal(number("SELECT count(*) FROM session_meta"), all);
	assert_int_equal(number("SELECT (SELECT sum(ns) FROM net_cost_cpu) = (SELECT sum(dur) FROM cpu_slice)"), 1);
}

/* Behind the last value of this row there is nothing. */
static void keeps_no_more_than_the_row_has(void **state)
{
	const uint32_t n = nt_table(NT_TABLE_PROBLEM)->n_columns;
	struct nt_db *store = scratch_db_new(NULL);
	struct nt_row *row = malloc(offsetof(struct nt_row, values) + n * sizeof(row->values[0]));
	sqlite3_stmt *statement;

	(void)state;
	assert_non_null(row);
	row->table = NT_TABLE_PROBLEM;
	row->n = n;
	row->values[0] = (struct nt_value){.type = NT_VALUE_INTEGER, .integer = 4};
	row->values[1] = (struct nt_value){.type = NT_VALUE_TEXT, .text = "bad"};
	assert_int_equal(nt_db_insert(store, row), 0);
	statement = nt_db_prepare(store, "SELECT session_id, text FROM problem", NULL);
	assert_true(nt_db_next(statement));
	assert_int_equal(sqlite3_column_int64(statement, 0), 4);
	assert_string_equal(nt_db_text(statement, 1), "bad");
	assert_false(nt_db_next(statement));
	assert_int_equal(nt_db_end(store, statement, "problems"), 0);
	free(row);
	nt_db_close(store);
}

/* The steps that SQLite takes for a statement. */
static int64_t steps_of(const char *sql)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);
	int64_t steps;

	while (nt_db_next(statement))
		;
	steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
	if (nt_db_end(db, statement, "a query"))
		fail_msg("%s: %s", sql, db->error);
	return steps;
}

#define MAX_STATEMENTS 40
#define STATEMENT_MAX 160
#define BY_ROWID                                                                                                       \
	"SELECT count(b.ts) FROM (SELECT rowid AS id FROM sched_wakeup) AS a LEFT JOIN sched_wakeup AS b "             \
	"ON b.rowid = a.id"

/* Each view in full, and a join by rowid. */
static size_t list_statements(char statements[MAX_STATEMENTS][STATEMENT_MAX])
{
	sqlite3_stmt *views = nt_db_prepare(db, "SELECT name FROM sqlite_master WHERE type = 'view'", NULL);
	size_t n = 0;

	while (nt_db_next(views)) {
		assert_true(n < MAX_STATEMENTS - 1);
		snprintf(statements[n++], STATEMENT_MAX, "SELECT * FROM %s",
			 (const char *)sqlite3_column_text(views, 0));
	}
	assert_int_equal(nt_db_end(db, views, "a query"), 0);
	snprintf(statements[n++], STATEMENT_MAX, "%s", BY_ROWID);
	return n;
}

/* A statement that reads all events for each event would take 16 times as many steps. */
static void four_times_the_events_take_some_four_times_the_steps(void **state)
{
	char statements[MAX_STATEMENTS][STATEMENT_MAX];
	int64_t steps[MAX_STATEMENTS];
	size_t n;

	(void)state;
	nt_db_close(db);
	assert_int_equal(open_traffic("short.tape", 4ull * DUR_NS, 1), 0);
	n = list_statements(statements);
	assert_true(n > 10);
	for (size_t i = 0; i < n; i++)
		steps[i] = steps_of(statements[i]);
	nt_db_close(db);
	assert_int_equal(open_traffic("long.tape", 16ull * DUR_NS, 1), 0);
	for (size_t i = 0; i < n; i++) {
		const int64_t many = steps_of(statements[i]);

		if (many > 6 * steps[i])
			fail_msg("%s: %lld steps, and %lld for four times the events", statements[i],
				 (long long)steps[i], (long long)many);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(texts_are_compared_as_sqlite_does, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_row_that_two_looks_find_comes_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_rowid_is_the_rows_number_in_the_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_part_of_the_tape_has_no_rowids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cursors_do_not_disturb_one_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reading_goes_on_beside_what_is_kept, set_up, tear_down),
		cmocka_unit_test(keeps_no_more_than_the_row_has),
		cmocka_unit_test_setup_teardown(a_pass_that_ends_early_keeps_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(four_times_the_events_take_some_four_times_the_steps, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
