/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hierarchy.h - in which hierarchy of cgroups the containers are. Version 2 has one for all; where controllers are of
 * version 1, as on hybrid hosts, a process has a cgroup in each of several.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/shared.h"

/* The one of the controller `memory`, which runtimes give each container; without that controller, the one of `cpu`. */
struct nt_hierarchy {
	enum nt_cgroups_of of;
	uint32_t number; /* as the kernel counts hierarchies; 0: version 2's */
};

/* Asks the kernel (/proc/cgroups). One that does not tell has version 2's. */
struct nt_hierarchy nt_hierarchy_ask(void);
/* "memory" or "cpu"; NULL: version 2. */
const char *nt_hierarchy_controller(const struct nt_hierarchy *hierarchy);
/*
 * Opens the directory where it is mounted, whole if there is such a mount, else a part, and writes the path; the caller
 * closes it. -ENOENT: nowhere that the recorder sees.
 */
int nt_hierarchy_open(const struct nt_hierarchy *hierarchy, char *where, size_t size);
/* Whether an open directory is the root of its hierarchy, and not of a part that is mounted, as in a namespace. */
bool nt_hierarchy_is_whole(int fd);
