// SPDX-License-Identifier: GPL-2.0-only
/*
 * identity.c - identities as rows of tagged fields (docs/chunk-format.md section 7). The bytes that
 * are read are hostile.
 */
#include "schema/block.h"
#include "schema/varint.h"

/* A row: kind, size, then for each field that is not 0 its tag and value. A tag is number << 1 | is_bytes. */
#define ROW_MAX (1024 + NT_MAX_RECORD_SIZE)

/* The bytes of a field that are written: all but the zeros at its end, or those before the first zero of a string. */
static size_t bytes_used(unsigned int kind, const struct nt_field *field, const uint8_t *bytes)
{
	size_t size = field->size;

	if (nt_field_is_text(kind, field))
		return strnlen((const char *)bytes, size - 1);
	while (size && !bytes[size - 1])
		size--;
	return size;
}

static uint8_t *put_field(uint8_t *at, unsigned int kind, unsigned int number, const struct nt_field *field,
			  const void *record)
{
	const uint8_t *bytes = (const uint8_t *)record + field->offset;
	uint64_t value;

	if (field->coding == NT_CODING_BYTES) {
		size_t size = bytes_used(kind, field, bytes);

		if (!size)
			return at;
		*at++ = (uint8_t)(number << 1 | 1);
		at = nt_varint_put(at, size);
		memcpy(at, bytes, size);
		return at + size;
	}
	value = nt_field_get(field, record);
	if (!value)
		return at;
	*at++ = (uint8_t)(number << 1);
	return nt_varint_put(at, value);
}

int nt_identity_encode(struct nt_buf *out, const void *record)
{
	unsigned int kind = ((const struct nt_record *)record)->kind;
	const struct nt_kind_info *info = nt_kind(kind);
	uint8_t row[ROW_MAX], head[1 + NT_VARINT_MAX], *at = row, *head_end;
	int err;

	if (!info || info->place != NT_PLACE_IDENTITY)
		return -EINVAL;
	for (unsigned int i = 0; i < info->n_fields; i++)
		at = put_field(at, kind, i, &info->fields[i], record);
	head[0] = (uint8_t)kind;
	head_end = nt_varint_put(head + 1, (uint64_t)(at - row));
	err = nt_buf_reserve(out, (size_t)(head_end - head) + (size_t)(at - row));
	if (err)
		return err;
	nt_buf_append(out, head, (size_t)(head_end - head));
	nt_buf_append(out, row, (size_t)(at - row));
	return 0;
}

/* Where the row ends that begins at `from`. 0: it is damaged. */
static size_t row_end(const uint8_t *payload, size_t size, size_t from)
{
	const uint8_t *at = payload + from + 1, *end = payload + size;
	uint64_t row_size;

	if (nt_varint_get(&at, end, &row_size) || row_size > (size_t)(end - at))
		return 0;
	return (size_t)(at - payload) + row_size;
}

size_t nt_identity_cut(const void *payload, size_t size, size_t most)
{
	size_t at = 0, next;

	for (; at < size; at = next) {
		next = row_end(payload, size, at);
		if (!next)
			return size;
		if (at && next > most)
			return at;
	}
	return at;
}

static int get_bytes(const uint8_t **at, const uint8_t *end, unsigned int kind, const struct nt_field *field,
		     void *record)
{
	uint64_t size;

	if (nt_varint_get(at, end, &size) || size > (size_t)(end - *at))
		return -EBADMSG;
	if (field) {
		bool text = nt_field_is_text(kind, field);

		/* A text keeps a byte for its zero, and holds none before that. */
		if (field->coding != NT_CODING_BYTES || size + text > field->size || (text && memchr(*at, 0, size)))
			return -EBADMSG;
		memcpy((uint8_t *)record + field->offset, *at, size);
	}
	*at += size;
	return 0;
}

static int get_integer(const uint8_t **at, const uint8_t *end, const struct nt_field *field, void *record)
{
	uint64_t value;

	if (nt_varint_get(at, end, &value))
		return -EBADMSG;
	if (!field)
		return 0;
	if (field->coding == NT_CODING_BYTES || (field->size < 8 && value >> (8 * field->size)))
		return -EBADMSG;
	nt_field_set(field, record, value);
	return 0;
}

/* The fields of one row. Numbers rise, so that none stands twice. */
static int get_row(const uint8_t *at, const uint8_t *end, const struct nt_kind_info *info, union nt_any *out)
{
	unsigned int least = 0;
	int err = 0;

	memset(out, 0, info->size);
	out->record.kind = info->number;
	while (!err && at < end) {
		unsigned int tag = *at++, number = tag >> 1;
		const struct nt_field *field = number < info->n_fields ? &info->fields[number] : NULL;

		if (number < least)
			return -EBADMSG;
		least = number + 1;
		if (tag & 1)
			err = get_bytes(&at, end, info->number, field, out);
		else
			err = get_integer(&at, end, field, out);
	}
	return err;
}

int nt_identity_next(const void *payload, size_t size, size_t *offset, union nt_any *out)
{
	const uint8_t *at, *end;

	/* Of nothing there need not be an address. */
	if (*offset >= size)
		return 1;
	at = (const uint8_t *)payload + *offset;
	end = (const uint8_t *)payload + size;
	while (at < end) {
		const struct nt_kind_info *info = nt_kind(*at++);
		const uint8_t *row;
		uint64_t row_size;

		if (nt_varint_get(&at, end, &row_size) || row_size > (size_t)(end - at))
			return -EBADMSG;
		row = at;
		at += row_size;
		*offset = (size_t)(at - (const uint8_t *)payload);
		if (info && info->place == NT_PLACE_IDENTITY)
			return get_row(row, at, info, out);
	}
	return 1;
}

bool nt_identity_is_full(const union nt_any *record)
{
	switch (record->record.kind) {
	case NT_CGROUP:
		return record->as_cgroup.path[0];
	case NT_SOCKET:
		return record->as_socket.src_port;
	default:
		return true;
	}
}
