/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.h - buckets of times whose width grows with the time: `per_octave` of equal width in each doubling. Pure.
 *
 * A bucket holds what is greater than its lower and at most its upper bound, so a time that equals a bound belongs to
 * the bucket that ends there. Bucket 0 holds all up to 1 ns. Bounds are whole nanoseconds: where an octave has fewer of
 * these than buckets, some buckets hold nothing and have the same bound as the one before.
 */
#pragma once

#include <stdint.h>

#define NT_MAX_PER_OCTAVE 64

/* How many buckets there are for all times below 2^octaves ns. octaves is 0 to 63. */
static inline uint32_t nt_bucket_count(uint32_t per_octave, uint32_t octaves)
{
	return 1 + octaves * per_octave;
}

/* The bucket of a time; per_octave is 1 to NT_MAX_PER_OCTAVE. Below nt_bucket_count(per_octave, 63). */
uint32_t nt_bucket_of(uint32_t per_octave, int64_t ns);
/* The greatest time in a bucket. */
int64_t nt_bucket_upper(uint32_t per_octave, uint32_t bucket);
/* All times in a bucket are greater; 0 for the first, where there may be less. */
int64_t nt_bucket_lower(uint32_t per_octave, uint32_t bucket);
