// SPDX-License-Identifier: GPL-2.0-only
/*
 * import_nomem.c - imports a tape again and again, each time with another allocation failing: it says so and nothing
 * leaks. import_nomem TAPE. First the rows alone, every allocation; then with SQLite, whose allocations are many, some
 * of them.
 */
#include <stdio.h>
#include <string.h>

#include "report/db/load.h"
#include "report/rows/rows.h"
#include "tests/support/must.h"
#include "tests/tools/failing_malloc.h"

#define SQLITE_STEP 7 /* every so many of SQLite's allocations */

/* 0, or the error of whatever failed first. Gives how many rows came. */
static int read_rows(const char *path, uint64_t *n)
{
	const struct nt_row *row;
	struct nt_rows *rows;
	struct nt_tape *tape;
	char text[NT_ERROR_MAX];
	int error = nt_tape_open(&tape, path, text);

	*n = 0;
	if (error)
		return error;
	error = nt_rows_open(&rows, tape, NULL, 1, &(struct nt_rows_want){.tables = NT_ALL_TABLES});
	if (!error) {
		while (!(error = nt_rows_next(rows, &row)))
			++*n;
		nt_rows_close(rows);
	}
	nt_tape_close(tape);
	return error == 1 ? 0 : error;
}

static int load_tape(struct nt_db *db, const char *path, const struct nt_load_part *part)
{
	struct nt_tape *tape;
	int error = nt_tape_open(&tape, path, db->error);

	if (error)
		return error;
	error = nt_db_begin(db) || nt_load(db, tape, NULL, part, NULL) || nt_db_finish(db);
	nt_tape_close(tape);
	return error;
}

static int open_db(struct nt_db **db, bool only_sums)
{
	int error = nt_db_open(db, "", NT_DB_TEMPORARY);

	return error || !only_sums ? error : nt_db_leave_out(*db, NT_ALL_TABLES & ~NT_SUMS_TABLES);
}

/* 0, or what failed, which must have been said. */
static int load(const char *path, bool only_sums)
{
	const struct nt_load_part part = {.only_sums = only_sums};
	struct nt_db *db;
	int error = open_db(&db, only_sums) || load_tape(db, path, &part);

	MUST(!error || !db || db->error[0]);
	nt_db_close(db);
	return error;
}

static void expect_no_leak(long allocation, long before)
{
	if (live != before)
		fprintf(stderr, "allocation %ld: %ld pieces left\n", allocation, live - before);
	MUST(live == before);
}

/* Gives how many. */
static long fail_rows(const char *path, uint64_t all)
{
	const long before = live;
	uint64_t rows;
	long n = 0;

	do {
		int error;

		until_failure = n++;
		error = read_rows(path, &rows);
		/* The C library can do without some of its allocations. */
		MUST(until_failure < 0 ? !error || error == -ENOMEM : !error);
		MUST(error || rows == all);
		expect_no_leak(n - 1, before);
	} while (until_failure < 0);
	return n - 1;
}

/* Gives how many loads. */
static long fail_loads(const char *path, bool only_sums)
{
	const long before = live;
	long loads = 0;

	for (long k = 0;; k += SQLITE_STEP, loads++) {
		int error;

		until_failure = k;
		error = load(path, only_sums);
		expect_no_leak(k, before);
		/* SQLite can do without some of its allocations. */
		if (!error && until_failure >= 0)
			return loads;
	}
}

int main(int argc, char **argv)
{
	long rows, loads, sums;
	uint64_t all;

	MUST(argc == 2);
	/* What libraries keep for later is not counted. */
	MUST(!read_rows(argv[1], &all) && all && !load(argv[1], false) && !load(argv[1], true));
	rows = fail_rows(argv[1], all);
	loads = fail_loads(argv[1], false);
	sums = fail_loads(argv[1], true);
	until_failure = -1;
	printf("each of %ld allocations failed once, %ld of those with SQLite, and %ld of those of sums\n", rows, loads,
	       sums);
	return 0;
}
