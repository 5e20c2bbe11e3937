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

/* 0, or the error of whatever failed first. */
static int read_rows(const char *path)
{
	const struct nt_row *row;
	struct nt_rows *rows;
	struct nt_tape *tape;
	char text[NT_ERROR_MAX];
	int error = nt_tape_open(&tape, path, text);

	if (error)
		return error;
	error = nt_rows_open(&rows, tape, NULL, 1, &(struct nt_rows_want){.tables = NT_ALL_TABLES});
	if (!error) {
		while (!(error = nt_rows_next(rows, &row)))
			;
		nt_rows_close(rows);
	}
	nt_tape_close(tape);
	return error == 1 ? 0 : error;
}

/* 0 or -1; what failed must have been said. */
static int load(const char *path)
{
	struct nt_db *db;
	char text[NT_ERROR_MAX] = "";
	int error = nt_load_open(&db, path, NULL, NULL, text);

	MUST(!error || text[0]);
	nt_db_close(db);
	return error;
}

int main(int argc, char **argv)
{
	long n = 0, loads = 0, before;
	int error;

	MUST(argc == 2);
	/* What libraries keep for later is not counted. */
	MUST(!read_rows(argv[1]) && !load(argv[1]));
	before = live;
	do {
		until_failure = n++;
		error = read_rows(argv[1]);
		/* The C library can do without some of its allocations. */
		MUST(until_failure < 0 ? !error || error == -ENOMEM : !error);
		if (live != before)
			fprintf(stderr, "allocation %ld: %ld pieces left\n", n - 1, live - before);
		MUST(live == before);
	} while (until_failure < 0);
	for (long k = 0;; k += SQLITE_STEP, loads++) {
		until_failure = k;
		error = load(argv[1]);
		if (live != before)
			fprintf(stderr, "allocation %ld: %ld pieces left\n", k, live - before);
		MUST(live == before);
		/* SQLite can do without some of its allocations. */
		if (!error && until_failure >= 0)
			break;
	}
	until_failure = -1;
	printf("each of %ld allocations failed once, and %ld of those with SQLite\n", n - 1, loads);
	return 0;
}
