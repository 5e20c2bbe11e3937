/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * energy.h - the host's energy counters, as the powercap files of sysfs tell them, and which package each CPU is of.
 * The files stay open, so that a reading takes one call for each counter.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/block.h"

#define NT_ZONE_NAME_MAX 80

struct nt_energy_zone {
	char name[NT_ZONE_NAME_MAX];
	int fd;
	uint64_t range_uj; /* the counter begins anew behind it; 0: not known */
	uint64_t counter_uj; /* as it was read last */
	uint64_t sum_uj; /* since it was opened: never falls */
};

/* Zero-initialised is empty. */
struct nt_energy {
	struct nt_energy_zone *zones;
	size_t n, capacity;
	char uncovered[256];
};

/*
 * Opens all counters below `sys`, where sysfs is. A counter is named as its zone, behind the zone that it is a part of:
 * "package-0", "package-0.dram", "psys". One that is not of intel-rapl (which AMD's have too) has its driver's name
 * before it: "intel-rapl-mmio/package-0". 0 or -ENOMEM. Owner frees with nt_energy_release.
 */
int nt_energy_open(struct nt_energy *energy, const char *sys);
void nt_energy_release(struct nt_energy *energy);
/* A sentence on what is not told; NULL: nothing is missing. Good as long as `energy` is. */
const char *nt_energy_uncovered(const struct nt_energy *energy);
/* Reads all counters and adds lines "ZONE MICROJOULES", counted since they were opened. 0 or -ENOMEM. */
int nt_energy_print(struct nt_energy *energy, struct nt_buf *text);
/*
 * Adds lines "CPU package=N die=N core=N" of CPUs 0 to n_cpus - 1, as `sys` tells: one that is offline has no line. 0
 * or -ENOMEM.
 */
int nt_energy_print_cpus(const char *sys, uint32_t n_cpus, struct nt_buf *text);
