/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db.h - a nettape database in SQLite: making one, opening one, and putting rows in. The only place that writes to
 * databases. Prints nothing.
 *
 * Functions give 0, or -1 and one sentence in db->error that says what failed, on what, and what to do.
 */
#pragma once

#include <stdbool.h>

#include "report/db/foreign.h"
#include "report/db/sqlite.h"
#include "report/rows/sql_lists.h"
#include "report/rows/tables.h"
#include "report/util/fail.h"

struct nt_partial;
struct nt_tape_source;

enum nt_db_mode {
	NT_DB_READ, /* read-only */
	/*
	 * Written as PATH.partial, and renamed when it is whole (out/partial.h); fails if there is one. A signal
	 * removes it. One left by an import that was killed is replaced, and one that another import writes is not.
	 */
	NT_DB_NEW,
	NT_DB_APPEND, /* like NEW if there is none; else all or nothing is added to it */
	NT_DB_CHANGE, /* the same, of one that must be there: its symbols may be given names */
	/* Gone when it is closed; in memory, and in TMPDIR when it is large. It has tables and no views. */
	NT_DB_TEMPORARY,
	NT_DB_LIVE, /* the same with views, for rows of a tape that is followed: a row replaces the one of its key */
	NT_DB_BARE /* the same without tables: for tape_tables.h */
};

/* A database of an earlier version of the schema, of which a copy is read (older.h). */
struct nt_older {
	int64_t version; /* 0: it is of the present one */
	uint64_t lacks, short_of; /* tables that its version did not have, or had with fewer columns */
};

struct nt_db {
	sqlite3 *handle;
	char *path; /* as given; "" if temporary */
	char *name; /* for messages: the same, or the tape that a temporary one is for */
	struct nt_partial *partial; /* the file of a new one, until it gets its name; or NULL */
	bool in_transaction;
	bool replaces; /* it is NT_DB_LIVE */
	bool read_only; /* nt_db_forbid_writing was called */
	sqlite3_stmt *inserts[NT_TABLE_COUNT];
	struct nt_value bound[NT_TABLE_COUNT][NT_MAX_COLUMNS]; /* the values of these, as the last row had them */
	sqlite3_stmt *name_symbol; /* NULL: not needed yet */
	struct nt_foreign foreign; /* bounds, if it was there when it was opened */
	struct nt_older older;
	struct nt_tape_source *source; /* the tape that the tables read, of the connection; or NULL */
	char error[NT_ERROR_MAX];
};

/* *out must be closed also on failure; it is NULL when memory ran out. `path` of a temporary one: for what tape. */
int nt_db_open(struct nt_db **out, const char *path, enum nt_db_mode mode);
/* Safe on NULL. Unfinished work is rolled back or removed. */
void nt_db_close(struct nt_db *db);
/* The statement that makes a table. SQLite keeps its text. */
#define NT_DB_TABLE_MAX 2048
void nt_db_write_table(const struct nt_table *table, char sql[NT_DB_TABLE_MAX]);
/* The same with these columns alone (bits); of those that are never NULL, the database enforces it for `needed`. */
void nt_db_write_columns(const struct nt_table *table, uint32_t columns, uint32_t needed, char sql[NT_DB_TABLE_MAX]);
/*
 * Leaves tables out of a database in which there is no row yet: they do not exist then. Whoever asks for one of them,
 * or for a view over it, gets an error that names the table and what to do; nobody gets zeros.
 */
int nt_db_leave_out(struct nt_db *db, uint64_t tables);
/* The tables that it has. */
int nt_db_tables(struct nt_db *db, uint64_t *tables);
/* The id for the next session. 0: see db->error. */
int64_t nt_db_next_session(struct nt_db *db);
/* 1: it is there; 0: not; -1: see db->error. */
int nt_db_has_session(struct nt_db *db, const char *uuid);
/* Puts one row into its table. Between nt_db_begin and nt_db_finish. */
int nt_db_begin(struct nt_db *db);
int nt_db_insert(struct nt_db *db, const struct nt_row *row);
/* Gives a value to a parameter of a statement. Texts must last until it has run. */
void nt_db_bind(sqlite3_stmt *statement, int parameter, const struct nt_value *value);
/* Gives a place in a program its function and the offset in it. Between the same two. */
int nt_db_name_symbol(struct nt_db *db, int64_t session_id, int64_t symbol_id, const char *function, int64_t offset);
/* Makes views, ends the transaction, and gives a new database its name. */
int nt_db_finish(struct nt_db *db);
/* From now on nothing but reading statements will be prepared, and all see the database in one state, whoever adds to
 * it meanwhile. */
int nt_db_forbid_writing(struct nt_db *db);
/* After nt_db_forbid_writing: between the two calls the program's own statements may make temporary tables and write to
 * them. */
void nt_db_allow_temporary(struct nt_db *db, bool allow);
/* Prepares one statement for reading; sets db->error. `rest` may be NULL. */
sqlite3_stmt *nt_db_prepare(struct nt_db *db, const char *sql, const char **rest);
/* The same of a query of one session, which is its ?1. */
sqlite3_stmt *nt_db_query(struct nt_db *db, const char *sql, int64_t session_id);
/* Whether there is one more row. `statement` may be NULL, as of nt_db_prepare that failed: then there is none. */
bool nt_db_next(sqlite3_stmt *statement);
/*
 * Frees a statement. 0, or -1 if it was NULL, or if its rows could not be read up to where nt_db_next was called last:
 * `what` says what was being done.
 */
int nt_db_end(struct nt_db *db, sqlite3_stmt *statement, const char *what);
/* The text of a column, "" for NULL: a database may be anybody's. Good until the statement moves on. */
const char *nt_db_text(sqlite3_stmt *statement, int column);
/* Whether it has a table or view of this name. One of ours that was left out is an error. */
int nt_db_has(struct nt_db *db, const char *name, bool *has);
/* Refuses a database without one of these tables: before anything is printed. */
int nt_db_need(struct nt_db *db, uint64_t tables);
/* Whether that has rows of the session; of any if session_id is 0. */
int nt_db_has_rows(struct nt_db *db, const char *name, int64_t session_id, bool *has);
/* Whether the last statement failed for want of a table that was left out. db->error says so then. */
bool nt_db_failed_left_out(struct nt_db *db);
/* Says of the last failure of SQLite what was being done. Always -1. */
int nt_db_fail(struct nt_db *db, const char *what);
/* Says in db->error what is wrong. Always -1. */
int nt_db_refuse(struct nt_db *db, const char *format, ...) __attribute__((format(printf, 2, 3)));
int nt_db_no_memory(struct nt_db *db);
