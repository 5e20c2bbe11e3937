/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * proc_snapshot.h - from the texts that the recorder read (files of /proc and /sys, its own counters) to numbers. Pure:
 * text in, counters out through a callback. The text is hostile: whatever does not look as expected is counted and left
 * out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/block.h"

#define NT_COUNTER_NAME_MAX 96 /* with the terminator; a longer name makes its line a bad one */

struct nt_counter {
	int64_t cpu; /* -1: of no CPU */
	const char *program; /* nettape/programs: the BPF program; else NULL */
	const char *name; /* zero-terminated; good during the call */
	int64_t value;
};

/* A callback that gives non-zero stops the parsing, which gives that number. */
typedef int (*nt_counter_fn)(void *arg, const struct nt_counter *counter);

/*
 * Known snapshots: /proc/stat /proc/softirqs /proc/net/softnet_stat /proc/net/snmp /proc/net/sockstat
 * /proc/pressure/{cpu,io,memory,irq} /sys/class/powercap /sys/devices/system/cpu nettape/cpus nettape/programs
 * nettape/self. Of another one there are no counters. Adds to *bad_lines what it could not read. 0, or what the
 * callback gave.
 */
int nt_proc_snapshot_parse(const struct nt_proc_snapshot *snapshot, nt_counter_fn counter, void *arg,
			   uint64_t *bad_lines);
/* Whether the snapshot is about the recorder itself and not about the host: its rows are of self_cost. */
bool nt_proc_snapshot_is_self(const struct nt_proc_snapshot *snapshot);
