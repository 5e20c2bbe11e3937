// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler_test.c - the clocks of probe stacks: one for each CPU that is online, as CPUs come and go; and what is left
 * after a failure. The kernel's side is made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "record/sampler.h"
#include "tests/support/fake_files.h"

#define ONLINE "/sys/devices/system/cpu/online"
#define N_CPUS 6

static struct {
	/* what a test asks for */
	int failing_cpu, open_errno, period_errno, attach_errno;
	/* what has been seen */
	char opened[64], destroyed[64]; /* CPUs, in order */
	unsigned int hz;
	uint64_t period_ns[N_CPUS];
	int last_fd;
} host;

static struct bpf_program *const program = (struct bpf_program *)&host;
static int cpu_of_fd[1024];

static int open_clock(const struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	assert_int_equal(attr->size, sizeof(*attr));
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->config, PERF_COUNT_SW_CPU_CLOCK);
	assert_true(attr->freq && attr->disabled);
	assert_int_equal(pid, -1);
	assert_int_equal(group, -1);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	host.hz = (unsigned int)attr->sample_freq;
	if (host.open_errno && cpu == host.failing_cpu) {
		errno = host.open_errno;
		return -1;
	}
	snprintf(host.opened + strlen(host.opened), 8, "%d ", cpu);
	host.last_fd = memfd_create("clock", MFD_CLOEXEC);
	assert_in_range(host.last_fd, 0, 1023);
	cpu_of_fd[host.last_fd] = cpu;
	return host.last_fd;
}

long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long args[5]; /* none of ours has six */
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 5; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open)
		return open_clock((const struct perf_event_attr *)args[0], (int)args[1], (int)args[2], (int)args[3],
				  (unsigned long)args[4]);
	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "syscall");
	return next(number, args[0], args[1], args[2], args[3], args[4]);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list list;

	assert_int_equal(request, PERF_EVENT_IOC_PERIOD);
	va_start(list, request);
	host.period_ns[cpu_of_fd[fd]] = *va_arg(list, const uint64_t *);
	va_end(list);
	errno = host.period_errno;
	return host.period_errno ? -1 : 0;
}

int sched_getcpu(void)
{
	return 3;
}

/* A link is its descriptor + 1. */
struct bpf_link *bpf_program__attach_perf_event(const struct bpf_program *of, int fd)
{
	assert_ptr_equal(of, program);
	errno = host.attach_errno;
	return host.attach_errno ? NULL : (struct bpf_link *)(intptr_t)(fd + 1);
}

int bpf_link__destroy(struct bpf_link *link)
{
	int fd = (int)(intptr_t)link - 1;

	if (!link)
		return 0;
	snprintf(host.destroyed + strlen(host.destroyed), 8, "%d ", cpu_of_fd[fd]);
	return close(fd);
}

/* ---- tests ---- */

static struct nt_sampler sampler;
static struct fake_file files[] = {{ONLINE, ""}, {}};

static int set_up(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	files[0].text = "0,2-3\n";
	fake_files = files;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_sampler_release(&sampler);
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void starts_the_clocks_of_cpus_that_are_online(void **state)
{
	(void)state;
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), 0);
	assert_string_equal(host.opened, "0 2 3 ");
	assert_int_equal(host.hz, 97);
	for (int cpu = 0; cpu < N_CPUS; cpu++)
		assert_int_equal(sampler.links[cpu] != NULL, cpu == 0 || cpu == 2 || cpu == 3);
	/* They go on. */
	assert_int_equal(nt_sampler_follow_hotplug(&sampler), 0);
	assert_string_equal(host.opened, "0 2 3 ");
	assert_string_equal(host.destroyed, "");
	nt_sampler_release(&sampler);
	assert_string_equal(host.destroyed, "0 2 3 ");
	assert_null(sampler.links);
	assert_int_equal(sampler.n_cpus, 0);
}

