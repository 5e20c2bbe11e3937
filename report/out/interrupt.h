/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupt.h - Ctrl-C, SIGTERM and other signals that end a program, while a file is written. A handler gets only the
 * signal, so its state is global: one file at a time. A second Ctrl-C always ends the program.
 */
#pragma once

#include <stdbool.h>

/*
 * From now on a signal removes `partial`, says so, and ends the program as it would have ended without. `path` is what
 * the file was to become. Once the file has another name, or is gone, nothing is removed or said. `partial` NULL: it
 * has no name and need not be removed; that is said in any case.
 */
void nt_interrupt_removes(const char *partial, const char *path);
/* From now on a signal is only noted. */
void nt_interrupt_waits(void);
bool nt_interrupted(void);
/* For a second, unless a signal ends it: until what has been recorded since is worth a look. */
void nt_interrupt_sleep(void);
/* Signals end the program at once again; one that was noted does so now. */
void nt_interrupt_end(void);
