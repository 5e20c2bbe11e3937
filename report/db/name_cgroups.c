// SPDX-License-Identifier: GPL-2.0-only
/*
 * name_cgroups.c - see name_cgroups.h.
 */
#include "report/db/name_cgroups.h"

#include <stdio.h>
#include <string.h>

#include "report/db/views.h"
#include "report/rows/rows.h"
#include "report/util/utf8.h"

/* ---- a tape ---- */

static int meet_rows(struct nt_cgroup_names *names, struct nt_row_iter *rows, char error[NT_ERROR_MAX])
{
	const struct nt_row *row;
	int result;

	while (!(result = nt_row_next(rows, &row))) {
		if (nt_cgroup_names_meet(names, nt_text(NT_VALUE(row, cgroup, path), ""), error))
			return -1;
	}
	return result < 0 ? nt_fail(error, "%s", nt_tape_error_text(result)) : 0;
}

int nt_name_cgroups_meet(struct nt_cgroup_names *names, struct nt_tape *tape, char error[NT_ERROR_MAX])
{
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_CGROUP)};
	struct nt_row_iter *rows;
	int result = nt_rows_open(&rows, tape, NULL, 1, &want);

	if (result)
		return nt_fail(error, "%s cannot be read: %s.", tape->path, nt_tape_error_text(result));
	result = meet_rows(names, rows, error);
	nt_row_close(rows);
	return result;
}

int nt_name_cgroups_of_tape(struct nt_cgroup_names **out, const char *file, struct nt_tape *tape,
			    char error[NT_ERROR_MAX])
{
	*out = NULL;
	if (!file)
		return 0;
	if (nt_cgroup_names_new(out, file, error))
		return -1;
	if (!nt_name_cgroups_meet(*out, tape, error))
		return 0;
	nt_cgroup_names_free(*out);
	*out = NULL;
	return -1;
}

/* ---- a database ---- */

#define CANNOT "cgroups cannot be named"

static int run(struct nt_db *db, const char *sql)
{
	return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : nt_db_fail(db, CANNOT);
}

/* The table's columns in its order, for a SELECT and for an INSERT. */
static sqlite3_stmt *prepare(struct nt_db *db, const char *begin, const char *each, const char *end)
{
	const struct nt_table *table = nt_table(NT_TABLE_CGROUP);
	char sql[512];
	int at = snprintf(sql, sizeof(sql), "%s", begin);

	for (uint32_t i = 0; i < table->n_columns; i++)
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%s", i ? ", " : "",
			       each ? each : table->columns[i].name);
	snprintf(sql + at, sizeof(sql) - (size_t)at, "%s", end);
	return nt_db_prepare(db, sql, NULL);
}

static int make_table(struct nt_db *db)
{
	static const char create[] = "CREATE ";
	char of_main[NT_DB_TABLE_MAX], temporary[NT_DB_TABLE_MAX + 8];

	nt_db_write_table(nt_table(NT_TABLE_CGROUP), of_main);
	snprintf(temporary, sizeof(temporary), "CREATE TEMP %s", of_main + strlen(create));
	return run(db, temporary);
}

/* Those of main mean the table of main. */
static int make_views(struct nt_db *db)
{
	for (size_t i = 0, n = nt_views_count(); i < n; i++) {
		const int code = nt_view_make(db->handle, "temp", i);

		if (code != SQLITE_OK)
			return code == SQLITE_NOMEM ? nt_db_no_memory(db) : nt_db_fail(db, CANNOT);
	}
	return 0;
}

static int bind_text(sqlite3_stmt *to, int column, const char *text)
{
	return sqlite3_bind_text(to, column + 1, text, -1, SQLITE_STATIC);
}

/* The row at hand, with its name if it has one. Gives SQLite's code. */
static int copy_row(sqlite3_stmt *from, sqlite3_stmt *to, const struct nt_cgroup_words *words)
{
	int code = SQLITE_OK;

	for (int i = 0; i < sqlite3_column_count(from) && code == SQLITE_OK; i++)
		code = sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
	if (words->name && code == SQLITE_OK)
		code = bind_text(to, NT_COLUMN(cgroup, name), words->name);
	if (words->name && code == SQLITE_OK)
		code = bind_text(to, NT_COLUMN(cgroup, label), words->label);
	if (code == SQLITE_OK)
		sqlite3_step(to);
	return code == SQLITE_OK ? sqlite3_reset(to) : code;
}

static int name_row(struct nt_db *db, sqlite3_stmt *from, sqlite3_stmt *to, const struct nt_cgroup_names *names,
		    struct nt_arena *arena)
{
	const char *text = nt_db_text(from, NT_COLUMN(cgroup, path));
	const char *path = nt_arena_clean(arena, text, strlen(text));
	struct nt_cgroup_words words;
	int code;

	if (path)
		nt_cgroup_describe(&words, names, arena, path);
	if (arena->failed)
		return nt_db_no_memory(db);
	code = copy_row(from, to, &words);
	if (code == SQLITE_NOMEM)
		return nt_db_no_memory(db);
	return code == SQLITE_OK ? 0 : nt_db_fail(db, CANNOT);
}

static int meet_all(struct nt_db *db, struct nt_cgroup_names *names)
{
	sqlite3_stmt *row = nt_db_prepare(db, "SELECT path FROM main.cgroup", NULL);
	int result = 0;

	while (!result && nt_db_next(row))
		result = nt_cgroup_names_meet(names, nt_db_text(row, 0), db->error);
	if (!result)
		return nt_db_end(db, row, CANNOT);
	sqlite3_finalize(row);
	return -1;
}

static int copy_all(struct nt_db *db, const struct nt_cgroup_names *names)
{
	sqlite3_stmt *from = prepare(db, "SELECT ", NULL, " FROM main.cgroup");
	sqlite3_stmt *to = from ? prepare(db, "INSERT INTO temp.cgroup VALUES(", "?", ")") : NULL;
	struct nt_arena arena = {0};
	int result = to ? 0 : -1;

	while (!result && nt_db_next(from)) {
		result = name_row(db, from, to, names, &arena);
		nt_arena_reset(&arena);
	}
	sqlite3_finalize(to);
	nt_arena_release(&arena);
	if (!result)
		return nt_db_end(db, from, CANNOT);
	sqlite3_finalize(from);
	return -1;
}

int nt_name_cgroups_of_db(struct nt_db *db, const char *file)
{
	struct nt_cgroup_names *names;
	int result;

	if (!file)
		return 0;
	if (nt_cgroup_names_new(&names, file, db->error))
		return -1;
	result = meet_all(db, names) || make_table(db) || copy_all(db, names) || make_views(db);
	nt_cgroup_names_free(names);
	return result ? -1 : 0;
}
