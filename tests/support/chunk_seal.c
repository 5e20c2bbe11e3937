// SPDX-License-Identifier: GPL-2.0-only
/* chunk_seal.c - see chunk_seal.h. */
#include "tests/support/chunk_seal.h"

#include <string.h>

#include "schema/chunk_format.h"
#include "schema/varint.h"

static void seal_head(uint8_t *head, size_t size)
{
	nt_put_u32(head + size - 4, nt_crc32c(0, head, size - 4));
}

void chunk_seal(struct nt_buf *bytes)
{
	uint8_t *at = bytes->data, *end = at + bytes->size;

	if (bytes->size >= NT_CHUNK_HEAD_SIZE)
		seal_head(at, NT_CHUNK_HEAD_SIZE);
	while (at && (at = memmem(at, (size_t)(end - at), NT_BLOCK_MAGIC, NT_BLOCK_MAGIC_SIZE))) {
		size_t left = (size_t)(end - at), head_size, stored_size;

		if (left < NT_BLOCK_HEAD_SIZE)
			break;
		head_size = nt_get_u16(at + 6);
		stored_size = nt_get_u32(at + 12);
		if (head_size >= NT_BLOCK_HEAD_SIZE && head_size <= left) {
			if (stored_size <= left - head_size)
				nt_put_u32(at + 80, nt_crc32c(0, at + head_size, stored_size));
			seal_head(at, head_size);
		}
		at += NT_BLOCK_MAGIC_SIZE;
	}
	if (bytes->size >= NT_TRAILER_SIZE && bytes->data[bytes->size - NT_TRAILER_SIZE] == 0x89)
		seal_head(end - NT_TRAILER_SIZE, NT_TRAILER_SIZE);
}
