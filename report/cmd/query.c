// SPDX-License-Identifier: GPL-2.0-only
/*
 * query.c - nettape-report query: SQL on a tape or a database, read-only. Where it comes from; sql.h runs it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/options.h"
#include "report/cmd/prompt.h"
#include "report/cmd/sql.h"
#include "report/db/load.h"
#include "report/out/denied.h"

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char why[NT_DENIED_MAX];
	char *text;

	if (!file) {
		nt_complain("%s cannot be read: %s.", path, nt_denied_read(why, path, errno));
		return NULL;
	}
	text = nt_sql_read(file, path);
	fclose(file);
	return text;
}

static char *find_sql(const struct nt_options *options)
{
	char *text;

	if (options->file)
		return read_file(options->file);
	if (options->n_args < 2)
		return nt_sql_read(stdin, "standard input");
	text = strdup(options->args[1]);
	if (!text)
		nt_complain("out of memory.");
	return text;
}

static int run(const struct nt_options *options)
{
	struct nt_printer *printer = NULL;
	struct nt_db *db = NULL;
	size_t told = 0;
	const bool is_by_hand = !options->file && options->n_args < 2 && isatty(STDIN_FILENO);
	int code = NT_EXIT_FAILED;
	char error[NT_ERROR_MAX], *sql;

	if (options->file && options->n_args == 2)
		return nt_complain_misused("query takes its SQL from -f or as an argument, not both.");
	sql = is_by_hand ? NULL : find_sql(options);
	if (!sql && !is_by_hand)
		return NT_EXIT_FAILED;
	if (nt_load_open(&db, options->args[0], &options->symbols, options->names, NULL, error)) {
		nt_complain("%s", error);
	} else {
		nt_damage_tell(db, options->args[0], &told);
		nt_foreign_lift(db);
		printer = nt_printer_new(stdout, options->format, false);
		if (!printer)
			code = nt_complain("out of memory.");
		else
			code = sql ? nt_sql_run(db, printer, sql) : nt_prompt(db, printer, options->args[0]);
	}
	nt_printer_free(printer);
	if (db)
		nt_damage_tell(db, options->args[0], &told);
	nt_db_close(db);
	free(sql);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_NAMES,
	NT_OPTION_SYMBOLS,
	NT_OPTION_NO_SYMBOLS,
	NT_OPTION("file", 'f', "FILE", "busy.sql", NT_TO(nt_option_set_text, struct nt_options, file),
		  "read the SQL from this file"),
	NT_OPTION_JSON,
	NT_OPTION_CSV,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_query = {
	.name = "query",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB [SQL | -f FILE] [--json|--csv]",
	.what = "run SQL on a tape or a database, read-only",
	.help = "Without SQL and without -f, statements are read from standard input; a terminal gets a prompt. "
		"Semicolons separate statements. sql-schema.md describes tables and views, and cookbook.md answers "
		"questions: `make install` puts both into share/doc/nettape.",
	.example = "query busy.db \"SELECT name, net_ns FROM net_cost_process\"",
	.wants = "a tape or a database, and one SQL text",
	.surplus = "; put the SQL in quotes",
	.options = options,
	.min_args = 1,
	.max_args = 2,
	.run = run,
};
