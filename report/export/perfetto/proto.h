/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * proto.h - writes protocol buffers: numbers, texts, and messages in messages, into one growing piece of memory. Pure.
 *
 * A buffer that has failed (out of memory) takes no more and says so in `failed`: callers may look once, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zero-initialised is empty. Owner frees with nt_proto_release. */
struct nt_proto {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
};

void nt_proto_release(struct nt_proto *proto);
/* Forgets what was written and keeps the memory. */
void nt_proto_reset(struct nt_proto *proto);
/* Makes room for `size` bytes more, of which there is none left. False: there is none, and `failed` is set. */
bool nt_proto_grow(struct nt_proto *proto, size_t size);

/* The same, if there is none left. Short functions stand here, as millions of fields are written. */
static inline bool nt_proto_room(struct nt_proto *proto, size_t size)
{
	return (!proto->failed && proto->capacity - proto->size >= size) || nt_proto_grow(proto, size);
}

#define NT_PROTO_VARINT_MAX 10
#define NT_PROTO_TAG_MAX 5

/* The form of the value after a field's number. */
enum nt_proto_wire { NT_PROTO_VARINT = 0, NT_PROTO_FIXED64 = 1, NT_PROTO_BYTES = 2 };

/* Where there is room. Gives the end. */
static inline uint8_t *nt_proto_put(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static inline uint8_t *nt_proto_put_tag(uint8_t *at, uint32_t field, enum nt_proto_wire wire)
{
	return nt_proto_put(at, (uint64_t)field << 3 | wire);
}

/* A number as it stands in a packed field. Signed ones: cast them, a negative number takes 10 bytes. */
static inline void nt_proto_varint(struct nt_proto *proto, uint64_t number)
{
	if (nt_proto_room(proto, NT_PROTO_VARINT_MAX))
		proto->size = (size_t)(nt_proto_put(proto->data + proto->size, number) - proto->data);
}

static inline void nt_proto_uint(struct nt_proto *proto, uint32_t field, uint64_t number)
{
	uint8_t *at;

	if (!nt_proto_room(proto, NT_PROTO_TAG_MAX + NT_PROTO_VARINT_MAX))
		return;
	at = nt_proto_put_tag(proto->data + proto->size, field, NT_PROTO_VARINT);
	proto->size = (size_t)(nt_proto_put(at, number) - proto->data);
}

void nt_proto_fixed64(struct nt_proto *proto, uint32_t field, uint64_t number);
void nt_proto_double(struct nt_proto *proto, uint32_t field, double number);
/* The bytes of another buffer, as they are. */
void nt_proto_append(struct nt_proto *proto, const struct nt_proto *other);
void nt_proto_bytes(struct nt_proto *proto, uint32_t field, const void *data, size_t size);
/* Bytes that are no UTF-8 become U+FFFD. */
void nt_proto_text(struct nt_proto *proto, uint32_t field, const char *text);

/*
 * A message in a message: what is written between nt_proto_begin and nt_proto_end belongs to the field. Messages end in
 * the reverse order of their begins; nt_proto_end gets what nt_proto_begin gave.
 */
static inline size_t nt_proto_begin(struct nt_proto *proto, uint32_t field)
{
	if (nt_proto_room(proto, NT_PROTO_TAG_MAX + 1))
		proto->size =
			(size_t)(nt_proto_put_tag(proto->data + proto->size, field, NT_PROTO_BYTES) + 1 - proto->data);
	return proto->size;
}

/* The end of a message that may be too long for one byte of length. */
void nt_proto_end_long(struct nt_proto *proto, size_t begin);

static inline void nt_proto_end(struct nt_proto *proto, size_t begin)
{
	const size_t length = proto->size - begin;

	if (length < 0x80 && !proto->failed)
		proto->data[begin - 1] = (uint8_t)length;
	else
		nt_proto_end_long(proto, begin);
}
