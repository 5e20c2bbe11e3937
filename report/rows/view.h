/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view.h - which part of a recording is looked at, as if nothing else had been recorded: a window is a session. The
 * rules of what belongs to a view stand here, and nowhere else (docs/sql-schema.md, Windows). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The times and CPUs that are asked for. */
struct nt_view {
	uint64_t from_ns, to_ns; /* from_ns <= ts < to_ns; both 0: all of the recording; to_ns UINT64_MAX: to its end */
	const uint8_t *cpus; /* a flag for each of the tape's n_cpus, must outlive the view; NULL: all */
};

static inline bool nt_view_is_timed(const struct nt_view *view)
{
	return view->from_ns || view->to_ns;
}

static inline bool nt_view_is_part(const struct nt_view *view)
{
	return nt_view_is_timed(view) || view->cpus;
}

/* The time that a view has of a recording. Sums are in buckets that begin with it. */
struct nt_view_time {
	uint64_t from_ns, to_ns; /* within the recording; from_ns <= to_ns */
	bool begins, ends; /* with the recording: then whatever is told of the time before, or behind, belongs to it */
	uint64_t buckets_ns; /* when the buckets of its sums begin; not after from_ns */
};

static inline struct nt_view_time nt_view_time(const struct nt_view *view, uint64_t start_ns, uint64_t end_ns)
{
	struct nt_view_time time = {start_ns, end_ns, true, true, start_ns};

	if (!nt_view_is_timed(view))
		return time;
	time.from_ns = view->from_ns < start_ns ? start_ns : view->from_ns < end_ns ? view->from_ns : end_ns;
	time.to_ns = view->to_ns > end_ns ? end_ns : view->to_ns > time.from_ns ? view->to_ns : time.from_ns;
	time.begins = view->from_ns <= start_ns;
	time.ends = view->to_ns >= end_ns;
	time.buckets_ns = time.from_ns;
	return time;
}

/* Whether what happened then belongs to the view. An operation belongs to the view that it ended in, and to no other.
 */
static inline bool nt_view_has(const struct nt_view_time *time, uint64_t ts_ns)
{
	return (ts_ns >= time->from_ns || time->begins) && (ts_ns < time->to_ns || time->ends);
}

/* Leaves of a stretch of time what lies in the view. False: nothing. */
static inline bool nt_view_clip(const struct nt_view_time *time, uint64_t *ts_ns, uint64_t *dur_ns)
{
	const uint64_t before_ns = *ts_ns < time->from_ns ? time->from_ns - *ts_ns : 0;

	*ts_ns += before_ns;
	*dur_ns = *dur_ns > before_ns ? *dur_ns - before_ns : 0;
	if (*ts_ns >= time->to_ns || *dur_ns > time->to_ns - *ts_ns)
		*dur_ns = time->to_ns > *ts_ns ? time->to_ns - *ts_ns : 0;
	return *dur_ns;
}
