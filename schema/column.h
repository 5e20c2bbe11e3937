/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * column.h - one column of an event block: the values of one field of one kind of record. Internal to
 * schema/. docs/chunk-format.md section 6.
 */
#pragma once

#include "schema/block.h"

/* How the values of a column stand in its bytes; the numbers are on tapes. */
enum nt_layout {
	NT_LAYOUT_VARINT = 1, /* one varint for each */
	NT_LAYOUT_CONSTANT = 2, /* one varint for all */
	NT_LAYOUT_PACKED = 3 /* groups of NT_PACK_GROUP, see pack.h */
};

struct nt_block_column {
	uint8_t kind, field;
	uint8_t coding; /* enum nt_coding, or a number that this version does not know */
	uint8_t layout; /* enum nt_layout, or the same */
	const uint8_t *data;
	size_t size;
};

/*
 * Appends a column of `count` values, given as varints in column->data, in the layout that suits them;
 * column->layout is not read. A column whose field is 0 in every record is left out. `is_noise` says that the values
 * jitter, so that a compressor would find nothing to do in them.
 */
int nt_block_column_write(struct nt_buf *out, const struct nt_block_column *column, uint32_t count, bool is_noise);

/* Moves *at over one column. 0, 1 at the end, or -EBADMSG. The result points into the bytes. */
int nt_block_column_parse(const uint8_t **at, const uint8_t *end, struct nt_block_column *out);

/* A place in the values of a column. Zero-initialised it gives zeros, as an absent column does. */
struct nt_block_column_cursor {
	const uint8_t *at, *end;
	uint64_t constant;
	uint8_t layout;
};

/* -EBADMSG: the layout is not known, or its bytes cannot be what it says. */
int nt_block_column_start(struct nt_block_column_cursor *cursor, const struct nt_block_column *column);
/* The next n values: all that are left if these are fewer, else NT_PACK_GROUP. */
int nt_block_column_read(struct nt_block_column_cursor *cursor, uint64_t *values, size_t n);
/* Whether all bytes are used up. */
bool nt_block_column_is_done(const struct nt_block_column_cursor *cursor);
