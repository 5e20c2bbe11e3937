// SPDX-License-Identifier: GPL-2.0-only
/*
 * cut.c - see cut.h.
 */
#include "report/db/cut.h"

#include "report/rows/rollup.h"
#include "report/util/array.h"

void nt_cut_init(struct nt_cut *cut, const struct nt_tape *tape, const struct nt_load_window *window)
{
	const int64_t start = (int64_t)tape->start_ns, end = (int64_t)tape->end_ns, width = NT_BUCKET_NS;
	const int64_t over = (window->to_ts - start) % width;

	cut->session_ts = start;
	cut->window.from_ts = window->from_ts - (window->from_ts - start) % width;
	cut->window.to_ts = window->to_ts;
	if (over)
		cut->window.to_ts = end - window->to_ts > width - over ? window->to_ts + width - over : end;
}

/* The value of that column; NULL: it is NULL, or there is no such column. */
static struct nt_value *number(const struct nt_row *row, const char *column)
{
	struct nt_value *value = nt_row_value(row, column);

	return value && value->type == NT_VALUE_INTEGER ? value : NULL;
}

static bool is_in(const struct nt_cut *cut, int64_t ts, int64_t dur)
{
	const int64_t from = cut->window.from_ts;

	return ts < cut->window.to_ts && (dur > 0 ? ts >= from || dur > from - ts : ts >= from);
}

/* A row of several whole buckets that one slice fills: only those of the window. */
static void cut_cost(const struct nt_cut *cut, struct nt_value *ts, struct nt_value *dur, struct nt_value *spent)
{
	const int64_t end = ts->integer + dur->integer;
	const int64_t from = ts->integer > cut->window.from_ts ? ts->integer : cut->window.from_ts;
	const int64_t to = end < cut->window.to_ts ? end : cut->window.to_ts;

	if (to - from == dur->integer)
		return;
	ts->integer = from;
	dur->integer = spent->integer = to - from;
}

/* A charge of several buckets, the same for those who share them. Packets count in the first. */
static void cut_charge(struct nt_cut *cut, struct nt_value *ts, struct nt_value *dur)
{
	static const char *const times[] = {"spent_ns", "exact_ns", "most_ns"};
	static const char *const numbers[] = {"packets", "segments", "bytes"};
	const int64_t begin = ts->integer, whole = dur->integer;
	struct nt_value left = *dur;

	cut_cost(cut, ts, dur, &left);
	if (dur->integer == whole)
		return;
	for (size_t i = 0; i < NT_COUNT(times); i++) {
		int64_t *ns = &number(&cut->row, times[i])->integer;

		*ns = (int64_t)((__int128)*ns * dur->integer / whole);
	}
	for (size_t i = 0; i < NT_COUNT(numbers) && ts->integer != begin; i++)
		number(&cut->row, numbers[i])->integer = 0;
}

/* The session is its window: shares are shares of it, and whatever looks at all of the session looks at that. */
static void cut_session(const struct nt_cut *cut, struct nt_row *row)
{
	struct nt_value *realtime = number(row, "start_realtime_ns");

	if (realtime)
		realtime->integer += cut->window.from_ts - cut->session_ts;
	number(row, "start_ts")->integer = cut->window.from_ts;
	number(row, "end_ts")->integer = cut->window.to_ts;
	number(row, "dur")->integer = cut->window.to_ts - cut->window.from_ts;
}

const struct nt_row *nt_cut_row(struct nt_cut *cut, const struct nt_row *row)
{
	struct nt_value *ts, *dur;

	cut->row = *row;
	if (row->table == NT_TABLE_SESSION) {
		cut_session(cut, &cut->row);
		return &cut->row;
	}
	ts = number(&cut->row, "ts");
	dur = number(&cut->row, "dur");
	/* Counts of the recorder grow from its start, and clocks are compared over all of it. */
	if (!ts || row->table == NT_TABLE_SELF_COST || row->table == NT_TABLE_CLOCK_SNAPSHOT)
		return row;
	if (!is_in(cut, ts->integer, dur ? dur->integer : 0))
		return NULL;
	if (row->table == NT_TABLE_CPU_COST || row->table == NT_TABLE_ELSEWHERE_COST)
		cut_cost(cut, ts, dur, number(&cut->row, "spent_ns"));
	else if (row->table == NT_TABLE_RX_COST)
		cut_charge(cut, ts, dur);
	else
		return row;
	return &cut->row;
}
