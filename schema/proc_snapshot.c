// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_snapshot.c - the payloads of clock, snapshot and meta blocks (docs/chunk-format.md sections 8 to 10). The bytes
 * that are read are hostile.
 */
#include "schema/block.h"
#include "schema/varint.h"

#define CLOCK_SIZE 40
#define SNAPSHOT_HEAD 18 /* begin, end, size of the name with its zero */
#define NAME_MAX_SIZE 256

int nt_clock_encode(struct nt_buf *out, const struct nt_clock *clock)
{
	uint8_t bytes[CLOCK_SIZE];

	nt_put_u64(bytes, clock->monotonic_ns);
	nt_put_u64(bytes + 8, clock->realtime_ns);
	nt_put_u64(bytes + 16, clock->tai_ns);
	nt_put_u64(bytes + 24, clock->boot_ns);
	nt_put_u64(bytes + 32, clock->uncertainty_ns);
	return nt_buf_append(out, bytes, sizeof(bytes));
}

int nt_clock_decode(const void *payload, size_t size, struct nt_clock *out)
{
	const uint8_t *at = payload;

	if (size < CLOCK_SIZE)
		return -EBADMSG;
	*out = (struct nt_clock){
		.monotonic_ns = nt_get_u64(at),
		.realtime_ns = nt_get_u64(at + 8),
		.tai_ns = nt_get_u64(at + 16),
		.boot_ns = nt_get_u64(at + 24),
		.uncertainty_ns = nt_get_u64(at + 32),
	};
	return 0;
}

int nt_proc_snapshot_encode(struct nt_buf *out, const struct nt_proc_snapshot *snapshot)
{
	size_t name_size = strlen(snapshot->name) + 1;
	uint8_t head[SNAPSHOT_HEAD];
	int err;

	if (name_size > NAME_MAX_SIZE)
		return -EINVAL;
	if (snapshot->text_size > NT_BLOCK_MAX_RAW)
		return -E2BIG;
	nt_put_u64(head, snapshot->begin_ns);
	nt_put_u64(head + 8, snapshot->end_ns);
	nt_put_u16(head + 16, (uint16_t)name_size);
	err = nt_buf_reserve(out, sizeof(head) + name_size + snapshot->text_size);
	if (err)
		return err;
	nt_buf_append(out, head, sizeof(head));
	nt_buf_append(out, snapshot->name, name_size);
	nt_buf_append(out, snapshot->text, snapshot->text_size);
	return 0;
}

int nt_proc_snapshot_decode(const void *payload, size_t size, struct nt_proc_snapshot *out)
{
	const uint8_t *at = payload;
	size_t name_size;

	if (size < SNAPSHOT_HEAD)
		return -EBADMSG;
	name_size = nt_get_u16(at + 16);
	if (!name_size || name_size > NAME_MAX_SIZE || name_size > size - SNAPSHOT_HEAD ||
	    strnlen((const char *)at + SNAPSHOT_HEAD, name_size) != name_size - 1)
		return -EBADMSG;
	*out = (struct nt_proc_snapshot){
		.begin_ns = nt_get_u64(at),
		.end_ns = nt_get_u64(at + 8),
		.name = (const char *)at + SNAPSHOT_HEAD,
		.text = (const char *)at + SNAPSHOT_HEAD + name_size,
		.text_size = size - SNAPSHOT_HEAD - name_size,
	};
	return 0;
}

int nt_meta_append(struct nt_buf *out, const char *key, const char *value)
{
	size_t key_size = strlen(key), value_size = strlen(value);
	int err;

	if (!key_size || strpbrk(key, "=\n") || strchr(value, '\n'))
		return -EINVAL;
	err = nt_buf_reserve(out, key_size + value_size + 2);
	if (err)
		return err;
	nt_buf_append(out, key, key_size);
	nt_buf_append(out, "=", 1);
	nt_buf_append(out, value, value_size);
	nt_buf_append(out, "\n", 1);
	return 0;
}

int nt_meta_next(const void *payload, size_t size, size_t *offset, const char **key, size_t *key_size,
		 const char **value, size_t *value_size)
{
	const char *line, *newline, *equals;

	if (*offset >= size)
		return 1;
	line = (const char *)payload + *offset;
	newline = memchr(line, '\n', size - *offset);
	if (!newline)
		return -EBADMSG;
	equals = memchr(line, '=', (size_t)(newline - line));
	if (!equals || equals == line)
		return -EBADMSG;
	*key = line;
	*key_size = (size_t)(equals - line);
	*value = equals + 1;
	*value_size = (size_t)(newline - *value);
	*offset += (size_t)(newline + 1 - line);
	return 0;
}
