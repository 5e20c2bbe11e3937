/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fail.h - the sentence that a function leaves where its caller wants it, when it fails. Pure.
 */
#ifndef NT_REPORT_UTIL_FAIL_H
#define NT_REPORT_UTIL_FAIL_H

#include <stddef.h>

/* Writes the sentence as snprintf does. Always -1. */
int nt_fail(char *error, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
