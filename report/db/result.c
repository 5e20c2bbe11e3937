// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - see result.h.
 */
#include "report/db/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/util/ends.h"

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

void nt_result_json(struct nt_json *json, sqlite3_stmt *row)
{
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		struct nt_cell cell = nt_result_cell(row, i);

		nt_json_cell(json, sqlite3_column_name(row, i), &cell);
	}
}

void nt_result_json_array(struct nt_json *json, sqlite3_stmt *row)
{
	nt_json_open(json, NULL, '[');
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		struct nt_cell cell = nt_result_cell(row, i);

		nt_json_cell(json, NULL, &cell);
	}
	nt_json_close(json, ']');
}

static void write_rows(struct nt_json *json, const void *arg)
{
	sqlite3_stmt *row = *(sqlite3_stmt *const *)arg;

	while (nt_db_next(row))
		nt_result_json_array(json, row);
}

char *nt_result_array(sqlite3_stmt *statement)
{
	return nt_json_array(write_rows, &statement);
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
		return nt_db_no_memory(db);
	}
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < n; i++)
			cells[i] = nt_result_cell(statement, i);
		if (nt_printer_row(printer, cells))
			break;
	}
	free(cells);
	nt_printer_end(printer);
	if (step == SQLITE_ROW) /* that could not be printed */
		return nt_db_no_memory(db);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the query failed");
}

/* ---- the first rows, and sums ---- */

enum sum { SUM_NONE, SUM_ALL, SUM_GREATEST };

/* The parts of a row of sums. */
struct sums {
	int64_t rows;
	bool is_none; /* nothing is summed but their number */
	struct {
		enum sum how;
		bool is_known; /* there is any, and it fits */
		bool is_over;
		int64_t integer;
		double real;
	} columns[NT_LINE_MAX];
};

/* "p99_ns". */
static bool is_percentile(const char *name)
{
	return name[0] == 'p' && name[1] >= '0' && name[1] <= '9';
}

static enum sum sum_of(const char *name)
{
	if (!strncmp(name, "longest_", 8) || !strncmp(name, "dearest_", 8))
		return SUM_GREATEST;
	/* Not all have their peak at once; errors of several partly cancel out. */
	if (!strncmp(name, "since_", 6) || !strncmp(name, "mean_", 5) || !strncmp(name, "peak_", 5) ||
	    !strncmp(name, "error_", 6) || is_percentile(name))
		return SUM_NONE;
	return nt_ends_in(name, "_ns") || nt_ends_in(name, "_bytes") || nt_ends_in(name, "_count") ||
			       !strcmp(name, "cpu_share")
		       ? SUM_ALL
		       : SUM_NONE;
}

static void add_row(struct sums *sums, const struct nt_line *line)
{
	sums->rows++;
	for (size_t i = 0; i < line->n; i++) {
		const struct nt_cell *cell = &line->cells[i];
		int64_t *sum = &sums->columns[i].integer;

		sums->columns[i].how = sum_of(line->names[i]);
		if (cell->type == NT_CELL_REAL)
			sums->columns[i].real += cell->real;
		else if (cell->type != NT_CELL_INTEGER)
			continue;
		else if (sums->columns[i].how == SUM_GREATEST)
			*sum = cell->integer > *sum ? cell->integer : *sum;
		else
			sums->columns[i].is_over |= __builtin_add_overflow(*sum, cell->integer, sum);
		sums->columns[i].is_known = true;
	}
}

static int print_sums(struct nt_printer *printer, const struct sums *sums, const struct nt_line *line,
		      const char *label)
{
	struct nt_cell cells[NT_LINE_MAX];

	for (size_t i = 0; i < line->n; i++) {
		bool is_known = sums->columns[i].is_known && !sums->columns[i].is_over;

		if (sums->is_none || sums->columns[i].how == SUM_NONE)
			cells[i] = nt_cell_figure("");
		else if (is_known && nt_ends_in(line->names[i], "_share"))
			cells[i] = (struct nt_cell){.type = NT_CELL_REAL, .real = sums->columns[i].real};
		else
			cells[i] = is_known ? nt_cell_integer(sums->columns[i].integer) : (struct nt_cell){0};
	}
	cells[0] = nt_cell_label(label);
	cells[0].is_right = line->cells[0].type == NT_CELL_INTEGER;
	return nt_printer_row(printer, cells);
}

static void take_row(sqlite3_stmt *statement, const struct nt_printer *printer, struct nt_line *line)
{
	line->n = 0;
	for (int i = 0; i < sqlite3_column_count(statement) && i < NT_LINE_MAX; i++) {
		if (!nt_printer_hides(printer, sqlite3_column_name(statement, i)))
			nt_line_put(line, sqlite3_column_name(statement, i), nt_result_cell(statement, i));
	}
}

static int begin_top(struct nt_printer *printer, const struct nt_line *line, const char *heading)
{
	if (heading) {
		nt_print_heading(stdout, "\n%s", heading);
	}
	return nt_printer_begin(printer, line->n, line->names);
}

static int print_below(struct nt_printer *printer, const struct sums *rest, const struct sums *all,
		       const struct nt_line *line)
{
	char label[NT_HUMAN_MAX];
	int error = 0;

	if (rest->rows)
		error = print_sums(printer, rest, line, nt_human_others(label, rest->rows));
	if (!error && all->rows > 1 && !all->is_none)
		error = print_sums(printer, all, line, "total");
	return error;
}

static int print_top(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer, int64_t top,
		     const char *heading, bool adds_up)
{
	struct sums all = {.is_none = !adds_up}, rest = {.is_none = !adds_up};
	struct nt_line line = {0};
	int step, error = 0;

	for (; !error && (step = sqlite3_step(statement)) == SQLITE_ROW; add_row(&all, &line)) {
		take_row(statement, printer, &line);
		if (!all.rows)
			error = begin_top(printer, &line, heading);
		if (!error && all.rows < top)
			error = nt_printer_row(printer, line.cells);
		else
			add_row(&rest, &line);
	}
	if (!error && step == SQLITE_DONE && !all.rows && !heading) {
		take_row(statement, printer, &line);
		error = begin_top(printer, &line, NULL);
	}
	if (!error && step == SQLITE_DONE)
		error = print_below(printer, &rest, &all, &line);
	if (error)
		return nt_db_no_memory(db);
	if (all.rows || !heading)
		nt_printer_end(printer);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the query failed");
}

int nt_result_print_top(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer, int64_t top,
			const char *heading)
{
	return print_top(db, statement, printer, top, heading, true);
}

int nt_result_print_first(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer, int64_t top,
			  const char *heading)
{
	return print_top(db, statement, printer, top, heading, false);
}
