// SPDX-License-Identifier: GPL-2.0-only
/*
 * recording.c - what the recording says of itself: whether it is whole, what was lost, which records did not fit, and
 * how sure its clocks are.
 */
#include <stdio.h>

#include "report/query/check/check.h"
#include "report/query/whole.h"

/* ---- whether it is whole ---- */

static void judge_problem(struct nt_check *check, sqlite3_stmt *row)
{
	nt_check_say(check, NT_FOUND_FAILED, "%s", nt_db_text(row, 0));
}

int nt_check_whole(struct nt_check *check)
{
	/* Of a part, nobody looks for damage elsewhere; what of it is lost in the part is a loss. */
	if (check->part) {
		check->name = "whole";
		nt_check_say(check, check->session.is_complete ? NT_FOUND_OK : NT_FOUND_FAILED,
			     "the tape is %scomplete", check->session.is_complete ? "" : "not ");
		return 0;
	}
	if (nt_check_rows(check, "whole", "SELECT text FROM problem WHERE session_id = ?1 ORDER BY rowid",
			  judge_problem))
		return -1;
	if (!check->rows && !check->session.is_complete)
		nt_check_say(check, NT_FOUND_FAILED, "the tape is not complete");
	else if (!check->rows)
		nt_check_say(check, NT_FOUND_OK, "the tape is complete, and nothing of it is damaged");
	return 0;
}

/* ---- losses ---- */

/* Losses that nobody declared: they were found out only here. The recording itself tells of all others. */
#define UNDECLARED "why IN ('undeclared', 'segment too long') OR why IN " NT_MISSING_SQL

static void judge_loss(struct nt_check *check, sqlite3_stmt *row)
{
	char count[NT_HUMAN_MAX];

	if (sqlite3_column_int(row, 6))
		snprintf(count, sizeof(count), "an unknown number of");
	else
		nt_human_count(count, sqlite3_column_int64(row, 3));
	nt_check_say(check, sqlite3_column_int(row, 5) ? NT_FOUND_LOSS : NT_FOUND_FAILED,
		     "CPU %d: %s: %s records of kind %s; %s: %d", sqlite3_column_int(row, 0), nt_db_text(row, 1), count,
		     nt_db_text(row, 2),
		     sqlite3_column_int(row, 7) ? "no time is uncovered by that; stretches" : "uncovered stretches",
		     sqlite3_column_int(row, 4));
}

#define LOSSES(which)                                                                                                  \
	"SELECT cpu, why, kind, sum(count), count(DISTINCT ts), NOT (" UNDECLARED                                      \
	"), sum(count IS NULL), kind IN " NT_LOOSE_KINDS_SQL " FROM loss WHERE session_id = ?1 " which                 \
	"GROUP BY cpu, why, kind ORDER BY cpu, why, kind"

int nt_check_losses(struct nt_check *check)
{
	char cpus[NT_CPUS_SQL_MAX], of_part[sizeof(cpus) + 1000];

	if (check->part)
		snprintf(of_part, sizeof(of_part), LOSSES("AND ts < ?3 AND (ts >= ?2 OR ts + dur > ?2) AND %s "),
			 nt_selection_cpus_sql(check->part->selection, cpus));
	if (nt_check_rows(check, "loss", check->part ? of_part : LOSSES(""), judge_loss))
		return -1;
	if (!check->rows)
		nt_check_say(check, NT_FOUND_OK, "nothing was lost");
	return 0;
}

/* ---- oddities that the timeline met ---- */

/* How many there are, if there are any. */
static void note(struct nt_check *check, const char *what, int64_t n)
{
	if (n)
		nt_check_say(check, NT_FOUND_NOTE, "%s: %lld", what, (long long)n);
}

static void judge_oddities(struct nt_check *check, sqlite3_stmt *row)
{
	const int64_t undeclared = sqlite3_column_int64(row, 0), clamped = sqlite3_column_int64(row, 2);

	if (undeclared)
		nt_check_say(check, NT_FOUND_FAILED,
			     "switches from a task that was not on the CPU: %lld; records are missing that were not "
			     "declared lost",
			     (long long)undeclared);
	else
		nt_check_say(check, NT_FOUND_OK, "every switch came from the task that was on the CPU");
	note(check, "records that contradicted others, and were left out or cut", sqlite3_column_int64(row, 1));
	if (clamped)
		nt_check_say(check, NT_FOUND_NOTE, "times out of order, corrected: %lld, by %lld ns at most",
			     (long long)clamped, sqlite3_column_int64(row, 3));
	note(check, "records of kinds that this program does not know", sqlite3_column_int64(row, 4));
	note(check, "lines of snapshots that were not understood", sqlite3_column_int64(row, 5));
}

int nt_check_oddities(struct nt_check *check)
{
	return nt_check_rows(check, "records",
			     "SELECT undeclared, malformed, clamped, clamped_max_ns, unknown, bad_lines FROM session "
			     "WHERE session_id = ?1",
			     judge_oddities);
}

/* ---- the clocks that samples' stamps are read by ---- */

static void judge_latencies(struct nt_check *check, int64_t samples, int64_t known, int64_t uncertainty_ns)
{
	char count[NT_HUMAN_MAX];

	nt_check_say(check, NT_FOUND_OK, "%s latencies are accurate to %lld ns", nt_human_count(count, known),
		     (long long)uncertainty_ns);
	if (known < samples)
		nt_check_say(check, NT_FOUND_NOTE,
			     "samples without a latency, because their timestamps lie in the future or at a time that "
			     "the clock never showed: %s",
			     nt_human_count(count, samples - known));
}

static void judge_clocks(struct nt_check *check, sqlite3_stmt *row)
{
	const struct nt_check_latencies *latencies = &check->events.latencies;
	char count[NT_HUMAN_MAX];

	if (!latencies->n)
		return;
	if (sqlite3_column_type(row, 1) == SQLITE_NULL)
		nt_check_say(check, NT_FOUND_FAILED,
			     "%s latencies are not known: the tape has no snapshot of the clocks",
			     nt_human_count(count, latencies->n));
	else
		judge_latencies(check, latencies->n, latencies->known, sqlite3_column_int64(row, 1));
	if (sqlite3_column_int64(row, 0))
		nt_check_say(check, NT_FOUND_NOTE,
			     "the realtime clock was stepped %lld times; latencies that are in doubt because of it: "
			     "%s",
			     sqlite3_column_int64(row, 0), nt_human_count(count, latencies->stepped));
}

int nt_check_clocks(struct nt_check *check)
{
	return nt_check_rows(check, "clocks",
			     "SELECT clock_steps, clock_uncertainty_ns FROM session WHERE session_id = ?1",
			     judge_clocks);
}
