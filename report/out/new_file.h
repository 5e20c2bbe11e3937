/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * new_file.h - writes a file that appears under its name only when it is whole and on disk (partial.h), because others
 * may read the name meanwhile. A pipe or other special file is written as it is.
 *
 * An export contains names and addresses, as a tape does, so only its owner may read a new file (0600). A file that
 * replaces another gets that one's mode.
 */
#pragma once

#include <stdio.h>

/* Puts the names in the directory of this file on disk, so that they outlast a crash of the machine. 0, or -1 and
 * errno. */
int nt_sync_directory(const char *path);
/* Says on standard error that `path` was written, how large it is, and `how` it is opened. */
void nt_new_file_tell(const char *path, const char *how);
/*
 * Calls `write`, which gives an exit code (complain.h) and has complained if that is not 0; errors of writing it may
 * leave in the stream. `path` NULL: to standard output. Gives an exit code, and has complained if that is not 0; then
 * no new file is left, as after Ctrl-C, or a whole one whose name may not outlast a crash. A file that was written is
 * told, with `how` to open it; NULL: it is not, as it is written again and again.
 */
int nt_new_file(const char *path, const char *how, int (*write)(void *arg, FILE *out), void *arg);
