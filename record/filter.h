/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter.h - the filters of probe `latency`: process, device, network namespace, cgroup, queue length and sampling
 * probability. Names become the kernel's numbers before the recording; the BPF programs do the choosing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/shared.h"
#include "schema/block.h"

struct nt_filter {
	uint32_t pids[NT_FILTER_PIDS], n_pids;
	const char *devices[NT_FILTER_DEVICES]; /* names; the command line's own */
	uint64_t device_keys[NT_FILTER_DEVICES]; /* once resolved */
	uint32_t n_devices;
	const char *netns_text, *cgroup_path; /* NULL: not asked for */
	uint32_t netns; /* inode; 0: any */
	uint64_t cgroup; /* 0: any */
	uint32_t cgroup_level; /* below the root of the hierarchy */
	uint32_t min_queue;
	double sample; /* the probability; 0: not asked for, all */
	const char *sample_text;
};

/* Adds a process id, a device's name. False: it is none, or there are too many. */
bool nt_filter_add_pid(struct nt_filter *filter, const char *text);
bool nt_filter_add_device(struct nt_filter *filter, const char *name);
/* Takes a number of packets, a probability above 0 and not above 1. False: it is none. */
bool nt_filter_set_min_queue(struct nt_filter *filter, const char *text);
bool nt_filter_set_sample(struct nt_filter *filter, const char *text);

/* Asks the system for what was named. 0; else a negative errno and a sentence with the remedy in `message`. */
int nt_filter_resolve(struct nt_filter *filter, char *message, size_t size);
/* NT_KNOWS_*: what must be known where a packet is looked at. */
unsigned int nt_filter_must_know(const struct nt_filter *filter);
/* Whether anything but all is asked for. */
bool nt_filter_is_set(const struct nt_filter *filter);
/* Fills in the programs' configuration. */
void nt_filter_configure(const struct nt_filter *filter, struct nt_latency_config *config);
/* Lets each program on each CPU begin somewhere else in the gaps between samples. */
void nt_filter_spread(const struct nt_latency_config *config, struct nt_cpu *cpus, uint32_t n_cpus);
/* The lines of the tape's meta block. 0 or -ENOMEM. */
int nt_filter_describe(const struct nt_filter *filter, struct nt_buf *out);
