/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * output.h - how results leave the program: sets of rows as an aligned table, JSON or CSV, and numbers with units for
 * people. Writes to the stream it is given and nowhere else. Nothing here depends on the locale or the time zone.
 *
 * Write errors stay in the stream (ferror); the caller looks once, at the end. Texts may hold anything: control
 * characters never reach a terminal, and JSON is always valid UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum nt_format { NT_FORMAT_TABLE, NT_FORMAT_JSON, NT_FORMAT_CSV };

enum nt_cell_type { NT_CELL_NULL, NT_CELL_INTEGER, NT_CELL_REAL, NT_CELL_TEXT, NT_CELL_BLOB };

struct nt_cell {
	enum nt_cell_type type;
	bool is_whole; /* a text that no table shortens: numbers are in it */
	bool is_right; /* a text that stands on the right, as numbers do */
	union {
		int64_t integer;
		double real;
		struct {
			const char *text; /* or the bytes of a blob */
			size_t size;
		};
	};
};

struct nt_cell nt_cell_integer(int64_t value);
/* NT_CELL_NULL where it is not known. */
struct nt_cell nt_cell_if(bool is_known, int64_t value);
/* Not copied. NULL gives a cell of NT_CELL_NULL, which {0} is as well. */
struct nt_cell nt_cell_text(const char *value);
/* The same of a text that no table shortens; and of a number with its unit, say. */
struct nt_cell nt_cell_label(const char *value);
struct nt_cell nt_cell_figure(const char *value);

/* Names and cells, put one after the other. Zero-initialised is empty. */
#define NT_LINE_MAX 32
struct nt_line {
	const char *names[NT_LINE_MAX];
	struct nt_cell cells[NT_LINE_MAX];
	size_t n;
};

/* No more than NT_LINE_MAX. */
void nt_line_put(struct nt_line *line, const char *name, struct nt_cell cell);

/* ---- sets of rows ---- */

struct nt_printer;

/* `human`: tables show units, told by the ends of column names: _ns, _bytes, _uj, _share. NULL: out of memory. */
struct nt_printer *nt_printer_new(FILE *out, enum nt_format format, bool human);
void nt_printer_free(struct nt_printer *printer);
/* Begins a set. The names are copied. 0, or -ENOMEM, as the next. */
int nt_printer_begin(struct nt_printer *printer, size_t n_columns, const char *const *names);
/*
 * A table for people, and any table on a terminal, fits its lines: names are shortened and columns left out (table.h).
 * `names`: those of columns with commas between, or & if they go together, the first to be left out first, for the sets
 * that begin after this. Not copied. NULL: none; then columns are left out from the right.
 */
void nt_printer_leave_out(struct nt_printer *printer, const char *names);
/*
 * The columns that nt_result_print_top is to pass over, since they would say nothing: names with commas between, not
 * copied; NULL: none.
 */
void nt_printer_hide(struct nt_printer *printer, const char *names);
bool nt_printer_hides(const struct nt_printer *printer, const char *name);
/* One row of n_columns cells. A table is held back until its columns' widths are known from up to 1,000 rows. */
int nt_printer_row(struct nt_printer *printer, const struct nt_cell *cells);
/* A row of a table, with its columns' names; the first one begins the set. */
int nt_printer_line(struct nt_printer *printer, const struct nt_line *line);
/* Ends the set. */
void nt_printer_end(struct nt_printer *printer);
/* Says which columns had no room since this was last said; nothing if all had. `whole` has all: "--json has". */
void nt_printer_say_left_out(struct nt_printer *printer, const char *lead, const char *whole);

/* ---- JSON, piece by piece ---- */

/* Zero-initialise but for what comes before `depth`. */
struct nt_json {
	FILE *out;
	unsigned int lines; /* levels, from outside, whose members have lines of their own */
	bool compact; /* no spaces: for much data */
	bool for_html; /* no < > & in it, but as \u003c: nothing in it can end the element of HTML that it stands in */
	unsigned int depth;
	bool filled; /* something stands before on this level */
};

/* `key` is NULL inside an array. `bracket` is { or [. */
void nt_json_open(struct nt_json *json, const char *key, char bracket);
void nt_json_close(struct nt_json *json, char bracket);
void nt_json_integer(struct nt_json *json, const char *key, int64_t value);
/* Null where it is not known. */
void nt_json_if(struct nt_json *json, const char *key, bool is_known, int64_t value);
void nt_json_real(struct nt_json *json, const char *key, double value);
void nt_json_bool(struct nt_json *json, const char *key, bool value);
/* NULL gives null. */
void nt_json_text(struct nt_json *json, const char *key, const char *text);
void nt_json_cell(struct nt_json *json, const char *key, const struct nt_cell *cell);
/* The members of an object. */
void nt_json_line(struct nt_json *json, const struct nt_line *line);
/* An object that has no name. */
void nt_json_record(struct nt_json *json, const struct nt_line *line);
/* An array as a text, for SQL's json_each; `write` puts its members. The caller frees it. NULL: out of memory. */
char *nt_json_array(void (*write)(struct nt_json *json, const void *arg), const void *arg);

/* ---- for people ---- */

#define NT_HUMAN_MAX 40

/* "12.35 ms", "3.4 MB", "12.34 %", "1,234,567". Each gives `text`. */
const char *nt_human_ns(char text[NT_HUMAN_MAX], uint64_t ns);
const char *nt_human_bytes(char text[NT_HUMAN_MAX], uint64_t bytes);
const char *nt_human_uj(char text[NT_HUMAN_MAX], uint64_t uj);
const char *nt_human_share(char text[NT_HUMAN_MAX], uint64_t part, uint64_t whole);
const char *nt_human_count(char text[NT_HUMAN_MAX], int64_t count);
/* "1 other", "1,234 others": the row for what a table leaves out. */
const char *nt_human_others(char text[NT_HUMAN_MAX], int64_t count);
/* "0.0000025 s": with as many digits as it has. */
const char *nt_human_seconds(char text[NT_HUMAN_MAX], uint64_t ns);
/* "2024-11-21 09:12:33 UTC". */
const char *nt_human_time(char text[NT_HUMAN_MAX], uint64_t realtime_ns);

/* A text on one line, without what a terminal would act on. */
void nt_print_clean(FILE *out, const char *text, size_t size);
