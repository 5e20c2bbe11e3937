// SPDX-License-Identifier: GPL-2.0-only
/*
 * complain.c - see complain.h.
 */
#include "report/out/complain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/out/terminal.h"

static char head[64] = "nettape-report: ";

void nt_complain_as(const char *name)
{
	snprintf(head, sizeof(head), "%s%s", name ? name : "", name ? ": " : "");
}

/*
 * On a terminal a sentence wraps at words; elsewhere it is one line, which programs read. Paths and names may hold
 * anything: what would move the cursor is shown as bytes.
 */
static void print_line(const char *before, const char *line, bool is_terminal)
{
	char *clean = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&clean, &size);

	if (out) {
		nt_print_clean(out, line, strlen(line));
		fclose(out);
	}
	if (!clean)
		fprintf(stderr, "%sout of memory.\n", head);
	else if (is_terminal)
		nt_print_prose(stderr, before, "%s", clean);
	else
		fprintf(stderr, "%s%s\n", before, clean);
	free(clean);
}

int nt_complain_list(const char *format, va_list args)
{
	const bool is_terminal = nt_terminal_find(stderr, NT_FORMAT_TABLE).is_terminal;
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		fprintf(stderr, "%sout of memory.\n", head);
		return NT_EXIT_FAILED;
	}
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		print_line(line == text ? head : "", line, is_terminal);
	free(text);
	return NT_EXIT_FAILED;
}

int nt_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	nt_complain_list(format, args);
	va_end(args);
	return NT_EXIT_FAILED;
}

int nt_complain_misused(const char *sentence)
{
	nt_complain("%s", sentence);
	return NT_EXIT_MISUSED;
}
