// SPDX-License-Identifier: GPL-2.0-only
/*
 * elsewhere.c - the part of check that proves that what the network causes elsewhere is no more than its owner had:
 * network devices' interrupts of hardirq, exactly; runs of timers of softirq, and of time that is uncovered, where they
 * are recorded, too.
 */
#include "report/query/check/check.h"

/* Of each CPU: by how much the interrupts are too long, and the timers. */
static const char excess[] =
	"WITH part(cpu, irqs, hardirq, timers, softirq) AS ("
	"SELECT cpu, spent_ns * (what = 'hardirq'), 0, spent_ns * (what = 'timer'), 0 FROM elsewhere_cost "
	"WHERE session_id = ?1 UNION ALL "
	"SELECT cpu, 0, spent_ns * (owner = 'hardirq'), 0, spent_ns * (owner IN ('softirq', 'uncovered')) "
	"FROM cpu_cost WHERE session_id = ?1 AND owner IN ('hardirq', 'softirq', 'uncovered')) "
	"SELECT cpu, total(irqs) - total(hardirq), total(timers) - total(softirq), total(irqs + timers) FROM part "
	"GROUP BY cpu ORDER BY cpu";

int nt_check_elsewhere(struct nt_check *check)
{
	sqlite3_stmt *row = nt_check_query(check, excess);
	bool has_any = false, is_wrong = false;

	check->name = "elsewhere";
	while (nt_db_next(row)) {
		const double irqs = sqlite3_column_double(row, 1), timers = sqlite3_column_double(row, 2);

		has_any |= sqlite3_column_double(row, 3) > 0;
		is_wrong |= irqs > 0 || timers > 0;
		if (irqs > 0)
			nt_check_say(check, NT_FOUND_FAILED,
				     "CPU %d: network devices' interrupts took %.0f ns more than hardirq",
				     sqlite3_column_int(row, 0), irqs);
		if (timers > 0)
			nt_check_say(check, NT_FOUND_FAILED,
				     "CPU %d: the network's timers took %.0f ns more than softirqs",
				     sqlite3_column_int(row, 0), timers);
	}
	if (has_any && !is_wrong)
		nt_check_say(check, NT_FOUND_OK,
			     "the network's interrupts and timers are parts of hardirq and softirq, for each CPU");
	return nt_check_end(check, row);
}
