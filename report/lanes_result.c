// SPDX-License-Identifier: GPL-2.0-only
/*
 * lanes_result.c - the part of lanes_result.h that finds: one pass through the slices for lanes; two for the worst, one
 * that looks for the windows and one that looks at them; and one more where there is uncovered time.
 */
#include "report/lanes_result.h"

#include <string.h>

uint64_t nt_lanes_worst_whole(const struct nt_lanes_result *result, const struct nt_lanes_worst *worst)
{
	return result->choice->window_ns * worst->lanes.n;
}

struct nt_lanes_part nt_lanes_worst_part(const struct nt_lanes_result *result, const struct nt_lanes_worst *worst,
					 struct nt_selection *one_cpu)
{
	struct nt_lanes_part part = result->part;

	part.from_ts = worst->lanes.from_ts;
	part.to_ts = worst->lanes.to_ts;
	if (result->choice->each_cpu) {
		*one_cpu = *part.selection;
		one_cpu->n_cpus = 1;
		one_cpu->cpus[0].first = one_cpu->cpus[0].last = (uint32_t)worst->window.curve;
		part.selection = one_cpu;
	}
	return part;
}

static int add_to_lanes(void *arg, const struct nt_lane_slice *slice)
{
	return nt_lanes_add(arg, slice);
}

/* ---- the worst ---- */

struct searching {
	unsigned int kinds;
	bool each_cpu;
	bool has_uncovered; /* there is time of which nobody knows whose it was */
	struct nt_worst worst;
};

static int add_to_worst(void *arg, const struct nt_lane_slice *slice)
{
	struct searching *searching = arg;

	searching->has_uncovered |= slice->kind == NT_OWNER_UNCOVERED;
	if (!(searching->kinds >> slice->kind & 1))
		return 0;
	return nt_worst_add(&searching->worst, searching->each_cpu ? slice->cpu : 0, slice->ts, slice->ts + slice->dur);
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

/* Up to `most` windows. Gives how many, or -1 and db->error. */
static int search(const struct nt_lanes_result *result, struct searching *searching, struct nt_worst_window *windows,
		  unsigned int most)
{
	int n = -1;

	searching->each_cpu = result->choice->each_cpu;
	nt_worst_init(&searching->worst, result->part.from_ts, result->part.to_ts, result->choice->window_ns);
	if (!nt_lanes_scan(&result->part, add_to_worst, searching)) {
		n = nt_worst_find(&searching->worst, windows, most);
		if (n < 0)
			snprintf(result->part.db->error, sizeof(result->part.db->error), "out of memory.");
	}
	nt_worst_release(&searching->worst);
	return n < 0 ? -1 : n;
}

/* Where records were lost, a worse window may be: as bad as if all of that time was what is looked for, and no worse.
 */
static int find_bound(struct nt_lanes_result *result, const struct searching *found)
{
	const unsigned int uncovered = 1u << NT_OWNER_UNCOVERED;
	struct searching searching = {.kinds = found->kinds | uncovered};
	struct nt_worst_window window;
	int n;

	result->at_most_ns = result->n_worst ? result->worst[0].window.ns : 0;
	if (!found->has_uncovered || found->kinds & uncovered)
		return 0;
	n = search(result, &searching, &window, 1);
	if (n > 0)
		result->at_most_ns = window.ns;
	return n < 0 ? -1 : 0;
}

static int find_windows(struct nt_lanes_result *result)
{
	struct searching searching = {.kinds = result->choice->worst_kinds};
	struct nt_worst_window windows[NT_WORST_MAX];
	int n = search(result, &searching, windows, result->choice->top);

	for (int i = 0; i < n; i++)
		result->worst[i].window = windows[i];
	result->n_worst = n < 0 ? 0 : (unsigned int)n;
	return n < 0 ? -1 : find_bound(result, &searching);
}

/* What was in them. Only as much of the recording is read as they lie in. */
static int read_windows(struct nt_lanes_result *result, uint32_t columns)
{
	struct nt_lanes_part part = result->part;
	int error = 0;

	part.from_ts = INT64_MAX;
	part.to_ts = 0;
	for (unsigned int i = 0; i < result->n_worst; i++) {
		int64_t begin = result->worst[i].window.ts;
		int64_t end = (int64_t)((uint64_t)begin + result->choice->window_ns);

		nt_lanes_init(&result->worst[i].lanes, begin, end, i ? 1 : columns);
		part.from_ts = begin < part.from_ts ? begin : part.from_ts;
		part.to_ts = end > part.to_ts ? end : part.to_ts;
	}
	if (result->n_worst)
		error = nt_lanes_scan(&part, add_to_windows, result);
	for (unsigned int i = 0; i < result->n_worst; i++)
		nt_lanes_order(&result->worst[i].lanes);
	return error;
}

/* ---- all ---- */

int nt_lanes_find(struct nt_lanes_result *result, uint32_t columns)
{
	int error;

	nt_lanes_init(&result->lanes, result->part.from_ts, result->part.to_ts, result->choice->worst ? 1 : columns);
	if (result->choice->worst)
		return find_windows(result) || read_windows(result, columns) ? -1 : 0;
	error = nt_lanes_scan(&result->part, add_to_lanes, &result->lanes);
	nt_lanes_order(&result->lanes);
	return error;
}

void nt_lanes_result_release(struct nt_lanes_result *result)
{
	nt_lanes_release(&result->lanes);
	for (unsigned int i = 0; i < result->n_worst; i++)
		nt_lanes_release(&result->worst[i].lanes);
}
