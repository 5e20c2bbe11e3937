// SPDX-License-Identifier: GPL-2.0-only
/*
 * prose.c - see prose.h.
 */
#include "report/out/prose.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/out/terminal.h"
#include "report/util/array.h"
#include "report/util/utf8.h"

/* ---- width ---- */

/* The code point that a text begins with, and how many bytes it has; a byte that begins none is one of its own. */
static uint32_t code_point(const char *text, size_t *size)
{
	*size = nt_utf8_length(text, strnlen(text, 4));
	if (*size)
		return nt_utf8_code(text, *size);
	*size = 1;
	return (unsigned char)text[0];
}

/* As Unicode has it (East Asian Width, and marks that combine), in the ranges that matter in names. */
static size_t columns_of(uint32_t code)
{
	static const struct {
		uint32_t first, last;
		size_t columns;
	} ranges[] = {
		{0x300, 0x36f, 0},     {0x200b, 0x200f, 0},   {0x202a, 0x202e, 0},   {0x2060, 0x206f, 0},
		{0xfe00, 0xfe0f, 0},   {0xfeff, 0xfeff, 0},   {0x1100, 0x115f, 2},   {0x2e80, 0xa4cf, 2},
		{0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
		{0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1faff, 2},
		{0x20000, 0x3fffd, 2},
	};
	const size_t at = NT_FIRST(NT_COUNT(ranges), i, code >= ranges[i].first && code <= ranges[i].last);

	return at < NT_COUNT(ranges) ? ranges[at].columns : 1;
}

/* Bytes of a sequence that sets colours, at the beginning of a text; 0: there is none. */
static size_t colour_at(const char *text)
{
	size_t n;

	if (text[0] != '\033' || text[1] != '[')
		return 0;
	n = 2 + strspn(text + 2, "0123456789;");
	return text[n] == 'm' ? n + 1 : 0;
}

/* Columns of what a text begins with, and its bytes. */
static size_t step(const char *text, size_t *size)
{
	*size = colour_at(text);
	return *size ? 0 : columns_of(code_point(text, size));
}

size_t nt_text_width(const char *text)
{
	size_t width = 0, size;

	for (; *text; text += size)
		width += step(text, &size);
	return width;
}

size_t nt_text_upto(const char *text, size_t width)
{
	size_t at = 0, used = 0;

	while (text[at]) {
		size_t size, columns = step(text + at, &size);

		if (used + columns > width)
			break;
		used += columns;
		at += size;
	}
	return at;
}

char *nt_text_shorten(char *text, size_t width, const char *ellipsis)
{
	size_t whole = nt_text_width(text), mark = nt_text_width(ellipsis), head, tail, size;
	char *end = text;

	if (whole <= width)
		return text;
	if (width < mark + 2) {
		text[nt_text_upto(text, width)] = 0;
		return text;
	}
	head = nt_text_upto(text, (width - mark + 1) / 2);
	/* The end is what matters in paths and addresses: it gets the same room. */
	for (tail = whole; *end && tail > (width - mark) / 2; end += size)
		tail -= step(end, &size);
	while (((unsigned char)*end) && *end && columns_of(code_point(end, &size)) == 0)
		end += size; /* a mark whose letter is gone */
	size = strlen(ellipsis);
	if (head + size > (size_t)(end - text)) /* bytes, not columns: the mark may have more than what it replaces */
		return text[nt_text_upto(text, width)] = 0, text;
	memcpy(text + head, ellipsis, size);
	memmove(text + head + size, end, strlen(end) + 1);
	return text;
}

/* ---- sentences ---- */

/* The word that a text begins with: with the next one, if it is a number and that says of what. */
static size_t word_at(const char *text)
{
	size_t size = strcspn(text, " ");
	bool is_number = size && text[size - 1] >= '0' && text[size - 1] <= '9' && text[size] == ' ';
	char next = is_number ? text[size + 1] : 0;

	if (next != '%' && !(next >= 'a' && next <= 'z') && !(next >= 'A' && next <= 'Z'))
		return size;
	return size + 1 + strcspn(text + size + 1, " ");
}

static size_t width_of_part(const char *text, size_t size)
{
	size_t width = 0;

	for (size_t at = 0, n; at < size; at += n)
		width += step(text + at, &n);
	return width;
}

struct wrapping {
	FILE *out;
	size_t width, indent, column;
	bool at_begin; /* of a line */
	bool is_command;
};

static void new_line(struct wrapping *wrapping)
{
	fprintf(wrapping->out, "%s\n%*s", wrapping->is_command ? " \\" : "", (int)wrapping->indent, "");
	wrapping->column = wrapping->indent;
	wrapping->at_begin = true;
}

static void write_part(FILE *out, const char *word, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fputc(word[i] == NT_STUCK[0] ? ' ' : word[i], out);
}

/* A word that no line has room for is cut. */
static void put_word(struct wrapping *wrapping, const char *word, size_t size)
{
	size_t width = width_of_part(word, size);

	if (!wrapping->at_begin && wrapping->column + 1 + width > wrapping->width)
		new_line(wrapping);
	if (!wrapping->at_begin) {
		fputc(' ', wrapping->out);
		wrapping->column++;
	}
	while (!wrapping->is_command && wrapping->column + width > wrapping->width) {
		size_t part = nt_text_upto(word, wrapping->width - wrapping->column);

		write_part(wrapping->out, word, part);
		word += part;
		size -= part;
		width = width_of_part(word, size);
		new_line(wrapping);
	}
	write_part(wrapping->out, word, size);
	wrapping->column += width;
	wrapping->at_begin = false;
}

static void print_wrapped(FILE *out, const char *lead, const char *text, bool is_command)
{
	const char *line = strrchr(lead, '\n');
	struct wrapping wrapping = {.out = out, .is_command = is_command};

	wrapping.width = nt_terminal_find(out, NT_FORMAT_TABLE).width - (is_command ? strlen(" \\") : 0);

	wrapping.indent = wrapping.column = nt_text_width(line ? line + 1 : lead);
	if (wrapping.indent + 16 > wrapping.width) /* a lead that leaves no room */
		wrapping.indent = 4;
	wrapping.at_begin = true;
	fputs(lead, out);
	if (wrapping.column + 16 > wrapping.width)
		new_line(&wrapping);
	while (*text) {
		size_t size = word_at(text);

		if (size)
			put_word(&wrapping, text, size);
		text += size + strspn(text + size, " ");
	}
	fputc('\n', out);
}

/* The text without what a terminal would act on. To be freed. NULL: out of memory. */
static __attribute__((format(printf, 1, 0))) char *clean_text(const char *format, va_list args)
{
	char *text = NULL, *clean = NULL;
	size_t size = 0;
	FILE *out;

	if (vasprintf(&text, format, args) < 0)
		return NULL;
	out = open_memstream(&clean, &size);
	if (out) {
		bool is_cut;

		nt_print_clean(out, text, strlen(text));
		is_cut = ferror(out);
		if (fclose(out) || is_cut) {
			free(clean);
			clean = NULL;
		}
	}
	free(text);
	return clean;
}

/*
 * If memory runs out, the text counts as a write error of the stream, as with a full disk: the error stays there, and
 * the caller looks at the end. To read from a stream that is only written sets that mark; C has no other way to.
 */
static void fail(FILE *out)
{
	fputs("(out of memory)\n", out);
	fgetc(out);
}

static void print_or_fail(FILE *out, const char *lead, const char *text, bool is_command)
{
	if (text)
		print_wrapped(out, lead, text, is_command);
	else
		fail(out);
}

static __attribute__((format(printf, 3, 0))) void print_clean(FILE *out, const char *lead, const char *format,
							      va_list args)
{
	char *text = clean_text(format, args);

	print_or_fail(out, lead, text, false);
	free(text);
}

void nt_print_prose(FILE *out, const char *lead, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_clean(out, lead, format, args);
	va_end(args);
}

void nt_print_heading(FILE *out, const char *format, ...)
{
	bool colour = nt_terminal_find(out, NT_FORMAT_TABLE).colour;
	va_list args;

	if (format[0] == '\n')
		fputc(*format++, out);
	va_start(args, format);
	print_clean(out, colour ? "\033[1;36m" : "", format, args);
	va_end(args);
	if (colour)
		fputs("\033[0m", out);
}

void nt_prose_begin(struct nt_prose *prose, FILE *out)
{
	*prose = (struct nt_prose){.out = out};
	prose->line = open_memstream(&prose->text, &prose->size);
	if (!prose->line) /* without memory for wrapping, what can be said is said */
		prose->line = out;
}

static void end_prose(struct nt_prose *prose, const char *lead, bool is_command)
{
	bool is_whole = prose->line != prose->out && !ferror(prose->line);

	if (prose->line != prose->out && fclose(prose->line))
		is_whole = false;
	print_or_fail(prose->out, lead, is_whole ? prose->text : NULL, is_command);
	free(prose->text);
	prose->text = NULL;
}

void nt_prose_end(struct nt_prose *prose, const char *lead)
{
	end_prose(prose, lead, false);
}

void nt_prose_end_command(struct nt_prose *prose, const char *lead)
{
	end_prose(prose, lead, true);
}

void nt_prose_drop(struct nt_prose *prose)
{
	if (prose->line != prose->out)
		fclose(prose->line);
	free(prose->text);
}
