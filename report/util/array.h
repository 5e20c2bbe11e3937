/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * array.h - arrays that grow. Pure. The owner frees the array.
 */
#ifndef NT_REPORT_UTIL_ARRAY_H
#define NT_REPORT_UTIL_ARRAY_H

#include <stddef.h>

/*
 * Makes room for n elements in `array`, which has room for `size` of them, a size_t. It at least doubles, and new
 * elements are not cleared. 0, or -ENOMEM: nothing has changed.
 */
#define NT_ROOM(array, size, n) nt_array_room(&(array), &(size), n, sizeof(*(array)))

int nt_array_room(void *array, size_t *size, size_t n, size_t element);

#endif
