// SPDX-License-Identifier: GPL-2.0-only
/*
 * array.c - see array.h.
 */
#include "report/util/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 16

int nt_array_room(void *array, size_t *size, size_t n, size_t element)
{
	size_t more = n > LEAST ? n : LEAST;
	void *elements;

	if (n <= *size)
		return 0;
	if (more / 2 < *size)
		more = 2 * *size;
	/* The caller's pointer has another type than void *. */
	memcpy(&elements, array, sizeof(elements));
	elements = reallocarray(elements, more, element);
	if (!elements)
		return -ENOMEM;
	memcpy(array, &elements, sizeof(elements));
	*size = more;
	return 0;
}

int nt_compare_u32(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}
