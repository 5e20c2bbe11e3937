// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail.c - see fail.h.
 */
#include "report/util/fail.h"

#include <stdarg.h>
#include <stdio.h>

int nt_fail(char error[NT_ERROR_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, NT_ERROR_MAX, format, args);
	va_end(args);
	return -1;
}
