// SPDX-License-Identifier: GPL-2.0-only
/*
 * energy_test.c - the energy counters of a sysfs that is made here: two packages, a part, another driver's zone of the
 * same name, one without a name, and one that cannot be read. Counters begin anew behind their range, and are set back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/energy.h"
#include "tests/support/scratch.h"
#include "tests/support/failing_memory.h"

static char sys[SCRATCH_MAX];
static struct nt_energy energy;
static struct nt_buf text;

/* A file, and the directories above it. It stays the same file when it is written again. */
static void write_file(const char *name, const char *content)
{
	char path[2 * SCRATCH_MAX];
	int fd;

	scratch_path(path, sys, name);
	for (char *at = path + strlen(sys) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		mkdir(path, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static void zone(const char *directory, const char *name, const char *counter)
{
	char path[SCRATCH_MAX];

	snprintf(path, sizeof(path), "class/powercap/%s/energy_uj", directory);
	write_file(path, counter);
	snprintf(path, sizeof(path), "class/powercap/%s/max_energy_range_uj", directory);
	write_file(path, "1000000\n");
	snprintf(path, sizeof(path), "class/powercap/%s/name", directory);
	if (name)
		write_file(path, name);
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(sys);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_energy_release(&energy);
	nt_buf_release(&text);
	scratch_remove(sys);
	return 0;
}

static void opens(void)
{
	assert_int_equal(nt_energy_open(&energy, sys), 0);
}

static void prints(const char *lines)
{
	text.size = 0;
	assert_int_equal(nt_energy_print(&energy, &text), 0);
	assert_int_equal(nt_buf_append(&text, "", 1), 0);
	assert_string_equal((char *)text.data, lines);
}

static void names_zones(void **state)
{
	(void)state;
	write_file("class/powercap/intel-rapl/enabled", "1\n"); /* no zone: the driver */
	zone("intel-rapl:0", "package-0\n", "500000\n");
	zone("intel-rapl:0:0", "core\n", "7\n");
	zone("intel-rapl:0:1", "dram\n", "0\n");
	zone("intel-rapl:1", "package-1\n", "1\n");
	zone("intel-rapl:1:0", "core\n", "7\n");
	zone("intel-rapl:2", "psys\n", "1\n");
	zone("intel-rapl:3", NULL, "1\n");
	zone("intel-rapl:4", "psys\n", "1\n");
	zone("intel-rapl-mmio:0", "package-0\n", "1\n");
	zone("sub driver:0", "in side\n", "1\n");
	opens();
	assert_null(nt_energy_uncovered(&energy));
	write_file("class/powercap/intel-rapl:0/energy_uj", "500321\n");
	write_file("class/powercap/intel-rapl:1:0/energy_uj", "9\n");
	prints("intel-rapl-mmio/package-0 0\npackage-0 321\npackage-0.core 0\npackage-0.dram 0\npackage-1 0\n"
	       "package-1.core 2\npsys 0\nintel-rapl:3 0\nintel-rapl:4 0\nsub_driver/in_side 0\n");
}

static void counts_behind_the_range(void **state)
{
	(void)state;
	zone("intel-rapl:0", "package-0\n", "900000\n");
	opens();
	write_file("class/powercap/intel-rapl:0/energy_uj", "100000\n");
	prints("package-0 200000\n");
	/* Set back: it has not gone all around. */
	write_file("class/powercap/intel-rapl:0/energy_uj", "5\n");
	prints("package-0 200005\n");
	write_file("class/powercap/intel-rapl:0/energy_uj", "no number\n");
	prints("");
	write_file("class/powercap/intel-rapl:0/energy_uj", "18446744073709551616\n");
	prints("");
	write_file("class/powercap/intel-rapl:0/energy_uj", "6\n");
	prints("package-0 200006\n");
}

/* Without a range it is not known where a counter begins anew. */
static void counts_without_a_range(void **state)
{
	(void)state;
	zone("intel-rapl:0", "package-0\n", "900000\n");
	write_file("class/powercap/intel-rapl:0/max_energy_range_uj", "?\n");
	opens();
	write_file("class/powercap/intel-rapl:0/energy_uj", "300\n");
	prints("package-0 300\n");
}

static void says_what_is_missing(void **state)
{
	(void)state;
	opens();
	assert_non_null(strstr(nt_energy_uncovered(&energy), "this host has no counter"));
	nt_energy_release(&energy);
	zone("intel-rapl:0", "package-0\n", "1\n");
	zone("intel-rapl:1", "package-1\n", "");
	opens();
	assert_non_null(strstr(nt_energy_uncovered(&energy), "intel-rapl:1/energy_uj: Input/output error."));
	prints("package-0 0\n");
}

static void tells_packages(void **state)
{
	static const char *const files[] = {
		"0/topology/physical_package_id", "0/topology/die_id",	"0/topology/core_id",
		"2/topology/physical_package_id", "2/topology/core_id", "3/topology/die_id"};
	char path[SCRATCH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char number[] = {(char)('1' + i), '\n', 0};

		snprintf(path, sizeof(path), "devices/system/cpu/cpu%s", files[i]);
		write_file(path, number);
	}
	assert_int_equal(nt_energy_print_cpus(sys, 4, &text), 0);
	assert_int_equal(nt_buf_append(&text, "", 1), 0);
	assert_string_equal((char *)text.data, "0 package=1 die=2 core=3\n2 package=4 core=5\n");
}

static void no_memory(void **state)
{
	(void)state;
	zone("intel-rapl:0", "package-0\n", "1\n");
	failing_size = 16 * sizeof(struct nt_energy_zone);
	assert_int_equal(nt_energy_open(&energy, sys), -ENOMEM);
	failing_size = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_zones, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_behind_the_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_without_a_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_what_is_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tells_packages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
