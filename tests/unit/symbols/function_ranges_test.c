// SPDX-License-Identifier: GPL-2.0-only
/*
 * function_ranges_test.c - functions that lie inside one another, share names and begins, overlap, or do not say their
 * size: function_ranges.c beside the obvious way, which looks at all of them for each address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/symbols/function_ranges.h"
#include "tests/support/rand.h"

#define FUNCTIONS 24
#define ADDRESSES 64
#define SECTION 20

static const char *const names[] = {"send", "__send", "_send", "sendto", "libc_send", "a", "b", "main", "_start"};

static bool contains(const struct nt_function *function, uint64_t address)
{
	return address >= function->begin && address - function->begin < function->size;
}

static bool has_better_name(const struct nt_function *one, const struct nt_function *other)
{
	size_t bars = strspn(one->name, "_"), other_bars = strspn(other->name, "_");

	if (bars != other_bars)
		return bars < other_bars;
	if (one->binding != other->binding)
		return one->binding < other->binding;
	if (strlen(one->name) != strlen(other->name))
		return strlen(one->name) < strlen(other->name);
	return strcmp(one->name, other->name) < 0;
}

static bool is_nearer(const struct nt_function *one, const struct nt_function *other)
{
	if (one->begin != other->begin)
		return one->begin > other->begin;
	return one->size != other->size ? one->size < other->size : has_better_name(one, other);
}

/* Whether a function that does not say its size is at the address. */
static bool reaches(const struct nt_function *functions, size_t n, const struct nt_function *function, uint64_t address)
{
	if (function->size || address < function->begin || address >= function->limit)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (contains(&functions[i], function->begin) ||
		    (functions[i].begin > function->begin && functions[i].begin <= address))
			return false;
	}
	return true;
}

static const struct nt_function *model(const struct nt_function *functions, size_t n, uint64_t address)
{
	const struct nt_function *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if ((contains(&functions[i], address) || reaches(functions, n, &functions[i], address)) &&
		    (!best || is_nearer(&functions[i], best)))
			best = &functions[i];
	}
	return best;
}

static void check(const struct nt_function *functions, size_t n, const struct nt_function_ranges *ranges,
		  uint64_t address)
{
	const struct nt_function *wanted = model(functions, n, address);
	const struct nt_function_range *range = nt_function_ranges_find(ranges, address);

	if (!wanted) {
		assert_null(range);
		return;
	}
	assert_non_null(range);
	assert_int_equal(range->function, wanted->begin);
	assert_string_equal(range->name, wanted->name);
}

static void finds_what_a_look_at_all_finds(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	struct nt_function_ranges ranges = {0};

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct nt_function functions[FUNCTIONS], given[FUNCTIONS];
		size_t n = nt_rand_below(&rand, FUNCTIONS + 1);
		/* Some are about the end of all addresses. */
		uint64_t first = round % 8 ? 100 : UINT64_MAX - ADDRESSES / 2;

		for (size_t i = 0; i < n; i++) {
			uint64_t at = nt_rand_below(&rand, ADDRESSES);

			at = at > UINT64_MAX - first ? UINT64_MAX - first : at;
			functions[i] = (struct nt_function){
				.begin = first + at,
				.size = nt_rand_below(&rand, 3) ? nt_rand_below(&rand, 20) : 0,
				.limit = round % 8 ? first + (at / SECTION + 1) * SECTION : UINT64_MAX,
				.name = names[nt_rand_below(&rand, sizeof(names) / sizeof(names[0]))],
				.binding = (unsigned char)nt_rand_below(&rand, 3),
			};
			/* Nothing is at the last address of all: no function can end behind it. */
			if (functions[i].size > UINT64_MAX - functions[i].begin)
				functions[i].size = UINT64_MAX - functions[i].begin;
		}
		memcpy(given, functions, sizeof(functions));
		assert_int_equal(nt_function_ranges_make(&ranges, given, n), 0);
		for (uint64_t address = first - 1; address < first + ADDRESSES + 24 && address >= first - 1; address++)
			check(functions, n, &ranges, address);
	}
	nt_function_ranges_release(&ranges);
}

static void an_outer_one_goes_on_behind_an_inner_one(void **state)
{
	struct nt_function functions[] = {
		{.begin = 100, .size = 100, .name = "outer"},
		{.begin = 120, .size = 10, .name = "inner"},
		{.begin = 300, .limit = 340, .name = "open"},
	};
	struct nt_function_ranges ranges = {0};

	(void)state;
	assert_null(nt_function_ranges_find(&ranges, 100));
	assert_int_equal(nt_function_ranges_make(&ranges, functions, 3), 0);
	assert_null(nt_function_ranges_find(&ranges, 99));
	assert_string_equal(nt_function_ranges_find(&ranges, 119)->name, "outer");
	assert_string_equal(nt_function_ranges_find(&ranges, 120)->name, "inner");
	assert_string_equal(nt_function_ranges_find(&ranges, 130)->name, "outer");
	assert_int_equal(nt_function_ranges_find(&ranges, 130)->function, 100);
	assert_null(nt_function_ranges_find(&ranges, 200));
	assert_string_equal(nt_function_ranges_find(&ranges, 339)->name, "open");
	assert_null(nt_function_ranges_find(&ranges, 340));
	nt_function_ranges_release(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_a_look_at_all_finds),
		cmocka_unit_test(an_outer_one_goes_on_behind_an_inner_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
