// SPDX-License-Identifier: GPL-2.0-only
/*
 * import.c - nettape-report import: tapes into a database, all or nothing.
 */
#include <stdio.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/out/interrupt.h"
#include "report/out/new_file.h"
#include "schema/cli/arg.h"

/* What was wrong with the tape is in the table problem too; here it is said where it cannot be missed. */
static void warn(const struct nt_tape *tape)
{
	for (size_t i = 0; i < tape->n_problems && i < 20; i++)
		nt_complain("%s: %s", tape->path, tape->problems[i].text);
	if (tape->n_problems > 20)
		nt_complain("%s: %zu more problems: see the table problem.", tape->path, tape->n_problems - 20);
}

static int import_tape(struct nt_db *db, const char *path, struct nt_user_names *names, uint64_t *n_rows)
{
	struct nt_tape *tape;
	char error[NT_ERROR_MAX];
	int result;

	if (nt_tape_open(&tape, path, error))
		return nt_complain("%s", error);
	result = nt_load(db, tape, names, n_rows);
	warn(tape);
	nt_tape_close(tape);
	/* Of an interrupt the last words come when the database is as it was. */
	if (result && nt_interrupted())
		return NT_EXIT_FAILED;
	return result ? nt_complain("%s", db->error) : NT_EXIT_DONE;
}

static void tell(const struct nt_options *options, uint64_t n_rows)
{
	char how[600], count[NT_HUMAN_MAX], word[400];

	snprintf(how, sizeof(how), "%d new %s, %s rows; look at it with nettape-report summary %s", options->n_args,
		 options->n_args == 1 ? "session" : "sessions", nt_human_count(count, (int64_t)n_rows),
		 nt_arg_shell(word, sizeof(word), options->output));
	nt_new_file_tell(options->output, how);
}

static int import_all(struct nt_db *db, const struct nt_options *options, struct nt_user_names *names)
{
	uint64_t sum = 0;

	if (nt_db_begin(db))
		return nt_complain("%s", db->error);
	for (int i = 0; i < options->n_args; i++) {
		uint64_t n_rows = 0;

		if (import_tape(db, options->args[i], names, &n_rows) != NT_EXIT_DONE)
			return NT_EXIT_FAILED;
		sum += n_rows;
	}
	if (nt_db_finish(db))
		return nt_complain("%s", db->error);
	tell(options, sum);
	return NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	struct nt_user_names *names;
	struct nt_db *db;
	char error[NT_ERROR_MAX];
	int code;

	if (nt_user_names_new(&names, &options->symbols, error))
		return nt_complain("%s", error);
	if (nt_db_open(&db, options->output, options->append ? NT_DB_APPEND : NT_DB_NEW)) {
		code = nt_complain("%s", db ? db->error : "out of memory.");
	} else {
		/*
		 * On Ctrl-C a new database is removed at once (db/db.h). One that was there must first be closed, which
		 * takes back what was added.
		 */
		if (!db->partial)
			nt_interrupt_waits();
		code = import_all(db, options, names);
	}
	nt_db_close(db);
	nt_user_names_free(names);
	if (code && nt_interrupted())
		nt_complain("interrupted: %s is unchanged.", options->output);
	nt_interrupt_end();
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT("DB", "busy.db", "the database to make, or to add to", .is_needed = true),
	NT_FLAG("append", append, "add to a database that exists already"),
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
