/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fail.h - the sentence that a function leaves where its caller wants it, when it fails. Pure.
 */
#pragma once

#define NT_ERROR_MAX 768

/* Writes the sentence as snprintf does. Always -1. */
int nt_fail(char error[NT_ERROR_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
