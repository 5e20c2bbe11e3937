// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - see load.h.
 */
#include "report/db/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/db/name_cgroups.h"
#include "report/db/older.h"
#include "report/db/tape_tables.h"
#include "report/out/complain.h"
#include "report/out/interrupt.h"
#include "report/out/progress.h"
#include "report/rows/ahead.h"
#include "report/util/array.h"
#include "report/util/words.h"

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

/* A tape on its way into a database. */
struct loading {
	struct nt_db *db;
	struct nt_row_iter *rows;
	struct nt_sums *sums; /* NULL: every row */
	struct nt_progress progress;
	uint64_t n_read, n_rows; /* rows of the tape; of these, in the database */
};

/* 0, or -1 and db->error. */
static int insert(void *arg, const struct nt_row *row)
{
	struct loading *loading = arg;

	loading->n_rows++;
	return nt_db_insert(loading->db, row);
}

/* An error of sums.h as -1 and db->error. */
static int sums_error(struct loading *loading, int error)
{
	return error == -ENOMEM ? nt_db_no_memory(loading->db) : error;
}

static int take(struct loading *loading, const struct nt_row *row)
{
	return loading->sums ? sums_error(loading, nt_sums_row(loading->sums, row)) : insert(loading, row);
}

static int insert_rows(struct loading *loading)
{
	const struct nt_row *row;
	int error;

	while (!(error = nt_row_next(loading->rows, &row))) {
		if (take(loading, row))
			return -1;
		if (++loading->n_read % ROWS_PER_LOOK)
			continue;
		nt_progress_show(&loading->progress, nt_row_progress(loading->rows), loading->n_rows);
		if (nt_interrupted())
			return nt_db_refuse(loading->db, "interrupted.");
	}
	if (error == -ECANCELED)
		return nt_db_refuse(loading->db, "interrupted.");
	if (error == 1)
		return loading->sums ? sums_error(loading, nt_sums_finish(loading->sums)) : 0;
	return nt_db_refuse(loading->db, "the rest of %s cannot be read: %s.", loading->progress.what,
			    nt_tape_error_text(error));
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return nt_interrupted();
}

/* Rows are made beside their inserting. */
static int load_rows(struct loading *loading, struct nt_tape *tape, struct nt_user_names *names, int64_t session_id,
		     const struct nt_rows_want *want)
{
	int error = nt_ahead_open(&loading->rows, NULL, tape, names, session_id, want);

	if (error)
		return nt_db_refuse(loading->db, "%s cannot be read: %s.", tape->path, nt_tape_error_text(error));
	nt_progress_begin(&loading->progress, tape->path);
	error = insert_rows(loading);
	nt_progress_end(&loading->progress);
	nt_row_close(loading->rows);
	return error;
}

/* The session's row has the times of the window: those of the recording are said here. */
static int insert_recording(struct loading *loading, const struct nt_tape *tape, int64_t session_id)
{
	const uint64_t times[] = {tape->start_ns, tape->end_ns};
	static const char *const keys[] = {NT_LOAD_RECORDING_START, NT_LOAD_RECORDING_END};
	struct nt_arena arena = {0};
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(keys) && !error; i++) {
		char text[24];
		const struct nt_meta_line line = {keys[i], text};
		struct nt_row row;

		snprintf(text, sizeof(text), "%llu", (unsigned long long)times[i]);
		error = nt_table_fill(&row, &arena, NT_TABLE_SESSION_META, session_id, &line)
				? nt_db_no_memory(loading->db)
				: insert(loading, &row);
	}
	nt_arena_release(&arena);
	return error;
}

static int make_sums(struct loading *loading, const struct nt_tape *tape, const struct nt_load_part *part)
{
	const struct nt_view_time time = nt_view_time(&part->view, tape->start_ns, tape->end_ns);
	const struct nt_sums_sink sink = {loading, insert};

	loading->sums = nt_sums_new((int64_t)time.from_ns, (int64_t)time.to_ns, &sink);
	return loading->sums ? 0 : nt_db_no_memory(loading->db);
}

