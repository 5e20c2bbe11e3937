// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_sketch.c - the part of flow_sketch.h that is for user space alone.
 */
#include "schema/flow_sketch.h"

#include <stdio.h>

static bool is_power_of_two(unsigned int number)
{
	return number && !(number & (number - 1));
}

bool nt_sketch_shape_parse(const char *text, struct nt_sketch_shape *shape)
{
	unsigned int rows, columns;
	int end = 0;

	if (sscanf(text, "%1ux%5u%n", &rows, &columns, &end) != 2 || text[end])
		return false;
	if (!is_power_of_two(rows) || !is_power_of_two(columns) || rows > NT_SKETCH_MAX_ROWS ||
	    columns < NT_SKETCH_LEAST_COLUMNS || rows * columns > NT_SKETCH_MAX_CELLS)
		return false;
	shape->rows = rows;
	shape->column_bits = (unsigned int)__builtin_ctz(columns);
	return rows * (shape->column_bits + 1) <= 64;
}
