/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scratch.h - a directory for one test. Fails by abort().
 */
#pragma once

#include <stddef.h>

#define SCRATCH_MAX 256

/* Makes a new directory below TMPDIR or /tmp and puts its path into `path`. */
void scratch_make(char path[SCRATCH_MAX]);
/* Removes it with all that is in it. */
void scratch_remove(const char *path);
/* "DIR/NAME" into `to`. */
const char *scratch_path(char to[2 * SCRATCH_MAX], const char *dir, const char *name);
/* A whole file in memory, which the caller frees. */
char *scratch_read(const char *path, size_t *size);
void scratch_write(const char *path, const void *data, size_t size);
