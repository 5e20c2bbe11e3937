/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * complain.h - the one way to say on standard error that something failed, and the exit codes.
 */
#pragma once

#include <stdarg.h>

enum nt_exit { NT_EXIT_DONE = 0, NT_EXIT_FAILED = 1, NT_EXIT_MISUSED = 2 };

/* The program's name, or NULL: sentences come without one. Where this is not called, it is nettape-report. To be called
 * first. */
void nt_complain_as(const char *name);
/*
 * Prints one sentence on stderr, ahead of it the program's name. Quoted texts may hold anything. Gives
 * NT_EXIT_FAILED, as the next.
 */
int nt_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
int nt_complain_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* The same of words on the command line that make no sense. Gives NT_EXIT_MISUSED. */
int nt_complain_misused(const char *sentence);
