// SPDX-License-Identifier: GPL-2.0-only
/* live_probes.c - see live_probes.h. */
#include "report/export/prometheus/live_probes.h"

#include <stdio.h>
#include <string.h>

#include "report/util/array.h"

#define SQL_MAX 256

static int run(struct nt_db *db, const char *sql, int64_t until_ts)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);

	sqlite3_bind_int64(statement, 1, until_ts);
	nt_db_next(statement);
	return nt_db_end(db, statement, "what probes recorded cannot be added up");
}

/* When a row of the table ends. */
static const char *end_of(const struct nt_table *table)
{
	return NT_ANY(table->n_columns, i, !strcmp(table->columns[i].name, "dur")) ? "ts + dur" : "ts";
}

static int make_view(struct nt_db *db, const struct nt_table *table)
{
	char sql[SQL_MAX];

	snprintf(sql, sizeof(sql),
		 "CREATE TEMP VIEW %s AS SELECT * FROM main.%s WHERE %s < (SELECT until_ts FROM temp.complete)",
		 table->name, table->name, end_of(table));
	return run(db, sql, 0);
}

int nt_live_probes_begin(struct nt_db *db)
{
	int error = run(db, "CREATE TEMP TABLE complete (until_ts INTEGER)", 0);

	if (!error)
		error = run(db, "INSERT INTO temp.complete VALUES(?1)", 0);
	for (unsigned int id = 0; id < NT_TABLE_COUNT && !error; id++) {
		if (NT_LIVE_PROBES_TABLES & NT_TABLE_BIT(id))
			error = make_view(db, nt_table((enum nt_table_id)id));
	}
	return error;
}

static int delete_rows(struct nt_db *db, const struct nt_table *table, int64_t until_ts)
{
	char sql[SQL_MAX];

	snprintf(sql, sizeof(sql), "DELETE FROM main.%s WHERE %s < ?1", table->name, end_of(table));
	return run(db, sql, until_ts);
}

static int delete_complete(struct nt_db *db, uint64_t tables, int64_t until_ts)
{
	int error = 0;

	for (unsigned int id = 0; id < NT_TABLE_COUNT && !error; id++) {
		if (tables & NT_TABLE_BIT(id))
			error = delete_rows(db, nt_table((enum nt_table_id)id), until_ts);
	}
	return error;
}

static int add_latency(const struct nt_part *part, struct nt_latency_accounting *told, struct nt_sheet *sheet)
{
	const struct nt_latency_choice all = {.by = NT_BY_NONE, .hooks = NT_ALL_HOOKS};
	struct nt_prometheus_groups groups = {0};
	int error = nt_prometheus_latency(part, &all, told, &groups, sheet);

	if (!error && nt_prometheus_name_latencies(&groups, all.by, 1, sheet))
		error = nt_db_no_memory(part->db);
	nt_prometheus_release_latencies(&groups);
	return error;
}

int nt_live_probes_add(const struct nt_part *part, uint64_t tables, int64_t until_ts,
		       struct nt_latency_accounting *told, struct nt_sheet *sheet)
{
	int error = run(part->db, "UPDATE temp.complete SET until_ts = ?1", until_ts);

	sheet->is_bounded = true;
	if (!error && tables & NT_TABLE_BIT(NT_TABLE_SKB_LATENCY))
		error = add_latency(part, told, sheet);
	if (!error)
		error = nt_prometheus_probes(part, tables, sheet);
	sheet->is_bounded = false;
	return error ? error : delete_complete(part->db, tables, until_ts);
}
