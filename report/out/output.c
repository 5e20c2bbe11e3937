// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - the part of output.h that prints sets of rows.
 */
#include "report/out/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/out/table.h"
#include "report/out/terminal.h"
#include "report/util/arena.h"
#include "report/util/array.h"
#include "report/util/ends.h"
#include "report/util/words.h"

struct nt_cell nt_cell_integer(int64_t value)
{
	return (struct nt_cell){.type = NT_CELL_INTEGER, .integer = value};
}

struct nt_cell nt_cell_if(bool is_known, int64_t value)
{
	return is_known ? nt_cell_integer(value) : (struct nt_cell){.type = NT_CELL_NULL};
}

struct nt_cell nt_cell_text(const char *value)
{
	return value ? (struct nt_cell){.type = NT_CELL_TEXT, .text = value, .size = strlen(value)}
		     : (struct nt_cell){.type = NT_CELL_NULL};
}

struct nt_cell nt_cell_label(const char *value)
{
	struct nt_cell cell = nt_cell_text(value);

	cell.is_whole = true;
	return cell;
}

struct nt_cell nt_cell_figure(const char *value)
{
	struct nt_cell cell = nt_cell_label(value);

	cell.is_right = true;
	return cell;
}

void nt_line_put(struct nt_line *line, const char *name, struct nt_cell cell)
{
	line->names[line->n] = name;
	line->cells[line->n++] = cell;
}

#define HELD_ROWS 1000 /* of a table, until it is printed with what widths they need */
#define SHORTEST 21 /* columns that are left of a name at least: an IPv4 address with its port is never shortened */
#define LEFT_OUT_MAX 512

struct column {
	char *name;
	char *shown; /* the name as a table shows it */
	unsigned int rank; /* see table.h */
	bool is_text; /* left-aligned */
};

struct held {
	char *text; /* ready to print, in the arena */
	bool is_whole; /* not to be shortened */
};

struct nt_printer {
	FILE *out;
	enum nt_format format;
	bool human, colour, is_terminal;
	const char *ellipsis;
	size_t room; /* columns of a line; SIZE_MAX: lines may be as long as they like */
	const char *first_left_out; /* nt_printer_leave_out */
	const char *hidden; /* nt_printer_hide */
	struct column *columns;
	struct nt_table_column *layout;
	size_t n_columns;
	/* Table: rows held back, as cells ready to print. */
	struct held *held;
	size_t n_held;
	bool has_begun, widths_known, printed;
	struct nt_arena arena;
	FILE *scratch; /* into scratch_text: one cell at a time */
	char *scratch_text;
	size_t scratch_size;
	char left_out[LEFT_OUT_MAX]; /* names of columns, since the printer was made */
	bool has_shortened;
	struct nt_json json;
};

struct nt_printer *nt_printer_new(FILE *out, enum nt_format format, bool human)
{
	struct nt_printer *printer = calloc(1, sizeof(*printer));
	struct nt_terminal terminal = nt_terminal_find(out, format);

	if (!printer)
		return NULL;
	printer->out = out;
	printer->format = format;
	printer->human = human && format == NT_FORMAT_TABLE;
	printer->colour = terminal.colour;
	/* CSV in a file has the text as it is. */
	printer->is_terminal = nt_terminal_find(out, NT_FORMAT_TABLE).is_terminal;
	printer->ellipsis = terminal.utf8 ? "\xe2\x80\xa6" : "...";
	/* Tables for people fit any width. Answers to a query stay whole, except on a terminal. */
	printer->room = printer->human || terminal.is_terminal ? terminal.width : SIZE_MAX;
	printer->json = (struct nt_json){.out = out, .lines = 1};
	printer->scratch = open_memstream(&printer->scratch_text, &printer->scratch_size);
	if (!printer->scratch) {
		free(printer);
		return NULL;
	}
	return printer;
}

void nt_printer_leave_out(struct nt_printer *printer, const char *names)
{
	printer->first_left_out = names;
}

void nt_printer_hide(struct nt_printer *printer, const char *names)
{
	printer->hidden = names;
}

bool nt_printer_hides(const struct nt_printer *printer, const char *name)
{
	return printer->hidden && nt_has_word(printer->hidden, name);
}

