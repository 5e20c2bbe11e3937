// SPDX-License-Identifier: GPL-2.0-only
/*
 * sql.c - see sql.h.
 */
#include "report/cmd/sql.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/result.h"
#include "report/out/complain.h"
#include "report/out/prose.h"
#include "schema/cli/arg.h"

#define MAX_SQL (1u << 20)

char *nt_sql_read(FILE *file, const char *name)
{
	char *text = malloc(MAX_SQL + 1);
	size_t size = text ? fread(text, 1, MAX_SQL + 1, file) : 0;

	if (text && !ferror(file) && size <= MAX_SQL && !memchr(text, 0, size)) {
		text[size] = 0;
		return text;
	}
	nt_complain("%s cannot be read as SQL: %s.", name,
		    !text || ferror(file) ? strerror(errno) : "it is longer than a megabyte or is not text");
	free(text);
	return NULL;
}

/* ---- names ---- */

static int read_names(struct nt_db *db, const char *sql, const char *argument, struct nt_sql_names *names)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);
	int error = 0;

	sqlite3_bind_text(statement, 1, argument, -1, SQLITE_STATIC);
	while (!error && names->n < NT_SQL_NAMES_MAX && nt_db_next(statement)) {
		names->list[names->n] = strdup(nt_db_text(statement, 0));
		if (names->list[names->n])
			names->n++;
		else
			error = nt_db_no_memory(db);
	}
	return nt_db_end(db, statement, "names cannot be read") ? -1 : error;
}

int nt_sql_tables(struct nt_db *db, const char *type, struct nt_sql_names *names)
{
	return read_names(
		db,
		"SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND type = coalesce(?1, type) "
		"AND name NOT LIKE 'sqlite%' ORDER BY type, name",
		type, names);
}

int nt_sql_columns(struct nt_db *db, const char *table, struct nt_sql_names *names)
{
	return read_names(db, "SELECT name FROM pragma_table_info(?1)", table, names);
}

void nt_sql_names_release(struct nt_sql_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	*names = (struct nt_sql_names){0};
}

void nt_sql_names_print(FILE *out, const char *title, const struct nt_sql_names *names)
{
	struct nt_prose prose;
	char lead[200];

	if (!names->n)
		return;
	nt_prose_begin(&prose, out);
	/* A database is anybody's: no name acts on the terminal. */
	for (size_t i = 0; i < names->n; i++) {
		fputs(i ? ", " : "", prose.line);
		nt_print_clean(prose.line, names->list[i], strlen(names->list[i]));
	}
	snprintf(lead, sizeof(lead), "%.150s: ", title);
	nt_prose_end(&prose, lead);
}

void nt_sql_tables_print(FILE *out, struct nt_db *db)
{
	struct nt_sql_names tables = {0}, views = {0};

	if (nt_sql_tables(db, "table", &tables) || nt_sql_tables(db, "view", &views))
		nt_complain("%s", db->error);
	nt_sql_names_print(out, "Tables", &tables);
	nt_sql_names_print(out, "Views", &views);
	nt_sql_names_release(&tables);
	nt_sql_names_release(&views);
}

/* ---- what was meant ---- */

static void complain(const char *message, const char *name, const struct nt_sql_names *known)
{
	const char *nearest = name ? nt_arg_nearest(name, (const char *const *)known->list) : NULL;

	if (nearest)
		nt_complain("%s; did you mean '%s'?", message, nearest);
	else
		nt_complain("%s.", message);
}

static void hint_tables(struct nt_db *db, const char *message, const char *name)
{
	struct nt_sql_names all = {0};

	nt_sql_tables(db, NULL, &all);
	complain(message, name, &all);
	nt_sql_tables_print(stderr, db);
	nt_sql_names_release(&all);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether the name is one of the words of the SQL. */
static bool has_word(const char *sql, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = strcasestr(sql, name); at; at = strcasestr(at + 1, name)) {
		if ((at == sql || !is_word(at[-1])) && !is_word(at[size]))
			return true;
	}
	return false;
}

/* The columns of the tables and views that the SQL names. */
static void hint_columns(struct nt_db *db, const char *message, const char *name, const char *sql)
{
	struct nt_sql_names tables = {0}, all = {0}, columns;
	const char *dot = strrchr(name, '.');
	char title[200];

	if (!nt_sql_tables(db, NULL, &tables)) {
		for (size_t i = 0; i < tables.n; i++) {
			if (has_word(sql, tables.list[i]))
				nt_sql_columns(db, tables.list[i], &all);
		}
	}
	complain(message, dot ? dot + 1 : name, &all);
	for (size_t i = 0; i < tables.n; i++) {
		columns = (struct nt_sql_names){0};
		snprintf(title, sizeof(title), "Columns of %.150s", tables.list[i]);
		if (has_word(sql, tables.list[i]) && !nt_sql_columns(db, tables.list[i], &columns))
			nt_sql_names_print(stderr, title, &columns);
		nt_sql_names_release(&columns);
	}
	if (!all.n)
		fputs("The columns of a table: PRAGMA table_info(NAME); the tables: PRAGMA table_list\n", stderr);
	nt_sql_names_release(&tables);
	nt_sql_names_release(&all);
}

