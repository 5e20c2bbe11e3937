// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - the part of check that compares the records with other counts: the kernel side's own counters, the
 * kernel's count of missed runs, and /proc/stat. Softirqs have a file of their own.
 */
#include <stdio.h>
#include <string.h>

#include "report/query/check/check.h"
#include "report/query/latency/choice.h"
#include "report/util/array.h"
#include "report/util/words.h"
#include "schema/kind.h"
#include "schema/spared.h"

/* ---- the kernel side's own counters, from gate to gate ---- */

static bool is_event_kind(const char *name)
{
	return NT_ANY(NT_KIND_MAX, i, nt_kind_is_of_cpu(i) && !strcmp(nt_kind(i)->name, name));
}

/*
 * Of the last snapshot, for each CPU and kind: written and lost, then the records on the tape and what its LOSS records
 * say; and those on the tape that the snapshot does not know. What a flight recorder has dropped counts with the
 * records: the first chunk that is there begins by saying how many those were, before any other snapshot.
 */
static const char written_sql[] =
	"WITH last AS (SELECT cpu, name, value FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/cpus' AND "
	"ts_begin = "
	"(SELECT max(ts_begin) FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/cpus')), "
	"earlier AS (SELECT cpu, name, value FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/earlier' "
	"AND ts_begin = (SELECT min(ts_begin) FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/earlier') "
	"AND ts_begin < (SELECT min(ts_begin) FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/cpus')), "
	"told AS (SELECT w.cpu AS cpu, substr(w.name, 1, length(w.name) - 8) AS kind, w.value AS written, "
	"coalesce(l.value, 0) AS lost "
	"FROM last AS w LEFT JOIN last AS l ON l.cpu = w.cpu AND l.name = substr(w.name, 1, length(w.name) - 8) || "
	"'.lost' "
	"WHERE w.name LIKE '%.written'), "
	"part(cpu, kind, records, lost) AS (SELECT cpu, kind, records, lost FROM record_count WHERE session_id = ?1 "
	"UNION ALL SELECT cpu, substr(name, 1, length(name) - 8), value, 0 FROM earlier WHERE name LIKE '%.written' "
	"UNION ALL SELECT cpu, substr(name, 1, length(name) - 5), 0, value FROM earlier WHERE name LIKE '%.lost'), "
	"counted AS (SELECT cpu, kind, CAST(total(records) AS INTEGER) AS records, CAST(total(lost) AS INTEGER) AS "
	"lost "
	"FROM part GROUP BY cpu, kind) "
	"SELECT t.cpu, t.kind, t.written, t.lost, coalesce(c.records, 0), coalesce(c.lost, 0) FROM told AS t "
	"LEFT JOIN counted AS c ON c.cpu = t.cpu AND c.kind = t.kind "
	"UNION ALL SELECT c.cpu, c.kind, 0, 0, c.records, c.lost FROM counted AS c WHERE EXISTS (SELECT 1 FROM told) "
	"AND NOT EXISTS (SELECT 1 FROM told AS t WHERE t.cpu = c.cpu AND t.kind = c.kind) ORDER BY 1, 2";

static bool judge_written(struct nt_check *check, sqlite3_stmt *row, bool is_shown)
{
	long long cpu = sqlite3_column_int64(row, 0), written = sqlite3_column_int64(row, 2),
		  lost = sqlite3_column_int64(row, 3);
	long long records = sqlite3_column_int64(row, 4), told_lost = sqlite3_column_int64(row, 5);
	const char *kind = nt_db_text(row, 1);

	/* Identities are not counted on the tape: a chunk repeats them. */
	if (!is_event_kind(kind))
		written = records = 0;
	if (written == records && lost == told_lost)
		return true;
	if (is_shown)
		nt_check_say(check, NT_FOUND_FAILED,
			     "CPU %lld, %s: the kernel side wrote %lld and lost %lld, the tape has %lld and says that "
			     "%lld were lost",
			     cpu, kind, written, lost, records, told_lost);
	else
		check->found[NT_FOUND_FAILED]++;
	return false;
}

