// SPDX-License-Identifier: GPL-2.0-only
/*
 * id_map_test.c - each id has the value that was set, and others have none: for dense ids, for scattered ones, and for
 * such that somebody chose so that they should be slow to find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/util/id_map.h"

#define MANY 200000
#define MAX_RUN 5000 /* slots in a row that are filled: below a hundred; with all in one place, MANY */

static uint64_t ids[2 * MANY];
static size_t longest_run;

/* Sets the first half of the ids, looks all up, and counts how far one may have to be looked for. */
static void set_and_get(void)
{
	struct nt_id_map map = {0};

	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t *value = nt_id_map_at(&map, ids[i]);

		assert_non_null(value);
		assert_int_equal(*value, 0);
		*value = i + 1;
	}
	for (uint64_t i = 0; i < 2 * MANY; i++)
		assert_int_equal(nt_id_map_get(&map, ids[i]), i < MANY ? i + 1 : 0);
	longest_run = 0;
	for (size_t slot = 0, run = 0; slot < map.n_slots; slot++) {
		run = map.slots[slot] ? run + 1 : 0;
		longest_run = run > longest_run ? run : longest_run;
	}
	nt_id_map_release(&map);
	assert_int_equal(nt_id_map_get(&map, ids[0]), 0);
}

static void test_dense(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2 * MANY; i++)
		ids[i] = i;
	set_and_get();
}

static void test_scattered(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2 * MANY; i++)
		ids[i] = i << 44 | i;
	set_and_get();
}

/* Pages whose numbers times 0x9e3779b97f4a7c15 are below 2^32, by which they were all looked for in the first slot. */
static void test_chosen(void **state)
{
	const uint64_t factor = 0x9e3779b97f4a7c15;
	uint64_t inverse = factor;

	(void)state;
	for (int step = 0; step < 6; step++)
		inverse *= 2 - factor * inverse;
	assert_int_equal(factor * inverse, 1);
	for (uint64_t product = 0, i = 0; i < 2 * MANY; product++) {
		if (inverse * product >> 60 == 0)
			ids[i++] = inverse * product * NT_ID_PAGE;
	}
	set_and_get();
	assert_true(longest_run < MAX_RUN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
