// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - rows of SQL as series.
 */
#include <errno.h>

#include "report/export/prometheus/parts.h"

static int add_row(const enum nt_metric *metrics, int n_metrics, sqlite3_stmt *row, struct nt_sheet *sheet)
{
	struct nt_label labels[NT_MAX_LABELS + 1] = {0};

	for (int i = n_metrics; i < sqlite3_column_count(row) && i - n_metrics < NT_MAX_LABELS; i++)
		labels[i - n_metrics] = (struct nt_label){sqlite3_column_name(row, i), nt_db_text(row, i)};
	for (int i = 0; i < n_metrics; i++) {
		if (sqlite3_column_type(row, i) != SQLITE_NULL &&
		    nt_sheet_add(sheet, metrics[i], sqlite3_column_double(row, i), labels))
			return -ENOMEM;
	}
	return 0;
}

int nt_prometheus_add_rows(const struct nt_part *part, const enum nt_metric *metrics, int n_metrics, sqlite3_stmt *row,
			   struct nt_sheet *sheet)
{
	int error = 0;

	while (!error && nt_db_next(row))
		error = add_row(metrics, n_metrics, row, sheet);
	if (nt_db_end(part->db, row, "the rows cannot be read"))
		return -1;
	return error ? nt_db_no_memory(part->db) : 0;
}

int nt_prometheus_add_queries(const struct nt_part *part, uint64_t tables, const struct nt_prometheus_query *queries,
			      size_t n, struct nt_sheet *sheet)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		sqlite3_stmt *row;

		if (!(tables & NT_TABLE_BIT(queries[i].table)))
			continue;
		row = nt_db_query(part->db, queries[i].sql, part->session->id);
		nt_part_bind(part, row);
		error = nt_prometheus_add_rows(part, queries[i].metrics, queries[i].n_metrics, row, sheet);
	}
	return error;
}
