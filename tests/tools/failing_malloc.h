/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failing_malloc.h - for a program that includes it once: its malloc stands in the place of the C library's, and fails
 * when it is told to. Not for programs with sanitizers. Threads may allocate, while none changes the numbers below.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);

/* The allocation that fails, counted down; below 0: none. And what is allocated and not freed. */
static _Atomic long until_failure = -1;
static _Atomic long live;

static bool fails(void)
{
	if (until_failure < 0 || until_failure--)
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *got)
{
	live += got != NULL;
	return got;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	void *got = fails() ? NULL : __libc_realloc(old, size);

	return old ? got : counted(got);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	return realloc(old, n * size);
}

void free(void *old)
{
	live -= old != NULL;
	__libc_free(old);
}
