// SPDX-License-Identifier: GPL-2.0-only
/*
 * table_test.c - the columns of a table on random widths and lines: what is shown fits, and nothing is left out that
 * would have fitted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/out/table.h"
#include "tests/support/rand.h"

#define LEGIBLE 30 /* names are shortened below this only as a last resort */
#define MOST 7

/* The width of a line with the columns for which `shown` has a bit, if names have at most `most`. */
static size_t width_of(const struct nt_table_column *columns, size_t n, unsigned int shown, size_t most)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++) {
		size_t cap = most > columns[i].least ? most : columns[i].least;

		if (shown & 1u << i)
			width += (columns[i].natural < cap ? columns[i].natural : cap) + (i ? NT_TABLE_GAP : 0);
	}
	return width;
}

static size_t draw(struct nt_rand *rand, struct nt_table_column *columns)
{
	size_t n = 1 + nt_rand_below(rand, MOST);

	for (size_t i = 0; i < n; i++) {
		columns[i] =
			(struct nt_table_column){.natural = 1 + nt_rand_below(rand, nt_rand_below(rand, 4) ? 12 : 80)};
		columns[i].least = nt_rand_below(rand, 3) ? columns[i].natural : 1 + nt_rand_below(rand, 12);
		columns[i].rank = (unsigned int)nt_rand_below(rand, 4);
	}
	return n;
}

/* Columns of a rank go together, and come back where there is room; those without a rank go last, from the right. */
static void expect_none_too_few(const struct nt_table_column *columns, size_t n, unsigned int shown, size_t room)
{
	unsigned int unranked = 1;

	for (size_t i = 1; i < n; i++) {
		unsigned int rank = columns[i].rank, with = shown;

		for (size_t k = 1; k < n; k++)
			with |= columns[k].rank == rank ? 1u << k : 0;
		if (!rank)
			unranked |= 1u << i;
		if (shown & 1u << i)
			assert_true(!rank || with == shown);
		else if (rank)
			assert_true(width_of(columns, n, with, LEGIBLE) > room);
		else
			assert_true(width_of(columns, n, unranked, 0) > room);
	}
}

static void expect_fit(struct nt_table_column *columns, size_t n, size_t room)
{
	const unsigned int all = (1u << n) - 1;
	unsigned int shown = 0;
	size_t width = 0;

	nt_table_fit(columns, n, room);
	assert_true(columns[0].is_shown);
	for (size_t i = 0; i < n; i++) {
		if (!columns[i].is_shown)
			continue;
		shown |= 1u << i;
		width += columns[i].width + (i ? NT_TABLE_GAP : 0);
		assert_true(columns[i].width <= columns[i].natural);
		assert_true(columns[i].width >= columns[i].least || columns[i].width == columns[i].natural);
	}
	assert_true(width <= room || shown == 1);
	/* No name is shortened beside room that is left. */
	if (width < room)
		assert_int_equal(width, width_of(columns, n, shown, (size_t)-1));
	if (width_of(columns, n, all, (size_t)-1) <= room)
		assert_true(shown == all && width == width_of(columns, n, all, (size_t)-1));
	if (width_of(columns, n, all, LEGIBLE) <= room)
		assert_true(shown == all);
	expect_none_too_few(columns, n, shown, room);
}

static void random_tables(void **state)
{
	struct nt_rand rand = {.state = 8};
	struct nt_table_column columns[MOST];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t n = draw(&rand, columns);

		expect_fit(columns, n, nt_rand_below(&rand, 130));
		/* And to the column: all of it, at the widths that matter. */
		expect_fit(columns, n, width_of(columns, n, (1u << n) - 1, LEGIBLE));
		expect_fit(columns, n, width_of(columns, n, (1u << n) - 1, 0));
		expect_fit(columns, n, width_of(columns, n, (1u << n) - 1, (size_t)-1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_tables)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
