/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - what the rows of events come to that check looks at: all of it in one pass over them (db/scan.h). Each
 * part is taken and judged in the file of its check. Memory is for CPUs, threads, stacks and snapshots.
 */
#pragma once

#include "report/rows/tables.h"
#include "report/util/id_map.h"
#include "schema/event.h"

/* cpus.c */
struct nt_check_cpu {
	uint64_t slices, overlaps, gaps;
	int64_t next_ns; /* where the next slice must begin */
	int64_t sum_ns;
	int64_t owned_ns[NT_OWNER_COUNT];
	bool started;
};
struct nt_check_cpus {
	struct nt_check_cpu *cpus;
	size_t size;
	int64_t n;
	uint64_t strange; /* slices of no CPU, owner or time */
};

/* threads.c */
struct nt_check_thread {
	int64_t ts, end_ns; /* of its last stay on a CPU */
};
struct nt_check_threads {
	struct nt_check_thread *all;
	size_t n, size;
	struct nt_id_map by_utid; /* index + 1 */
	uint64_t stays, overlaps;
	uint64_t handovers; /* overlaps with the stay that a main thread ended with: another may have its id by then */
	bool needs_sorting; /* stays of a thread do not come in the order of time, or overlap */
};

/* operations.c: what operations sum to, by sock_op or by sock_cost; or the time of their slices. */
struct nt_check_ops {
	int64_t ops, cpu_ns, sent, received;
};
/* Of a part: those that are inside it, and those at its edges, of which only some of the time is. */
struct nt_check_part_ops {
	struct nt_check_ops inside, at_edges;
	int64_t slices_ns; /* of send and recv, cut to the part */
};

/* softirqs.c: counts by snapshot, CPU and vector: those begun while it was taken, and those begun between it and the
 * next. */
struct nt_check_softirqs {
	struct nt_check_snapshot {
		int64_t begin_ns, end_ns;
	} * snapshots;
	size_t n_snapshots, snapshots_size;
	struct nt_id_map during, after;
	uint64_t compared, from_below, wrong;
	/* Of the CPU and vector at hand, at the snapshot before: whether none (1) or one (2) can have been counted and
	 * not begun. */
	int64_t cpu;
	int vec;
	unsigned int ahead;
};

/* counters.c */
struct nt_check_latencies {
	int64_t n; /* samples of the way up */
	int64_t known, stepped; /* of these: whose latency is known; in doubt, because the clock was stepped */
	int64_t by_hook[NT_HOOK_COUNT];
};
struct nt_check_wakeups {
	int64_t waking, fresh; /* of threads that slept, and of new ones */
};
struct nt_check_stacks {
	struct nt_id_map known; /* whose frames are there */
	int64_t samples, in_programs, failed, lost; /* ... that could not be unwound; whose frames are not there */
};

struct nt_check_events {
	struct nt_check_cpus cpus;
	struct nt_check_threads threads;
	struct nt_check_ops ops;
	struct nt_check_part_ops part_ops;
	struct nt_check_softirqs softirqs;
	struct nt_check_latencies latencies;
	struct nt_check_wakeups wakeups;
	struct nt_check_stacks stacks;
};