static void follows_cpus_that_come_and_go(void **state)
{
	(void)state;
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), 0);
	files[0].text = "1-2,5\n";
	assert_int_equal(nt_sampler_follow_hotplug(&sampler), 0);
	assert_string_equal(host.opened, "0 2 3 1 5 ");
	assert_string_equal(host.destroyed, "0 3 ");
	assert_null(sampler.links[0]);
	assert_null(sampler.links[3]);
	assert_non_null(sampler.links[2]);
	/* One that has been away meanwhile gets a new one. */
	nt_sampler_forget(&sampler, 2);
	assert_string_equal(host.destroyed, "0 3 2 ");
	assert_null(sampler.links[2]);
	nt_sampler_forget(&sampler, N_CPUS);
	nt_sampler_forget(&sampler, 4);
	assert_int_equal(nt_sampler_follow_hotplug(&sampler), 0);
	assert_string_equal(host.opened, "0 2 3 1 5 2 ");
}

static void each_clock_has_a_period_of_its_own(void **state)
{
	(void)state;
	files[0].text = "0-5\n";
	for (unsigned int hz = 1; hz <= 10000; hz *= 10) {
		const uint64_t asked_ns = 1000000000 / hz;

		assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, hz), 0);
		for (int cpu = 0; cpu < N_CPUS; cpu++) {
			assert_in_range(host.period_ns[cpu], asked_ns, asked_ns + asked_ns / 1000);
			for (int other = 0; other < cpu; other++)
				assert_int_not_equal(host.period_ns[cpu], host.period_ns[other]);
		}
		nt_sampler_release(&sampler);
	}
}

/* It went between the list and its clock. */
static void leaves_out_a_cpu_that_has_just_gone(void **state)
{
	static const int errors[] = {ENODEV, ENXIO};

	(void)state;
	for (int i = 0; i < 2; i++) {
		set_up(NULL);
		host.failing_cpu = 2;
		host.open_errno = errors[i];
		assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), 0);
		assert_string_equal(host.opened, "0 3 ");
		host.open_errno = 0;
		assert_int_equal(nt_sampler_follow_hotplug(&sampler), 0);
		assert_string_equal(host.opened, "0 3 2 ");
		nt_sampler_release(&sampler);
	}
}

static void tells_of_failures(void **state)
{
	(void)state;
	host.failing_cpu = 2;
	host.open_errno = EMFILE;
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), -EMFILE);
	assert_string_equal(host.opened, "0 ");
	nt_sampler_release(&sampler);
	assert_string_equal(host.destroyed, "0 ");
	host.open_errno = 0;
	host.period_errno = ENOTTY;
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), -ENOTTY);
	assert_false(is_open(host.last_fd));
	nt_sampler_release(&sampler);
	host.period_errno = 0;
	host.attach_errno = EPERM;
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), -EPERM);
	assert_false(is_open(host.last_fd));
	nt_sampler_release(&sampler);
	files[0].text = NULL;
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), -ENOENT);
}

static void without_a_program_there_are_none(void **state)
{
	(void)state;
	files[0].text = NULL;
	assert_int_equal(nt_sampler_follow_hotplug(&sampler), 0);
	nt_sampler_forget(&sampler, 0);
	assert_string_equal(host.opened, "");
}

static void tries_one(void **state)
{
	(void)state;
	assert_int_equal(nt_sampler_try(), 0);
	assert_string_equal(host.opened, "3 ");
	assert_int_equal(host.hz, 1);
	assert_false(is_open(host.last_fd));
}

static void tells_why_there_can_be_none(void **state)
{
	(void)state;
	host.failing_cpu = 3;
	host.open_errno = EACCES;
	assert_int_equal(nt_sampler_try(), -EACCES);
}

/* Whoever has closed standard input gets its number. */
static void a_clock_may_be_number_0(void **state)
{
	(void)state;
	close(STDIN_FILENO);
	errno = EPERM;
	assert_int_equal(nt_sampler_try(), 0);
	assert_int_equal(host.last_fd, 0);
	assert_false(is_open(0));
	files[0].text = "1\n";
	assert_int_equal(nt_sampler_start(&sampler, program, N_CPUS, 97), 0);
	assert_int_equal(host.last_fd, 0);
	assert_non_null(sampler.links[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(starts_the_clocks_of_cpus_that_are_online),
		TEST(each_clock_has_a_period_of_its_own),
		TEST(follows_cpus_that_come_and_go),
		TEST(leaves_out_a_cpu_that_has_just_gone),
		TEST(tells_of_failures),
		TEST(without_a_program_there_are_none),
		TEST(tries_one),
		TEST(tells_why_there_can_be_none),
		TEST(a_clock_may_be_number_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
