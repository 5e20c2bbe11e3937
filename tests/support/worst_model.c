// SPDX-License-Identifier: GPL-2.0-only
/*
 * worst_model.c - see worst_model.h.
 */
#include "tests/support/worst_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

/* While stretches are being added, corners say how many more run from there on. */
#define BEGIN 1
#define END ((uint64_t)-1)

/* Where windows may begin yet, both ends included; and the worst of them. */
struct range {
	const struct nt_worst_model_curve *curve;
	int64_t first, last;
	struct nt_worst_window worst;
};

void nt_worst_model_init(struct nt_worst_model *worst, int64_t from_ts, int64_t to_ts, uint64_t length)
{
	*worst = (struct nt_worst_model){.from_ts = from_ts, .to_ts = to_ts, .length = length};
}

void nt_worst_model_release(struct nt_worst_model *worst)
{
	for (size_t i = 0; i < worst->n; i++)
		free(worst->curves[i].corners);
	free(worst->curves);
	nt_id_map_release(&worst->by_id);
	memset(worst, 0, sizeof(*worst));
}

static struct nt_worst_model_curve *find_curve(struct nt_worst_model *worst, uint64_t id)
{
	int64_t i = NT_INDEX(&worst->by_id, id, worst->curves, worst->size, worst->n, {.id = id});

	return i < 0 ? NULL : &worst->curves[i];
}

/* ---- the curve ---- */

/* How many stretches run at once from this corner to the next: a whole number. */
static uint64_t slope_after(const struct nt_worst_model_corner *corner)
{
	const uint64_t sum = corner[1].sum - corner->sum, length = (uint64_t)corner[1].ts - (uint64_t)corner->ts;

	/* A division takes long, and most often none or one runs. */
	return sum <= length ? sum == length : sum / length;
}

/* Where the run ends that begins at `at`: corners in the order of time. */
static size_t run_end(const struct nt_worst_model_corner *corners, size_t n, size_t at)
{
	for (at++; at < n && corners[at].ts >= corners[at - 1].ts; at++)
		continue;
	return at;
}

/* Two runs, one behind the other, into one. Of equal times those of the first come first. */
static void merge_runs(struct nt_worst_model_corner *to, const struct nt_worst_model_corner *one,
		       const struct nt_worst_model_corner *two, const struct nt_worst_model_corner *end)
{
	const struct nt_worst_model_corner *const middle = two;

	while (one < middle && two < end)
		*to++ = two->ts < one->ts ? *two++ : *one++;
	memcpy(to, one, (size_t)(middle - one) * sizeof(*to));
	memcpy(to + (middle - one), two, (size_t)(end - two) * sizeof(*to));
}

/* Merges each two runs that stand together. Gives how many there are then. */
static size_t merge_all(struct nt_worst_model_corner *to, const struct nt_worst_model_corner *from, size_t n)
{
	size_t runs = 0;

	for (size_t at = 0; at < n; runs++) {
		const size_t middle = run_end(from, n, at), end = middle < n ? run_end(from, n, middle) : n;

		merge_runs(to + at, from + at, from + middle, from + end);
		at = end;
	}
	return runs;
}

/* CPUs advance together, each in the order of time: so corners come as long runs, which are merged. 0 or -ENOMEM. */
static int sort_corners(struct nt_worst_model_curve *curve)
{
	struct nt_worst_model_corner *other, *from = curve->corners;
	size_t runs = curve->n;

	if (!curve->n || run_end(from, curve->n, 0) == curve->n)
		return 0;
	other = malloc(curve->size * sizeof(*other));
	if (!other)
		return -ENOMEM;
	while (runs > 1) {
		runs = merge_all(other, from, curve->n);
		curve->corners = other;
		other = from;
		from = curve->corners;
	}
	free(other);
	return 0;
}

/* From begins and ends to sums. Where as many begin as end there is no corner. 0 or -ENOMEM. */
static int finish_curve(struct nt_worst_model_curve *curve)
{
	uint64_t sum = 0, running = 0;
	size_t n = 0;

	if (curve->is_finished)
		return 0;
	if (sort_corners(curve))
		return -ENOMEM;
	curve->is_finished = true;
	for (size_t i = 0; i < curve->n;) {
		int64_t ts = curve->corners[i].ts;
		uint64_t change = 0;

		for (; i < curve->n && curve->corners[i].ts == ts; i++)
			change += curve->corners[i].sum;
		if (!change)
			continue;
		if (n)
			sum += running * ((uint64_t)ts - (uint64_t)curve->corners[n - 1].ts);
		running += change;
		curve->corners[n++] = (struct nt_worst_model_corner){.ts = ts, .sum = sum};
	}
	curve->n = n;
	return 0;
}

/* The reverse: from sums to how many more run from each corner on, which may be several at once. */
static void reopen_curve(struct nt_worst_model_curve *curve)
{
	uint64_t running = 0;

	if (!curve->is_finished)
		return;
	curve->is_finished = false;
	for (size_t i = 0; i < curve->n; i++) {
		uint64_t slope = i + 1 < curve->n ? slope_after(&curve->corners[i]) : 0;

		curve->corners[i].sum = slope - running;
		running = slope;
	}
}

