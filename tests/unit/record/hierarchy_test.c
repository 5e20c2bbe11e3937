// SPDX-License-Identifier: GPL-2.0-only
/*
 * hierarchy_test.c - in which hierarchy of cgroups processes are, and where it is mounted, on hosts that are made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "record/hierarchy.h"
#include "tests/support/fake_files.h"

#define HEAD "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"

static const struct {
	const char *name, *cgroups; /* /proc/cgroups, or NULL */
	struct nt_hierarchy hierarchy;
} hosts[] = {
	{"no cgroups at all", NULL, {NT_CGROUPS_V2, 0}},
	{"version 2", HEAD "cpu\t0\t90\t1\nmemory\t0\t90\t1\n", {NT_CGROUPS_V2, 0}},
	{"hybrid", HEAD "cpu\t4\t90\t1\ncpuacct\t4\t90\t1\nmemory\t12\t190\t1\n", {NT_CGROUPS_OF_MEMORY, 12}},
	/* As systemd mounts for old programs: memory is where containers are. */
	{"cpu of version 1 only", HEAD "cpu\t4\t9\t1\nmemory\t0\t90\t1\n", {NT_CGROUPS_V2, 0}},
	{"cgroup_disable=memory", HEAD "cpu\t4\t9\t1\nmemory\t0\t1\t0\n", {NT_CGROUPS_OF_CPU, 4}},
	{"a kernel without memory", HEAD "cpuset\t3\t9\t1\ncpu\t4\t9\t1\n", {NT_CGROUPS_OF_CPU, 4}},
	{"the same of version 2", HEAD "cpuset\t0\t9\t1\ncpu\t0\t9\t1\n", {NT_CGROUPS_V2, 0}},
	{"lines that are cut", HEAD "memory\t12\nmemory\t\n", {NT_CGROUPS_V2, 0}},
};

static void asks_where_containers_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		const struct fake_file files[] = {{"/proc/cgroups", hosts[i].cgroups}, {}};
		struct nt_hierarchy hierarchy;

		fake_files = files;
		hierarchy = nt_hierarchy_ask();
		print_message("%s\n", hosts[i].name);
		assert_int_equal(hierarchy.of, hosts[i].hierarchy.of);
		assert_int_equal(hierarchy.number, hosts[i].hierarchy.number);
	}
}

/* Where each is mounted on this host; NULL: nowhere. */
static void is_mounted(const char *mounts, enum nt_cgroups_of of, const char *expected)
{
	const struct nt_hierarchy hierarchy = {.of = of};
	const struct fake_file files[] = {{"/proc/self/mounts", mounts}, {}};
	char where[256] = "";
	int fd;

	fake_files = files;
	fd = nt_hierarchy_open(&hierarchy, where, sizeof(where));
	if (!expected) {
		assert_int_equal(fd, -ENOENT);
		return;
	}
	assert_true(fd >= 0);
	assert_string_equal(where, expected);
	close(fd);
}

static void finds_the_mount(void **state)
{
	static const char hybrid[] = "tmpfs / tmpfs rw 0 0\n"
				     "cgroup /usr cgroup rw,xattr,name=memory 0 0\n"
				     "cgroup /proc cgroup rw,cpuset 0 0\n"
				     "cgroup /sys cgroup rw,cpu,cpuacct 0 0\n"
				     "cgroup /none/such cgroup rw,memory 0 0\n"
				     "cgroup /dev cgroup rw,memory 0 0\n"
				     "cgroup2 /etc cgroup2 rw,memory_recursiveprot 0 0\n";

	(void)state;
	is_mounted(hybrid, NT_CGROUPS_V2, "/etc");
	is_mounted(hybrid, NT_CGROUPS_OF_MEMORY, "/dev");
	is_mounted(hybrid, NT_CGROUPS_OF_CPU, "/sys");
	/* The root of /proc has the number that a hierarchy's has, and that of /etc is like a part's. */
	is_mounted("cgroup2 /etc cgroup2 rw 0 0\ncgroup2 /proc cgroup2 rw 0 0\n", NT_CGROUPS_V2, "/proc");
	is_mounted("cgroup2 /etc cgroup2 rw 0 0\n", NT_CGROUPS_OF_MEMORY, NULL);
	is_mounted("cgroup /etc cgroup rw,memory 0 0\n", NT_CGROUPS_V2, NULL);
	is_mounted(NULL, NT_CGROUPS_V2, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_where_containers_are),
		cmocka_unit_test(finds_the_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
