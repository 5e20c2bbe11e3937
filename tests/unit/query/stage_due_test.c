// SPDX-License-Identifier: GPL-2.0-only
/*
 * stage_due_test.c - how many samples are due, and when there are too few.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>

#include "report/query/cpus/lanes.h"
#include "report/query/stages/due.h"

static void test_due(void **state)
{
	const struct nt_stage_clock clock = {.rate_hz = 999}, fast = {.rate_hz = NT_STAGE_RATE_MAX};

	(void)state;
	assert_int_equal(nt_stage_due(&clock, 0), 0);
	assert_int_equal(nt_stage_due(&clock, 689300000), 689); /* 688.6 */
	assert_int_equal(nt_stage_due(&clock, 500500), 0); /* 0.4999995 */
	assert_int_equal(nt_stage_due(&clock, 500501), 1); /* 0.5000005 */
	assert_int_equal(nt_stage_due(&clock, 1000000000), 999);
	/* Also of a time that no recording has. */
	assert_true(nt_stage_due(&fast, UINT64_MAX) == 1844674407370955);
}

static void test_short(void **state)
{
	(void)state;
	assert_false(nt_stage_is_short(0, 99));
	assert_true(nt_stage_is_short(0, 100));
	/* A hundred are so by chance once in a while: two deviations are twenty. */
	assert_false(nt_stage_is_short(80, 100));
	assert_true(nt_stage_is_short(79, 100));
	/* From 400 on 90 % are further than that. */
	assert_false(nt_stage_is_short(360, 400));
	assert_true(nt_stage_is_short(359, 400));
	assert_false(nt_stage_is_short(9000, 10000));
	assert_true(nt_stage_is_short(8999, 10000));
	/* More than due are not too few. */
	assert_false(nt_stage_is_short(101, 100));
	assert_false(nt_stage_is_short(UINT64_MAX, 100));
	assert_true(nt_stage_is_short(0, UINT64_MAX));
}

static void test_clock(void **state)
{
	const struct nt_stage_clock all = nt_stage_clock_of("999", "all"), network = nt_stage_clock_of("1", "network");

	(void)state;
	assert_int_equal(all.rate_hz, 999);
	assert_true(nt_stage_clock_tells(&all, NT_OWNER_TASK));
	assert_true(nt_stage_clock_tells(&all, NT_OWNER_SOFTIRQ));
	assert_true(nt_stage_clock_tells(&all, NT_OWNER_RECV));
	assert_false(nt_stage_clock_tells(&all, NT_OWNER_HARDIRQ));
	assert_false(nt_stage_clock_tells(&all, NT_OWNER_UNCOVERED));
	assert_true(nt_stage_clock_tells(&network, NT_OWNER_NET_TX));
	assert_false(nt_stage_clock_tells(&network, NT_OWNER_TASK));
	/* A rate that cannot be read is not guessed. */
	assert_int_equal(nt_stage_clock_of("999", NULL).owners, NT_NETWORK_OWNERS);
	assert_int_equal(nt_stage_clock_of("100000", "all").rate_hz, 100000);
	static const char *const none[] = {
		NULL, "", "0", "100001", "-999", "999 ", "9.9", "0x10", "18446744073709551715"};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		const struct nt_stage_clock clock = nt_stage_clock_of(none[i], "all");

		assert_int_equal(clock.rate_hz, 0);
		assert_false(nt_stage_clock_tells(&clock, NT_OWNER_NET_RX));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
