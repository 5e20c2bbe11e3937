/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failing_realloc.h - memory that does not grow. To be included by one test: it puts its own realloc in front of the
 * sanitizer's, or of libc's.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>

void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));
void *__libc_realloc(void *old, size_t size);

static size_t failing_size; /* what is asked for so many bytes fails; 0: nothing */

void *realloc(void *old, size_t size)
{
	if (size && size == failing_size) {
		errno = ENOMEM;
		return NULL;
	}
	return __interceptor_realloc ? __interceptor_realloc(old, size) : __libc_realloc(old, size);
}
