// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram.c - see histogram.h.
 */
#include "report/util/histogram.h"

uint32_t nt_bucket_of(uint32_t per_octave, int64_t ns)
{
	uint32_t octave;
	uint64_t width, into;

	if (ns <= 1)
		return 0;
	/* Greater than 2^octave and at most 2^(octave + 1). */
	octave = 63 - (uint32_t)__builtin_clzll((uint64_t)ns - 1);
	width = 1ull << octave;
	into = (uint64_t)ns - width;
	/* 1 to per_octave: upward, for a bound belongs to the bucket below it. */
	return octave * per_octave + (uint32_t)(((unsigned __int128)into * per_octave + width - 1) >> octave);
}

int64_t nt_bucket_upper(uint32_t per_octave, uint32_t bucket)
{
	uint32_t octave, part;
	uint64_t width;

	if (!bucket)
		return 1;
	octave = (bucket - 1) / per_octave;
	part = (bucket - 1) % per_octave + 1;
	width = 1ull << octave;
	width += (uint64_t)((unsigned __int128)width * part / per_octave);
	return width > INT64_MAX ? INT64_MAX : (int64_t)width;
}

int64_t nt_bucket_lower(uint32_t per_octave, uint32_t bucket)
{
	return bucket ? nt_bucket_upper(per_octave, bucket - 1) : 0;
}
