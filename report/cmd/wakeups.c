// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakeups.c - nettape-report wakeups: how long threads waited for a CPU, why, and who woke whom.
 */
#include "report/cmd/session_tables.h"

enum { STAYS, WAITS, UNKNOWN, WAKEUPS, PREEMPTIONS, RUNNABLE, LONGEST, LOST };

/*
 * The view sorts all slices, so it is asked once. Two kinds of rows: `why` has percentiles, which no sums give; `pair`
 * has processes. A softirq or hard interrupt woke in the time of a task, but not for it: then no process is the waker.
 */
static const char digest[] =
	", wait AS MATERIALIZED (SELECT utid, why, context, waker_utid, runnable_ns FROM picked), "
	"pair AS (SELECT utid, why, context, CASE context WHEN 'task' THEN waker_utid END AS waker_utid, "
	"count(*) AS n, sum(runnable_ns) AS ns, max(runnable_ns) AS longest_ns FROM wait GROUP BY 1, 2, 3, 4) "
	"SELECT 'why', why, context, NULL, NULL, count(*), sum(runnable_ns), max(runnable_ns), "
	"percentile(runnable_ns, 0.5), percentile(runnable_ns, 0.99) FROM wait GROUP BY why, context "
	"UNION ALL SELECT 'pair', c.why, c.context, t.upid, w.upid, sum(c.n), sum(c.ns), max(c.longest_ns), NULL, NULL "
	"FROM pair AS c LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = c.utid "
	"LEFT JOIN thread AS w ON w.session_id = ?1 AND w.utid = c.waker_utid GROUP BY 2, 3, 4, 5";

/* Its rows again. `why` is NULL of waits that are not known. */
#define WAITS_OF(kind)                                                                                                 \
	"WITH wait AS (SELECT value ->> 1 AS why, value ->> 2 AS context, value ->> 3 AS upid, "                       \
	"value ->> 4 AS waker_upid, value ->> 5 AS n, value ->> 6 AS ns, value ->> 7 AS longest_ns, "                  \
	"value ->> 8 AS p50_ns, value ->> 9 AS p99_ns FROM json_each(?4) WHERE value ->> 0 = '" kind "') "

#define WHYS WAITS_OF("why")
#define PAIRS WAITS_OF("pair")

static const char total_sql[] =
	WHYS "SELECT ifnull(sum(n), 0), ifnull(sum(n * (why IS NOT NULL)), 0), ifnull(sum(n * (why IS NULL)), 0), "
	     "ifnull(sum(n * (why IS 'wakeup')), 0), ifnull(sum(n * (why IS 'preempted')), 0), ifnull(sum(ns), 0), "
	     "max(longest_ns), " NT_TABLES_LOST_SQL("wakeup") " FROM wait";

static const char by_why[] =
	WHYS "SELECT why, CASE why WHEN 'wakeup' THEN coalesce(context, '(unknown)') END AS context, "
	     "n AS waits_count, ns AS runnable_ns, ns / n AS mean_ns, p50_ns, p99_ns, longest_ns "
	     "FROM wait WHERE why IS NOT NULL ORDER BY runnable_ns DESC, waits_count DESC, 1, 2";

static const char by_process[] =
	PAIRS "SELECT " NT_TABLES_PROCESS_SQL ", sum(n) AS waits_count, sum(n * (why = 'wakeup')) AS wakeups_count, "
	      "sum(n * (why = 'preempted')) AS preemptions_count, sum(ns) AS runnable_ns, "
	      "max(w.longest_ns) AS longest_ns FROM wait AS w "
	      "LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = w.upid WHERE why IS NOT NULL "
	      "GROUP BY w.upid ORDER BY runnable_ns DESC, waits_count DESC, 1, w.upid";

