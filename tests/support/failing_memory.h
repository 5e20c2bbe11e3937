/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failing_memory.h - an allocation fails that is told by its size. To be included by one test: it puts its own calloc,
 * realloc and reallocarray in front of the sanitizer's, or of libc's.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void *__interceptor_calloc(size_t n, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t size) __attribute__((weak));
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static size_t failing_size; /* what is asked for so many bytes fails; 0: nothing */

static bool fails(size_t size)
{
	if (size != failing_size || !size)
		return false;
	errno = ENOMEM;
	return true;
}

void *calloc(size_t n, size_t size)
{
	if (fails(n * size))
		return NULL;
	return __interceptor_calloc ? __interceptor_calloc(n, size) : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	if (fails(size))
		return NULL;
	return __interceptor_realloc ? __interceptor_realloc(old, size) : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	return realloc(old, n * size);
}
