// SPDX-License-Identifier: GPL-2.0-only
/*
 * db.c - see db.h.
 */
#include "report/db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/db/older.h"
#include "report/db/percentile.h"
#include "report/db/tape_source.h"
#include "report/db/views.h"
#include "report/out/denied.h"
#include "report/out/new_file.h"
#include "report/out/partial.h"
#include "report/tape/file_kind.h"
#include "report/util/array.h"

int nt_db_refuse(struct nt_db *db, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(db->error, sizeof(db->error), format, args);
	va_end(args);
	return -1;
}

int nt_db_no_memory(struct nt_db *db)
{
	return nt_db_refuse(db, "%s: out of memory.", db->name);
}

#define READING_ONLY "only statements that read are allowed here: change a database with sqlite3."

static const char *reason(const struct nt_db *db, char why[NT_DENIED_MAX])
{
	const int code = sqlite3_errcode(db->handle), number = sqlite3_system_errno(db->handle);

	/* For reading only files that are soon gone are written: what is large, and what is sorted. */
	const bool is_temporary = !db->path[0] || db->read_only || db->older.version;

	if (code == SQLITE_FULL || (code == SQLITE_IOERR && number == ENOSPC))
		return is_temporary ? "the disk is full: free some space, or set TMPDIR to a place that has some"
				    : "the disk is full: free some space, or give another place with -o";
	if (is_temporary &&
	    (code == SQLITE_CANTOPEN || sqlite3_extended_errcode(db->handle) == SQLITE_IOERR_GETTEMPPATH))
		return "there is no place for temporary files: set TMPDIR to a directory that can be written to";
	if (code == SQLITE_READONLY || (code == SQLITE_CANTOPEN && number == EACCES))
		return nt_denied_change(why, db->path, EACCES);
	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
		return "it is damaged or not a database: import the tape again";
	if (code == SQLITE_TOOBIG)
		return nt_foreign_too_long(db);
	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return "another program is writing to it: try again when that is done";
	return sqlite3_errmsg(db->handle);
}

/* The table of ours of this name, or NULL. */
static const char *our_table(const char *name)
{
	const enum nt_table_id id = nt_table_named(name);

	return id < NT_TABLE_COUNT ? nt_table(id)->name : NULL;
}

/* The table of ours that SQLite did not find, or NULL. Views say "main.sock_op". */
static const char *missing_table(struct nt_db *db)
{
	static const char begin[] = "no such table: ", schema[] = "main.";
	const char *name = sqlite3_errmsg(db->handle);

	if (strncmp(name, begin, strlen(begin)) != 0)
		return NULL;
	name += strlen(begin);
	return our_table(strncmp(name, schema, strlen(schema)) ? name : name + strlen(schema));
}

bool nt_db_failed_left_out(struct nt_db *db)
{
	return missing_table(db);
}

static int refuse_left_out(struct nt_db *db, const char *table)
{
	return nt_db_refuse(
		db,
		"%s: the table %s was left out of this import (--tables, --sums): give the tape instead, or "
		"import it with that table.",
		db->name, table);
}

int nt_db_fail(struct nt_db *db, const char *what)
{
	const char *left_out = missing_table(db);
	char why[NT_DENIED_MAX];

	if (db->source && nt_tape_source_error(db->source)[0])
		return nt_db_refuse(db, "%s", nt_tape_source_error(db->source));
	if (db->foreign.spent)
		return nt_foreign_refuse_spent(db);
	if (left_out)
		return refuse_left_out(db, left_out);
	if (sqlite3_errcode(db->handle) == SQLITE_AUTH)
		return nt_db_refuse(db, "%s: " READING_ONLY, db->name);
	return nt_db_refuse(db, "%s: %s: %s.", db->name, what, reason(db, why));
}

static int run(struct nt_db *db, const char *sql, const char *what)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : nt_db_fail(db, what);
}

