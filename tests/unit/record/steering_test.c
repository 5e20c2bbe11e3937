// SPDX-License-Identifier: GPL-2.0-only
/* steering_test.c - masks of CPUs that packets are given to (record/steering.h), in files made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/steering.h"

static char directory[] = "/tmp/nettape-steering-XXXXXX";
static char pattern[64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(pattern, sizeof(pattern), "%s/rps-*", directory);
	return 0;
}

static void write_mask(int number, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/rps-%d", directory, number);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/rps-%d", directory, i);
		unlink(path);
	}
	return rmdir(directory);
}

static void finds_masks(void **state)
{
	(void)state;
	assert_false(nt_any_mask(pattern));
	write_mask(0, "0\n");
	write_mask(1, "00000000,00000000\n");
	assert_false(nt_any_mask(pattern));
	write_mask(2, "");
	assert_false(nt_any_mask(pattern));
	write_mask(1, "00000000,00000002\n");
	assert_true(nt_any_mask(pattern));
	write_mask(1, "c0000000,00000000\n");
	assert_true(nt_any_mask(pattern));
	write_mask(1, "0\n");
	write_mask(2, "f\n");
	assert_true(nt_any_mask(pattern));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finds_masks)};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
