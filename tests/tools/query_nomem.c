// SPDX-License-Identifier: GPL-2.0-only
/*
 * query_nomem.c - asks a tape by SQL again and again, each time with another allocation failing: either that is said,
 * or the rows are as many as otherwise; and nothing leaks. query_nomem TAPE [STEP].
 */
#include <stdio.h>
#include <string.h>

#include "report/db/load.h"
#include "tests/support/must.h"
#include "tests/tools/failing_malloc.h"

/* Tables that are read, that are kept, of which a part is kept; the head of the session; two plans in one statement. */
static const char *const statements[] = {
	"SELECT * FROM cpu_slice WHERE cpu = 0 AND owner = 'idle'",
	"SELECT a.host, b.uuid FROM session AS a, session AS b",
	"SELECT * FROM net_cost_process",
	"SELECT a.ts, (SELECT max(b.ts) FROM sched_slice AS b WHERE b.utid = a.utid) FROM sock_op AS a",
	"SELECT * FROM thread WHERE utid = 1 OR name = 'web'",
};

/* Adds the rows of a query. 0 or -1; what failed must have been said. */
static int query(struct nt_db *db, const char *sql, uint64_t *n_rows)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);
	int error;

	while (nt_db_next(statement))
		++*n_rows;
	error = nt_db_end(db, statement, "a query");
	MUST(!error || db->error[0]);
	return error;
}

/* The statement again at once: what failed left nothing behind that keeps it from running. */
static int ask(const char *path, uint64_t *n_rows)
{
	char text[NT_ERROR_MAX] = "";
	struct nt_db *db;
	int error = nt_load_open(&db, path, NULL, NULL, text);

	*n_rows = 0;
	MUST(!error || text[0]);
	for (size_t i = 0; !error && i < sizeof(statements) / sizeof(statements[0]); i++) {
		const uint64_t before = *n_rows;

		error = query(db, statements[i], n_rows);
		if (!error)
			continue;
		*n_rows = before;
		MUST(until_failure >= 0 || !query(db, statements[i], n_rows));
	}
	nt_db_close(db);
	return error;
}

int main(int argc, char **argv)
{
	const long step = argc == 3 ? strtol(argv[2], NULL, 10) : 1;
	uint64_t wanted, got;
	long before, runs = 0;
	int error;

	MUST(argc >= 2 && step > 0);
	MUST(!ask(argv[1], &wanted) && wanted);
	before = live;
	for (long k = 0;; k += step, runs++) {
		until_failure = k;
		error = ask(argv[1], &got);
		if (live != before)
			fprintf(stderr, "allocation %ld: %ld pieces left\n", k, live - before);
		MUST(live == before);
		/* SQLite can do without some of its allocations. */
		MUST(error || got == wanted);
		if (!error && until_failure >= 0)
			break;
	}
	until_failure = -1;
	printf("each of %ld allocations failed once\n", runs);
	return 0;
}
