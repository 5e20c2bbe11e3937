// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - the part of check that compares the records with other counts: the kernel side's own counters,
 * /proc/softirqs, the kernel's count of missed runs, and /proc/stat.
 */
#include <stdlib.h>
#include <string.h>

#include "report/query/check/check.h"
#include "report/util/array.h"
#include "report/util/id_map.h"
#include "schema/kind.h"

#define SHOWN 5 /* findings of one sort, then only their number */

/* ---- the kernel side's own counters, from gate to gate ---- */

static bool is_event_kind(const char *name)
{
	return NT_ANY(NT_KIND_MAX, i, nt_kind_is_of_cpu(i) && !strcmp(nt_kind(i)->name, name));
}

/*
 * Of the last snapshot, for each CPU and kind: written and lost, then the records on the tape and what its LOSS records
 * say; and those on the tape that the snapshot does not know.
 */
static const char written_sql[] =
	"WITH last AS (SELECT cpu, name, value FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/cpus' AND "
	"ts_begin = "
	"(SELECT max(ts_begin) FROM proc_counter WHERE session_id = ?1 AND source = 'nettape/cpus')), "
	"told AS (SELECT w.cpu AS cpu, substr(w.name, 1, length(w.name) - 8) AS kind, w.value AS written, "
	"coalesce(l.value, 0) AS lost "
	"FROM last AS w LEFT JOIN last AS l ON l.cpu = w.cpu AND l.name = substr(w.name, 1, length(w.name) - 8) || "
	"'.lost' "
	"WHERE w.name LIKE '%.written') "
	"SELECT t.cpu, t.kind, t.written, t.lost, coalesce(c.records, 0), coalesce(c.lost, 0) FROM told AS t "
	"LEFT JOIN record_count AS c ON c.session_id = ?1 AND c.cpu = t.cpu AND c.kind = t.kind "
	"UNION ALL SELECT c.cpu, c.kind, 0, 0, c.records, c.lost FROM record_count AS c WHERE c.session_id = ?1 "
	"AND EXISTS (SELECT 1 FROM told) "
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
	row = nt_check_query(check, written_sql);
	for (; nt_db_next(row); n++)
		wrong += !judge_written(check, row, wrong < SHOWN);
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

/* What the programs counted: a tape that ends early lacks it. */
static int check_counted(struct nt_check *check, const char *name, const char *sql,
			 void (*judge)(struct nt_check *check, sqlite3_stmt *row))
{
	return check->session.is_complete ? nt_check_rows(check, name, sql, judge) : 0;
}

/* ---- the packets at each hook, as its programs counted them ---- */

static void judge_hook(struct nt_check *check, sqlite3_stmt *row)
{
	long long samples = sqlite3_column_int64(row, 1), recorded = sqlite3_column_int64(row, 2);
	char seen[NT_HUMAN_MAX], kept[NT_HUMAN_MAX];

	if (samples != recorded)
		nt_check_say(check, NT_FOUND_FAILED,
			     "%s: its programs recorded %lld packets, and the tape has %lld samples of it",
			     nt_db_text(row, 0), recorded, samples);
	else
		nt_check_say(check, NT_FOUND_OK,
			     "%s: packets that passed: %s, samples of them: %s; the others are counted by outcome",
			     nt_db_text(row, 0), nt_human_count(seen, sqlite3_column_int64(row, 3)),
			     nt_human_count(kept, samples));
}

#define OUTCOME(outcome, passed, looked) " + " #passed " * " #outcome
#define PASSED "0" NT_HOOK_OUTCOMES(OUTCOME)

int nt_check_hooks(struct nt_check *check)
{
	return check_counted(check, "hooks",
			     "SELECT hook, samples, recorded, " PASSED " FROM latency_hook "
			     "WHERE session_id = ?1 AND recorded IS NOT NULL ORDER BY hook",
			     judge_hook);
}

/* ---- wake-ups, as their programs counted them ---- */

static void judge_wakeups(struct nt_check *check, sqlite3_stmt *row)
{
	long long recorded = sqlite3_column_int64(row, 1), rows = sqlite3_column_int64(row, 2);

	if (recorded != rows)
		nt_check_say(check, NT_FOUND_FAILED, "%s: the program recorded %lld, and the tape has %lld",
			     nt_db_text(row, 0), recorded, rows);
	else
		nt_check_say(check, NT_FOUND_OK, "%s: %lld recorded, and as many on the tape; %lld lost",
			     nt_db_text(row, 0), recorded, sqlite3_column_int64(row, 3));
}

