// SPDX-License-Identifier: GPL-2.0-only
/* answer.c - see answer.h. */
#include "report/cmd/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/db/load.h"
#include "report/out/complain.h"

#define PROBLEMS_MAX 20

/* Also those that were found while it was read. */
static void write_problems(struct nt_json *json, struct nt_db *db, const char *tape)
{
	char text[NT_ERROR_MAX];
	const size_t n = nt_load_problem_at(db, 0, text);

	nt_json_open(json, "problems", '[');
	for (size_t i = 0; i < n && i < PROBLEMS_MAX; i++) {
		nt_load_problem_at(db, i, text);
		nt_json_text(json, NULL, text);
	}
	if (n > PROBLEMS_MAX) {
		nt_fail(text, "and %zu more: nettape-report check %s", n - PROBLEMS_MAX, tape);
		nt_json_text(json, NULL, text);
	}
	nt_json_close(json, ']');
}

static int fail_for_memory(void)
{
	nt_complain("out of memory: a query may take %d MiB.", NT_ANSWER_MEMORY_MIB);
	return NT_EXIT_MISUSED;
}

/* The exit code of a query that failed, by whose fault that is: the SQL's, or the host's. It has been said. */
static int blame(struct nt_db *db)
{
	switch (sqlite3_errcode(db->handle)) {
	case SQLITE_NOMEM:
		return fail_for_memory();
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
		return NT_EXIT_FAILED;
	default:
		return db->source && nt_tape_source_error(db->source)[0] ? NT_EXIT_FAILED : NT_EXIT_MISUSED;
	}
}

static int write_answer(FILE *out, struct nt_db *db, const char *path, const char *sql,
			const struct nt_sql_bounds *bounds)
{
	struct nt_json json = {.out = out, .compact = true};

	nt_json_open(&json, NULL, '{');
	nt_json_text(&json, "tape", path);
	if (nt_sql_answer(db, &json, sql, bounds) != NT_EXIT_DONE)
		return blame(db);
	write_problems(&json, db, path);
	nt_json_close(&json, '}');
	return NT_EXIT_DONE;
}

/* Nothing is printed until all is known. */
static int print_answer(struct nt_db *db, const char *path, const char *sql, const struct nt_sql_bounds *bounds)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int code = out ? write_answer(out, db, path, sql, bounds) : NT_EXIT_DONE;

	if (!out || fclose(out))
		code = fail_for_memory();
	else if (code == NT_EXIT_DONE && (fwrite(text, 1, size, stdout) != size || fflush(stdout)))
		code = NT_EXIT_FAILED;
	free(text);
	return code;
}

int nt_answer(const char *path, const char *names_file, const char *sql, const struct nt_sql_bounds *bounds)
{
	/* Names of functions are no reason to read programs on a host that records. */
	static const struct nt_symbol_args nothing = {.none = true};
	char error[NT_ERROR_MAX];
	struct nt_db *db;
	int code;

	if (nt_load_open(&db, path, &nothing, names_file, NULL, error))
		return nt_complain("%s", error);
	nt_foreign_lift(db);
	code = print_answer(db, path, sql, bounds);
	nt_db_close(db);
	return code;
}
