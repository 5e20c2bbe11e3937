/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * varint.h - integers of variable length, zigzag, and fixed little-endian integers, as inline functions on
 * bytes. Internal to schema/. docs/chunk-format.md section 2 says what they look like.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define NT_VARINT_MAX 10 /* bytes of the longest varint */

/* Writes at most NT_VARINT_MAX bytes and gives the place behind them. */
static inline uint8_t *nt_varint_put(uint8_t *at, uint64_t value)
{
	while (__builtin_expect(value >= 0x80, 0)) {
		*at++ = (uint8_t)value | 0x80;
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

/* Moves *at over one varint. -EBADMSG: it goes past `end` or does not fit into 64 bits. */
static inline int nt_varint_get(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	const uint8_t *p = *at;
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (p == end)
			return -EBADMSG;
		byte = *p++;
		if (shift == 63 && byte > 1)
			return -EBADMSG;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*at = p;
			*out = value;
			return 0;
		}
	}
	return -EBADMSG;
}

/* A difference modulo 2^64, as a small number when it is near 0 on either side. */
static inline uint64_t nt_zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t nt_unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

static inline void nt_put_u16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void nt_put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline void nt_put_u64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static inline uint16_t nt_get_u16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint32_t nt_get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static inline uint64_t nt_get_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}
