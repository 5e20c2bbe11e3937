// SPDX-License-Identifier: GPL-2.0-only
/*
 * import.c - nettape-report import: tapes into a database, all or nothing.
 */
#include <stdio.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/db/name_cgroups.h"
#include "report/out/interrupt.h"
#include "report/out/new_file.h"
#include "report/util/array.h"
#include "schema/cli/arg.h"

/* The table problem has the same texts; on stderr nobody misses them. */
static void warn(const struct nt_tape *tape)
{
	for (size_t i = 0; i < tape->n_problems && i < 20; i++)
		nt_complain("%s: %s", tape->path, tape->problems[i].text);
	if (tape->n_problems > 20)
		nt_complain("%s: %zu more problems: see the table problem.", tape->path, tape->n_problems - 20);
}

/* The request of the command line. */
struct import {
	struct nt_db *db;
	struct nt_user_names *names;
	struct nt_cgroup_names *cgroup_names; /* or NULL */
	struct nt_selection selection; /* of time */
	uint64_t tables;
	bool only_sums;
};

/* 0, or -1 and db->error. */
static int load(const struct import *import, struct nt_tape *tape, uint64_t *n_rows)
{
	const struct nt_selection *selection = &import->selection;
	const int64_t start_ts = (int64_t)tape->start_ns, end_ts = (int64_t)tape->end_ns;
	const int64_t realtime_ns = (int64_t)tape->start_realtime_ns;
	const struct nt_window window = nt_selection_within(selection, start_ts, end_ts, realtime_ns);
	struct nt_load_part part = {.only_sums = import->only_sums, .cgroup_names = import->cgroup_names};
	char length[NT_HUMAN_MAX], start[NT_HUMAN_MAX];

	if (selection->from.is_given || selection->to.is_given)
		part.view = (struct nt_view){(uint64_t)window.from_ts, (uint64_t)window.to_ts, NULL};
	if (!nt_view_is_part(&part.view) || window.from_ts < window.to_ts)
		return nt_load(import->db, tape, import->names, &part, n_rows);
	return nt_db_refuse(import->db, "nothing of %s is in that time: it began at %s and lasted %s.", tape->path,
			    nt_human_time(start, (uint64_t)realtime_ns),
			    nt_human_ns(length, tape->end_ns - tape->start_ns));
}

static int import_tape(const struct import *import, const char *path, uint64_t *n_rows)
{
	struct nt_tape *tape;
	char error[NT_ERROR_MAX];
	int result;

	if (nt_tape_open(&tape, path, error))
		return nt_complain("%s", error);
	if (import->cgroup_names && nt_name_cgroups_meet(import->cgroup_names, tape, error)) {
		nt_tape_close(tape);
		return nt_complain("%s", error);
	}
	result = load(import, tape, n_rows);
	warn(tape);
	nt_tape_close(tape);
	/* Of an interrupt the last words come when the database is as it was. */
	if (result && nt_interrupted())
		return NT_EXIT_FAILED;
	return result ? nt_complain("%s", import->db->error) : NT_EXIT_DONE;
}

static void tell(const struct nt_options *options, uint64_t n_rows)
{
	char how[600], count[NT_HUMAN_MAX], word[400];

	snprintf(how, sizeof(how), "%d new %s, %s rows; look at it with nettape-report summary %s", options->n_args,
		 options->n_args == 1 ? "session" : "sessions", nt_human_count(count, (int64_t)n_rows),
		 nt_arg_shell(word, sizeof(word), options->output));
	nt_new_file_tell(options->output, how);
}

static int import_all(const struct import *import, const struct nt_options *options)
{
	struct nt_db *db = import->db;
	uint64_t sum = 0;

	if (nt_db_begin(db))
		return nt_complain("%s", db->error);
	for (int i = 0; i < options->n_args; i++) {
		uint64_t n_rows = 0;

		if (import_tape(import, options->args[i], &n_rows) != NT_EXIT_DONE)
			return NT_EXIT_FAILED;
		sum += n_rows;
	}
	if (nt_db_finish(db))
		return nt_complain("%s", db->error);
	tell(options, sum);
	return NT_EXIT_DONE;
}

/* ---- which tables ---- */

static int refuse_table(const char *name, size_t size, char error[NT_ERROR_MAX])
{
	int at = snprintf(error, NT_ERROR_MAX, "--tables %.*s: there is no such table; choose from", (int)size, name);

	for (unsigned int i = 0; nt_choose_table(i) && at < NT_ERROR_MAX; i++)
		at += snprintf(error + at, NT_ERROR_MAX - (size_t)at, "%s %s", i ? "," : "", nt_choose_table(i));
	if (at < NT_ERROR_MAX)
		snprintf(error + at, NT_ERROR_MAX - (size_t)at, ".");
	return -1;
}

