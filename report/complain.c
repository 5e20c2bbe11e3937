// SPDX-License-Identifier: GPL-2.0-only
/*
 * complain.c - the one way in which commands say that something failed.
 */
#include <stdarg.h>
#include <stdio.h>

#include "report/command.h"

int nt_complain(const char *format, ...)
{
	va_list args;

	fputs("nettape-report: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return NT_EXIT_FAILED;
}

int nt_complain_misused(const char *sentence)
{
	nt_complain("%s", sentence);
	return NT_EXIT_MISUSED;
}
