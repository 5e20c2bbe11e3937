/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - chooses the columns of a table that fit on a line, and their widths. Pure. Numbers are never cut: columns
 * of names are shortened first, then whole columns are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NT_TABLE_GAP 2 /* columns of the line between two columns of the table */

struct nt_table_column {
	size_t natural; /* what its widest cell takes, or its head */
	size_t least; /* what it takes at least: as much, where its cells cannot be shortened */
	unsigned int
		rank; /* of those to be left out: 1 is the first, equals go together; 0: only if nothing else helps */
	/* The answer: */
	bool is_shown;
	size_t width;
};

/* The first column is always shown. `room`: columns of the line. */
void nt_table_fit(struct nt_table_column *columns, size_t n, size_t room);
