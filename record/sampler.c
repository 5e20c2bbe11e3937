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
#include <sys/syscall.h>
#include <unistd.h>

#include "record/cpu_list.h"

#define ONLINE "/sys/devices/system/cpu/online"

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
	int fd = open_clock((int)cpu, sampler->hz), error;

	if (fd < 0)
		return fd;
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
