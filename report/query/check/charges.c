// SPDX-License-Identifier: GPL-2.0-only
/*
 * charges.c - the part of check that proves that all of net_rx has been charged, for each CPU and bucket to the
 * nanosecond, and all packets of the stretches.
 */
#include "report/db/older.h"
#include "report/query/check/check.h"

/*
 * The time of rx_cost, less that of cpu_cost. A row of one bucket counts in full at its end. One of several whole
 * buckets is all of their time: from its begin to its end it counts 1 ns each ns. One that is less is wrong: it counts
 * as of one bucket, and so differs from cpu_cost.
 */
static const char steps_of_costs[] =
	"WITH cost(sign, cpu, ts, dur, ns) AS ("
	"SELECT 1, cpu, ts, dur, sum(spent_ns) FROM rx_cost WHERE session_id = ?1 GROUP BY cpu, ts, dur UNION ALL "
	"SELECT -1, cpu, ts, dur, sum(spent_ns) FROM cpu_cost WHERE session_id = ?1 AND owner = 'net_rx' "
	"GROUP BY cpu, ts, dur), "
	"sort(sign, cpu, ts, dur, ns, is_long) AS ("
	"SELECT sign, cpu, ts, dur, ns, ns = dur AND dur > (SELECT bucket_ns FROM session WHERE session_id = ?1) "
	"FROM cost), "
	"step(cpu, at, ns, slope) AS ("
	"SELECT cpu, ts + dur, sign * ns, 0 FROM sort WHERE NOT is_long UNION ALL "
	"SELECT cpu, ts, 0, sign FROM sort WHERE is_long UNION ALL "
	"SELECT cpu, ts + dur, 0, -sign FROM sort WHERE is_long) "
	"SELECT cpu, at, sum(ns), sum(slope) FROM step GROUP BY cpu, at ORDER BY cpu, at";

struct balance {
	int64_t cpu, at, ns, slope;
	uint64_t wrong;
};

/* Adds a step to the balance: after it, both tables must have the same time. */
static void take_step(struct balance *balance, sqlite3_stmt *step)
{
	const int64_t cpu = sqlite3_column_int64(step, 0), at = sqlite3_column_int64(step, 1);
	int64_t passed;

	if (cpu != balance->cpu) {
		balance->wrong += balance->slope != 0;
		*balance = (struct balance){.cpu = cpu, .at = at, .wrong = balance->wrong};
	}
	if (__builtin_sub_overflow(at, balance->at, &passed) ||
	    __builtin_mul_overflow(passed, balance->slope, &passed) ||
	    __builtin_add_overflow(balance->ns, passed, &balance->ns) ||
	    __builtin_add_overflow(balance->ns, sqlite3_column_int64(step, 2), &balance->ns) || balance->ns) {
		balance->wrong++;
		balance->ns = 0;
	}
	balance->at = at;
	balance->slope += sqlite3_column_int64(step, 3);
}

static int judge_time(struct nt_check *check)
{
	sqlite3_stmt *step = nt_check_query(check, steps_of_costs);
	struct balance balance = {.cpu = -1};
	int error;

	while (nt_db_next(step))
		take_step(&balance, step);
	error = nt_check_end(check, step);
	balance.wrong += balance.slope != 0;
	if (balance.wrong)
		nt_check_say(check, NT_FOUND_FAILED,
			     "rx_cost does not charge what net_rx took, at %llu ends of buckets",
			     (unsigned long long)balance.wrong);
	else if (!error)
		nt_check_say(check, NT_FOUND_OK, "rx_cost charges all of net_rx, for each CPU and bucket");
	return error;
}

static void judge_packets(struct nt_check *check, sqlite3_stmt *row)
{
	if (!sqlite3_column_int64(row, 0))
		nt_check_say(check, NT_FOUND_FAILED, "rx_cost has other packets, segments or bytes than rx_stretch");
}

int nt_check_charges(struct nt_check *check)
{
	check->name = "charges";
	if (judge_time(check))
		return -1;
	return nt_check_rows(
		check, check->name,
		"SELECT (SELECT coalesce(sum(packets), 0) || ' ' || coalesce(sum(segments), 0) || ' ' || "
		"coalesce(sum(bytes), 0) FROM rx_stretch WHERE session_id = ?1 AND is_steered IS NOT 1) = "
		"(SELECT coalesce(sum(packets), 0) || ' ' || coalesce(sum(segments), 0) || ' ' || "
		"coalesce(sum(bytes), 0) FROM rx_cost WHERE session_id = ?1) OR " NT_OLDER_LACKS_SQL("rx_cost"),
		judge_packets);
}
