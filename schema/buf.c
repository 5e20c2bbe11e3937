// SPDX-License-Identifier: GPL-2.0-only
/*
 * buf.c - the growing byte buffer of block.h. May use the C library only.
 */
#include "schema/block.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nt_buf_reserve(struct nt_buf *buf, size_t more)
{
	size_t need, capacity;
	uint8_t *data;

	if (__builtin_add_overflow(buf->size, more, &need) || need > SIZE_MAX / 2)
		return -ENOMEM;
	if (need <= buf->capacity)
		return 0;
	capacity = buf->capacity ? buf->capacity : 64;
	while (capacity < need)
		capacity *= 2;
	data = realloc(buf->data, capacity);
	if (!data)
		return -ENOMEM;
	buf->data = data;
	buf->capacity = capacity;
	return 0;
}

int nt_buf_append(struct nt_buf *buf, const void *data, size_t size)
{
	int err;

	if (!size)
		return 0;
	err = nt_buf_reserve(buf, size);
	if (err)
		return err;
	memcpy(buf->data + buf->size, data, size);
	buf->size += size;
	return 0;
}

int nt_buf_print(struct nt_buf *buf, const char *format, ...)
{
	char line[512];
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return nt_buf_append(buf, line, (size_t)size < sizeof(line) ? (size_t)size : sizeof(line) - 1);
}

void nt_buf_release(struct nt_buf *buf)
{
	free(buf->data);
	*buf = (struct nt_buf){0};
}
