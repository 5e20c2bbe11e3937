// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - the part of check that proves that no thread was on two CPUs at once. Stays of a thread stand in the
 * table in the order of time: so the last one's end is all that has to be remembered of it. Where they do not, or
 * overlap, they are sorted and looked at one by one.
 */
#include <stdlib.h>

#include "report/query/check/check.h"

/* A thread's next stay, in the order of time. True if the thread was on another CPU then. */
static bool follow(struct nt_check_threads *threads, struct nt_check_thread *thread, int64_t ts, int64_t dur)
{
	const bool overlaps = ts < thread->end_ns;

	threads->stays++;
	thread->ts = ts;
	if (__builtin_add_overflow(ts, dur, &thread->end_ns))
		thread->end_ns = INT64_MAX;
	return overlaps;
}

/* Whether a stay is one of those that are checked; cuts it to what is. */
static bool is_asked(struct nt_check *check, const struct nt_value *cpu, const struct nt_value *utid, int64_t *ts,
		     int64_t *dur)
{
	return !check->part || (nt_lanes_has_cpu(check->part, cpu) && nt_lanes_has_thread(&check->filter, utid) &&
				nt_check_clip(check, ts, dur));
}

int nt_check_take_stay(void *arg, const struct nt_row *stay)
{
	struct nt_check *check = arg;
	struct nt_check_threads *threads = &check->events.threads;
	const int64_t utid = nt_integer(NT_VALUE(stay, sched_slice, utid), 0);
	int64_t ts = nt_integer(NT_VALUE(stay, sched_slice, ts), 0);
	int64_t dur = nt_integer(NT_VALUE(stay, sched_slice, dur), 0), i;

	if (!utid || threads->needs_sorting ||
	    !is_asked(check, NT_VALUE(stay, sched_slice, cpu), NT_VALUE(stay, sched_slice, utid), &ts, &dur))
		return 0;
	i = NT_INDEX(&threads->by_utid, (uint64_t)utid, threads->all, threads->size, threads->n,
		     {.ts = INT64_MIN, .end_ns = INT64_MIN});
	if (i < 0)
		return nt_db_no_memory(check->db);
	threads->needs_sorting = ts < threads->all[i].ts || follow(threads, &threads->all[i], ts, dur);
	return 0;
}

void nt_check_release_threads(struct nt_check_threads *threads)
{
	free(threads->all);
	nt_id_map_release(&threads->by_utid);
}

int nt_check_sort_threads(struct nt_check *check, struct nt_check_threads *threads)
{
	/* The last column: a main thread ends with this stay. Another may have its id by then. */
	sqlite3_stmt *stay =
		nt_check_query(check, "SELECT utid, ts, dur, cpu, end_state IS 'X' AND upid IS utid FROM sched_slice "
				      "LEFT JOIN thread USING (session_id, utid) WHERE session_id = ?1 AND utid <> 0 "
				      "ORDER BY utid, ts");
	struct nt_check_thread thread = {0};
	bool is_end, was_end = false;
	int64_t utid = 0;

	threads->n = threads->stays = threads->overlaps = threads->handovers = 0;
	while (nt_db_next(stay)) {
		const struct nt_value who = {.type = NT_VALUE_INTEGER, .integer = sqlite3_column_int64(stay, 0)};
		const struct nt_value cpu = {.type = NT_VALUE_INTEGER, .integer = sqlite3_column_int64(stay, 3)};
		int64_t ts = sqlite3_column_int64(stay, 1), dur = sqlite3_column_int64(stay, 2);

		if (!is_asked(check, &cpu, &who, &ts, &dur))
			continue;
		if (!threads->n || who.integer != utid) {
			utid = who.integer;
			threads->n++;
			thread.end_ns = INT64_MIN;
		}
		is_end = sqlite3_column_int(stay, 4);
		if (follow(threads, &thread, ts, dur))
			++*(is_end || was_end ? &threads->handovers : &threads->overlaps);
		was_end = is_end;
	}
	return nt_check_end(check, stay);
}

int nt_check_threads(struct nt_check *check)
{
	struct nt_check_threads *threads = &check->events.threads;
	char count[NT_HUMAN_MAX];

	check->name = "threads";
	if (threads->needs_sorting && nt_check_sort_threads(check, threads))
		return -1;
	nt_human_count(count, (int64_t)threads->stays);
	if (threads->overlaps)
		nt_check_say(check, NT_FOUND_FAILED, "%llu times a thread was on two CPUs at once",
			     (unsigned long long)threads->overlaps);
	else
		nt_check_say(check, NT_FOUND_OK, "none was on two CPUs at once: %llu threads, %s slices",
			     (unsigned long long)threads->n, count);
	if (threads->handovers)
		nt_check_say(
			check, NT_FOUND_NOTE,
			"main threads that were still leaving their CPU when another thread executed a program and "
			"took their place: %llu",
			(unsigned long long)threads->handovers);
	return 0;
}
