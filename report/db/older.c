// SPDX-License-Identifier: GPL-2.0-only
/*
 * older.c - see older.h.
 */
#include "report/db/older.h"

#include <stdio.h>
#include <string.h>

#include "report/util/array.h"

#define CANNOT "it cannot be read"
#define SQL_MAX 4096

struct copying {
	struct nt_db *db;
	uint32_t has[NT_TABLE_COUNT]; /* columns of the file's tables, as bits; 0: it lacks the table */
};

static int run(struct copying *copying, const char *sql)
{
	return sqlite3_exec(copying->db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0
										     : nt_db_fail(copying->db, CANNOT);
}

/* ---- the file's tables ---- */

/* Within the bounds of foreign.h, since the file's schema is read for that. */
static int attach(struct nt_db *db)
{
	sqlite3_stmt *statement;

	if (nt_foreign_begin(db))
		return -1;
	sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 1);
	statement = nt_db_prepare(db, "ATTACH ?1 AS older", NULL);
	sqlite3_bind_text(statement, 1, db->path, -1, SQLITE_STATIC);
	nt_db_next(statement);
	sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
	return nt_db_end(db, statement, CANNOT);
}

static uint32_t all_columns(const struct nt_table *table)
{
	return (uint32_t)((1ull << table->n_columns) - 1);
}

/* The columns that a statement may name. */
static uint32_t find_columns(const struct nt_table *table, const char *sql)
{
	uint32_t columns = 0;

	for (uint32_t i = 0; i < table->n_columns; i++) {
		char first[64], other[64];

		snprintf(first, sizeof(first), "(%s ", table->columns[i].name);
		snprintf(other, sizeof(other), ", %s ", table->columns[i].name);
		columns |= (uint32_t)(strstr(sql, first) || strstr(sql, other)) << i;
	}
	return columns;
}

/* One of the file's schema, by its name and the statement that made it. */
static int meet(struct copying *copying, const char *name, const char *sql)
{
	const enum nt_table_id id = nt_table_named(name);
	const struct nt_table *table;
	char own[NT_DB_TABLE_MAX];
	uint32_t columns;

	if (id == NT_TABLE_COUNT)
		return 0;
	table = nt_table(id);
	columns = find_columns(table, sql);
	nt_db_write_columns(table, columns, UINT32_MAX, own);
	if (!columns || strcmp(sql, own) != 0)
		return nt_foreign_refuse_made(copying->db, "table", table->name);
	copying->has[id] = columns;
	return 0;
}

static int meet_all(struct copying *copying)
{
	sqlite3_stmt *row = nt_db_prepare(copying->db, "SELECT name, sql FROM older.sqlite_master", NULL);
	int error = 0;

	while (!error && nt_db_next(row))
		error = meet(copying, nt_db_text(row, 0), nt_db_text(row, 1));
	if (!error)
		return nt_db_end(copying->db, row, "its tables cannot be read");
	sqlite3_finalize(row);
	return -1;
}

/* ---- the copy ---- */

/* The value of a column in databases that lack it, in SQL. */
static const char *stand_in(enum nt_table_id table, uint32_t column)
{
	if (!strcmp(nt_table(table)->columns[column].name, "counted_by"))
		return "'flow'";
	return table == NT_TABLE_CGROUP && column == NT_COLUMN(cgroup, label) ? "path" : "NULL";
}

/* As SELECT *, SQLite copies records without a look at their values. */
static void write_insert(enum nt_table_id id, uint32_t has, char sql[SQL_MAX])
{
	const struct nt_table *table = nt_table(id);
	int at = snprintf(sql, SQL_MAX, "INSERT INTO main.%s SELECT ", table->name);

	if (has == all_columns(table)) {
		snprintf(sql + at, SQL_MAX - (size_t)at, "* FROM older.%s", table->name);
		return;
	}
	for (uint32_t i = 0; i < table->n_columns; i++)
		at += snprintf(sql + at, SQL_MAX - (size_t)at, "%s%s", i ? ", " : "",
			       has >> i & 1 ? table->columns[i].name : stand_in(id, i));
	snprintf(sql + at, SQL_MAX - (size_t)at, " FROM older.%s%s", table->name, table->key ? "" : " ORDER BY rowid");
}

/*
 * The tables that came after the first version: they are made empty, or filled. Those of sums are only where their like
 * were not left out of the import. Nobody is known to pay for net_rx, as of a tape without the probe deliver.
 */
