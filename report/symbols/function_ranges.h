/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * function_ranges.h - which function of a program is at an address. The symbols of a program may lie inside one
 * another, share their begin, or not say how large they are; here they become ranges of which none overlaps another, to
 * be found by halving. Pure.
 *
 * At an address is the function that begins last of those that contain it; of those that begin together, the smallest.
 * One that does not say its size reaches to the begin of the next, or to the end of its section, and is at no address
 * if another one contains its begin. Of names for the same thing: the one that people know it by.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nt_function {
	uint64_t begin;
	uint64_t size; /* 0: it does not say */
	uint64_t limit; /* end of its section, for one that does not say its size */
	const char *name;
	unsigned char binding; /* 0 global, 1 weak, 2 local */
};

struct nt_function_range {
	uint64_t begin; /* it reaches to the next one's */
	uint64_t function; /* begin of the function */
	const char *name; /* NULL: no function is there */
};

/* Zero-initialised is empty. Owner frees with nt_function_ranges_release. Names are those of the functions. */
struct nt_function_ranges {
	struct nt_function_range *ranges;
	size_t n, size;
};

/* Makes the ranges; reorders `functions`. 0 or -ENOMEM. */
int nt_function_ranges_make(struct nt_function_ranges *ranges, struct nt_function *functions, size_t n);
void nt_function_ranges_release(struct nt_function_ranges *ranges);
/* NULL: no function is there. */
const struct nt_function_range *nt_function_ranges_find(const struct nt_function_ranges *ranges, uint64_t address);
