// SPDX-License-Identifier: GPL-2.0-only
/*
 * proto.c - see proto.h. Most messages are shorter than 128 bytes: a message gets one byte for its length, and is moved
 * when that turns out too few.
 */
#include "report/export/perfetto/proto.h"

#include <stdlib.h>

#include "report/util/array.h"
#include "report/util/utf8.h"

void nt_proto_release(struct nt_proto *proto)
{
	free(proto->data);
	*proto = (struct nt_proto){0};
}

void nt_proto_reset(struct nt_proto *proto)
{
	proto->size = 0;
	proto->failed = false;
}

bool nt_proto_grow(struct nt_proto *proto, size_t size)
{
	if (size > SIZE_MAX / 4 || NT_ROOM(proto->data, proto->capacity, proto->size + size))
		proto->failed = true;
	return !proto->failed;
}

static void put_varint(struct nt_proto *proto, uint64_t number)
{
	proto->size = (size_t)(nt_proto_put(proto->data + proto->size, number) - proto->data);
}

static void put_tag(struct nt_proto *proto, uint32_t field, enum nt_proto_wire wire)
{
	proto->size = (size_t)(nt_proto_put_tag(proto->data + proto->size, field, wire) - proto->data);
}

void nt_proto_fixed64(struct nt_proto *proto, uint32_t field, uint64_t number)
{
	if (!nt_proto_room(proto, NT_PROTO_TAG_MAX + 8))
		return;
	put_tag(proto, field, NT_PROTO_FIXED64);
	for (int i = 0; i < 8; i++)
		proto->data[proto->size++] = (uint8_t)(number >> 8 * i);
}

void nt_proto_double(struct nt_proto *proto, uint32_t field, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	nt_proto_fixed64(proto, field, bits);
}

void nt_proto_append(struct nt_proto *proto, const struct nt_proto *other)
{
	if (other->failed)
		proto->failed = true;
	if (!other->size || !nt_proto_room(proto, other->size))
		return;
	memcpy(proto->data + proto->size, other->data, other->size);
	proto->size += other->size;
}

void nt_proto_bytes(struct nt_proto *proto, uint32_t field, const void *data, size_t size)
{
	if (size > SIZE_MAX / 8 || !nt_proto_room(proto, NT_PROTO_TAG_MAX + NT_PROTO_VARINT_MAX + size)) {
		proto->failed = true;
		return;
	}
	put_tag(proto, field, NT_PROTO_BYTES);
	put_varint(proto, size);
	if (size)
		memcpy(proto->data + proto->size, data, size);
	proto->size += size;
}

static bool is_ascii(const char *text, size_t size)
{
	return !NT_ANY(size, i, text[i] & 0x80);
}

void nt_proto_text(struct nt_proto *proto, uint32_t field, const char *text)
{
	const size_t size = strlen(text);
	size_t message;

	if (is_ascii(text, size)) {
		nt_proto_bytes(proto, field, text, size);
		return;
	}
	message = nt_proto_begin(proto, field);
	for (size_t i = 0; i < size;) {
		const size_t n = nt_utf8_length(text + i, size - i);
		const size_t length = n ? n : 3;

		if (!nt_proto_room(proto, length))
			return;
		memcpy(proto->data + proto->size, n ? text + i : "\xef\xbf\xbd", length);
		proto->size += length;
		i += n ? n : 1;
	}
	nt_proto_end(proto, message);
}

void nt_proto_end_long(struct nt_proto *proto, size_t begin)
{
	const size_t length = proto->size - begin;
	size_t more = 0; /* bytes of the length after the first */

	if (proto->failed)
		return;
	for (size_t left = length; left >= 0x80; left >>= 7)
		more++;
	if (more) {
		if (!nt_proto_room(proto, more))
			return;
		memmove(proto->data + begin + more, proto->data + begin, length);
	}
	proto->size = begin - 1;
	put_varint(proto, length);
	proto->size = begin + more + length;
}
