// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - see result.h.
 */
#include "report/result.h"

#include <stdlib.h>

struct nt_cell nt_result_cell(sqlite3_stmt *statement, int column)
{
	struct nt_cell cell = {.type = NT_CELL_NULL};

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		cell.type = NT_CELL_INTEGER;
		cell.integer = sqlite3_column_int64(statement, column);
		break;
	case SQLITE_FLOAT:
		cell.type = NT_CELL_REAL;
		cell.real = sqlite3_column_double(statement, column);
		break;
	case SQLITE_TEXT:
		cell.type = NT_CELL_TEXT;
		cell.text = (const char *)sqlite3_column_text(statement, column);
		cell.size = (size_t)sqlite3_column_bytes(statement, column);
		break;
	case SQLITE_BLOB:
		cell.type = NT_CELL_BLOB;
		cell.text = sqlite3_column_blob(statement, column);
		cell.size = (size_t)sqlite3_column_bytes(statement, column);
		break;
	default:
		break;
	}
	return cell;
}

static int begin(sqlite3_stmt *statement, struct nt_printer *printer, int n)
{
	const char **names = calloc((size_t)n, sizeof(*names));
	int error = -1;

	for (int i = 0; names && i < n; i++) {
		names[i] = sqlite3_column_name(statement, i);
		if (!names[i])
			names[i] = "";
	}
	if (names)
		error = nt_printer_begin(printer, (size_t)n, names);
	free(names);
	return error;
}

int nt_result_print(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer)
{
	int n = sqlite3_column_count(statement), step;
	struct nt_cell *cells;

	if (!n)
		return 0;
	cells = calloc((size_t)n, sizeof(*cells));
	if (!cells || begin(statement, printer, n)) {
		free(cells);
		snprintf(db->error, sizeof(db->error), "out of memory.");
		return -1;
	}
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			cells[i] = nt_result_cell(statement, i);
		if (nt_printer_row(printer, cells))
			break;
	}
	free(cells);
	nt_printer_end(printer);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the query failed");
}
