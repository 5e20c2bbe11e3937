/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prose.h - text that fits where it stands: how wide it is on a terminal, sentences that wrap at words, names that are
 * shortened. Nothing here depends on the locale. Lack of memory becomes a write error of the stream (ferror).
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Columns that a UTF-8 text takes on a terminal; sequences that set colours take none. */
size_t nt_text_width(const char *text);
/* Bytes of the beginning of a text that take no more than so many columns. */
size_t nt_text_upto(const char *text, size_t width);
/* The same without its middle, which `ellipsis` stands for, if it is wider than `width`. Changes the text. Gives it. */
char *nt_text_shorten(char *text, size_t width, const char *ellipsis);

/*
 * Prints `lead`, and behind it a text (cleaned: nt_print_clean) that wraps at words at the width of the terminal, or at
 * 80 columns where `out` is none. Lines after the first begin below the end of `lead`. A number stays with
 * its unit, or what it counts. Ends the line.
 */
void nt_print_prose(FILE *out, const char *lead, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define NT_STUCK "\x1f" /* a blank that no line breaks at, in what is written to `line` below */

/* A line that is put together piece by piece: written to `line`, then printed as above. Texts must be clean. */
struct nt_prose {
	FILE *line, *out;
	char *text;
	size_t size;
};
void nt_prose_begin(struct nt_prose *prose, FILE *out);
void nt_prose_end(struct nt_prose *prose, const char *lead);
/* The same of a command that can be pasted: a shell joins its lines. A word that is longer than a line stays whole. */
void nt_prose_end_command(struct nt_prose *prose, const char *lead);
/* Prints nothing after all. */
void nt_prose_drop(struct nt_prose *prose);
/* Prints the line above a table, in colour on a terminal, wrapped as well. \n at its begin is an empty line above. */
void nt_print_heading(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