int nt_check_written(struct nt_check *check)
{
	sqlite3_stmt *row;
	uint64_t n = 0, wrong = 0;

	check->name = "counters";
	if (!check->session.is_complete) {
		nt_check_say(check, NT_FOUND_NOTE,
			     "the last snapshot of the kernel side's counters is missing: not compared");
		return 0;
	}
	if (check->session.is_snapshot) {
		nt_check_say(check, NT_FOUND_NOTE,
			     "the kernel side went on counting when this snapshot was taken: not compared");
		return 0;
	}
	row = nt_check_query(check, written_sql);
	for (; nt_db_next(row); n++)
		wrong += !judge_written(check, row, wrong < NT_CHECK_SHOWN);
	if (nt_check_end(check, row))
		return -1;
	if (!n)
		nt_check_say(check, NT_FOUND_NOTE, "the tape has no snapshot of the kernel side's counters");
	else if (!wrong)
		nt_check_say(check, NT_FOUND_OK,
			     "for %llu pairs of CPU and kind, the kernel side's counters = records on the tape, and "
			     "its losses = those declared",
			     (unsigned long long)n);
	return 0;
}

/*
 * The programs' own counts: a tape that ends early lacks them, what was dropped is among them, and what came behind a
 * snapshot may be.
 */
static int check_counted(struct nt_check *check, const char *name, const char *sql,
			 void (*judge)(struct nt_check *check, sqlite3_stmt *row))
{
	const struct nt_session *session = &check->session;

	return session->is_complete && !session->is_snapshot && !session->dropped_ns
		       ? nt_check_rows(check, name, sql, judge)
		       : 0;
}

/* ---- the packets at each hook, as its programs counted them ---- */

int nt_check_take_latency(void *arg, const struct nt_row *row)
{
	struct nt_check_latencies *latencies = &((struct nt_check *)arg)->events.latencies;
	const enum nt_hook hook = nt_hook_number(nt_text(NT_VALUE(row, skb_latency, hook), ""));

	latencies->by_hook[hook]++;
	/* On the way down both times are of one clock. */
	if (NT_HOOK_IS_OF_SENDING(hook))
		return 0;
	latencies->n++;
	latencies->known += NT_VALUE(row, skb_latency, latency_ns)->type != NT_VALUE_NULL;
	latencies->stepped += nt_has_word(nt_text(NT_VALUE(row, skb_latency, flags), ""), "step");
	return 0;
}

static void judge_hook(struct nt_check *check, sqlite3_stmt *row)
{
	const char *hook = nt_db_text(row, 0);
	long long samples = check->events.latencies.by_hook[nt_hook_number(hook)],
		  recorded = sqlite3_column_int64(row, 1);
	char seen[NT_HUMAN_MAX], kept[NT_HUMAN_MAX];

	if (samples != recorded)
		nt_check_say(check, NT_FOUND_FAILED,
			     "%s: its programs recorded %lld packets, and the tape has %lld samples of it", hook,
			     recorded, samples);
	else
		nt_check_say(check, NT_FOUND_OK,
			     "%s: packets that passed: %s, samples of them: %s; the others are counted by outcome",
			     hook, nt_human_count(seen, sqlite3_column_int64(row, 2)), nt_human_count(kept, samples));
}

#define OUTCOME(outcome, passed, looked) " + " #passed " * " #outcome
#define PASSED "0" NT_HOOK_OUTCOMES(OUTCOME)

/* As in the view latency_hook, which would count the samples once more. */
int nt_check_hooks(struct nt_check *check)
{
	return check_counted(check, "hooks",
			     "SELECT hook, recorded, " PASSED " FROM (SELECT " NT_HOOK_SQL
			     " AS hook" NT_OUTCOME_SUMS_SQL
			     " FROM self_cost_last WHERE session_id = ?1 AND hook IS NOT "
			     "NULL GROUP BY hook) ORDER BY hook",
			     judge_hook);
}

/* ---- wake-ups, as their programs counted them ---- */

