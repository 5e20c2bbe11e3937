// SPDX-License-Identifier: GPL-2.0-only
/*
 * complain.c - see complain.h.
 */
#include "report/out/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/out/terminal.h"

/* On a terminal a sentence wraps at words; elsewhere it is one line, which programs read. */
static __attribute__((format(printf, 1, 0))) void say(const char *format, va_list args)
{
	char *text;

	if (!nt_terminal_find(stderr, NT_FORMAT_TABLE).is_terminal) {
		fputs("nettape-report: ", stderr);
		vfprintf(stderr, format, args);
		fputc('\n', stderr);
		return;
	}
	if (vasprintf(&text, format, args) < 0) {
		fputs("nettape-report: out of memory.\n", stderr);
		return;
	}
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		nt_print_prose(stderr, line == text ? "nettape-report: " : "", "%s", line);
	free(text);
}

int nt_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return NT_EXIT_FAILED;
}

int nt_complain_misused(const char *sentence)
{
	nt_complain("%s", sentence);
	return NT_EXIT_MISUSED;
}
