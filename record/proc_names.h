/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * proc_names.h - names that the kernel side does not send: cgroup paths, interrupts, block devices, tasks whose
 * identity was lost. Reads /proc, sysfs and the mount of cgroups, never on the path of an event.
 */
#pragma once

#include "record/hierarchy.h"
#include "record/ids.h"
#include "record/net_irqs.h"

struct nt_proc_names {
	int cgroup_fd; /* where the hierarchy is mounted, or -1 */
	char cgroup_root[256];
};

/* For the cgroups of this hierarchy. */
void nt_proc_names_init(struct nt_proc_names *names, const struct nt_hierarchy *hierarchy);
void nt_proc_names_release(struct nt_proc_names *names);
/* A sentence if cgroups cannot be named; or NULL. */
const char *nt_proc_names_uncovered(const struct nt_proc_names *names);
/* Puts the names of all interrupts and vectors, and which are network devices'. 0 or -ENOMEM. */
int nt_proc_names_put_irqs(struct nt_ids *ids, uint64_t now_ns, const struct nt_net_irqs *net);
/* Puts the names of all block devices. 0 or -ENOMEM. */
int nt_proc_names_put_block_devices(struct nt_ids *ids, uint64_t now_ns);
/*
 * Looks up what has been referred to and not named since the call before: tasks in /proc, cgroups by their
 * handle. Once a second; an identity that was still in a ring replaces what was found. 0 or -ENOMEM.
 */
int nt_proc_names_resolve(struct nt_proc_names *names, struct nt_ids *ids, uint64_t now_ns);

/*
 * After the seeding, before the recording: which processes that are older than `seed_ns` are in /proc, but were not
 * among the tasks that the kernel listed. A hardened kernel hides them from the programs, and their time will be
 * uncovered. Writes a sentence into `text`, or "" if there are none. 0 or -ENOMEM.
 */
int nt_proc_names_hidden(const struct nt_ids *ids, uint64_t seed_ns, char *text, size_t size);