/* "cpu_slice,sock_op" into a set; all if there is no list. 0, or -1 and a sentence. */
static int choose_tables(const char *list, uint64_t *tables, char error[NT_ERROR_MAX])
{
	*tables = list ? nt_tables_kept(NT_KEPT_WITHOUT_SUMS) : NT_ALL_TABLES;
	while (list && *list) {
		const size_t size = strcspn(list, ",");
		const size_t id = NT_FIRST(NT_TABLE_COUNT, i,
					   strlen(nt_choose_table((unsigned int)i)) == size &&
						   !strncmp(nt_choose_table((unsigned int)i), list, size));

		if (id == NT_TABLE_COUNT)
			return refuse_table(list, size < 40 ? size : 40, error);
		*tables |= NT_TABLE_BIT(id);
		list += size + (list[size] == ',');
	}
	return 0;
}

/* A new database gets these tables. One that was there must have them: its sessions have the same tables. */
static int set_tables(struct nt_db *db, const struct nt_options *options, uint64_t tables)
{
	uint64_t has;

	if (db->partial)
		return nt_db_leave_out(db, NT_ALL_TABLES & ~tables);
	if (nt_load_refuse_buckets(db, options->sums))
		return -1;
	nt_foreign_lift(db); /* from here on the tapes are what takes time */
	if (!options->tables && !options->sums)
		return 0;
	if (nt_db_tables(db, &has))
		return -1;
	return has == tables ? 0
			     : nt_db_refuse(db,
					    "%s has other tables than these, and all its sessions have the same: leave "
					    "%s out, or make a new database.",
					    db->path, options->sums ? "--sums" : "--tables");
}

static int choose(struct import *import, const struct nt_options *options, char error[NT_ERROR_MAX])
{
	if (options->sums && options->tables)
		return nt_fail(error, "--sums has tables of its own: leave --tables out.");
	if (choose_tables(options->tables, &import->tables, error))
		return -1;
	import->only_sums = options->sums;
	if (options->sums)
		import->tables = nt_tables_kept(NT_KEPT_WITH_SUMS);
	return nt_select(&options->selection, &import->selection, error);
}

static int open_and_import(struct import *import, const struct nt_options *options)
{
	const enum nt_db_mode mode = options->append ? NT_DB_APPEND : NT_DB_NEW;

	if (nt_db_open(&import->db, options->output, mode) || set_tables(import->db, options, import->tables))
		return import->db ? nt_complain("%s", import->db->error)
				  : nt_complain("%s: out of memory.", options->output);
	/*
	 * On Ctrl-C a new database is removed at once (db/db.h). One that was there must first be closed, which takes
	 * back what was added.
	 */
	if (!import->db->partial)
		nt_interrupt_waits();
	return import_all(import, options);
}

static int run(const struct nt_options *options)
{
	struct import import = {0};
	char error[NT_ERROR_MAX];
	int code;

	if (choose(&import, options, error))
		return nt_complain_misused(error);
	if (options->names && nt_cgroup_names_new(&import.cgroup_names, options->names, error))
		return nt_complain("%s", error);
	if (nt_user_names_new(&import.names, &options->symbols, error))
		code = nt_complain("%s", error);
	else
		code = open_and_import(&import, options);
	nt_db_close(import.db);
	nt_user_names_free(import.names);
	nt_cgroup_names_free(import.cgroup_names);
	if (code && nt_interrupted())
		nt_complain("interrupted: %s is unchanged.", options->output);
	nt_interrupt_end();
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT("DB", "busy.db", "the database to make, or to add to", .is_needed = true),
	NT_FLAG("append", append, "add to a database that exists already"),
	NT_TEXT("tables", "LIST", "cpu_slice,sock_op", tables,
		"only these tables, such as cpu_slice,sock_op, and those that say who is who",
		.choice = nt_choose_table),
	NT_FLAG("sums", sums, "only sums for each minute, the 50 largest by name: a megabyte an hour, for summary"),
	NT_OPTIONS_TIME,
	NT_OPTION_NAMES,
	NT_OPTION_SYMBOLS,
	NT_OPTION_NO_SYMBOLS,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_import = {
	.name = "import",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE... -o DB [--append] [OPTION]...",
	.what = "put tapes into an SQLite database",
	.help = "Each tape becomes one session. All tapes are imported, or the database stays unchanged. A damaged "
		"tape is imported as far as it can be read; the rest is uncovered time.",
	.example = "import busy.tape -o busy.db",
	.wants = "a tape",
	.options = options,
	.min_args = 1,
	.max_args = 100000,
	.run = run,
};
