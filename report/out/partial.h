/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * partial.h - a file that is being written, before it has its name. Where the kernel can, it has no name at all until
 * it is whole (O_TMPFILE): then nothing is left of it, however the program ends. Elsewhere, and for SQLite, which opens
 * files by their names, it is PATH.partial. That one is locked while it is written. One that nobody has locked was left
 * by a program that was killed, and is removed.
 *
 * Errors are negative errnos.
 */
#pragma once

#include <stdbool.h>

#include "report/util/fail.h"

struct nt_partial {
	char *name; /* PATH.partial */
	bool has_name; /* the file has this name now, and is ours */
	int fd; /* for writing; -1: there is none */
};

/*
 * Makes the file, with mode 0600. From now on a signal removes it and ends the program (interrupt.h). -EBUSY: another
 * program writes PATH.partial. Release it also on failure.
 */
int nt_partial_open(struct nt_partial *partial, const char *path, bool needs_name);
/* Why that failed: a sentence with the remedy. */
void nt_partial_explain(const struct nt_partial *partial, const char *path, int error, char text[NT_ERROR_MAX]);
/*
 * Gives it its name, and replaces what has it; of one that needed a name from the start, only if `replaces`. Then
 * signals end the program as before.
 */
int nt_partial_finish(struct nt_partial *partial, const char *path, bool replaces);
/* Removes what has not got its name. Signals end the program as before. */
void nt_partial_release(struct nt_partial *partial);