static int load_session(struct loading *loading, struct nt_tape *tape, struct nt_user_names *names,
			const struct nt_load_part *part, int64_t session_id)
{
	struct nt_rows_want want = {.order = NT_ROWS_EVENTS_FIRST,
				    .view = part->view,
				    .cgroup_names = part->cgroup_names,
				    .is_stopped = is_interrupted};
	int error;

	if (nt_db_tables(loading->db, &want.tables))
		return -1;
	error = load_rows(loading, tape, names, session_id, &want);
	return !error && nt_view_is_part(&want.view) ? insert_recording(loading, tape, session_id) : error;
}

int nt_load(struct nt_db *db, struct nt_tape *tape, struct nt_user_names *names, const struct nt_load_part *part,
	    uint64_t *n_rows)
{
	static const struct nt_load_part whole;
	struct loading loading = {.db = db};
	int64_t session_id;
	int error;

	if (refuse_twice(db, tape))
		return -1;
	session_id = nt_db_next_session(db);
	part = part ? part : &whole;
	if (!session_id || (part->only_sums && make_sums(&loading, tape, part)))
		return -1;
	error = load_session(&loading, tape, names, part, session_id);
	nt_sums_free(loading.sums);
	if (n_rows)
		*n_rows = loading.n_rows;
	return error;
}

int nt_load_refuse_part(struct nt_db *db)
{
	sqlite3_stmt *row = nt_db_prepare(
		db, "SELECT session_id FROM session_meta WHERE key = '" NT_LOAD_RECORDING_START "' LIMIT 1", NULL);
	const int64_t part = nt_db_next(row) ? sqlite3_column_int64(row, 0) : 0;

	if (nt_db_end(db, row, "the sessions cannot be read"))
		return -1;
	return part ? nt_db_refuse(db,
				   "%s: session %lld is a part of its recording (import --from, --to): give the tape, "
				   "or import all of it.",
				   db->path, (long long)part)
		    : 0;
}

int nt_load_refuse_buckets(struct nt_db *db, bool only_sums)
{
	sqlite3_stmt *row = nt_db_prepare(db,
					  only_sums ? "SELECT 1 FROM session WHERE bucket_ns <> ?1"
						    : "SELECT 1 FROM session WHERE bucket_ns = ?1",
					  NULL);
	bool differs;

	sqlite3_bind_int64(row, 1, NT_SUMS_BUCKET_NS);
	differs = nt_db_next(row);
	if (nt_db_end(db, row, "the sessions cannot be read"))
		return -1;
	if (!differs)
		return 0;
	return only_sums ? nt_db_refuse(db,
					"%s was made without --sums, and has finer sums: leave --sums out, or make a "
					"new database.",
					db->path)
			 : nt_db_refuse(db,
					"%s was made with --sums, and has sums of minutes: add --sums, or make a new "
					"database.",
					db->path);
}

bool nt_load_is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char bytes[sizeof(magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for its writer */
	struct stat status;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &status) && S_ISREG(status.st_mode) && pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
	     !memcmp(bytes, magic, sizeof(magic));
	close(fd);
	return is;
}

/* ---- samples that must be there ---- */

const struct nt_need nt_need_stacks = {{"stacks"}, "stack samples", "default,stacks"};
const struct nt_need nt_need_latency = {{"latency", "transmit"}, "latency samples", "default,latency"};
const struct nt_need nt_need_drops = {{"drops"}, "samples of drops", "default,drops"};
const struct nt_need nt_need_retransmits = {{"retransmits"}, "samples of retransmits", "default,retransmits"};
const struct nt_need nt_need_wakeups = {{"wakeups"}, "samples of wake-ups", "default,wakeups"};
const struct nt_need nt_need_flows = {{"flows"}, "counts of flows", "default,flows"};

const char *nt_need_text(const struct nt_need *need, char text[NT_NEED_MAX])
{
	snprintf(text, NT_NEED_MAX, "no %s: record with nettape-record --probes %s", need->samples, need->record);
	return text;
}

/* A tape that does not name its probes may have what is needed. 0, or -1 and a sentence in `error`. */
static int check_need(const struct nt_tape *tape, const struct nt_need *need, char error[NT_ERROR_MAX])
{
	char list[1024], why[NT_NEED_MAX];

	if (!need || nt_tape_meta(tape, NT_META_PROBES, list, sizeof(list)))
		return 0;
	for (size_t i = 0; need->probes[i]; i++) {
		if (nt_has_word(list, need->probes[i]))
			return 0;
	}
	return nt_fail(error, "%s: it has %s.", tape->path, nt_need_text(need, why));
}