int nt_check_take_wakeup(void *arg, const struct nt_row *row)
{
	struct nt_check_wakeups *wakeups = &((struct nt_check *)arg)->events.wakeups;
	const char *what = nt_text(NT_VALUE(row, sched_wakeup, what), "");

	wakeups->waking += !strcmp(what, "waking");
	wakeups->fresh += !strcmp(what, "new");
	return 0;
}

static void judge_wakeups(struct nt_check *check, sqlite3_stmt *row)
{
	const struct nt_check_wakeups *wakeups = &check->events.wakeups;
	long long recorded = sqlite3_column_int64(row, 1);
	long long rows = strcmp(nt_db_text(row, 0), "new") ? wakeups->waking : wakeups->fresh;

	if (recorded != rows)
		nt_check_say(check, NT_FOUND_FAILED, "%s: the program recorded %lld, and the tape has %lld",
			     nt_db_text(row, 0), recorded, rows);
	else
		nt_check_say(check, NT_FOUND_OK, "%s: %lld recorded, and as many on the tape; %lld lost",
			     nt_db_text(row, 0), recorded, sqlite3_column_int64(row, 2));
}

int nt_check_wakeups(struct nt_check *check)
{
	return check_counted(
		check, "wakeups",
		"SELECT p.what, sum(CASE c.name WHEN 'recorded' THEN c.value ELSE 0 END), "
		"sum(CASE c.name WHEN 'lost' THEN c.value ELSE 0 END) FROM (SELECT 'waking' AS what, 'nt_sched_waking' "
		"AS program UNION ALL SELECT 'new', 'nt_sched_wakeup_new') AS p JOIN self_cost_last AS c ON "
		"c.session_id = ?1 AND c.program = p.program GROUP BY p.what ORDER BY p.what",
		judge_wakeups);
}

/* ---- stacks, as their program counted them ---- */

int nt_check_read_stacks(struct nt_check *check)
{
	sqlite3_stmt *row = nt_check_query(check, "SELECT id FROM stack WHERE session_id = ?1");
	int error = 0;

	while (!error && nt_db_next(row))
		error = nt_id_map_set(&check->events.stacks.known, (uint64_t)sqlite3_column_int64(row, 0), 1);
	if (error)
		nt_db_no_memory(check->db);
	return nt_check_end(check, row) ? -1 : error;
}

int nt_check_take_stack(void *arg, const struct nt_row *row)
{
	struct nt_check_stacks *stacks = &((struct nt_check *)arg)->events.stacks;
	const struct nt_value *stack = NT_VALUE(row, stack_sample, stack_id),
			      *error = NT_VALUE(row, stack_sample, error);

	stacks->samples++;
	if (error->type == NT_VALUE_INTEGER && error->integer == NT_STACK_SAMPLE_IN_PROGRAM)
		stacks->in_programs++;
	else
		stacks->failed += error->type != NT_VALUE_NULL;
	if (stack->type == NT_VALUE_INTEGER)
		stacks->lost += !nt_id_map_get(&stacks->known, (uint64_t)stack->integer);
	return 0;
}

static void judge_stacks(struct nt_check *check, sqlite3_stmt *row)
{
	const struct nt_check_stacks *stacks = &check->events.stacks;
	long long recorded = sqlite3_column_int64(row, 0), rows = stacks->samples;
	char inside[80] = "";

	if (stacks->in_programs)
		snprintf(inside, sizeof(inside), ", %lld came inside BPF programs", (long long)stacks->in_programs);
	if (recorded != rows)
		nt_check_say(check, NT_FOUND_FAILED, "the program recorded %lld samples, and the tape has %lld",
			     recorded, rows);
	else
		nt_check_say(check, NT_FOUND_OK,
			     "%lld samples recorded, and as many on the tape; %lld lost, %lld of other owners left "
			     "out, %lld could not be unwound, of %lld the frames were lost%s",
			     rows, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
			     (long long)stacks->failed, (long long)stacks->lost, inside);
}