static const char by_waker[] =
	PAIRS "SELECT coalesce(CASE context WHEN 'task' THEN a.name ELSE context END, '(unknown)') AS waker, "
	      "a.pid AS waker_pid, context, coalesce(p.name, '(unknown)') AS woken, p.pid AS woken_pid, "
	      "sum(n) AS wakeups_count FROM wait AS w "
	      "LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = w.upid "
	      "LEFT JOIN process AS a ON a.session_id = ?1 AND a.upid = w.waker_upid WHERE why = 'wakeup' "
	      "GROUP BY w.waker_upid, context, w.upid ORDER BY wakeups_count DESC, 1, 4, w.waker_upid, w.upid";

static const struct nt_tables_section sections[] = {
	{"whys", "Waits for a CPU by reason", 10, "p50_ns,mean_ns", by_why, false},
	{"processes", "Waits for a CPU by process", 10, "pid,wakeups_count&preemptions_count", by_process, false},
	{"wakers", "Who woke whom", 10, "waker_pid&woken_pid,context", by_waker, false},
	{0},
};

static void say_total(FILE *line, const struct nt_tables_total *total)
{
	char count[NT_HUMAN_MAX], stays[NT_HUMAN_MAX + 8], waits[NT_HUMAN_MAX], sum[NT_HUMAN_MAX],
		longest[NT_HUMAN_MAX];

	snprintf(stays, sizeof(stays), total->values[STAYS] == 1 ? "once" : "%s times",
		 nt_human_count(count, total->values[STAYS]));
	nt_human_count(waits, total->values[WAITS]);
	nt_human_ns(sum, total->values[RUNNABLE] > 0 ? (uint64_t)total->values[RUNNABLE] : 0);
	nt_human_ns(longest, total->values[LONGEST] > 0 ? (uint64_t)total->values[LONGEST] : 0);
	if (!total->values[STAYS])
		fputs("No thread got a CPU.", line);
	else if (!total->values[WAITS])
		fprintf(line, "Threads got a CPU %s. No wait before that is known.", stays);
	else
		fprintf(line,
			"Threads got a CPU %s. The waits before %s of these are known: %s in sum, the "
			"longest %s.",
			stays, waits, sum, longest);
}

static void say_rest(FILE *line, const struct nt_tables_total *total)
{
	const int64_t unknown = total->values[UNKNOWN];
	char count[NT_HUMAN_MAX];

	if (unknown)
		fprintf(line, "%s wait%s not known, such as those that reach into uncovered time. ",
			nt_human_count(count, unknown), unknown == 1 ? " is" : "s are");
	if (total->values[WAKEUPS])
		fputs("A softirq or hard interrupt (hardirq) wakes in the time of a task, but not for it. ", line);
	nt_tables_say_lost(line, total, total->values[LOST], "wake-up record");
}

static int run(const struct nt_options *options)
{
	static const struct nt_session_tables tables = {
		.need = &nt_need_wakeups,
		.has_probe = "SELECT " NT_HAS_PROBE_SQL("wakeups"),
		.tables = NT_TABLE_BIT(NT_TABLE_SCHED_SLICE) | NT_TABLE_BIT(NT_TABLE_SCHED_WAKEUP) |
			  NT_TABLE_BIT(NT_TABLE_CPU_SLICE) | NT_TABLE_BIT(NT_TABLE_RECORD_COUNT),
		.rows = "thread_runnable",
		.digest = digest,
		.total = total_sql,
		.total_names = {[STAYS] = "stays_count",
				[WAITS] = "waits_count",
				[UNKNOWN] = "unknown_count",
				[WAKEUPS] = "wakeups_count",
				[PREEMPTIONS] = "preemptions_count",
				[RUNNABLE] = "runnable_ns",
				[LONGEST] = "longest_ns",
				[LOST] = "lost_count"},
		.sections = sections,
		.say_total = say_total,
		.say_rest = say_rest,
	};

	return nt_session_tables_run(&tables, options);
}

static const struct nt_option options[] = {NT_OPTIONS_TABLES("10")};

const struct nt_command nt_cmd_wakeups = {
	.name = "wakeups",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [OPTION]... [--json|--csv]",
	.what = "show how long threads waited for a CPU, and who woke them",
	.help = "By why they waited, by process, and by who woke whom. CSV has one line for each value. Record with "
		"--probes default,wakeups.",
	.example = "wakeups busy.tape",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
