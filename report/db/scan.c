// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - see scan.h.
 */
#include "report/db/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/tape_source.h"
#include "report/util/array.h"

struct nt_scan {
	struct nt_db *db;
	/* A pass over a tape, */
	bool is_pass;
	struct nt_tape_pass pass;
	/* or SELECTs: of a database, or of tables of a tape that are small and so kept. */
	int64_t session_id;
	struct nt_scan_want want;
	unsigned int next_table; /* below 2 * NT_TABLE_COUNT */
	enum nt_table_id table; /* that is read now */
	sqlite3_stmt *statement; /* NULL: none is */
	struct nt_row row;
};

/* ---- a tape ---- */

static int fail_tape(struct nt_scan *scan)
{
	return nt_db_refuse(scan->db, "%s", nt_tape_source_error(scan->db->source));
}

static int next_of_tape(struct nt_scan *scan, const struct nt_row **row)
{
	const int error = nt_tape_pass_next(&scan->pass, row);

	return error < 0 ? fail_tape(scan) : error;
}

/* ---- a database ---- */

/* Those that say who is who and what is read at times: they come before what happened. */
static bool is_first(unsigned int table)
{
	return nt_tables_of(NT_FROM(BLOCKS) | NT_FROM(TASKS)) >> table & 1;
}

/* Goes over all tables twice, for the first and for the others. False: there are no more. */
static bool next_table(struct nt_scan *scan)
{
	while (scan->next_table < 2 * NT_TABLE_COUNT) {
		const unsigned int pass = scan->next_table / NT_TABLE_COUNT, id = scan->next_table++ % NT_TABLE_COUNT;

		if (scan->want.tables >> id & 1 && is_first(id) == !pass) {
			scan->table = (enum nt_table_id)id;
			return true;
		}
	}
	return false;
}

static bool is_used(const struct nt_scan *scan, uint32_t column)
{
	const uint32_t columns = scan->want.columns[scan->table];

	return !columns || columns >> column & 1;
}

static int begin_table(struct nt_scan *scan)
{
	const struct nt_table *table = nt_table(scan->table);
	char sql[1024];
	int at = snprintf(sql, sizeof(sql), "SELECT ");

	for (uint32_t i = 0; i < table->n_columns; i++)
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%s", i ? ", " : "",
			       is_used(scan, i) ? table->columns[i].name : "NULL");
	snprintf(sql + at, sizeof(sql) - (size_t)at, " FROM %s WHERE session_id = ?1%s", table->name,
		 table->key ? "" : " ORDER BY rowid");
	memset(&scan->row, 0, sizeof(scan->row));
	scan->row.table = scan->table;
	scan->row.n = table->n_columns;
	scan->statement = nt_db_query(scan->db, sql, scan->session_id);
	return scan->statement ? 0 : -1;
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

static void take_row(struct nt_scan *scan)
{
	const struct nt_table *table = nt_table(scan->table);

	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (is_used(scan, i))
			take_value(&scan->row.values[i], scan->statement, (int)i, table->columns[i].type);
	}
}

static int next_of_database(struct nt_scan *scan, const struct nt_row **row)
{
	while (scan->statement || next_table(scan)) {
		sqlite3_stmt *statement;

		if (!scan->statement && begin_table(scan))
			return -1;
		if (nt_db_next(scan->statement)) {
			take_row(scan);
			*row = &scan->row;
			return 0;
		}
		statement = scan->statement;
		scan->statement = NULL;
		if (nt_db_end(scan->db, statement, "a table cannot be read"))
			return -1;
	}
	return 1;
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

/* ---- either ---- */

static bool any_large(uint64_t tables)
{
	return NT_ANY(NT_TABLE_COUNT, id, tables >> id & 1 && !nt_tape_source_is_small((enum nt_table_id)id));
}

int nt_scan_open(struct nt_scan **out, struct nt_db *db, int64_t session_id, const struct nt_scan_want *want)
{
	const struct nt_rows_want rows = {
		.tables = want->tables,
		.order = want->names_first ? NT_ROWS_IDENTITIES_FIRST : NT_ROWS_EVENTS_FIRST,
		.view = want->view,
		.all_ops = want->all_ops,
	};
	struct nt_scan *scan = calloc(1, sizeof(*scan));

	*out = scan;
	if (!scan)
		return nt_db_no_memory(db);
	scan->db = db;
	scan->session_id = session_id;
	scan->want = *want;
	scan->is_pass = db->source && any_large(want->tables);
	if (scan->is_pass && nt_tape_pass_begin(&scan->pass, db->source, &rows, want->small))
		return fail_tape(scan);
	return 0;
}

void nt_scan_close(struct nt_scan *scan)
{
	if (!scan)
		return;
	nt_tape_pass_end(&scan->pass);
	sqlite3_finalize(scan->statement);
	free(scan);
}

int nt_scan_next(struct nt_scan *scan, const struct nt_row **row)
{
	return scan->is_pass ? next_of_tape(scan, row) : next_of_database(scan, row);
}

unsigned int nt_scan_progress(const struct nt_scan *scan)
{
	return scan->is_pass ? nt_tape_pass_progress(&scan->pass) : scan->next_table * 500 / NT_TABLE_COUNT;
}

/* ---- for several readers ---- */

static int take(const struct nt_scan_reader *readers, size_t n, const struct nt_row *row)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		if (readers[i].table == row->table)
			error = readers[i].take(readers[i].arg, row);
	}
	return error;
}

int nt_scan_within(struct nt_db *db, int64_t session_id, const struct nt_scan_want *how,
		   const struct nt_scan_reader *readers, size_t n)
{
	struct nt_scan_want want = *how;
	const struct nt_row *row;
	struct nt_scan *scan;
	int error;

	for (size_t i = 0; i < n; i++) {
		want.tables |= NT_TABLE_BIT(readers[i].table);
		want.columns[readers[i].table] |= readers[i].columns ? readers[i].columns : UINT32_MAX;
	}
	error = nt_scan_open(&scan, db, session_id, &want);
	while (!error) {
		const int end = nt_scan_next(scan, &row);

		error = end ? end : take(readers, n, row);
	}
	nt_scan_close(scan);
	return error == 1 ? 0 : error;
}

int nt_scan_all(struct nt_db *db, int64_t session_id, uint64_t small, const struct nt_scan_reader *readers, size_t n)
{
	return nt_scan_within(db, session_id, &(struct nt_scan_want){.small = small}, readers, n);
}