static void free_columns(struct nt_printer *printer)
{
	for (size_t i = 0; i < printer->n_columns; i++) {
		free(printer->columns[i].name);
		free(printer->columns[i].shown);
	}
	free(printer->columns);
	free(printer->layout);
	free(printer->held);
	printer->columns = NULL;
	printer->layout = NULL;
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

static void csv_text(FILE *out, const char *text, size_t size, bool clean)
{
	bool quote = false;

	for (size_t i = 0; i < size && !quote; i++)
		quote = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
	if (quote)
		fputc('"', out);
	for (size_t from = 0, n; from < size; from += n) {
		const char *mark = memchr(text + from, '"', size - from);

		n = mark ? (size_t)(mark - text) - from + 1 : size - from;
		if (clean)
			nt_print_clean(out, text + from, n);
		else
			fwrite(text + from, 1, n, out);
		if (mark)
			fputc('"', out);
	}
	if (quote)
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
			csv_text(printer->out, cells[i].text, cells[i].size, printer->is_terminal);
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
		csv_text(printer->out, printer->columns[i].name, strlen(printer->columns[i].name),
			 printer->is_terminal);
	}
	fputc('\n', printer->out);
}

/* ---- tables ---- */

static bool human_cell(FILE *out, const char *name, const struct nt_cell *cell)
{
	char text[NT_HUMAN_MAX];

	if (cell->type == NT_CELL_REAL && nt_ends_in(name, "_share")) {
		fprintf(out, "%.2f %%", 100 * cell->real);
		return true;
	}
	if (cell->type != NT_CELL_INTEGER)
		return false;
	if (nt_ends_in(name, "_ns") && cell->integer >= 0)
		fputs(nt_human_ns(text, (uint64_t)cell->integer), out);
	else if (nt_ends_in(name, "_bytes") && cell->integer >= 0)
		fputs(nt_human_bytes(text, (uint64_t)cell->integer), out);
	else if (nt_ends_in(name, "_uj") && cell->integer >= 0)
		fputs(nt_human_uj(text, (uint64_t)cell->integer), out);
	else if (nt_ends_in(name, "_count"))
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

/* The text in column i of a line. `blanks` are due before it: none stand at the end of a line. */
static void table_piece(struct nt_printer *printer, size_t i, const char *text, size_t *blanks)
{
	size_t width = nt_text_width(text), column = printer->layout[i].width;
	size_t room = column > width ? column - width : 0;

	if (!printer->layout[i].is_shown)
		return;
	*blanks += (i ? NT_TABLE_GAP : 0) + (printer->columns[i].is_text ? 0 : room);
	if (text[0]) {
		fprintf(printer->out, "%*s%s", (int)*blanks, "", text);
		*blanks = 0;
	}
	*blanks += printer->columns[i].is_text ? room : 0;
}

static void table_line(struct nt_printer *printer, struct held *cells)
{
	size_t blanks = 0;

	for (size_t i = 0; i < printer->n_columns; i++) {
		char *text = cells[i].text;

		if (printer->columns[i].is_text && !cells[i].is_whole &&
		    nt_text_width(text) > printer->layout[i].width && printer->room != SIZE_MAX) {
			nt_text_shorten(text, printer->layout[i].width, printer->ellipsis);
			printer->has_shortened |= printer->layout[i].is_shown;
		}
		table_piece(printer, i, text, &blanks);
	}
	fputc('\n', printer->out);
}

static void table_header(struct nt_printer *printer)
{
	size_t blanks = 0;

	if (printer->colour)
		fputs("\033[1m", printer->out);
	for (size_t i = 0; i < printer->n_columns; i++)
		table_piece(printer, i, printer->columns[i].shown, &blanks);
	fputs(printer->colour ? "\033[0m\n" : "\n", printer->out);
}

/* The width that the held rows take in column i, and the least one when shortened. */
static void measure(struct nt_printer *printer, size_t i)
{
	struct nt_table_column *layout = &printer->layout[i];

	*layout = (struct nt_table_column){.rank = printer->columns[i].rank};
	layout->natural = layout->least = nt_text_width(printer->columns[i].shown);
	for (size_t row = 0; row < printer->n_held; row++) {
		const struct held *cell = &printer->held[row * printer->n_columns + i];
		size_t width = nt_text_width(cell->text), least = width;

		if (printer->columns[i].is_text && !cell->is_whole && least > SHORTEST)
			least = SHORTEST;
		layout->natural = width > layout->natural ? width : layout->natural;
		layout->least = least > layout->least ? least : layout->least;
	}
}

/* Remembers the name of a column that there was no room for, once; if there are very many, the first of them. */
static void note_left_out(struct nt_printer *printer, const char *name)
{
	size_t at = strlen(printer->left_out), size = strlen(name);

	for (const char *found = printer->left_out; (found = strstr(found, name)); found += size) {
		if ((found == printer->left_out || found[-1] == ' ') && (!found[size] || found[size] == ','))
			return;
	}
	if (at + size + 3 <= sizeof(printer->left_out))
		snprintf(printer->left_out + at, sizeof(printer->left_out) - at, "%s%s", at ? ", " : "", name);
}

static void lay_out(struct nt_printer *printer)
{
	for (size_t i = 0; i < printer->n_columns; i++)
		measure(printer, i);
	nt_table_fit(printer->layout, printer->n_columns, printer->room);
	for (size_t i = 0; i < printer->n_columns; i++) {
		if (!printer->layout[i].is_shown)
			note_left_out(printer, printer->columns[i].shown);
	}
}

/* Prints what was held back. Where lines have to fit, each thousand of them has widths and a head of its own. */
static void table_flush(struct nt_printer *printer)
{
	if (!printer->widths_known) {
		lay_out(printer);
		table_header(printer);
		printer->widths_known = printer->room == SIZE_MAX;
	}
	for (size_t row = 0; row < printer->n_held; row++)
		table_line(printer, printer->held + row * printer->n_columns);
	printer->printed = true;
	printer->n_held = 0;
	nt_arena_reset(&printer->arena);
}

static int table_row(struct nt_printer *printer, const struct nt_cell *cells)
{
	struct held *line = printer->held + printer->n_held * printer->n_columns;

	for (size_t i = 0; i < printer->n_columns; i++) {
		line[i].text = table_cell(printer, printer->columns[i].name, &cells[i]);
		line[i].is_whole = cells[i].is_whole || cells[i].type < NT_CELL_TEXT;
		if (!line[i].text)
			return -ENOMEM;
		if (!printer->widths_known && cells[i].type >= NT_CELL_TEXT && !cells[i].is_right)
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
	static const char *const units[] = {"_ns", "_bytes", "_share", "_count", "_uj"};
	char *copy = strdup(name);

	for (size_t i = 0; copy && printer->human && i < NT_COUNT(units); i++) {
		if (nt_ends_in(copy, units[i])) {
			copy[strlen(copy) - strlen(units[i])] = 0;
			break;
		}
	}
	return copy;
}

/* When a column is left out, of those that were named. */
static unsigned int rank_of(const struct nt_printer *printer, const char *name)
{
	const char *names = printer->first_left_out ? printer->first_left_out : "";
	size_t size = strlen(name);

	for (unsigned int rank = 1; *names;) {
		size_t length = strcspn(names, ",&");

		if (length == size && !memcmp(names, name, size))
			return rank;
		rank += names[length] == ',';
		names += length + (names[length] != 0);
	}
	return 0;
}

/* ---- all formats ---- */

int nt_printer_begin(struct nt_printer *printer, size_t n_columns, const char *const *names)
{
	free_columns(printer);
	printer->columns = calloc(n_columns, sizeof(*printer->columns));
	if (!printer->columns)
		return -ENOMEM;
	printer->n_columns = n_columns;
	printer->layout = calloc(n_columns, sizeof(*printer->layout));
	if (!printer->layout)
		return -ENOMEM;
	for (size_t i = 0; i < n_columns; i++) {
		printer->columns[i].name = strdup(names[i]);
		printer->columns[i].shown = shown_name(printer, names[i]);
		printer->columns[i].rank = rank_of(printer, names[i]);
		if (!printer->columns[i].name || !printer->columns[i].shown)
			return -ENOMEM;
	}
	printer->has_begun = true;
	printer->widths_known = printer->printed = false;
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

int nt_printer_line(struct nt_printer *printer, const struct nt_line *line)
{
	if (!printer->has_begun && nt_printer_begin(printer, line->n, line->names))
		return -ENOMEM;
	return nt_printer_row(printer, line->cells);
}

void nt_printer_end(struct nt_printer *printer)
{
	bool is_empty = !printer->n_held && !printer->printed;

	if (printer->format == NT_FORMAT_JSON)
		nt_json_close(&printer->json, ']');
	else if (printer->format == NT_FORMAT_TABLE && printer->human && is_empty)
		fputs("none\n", printer->out);
	else if (printer->format == NT_FORMAT_TABLE && (printer->n_held || is_empty))
		table_flush(printer);
	printer->has_begun = printer->printed = false;
}

void nt_printer_say_left_out(struct nt_printer *printer, const char *lead, const char *whole)
{
	if (printer->left_out[0])
		nt_print_prose(printer->out, lead,
			       "Left out, as a line has %zu columns: %s. A wider terminal shows more, %s all.",
			       printer->room, printer->left_out, whole);
	else if (printer->has_shortened)
		nt_print_prose(printer->out, lead,
			       "Names are shortened where %s stands. A wider terminal shows more, %s all.",
			       printer->ellipsis, whole);
	printer->left_out[0] = 0;
	printer->has_shortened = false;
}
