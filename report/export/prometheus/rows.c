// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - rows of SQL as series.
 */
#include <errno.h>

#include "report/export/prometheus/parts.h"

#define MAX_LABELS 8

static int add_row(const struct nt_prometheus_rows *rows, sqlite3_stmt *row, struct nt_sheet *sheet)
{
	const int n = (int)rows->n_metrics;
	struct nt_label labels[MAX_LABELS + 1] = {0};

	for (int i = n; i < sqlite3_column_count(row) && i - n < MAX_LABELS; i++)
		labels[i - n] = (struct nt_label){sqlite3_column_name(row, i), nt_db_text(row, i)};
	for (int i = 0; i < n; i++) {
		if (sqlite3_column_type(row, i) != SQLITE_NULL &&
		    nt_sheet_add(sheet, rows->metrics[i], sqlite3_column_double(row, i), labels))
			return -ENOMEM;
	}
	return 0;
}

int nt_prometheus_add_rows(const struct nt_part *part, const struct nt_prometheus_rows *rows, sqlite3_stmt *row,
			   struct nt_sheet *sheet)
{
	int error = 0;

	while (!error && nt_db_next(row))
		error = add_row(rows, row, sheet);
	if (nt_db_end(part->db, row, "the rows cannot be read"))
		return -1;
	return error ? nt_db_no_memory(part->db) : 0;
}