static const struct later {
	enum nt_table_id table;
	int64_t version;
	const char *fill; /* NULL: none */
} later[] = {
	{NT_TABLE_SKB_LATENCY, 2, NULL},
	{NT_TABLE_SKB_DROP, 2, NULL},
	{NT_TABLE_TCP_RETRANSMIT, 2, NULL},
	{NT_TABLE_SCHED_WAKEUP, 3, NULL},
	{NT_TABLE_STACK_SAMPLE, 3, NULL},
	{NT_TABLE_STACK, 3, NULL},
	{NT_TABLE_FRAME, 3, NULL},
	{NT_TABLE_SYMBOL, 3, NULL},
	{NT_TABLE_FLOW, 4, NULL},
	{NT_TABLE_RX_STRETCH, 4, NULL},
	{NT_TABLE_RX_COST, 5,
	 "INSERT INTO main.rx_cost SELECT session_id, ts, dur, cpu, 'unattributed', NULL, NULL, NULL, NULL, NULL, "
	 "0, 0, 0, sum(spent_ns), sum(spent_ns), sum(spent_ns) FROM older.cpu_cost WHERE owner = 'net_rx' "
	 "GROUP BY session_id, ts, dur, cpu ORDER BY min(rowid)"},
	{NT_TABLE_NET_TIMER, 6, NULL},
	{NT_TABLE_ELSEWHERE_COST, 6, NULL},
	{NT_TABLE_FLOW_SKETCH, 9, NULL},
	{NT_TABLE_FLOW_CELL, 9, NULL},
	{NT_TABLE_FLOW_COUNT, 9, NULL},
	{NT_TABLE_FLOW_TOTAL, 9, NULL},
	{NT_TABLE_FLOW_SUM, 10, NULL},
	{NT_TABLE_SOFTIRQ_RAISE, 12, NULL},
	{NT_TABLE_BLOCK_IO, 13, NULL},
	{NT_TABLE_MEM_RSS, 15, NULL},
	{NT_TABLE_PAGE_FAULT, 15, NULL},
	{NT_TABLE_KMEM, 17, NULL},
};

static int make_table(struct copying *copying, enum nt_table_id id, uint32_t needed)
{
	char sql[NT_DB_TABLE_MAX];

	nt_db_write_columns(nt_table(id), UINT32_MAX, needed, sql);
	return run(copying, sql);
}

static int make_later(struct copying *copying, enum nt_table_id id)
{
	const bool is_sum = nt_table(id)->kept & NT_KEPT_WITH_SUMS;
	const size_t at = NT_FIRST(NT_COUNT(later), i, later[i].table == id);

	if (at == NT_COUNT(later) || copying->db->older.version >= later[at].version ||
	    (is_sum && !copying->has[NT_TABLE_CPU_COST]))
		return 0;
	copying->db->older.lacks |= NT_TABLE_BIT(id);
	if (make_table(copying, id, UINT32_MAX))
		return -1;
	return later[at].fill ? run(copying, later[at].fill) : 0;
}

static int copy_table(struct copying *copying, enum nt_table_id id)
{
	char sql[SQL_MAX];

	if (!copying->has[id])
		return make_later(copying, id);
	if (copying->has[id] != all_columns(nt_table(id)))
		copying->db->older.short_of |= NT_TABLE_BIT(id);
	write_insert(id, copying->has[id], sql);
	return make_table(copying, id, copying->has[id]) || run(copying, sql) ? -1 : 0;
}

static int note_lacks(struct copying *copying)
{
	char sql[SQL_MAX];

	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		snprintf(sql, sizeof(sql),
			 "INSERT INTO main.session_meta SELECT session_id, '%s', '%s' FROM main.session",
			 NT_OLDER_LACKS, nt_table((enum nt_table_id)id)->name);
		if (copying->db->older.lacks >> id & 1 && run(copying, sql))
			return -1;
	}
	return 0;
}

/* In one transaction, so that all is of one state of the file. */
static int copy(struct copying *copying)
{
	if (run(copying, "BEGIN") || meet_all(copying) || nt_foreign_allow_copy(copying->db))
		return -1;
	for (int id = 0; id < NT_TABLE_COUNT; id++)
		if (copy_table(copying, (enum nt_table_id)id))
			return -1;
	if (note_lacks(copying) || run(copying, "COMMIT; DETACH older"))
		return -1;
	nt_foreign_end_copy(copying->db);
	return 0;
}

int nt_older_copy(struct nt_db *db)
{
	struct copying copying = {.db = db};

	return attach(db) ? -1 : copy(&copying);
}

/* ---- the note ---- */

/* The names of these tables, behind a beginning of the list. Gives the end of the text. */
static int list(char text[NT_OLDER_TEXT_MAX], int at, const char *begin, uint64_t tables)
{
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		if (!(tables >> id & 1) || at >= NT_OLDER_TEXT_MAX)
			continue;
		at += snprintf(text + at, (size_t)(NT_OLDER_TEXT_MAX - at), "%s %s", begin,
			       nt_table((enum nt_table_id)id)->name);
		begin = ",";
	}
	return at;
}

void nt_older_tell(struct nt_db *db, char text[NT_OLDER_TEXT_MAX])
{
	const struct nt_older *older = &db->older;
	const bool lacks = older->lacks | older->short_of;
	int at = snprintf(text, NT_OLDER_TEXT_MAX, "%.256s: its schema is version %lld, and the present one is %d.",
			  db->name, (long long)older->version, NT_SCHEMA_VERSION);

	at = list(text, at, " It lacks the tables", older->lacks);
	at = list(text, at, older->lacks ? ", and columns of" : " It lacks columns of", older->short_of);
	if (at < NT_OLDER_TEXT_MAX)
		snprintf(text + at, (size_t)(NT_OLDER_TEXT_MAX - at),
			 "%s Each command reads a copy of it in the present form: import its tapes again, into a new "
			 "database%s.",
			 lacks ? "." : "", lacks ? ", for all" : "");
}