int nt_check_wakeups(struct nt_check *check)
{
	return check_counted(
		check, "wakeups",
		"SELECT p.what, sum(CASE c.name WHEN 'recorded' THEN c.value ELSE 0 END), "
		"(SELECT count(*) FROM sched_wakeup AS w WHERE w.session_id = ?1 AND w.what = p.what), "
		"sum(CASE c.name WHEN 'lost' THEN c.value ELSE 0 END) FROM (SELECT 'waking' AS what, 'nt_sched_waking' "
		"AS program UNION ALL SELECT 'new', 'nt_sched_wakeup_new') AS p JOIN self_cost_last AS c ON "
		"c.session_id = ?1 AND c.program = p.program GROUP BY p.what ORDER BY p.what",
		judge_wakeups);
}

/* ---- stacks, as their program counted them ---- */

static void judge_stacks(struct nt_check *check, sqlite3_stmt *row)
{
	long long recorded = sqlite3_column_int64(row, 0), rows = sqlite3_column_int64(row, 1);

	if (recorded != rows)
		nt_check_say(check, NT_FOUND_FAILED, "the program recorded %lld samples, and the tape has %lld",
			     recorded, rows);
	else
		nt_check_say(check, NT_FOUND_OK,
			     "%lld samples recorded, and as many on the tape; %lld lost, %lld of other owners left "
			     "out, %lld could not be unwound, of %lld the frames were lost",
			     rows, sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
			     sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 5));
}

int nt_check_stacks(struct nt_check *check)
{
	return check_counted(
		check, "stacks",
		"SELECT sum(CASE name WHEN 'recorded' THEN value ELSE 0 END), "
		"(SELECT count(*) FROM stack_sample AS s WHERE s.session_id = ?1), "
		"sum(CASE name WHEN 'lost' THEN value ELSE 0 END), "
		"sum(CASE name WHEN 'skipped_owner' THEN value ELSE 0 END), "
		"(SELECT count(*) FROM stack_sample AS s WHERE s.session_id = ?1 AND error IS NOT NULL), "
		"(SELECT count(*) FROM stack_sample AS s LEFT JOIN stack ON stack.session_id = ?1 AND id = stack_id "
		"WHERE s.session_id = ?1 AND stack_id IS NOT NULL AND id IS NULL) "
		"FROM self_cost_last WHERE session_id = ?1 AND program = 'nt_stack_sample' HAVING count(*)",
		judge_stacks);
}

/* ---- /proc/softirqs ---- */

struct snapshot {
	int64_t begin_ns, end_ns;
};

/* Counts of softirqs by snapshot, CPU and vector: those begun while it was taken, and those begun between it and the
 * next. */
struct softirqs {
	struct snapshot *snapshots;
	size_t n_snapshots, snapshots_size;
	struct nt_id_map during, after;
	uint64_t compared, from_below, wrong;
	/* Of the CPU and vector at hand, at the snapshot before: whether none (1) or one (2) can have been counted and
	 * not begun. */
	int64_t cpu;
	int vec;
	unsigned int ahead;
};

#define EITHER 3u

