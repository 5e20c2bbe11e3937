// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - the part of output.h that writes JSON (RFC 8259).
 */
#include "report/out/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/utf8.h"

/* Characters of markup, which JSON has only in texts. */
static bool is_markup(unsigned char byte)
{
	return byte == '<' || byte == '>' || byte == '&';
}

static void write_text(const struct nt_json *json, const char *text, size_t size)
{
	FILE *out = json->out;

	fputc('"', out);
	for (size_t i = 0; i < size;) {
		size_t n = nt_utf8_length(text + i, size - i);
		unsigned char byte = (unsigned char)text[i];

		if (!n)
			fputs("\\ufffd", out);
		else if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (nt_utf8_is_control(nt_utf8_code(text + i, n)) || (json->for_html && is_markup(byte)))
			fprintf(out, "\\u%04x", (unsigned int)nt_utf8_code(text + i, n));
		else
			fwrite(text + i, 1, n, out);
		i += n ? n : 1;
	}
	fputc('"', out);
}

static void new_line(struct nt_json *json)
{
	if (json->depth && json->depth <= json->lines)
		fprintf(json->out, "\n%*s", (int)json->depth * 2, "");
	else if (json->filled && !json->compact)
		fputc(' ', json->out);
}

static void before(struct nt_json *json, const char *key)
{
	if (json->filled)
		fputc(',', json->out);
	new_line(json);
	json->filled = true;
	if (key) {
		write_text(json, key, strlen(key));
		fputs(json->compact ? ":" : ": ", json->out);
	}
}

void nt_json_open(struct nt_json *json, const char *key, char bracket)
{
	before(json, key);
	fputc(bracket, json->out);
	json->depth++;
	json->filled = false;
}

void nt_json_close(struct nt_json *json, char bracket)
{
	bool was_filled = json->filled;

	json->depth--;
	if (was_filled && json->depth < json->lines)
		fprintf(json->out, "\n%*s", (int)json->depth * 2, "");
	fputc(bracket, json->out);
	json->filled = true;
	if (!json->depth) {
		fputc('\n', json->out);
		json->filled = false;
	}
}

void nt_json_integer(struct nt_json *json, const char *key, int64_t value)
{
	before(json, key);
	fprintf(json->out, "%lld", (long long)value);
}

void nt_json_if(struct nt_json *json, const char *key, bool is_known, int64_t value)
{
	if (is_known)
		nt_json_integer(json, key, value);
	else
		nt_json_text(json, key, NULL);
}

void nt_json_real(struct nt_json *json, const char *key, double value)
{
	before(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.15g", value);
	else
		fputs("null", json->out);
}

void nt_json_bool(struct nt_json *json, const char *key, bool value)
{
	before(json, key);
	fputs(value ? "true" : "false", json->out);
}

void nt_json_text(struct nt_json *json, const char *key, const char *text)
{
	before(json, key);
	if (text)
		write_text(json, text, strlen(text));
	else
		fputs("null", json->out);
}

void nt_json_cell(struct nt_json *json, const char *key, const struct nt_cell *cell)
{
	switch (cell->type) {
	case NT_CELL_INTEGER:
		nt_json_integer(json, key, cell->integer);
		return;
	case NT_CELL_REAL:
		nt_json_real(json, key, cell->real);
		return;
	case NT_CELL_TEXT:
		before(json, key);
		write_text(json, cell->text, cell->size);
		return;
	case NT_CELL_BLOB:
		before(json, key);
		fputc('"', json->out);
		for (size_t i = 0; i < cell->size; i++)
			fprintf(json->out, "%02x", (unsigned char)cell->text[i]);
		fputc('"', json->out);
		return;
	case NT_CELL_NULL:
		nt_json_text(json, key, NULL);
	}
}

void nt_json_line(struct nt_json *json, const struct nt_line *line)
{
	for (size_t i = 0; i < line->n; i++)
		nt_json_cell(json, line->names[i], &line->cells[i]);
}

void nt_json_record(struct nt_json *json, const struct nt_line *line)
{
	nt_json_open(json, NULL, '{');
	nt_json_line(json, line);
	nt_json_close(json, '}');
}

char *nt_json_array(void (*write)(struct nt_json *json, const void *arg), const void *arg)
{
	struct nt_json json = {.lines = 1};
	char *text = NULL;
	size_t size;
	bool is_whole;

	json.out = open_memstream(&text, &size);
	if (!json.out)
		return NULL;
	nt_json_open(&json, NULL, '[');
	write(&json, arg);
	nt_json_close(&json, ']');
	is_whole = !ferror(json.out);
	if (!fclose(json.out) && is_whole)
		return text;
	free(text);
	return NULL;
}
