// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter_test.c - which packets are asked for: numbers and names as they are typed, what they stand for on this host,
 * and what the programs and the tape are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "record/filter.h"
#include "record/plan.h"
#include "tests/support/scratch.h"

/* As if this were the host's first namespace of process numbers: there they are looked up. */
ssize_t readlink(const char *path, char *to, size_t size)
{
	static const char first[] = "pid:[4026531836]";

	if (strcmp(path, "/proc/self/ns/pid") != 0)
		return syscall(SYS_readlinkat, AT_FDCWD, path, to, size);
	assert_true(size > sizeof(first));
	memcpy(to, first, sizeof(first) - 1);
	return sizeof(first) - 1;
}

/* Files below this directory are of the cgroup2 hierarchy. */
static const char *cgroups;

int statfs(const char *path, struct statfs *type)
{
	int error = (int)syscall(SYS_statfs, path, type);

	if (!error && cgroups && !strncmp(path, cgroups, strlen(cgroups)))
		type->f_type = 0x63677270;
	return error;
}

static struct nt_filter filter;
static char message[512];

static int set_up(void **state)
{
	(void)state;
	memset(&filter, 0, sizeof(filter));
	message[0] = 0;
	return 0;
}

/* ---- as typed ---- */

static void takes_process_ids(void **state)
{
	static const char *const bad[] = {"", "0", "-1", "x", "1x", "2147483648", "99999999999999999999", "1,2"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(nt_filter_add_pid(&filter, bad[i]));
	assert_int_equal(filter.n_pids, 0);
	assert_true(nt_filter_add_pid(&filter, "1"));
	assert_true(nt_filter_add_pid(&filter, "2147483647"));
	assert_int_equal(filter.n_pids, 2);
	assert_int_equal(filter.pids[0], 1);
	assert_int_equal(filter.pids[1], 2147483647);
	for (int i = 2; i < NT_FILTER_PIDS; i++)
		assert_true(nt_filter_add_pid(&filter, "7"));
	assert_false(nt_filter_add_pid(&filter, "7"));
	assert_int_equal(filter.n_pids, NT_FILTER_PIDS);
}

static void takes_device_names(void **state)
{
	(void)state;
	assert_false(nt_filter_add_device(&filter, ""));
	assert_false(nt_filter_add_device(&filter, "a-name-of-16-let"));
	assert_int_equal(filter.n_devices, 0);
	assert_true(nt_filter_add_device(&filter, "a-name-of-15-le"));
	assert_int_equal(filter.n_devices, 1);
	assert_string_equal(filter.devices[0], "a-name-of-15-le");
	for (int i = 1; i < NT_FILTER_DEVICES; i++)
		assert_true(nt_filter_add_device(&filter, "eth0"));
	assert_false(nt_filter_add_device(&filter, "eth0"));
	assert_int_equal(filter.n_devices, NT_FILTER_DEVICES);
}

static void takes_probabilities(void **state)
{
	static const char *const bad[] = {"", "0", "-0.5", "1.000001", "2", "0.0000009", "0.5x", "x", "nan"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(nt_filter_set_sample(&filter, bad[i]));
	assert_true(nt_filter_set_sample(&filter, "0.000001"));
	assert_true(nt_filter_set_sample(&filter, "1"));
	assert_true(nt_filter_set_sample(&filter, "0.25"));
	assert_true(filter.sample == 0.25);
	assert_string_equal(filter.sample_text, "0.25");
}

static void takes_queue_lengths(void **state)
{
	(void)state;
	assert_false(nt_filter_set_min_queue(&filter, "-1"));
	assert_false(nt_filter_set_min_queue(&filter, "4294967296"));
	assert_true(nt_filter_set_min_queue(&filter, "4294967295"));
	assert_int_equal(filter.min_queue, UINT32_MAX);
	assert_true(nt_filter_set_min_queue(&filter, "0"));
	assert_int_equal(filter.min_queue, 0);
}

/* ---- what the names stand for ---- */

static void resolves(void)
{
	int error = nt_filter_resolve(&filter, message, sizeof(message));

	if (error)
		fail_msg("%s: %s", strerror(-error), message);
}

static void is_refused(int error, const char *part)
{
	assert_int_equal(nt_filter_resolve(&filter, message, sizeof(message)), error);
	if (!strstr(message, part))
		fail_msg("'%s' does not say '%s'", message, part);
}

static uint32_t inode_of(const char *path)
{
	struct stat found;

	assert_int_equal(stat(path, &found), 0);
	return (uint32_t)found.st_ino;
}

static void nothing_asked_is_nothing_resolved(void **state)
{
	(void)state;
	resolves();
	assert_int_equal(filter.netns, 0);
	assert_int_equal(filter.cgroup, 0);
}

static void finds_network_namespaces(void **state)
{
	char text[32], dir[SCRATCH_MAX], fifo[2 * SCRATCH_MAX];
	uint32_t own = inode_of("/proc/self/ns/net");

	(void)state;
	filter.netns_text = "/proc/self/ns/net";
	resolves();
	assert_int_equal(filter.netns, own);
	snprintf(text, sizeof(text), "%u", own);
	filter.netns = 0;
	filter.netns_text = text;
	resolves();
	assert_int_equal(filter.netns, own);

	/* A namespace of another kind, a file of another kind, nothing at all; a number that no namespace has. */
	filter.netns_text = "/proc/self/ns/uts";
	is_refused(-EINVAL, "/proc/self/ns/uts is not a network namespace");
	filter.netns_text = "/proc/self/status";
	is_refused(-EINVAL, "/proc/self/status is not a network namespace");
	filter.netns_text = "/proc/self/nothing";
	is_refused(-EINVAL, "/proc/self/nothing is not a network namespace");
	/* Nothing of another kind is opened: this would wait for a writer for ever. */
	scratch_make(dir);
	assert_int_equal(mkfifo(scratch_path(fifo, dir, "fifo"), 0600), 0);
	filter.netns_text = fifo;
	alarm(60);
	is_refused(-EINVAL, "/fifo is not a network namespace");
	alarm(0);
	scratch_remove(dir);
	filter.netns_text = "17";
	is_refused(-ENOENT, "no process and no mount has a network namespace with the inode 17");
	snprintf(text, sizeof(text), "%u", inode_of("/proc/self/ns/uts"));
	filter.netns_text = text;
	is_refused(-ENOENT, "no process and no mount has a network namespace");
}

static void finds_devices(void **state)
{
	uint32_t netns = inode_of("/proc/self/ns/net"), lo = if_nametoindex("lo");

	(void)state;
	assert_true(nt_filter_add_device(&filter, "lo"));
	if (lo) {
		resolves();
		assert_true(filter.device_keys[0] == nt_device_key(netns, lo));
		assert_true(filter.device_keys[1] == 0);
	}
	assert_true(nt_filter_add_device(&filter, "no-such-device"));
	is_refused(-ENODEV, "there is no network device no-such-device in this network namespace");
	assert_non_null(strstr(message, "--netns chooses another namespace"));
}

/* A directory of ours stands for a cgroup and one below it: not every host has the hierarchy. */
static void finds_cgroups(void **state)
{
	char below[] = "/tmp/filter-test-XXXXXX/below", *path = below;
	uint32_t level;

	(void)state;
	filter.cgroup_path = "/proc";
	is_refused(-EINVAL, "/proc is not a cgroup of version 2: ");
	filter.cgroup_path = "/nothing";
	is_refused(-EINVAL, "/nothing is not a cgroup of version 2: ");

	path[strlen(path) - strlen("/below")] = 0;
	assert_non_null(mkdtemp(path));
	cgroups = path;
	filter.cgroup_path = path;
	resolves();
	assert_true(filter.cgroup == inode_of(path));
	level = filter.cgroup_level;
	assert_true(level > 0);
	path[strlen(path)] = '/';
	assert_int_equal(mkdir(path, 0700), 0);
	resolves();
	assert_true(filter.cgroup == inode_of(path));
	assert_int_equal(filter.cgroup_level, level + 1);
	assert_int_equal(rmdir(path), 0);
	fclose(fopen(path, "w"));
	is_refused(-EINVAL, "/below is not a cgroup of version 2: ");
	unlink(path);
	filter.cgroup_path = "/";
	cgroups = "/";
	resolves();
	assert_int_equal(filter.cgroup_level, 0);
	cgroups = NULL;
	path[strlen(path) - strlen("/below")] = 0;
	rmdir(path);
}

static void *sleep_as_thread(void *arg)
{
	int *fds = arg;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	assert_int_equal(write(fds[1], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(read(fds[2], &byte, 1), 0);
	return NULL;
}

static void finds_processes(void **state)
{
	int fds[4];
	char text[32], wanted[96];
	pthread_t thread;
	pid_t tid;

	(void)state;
	snprintf(text, sizeof(text), "%d", getpid());
	assert_true(nt_filter_add_pid(&filter, text));
	resolves();

	assert_int_equal(pipe(fds) || pipe(fds + 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_as_thread, fds), 0);
	assert_int_equal(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	snprintf(text, sizeof(text), "%d", tid);
	assert_true(nt_filter_add_pid(&filter, text));
	snprintf(wanted, sizeof(wanted), "%d is a thread of process %d: -p needs the process", tid, getpid());
	is_refused(-ESRCH, wanted);
	close(fds[3]);
	pthread_join(thread, NULL);
	close(fds[0]);
	close(fds[1]);
	close(fds[2]);

	filter.n_pids = 1;
	assert_true(nt_filter_add_pid(&filter, "2147483647"));
	is_refused(-ESRCH, "there is no process 2147483647");
}

/* ---- what programs and tape are told ---- */

static struct nt_latency_config config;

static void configure(void)
{
	memset(&config, 0, sizeof(config));
	nt_filter_configure(&filter, &config);
}

static void is_set_by_each(void **state)
{
	static const struct {
		struct nt_filter filter;
		unsigned int must_know;
		bool is_filtered, is_sampled;
	} cases[] = {
		{{.n_pids = 1}, NT_KNOWS_TASK, true, false},
		{{.n_devices = 1}, 0, true, false},
		{{.netns_text = "5", .netns = 5}, 0, true, false},
		{{.cgroup_path = "/c", .cgroup = 9}, NT_KNOWS_TASK, true, false},
		{{.min_queue = 3}, NT_KNOWS_QUEUE, true, false},
		{{.sample_text = "0.5", .sample = 0.5}, 0, false, true},
		{{.sample_text = "1", .sample = 1}, 0, false, false},
		{{.n_pids = 1, .min_queue = 3}, NT_KNOWS_TASK | NT_KNOWS_QUEUE, true, false},
	};

	(void)state;
	assert_false(nt_filter_is_set(&filter));
	assert_int_equal(nt_filter_must_know(&filter), 0);
	configure();
	assert_false(config.is_filtered || config.is_sampled || config.by_pid || config.by_device);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		filter = cases[i].filter;
		configure();
		assert_true(nt_filter_is_set(&filter));
		assert_int_equal(nt_filter_must_know(&filter), cases[i].must_know);
		assert_int_equal(config.is_filtered, cases[i].is_filtered);
		assert_int_equal(config.is_sampled, cases[i].is_sampled);
		assert_int_equal(config.by_pid, filter.n_pids != 0);
		assert_int_equal(config.by_device, filter.n_devices != 0);
	}
}

static void programs_are_told(void **state)
{
	(void)state;
	filter.netns = 5;
	filter.min_queue = 6;
	filter.cgroup = 7;
	filter.cgroup_level = 8;
	configure();
	assert_int_equal(config.netns, 5);
	assert_int_equal(config.min_queue, 6);
	assert_int_equal(config.cgroup, 7);
	assert_int_equal(config.cgroup_level, 8);
}

/* The least gap of which `part` of all are not greater: counted up, as far as that is quick. */
static double gap_at(double part, double p)
{
	double longer = 1 - p;

	for (uint32_t gap = 1; gap < 10000; gap++, longer *= 1 - p) {
		if (1 - longer >= part)
			return gap;
	}
	return ceil(log(1 - part) / log(1 - p));
}

static int compare_gaps(const void *a, const void *b)
{
	const uint32_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

/* In order, each lies in its own slice of the distribution; the last slice has no end. */
static void each_gap_has_its_slice(const uint32_t *shuffled, double p)
{
	uint32_t gaps[NT_GAPS];

	memcpy(gaps, shuffled, sizeof(gaps));
	qsort(gaps, NT_GAPS, sizeof(gaps[0]), compare_gaps);
	for (int i = 0; i < NT_GAPS; i++) {
		double least = gap_at((double)i / NT_GAPS, p), most = gap_at((double)(i + 1) / NT_GAPS, p);

		if (gaps[i] < least || (i + 1 < NT_GAPS && gaps[i] > most))
			fail_msg("gap %d of p = %g is %u, not %g to %g", i, p, gaps[i], least, most);
	}
}

/* One of each slice of what is likely, so their mean is nearly 1 / p each time; shuffled, so no CPU sees them rise. */
static void gaps_are_geometric(void **state)
{
	static const double ps[] = {0.5, 0.1, 0.01, 0.000001};

	(void)state;
	for (size_t k = 0; k < sizeof(ps) / sizeof(ps[0]); k++) {
		double sum = 0;
		int n_ones = 0, n_rises = 0;

		filter.sample = ps[k];
		configure();
		for (int i = 0; i < NT_GAPS; i++) {
			assert_true(config.gaps[i] >= 1);
			sum += config.gaps[i];
			n_ones += config.gaps[i] == 1;
			n_rises += i && config.gaps[i] >= config.gaps[i - 1];
		}
		assert_true(sum / NT_GAPS * ps[k] > 0.95 && sum / NT_GAPS * ps[k] < 1.05);
		/* P(1) = p. */
		assert_true(n_ones <= NT_GAPS * ps[k] + 2 && n_ones >= NT_GAPS * ps[k] - 2);
		assert_true(n_rises < NT_GAPS * 9 / 10);
		each_gap_has_its_slice(config.gaps, ps[k]);
	}
}

static void cpus_begin_in_different_gaps(void **state)
{
	static struct nt_cpu cpus[3];
	struct nt_gaps before;
	int n_same = 0;

	(void)state;
	filter.sample = 0.001;
	configure();
	memset(cpus, 0, sizeof(cpus));
	nt_filter_spread(&config, cpus, 2);
	for (int cpu = 0; cpu < 2; cpu++)
		for (int i = 0; i < NT_LATENCY_COUNT; i++) {
			const struct nt_gaps *gaps = &cpus[cpu].gaps;

			assert_true(gaps->gap[i] >= 1);
			assert_int_equal(gaps->left[i], gaps->gap[i]);
			assert_int_equal(gaps->gap[i], config.gaps[gaps->at[i] & (NT_GAPS - 1)]);
			n_same += gaps->at[i] == cpus[0].gaps.at[0];
		}
	assert_true(n_same < 3);
	/* Nor are they the same at the next recording. */
	srand(1);
	nt_filter_spread(&config, cpus, 2);
	before = cpus[0].gaps;
	srand(1);
	nt_filter_spread(&config, cpus, 2);
	assert_memory_not_equal(before.at, cpus[0].gaps.at, sizeof(before.at));
	for (int i = 0; i < NT_LATENCY_COUNT; i++)
		assert_int_equal(cpus[2].gaps.gap[i], 0);
}

static void is_described(const char *text)
{
	struct nt_buf out = {};

	assert_int_equal(nt_filter_describe(&filter, &out), 0);
	assert_int_equal(out.size, strlen(text));
	assert_memory_equal(out.size ? out.data : (const uint8_t *)"", text, out.size);
	nt_buf_release(&out);
}

static void tape_is_told(void **state)
{
	struct nt_buf out = {};

	(void)state;
	is_described("");
	filter = (struct nt_filter){
		.pids = {11, 12},
		.n_pids = 2,
		.devices = {"eth0", "lo"},
		.device_keys = {5ull << 32 | 2, 6ull << 32 | 1},
		.n_devices = 2,
		.netns_text = "/run/netns/blue",
		.netns = 77,
		.cgroup_path = "/sys/fs/cgroup/x",
		.cgroup = 99,
		.min_queue = 10,
		.sample = 0.25,
		.sample_text = "0.25",
	};
	is_described("latency_sample=0.25\n"
		     "latency_filter=pid 11\n"
		     "latency_filter=pid 12\n"
		     "latency_filter=device eth0 (index 2, network namespace 5)\n"
		     "latency_filter=device lo (index 1, network namespace 6)\n"
		     "latency_filter=network namespace 77 (/run/netns/blue)\n"
		     "latency_filter=cgroup /sys/fs/cgroup/x and those below it\n"
		     "latency_filter=at least 10 packets in the socket's queue\n");
	filter.netns_text = "two\nlines";
	assert_int_equal(nt_filter_describe(&filter, &out), -EINVAL);
	nt_buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_process_ids, set_up),
		cmocka_unit_test_setup(takes_device_names, set_up),
		cmocka_unit_test_setup(takes_probabilities, set_up),
		cmocka_unit_test_setup(takes_queue_lengths, set_up),
		cmocka_unit_test_setup(nothing_asked_is_nothing_resolved, set_up),
		cmocka_unit_test_setup(finds_network_namespaces, set_up),
		cmocka_unit_test_setup(finds_devices, set_up),
		cmocka_unit_test_setup(finds_cgroups, set_up),
		cmocka_unit_test_setup(finds_processes, set_up),
		cmocka_unit_test_setup(is_set_by_each, set_up),
		cmocka_unit_test_setup(programs_are_told, set_up),
		cmocka_unit_test_setup(gaps_are_geometric, set_up),
		cmocka_unit_test_setup(cpus_begin_in_different_gaps, set_up),
		cmocka_unit_test_setup(tape_is_told, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
