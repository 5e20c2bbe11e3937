/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * open.h - what tape.c and open.c share. For those two only.
 */
#pragma once

#include "report/tape/tape.h"

/* A descriptor for reading the chunk file, or a negative errno. */
int nt_tape_chunk_fd(const struct nt_tape *tape, const char *name);
/* Opens the file and reads where its blocks stand. The chunk needs its name. 0 or a negative errno. */
int nt_tape_chunk_open(const struct nt_tape *tape, struct nt_tape_chunk *chunk);
/* Safe on one that is not open. */
void nt_tape_chunk_close(struct nt_tape_chunk *chunk);
