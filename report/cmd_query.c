// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_query.c - nettape-report query: SQL on a tape or a database, read-only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command.h"
#include "report/load.h"
#include "report/result.h"

#define MAX_SQL (1u << 20)

/* All of a stream, zero-terminated; NULL: too much, or a failure, which has been said. The caller frees it. */
static char *read_all(FILE *file, const char *name)
{
	char *text = malloc(MAX_SQL + 1);
	size_t size = text ? fread(text, 1, MAX_SQL + 1, file) : 0;

	if (text && !ferror(file) && size <= MAX_SQL && !memchr(text, 0, size)) {
		text[size] = 0;
		return text;
	}
	nt_complain("%s cannot be read as SQL: %s.", name,
		    text && ferror(file) ? strerror(errno) : "it is longer than a megabyte or is no text");
	free(text);
	return NULL;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file) {
		nt_complain("%s cannot be read: %s.", path, strerror(errno));
		return NULL;
	}
	text = read_all(file, path);
	fclose(file);
	return text;
}

static char *find_sql(const struct nt_options *options)
{
	if (options->file)
		return read_file(options->file);
	if (options->n_args == 2)
		return strdup(options->args[1]);
	return read_all(stdin, "standard input");
}

/* Runs one statement after the other, with an empty line between what they print. */
static int run_all(struct nt_db *db, struct nt_printer *printer, const char *sql)
{
	bool printed = false;

	for (;;) {
		sqlite3_stmt *statement = nt_db_prepare(db, sql, &sql);
		int error;

		if (!statement) {
			if (db->error[0])
				return nt_complain("%s", db->error);
			if (!*sql)
				return NT_EXIT_DONE;
			continue;
		}
		if (printed)
			puts("");
		printed = true;
		error = nt_result_print(db, statement, printer);
		sqlite3_finalize(statement);
		if (error)
			return nt_complain("%s", db->error);
	}
}

static int run(const struct nt_options *options)
{
	struct nt_printer *printer = NULL;
	struct nt_db *db = NULL;
	int code = NT_EXIT_FAILED;
	char error[512], *sql;

	if (options->file && options->n_args == 2)
		return nt_complain_misused("query takes its SQL from -f or as an argument, not both.");
	sql = find_sql(options);
	if (!sql)
		return NT_EXIT_FAILED;
	if (nt_load_open(&db, options->args[0], &options->symbols, error, sizeof(error))) {
		nt_complain("%s", error);
	} else {
		printer = nt_printer_new(stdout, options->format, false);
		code = printer ? run_all(db, printer, sql) : nt_complain("out of memory.");
	}
	nt_printer_free(printer);
	nt_db_close(db);
	free(sql);
	return code;
}

const struct nt_command nt_cmd_query = {
	.name = "query",
	.usage = "TAPE|DB [SQL | -f FILE] [--json|--csv]",
	.what = "runs SQL on a tape or a database, read-only",
	.help = "Without SQL and without -f it is read from standard input. Several statements are separated by\n"
		"semicolons. docs/sql-schema.md lists tables and views, docs/cookbook.md has questions.\n",
	.takes = NT_TAKES_JSON | NT_TAKES_CSV | NT_TAKES_FILE | NT_TAKES_SYMBOLS | NT_TAKES_NO_SYMBOLS,
	.min_args = 1,
	.max_args = 2,
	.run = run,
};