sqlite3_stmt *nt_db_prepare(struct nt_db *db, const char *sql, const char **rest)
{
	sqlite3_stmt *statement = NULL;

	db->error[0] = 0;
	if (db->source)
		nt_tape_source_error(db->source)[0] = 0;
	/* Also where what is asked for is little, and nothing would stop it. */
	if (db->foreign.spent) {
		nt_foreign_refuse_spent(db);
		return NULL;
	}
	if (sqlite3_prepare_v2(db->handle, sql, -1, &statement, rest) != SQLITE_OK) {
		nt_db_fail(db, "a query cannot be run");
	} else if (db->read_only && statement && !sqlite3_stmt_readonly(statement)) {
		nt_db_refuse(db, "%s: " READING_ONLY, db->name);
		sqlite3_finalize(statement);
		statement = NULL;
	}
	return statement;
}

sqlite3_stmt *nt_db_query(struct nt_db *db, const char *sql, int64_t session_id)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);

	if (statement)
		sqlite3_bind_int64(statement, 1, session_id);
	return statement;
}

bool nt_db_next(sqlite3_stmt *statement)
{
	return statement && sqlite3_step(statement) == SQLITE_ROW;
}

int nt_db_end(struct nt_db *db, sqlite3_stmt *statement, const char *what)
{
	if (!statement)
		return -1;
	return sqlite3_finalize(statement) == SQLITE_OK ? 0 : nt_db_fail(db, what);
}

const char *nt_db_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}

/* Whether a query of this text, its ?1, gives a row. */
static int find_text(struct nt_db *db, const char *sql, const char *text, bool *found, const char *what)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);

	sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
	*found = nt_db_next(statement);
	return nt_db_end(db, statement, what);
}

/* The one number that a query gives. */
static int number(struct nt_db *db, const char *sql, int64_t *out)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);

	*out = nt_db_next(statement) ? sqlite3_column_int64(statement, 0) : 0;
	return nt_db_end(db, statement, "a query cannot be run");
}

/* ---- opening ---- */

static int refuse_version(struct nt_db *db, int64_t version, bool is_written)
{
	if (is_written && version < NT_SCHEMA_VERSION)
		return nt_db_refuse(db,
				    "%s: its schema is version %lld and this program adds to version %d only: import "
				    "its tapes again, into a new database.",
				    db->path, (long long)version, NT_SCHEMA_VERSION);
	return nt_db_refuse(db,
			    "%s: its schema is version %lld and this program reads versions 1 to %d: use the "
			    "nettape-report that made it, or import its tapes again, into a new database.",
			    db->path, (long long)version, NT_SCHEMA_VERSION);
}

/* Whether what was opened is a nettape database that this program understands. An older one can only be read. */
static int check_kind(struct nt_db *db, bool is_written)
{
	int64_t id, version;

	if (number(db, "PRAGMA application_id", &id) || number(db, "PRAGMA user_version", &version))
		return -1;
	if (id != NT_DB_APPLICATION_ID)
		return nt_db_refuse(
			db,
			"%s: this is a database, but not one that nettape-report made: give a tape, or import one "
			"first.",
			db->path);
	if (version == NT_SCHEMA_VERSION)
		return 0;
	if (version < 1 || version > NT_SCHEMA_VERSION || is_written)
		return refuse_version(db, version, is_written);
	db->older.version = version;
	return 0;
}

void nt_db_write_table(const struct nt_table *table, char sql[NT_DB_TABLE_MAX])
{
	nt_db_write_columns(table, UINT32_MAX, UINT32_MAX, sql);
}

void nt_db_write_columns(const struct nt_table *table, uint32_t columns, uint32_t needed, char sql[NT_DB_TABLE_MAX])
{
	const size_t size = NT_DB_TABLE_MAX;
	int at = snprintf(sql, size, "CREATE TABLE %s(", table->name);
	const char *between = "";

	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (!(columns >> i & 1))
			continue;
		at += snprintf(sql + at, size - (size_t)at, "%s%s %s%s", between, table->columns[i].name,
			       table->columns[i].type == NT_VALUE_TEXT ? "TEXT" : "INTEGER",
			       table->columns[i].required && needed >> i & 1 ? " NOT NULL" : "");
		between = ", ";
	}
	if (table->key)
		at += snprintf(sql + at, size - (size_t)at, ", PRIMARY KEY(session_id%s%s)", table->key[0] ? ", " : "",
			       table->key);
	snprintf(sql + at, size - (size_t)at, ")%s", table->key ? " WITHOUT ROWID" : "");
}

