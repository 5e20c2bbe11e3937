// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - the part of output.h that prints sets of rows.
 */
#include "report/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/arena.h"
#include "report/terminal.h"

struct nt_cell nt_cell_integer(int64_t value)
{
	return (struct nt_cell){.type = NT_CELL_INTEGER, .integer = value};
}

struct nt_cell nt_cell_text(const char *value)
{
	return value ? (struct nt_cell){.type = NT_CELL_TEXT, .text = value, .size = strlen(value)}
		     : (struct nt_cell){.type = NT_CELL_NULL};
}

void nt_line_put(struct nt_line *line, const char *name, struct nt_cell cell)
{
	line->names[line->n] = name;
	line->cells[line->n++] = cell;
}

#define HELD_ROWS 1000 /* of a table, until it is printed with what widths they need */

struct column {
	char *name;
	char *shown; /* the name as a table shows it */
	size_t width;
	bool is_text; /* left-aligned */
};

struct nt_printer {
	FILE *out;
	enum nt_format format;
	bool human, colour;
	struct column *columns;
	size_t n_columns;
	/* Table: rows held back, as cells ready to print. */
	char **held;
	size_t n_held;
	bool widths_known;
	struct nt_arena arena;
	FILE *scratch; /* into scratch_text: one cell at a time */
	char *scratch_text;
	size_t scratch_size;
	struct nt_json json;
};

struct nt_printer *nt_printer_new(FILE *out, enum nt_format format, bool human)
{
	struct nt_printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return NULL;
	printer->out = out;
	printer->format = format;
	printer->human = human && format == NT_FORMAT_TABLE;
	printer->colour = nt_terminal_find(out, format).colour;
	printer->json = (struct nt_json){.out = out, .lines = 1};
	printer->scratch = open_memstream(&printer->scratch_text, &printer->scratch_size);
	if (!printer->scratch) {
		free(printer);
		return NULL;
	}
	return printer;
}

static void free_columns(struct nt_printer *printer)
{
	for (size_t i = 0; i < printer->n_columns; i++) {
		free(printer->columns[i].name);
		free(printer->columns[i].shown);
	}
	free(printer->columns);
	free(printer->held);
	printer->columns = NULL;
	printer->held = NULL;
	printer->n_columns = printer->n_held = 0;
}

void nt_printer_free(struct nt_printer *printer)
{
	if (!printer)
		return;
	free_columns(printer);
	nt_arena_release(&printer->arena);
	fclose(printer->scratch);
	free(printer->scratch_text);
	free(printer);
}

/* ---- CSV (RFC 4180) ---- */

static void csv_text(FILE *out, const char *text, size_t size)
{
	bool quote = false;

	for (size_t i = 0; i < size && !quote; i++)
		quote = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
	if (!quote) {
		fwrite(text, 1, size, out);
		return;
	}
	fputc('"', out);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			fputc('"', out);
		fputc(text[i], out);
	}
	fputc('"', out);
}

/* Everything but text, the same in CSV and tables. */
static void plain_cell(FILE *out, const struct nt_cell *cell)
{
	if (cell->type == NT_CELL_INTEGER)
		fprintf(out, "%lld", (long long)cell->integer);
	else if (cell->type == NT_CELL_REAL)
		fprintf(out, "%.15g", cell->real);
	else if (cell->type == NT_CELL_BLOB)
		for (size_t i = 0; i < cell->size; i++)
			fprintf(out, "%02x", (unsigned char)cell->text[i]);
}

static void csv_row(struct nt_printer *printer, const struct nt_cell *cells)
{
	for (size_t i = 0; i < printer->n_columns; i++) {
		if (i)
			fputc(',', printer->out);
		if (cells[i].type == NT_CELL_TEXT)
			csv_text(printer->out, cells[i].text, cells[i].size);
		else
			plain_cell(printer->out, &cells[i]);
	}
	fputc('\n', printer->out);
}

static void csv_header(struct nt_printer *printer)
{
	for (size_t i = 0; i < printer->n_columns; i++) {
		if (i)
			fputc(',', printer->out);
		csv_text(printer->out, printer->columns[i].name, strlen(printer->columns[i].name));
	}
	fputc('\n', printer->out);
}

/* ---- tables ---- */

static bool ends_in(const char *name, const char *end)
{
	size_t size = strlen(name), end_size = strlen(end);

	return size >= end_size && !strcmp(name + size - end_size, end);
}

static bool human_cell(FILE *out, const char *name, const struct nt_cell *cell)
{
	char text[NT_HUMAN_MAX];

	if (cell->type == NT_CELL_REAL && ends_in(name, "_share")) {
		fprintf(out, "%.2f %%", 100 * cell->real);
		return true;
	}
	if (cell->type != NT_CELL_INTEGER)
		return false;
	if (ends_in(name, "_ns") && cell->integer >= 0)
		fputs(nt_human_ns(text, (uint64_t)cell->integer), out);
	else if (ends_in(name, "_bytes") && cell->integer >= 0)
		fputs(nt_human_bytes(text, (uint64_t)cell->integer), out);
	else if (ends_in(name, "_count"))
		fputs(nt_human_count(text, cell->integer), out);
	else
		return false;
	return true;
}