/* Says why a statement could not be prepared. */
static void say_why(struct nt_db *db, const char *sql)
{
	static const char no_table[] = "no such table: ", no_column[] = "no such column: ";
	int code = sqlite3_errcode(db->handle);
	char message[400];

	/* Copied: another statement is another message. */
	snprintf(message, sizeof(message), "%s", sqlite3_errmsg(db->handle));
	if (nt_db_failed_left_out(db))
		nt_complain("%s", db->error);
	else if (!strncmp(message, no_table, strlen(no_table)))
		hint_tables(db, message, message + strlen(no_table));
	else if (!strncmp(message, no_column, strlen(no_column)))
		hint_columns(db, message, message + strlen(no_column), sql);
	else if (code == SQLITE_ERROR || code == SQLITE_SCHEMA)
		nt_complain("%s.", message);
	else
		nt_complain("%s", db->error);
}

/* ---- running ---- */

/*
 * The next statement, *sql being what follows it then. NULL: there is none, or it cannot be prepared; that has been
 * said, and *code is an exit code.
 */
static sqlite3_stmt *next_statement(struct nt_db *db, const char **sql, int *code)
{
	sqlite3_stmt *statement;

	/* Also of no SQL: the database may be one that nothing more is asked of. */
	do {
		const char *begin = *sql;

		statement = nt_db_prepare(db, begin, sql);
		*code = statement || !db->error[0] ? NT_EXIT_DONE : NT_EXIT_FAILED;
		if (*code != NT_EXIT_DONE)
			say_why(db, begin);
	} while (!statement && *code == NT_EXIT_DONE && **sql);
	return statement;
}

int nt_sql_run(struct nt_db *db, struct nt_printer *printer, const char *sql)
{
	bool printed = false;
	sqlite3_stmt *statement;
	int code;

	while ((statement = next_statement(db, &sql, &code))) {
		int error;

		if (printed)
			puts("");
		printed = true;
		error = nt_result_print(db, statement, printer);
		nt_printer_say_left_out(printer, "", "--csv has");
		if (error && sqlite3_errcode(db->handle) == SQLITE_INTERRUPT)
			snprintf(db->error, sizeof(db->error), "interrupted.");
		sqlite3_finalize(statement);
		/* In the order in which it came, where both go to one terminal. */
		fflush(stdout);
		if (error)
			return nt_complain("%s", db->error);
	}
	return code;
}

/* ---- for programs ---- */

/* The only statement of the SQL; NULL: that has been said. */
static sqlite3_stmt *only_statement(struct nt_db *db, const char *sql)
{
	int code;
	sqlite3_stmt *statement = next_statement(db, &sql, &code), *other;

	if (!statement && code == NT_EXIT_DONE)
		nt_complain("there is no SQL statement.");
	if (!statement)
		return NULL;
	other = next_statement(db, &sql, &code);
	if (!other && code == NT_EXIT_DONE)
		return statement;
	if (other)
		nt_complain("there is more than one SQL statement.");
	sqlite3_finalize(other);
	sqlite3_finalize(statement);
	return NULL;
}

static void write_columns(struct nt_json *json, sqlite3_stmt *statement)
{
	nt_json_open(json, "columns", '[');
	for (int i = 0; i < sqlite3_column_count(statement); i++)
		nt_json_text(json, NULL, sqlite3_column_name(statement, i));
	nt_json_close(json, ']');
}

static bool is_longer(sqlite3_stmt *row, size_t bytes)
{
	size_t size = 0;

	for (int i = 0; i < sqlite3_column_count(row); i++) {
		const struct nt_cell cell = nt_result_cell(row, i);

		if (cell.type == NT_CELL_TEXT || cell.type == NT_CELL_BLOB)
			size += cell.size;
	}
	return size > bytes;
}

/* Writes rows. WITHIN: all of them; CUT: there are more; TOO_LONG: one row does not fit. */
enum end { WITHIN, CUT, TOO_LONG };

static enum end write_rows(struct nt_json *json, sqlite3_stmt *statement, const struct nt_sql_bounds *bounds)
{
	enum end end = WITHIN;

	nt_json_open(json, "rows", '[');
	for (size_t n = 0; end == WITHIN && nt_db_next(statement); n++) {
		if (n == bounds->rows || ftell(json->out) >= (long)bounds->bytes)
			end = CUT;
		/* Before it takes more memory. */
		else if (is_longer(statement, bounds->bytes))
			end = TOO_LONG;
		else
			nt_result_json_array(json, statement);
	}
	nt_json_close(json, ']');
	return end;
}

int nt_sql_answer(struct nt_db *db, struct nt_json *json, const char *sql, const struct nt_sql_bounds *bounds)
{
	sqlite3_stmt *statement = only_statement(db, sql);
	enum end end;

	if (!statement)
		return NT_EXIT_FAILED;
	write_columns(json, statement);
	end = write_rows(json, statement, bounds);
	nt_json_bool(json, "is_cut", end == CUT);
	if (nt_db_end(db, statement, "the query failed"))
		return nt_complain("%s", db->error);
	return end == TOO_LONG ? nt_complain("a row is longer than %zu bytes.", bounds->bytes) : NT_EXIT_DONE;
}