/* ---- opening ---- */

int nt_load_source(struct nt_tape_source **out, const char *path, const struct nt_symbol_args *args,
		   const char *names_file, const struct nt_need *need, char error[NT_ERROR_MAX])
{
	struct nt_cgroup_names *cgroup_names = NULL;
	struct nt_user_names *names = NULL;
	struct nt_tape *tape = NULL;
	int result = args ? nt_user_names_new(&names, args, error) : 0;

	*out = NULL;
	if (!result)
		result = nt_tape_open(&tape, path, error);
	if (!result)
		result = check_need(tape, need, error);
	if (!result)
		result = nt_name_cgroups_of_tape(&cgroup_names, names_file, tape, error);
	if (result) {
		nt_tape_close(tape);
		nt_user_names_free(names);
		return -1;
	}
	return nt_tape_source_new(out, tape, names, cgroup_names) ? nt_fail(error, "%s: out of memory.", path) : 0;
}

/* A database whose tables read the tape. */
static int open_tables(struct nt_db **out, struct nt_tape_source *source)
{
	char error[NT_ERROR_MAX];

	if (nt_db_open(out, nt_tape_source_path(source), NT_DB_BARE)) {
		nt_tape_source_free(source);
		return -1;
	}
	(*out)->source = source;
	nt_tape_source_show(source);
	if (!nt_tape_tables_make((*out)->handle, source, "main", error))
		return 0;
	(*out)->source = NULL;
	return nt_db_refuse(*out, "%s", error);
}

static int open_tape(struct nt_db **out, const char *path, const struct nt_symbol_args *args, const char *names_file,
		     const struct nt_need *need, char error[NT_ERROR_MAX])
{
	struct nt_tape_source *source;

	return nt_load_source(&source, path, args, names_file, need, error) ? -1 : open_tables(out, source);
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

static int open_database(struct nt_db **out, const char *path, const char *names_file)
{
	char note[NT_OLDER_TEXT_MAX];

	if (nt_db_open(out, path, NT_DB_READ))
		return -1;
	if ((*out)->older.version) {
		nt_older_tell(*out, note);
		nt_complain("%s", note);
	}
	return nt_name_cgroups_of_db(*out, names_file);
}

int nt_load_open(struct nt_db **out, const char *path, const struct nt_symbol_args *args, const char *names_file,
		 const struct nt_need *need, char error[NT_ERROR_MAX])
{
	int result = -1;

	*out = NULL;
	nt_fail(error, "%s: out of memory.", path);
	if (!nt_load_is_database(path))
		result = open_tape(out, path, args, names_file, need, error);
	else if (!nt_load_refuse_symbols(path, args, error))
		result = open_database(out, path, names_file);
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

size_t nt_load_problem_at(struct nt_db *db, size_t at, char text[NT_ERROR_MAX])
{
	sqlite3_stmt *statement = NULL;
	size_t n = 0;

	if (db->source)
		return nt_tape_source_problem_at(db->source, at, text);
	text[0] = 0;
	/* Not by nt_db_prepare: that there is no such table is no error of the command's. */
	if (sqlite3_prepare_v2(db->handle, "SELECT text FROM problem ORDER BY session_id, rowid", -1, &statement, NULL))
		return 0;
	while (sqlite3_step(statement) == SQLITE_ROW)
		if (n++ == at)
			snprintf(text, NT_ERROR_MAX, "%s", nt_db_text(statement, 0));
	if (sqlite3_finalize(statement) == SQLITE_OK)
		return n;
	/* One problem more, which is told once. */
	snprintf(text, NT_ERROR_MAX, "its table problem cannot be read.");
	return at ? at : 1;
}

int nt_load_is_at_hand(struct nt_db *db, enum nt_table_id table, bool *is)
{
	uint64_t tables = 0;

	*is = false;
	if (!db->source && nt_db_tables(db, &tables))
		return -1;
	*is = db->source ? nt_tape_source_keeps(db->source, table) : tables >> table & 1;
	return 0;
}
