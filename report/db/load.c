// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - see load.h.
 */
#include "report/db/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report/db/tape_tables.h"
#include "report/out/interrupt.h"
#include "report/out/progress.h"
#include "report/rows/rows.h"

#define ROWS_PER_LOOK 8192 /* rows between two looks at the progress */

static int refuse_twice(struct nt_db *db, const struct nt_tape *tape)
{
	char uuid[33];
	int found;

	nt_session_uuid(tape, uuid);
	found = nt_db_has_session(db, uuid);
	return found > 0 ? nt_db_refuse(db, "%s is in the database already, as session %s: leave it out.", tape->path,
					uuid)
			 : found;
}

static int load_rows(struct nt_db *db, struct nt_rows *rows, struct nt_progress *progress, uint64_t *n_rows)
{
	const struct nt_row *row;
	int error;

	while (!(error = nt_rows_next(rows, &row))) {
		if (nt_db_insert(db, row))
			return -1;
		if (++*n_rows % ROWS_PER_LOOK)
			continue;
		nt_progress_show(progress, nt_rows_progress(rows), *n_rows);
		if (nt_interrupted())
			return nt_db_refuse(db, "interrupted.");
	}
	if (error == 1)
		return 0;
	return nt_db_refuse(db, "the rest of %s cannot be read: %s.", progress->what, nt_tape_error_text(error));
}

int nt_load(struct nt_db *db, struct nt_tape *tape, struct nt_user_names *names, uint64_t *n_rows)
{
	struct nt_progress progress;
	struct nt_rows *rows = NULL;
	uint64_t count = 0;
	int64_t session_id;
	int error;

	if (refuse_twice(db, tape))
		return -1;
	session_id = nt_db_next_session(db);
	if (!session_id)
		return -1;
	error = nt_rows_open(&rows, tape, names, session_id,
			     &(struct nt_rows_want){.tables = NT_ALL_TABLES, .order = NT_ROWS_EVENTS_FIRST});
	if (error)
		return nt_db_refuse(db, "%s cannot be read: %s.", tape->path, nt_tape_error_text(error));
	nt_progress_begin(&progress, tape->path);
	error = load_rows(db, rows, &progress, &count);
	nt_progress_end(&progress);
	nt_rows_close(rows);
	if (n_rows)
		*n_rows = count;
	return error;
}

bool nt_load_is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char bytes[sizeof(magic)];
	FILE *file = fopen(path, "re");
	struct stat status;
	bool is;

	if (!file)
		return false;
	is = !fstat(fileno(file), &status) && S_ISREG(status.st_mode) &&
	     fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) && !memcmp(bytes, magic, sizeof(magic));
	fclose(file);
	return is;
}

/* ---- samples that must be there ---- */

const struct nt_need nt_need_stacks = {{"stacks"}, "stack samples", "default,stacks"};
const struct nt_need nt_need_latency = {{"latency"}, "latency samples", "default,latency"};
const struct nt_need nt_need_packets = {
	{"latency", "drops", "retransmits"}, "samples of packets", "default,latency,drops,retransmits"};

const char *nt_need_text(const struct nt_need *need, char text[NT_NEED_MAX])
{
	snprintf(text, NT_NEED_MAX, "no %s: record with nettape-record --probes %s", need->samples, need->record);
	return text;
}

/* Whether a list like "sched,socket" has this name. */
static bool is_in_list(const char *list, const char *name)
{
	size_t size = strlen(name);

	for (;;) {
		size_t length = strcspn(list, ",");

		if (length == size && !memcmp(list, name, size))
			return true;
		if (!list[length])
			return false;
		list += length + 1;
	}
}

/* A tape that does not name its probes may have what is needed. 0, or -1 and a sentence in `error`. */
static int check_need(const struct nt_tape *tape, const struct nt_need *need, char error[NT_ERROR_MAX])
{
	char list[1024], why[NT_NEED_MAX];

	if (!need || nt_tape_meta(tape, NT_META_PROBES, list, sizeof(list)))
		return 0;
	for (size_t i = 0; need->probes[i]; i++) {
		if (is_in_list(list, need->probes[i]))
			return 0;
	}
	return nt_fail(error, "%s: it has %s.", tape->path, nt_need_text(need, why));
}

/* ---- opening ---- */

int nt_load_source(struct nt_tape_source **out, const char *path, const struct nt_symbol_args *args,
		   const struct nt_need *need, char error[NT_ERROR_MAX])
{
	struct nt_user_names *names = NULL;
	struct nt_tape *tape = NULL;
	int result = args ? nt_user_names_new(&names, args, error) : 0;

	*out = NULL;
	if (!result)
		result = nt_tape_open(&tape, path, error);
	if (!result)
		result = check_need(tape, need, error);
	if (result) {
		nt_tape_close(tape);
		nt_user_names_free(names);
		return -1;
	}
	return nt_tape_source_new(out, tape, names) ? nt_fail(error, "out of memory.") : 0;
}

/* A database whose tables read the tape. */
static int open_tables(struct nt_db **out, struct nt_tape_source *source)
{
	char error[NT_ERROR_MAX];

	if (nt_db_open(out, "", NT_DB_BARE)) {
		nt_tape_source_free(source);
		return -1;
	}
	(*out)->source_error = nt_tape_source_error(source);
	nt_tape_source_show(source);
	if (!nt_tape_tables_make((*out)->handle, source, "main", error))
		return 0;
	(*out)->source_error = NULL;
	return nt_db_refuse(*out, "%s", error);
}

static int open_tape(struct nt_db **out, const char *path, const struct nt_symbol_args *args,
		     const struct nt_need *need, char error[NT_ERROR_MAX])
{
	struct nt_tape_source *source;

	return nt_load_source(&source, path, args, need, error) ? -1 : open_tables(out, source);
}

int nt_load_refuse_symbols(const char *path, const struct nt_symbol_args *args, char error[NT_ERROR_MAX])
{
	if (!args || !args->n_dirs)
		return 0;
	return nt_fail(error,
		       "%s is a database and has names already: --symbols is for tapes. To look for more names: "
		       "nettape-report symbolize.",
		       path);
}

int nt_load_open(struct nt_db **out, const char *path, const struct nt_symbol_args *args, const struct nt_need *need,
		 char error[NT_ERROR_MAX])
{
	int result = -1;

	*out = NULL;
	nt_fail(error, "out of memory.");
	if (!nt_load_is_database(path))
		result = open_tape(out, path, args, need, error);
	else if (!nt_load_refuse_symbols(path, args, error))
		result = nt_db_open(out, path, NT_DB_READ);
	if (!result)
		result = nt_db_forbid_writing(*out);
	if (result) {
		if (*out)
			nt_fail(error, "%s", (*out)->error);
		nt_db_close(*out);
		*out = NULL;
	}
	return result;
}
