// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - the part of result.h that finds: one pass through the slices for lanes; two for the worst, one
 * that looks for the windows and one that looks at them.
 */
#include "report/query/cpus/result.h"

#include <errno.h>
#include <stdlib.h>

#include "report/util/array.h"

uint64_t nt_lanes_worst_whole(const struct nt_lanes_result *result, const struct nt_lanes_worst *worst)
{
	return result->choice->window_ns * worst->lanes.n;
}

/* The window as a part of its own. */
static struct nt_part part_of(const struct nt_lanes_result *result, struct nt_lanes_worst *worst)
{
	struct nt_part part = result->part;

	part.from_ts = worst->lanes.from_ts;
	part.to_ts = worst->lanes.to_ts;
	if (result->choice->each_cpu) {
		worst->selection = *part.selection;
		worst->selection.n_cpus = 1;
		worst->selection.cpus[0].first = worst->selection.cpus[0].last = (uint32_t)worst->window.curve;
		part.selection = &worst->selection;
	}
	return part;
}

/* ---- reading ---- */

static int add_op(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;
	int error = result->choice->worst ? 0 : nt_lanes_beside_op(&result->beside, row);

	for (unsigned int i = 0; i < result->n_worst && !error; i++)
		error = nt_lanes_beside_op(&result->worst[i].beside, row);
	return error;
}

static int add_softirq(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;
	int error = result->choice->worst ? 0 : nt_lanes_beside_softirq(&result->beside, row);

	for (unsigned int i = 0; i < result->n_worst && !error; i++)
		error = nt_lanes_beside_softirq(&result->worst[i].beside, row);
	return error;
}

/* Reads slices, and what happened beside them. Names of threads will be asked for. */
static int scan(struct nt_lanes_result *result, bool with_beside, struct nt_lanes_reading *slices)
{
	const struct nt_scan_reader readers[] = {
		nt_lanes_reader(slices),
		{NT_TABLE_SOCK_OP, 0, add_op, result},
		{NT_TABLE_SOFTIRQ_SLICE, 0, add_softirq, result},
	};
	const struct nt_part *part = &result->part;
	int error = nt_scan_all(part->db, part->session->id, true, readers, with_beside ? NT_COUNT(readers) : 1);

	return error ? nt_lanes_fail(part, error, "slices") : 0;
}

static int add_to_lanes(void *arg, const struct nt_lane_slice *slice)
{
	return nt_lanes_add(arg, slice);
}

/* ---- the worst ---- */

/* A stretch of time of which nobody knows whose it was. */
struct uncovered {
	uint64_t curve;
	int64_t begin_ts, end_ts;
};

struct searching {
	const struct nt_lanes_choice *choice;
	struct nt_worst worst;
	struct uncovered *uncovered;
	size_t n, size;
};

static int keep_uncovered(struct searching *searching, uint64_t curve, const struct nt_lane_slice *slice)
{
	if (NT_ROOM(searching->uncovered, searching->size, searching->n + 1))
		return -ENOMEM;
	searching->uncovered[searching->n++] = (struct uncovered){curve, slice->ts, slice->ts + slice->dur};
	return 0;
}

static int add_to_worst(void *arg, const struct nt_lane_slice *slice)
{
	struct searching *searching = arg;
	uint64_t curve = searching->choice->each_cpu ? slice->cpu : 0;

	if (searching->choice->worst_kinds >> slice->kind & 1)
		return nt_worst_add(&searching->worst, curve, slice->ts, slice->ts + slice->dur);
	return slice->kind == NT_OWNER_UNCOVERED ? keep_uncovered(searching, curve, slice) : 0;
}

static int add_to_windows(void *arg, const struct nt_lane_slice *slice)
{
	struct nt_lanes_result *result = arg;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];

		if (!result->choice->each_cpu || worst->window.curve == slice->cpu)
			error = nt_lanes_add(&worst->lanes, slice);
	}
	return error;
}

/* Where records were lost, a worse window may be: as bad as if all of that time was what is looked for, and no worse.
 */
static int find_bound(struct nt_lanes_result *result, struct searching *searching)
{
	struct nt_worst_window window = {.ns = result->n_worst ? result->worst[0].window.ns : 0};
	int n = 0;

	for (size_t i = 0; i < searching->n && !n; i++) {
		const struct uncovered *uncovered = &searching->uncovered[i];

		n = nt_worst_add(&searching->worst, uncovered->curve, uncovered->begin_ts, uncovered->end_ts);
	}
	if (!n && searching->n)
		n = nt_worst_find(&searching->worst, &window, 1);
	result->at_most_ns = window.ns;
	return n;
}

/* 0, or an error: -ENOMEM. */
static int find_all(struct nt_lanes_result *result, struct searching *searching)
{
	struct nt_worst_window windows[NT_WORST_MAX];
	int n = nt_worst_find(&searching->worst, windows, result->choice->top);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		result->worst[i].window = windows[i];
	result->n_worst = (unsigned int)n;
	n = find_bound(result, searching);
	return n < 0 ? n : 0;
}

static int find_windows(struct nt_lanes_result *result)
{
	struct searching searching = {.choice = result->choice};
	int error;

	nt_worst_init(&searching.worst, result->part.from_ts, result->part.to_ts, result->choice->window_ns);
	error = scan(result, false, &(struct nt_lanes_reading){&result->filter, add_to_worst, &searching});
	if (!error && find_all(result, &searching))
		error = nt_db_no_memory(result->part.db);
	nt_worst_release(&searching.worst);
	free(searching.uncovered);
	return error;
}

/* What was in them. */
static int read_windows(struct nt_lanes_result *result, uint32_t columns)
{
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];
		int64_t end = (int64_t)((uint64_t)worst->window.ts + result->choice->window_ns);

		nt_lanes_init(&worst->lanes, worst->window.ts, end, i ? 1 : columns);
		worst->beside = (struct nt_lanes_beside){.part = part_of(result, worst), .filter = &result->filter};
	}
	if (result->n_worst)
		error = scan(result, true, &(struct nt_lanes_reading){&result->filter, add_to_windows, result});
	for (unsigned int i = 0; i < result->n_worst; i++)
		nt_lanes_order(&result->worst[i].lanes);
	return error;
}

/* ---- all ---- */

int nt_lanes_find(struct nt_lanes_result *result, uint32_t columns)
{
	int error;

	nt_lanes_init(&result->lanes, result->part.from_ts, result->part.to_ts, result->choice->worst ? 1 : columns);
	result->beside = (struct nt_lanes_beside){.part = result->part, .filter = &result->filter};
	if (nt_lanes_filter_init(&result->filter, &result->part))
		return -1;
	if (result->choice->worst)
		return find_windows(result) || read_windows(result, columns) ? -1 : 0;
	error = scan(result, true, &(struct nt_lanes_reading){&result->filter, add_to_lanes, &result->lanes});
	nt_lanes_order(&result->lanes);
	return error;
}

void nt_lanes_result_release(struct nt_lanes_result *result)
{
	nt_lanes_filter_release(&result->filter);
	nt_lanes_release(&result->lanes);
	nt_lanes_beside_release(&result->beside);
	for (unsigned int i = 0; i < result->n_worst; i++) {
		nt_lanes_release(&result->worst[i].lanes);
		nt_lanes_beside_release(&result->worst[i].beside);
	}
}
