// SPDX-License-Identifier: GPL-2.0-only
/*
 * grow_text_test.c - the counters of snapshots on a tape that was made longer (tests/support/grow_text.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "schema/kind.h"
#include "tests/support/grow_text.h"

static struct text text_of(const char *string)
{
	return (struct text){string, strlen(string)};
}

static void assert_text(struct nt_buf *buf, const char *wanted)
{
	assert_int_equal(buf->size, strlen(wanted));
	assert_memory_equal(buf->data, wanted, buf->size);
	nt_buf_release(buf);
}

static void assert_grown(const char *text, const char *first, const char *last, uint64_t times, const char *wanted)
{
	struct nt_buf out = {0};

	grow_text(&out, text_of(text), text_of(first), text_of(last), times);
	assert_text(&out, wanted);
}

static void test_numbers_grow_by_place(void **state)
{
	(void)state;
	assert_grown("cpu  10 20\ncpu0 5 6\n", "cpu  10 20\ncpu0 5 6\n", "cpu  11 20\ncpu0 5 9\n", 2,
		     "cpu  12 20\ncpu0 5 12\n");
	assert_grown(" 7\n", "", " 7\n", 3, " 28\n");
	assert_grown("", "1", "2", 1, "");
}

static void test_named_numbers_grow_by_name(void **state)
{
	(void)state;
	assert_grown("p lost=1 runs=5\n", "", "p runs=7\n", 2, "p lost=1 runs=19\n");
	assert_grown("a=1\nb=1\n", "", "b=5\n", 1, "a=1\nb=1\n");
}

static void test_what_falls_or_is_no_number_stays(void **state)
{
	(void)state;
	assert_grown("running 3 x1 0x2 a= -4", "running 3 x1 0x2 a= -4", "running 1 x2 0x9 a= -1", 5,
		     "running 3 x1 0x2 a= -4");
}

#define SOFTIRQS(a, b, c, d) "   CPU0  CPU2\n TIMER: " #a " " #b "\n NET_RX: " #c " " #d "\n OTHER: 1 2\n"

static void test_softirqs(void **state)
{
	uint64_t more[3 * NT_VEC_COUNT] = {0};
	int64_t sums[3 * NT_VEC_COUNT] = {0};
	struct nt_buf out = {0};

	(void)state;
	more[0 * NT_VEC_COUNT + 1] = 100;
	more[2 * NT_VEC_COUNT + NT_VEC_NET_RX] = 1000;
	grow_softirqs(&out, text_of(SOFTIRQS(1, 2, 3, 4)), more, 3);
	assert_text(&out, SOFTIRQS(101, 2, 3, 1004));
	grow_softirqs(&out, text_of(SOFTIRQS(1, 2, 3, 4)), more, 2);
	assert_text(&out, SOFTIRQS(101, 2, 3, 4));

	read_softirqs(sums, text_of(SOFTIRQS(6, 2, 3, 14)), text_of(SOFTIRQS(1, 2, 3, 4)), 3);
	assert_int_equal(sums[0 * NT_VEC_COUNT + 1], 5);
	assert_int_equal(sums[2 * NT_VEC_COUNT + NT_VEC_NET_RX], 10);
	assert_int_equal(sums[2 * NT_VEC_COUNT + 1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_grow_by_place),
		cmocka_unit_test(test_named_numbers_grow_by_name),
		cmocka_unit_test(test_what_falls_or_is_no_number_stays),
		cmocka_unit_test(test_softirqs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