static int make_views(struct nt_db *db)
{
	for (size_t i = 0, n = nt_views_count(); i < n; i++) {
		const int code = nt_view_make(db->handle, "main", i);

		if (code != SQLITE_OK)
			return code == SQLITE_NOMEM ? nt_db_no_memory(db) : nt_db_fail(db, "the views cannot be made");
	}
	return 0;
}

static int make_tables(struct nt_db *db)
{
	char sql[NT_DB_TABLE_MAX];

	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		nt_db_write_table(nt_table((enum nt_table_id)id), sql);
		if (run(db, sql, "a table cannot be made"))
			return -1;
	}
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d", NT_DB_APPLICATION_ID,
		 NT_SCHEMA_VERSION);
	return run(db, sql, "it cannot be marked as nettape's");
}

/*
 * SQLite keeps so many pieces of memory ready, of its usual size. With its usual 40 it has none left when an import has
 * a statement for each table, and each row takes one.
 */
#define READY_PIECES 256
#define READY_PIECE_SIZE 1200

/* SQLite has sqrt() only if it was built so. Numbers below 0 have no root: NULL. */
static void give_root(sqlite3_context *context, int n, sqlite3_value **values)
{
	(void)n;
	if (sqlite3_value_numeric_type(values[0]) != SQLITE_NULL && sqlite3_value_double(values[0]) >= 0)
		sqlite3_result_double(context, sqrt(sqlite3_value_double(values[0])));
}

static int open_handle(struct nt_db *db, const char *path, int flags)
{
	if (sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
		sqlite3_db_config(db->handle, SQLITE_DBCONFIG_LOOKASIDE, NULL, READY_PIECE_SIZE, READY_PIECES);
		sqlite3_busy_timeout(db->handle, 2000);
		if (nt_percentile_register(db->handle, NT_PERCENTILE) != SQLITE_OK ||
		    nt_percentile_register(db->handle, NT_PERCENTILE_OWN) != SQLITE_OK)
			return nt_db_fail(db, "the function percentile cannot be added");
		if (sqlite3_create_function(db->handle, "root", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, give_root,
					    NULL, NULL) != SQLITE_OK)
			return nt_db_fail(db, "the function root cannot be added");
		return 0;
	}
	if (!db->handle)
		return nt_db_refuse(db, "%s: out of memory.", db->name);
	return nt_db_fail(db, "it cannot be opened");
}

/* For writing what is removed if it does not get whole. */
static int set_up(struct nt_db *db, const char *pragmas)
{
	if (run(db, "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
		"it cannot be set up"))
		return -1;
	return run(db, pragmas, "it cannot be set up");
}

/*
 * A new database: nothing else reads it before it is whole, and if that fails it is removed. So it needs no journal.
 * Its file is the owner's alone, for it tells names and addresses.
 */
