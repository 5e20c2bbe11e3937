// SPDX-License-Identifier: GPL-2.0-only
/*
 * softirqs.c - the part of check that compares the recorded softirqs with /proc/softirqs.
 */
#include <stdlib.h>
#include <string.h>

#include "report/query/check/check.h"
#include "report/util/array.h"
#include "schema/kind.h"

#define EITHER 3u

/* ---- reading ---- */

/* Whether the recording took softirqs at all: 1, 0, or below 0. A tape that does not name its probes did. */
static int took_softirqs(struct nt_check *check)
{
	sqlite3_stmt *row = nt_check_query(check, "SELECT " NT_HAS_PROBE_SQL("softirq"));
	int took = nt_db_next(row) ? sqlite3_column_int(row, 0) : 1;

	return nt_check_end(check, row) ? -1 : took;
}

int nt_check_read_snapshots(struct nt_check *check)
{
	struct nt_check_softirqs *softirqs = &check->events.softirqs;
	sqlite3_stmt *row =
		nt_check_query(check, "SELECT DISTINCT ts_begin, ts_end FROM proc_counter WHERE session_id = ?1 AND "
				      "source = '/proc/softirqs' ORDER BY ts_begin");
	int error = 0;

	softirqs->vec = -1;
	while (!error && nt_db_next(row)) {
		if (NT_ROOM(softirqs->snapshots, softirqs->snapshots_size, softirqs->n_snapshots + 1))
			error = nt_db_no_memory(check->db);
		else
			softirqs->snapshots[softirqs->n_snapshots++] =
				(struct nt_check_snapshot){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
	}
	return nt_check_end(check, row) ? -1 : error;
}

/* The last snapshot begun at or before that time; -1: none. */
static int64_t snapshot_at(const struct nt_check_softirqs *softirqs, int64_t ns)
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

int nt_check_take_softirq(void *arg, const struct nt_row *row)
{
	struct nt_check *check = arg;
	struct nt_check_softirqs *softirqs = &check->events.softirqs;
	const int64_t ts = nt_integer(NT_VALUE(row, softirq_slice, ts), -1), snapshot = snapshot_at(softirqs, ts);
	const int vec = vec_number(nt_text(NT_VALUE(row, softirq_slice, vec), ""));
	uint64_t *count;

	if (snapshot < 0 || vec < 0)
		return 0;
	count = nt_id_map_at(ts <= softirqs->snapshots[snapshot].end_ns ? &softirqs->during : &softirqs->after,
			     place(snapshot, nt_integer(NT_VALUE(row, softirq_slice, cpu), -1), vec));
	if (!count)
		return nt_db_no_memory(check->db);
	++*count;
	return 0;
}

void nt_check_release_softirqs(struct nt_check_softirqs *softirqs)
{
	free(softirqs->snapshots);
	nt_id_map_release(&softirqs->during);
	nt_id_map_release(&softirqs->after);
}

/* ---- judging ---- */

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

static void judge_softirqs(struct nt_check *check, struct nt_check_softirqs *softirqs, sqlite3_stmt *loss,
			   sqlite3_stmt *row)
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
	if (softirqs->wrong++ < NT_CHECK_SHOWN)
		nt_check_say(check, NT_FOUND_FAILED,
			     "CPU %lld, %s: /proc/softirqs changed by %lld from %lld to %lld ns, the records are %lld "
			     "to %lld",
			     (long long)cpu, name, (long long)change, (long long)softirqs->snapshots[k].begin_ns,
			     (long long)softirqs->snapshots[k + 1].end_ns, (long long)least, (long long)most);
	else
		check->found[NT_FOUND_FAILED]++;
}

/* Each CPU's change of each vector from one snapshot to the next. */
static int compare_softirqs(struct nt_check *check, struct nt_check_softirqs *softirqs)
{
	sqlite3_stmt *loss =
		nt_check_query(check, "SELECT count(DISTINCT ts) FROM loss WHERE session_id = ?1 AND cpu = ?2 AND "
				      "ts + dur >= ?3 AND ts <= ?4 AND kind NOT IN " NT_LOOSE_KINDS_SQL);
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

int nt_check_softirqs(struct nt_check *check)
{
	struct nt_check_softirqs *softirqs = &check->events.softirqs;
	int took = took_softirqs(check), error = 0;

	check->name = "softirqs";
	if (took <= 0) {
		if (!took)
			nt_check_say(
				check, NT_FOUND_NOTE,
				"not recorded (the probe softirq was off): nothing to compare with /proc/softirqs");
		return took;
	}
	if (softirqs->n_snapshots > 1)
		error = compare_softirqs(check, softirqs);
	if (!error && !softirqs->compared)
		nt_check_say(check, NT_FOUND_NOTE, "there are not two snapshots of /proc/softirqs to compare with");
	else if (!error && !softirqs->wrong)
		nt_check_say(check, NT_FOUND_OK,
			     "%llu changes of /proc/softirqs (CPU, vector, interval) are as recorded; %llu of them "
			     "include a loss or an end of the session, and have only a lower bound",
			     (unsigned long long)softirqs->compared, (unsigned long long)softirqs->from_below);
	return error;
}
