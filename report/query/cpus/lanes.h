/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lanes.h - a stretch of time, CPU by CPU, cut into cells: each owner's part of each cell, the totals, and the same by
 * thread. Pure: slices in, sums out; no SQL, no output. Every nanosecond of a slice is counted once: slices are clipped
 * at the edges of the stretch and cut at the borders of cells.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/timeline/timeline.h"
#include "report/util/id_map.h"

/* Whose time can be: an owner's, or of somebody that the question is not about. */
enum { NT_LANE_OTHER = NT_OWNER_COUNT, NT_LANE_KINDS };

#define NT_LANE_MAX_CPUS 8192 /* as many as Linux can have on x86-64; more are no recording */

struct nt_lane_slice {
	int64_t ts, dur; /* dur >= 0, and ts + dur is a time */
	uint32_t cpu;
	unsigned int kind; /* enum nt_owner, or NT_LANE_OTHER */
	int64_t utid; /* who was on the CPU; -1: not known */
};

struct nt_lane {
	uint32_t cpu;
	uint64_t total[NT_LANE_KINDS]; /* ns */
	uint64_t *cells; /* ns, [column * NT_LANE_KINDS + kind] */
	/* Where the last slice ended: the next one most likely begins there. */
	uint32_t column;
	int64_t column_ts, column_end;
};

/* A thread, and whose its time on CPUs was. */
struct nt_lane_who {
	int64_t utid;
	uint64_t ns[NT_LANE_KINDS];
};

struct nt_lanes {
	int64_t from_ts, to_ts;
	uint32_t columns;
	struct nt_lane *lanes;
	size_t n, size;
	struct nt_lane_who *who;
	size_t n_who, who_size;
	struct nt_id_map by_cpu, by_utid; /* index + 1 in the two arrays */
};

/* from_ts < to_ts; of columns there are at least 1, and no more than nanoseconds. Owner frees with nt_lanes_release. */
void nt_lanes_init(struct nt_lanes *lanes, int64_t from_ts, int64_t to_ts, uint32_t columns);
void nt_lanes_release(struct nt_lanes *lanes);
/* 0; -ENOMEM; -ERANGE: more CPUs than NT_LANE_MAX_CPUS. */
int nt_lanes_add(struct nt_lanes *lanes, const struct nt_lane_slice *slice);
/* When all are added: lanes by CPU, and who ran longest first. */
void nt_lanes_order(struct nt_lanes *lanes);

/* When a column begins; of one past the last, the end. */
int64_t nt_lanes_column_ts(const struct nt_lanes *lanes, uint32_t column);
/* The column that a time of the stretch lies in. */
uint32_t nt_lanes_column_of(const struct nt_lanes *lanes, int64_t ts);
/* Sums over kinds: `kinds` has a bit for each. */
uint64_t nt_lane_cell(const struct nt_lane *lane, uint32_t column, unsigned int kinds);
uint64_t nt_lane_sum(const uint64_t ns[NT_LANE_KINDS], unsigned int kinds);
/*
 * The owner with most of a cell; NT_LANE_KINDS: none had any. The network stack counts as one, so that it is not
 * outvoted for having four owners: if it had at least as much as any other, the greatest of the four.
 */
unsigned int nt_lane_most(const struct nt_lane *lane, uint32_t column);
/* Of all lanes. */
void nt_lanes_total(const struct nt_lanes *lanes, uint64_t total[NT_LANE_KINDS]);
/* How long it ran: all but idle. */
uint64_t nt_lane_who_ran(const struct nt_lane_who *who);

const char *nt_lane_kind_name(unsigned int kind);
/* The kinds that a word names: one owner, or `network`. 0: none. */
unsigned int nt_lane_kinds_of(const char *word);
