/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.h - the time for programs that tests and benches run. Inline: some read it around what they measure.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
