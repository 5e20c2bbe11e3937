/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chunk_dump.h - everything that stands in a chunk as text, one line for each header and record, without the fields of
 * records that are 0. It goes by schema/ alone and does not judge. tests/tools/read_tape.py prints the same.
 */
#pragma once

#include <stdio.h>

#include "schema/chunk.h"

/* Gives what nt_chunk_open gave. Damage of blocks is in the text. */
int chunk_dump(FILE *out, const struct nt_source *source, bool scan);
