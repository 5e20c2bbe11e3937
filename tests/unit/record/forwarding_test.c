// SPDX-License-Identifier: GPL-2.0-only
/*
 * forwarding_test.c - whether a network namespace forwards (record/forwarding.h), each time in a new one; and that all
 * namespaces are found (record/netns.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/forwarding.h"
#include "record/netns.h"

#define IPV4 "echo 1 >/proc/sys/net/ipv4/conf/lo/forwarding"

static void needs_namespaces(void)
{
	if (system("unshare -n sh -c '" IPV4 "' 2>/dev/null")) {
		print_message("no network namespace can be made, or not set up, here\n");
		skip();
	}
}

/* A new namespace has the settings of the host, which may forward, such as for containers. */
#define FORWARDS_NOTHING "for all in /proc/sys/net/ipv[46]/conf/all/forwarding; do echo 0 >$all; done"

static const struct {
	const char *commands;
	bool forwards;
} settings[] = {
	{"true", false},
	{"echo 1 >/proc/sys/net/ipv4/conf/lo/proxy_arp", false},
	{IPV4, true},
	{"echo 1 >/proc/sys/net/ipv4/conf/default/forwarding", true},
	{"echo 1 >/proc/sys/net/ipv6/conf/lo/forwarding", true},
	{"ip link add br0 type bridge && ip link add ve0 type veth peer name ve1", false},
	{"ip link add br0 type bridge && ip link add ve0 type veth peer name ve1 && ip link set ve0 master br0", true},
	{"ip link add vr0 type vrf table 9 && ip link add ve0 type veth peer name ve1 && ip link set ve0 master vr0",
	 false},
	{"tc qdisc add dev lo root pfifo", false},
	{"tc qdisc add dev lo clsact", true},
	{"tc qdisc add dev lo ingress", true},
};

static void namespaces_that_forward(void **state)
{
	(void)state;
	needs_namespaces();
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		char command[256];

		assert_int_equal(unshare(CLONE_NEWNET), 0);
		snprintf(command, sizeof(command), "{ " FORWARDS_NOTHING "; %s; } 2>/dev/null", settings[i].commands);
		if (system(command)) {
			print_message("this kernel cannot: %s\n", settings[i].commands);
			continue;
		}
		if (nt_netns_may_forward() != settings[i].forwards)
			fail_msg("%s: it must be said to %s", settings[i].commands,
				 settings[i].forwards ? "forward" : "forward nothing");
	}
}

struct count {
	uint32_t inode;
	int n;
};

static bool counts(const char *path, uint32_t inode, void *context)
{
	struct count *count = context;

	(void)path;
	count->n += inode == count->inode;
	return false;
}

static char mounted[] = "/tmp/nettape-netns-XXXXXX";

/* Mounts the namespace on a file, for this process alone. */
static void keep_by_mount(const char *path)
{
	char command[256];
	int file = mkstemp(mounted);

	assert_true(file >= 0);
	close(file);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	snprintf(command, sizeof(command), "mount --make-rprivate / && mount --bind %s %s", path, mounted);
	assert_int_equal(system(command), 0);
}

/* The namespace is a child's alone; then only a mount keeps it. */
static void namespaces_of_others(void **state)
{
	uint32_t own = 0, there = 0;
	struct count count = {0};
	char path[64], told;
	int pipes[2];
	pid_t child;

	(void)state;
	needs_namespaces();
	assert_true(nt_is_netns("/proc/self/ns/net", &own));
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!unshare(CLONE_NEWNET) && !system(IPV4) && write(pipes[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_true(child > 0);
	assert_int_equal(read(pipes[0], &told, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", child);
	assert_true(nt_is_netns(path, &there));
	assert_true(there != own);
	assert_true(nt_host_may_forward());
	count.inode = there;
	assert_true(nt_each_netns(counts, &count) <= 0);
	assert_int_equal(count.n, 1);
	count = (struct count){own, 0};
	assert_true(nt_each_netns(counts, &count) <= 0);
	assert_int_equal(count.n, 1);
	keep_by_mount(path);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	count = (struct count){there, 0};
	assert_true(nt_each_netns(counts, &count) <= 0);
	assert_int_equal(count.n, 1);
	assert_true(nt_host_may_forward());
	assert_int_equal(umount(mounted), 0);
	assert_int_equal(unlink(mounted), 0);
	assert_true(nt_is_netns("/proc/self/ns/net", &there));
	assert_int_equal(there, own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(namespaces_of_others),
		cmocka_unit_test(namespaces_that_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
