/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql.h - runs a user's SQL and prints the results, or gives a bounded part of them to a program. An error goes to
 * standard error, with the names that were perhaps meant.
 */
#pragma once

#include "report/db/db.h"
#include "report/out/output.h"

/* All of a stream, zero-terminated. The caller frees it. NULL: it is longer than a megabyte or is no text, or a
 * failure; that has been said, of `name`. */
char *nt_sql_read(FILE *file, const char *name);

/* One statement after the other, with an empty line between what they print; up to the first that fails. Gives an exit
 * code. */
int nt_sql_run(struct nt_db *db, struct nt_printer *printer, const char *sql);

/* A result ends after the row that reaches one of them. A row whose values are longer fails. */
struct nt_sql_bounds {
	size_t rows, bytes;
};

/*
 * Runs one statement. The object at hand gets "columns", their names, and "rows", an array each; "is_cut": there are
 * more rows than the bounds allow. json->out must know its position, as memory does. Gives an exit code: also several
 * statements, and none, fail. The object is to be thrown away then.
 */
int nt_sql_answer(struct nt_db *db, struct nt_json *json, const char *sql, const struct nt_sql_bounds *bounds);

#define NT_SQL_NAMES_MAX 200

/* Names of tables, views or columns. Zero-initialised; to be released. */
struct nt_sql_names {
	char *list[NT_SQL_NAMES_MAX + 1]; /* ends with NULL */
	size_t n;
};

/* These add to the names. 0, or -1 and db->error. */

/* `type` is table or view; NULL: both. */
int nt_sql_tables(struct nt_db *db, const char *type, struct nt_sql_names *names);
/* None if there is no such table or view. */
int nt_sql_columns(struct nt_db *db, const char *table, struct nt_sql_names *names);
void nt_sql_names_release(struct nt_sql_names *names);
/* The tables and views, each sort as the next. */
void nt_sql_tables_print(FILE *out, struct nt_db *db);
/* "TITLE: name, name, ..." in lines of 80 columns; nothing if there are none. */
void nt_sql_names_print(FILE *out, const char *title, const struct nt_sql_names *names);