int nt_worst_model_add(struct nt_worst_model *worst, uint64_t id, int64_t begin_ts, int64_t end_ts)
{
	struct nt_worst_model_curve *curve;
	struct nt_worst_model_corner *last;

	if (begin_ts < worst->from_ts)
		begin_ts = worst->from_ts;
	if (end_ts > worst->to_ts)
		end_ts = worst->to_ts;
	if (begin_ts >= end_ts)
		return 0;
	curve = find_curve(worst, id);
	if (!curve || NT_ROOM(curve->corners, curve->size, curve->n + 2))
		return -ENOMEM;
	reopen_curve(curve);
	last = curve->n ? &curve->corners[curve->n - 1] : NULL;
	if (last && last->ts == begin_ts && last->sum == END) {
		last->ts = end_ts; /* what begins where the last one ended is more of the same */
		return 0;
	}
	curve->corners[curve->n++] = (struct nt_worst_model_corner){.ts = begin_ts, .sum = BEGIN};
	curve->corners[curve->n++] = (struct nt_worst_model_corner){.ts = end_ts, .sum = END};
	return 0;
}

/* The number of corners at or before ts. */
static size_t corners_until(const struct nt_worst_model_curve *curve, int64_t ts)
{
	return NT_COUNT_BEFORE(curve->n, i, curve->corners[i].ts > ts);
}

/* The curve at ts, of which `before` corners are at or before it. */
static uint64_t sum_at(const struct nt_worst_model_curve *curve, size_t before, int64_t ts)
{
	const struct nt_worst_model_corner *left;

	if (!before)
		return 0;
	left = &curve->corners[before - 1];
	if (before == curve->n)
		return left->sum;
	return left->sum + slope_after(left) * ((uint64_t)ts - (uint64_t)left->ts);
}

/* How far it is from ts to the next corner. */
static uint64_t to_next(const struct nt_worst_model_curve *curve, size_t before, int64_t ts)
{
	return before == curve->n ? UINT64_MAX : (uint64_t)curve->corners[before].ts - (uint64_t)ts;
}

/* The worst window that begins in the range: tries its ends, and wherever an end of the window is at a corner. */
static void search(const struct nt_worst_model *worst, struct range *range)
{
	const struct nt_worst_model_curve *curve = range->curve;
	int64_t ts = range->first, end = (int64_t)((uint64_t)ts + worst->length);
	size_t left = corners_until(curve, ts), right = corners_until(curve, end);

	range->worst = (struct nt_worst_window){.curve = curve->id, .ts = ts};
	for (;;) {
		uint64_t ns = sum_at(curve, right, end) - sum_at(curve, left, ts);
		uint64_t step = to_next(curve, left, ts), of_right = to_next(curve, right, end);
		uint64_t rest = (uint64_t)range->last - (uint64_t)ts;

		if (ns > range->worst.ns) {
			range->worst.ns = ns;
			range->worst.ts = ts;
		}
		if (!rest)
			return;
		step = step < of_right ? step : of_right;
		step = step < rest ? step : rest;
		ts = (int64_t)((uint64_t)ts + step);
		end = (int64_t)((uint64_t)end + step);
		left += left < curve->n && curve->corners[left].ts <= ts;
		right += right < curve->n && curve->corners[right].ts <= end;
	}
}

/* ---- one after the other ---- */

static struct range *worst_range(struct range *ranges, size_t n)
{
	struct range *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct nt_worst_window *window = &ranges[i].worst;

		if (!found || window->ns > found->worst.ns ||
		    (window->ns == found->worst.ns &&
		     (window->ts < found->worst.ts ||
		      (window->ts == found->worst.ts && window->curve < found->worst.curve))))
			found = &ranges[i];
	}
	return found && found->worst.ns ? found : NULL;
}

/* Takes away the begins of windows that would overlap the range's worst: what is left of it are none, one or two. */
static size_t split(const struct nt_worst_model *worst, struct range *ranges, size_t n, struct range *taken)
{
	const struct range before = *taken;
	const int64_t ts = before.worst.ts;

	*taken = ranges[--n];
	if ((uint64_t)ts - (uint64_t)before.first >= worst->length) {
		ranges[n] = before;
		ranges[n].last = (int64_t)((uint64_t)ts - worst->length);
		search(worst, &ranges[n++]);
	}
	if ((uint64_t)before.last - (uint64_t)ts >= worst->length) {
		ranges[n] = before;
		ranges[n].first = (int64_t)((uint64_t)ts + worst->length);
		search(worst, &ranges[n++]);
	}
	return n;
}

int nt_worst_model_find(struct nt_worst_model *worst, struct nt_worst_window *windows, unsigned int most)
{
	struct range *ranges = malloc((worst->n + most + 1) * sizeof(*ranges)), *taken;
	unsigned int found = 0;
	int error = ranges ? 0 : -ENOMEM;
	size_t n;

	for (size_t i = 0; i < worst->n && !error; i++)
		error = finish_curve(&worst->curves[i]);
	if (error) {
		free(ranges);
		return error;
	}
	for (n = 0; n < worst->n; n++) {
		ranges[n] = (struct range){.curve = &worst->curves[n],
					   .first = worst->from_ts,
					   .last = (int64_t)((uint64_t)worst->to_ts - worst->length)};
		search(worst, &ranges[n]);
	}
	while (found < most && (taken = worst_range(ranges, n))) {
		windows[found++] = taken->worst;
		n = split(worst, ranges, n, taken);
	}
	free(ranges);
	return (int)found;
}
