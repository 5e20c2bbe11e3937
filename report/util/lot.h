/* SPDX-License-Identifier: GPL-2.0-only */
/* lot.h - numbers that look drawn by lot, and are the same each time. Pure. */
#pragma once

#include <stdint.h>

/* One of all 64-bit numbers, for this key; lots of different numbers have nothing to do with each other. (splitmix64)
 */
static inline uint64_t nt_lot(uint64_t key, uint64_t lot)
{
	uint64_t z = key + lot * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
