// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack.c - see pack.h. The values of a group are stored as their distance from the least of them, less the zero
 * bits that all distances end in, in a fixed number of bits: about the number that makes the group shortest when
 * the few that need more are stored apart, as exceptions. Any number is right; which is best, a part of the values
 * tells nearly as well as all, in a quarter of the time.
 */
#include "schema/pack.h"
#include "schema/varint.h"

#include <stdbool.h>

#define SAMPLE_STEP 4 /* of a whole group, every fourth value */

struct plan {
	uint64_t base;
	unsigned int shift, most, width; /* most: bits of the greatest distance */
	size_t n_exceptions;
};

static unsigned int bits_of(uint64_t value)
{
	return 64 - (unsigned int)__builtin_clzll(value | 1) - !value; /* without a branch */
}

/* The distances of the values from the least of them, less the zero bits that all end in. */
static void take_distances(struct plan *plan, const uint64_t *values, uint64_t *distances, size_t n)
{
	uint64_t base = values[0], any = 0;

	for (size_t i = 1; i < n; i++)
		base = values[i] < base ? values[i] : base;
	for (size_t i = 0; i < n; i++) {
		distances[i] = values[i] - base;
		any |= distances[i];
	}
	plan->base = base;
	plan->shift = any ? (unsigned int)__builtin_ctzll(any) : 0;
	plan->most = bits_of(any >> plan->shift);
	for (size_t i = 0; i < n && plan->shift; i++)
		distances[i] >>= plan->shift;
}

/* How many distances have how many bits, of every step-th. */
static void count_bits(uint16_t counts[65], const uint64_t *distances, size_t n, size_t step)
{
	memset(counts, 0, 65 * sizeof(*counts));
	for (size_t i = 0; i < n; i += step)
		counts[bits_of(distances[i])]++;
}

/* The bytes that n values take at a width, without what is the same at each; SIZE_MAX with too many exceptions. */
static size_t size_at(unsigned int width, unsigned int most, const uint16_t counts[65], size_t n)
{
	size_t size = (n * width + 7) / 8, exceptions = 0;

	for (unsigned int bits = width + 1; bits <= most; bits++) {
		exceptions += counts[bits];
		size += counts[bits] * (1 + (bits - width + 6) / 7);
	}
	return exceptions > n / 8 ? SIZE_MAX : size;
}

static size_t exceptions_at(unsigned int width, const uint64_t *distances, size_t n)
{
	size_t exceptions = 0;

	for (size_t i = 0; i < n; i++)
		exceptions += distances[i] >> width != 0;
	return exceptions;
}

/*
 * Down from the width that all fit, until there are too many exceptions, by every step-th value. False: there are
 * always, or among the others.
 */
static bool choose_width(struct plan *plan, const uint64_t *distances, size_t n, size_t step)
{
	unsigned int width = plan->most < NT_PACK_WIDTH_MAX ? plan->most : NT_PACK_WIDTH_MAX;
	size_t least = SIZE_MAX, size;
	uint16_t counts[65];

	count_bits(counts, distances, n, step);
	while ((size = size_at(width, plan->most, counts, (n + step - 1) / step)) != SIZE_MAX) {
		if (size < least) {
			least = size;
			plan->width = width;
		}
		if (!width--)
			break;
	}
	if (least == SIZE_MAX)
		return false;
	plan->n_exceptions = exceptions_at(plan->width, distances, n);
	return plan->n_exceptions <= n / 8;
}

/* The low `width` bits of each value, the first in the lowest bits of the first byte. Gives the end. */
static uint8_t *put_bits(uint8_t *to, const struct plan *plan, const uint64_t *distances, size_t n)
{
	uint64_t mask = (1ull << plan->width) - 1, word = 0;
	unsigned int used = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t value = distances[i] & mask;

		word |= value << used;
		used += plan->width;
		if (used >= 64) {
			nt_put_u64(to, word);
			to += 8;
			used -= 64;
			word = used ? value >> (plan->width - used) : 0;
		}
	}
	nt_put_u64(to, word);
	return to + (used + 7) / 8;
}

static uint8_t *put_exceptions(uint8_t *to, const struct plan *plan, const uint64_t *distances, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t high = distances[i] >> plan->width;

		if (high) {
			*to++ = (uint8_t)i;
			to = nt_varint_put(to, high);
		}
	}
	return to;
}

size_t nt_pack_group(uint8_t *to, const uint64_t *values, size_t n)
{
	uint64_t distances[NT_PACK_GROUP];
	struct plan plan = {0};
	uint8_t *at = to;

	take_distances(&plan, values, distances, n);
	if (!(n == NT_PACK_GROUP && choose_width(&plan, distances, n, SAMPLE_STEP)) &&
	    !choose_width(&plan, distances, n, 1))
		return 0;
	*at++ = (uint8_t)plan.width;
	*at++ = (uint8_t)plan.shift;
	*at++ = (uint8_t)plan.n_exceptions;
	at = nt_varint_put(at, plan.base);
	at = put_bits(at, &plan, distances, n);
	if (plan.n_exceptions)
		at = put_exceptions(at, &plan, distances, n);
	return (size_t)(at - to);
}

static void get_bits(const uint8_t *from, unsigned int width, uint64_t *values, size_t n)
{
	uint64_t mask = (1ull << width) - 1;
	size_t bit = 0;

	for (size_t i = 0; i < n; i++, bit += width)
		values[i] = nt_get_u64(from + bit / 8) >> (bit & 7) & mask;
}

/* The same where 8 bytes may not be read at each place. */
static void get_bits_at_end(const uint8_t *from, size_t size, unsigned int width, uint64_t *values, size_t n)
{
	uint8_t copy[NT_PACK_GROUP * NT_PACK_WIDTH_MAX / 8 + 8] = {0};

	memcpy(copy, from, size);
	get_bits(copy, width, values, n);
}

static int get_exceptions(const uint8_t **at, const uint8_t *end, unsigned int count, unsigned int width,
			  uint64_t *values, size_t n)
{
	size_t least = 0;

	while (count--) {
		uint64_t high;
		size_t i;

		if (*at == end)
			return -EBADMSG;
		i = *(*at)++;
		if (i < least || i >= n || nt_varint_get(at, end, &high))
			return -EBADMSG;
		values[i] |= high << width;
		least = i + 1;
	}
	return 0;
}

int nt_unpack_group(const uint8_t **at, const uint8_t *end, uint64_t *values, size_t n)
{
	unsigned int width, shift, n_exceptions;
	uint64_t base;
	size_t size;

	if (end - *at < 4)
		return -EBADMSG;
	width = (*at)[0];
	shift = (*at)[1];
	n_exceptions = (*at)[2];
	*at += 3;
	size = (n * width + 7) / 8;
	if (width > NT_PACK_WIDTH_MAX || shift > 63 || nt_varint_get(at, end, &base) || size > (size_t)(end - *at))
		return -EBADMSG;
	if ((size_t)(end - *at) >= size + 8)
		get_bits(*at, width, values, n);
	else
		get_bits_at_end(*at, size, width, values, n);
	*at += size;
	if (n_exceptions && get_exceptions(at, end, n_exceptions, width, values, n))
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		values[i] = base + (values[i] << shift);
	return 0;
}
