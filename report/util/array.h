/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * array.h - arrays: those that grow, how many elements they have, and where one is. Pure.
 */
#pragma once

#include <stddef.h>

/*
 * Makes room for n elements in `array`, which has room for `size` of them, a size_t. It at least doubles, and new
 * elements are not cleared. 0, or -ENOMEM: nothing has changed. The owner frees the array.
 */
#define NT_ROOM(array, size, n)                                                                                        \
	({                                                                                                             \
		const size_t room_ = (n);                                                                              \
		room_ <= (size) ? 0 : nt_array_room(&(array), &(size), room_, sizeof(*(array)));                       \
	})

/* How many elements an array has that is not a pointer. */
#define NT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * How many elements stand before the first for which `is_behind`, an expression of their index `i`, is true; it is so
 * of all that follow. Of n elements, by halving.
 */
#define NT_COUNT_BEFORE(n, i, is_behind)                                                                               \
	({                                                                                                             \
		size_t low_ = 0, high_ = (n);                                                                          \
		while (low_ < high_) {                                                                                 \
			size_t i = low_ + (high_ - low_) / 2;                                                          \
			if (is_behind)                                                                                 \
				high_ = i;                                                                             \
			else                                                                                           \
				low_ = i + 1;                                                                          \
		}                                                                                                      \
		low_;                                                                                                  \
	})

/* The first index `i` of n elements for which `is_it`, an expression of it, is true; n: there is none. */
#define NT_FIRST(n, i, is_it)                                                                                          \
	({                                                                                                             \
		const size_t n_ = (n);                                                                                 \
		size_t i = 0;                                                                                          \
		while (i < n_ && !(is_it))                                                                             \
			i++;                                                                                           \
		i;                                                                                                     \
	})
/* Whether there is one. */
#define NT_ANY(n, i, is_it) (NT_FIRST(n, i, is_it) < (n))

/* For qsort and bsearch: elements that are, or begin with, a uint32_t, in its order. */
int nt_compare_u32(const void *a, const void *b);

int nt_array_room(void *array, size_t *size, size_t n, size_t element);