static int read_snapshots(struct nt_check *check, struct softirqs *softirqs)
{
	sqlite3_stmt *row =
		nt_check_query(check, "SELECT DISTINCT ts_begin, ts_end FROM proc_counter WHERE session_id = ?1 AND "
				      "source = '/proc/softirqs' ORDER BY ts_begin");
	int error = 0;

	while (!error && nt_db_next(row)) {
		if (NT_ROOM(softirqs->snapshots, softirqs->snapshots_size, softirqs->n_snapshots + 1))
			error = nt_db_no_memory(check->db);
		else
			softirqs->snapshots[softirqs->n_snapshots++] =
				(struct snapshot){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
	}
	return nt_check_end(check, row) ? -1 : error;
}

/* The last snapshot begun at or before that time; -1: none. */
static int64_t snapshot_at(const struct softirqs *softirqs, int64_t ns)
{
	return (int64_t)NT_COUNT_BEFORE(softirqs->n_snapshots, i, softirqs->snapshots[i].begin_ns > ns) - 1;
}

static int vec_number(const char *name)
{
	size_t vec = NT_FIRST(NT_VEC_COUNT, i, !strcmp(name, nt_vec_name(i)));

	return vec < NT_VEC_COUNT ? (int)vec : -1;
}

/* Where the counts of a snapshot, CPU and vector stand. */
static uint64_t place(int64_t snapshot, int64_t cpu, int vec)
{
	return (uint64_t)snapshot << 24 | (uint64_t)(cpu & 0xffff) << 4 | (uint64_t)vec;
}

static int count_softirqs(struct nt_check *check, struct softirqs *softirqs)
{
	sqlite3_stmt *row = nt_check_query(check, "SELECT ts, cpu, vec FROM softirq_slice WHERE session_id = ?1");
	int error = 0;

	while (!error && nt_db_next(row)) {
		int64_t ts = sqlite3_column_int64(row, 0), snapshot = snapshot_at(softirqs, ts);
		int vec = vec_number(nt_db_text(row, 2));
		uint64_t *count;

		if (snapshot < 0 || vec < 0)
			continue;
		count = nt_id_map_at(ts <= softirqs->snapshots[snapshot].end_ns ? &softirqs->during : &softirqs->after,
				     place(snapshot, sqlite3_column_int64(row, 1), vec));
		if (count)
			++*count;
		else
			error = nt_db_no_memory(check->db);
	}
	return nt_check_end(check, row) ? -1 : error;
}

/* How many uncovered stretches of the CPU touch this time: each may hide softirqs, and cut one that was open. */
static int64_t stretches(sqlite3_stmt *loss, int64_t cpu, int64_t from_ns, int64_t to_ns)
{
	sqlite3_reset(loss);
	sqlite3_bind_int64(loss, 2, cpu);
	sqlite3_bind_int64(loss, 3, from_ns);
	sqlite3_bind_int64(loss, 4, to_ns);
	return nt_db_next(loss) ? sqlite3_column_int64(loss, 0) : 0;
}

/*
 * The kernel counts a softirq a moment before it calls the handler: one may be counted before a snapshot and begin
 * after it. That one is missing from the next change, so nothing accumulates. Gives what is possible at the second
 * snapshot; 0: nothing is.
 */
static unsigned int follow(unsigned int ahead, int64_t change, int64_t least, int64_t most)
{
	unsigned int possible = 0;

	for (int before = 0; before < 2; before++) {
		for (int after = 0; after < 2; after++) {
			int64_t begun = change + before - after;

			if (ahead & 1u << before && begun >= least && begun <= most)
				possible |= 1u << after;
		}
	}
	return possible;
}

static void judge_softirqs(struct nt_check *check, struct softirqs *softirqs, sqlite3_stmt *loss, sqlite3_stmt *row)
{
	int64_t cpu = sqlite3_column_int64(row, 0),
		change = sqlite3_column_int64(row, 4) - sqlite3_column_int64(row, 3);
	const char *name = nt_db_text(row, 1);
	int64_t k = snapshot_at(softirqs, sqlite3_column_int64(row, 2));
	int vec = vec_number(name);
	int64_t least, most, lost;
	bool is_inside;

	if (vec < 0 || k < 0 || (size_t)k + 1 >= softirqs->n_snapshots)
		return;
	least = (int64_t)nt_id_map_get(&softirqs->after, place(k, cpu, vec));
	most = least + (int64_t)(nt_id_map_get(&softirqs->during, place(k, cpu, vec)) +
				 nt_id_map_get(&softirqs->during, place(k + 1, cpu, vec)));
	lost = stretches(loss, cpu, softirqs->snapshots[k].begin_ns, softirqs->snapshots[k + 1].end_ns);
	is_inside = softirqs->snapshots[k].begin_ns >= check->session.start_ts &&
		    softirqs->snapshots[k + 1].end_ns <= check->session.end_ts;
	softirqs->compared++;
	softirqs->from_below += lost || !is_inside;
	if (softirqs->cpu != cpu || softirqs->vec != vec)
		softirqs->ahead = EITHER;
	softirqs->cpu = cpu;
	softirqs->vec = vec;
	if (lost || !is_inside) {
		softirqs->ahead = EITHER;
		if (change + lost + 1 >= least)
			return;
	} else {
		softirqs->ahead = follow(softirqs->ahead, change, least, most);
		if (softirqs->ahead)
			return;
		softirqs->ahead = EITHER;
	}
	if (softirqs->wrong++ < SHOWN)
		nt_check_say(check, NT_FOUND_FAILED,
			     "CPU %lld, %s: /proc/softirqs changed by %lld from %lld to %lld ns, the records are %lld "
			     "to %lld",
			     (long long)cpu, name, (long long)change, (long long)softirqs->snapshots[k].begin_ns,
			     (long long)softirqs->snapshots[k + 1].end_ns, (long long)least, (long long)most);
	else
		check->found[NT_FOUND_FAILED]++;
}

/* Each CPU's change of each vector from one snapshot to the next. */
static int compare_softirqs(struct nt_check *check, struct softirqs *softirqs)
{
	sqlite3_stmt *loss =
		nt_check_query(check, "SELECT count(DISTINCT ts) FROM loss WHERE session_id = ?1 AND cpu = ?2 AND "
				      "ts + dur >= ?3 AND ts <= ?4 AND kind NOT IN " NT_SAMPLES_SQL);
	sqlite3_stmt *row = loss ? nt_check_query(check, "SELECT * FROM (SELECT cpu, name, lag(ts_begin) OVER w AS "
							 "since, lag(value) OVER w, value FROM proc_counter "
							 "WHERE session_id = ?1 AND source = '/proc/softirqs' WINDOW w "
							 "AS (PARTITION BY cpu, name ORDER BY ts_begin)) "
							 "WHERE since IS NOT NULL AND cpu IN (SELECT DISTINCT cpu FROM "
							 "cpu_cost WHERE session_id = ?1) ORDER BY cpu, name, since")
				 : NULL;
	while (nt_db_next(row))
		judge_softirqs(check, softirqs, loss, row);
	sqlite3_finalize(loss);
	return nt_check_end(check, row);
}

/* Whether the recording took softirqs at all: 1, 0, or below 0. A tape that does not name its probes did. */
static int took_softirqs(struct nt_check *check)
{
	sqlite3_stmt *row = nt_check_query(
		check, "SELECT ifnull(instr(',' || (" NT_META_SQL(NT_META_PROBES) ") || ',', ',softirq,') > 0, 1)");
	int took = nt_db_next(row) ? sqlite3_column_int(row, 0) : 1;

	return nt_check_end(check, row) ? -1 : took;
}

int nt_check_softirqs(struct nt_check *check)
{
	struct softirqs softirqs = {.vec = -1};
	int took = took_softirqs(check), error;

	check->name = "softirqs";
	if (took <= 0) {
		if (!took)
			nt_check_say(
				check, NT_FOUND_NOTE,
				"not recorded (the probe softirq was off): nothing to compare with /proc/softirqs");
		return took;
	}
	error = read_snapshots(check, &softirqs);
	if (!error && softirqs.n_snapshots > 1)
		error = count_softirqs(check, &softirqs);
	if (!error && softirqs.n_snapshots > 1)
		error = compare_softirqs(check, &softirqs);
	if (!error && !softirqs.compared)
		nt_check_say(check, NT_FOUND_NOTE, "there are not two snapshots of /proc/softirqs to compare with");
	else if (!error && !softirqs.wrong)
		nt_check_say(check, NT_FOUND_OK,
			     "%llu changes of /proc/softirqs (CPU, vector, interval) are as recorded; %llu of them "
			     "include a loss or an end of the session, and have only a lower bound",
			     (unsigned long long)softirqs.compared, (unsigned long long)softirqs.from_below);
	free(softirqs.snapshots);
	nt_id_map_release(&softirqs.during);
	nt_id_map_release(&softirqs.after);
	return error;
}

/* ---- runs that the kernel itself left out ---- */

static void judge_misses(struct nt_check *check, sqlite3_stmt *row)
{
	if (check->rows < SHOWN)
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
			  "FROM self_cost WHERE session_id = ?1 AND name = 'misses' AND program IS NOT NULL "
			  "WINDOW w AS (PARTITION BY program ORDER BY ts)) WHERE value > was ORDER BY ts, program",
			  judge_misses))
		return -1;
	if (!check->rows)
		nt_check_say(check, NT_FOUND_OK, "the kernel left out no run of a program");
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
