// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - see scan.h.
 */
#include "report/db/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/tape_source.h"
#include "report/out/progress.h"
#include "report/util/array.h"

#define ROWS_PER_LOOK 8192 /* rows of a database between two looks at the progress */

/* The tables and columns that readers look at. */
struct looks {
	uint64_t tables; /* NT_TABLE_BIT of each */
	uint32_t columns[NT_TABLE_COUNT]; /* by table, the NT_COLUMN_BIT of each */
};

/* ---- a database, or tables of a tape that are small and so kept ---- */

struct selects {
	struct nt_row_iter iter;
	struct nt_db *db;
	int64_t session_id;
	const struct looks *looks;
	bool strict;
	unsigned int next_table; /* below 2 * NT_TABLE_COUNT */
	enum nt_table_id table; /* that is read now */
	sqlite3_stmt *statement; /* NULL: none is */
	struct nt_row row;
};

/* Those that say who is who and what is read at times: they come before what happened. */
static bool is_first(unsigned int table)
{
	return nt_tables_of(NT_FROM(BLOCKS) | NT_FROM(TASKS)) >> table & 1;
}

/* Goes over all tables twice, for the first and for the others. False: there are no more. */
static bool next_table(struct selects *selects)
{
	while (selects->next_table < 2 * NT_TABLE_COUNT) {
		const unsigned int pass = selects->next_table / NT_TABLE_COUNT,
				   id = selects->next_table++ % NT_TABLE_COUNT;

		if (selects->looks->tables >> id & 1 && is_first(id) == !pass) {
			selects->table = (enum nt_table_id)id;
			return true;
		}
	}
	return false;
}

static bool is_used(const struct selects *selects, uint32_t column)
{
	return selects->looks->columns[selects->table] >> column & 1;
}

static int begin_table(struct selects *selects)
{
	const struct nt_table *table = nt_table(selects->table);
	char sql[1024];
	int at = snprintf(sql, sizeof(sql), "SELECT ");

	for (uint32_t i = 0; i < table->n_columns; i++)
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%s", i ? ", " : "",
			       is_used(selects, i) ? table->columns[i].name : "NULL");
	snprintf(sql + at, sizeof(sql) - (size_t)at, " FROM %s WHERE session_id = ?1%s", table->name,
		 table->key ? "" : " ORDER BY rowid");
	memset(&selects->row, 0, sizeof(selects->row));
	selects->row.table = selects->table;
	selects->row.n = table->n_columns;
	selects->statement = nt_db_query(selects->db, sql, selects->session_id);
	return selects->statement ? 0 : -1;
}

static void take_value(struct nt_value *value, sqlite3_stmt *statement, int column, enum nt_value_type type)
{
	const int is = sqlite3_column_type(statement, column);
	const char *text = type == NT_VALUE_TEXT && is == SQLITE_TEXT
				   ? (const char *)sqlite3_column_text(statement, column)
				   : NULL;

	*value = (struct nt_value){.type = NT_VALUE_NULL};
	if (text)
		*value = (struct nt_value){.type = type, .text = text};
	else if (type == NT_VALUE_INTEGER && is == SQLITE_INTEGER)
		*value = (struct nt_value){.type = type, .integer = sqlite3_column_int64(statement, column)};
}

static int refuse_row(const struct selects *selects, uint32_t lacks)
{
	const struct nt_table *table = nt_table(selects->table);

	return nt_db_refuse(selects->db,
			    "%s: its table %s holds a row without %s, which nettape-report did not write: import the "
			    "tape again, into a new database.",
			    selects->db->name, table->name, table->columns[lacks].name);
}

static int take_row(struct selects *selects)
{
	const struct nt_table *table = nt_table(selects->table);

	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (!is_used(selects, i))
			continue;
		take_value(&selects->row.values[i], selects->statement, (int)i, table->columns[i].type);
		if (selects->strict && table->columns[i].required && selects->row.values[i].type == NT_VALUE_NULL)
			return refuse_row(selects, i);
	}
	return 0;
}

static int next_of_selects(struct nt_row_iter *iter, const struct nt_row **row)
{
	struct selects *selects = (struct selects *)iter;

	while (selects->statement || next_table(selects)) {
		sqlite3_stmt *statement;

		if (!selects->statement && begin_table(selects))
			return -1;
		if (nt_db_next(selects->statement)) {
			*row = &selects->row;
			return take_row(selects);
		}
		statement = selects->statement;
		selects->statement = NULL;
		if (nt_db_end(selects->db, statement, "a table cannot be read"))
			return -1;
	}
	return 1;
}

static unsigned int progress_of_selects(const struct nt_row_iter *iter)
{
	return ((const struct selects *)iter)->next_table * 500 / NT_TABLE_COUNT;
}

