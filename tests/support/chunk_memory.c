// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_memory.c - see chunk_memory.h.
 */
#include "tests/support/chunk_memory.h"

#include <string.h>

int chunk_memory_write(void *arg, const void *data, size_t size)
{
	return nt_buf_append(arg, data, size);
}

static int64_t memory_read(void *arg, uint64_t offset, void *data, size_t size)
{
	const struct nt_buf *bytes = arg;
	size_t left = offset < bytes->size ? bytes->size - offset : 0;

	if (size > left)
		size = left;
	memcpy(data, bytes->data + offset, size);
	return (int64_t)size;
}

struct nt_source chunk_memory_source(const struct nt_buf *bytes)
{
	return (struct nt_source){.arg = (void *)bytes, .size = bytes->size, .read = memory_read};
}

static void random_bytes(struct nt_rand *rand, const struct nt_field *field, union nt_any *out)
{
	uint8_t *at = (uint8_t *)out + field->offset;
	size_t size = nt_rand_below(rand, field->size + 1u);

	/* Text ends in a zero and holds none; others may be any bytes. */
	if (nt_field_is_text(out->record.kind, field) && size == field->size)
		size--;
	nt_rand_bytes(rand, at, size);
	for (size_t i = 0; nt_field_is_text(out->record.kind, field) && i < size; i++)
		at[i] |= 1;
}

void chunk_random_record(struct nt_rand *rand, unsigned int kind, uint64_t near_ns, union nt_any *out)
{
	const struct nt_kind_info *info = nt_kind(kind);

	memset(out, 0, sizeof(*out));
	out->record.kind = (uint8_t)kind;
	for (unsigned int i = 0; i < info->n_fields; i++) {
		if (info->fields[i].coding == NT_CODING_BYTES)
			random_bytes(rand, &info->fields[i], out);
		else
			nt_field_set(&info->fields[i], out, nt_rand_any(rand));
	}
	if (near_ns)
		out->record.end_ns = near_ns + nt_rand_below(rand, 1000000) - nt_rand_below(rand, 1000000);
}

unsigned int chunk_random_event_kind(struct nt_rand *rand)
{
	for (;;) {
		const struct nt_kind_info *info = nt_kind((unsigned int)nt_rand_below(rand, NT_KIND_MAX));

		if (info && info->place != NT_PLACE_IDENTITY)
			return info->number;
	}
}