static int open_new(struct nt_db *db)
{
	char why[NT_ERROR_MAX];
	int error;

	db->partial = calloc(1, sizeof(*db->partial));
	if (!db->partial)
		return nt_db_refuse(db, "%s: out of memory.", db->path);
	error = nt_partial_open(db->partial, db->path, true);
	if (error) {
		nt_partial_explain(db->partial, db->path, error, why);
		return nt_db_refuse(db, "%s", why);
	}
	if (open_handle(db, db->partial->name, SQLITE_OPEN_READWRITE))
		return -1;
	if (set_up(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768"))
		return -1;
	return make_tables(db) ? -1 : make_views(db);
}

/* Where SQLite looks for a directory for temporary files (sqlite.org/tempfiles.html, section 5). */
static bool has_temporary_place(void)
{
	const char *const places[] = {getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."};

	for (size_t i = 0; i < NT_COUNT(places); i++)
		if (places[i] && !access(places[i], W_OK | X_OK))
			return true;
	return false;
}

/*
 * Large tables go to a file, if there is a place for one. Without a place, memory holds the tables that are small on
 * each tape: these need not be refused.
 */
static int open_temporary(struct nt_db *db)
{
	if (open_handle(db, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
		return -1;
	return set_up(db, has_temporary_place() ? "PRAGMA cache_size = -512"
						: "PRAGMA cache_size = -512; PRAGMA cache_spill = OFF");
}

static int open_foreign(struct nt_db *db, int flags)
{
	return open_handle(db, db->path, flags) ? -1 : nt_foreign_begin(db);
}

/* The file's place is taken by a copy in the present form. */
static int read_older(struct nt_db *db)
{
	sqlite3_close_v2(db->handle);
	db->handle = NULL;
	return open_temporary(db) || nt_older_copy(db) ? -1 : make_views(db);
}

/*
 * One transaction checks and reads, so both see the same state. A file may ask for a cache as large as itself: that is
 * not granted.
 */
static int read_as(struct nt_db *db, int flags)
{
	if (open_foreign(db, flags) || run(db, "BEGIN", "it cannot be read") || check_kind(db, false))
		return -1;
	if (db->older.version)
		return read_older(db);
	if (nt_foreign_check(db, false))
		return -1;
	return run(db, "PRAGMA cache_size = -2000", "it cannot be set up");
}

/*
 * For reading. After an import that was killed SQLite must first take back what that wrote, which a read-only handle
 * cannot; what may be prepared afterwards is up to nt_db_forbid_writing in either case.
 */
static int open_read(struct nt_db *db)
{
	int code;

	if (!read_as(db, SQLITE_OPEN_READONLY))
		return 0;
	code = sqlite3_extended_errcode(db->handle);
	if (code != SQLITE_READONLY_ROLLBACK && code != SQLITE_READONLY_RECOVERY)
		return -1;
	sqlite3_close_v2(db->handle);
	return read_as(db, SQLITE_OPEN_READWRITE);
}

/* A database that is there, to be written to. */
static int open_written(struct nt_db *db)
{
	if (open_foreign(db, SQLITE_OPEN_READWRITE) || check_kind(db, true) || nt_foreign_check(db, true))
		return -1;
	return run(db, "PRAGMA cache_size = -32768", "it cannot be set up");
}

static int open_as(struct nt_db *db, enum nt_db_mode mode)
{
	bool is_there = db->path[0] && !access(db->path, F_OK);

	switch (mode) {
	case NT_DB_TEMPORARY:
		return open_temporary(db) ? -1 : make_tables(db);
	case NT_DB_LIVE:
		db->replaces = true;
		return open_temporary(db) || make_tables(db) ? -1 : make_views(db);
	case NT_DB_BARE:
		return open_handle(db, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	case NT_DB_READ:
		return open_read(db);
	case NT_DB_NEW:
		if (is_there)
			return nt_db_refuse(db, "%s exists already: add to it with --append, or remove it first.",
					    db->path);
		return open_new(db);
	case NT_DB_APPEND:
		return is_there ? open_written(db) : open_new(db);
	case NT_DB_CHANGE:
		return open_written(db);
	}
	return nt_db_refuse(db, "%s: unknown mode.", db->path);
}

int nt_db_open(struct nt_db **out, const char *path, enum nt_db_mode mode)
{
	struct nt_db *db = calloc(1, sizeof(*db));

	if (db) {
		db->path = strdup(mode == NT_DB_TEMPORARY || mode == NT_DB_LIVE || mode == NT_DB_BARE ? "" : path);
		db->name = strdup(path && path[0] ? path : "a temporary database");
	}
	*out = db;
	if (!db || !db->path || !db->name) {
		nt_db_close(db);
		*out = NULL;
		return -1;
	}
	return open_as(db, mode);
}

static void end_writing(struct nt_db *db)
{
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		sqlite3_finalize(db->inserts[id]);
		db->inserts[id] = NULL;
	}
	memset(db->bound, 0, sizeof(db->bound));
	sqlite3_finalize(db->name_symbol);
	db->name_symbol = NULL;
}

static void drop_partial(struct nt_db *db)
{
	if (db->partial)
		nt_partial_release(db->partial);
	free(db->partial);
	db->partial = NULL;
}

void nt_db_close(struct nt_db *db)
{
	if (!db)
		return;
	end_writing(db);
	if (db->in_transaction && !db->read_only)
		sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close_v2(db->handle);
	drop_partial(db);
	free(db->path);
	free(db->name);
	free(db);
}

/* ---- writing ---- */

int nt_db_leave_out(struct nt_db *db, uint64_t tables)
{
	char sql[128];

	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		snprintf(sql, sizeof(sql), "DROP TABLE %s", nt_table((enum nt_table_id)id)->name);
		if (tables & NT_TABLE_BIT(id) && run(db, sql, "a table cannot be left out"))
			return -1;
	}
	return 0;
}

int nt_db_tables(struct nt_db *db, uint64_t *tables)
{
	sqlite3_stmt *row = nt_db_prepare(db, "SELECT name FROM sqlite_master WHERE type = 'table'", NULL);

	*tables = 0;
	while (nt_db_next(row)) {
		const enum nt_table_id id = nt_table_named(nt_db_text(row, 0));

		*tables |= id < NT_TABLE_COUNT ? NT_TABLE_BIT(id) : 0;
	}
	return nt_db_end(db, row, "its tables cannot be read");
}

int64_t nt_db_next_session(struct nt_db *db)
{
	int64_t id;

	return number(db, "SELECT coalesce(max(session_id), 0) + 1 FROM session", &id) ? 0 : id;
}

int nt_db_has_session(struct nt_db *db, const char *uuid)
{
	bool has;

	return find_text(db, "SELECT 1 FROM session WHERE uuid = ?1", uuid, &has, "a query cannot be run") ? -1 : has;
}

int nt_db_begin(struct nt_db *db)
{
	if (run(db, "BEGIN IMMEDIATE", "it cannot be written to"))
		return -1;
	db->in_transaction = true;
	return 0;
}

static sqlite3_stmt *prepare_insert(struct nt_db *db, enum nt_table_id id)
{
	const struct nt_table *table = nt_table(id);
	char sql[256];
	/* A temporary table may hide the database's own. */
	int at = snprintf(sql, sizeof(sql), "INSERT %sINTO main.%s VALUES(?", db->replaces ? "OR REPLACE " : "",
			  table->name);

	for (uint32_t i = 1; i < table->n_columns; i++)
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, ",?");
	snprintf(sql + at, sizeof(sql) - (size_t)at, ")");
	if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &db->inserts[id], NULL) != SQLITE_OK)
		nt_db_fail(db, "rows cannot be added");
	return db->inserts[id];
}

void nt_db_bind(sqlite3_stmt *statement, int parameter, const struct nt_value *value)
{
	if (value->type == NT_VALUE_INTEGER)
		sqlite3_bind_int64(statement, parameter, value->integer);
	else if (value->type == NT_VALUE_TEXT)
		sqlite3_bind_text(statement, parameter, value->text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, parameter);
}

/* A statement keeps its values: those that are as in the row before need not be given again. */
static void bind(sqlite3_stmt *statement, int parameter, const struct nt_value *value, struct nt_value *before)
{
	if (value->type == NT_VALUE_TEXT)
		sqlite3_bind_text(statement, parameter, value->text, -1, SQLITE_STATIC);
	else if (value->type == NT_VALUE_INTEGER && (before->type != value->type || before->integer != value->integer))
		sqlite3_bind_int64(statement, parameter, value->integer);
	else if (value->type == NT_VALUE_NULL && before->type != value->type)
		sqlite3_bind_null(statement, parameter);
	*before = *value;
}

int nt_db_insert(struct nt_db *db, const struct nt_row *row)
{
	sqlite3_stmt *statement = db->inserts[row->table];

	if (!statement)
		statement = prepare_insert(db, row->table);
	if (!statement)
		return -1;
	for (uint32_t i = 0; i < row->n; i++)
		bind(statement, (int)i + 1, &row->values[i], &db->bound[row->table][i]);
	sqlite3_step(statement);
	return sqlite3_reset(statement) == SQLITE_OK ? 0 : nt_db_fail(db, "rows cannot be added");
}

int nt_db_name_symbol(struct nt_db *db, int64_t session_id, int64_t symbol_id, const char *function, int64_t offset)
{
	if (!db->name_symbol)
		db->name_symbol = nt_db_prepare(
			db, "UPDATE symbol SET name = ?3, \"offset\" = ?4 WHERE session_id = ?1 AND id = ?2", NULL);
	if (!db->name_symbol)
		return -1;
	sqlite3_bind_int64(db->name_symbol, 1, session_id);
	sqlite3_bind_int64(db->name_symbol, 2, symbol_id);
	sqlite3_bind_text(db->name_symbol, 3, function, -1, SQLITE_STATIC);
	sqlite3_bind_int64(db->name_symbol, 4, offset);
	sqlite3_step(db->name_symbol);
	return sqlite3_reset(db->name_symbol) == SQLITE_OK ? 0 : nt_db_fail(db, "a function cannot be named");
}

/* Everything on disk, then the name. */
static int give_name(struct nt_db *db)
{
	char why[NT_DENIED_MAX];
	int error = fsync(db->partial->fd) ? -errno : nt_partial_finish(db->partial, db->path, false);

	if (!error && nt_sync_directory(db->path))
		error = -errno;
	if (error)
		return nt_db_refuse(db, "%s cannot be finished: %s.", db->path, nt_denied_make(why, db->path, -error));
	drop_partial(db);
	return 0;
}

int nt_db_finish(struct nt_db *db)
{
	end_writing(db);
	if (run(db, "COMMIT", "it cannot be finished"))
		return -1;
	db->in_transaction = false;
	return db->partial ? give_name(db) : 0;
}

/* ---- reading only ---- */

/* PRAGMAs that tell and change nothing; with an argument only those whose argument is what they tell of. */
static bool is_harmless_pragma(const char *name, const char *argument)
{
	static const char *const telling[] = {"table_info", "table_xinfo", "table_list",      "index_list",
					      "index_info", "index_xinfo", "foreign_key_list"};
	static const char *const plain[] = {"database_list",   "function_list", "collation_list",
					    "compile_options", "user_version",	"application_id",
					    "page_count",      "page_size",	"encoding"};

	return NT_ANY(NT_COUNT(telling), i, !sqlite3_stricmp(name, telling[i])) ||
	       (!argument && NT_ANY(NT_COUNT(plain), i, !sqlite3_stricmp(name, plain[i])));
}

static int authorize(void *arg, int action, const char *first, const char *second, const char *database,
		     const char *trigger)
{
	(void)arg;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		/* It tells and takes addresses of memory. */
		return second && !sqlite3_stricmp(second, "fts3_tokenizer") ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_UPDATE:
		/* Asked for when a table-valued function like pragma_table_info is set up; writing to it is refused all
		 * the same. */
		return first && !strcmp(first, "sqlite_master") ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		return is_harmless_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

void nt_db_allow_temporary(struct nt_db *db, bool allow)
{
	db->read_only = !allow;
	sqlite3_set_authorizer(db->handle, allow ? NULL : authorize, NULL);
}

int nt_db_forbid_writing(struct nt_db *db)
{
	if (sqlite3_get_autocommit(db->handle) && run(db, "BEGIN", "it cannot be read"))
		return -1;
	db->read_only = true;
	if (sqlite3_set_authorizer(db->handle, authorize, NULL) != SQLITE_OK)
		return nt_db_fail(db, "it cannot be protected");
	return 0;
}

int nt_db_has(struct nt_db *db, const char *name, bool *has)
{
	if (find_text(db, "SELECT 1 FROM sqlite_master WHERE name = ?1", name, has, "it cannot be searched"))
		return -1;
	return !*has && our_table(name) ? refuse_left_out(db, our_table(name)) : 0;
}

int nt_db_need(struct nt_db *db, uint64_t tables)
{
	bool has;

	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		if (tables >> id & 1 && nt_db_has(db, nt_table((enum nt_table_id)id)->name, &has))
			return -1;
	}
	return 0;
}

int nt_db_has_rows(struct nt_db *db, const char *name, int64_t session_id, bool *has)
{
	sqlite3_stmt *statement;
	char sql[128];

	if (nt_db_has(db, name, has))
		return -1;
	if (!*has)
		return 0;
	snprintf(sql, sizeof(sql), "SELECT 1 FROM %s WHERE ?1 = 0 OR session_id = ?1 LIMIT 1", name);
	statement = nt_db_query(db, sql, session_id);
	*has = nt_db_next(statement);
	return nt_db_end(db, statement, "it cannot be searched");
}
