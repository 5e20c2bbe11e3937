/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupt.h - what Ctrl-C does while a file is written, and SIGTERM and SIGHUP as well. A handler is given nothing
 * but the signal, so what it acts on is state of the program: one file at a time. A second Ctrl-C always ends the
 * program.
 */
#ifndef NT_REPORT_OUT_INTERRUPT_H
#define NT_REPORT_OUT_INTERRUPT_H

#include <stdbool.h>

/*
 * From now on a signal removes `partial`, says so, and ends the program as it would have ended without. `path` is what
 * the file was to become. Once the file has another name, or is gone, nothing is removed or said.
 */
void nt_interrupt_removes(const char *partial, const char *path);
/* From now on a signal is only noted. */
void nt_interrupt_waits(void);
bool nt_interrupted(void);
/* Signals end the program at once again; one that was noted does so now. */
void nt_interrupt_end(void);

#endif