/* The cell as it will stand, in the arena. */
static char *table_cell(struct nt_printer *printer, const char *name, const struct nt_cell *cell)
{
	FILE *out = printer->scratch;
	off_t size;
	char *copy;

	rewind(out);
	if (cell->type == NT_CELL_NULL)
		fputc('-', out);
	else if (cell->type == NT_CELL_TEXT)
		nt_print_clean(out, cell->text, cell->size);
	else if (!printer->human || !human_cell(out, name, cell))
		plain_cell(out, cell);
	size = ftello(out);
	if (size < 0 || fflush(out))
		return NULL;
	copy = nt_arena_get(&printer->arena, (size_t)size + 1);
	if (copy) {
		memcpy(copy, printer->scratch_text, (size_t)size);
		copy[size] = 0;
	}
	return copy;
}

/* Characters, not bytes: what follows the first byte of a character takes no room. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void pad(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* What stands in column i of a line. */
static void table_piece(struct nt_printer *printer, size_t i, const char *text)
{
	const struct column *column = &printer->columns[i];
	size_t width = width_of(text);
	size_t room = column->width > width ? column->width - width : 0;

	if (i)
		fputs("  ", printer->out);
	if (!column->is_text)
		pad(printer->out, room);
	fputs(text, printer->out);
	if (column->is_text && i + 1 < printer->n_columns)
		pad(printer->out, room);
}

static void table_line(struct nt_printer *printer, char *const *cells)
{
	for (size_t i = 0; i < printer->n_columns; i++)
		table_piece(printer, i, cells[i]);
	fputc('\n', printer->out);
}

static void table_header(struct nt_printer *printer)
{
	if (printer->colour)
		fputs("\033[1m", printer->out);
	for (size_t i = 0; i < printer->n_columns; i++)
		table_piece(printer, i, printer->columns[i].shown);
	fputc('\n', printer->out);
	if (printer->colour)
		fputs("\033[0m", printer->out);
}

/* Prints what was held back. */
static void table_flush(struct nt_printer *printer)
{
	if (!printer->widths_known) {
		for (size_t i = 0; i < printer->n_columns; i++) {
			struct column *column = &printer->columns[i];

			column->width = width_of(column->shown);
			for (size_t row = 0; row < printer->n_held; row++) {
				size_t width = width_of(printer->held[row * printer->n_columns + i]);

				column->width = width > column->width ? width : column->width;
			}
		}
		table_header(printer);
		printer->widths_known = true;
	}
	for (size_t row = 0; row < printer->n_held; row++)
		table_line(printer, printer->held + row * printer->n_columns);
	printer->n_held = 0;
	nt_arena_reset(&printer->arena);
}

static int table_row(struct nt_printer *printer, const struct nt_cell *cells)
{
	char **line = printer->held + printer->n_held * printer->n_columns;

	for (size_t i = 0; i < printer->n_columns; i++) {
		line[i] = table_cell(printer, printer->columns[i].name, &cells[i]);
		if (!line[i])
			return -ENOMEM;
		if (!printer->widths_known && cells[i].type >= NT_CELL_TEXT)
			printer->columns[i].is_text = true;
	}
	printer->n_held++;
	if (printer->widths_known || printer->n_held == HELD_ROWS)
		table_flush(printer);
	return 0;
}

/* In a table for people the unit stands with the number, so the name does not say it. */
static char *shown_name(const struct nt_printer *printer, const char *name)
{
	static const char *const units[] = {"_ns", "_bytes", "_share", "_count"};
	char *copy = strdup(name);

	for (size_t i = 0; copy && printer->human && i < sizeof(units) / sizeof(units[0]); i++) {
		if (ends_in(copy, units[i])) {
			copy[strlen(copy) - strlen(units[i])] = 0;
			break;
		}
	}
	return copy;
}

/* ---- all formats ---- */

int nt_printer_begin(struct nt_printer *printer, size_t n_columns, const char *const *names)
{
	free_columns(printer);
	printer->columns = calloc(n_columns, sizeof(*printer->columns));
	if (!printer->columns)
		return -ENOMEM;
	printer->n_columns = n_columns;
	for (size_t i = 0; i < n_columns; i++) {
		printer->columns[i].name = strdup(names[i]);
		printer->columns[i].shown = shown_name(printer, names[i]);
		if (!printer->columns[i].name || !printer->columns[i].shown)
			return -ENOMEM;
	}
	printer->widths_known = false;
	if (printer->format == NT_FORMAT_TABLE) {
		printer->held = calloc(HELD_ROWS * n_columns, sizeof(*printer->held));
		return printer->held ? 0 : -ENOMEM;
	}
	if (printer->format == NT_FORMAT_CSV)
		csv_header(printer);
	else
		nt_json_open(&printer->json, NULL, '[');
	return 0;
}

int nt_printer_row(struct nt_printer *printer, const struct nt_cell *cells)
{
	if (printer->format == NT_FORMAT_TABLE)
		return table_row(printer, cells);
	if (printer->format == NT_FORMAT_CSV) {
		csv_row(printer, cells);
		return 0;
	}
	nt_json_open(&printer->json, NULL, '{');
	for (size_t i = 0; i < printer->n_columns; i++)
		nt_json_cell(&printer->json, printer->columns[i].name, &cells[i]);
	nt_json_close(&printer->json, '}');
	return 0;
}

void nt_printer_end(struct nt_printer *printer)
{
	if (printer->human && !printer->n_held && !printer->widths_known)
		fputs("none\n", printer->out);
	else if (printer->format == NT_FORMAT_TABLE)
		table_flush(printer);
	else if (printer->format == NT_FORMAT_JSON)
		nt_json_close(&printer->json, ']');
}
