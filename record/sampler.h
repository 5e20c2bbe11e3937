/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler.h - the clocks of probe `stacks`: on each online CPU a software clock of the kernel (perf's cpu-clock),
 * which runs a program at each tick. It counts time, whether the CPU works or not. The clocks do not keep their
 * distance: each of 1,024 CPUs has a period of its own, up to 0.1 % longer than asked for. A CPU that goes offline
 * loses its clock, and one that comes online gets one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <bpf/libbpf.h>

struct nt_sampler {
	struct bpf_link **links; /* n_cpus; NULL: no clock there */
	uint32_t n_cpus;
	unsigned int hz;
	struct bpf_program *program;
};

/* Whether this kernel has such a clock: 0 or a negative errno. */
int nt_sampler_try(void);
/* Starts the clocks of all CPUs that are online. 0 or a negative errno; nt_sampler_release afterwards in any case. */
int nt_sampler_start(struct nt_sampler *sampler, struct bpf_program *program, uint32_t n_cpus, unsigned int hz);
/* Starts those of CPUs that have come since. 0 or a negative errno. */
int nt_sampler_follow_hotplug(struct nt_sampler *sampler);
/* This CPU has been away: its clock stands, and the next call of nt_sampler_follow_hotplug makes a new one. */
void nt_sampler_forget(struct nt_sampler *sampler, uint32_t cpu);
/* Safe on a zeroed or half-started one. */
void nt_sampler_release(struct nt_sampler *sampler);