int nt_check_stacks(struct nt_check *check)
{
	return check_counted(
		check, "stacks",
		"SELECT sum(CASE name WHEN 'recorded' THEN value ELSE 0 END), "
		"sum(CASE name WHEN 'lost' THEN value ELSE 0 END), "
		"sum(CASE name WHEN 'skipped_owner' THEN value ELSE 0 END) "
		"FROM self_cost_last WHERE session_id = ?1 AND program IN ('nt_stack_sample', 'nt_tick_end') "
		"HAVING count(*)",
		judge_stacks);
}

/* ---- runs that the kernel itself left out ---- */

static void judge_misses(struct nt_check *check, sqlite3_stmt *row)
{
	if (check->rows < NT_CHECK_SHOWN)
		nt_check_say(check, NT_FOUND_LOSS,
			     "the kernel left out %lld runs of %s between %lld and %lld ns: this interval is suspect",
			     sqlite3_column_int64(row, 2) - sqlite3_column_int64(row, 4), nt_db_text(row, 0),
			     sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 1));
	else
		check->found[NT_FOUND_LOSS]++;
}

int nt_check_misses(struct nt_check *check)
{
	if (nt_check_rows(check, "misses",
			  "SELECT * FROM (SELECT program, ts, value, lag(ts) OVER w AS since, lag(value) OVER w AS was "
			  "FROM self_cost WHERE session_id = ?1 AND name = 'misses' AND program NOT IN " NT_SPARED_SQL
			  " "
			  "WINDOW w AS (PARTITION BY program ORDER BY ts)) WHERE value > was ORDER BY ts, program",
			  judge_misses))
		return -1;
	if (!check->rows)
		nt_check_say(check, NT_FOUND_OK, "no run of a program is missing");
	return 0;
}

/* ---- /proc/stat, which counts in ticks and by other rules: for information ---- */

static void judge_stat(struct nt_check *check, sqlite3_stmt *row)
{
	int64_t tick_ns = check->session.clock_ticks ? 1000000000 / check->session.clock_ticks : 0;
	char theirs[NT_HUMAN_MAX], ours[NT_HUMAN_MAX], their_softirqs[NT_HUMAN_MAX], our_softirqs[NT_HUMAN_MAX],
		steal[NT_HUMAN_MAX];

	if (!tick_ns || !sqlite3_column_int64(row, 4))
		return;
	nt_check_say(check, NT_FOUND_NOTE,
		     "CPU %lld: idle %s (here %s), softirqs %s (here %s), stolen %s; in ticks, and by other rules",
		     sqlite3_column_int64(row, 0),
		     nt_human_ns(theirs, (uint64_t)(sqlite3_column_int64(row, 1) * tick_ns)),
		     nt_human_ns(ours, (uint64_t)sqlite3_column_int64(row, 5)),
		     nt_human_ns(their_softirqs, (uint64_t)(sqlite3_column_int64(row, 2) * tick_ns)),
		     nt_human_ns(our_softirqs, (uint64_t)sqlite3_column_int64(row, 6)),
		     nt_human_ns(steal, (uint64_t)(sqlite3_column_int64(row, 3) * tick_ns)));
}

int nt_check_stat(struct nt_check *check)
{
	return nt_check_rows(
		check, "/proc/stat",
		"WITH stat AS (SELECT cpu, name, max(value) - min(value) AS ticks, max(ts_end) - min(ts_begin) AS dur "
		"FROM proc_counter "
		"WHERE session_id = ?1 AND source = '/proc/stat' AND cpu IS NOT NULL GROUP BY cpu, name) "
		"SELECT cpu, sum(CASE WHEN name IN ('idle', 'iowait') THEN ticks END), "
		"sum(CASE name WHEN 'softirq' THEN ticks END), sum(CASE name WHEN 'steal' THEN ticks END), max(dur), "
		"(SELECT coalesce(sum(spent_ns), 0) FROM cpu_cost AS c WHERE c.session_id = ?1 AND c.cpu = stat.cpu "
		"AND owner = 'idle'), "
		"(SELECT coalesce(sum(spent_ns), 0) FROM cpu_cost AS c WHERE c.session_id = ?1 AND c.cpu = stat.cpu "
		"AND owner IN ('net_rx', 'net_tx', 'softirq')) FROM stat GROUP BY cpu",
		judge_stat);
}
