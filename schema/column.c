// SPDX-License-Identifier: GPL-2.0-only
/*
 * column.c - the layouts of a column's values. No I/O; knows nothing of records.
 */
#include "schema/column.h"
#include "schema/pack.h"
#include "schema/varint.h"

/* Reads a varint that this program wrote. */
static const uint8_t *get_own(const uint8_t *at, uint64_t *out)
{
	uint64_t value = *at & 0x7f;

	for (unsigned int shift = 7; *at++ & 0x80; shift += 7)
		value |= (uint64_t)(*at & 0x7f) << shift;
	*out = value;
	return at;
}

/* All varints as groups. Gives their size, or 0 when it is not less than `limit`. */
static size_t put_packed(uint8_t *to, size_t limit, const uint8_t *varints, uint32_t count)
{
	uint64_t values[NT_PACK_GROUP];
	uint8_t group[NT_PACK_GROUP_MAX];
	size_t total = 0;

	while (count) {
		uint32_t n = count < NT_PACK_GROUP ? count : NT_PACK_GROUP;
		size_t size;

		for (uint32_t i = 0; i < n; i++)
			varints = get_own(varints, &values[i]);
		size = nt_pack_group(group, values, n);
		if (!size || total + size >= limit)
			return 0;
		memcpy(to + total, group, size);
		total += size;
		count -= n;
	}
	return total;
}

/* Chooses the layout and puts the bytes at `to`, which has room for the varints. Gives their size; 0: leave it out. */
static size_t put_values(uint8_t *to, const struct nt_block_column *column, uint32_t count, bool is_noise,
			 enum nt_layout *layout)
{
	uint64_t first;
	size_t first_size = (size_t)(get_own(column->data, &first) - column->data), size;

	/* All values are equal when the bytes, moved by one value, are the same. */
	if (!memcmp(column->data, column->data + first_size, column->size - first_size)) {
		/* A field without a column reads as 0, which under AGO is not what zeros mean. */
		if (!first && column->coding != NT_CODING_AGO)
			return 0;
		*layout = NT_LAYOUT_CONSTANT;
		memcpy(to, column->data, first_size);
		return first_size;
	}
	*layout = NT_LAYOUT_PACKED;
	size = put_packed(to, is_noise ? column->size : column->size / 3, column->data, count);
	if (size)
		return size;
	*layout = NT_LAYOUT_VARINT;
	memcpy(to, column->data, column->size);
	return column->size;
}

int nt_block_column_write(struct nt_buf *out, const struct nt_block_column *column, uint32_t count, bool is_noise)
{
	const size_t head_max = 3 + NT_VARINT_MAX;
	enum nt_layout layout;
	uint8_t *head, *at;
	size_t size;
	int err;

	if (!count)
		return 0;
	err = nt_buf_reserve(out, head_max + column->size);
	if (err)
		return err;
	head = at = out->data + out->size;
	size = put_values(head + head_max, column, count, is_noise, &layout);
	if (!size)
		return 0;
	*at++ = column->kind;
	*at++ = column->field;
	*at++ = (uint8_t)(column->coding | layout << 4);
	at = nt_varint_put(at, size);
	memmove(at, head + head_max, size);
	out->size = (size_t)(at + size - out->data);
	return 0;
}

int nt_block_column_parse(const uint8_t **at, const uint8_t *end, struct nt_block_column *out)
{
	const uint8_t *p = *at;
	uint64_t size;

	if (p == end)
		return 1;
	if (end - p < 4)
		return -EBADMSG;
	out->kind = p[0];
	out->field = p[1];
	out->coding = p[2] & 0x0f;
	out->layout = p[2] >> 4;
	p += 3;
	if (nt_varint_get(&p, end, &size) || size > (size_t)(end - p))
		return -EBADMSG;
	out->data = p;
	out->size = size;
	*at = p + size;
	return 0;
}

int nt_block_column_start(struct nt_block_column_cursor *cursor, const struct nt_block_column *column)
{
	*cursor = (struct nt_block_column_cursor){
		.at = column->data,
		.end = column->data + column->size,
		.layout = column->layout,
	};
	if (column->layout == NT_LAYOUT_VARINT || column->layout == NT_LAYOUT_PACKED)
		return 0;
	if (column->layout == NT_LAYOUT_CONSTANT)
		return nt_varint_get(&cursor->at, cursor->end, &cursor->constant);
	return -EBADMSG;
}

static int read_varints(struct nt_block_column_cursor *cursor, uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (nt_varint_get(&cursor->at, cursor->end, &values[i]))
			return -EBADMSG;
	return 0;
}

int nt_block_column_read(struct nt_block_column_cursor *cursor, uint64_t *values, size_t n)
{
	switch (cursor->layout) {
	case NT_LAYOUT_VARINT:
		return read_varints(cursor, values, n);
	case NT_LAYOUT_PACKED:
		return nt_unpack_group(&cursor->at, cursor->end, values, n) ? -EBADMSG : 0;
	default:
		for (size_t i = 0; i < n; i++)
			values[i] = cursor->constant;
		return 0;
	}
}

bool nt_block_column_is_done(const struct nt_block_column_cursor *cursor)
{
	return cursor->at == cursor->end;
}
