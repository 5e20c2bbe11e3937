// SPDX-License-Identifier: GPL-2.0-only
/*
 * sampler.c - see sampler.h.
 */
#include "record/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/cpu_list.h"

#define ONLINE "/sys/devices/system/cpu/online"

/*
 * Each CPU's period, in ns, is longer than asked for by a part of its own, 0 to 0.1 %: neighbours differ by 0.037 % at
 * least. Clocks of one rate would keep the distance that they have from their start. Then a CPU that works with another
 * is sampled just after the other was interrupted, each time: a receiver that is in its tick needs no wake-up, and its
 * sender's samples would know nothing of wake-ups. So distances change by 0.37 ms a second and more.
 */
static uint64_t period_of(uint32_t cpu, unsigned int hz)
{
	const uint64_t period_ns = 1000000000 / hz;
	const uint32_t part = cpu * 633 % 1024; /* odd: 1,024 CPUs have as many parts */

	return period_ns + (period_ns * part >> 20);
}

static int open_clock(int cpu, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int nt_sampler_try(void)
{
	/* Some CPU that is online: the one that we are on. */
	int fd = open_clock(sched_getcpu(), 1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int start_clock(struct nt_sampler *sampler, uint32_t cpu)
{
	uint64_t period_ns = period_of(cpu, sampler->hz);
	int fd = open_clock((int)cpu, sampler->hz), error;

	if (fd < 0)
		return fd;
	/* Opened by its rate, since the kernel limits that; from there on it goes by its period. */
	if (!ioctl(fd, PERF_EVENT_IOC_PERIOD, &period_ns))
		sampler->links[cpu] = bpf_program__attach_perf_event(sampler->program, fd);
	if (sampler->links[cpu])
		return 0;
	error = -errno;
	close(fd);
	return error;
}

void nt_sampler_forget(struct nt_sampler *sampler, uint32_t cpu)
{
	if (cpu >= sampler->n_cpus)
		return;
	bpf_link__destroy(sampler->links[cpu]);
	sampler->links[cpu] = NULL;
}

int nt_sampler_follow_hotplug(struct nt_sampler *sampler)
{
	uint8_t *online = sampler->program ? calloc(sampler->n_cpus, 1) : NULL;
	int error;

	if (!sampler->program)
		return 0;
	error = online ? nt_read_cpu_list(ONLINE, online, sampler->n_cpus) : -ENOMEM;
	for (uint32_t cpu = 0; cpu < sampler->n_cpus && !error; cpu++) {
		if (!online[cpu])
			nt_sampler_forget(sampler, cpu);
		if (!sampler->links[cpu] && online[cpu])
			error = start_clock(sampler, cpu);
		/* It went since we looked: the next time will tell. */
		if (error == -ENODEV || error == -ENXIO)
			error = 0;
	}
	free(online);
	return error;
}

int nt_sampler_start(struct nt_sampler *sampler, struct bpf_program *program, uint32_t n_cpus, unsigned int hz)
{
	sampler->links = calloc(n_cpus, sizeof(struct bpf_link *));
	if (!sampler->links)
		return -ENOMEM;
	sampler->program = program;
	sampler->n_cpus = n_cpus;
	sampler->hz = hz;
	return nt_sampler_follow_hotplug(sampler);
}

void nt_sampler_release(struct nt_sampler *sampler)
{
	for (uint32_t cpu = 0; cpu < sampler->n_cpus && sampler->links; cpu++)
		nt_sampler_forget(sampler, cpu);
	free(sampler->links);
	memset(sampler, 0, sizeof(*sampler));
}