static void close_selects(struct nt_row_iter *iter)
{
	struct selects *selects = (struct selects *)iter;

	sqlite3_finalize(selects->statement);
	free(selects);
}

static int open_selects(struct nt_row_iter **out, struct nt_db *db, int64_t session_id, const struct looks *looks,
			bool strict)
{
	struct selects *selects = calloc(1, sizeof(*selects));

	if (!selects)
		return nt_db_no_memory(db);
	selects->iter = (struct nt_row_iter){next_of_selects, progress_of_selects, close_selects};
	selects->db = db;
	selects->session_id = session_id;
	selects->looks = looks;
	selects->strict = strict;
	*out = &selects->iter;
	return 0;
}

/* ---- a part ---- */

static int limit(struct nt_db *db, const struct nt_scan_part *part,
		 int (*set)(struct nt_tape_source *source, const struct nt_view *view))
{
	const uint32_t n = db->source ? nt_tape_source_cpus(db->source) : 0;
	uint8_t *cpus = NULL;
	int error;

	if (!db->source)
		return 0;
	if (part->has_cpu && !(cpus = calloc(n + 1, 1)))
		return nt_db_no_memory(db);
	for (uint32_t cpu = 0; cpus && cpu < n; cpu++)
		cpus[cpu] = part->has_cpu(part->arg, cpu);
	error = set(db->source, &(struct nt_view){part->from_ns, part->to_ns, cpus});
	free(cpus);
	return error ? nt_db_refuse(db, "%s", nt_tape_source_error(db->source)) : 0;
}

int nt_scan_limit(struct nt_db *db, const struct nt_scan_part *part)
{
	return limit(db, part, nt_tape_source_limit);
}

int nt_scan_charge(struct nt_db *db, const struct nt_scan_part *part)
{
	return limit(db, part, nt_tape_source_charge);
}

/* ---- for readers ---- */

static bool any_large(uint64_t tables)
{
	return NT_ANY(NT_TABLE_COUNT, id, tables >> id & 1 && !nt_tape_source_is_small((enum nt_table_id)id));
}

static int take(const struct nt_scan_reader *readers, size_t n, const struct nt_row *row)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		if (readers[i].table == row->table)
			error = readers[i].take(readers[i].arg, row);
	}
	return error;
}

static int open_pass(struct nt_row_iter **out, struct nt_db *db, const struct looks *looks,
		     const struct nt_scan_want *want)
{
	const struct nt_rows_want rows = {
		.tables = looks->tables,
		.order = want->names_first ? NT_ROWS_IDENTITIES_FIRST : NT_ROWS_EVENTS_FIRST,
		.view = want->view,
		.all_ops = want->all_ops,
	};

	return nt_tape_source_read(out, db->source, &rows, want->small);
}

static int fail_tape(struct nt_db *db)
{
	return nt_db_refuse(db, "%s", nt_tape_source_error(db->source));
}

/* A tape shows its progress itself. */
static int read_all(struct nt_db *db, struct nt_row_iter *rows, bool is_pass, const struct nt_scan_reader *readers,
		    size_t n)
{
	struct nt_progress progress;
	const struct nt_row *row;
	uint64_t n_rows = 0;
	int error = 0;

	nt_progress_begin(&progress, db->name);
	while (!error) {
		const int end = nt_row_next(rows, &row);

		if (end)
			error = end < 0 && is_pass ? fail_tape(db) : end;
		else
			error = take(readers, n, row);
		if (!db->source && !(++n_rows % ROWS_PER_LOOK))
			nt_progress_show(&progress, nt_row_progress(rows), n_rows);
	}
	nt_progress_end(&progress);
	return error == 1 ? 0 : error;
}

int nt_scan_within(struct nt_db *db, int64_t session_id, const struct nt_scan_want *want,
		   const struct nt_scan_reader *readers, size_t n)
{
	struct looks looks = {0};
	struct nt_row_iter *rows;
	bool is_pass;
	int error;

	for (size_t i = 0; i < n; i++) {
		looks.tables |= NT_TABLE_BIT(readers[i].table);
		looks.columns[readers[i].table] |= readers[i].columns ? readers[i].columns : UINT32_MAX;
	}
	is_pass = db->source && any_large(looks.tables);
	if (!is_pass)
		error = open_selects(&rows, db, session_id, &looks, want->strict);
	else if ((error = open_pass(&rows, db, &looks, want)))
		fail_tape(db);
	if (error)
		return -1;
	error = read_all(db, rows, is_pass, readers, n);
	nt_row_close(rows);
	return error;
}

int nt_scan_all(struct nt_db *db, int64_t session_id, uint64_t small, const struct nt_scan_reader *readers, size_t n)
{
	return nt_scan_within(db, session_id, &(struct nt_scan_want){.small = small}, readers, n);
}
