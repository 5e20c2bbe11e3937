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
/* Makes room for `size` bytes more. False: there is none, and `failed` is set. */
bool nt_proto_room(struct nt_proto *proto, size_t size);

/* A number as it stands in a packed field. Signed ones: cast them, a negative number takes 10 bytes. */
void nt_proto_varint(struct nt_proto *proto, uint64_t number);
void nt_proto_uint(struct nt_proto *proto, uint32_t field, uint64_t number);
void nt_proto_fixed64(struct nt_proto *proto, uint32_t field, uint64_t number);
void nt_proto_double(struct nt_proto *proto, uint32_t field, double number);
/* What another buffer holds, as it is. */
void nt_proto_append(struct nt_proto *proto, const struct nt_proto *other);
void nt_proto_bytes(struct nt_proto *proto, uint32_t field, const void *data, size_t size);
/* Bytes that are no UTF-8 become U+FFFD. */
void nt_proto_text(struct nt_proto *proto, uint32_t field, const char *text);

/*
 * A message in a message: what is written between nt_proto_begin and nt_proto_end belongs to the field. Messages end in
 * the reverse order of their begins; nt_proto_end gets what nt_proto_begin gave.
 */
size_t nt_proto_begin(struct nt_proto *proto, uint32_t field);
void nt_proto_end(struct nt_proto *proto, size_t begin);
