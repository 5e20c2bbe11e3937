// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - see read.h.
 */
#include "report/query/cpus/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/util/array.h"

/* ---- what belongs to the part ---- */

int nt_lanes_filter_init(struct nt_lanes_filter *filter, const struct nt_part *part)
{
	sqlite3_stmt *row;
	int error = 0;

	*filter = (struct nt_lanes_filter){.part = part};
	if (!part->selection->process)
		return 0;
	row = nt_db_query(part->db, NT_PROCESS_THREADS_SQL, part->session->id);
	nt_part_bind(part, row);
	while (!error && nt_db_next(row)) {
		if (nt_id_map_set(&filter->threads, (uint64_t)sqlite3_column_int64(row, 0), 1))
			error = nt_db_no_memory(part->db);
		filter->has_threads = true;
	}
	return nt_db_end(part->db, row, "the threads cannot be read") ? -1 : error;
}

void nt_lanes_filter_release(struct nt_lanes_filter *filter)
{
	nt_id_map_release(&filter->threads);
}

bool nt_lanes_has_cpu(const struct nt_part *part, const struct nt_value *cpu)
{
	const int64_t number = nt_integer(cpu, -1);

	if (!part->selection->n_cpus)
		return true;
	return number >= 0 && number <= UINT32_MAX && nt_selection_has_cpu(part->selection, (uint32_t)number);
}

bool nt_lanes_has_thread(struct nt_lanes_filter *filter, const struct nt_value *utid)
{
	if (!filter->part->selection->process)
		return true;
	return utid->type == NT_VALUE_INTEGER && nt_id_map_get(&filter->threads, (uint64_t)utid->integer);
}

int nt_lanes_check_process(const struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	struct nt_lanes_filter filter;
	int error = nt_lanes_filter_init(&filter, part);

	if (!error && part->selection->process && !filter.has_threads)
		snprintf(why_not, NT_ERROR_MAX,
			 "session %lld has no process %.100s: nettape-report query lists those in the table process",
			 (long long)part->session->id, part->selection->process);
	nt_lanes_filter_release(&filter);
	return error;
}

/* ---- SQL ---- */

/* `format` has one %s, for the CPUs. ?1 is the session, ?2 and ?3 the time. */
static sqlite3_stmt *prepare(const struct nt_part *part, const char *format)
{
	char cpus[NT_CPUS_SQL_MAX], sql[sizeof(cpus) + 1000];
	sqlite3_stmt *statement;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(sql, sizeof(sql), format, nt_selection_cpus_sql(part->selection, cpus));
#pragma GCC diagnostic pop
	statement = nt_db_query(part->db, sql, part->session->id);
	sqlite3_bind_int64(statement, 2, part->from_ts);
	sqlite3_bind_int64(statement, 3, part->to_ts);
	return statement;
}

#define OVERLAPS "session_id = ?1 AND ts < ?3 AND ts + dur > ?2 AND %s"

sqlite3_stmt *nt_lanes_losses(const struct nt_part *part)
{
	return prepare(part, "SELECT cpu, max(ts, ?2) - (SELECT start_ts FROM session WHERE session_id = ?1) AS "
			     "since_start_ns, min(ts + dur, ?3) - max(ts, ?2) AS uncovered_ns, min(why) AS why, "
			     "group_concat(kind || ' ' || coalesce(count, '?'), ', ') AS records "
			     "FROM loss WHERE " OVERLAPS " AND kind NOT IN " NT_LOOSE_KINDS_SQL
			     " GROUP BY cpu, ts ORDER BY uncovered_ns DESC, cpu, ts");
}

/* ---- what happened ---- */

struct looking {
	const struct nt_part *part;
	bool has_found;
};

/* Ends the scan at the first slice of the part. */
static int look_for_slice(void *arg, const struct nt_row *row)
{
	struct looking *looking = arg;
	const struct nt_part *part = looking->part;
	const int64_t ts = nt_integer(NT_VALUE(row, cpu_slice, ts), INT64_MAX);
	int64_t end;

	/* One without an end that is a time is found wrong when it is read. */
	if (__builtin_add_overflow(ts, nt_integer(NT_VALUE(row, cpu_slice, dur), INT64_MIN), &end))
		end = INT64_MAX;
	looking->has_found =
		ts < part->to_ts && end > part->from_ts && nt_lanes_has_cpu(part, NT_VALUE(row, cpu_slice, cpu));
	return looking->has_found;
}

int nt_lanes_check_cpus(const struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	struct looking looking = {.part = part};
	const struct nt_scan_reader reader = {NT_TABLE_CPU_SLICE,
					      NT_COLUMN_BIT(cpu_slice, ts) | NT_COLUMN_BIT(cpu_slice, dur) |
						      NT_COLUMN_BIT(cpu_slice, cpu),
					      look_for_slice, &looking};
	const int error = nt_scan_all(part->db, part->session->id, 0, &reader, 1);

	if (!looking.has_found)
		snprintf(why_not, NT_ERROR_MAX, "session %lld has %s: it had %lld", (long long)part->session->id,
			 part->selection->n_cpus ? "none of these CPUs" : "no CPUs", (long long)part->session->cpus);
	return error < 0 ? error : 0;
}

sqlite3_stmt *nt_lanes_names(const struct nt_part *part)
{
	return nt_db_query(part->db,
			   "SELECT t.name, t.tid, p.name, p.pid FROM thread AS t LEFT JOIN process AS p ON "
			   "p.session_id = t.session_id AND p.upid = t.upid WHERE t.session_id = ?1 AND t.utid = ?2",
			   part->session->id);
}

int nt_lanes_name(const struct nt_part *part, sqlite3_stmt *names, int64_t utid, bool *found)
{
	int step;

	sqlite3_reset(names);
	sqlite3_bind_int64(names, 2, utid);
	step = sqlite3_step(names);
	*found = step == SQLITE_ROW;
	return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : nt_db_fail(part->db, "the threads cannot be read");
}

/* ---- slices ---- */

/* False: it is none. A database may be anybody's. */
static bool read_slice(struct nt_lanes_filter *filter, const struct nt_row *row, struct nt_lane_slice *slice)
{
	const struct nt_value *utid = NT_VALUE(row, cpu_slice, utid);
	const int64_t cpu = nt_integer(NT_VALUE(row, cpu_slice, cpu), -1);

	slice->cpu = (uint32_t)cpu;
	slice->kind = nt_owner_number(nt_text(NT_VALUE(row, cpu_slice, owner), ""));
	slice->utid = nt_integer(utid, -1);
	if (slice->kind == NT_OWNER_COUNT || cpu < 0 || cpu > UINT32_MAX || slice->dur < 0)
		return false;
	if (slice->kind != NT_OWNER_OFFLINE && slice->kind != NT_OWNER_UNCOVERED &&
	    !(filter->of_all >> slice->kind & 1) && !nt_lanes_has_thread(filter, utid))
		slice->kind = NT_LANE_OTHER;
	return true;
}

static int take_slice(void *arg, const struct nt_row *row)
{
	struct nt_lanes_reading *reading = arg;
	const struct nt_part *part = reading->filter->part;
	struct nt_lane_slice slice = {.ts = nt_integer(NT_VALUE(row, cpu_slice, ts), 0),
				      .dur = nt_integer(NT_VALUE(row, cpu_slice, dur), -1)};
	int64_t end;

	if (slice.ts >= part->to_ts || !nt_lanes_has_cpu(part, NT_VALUE(row, cpu_slice, cpu)))
		return 0;
	if (__builtin_add_overflow(slice.ts, slice.dur, &end))
		return -ERANGE;
	if (end <= part->from_ts)
		return 0;
	return read_slice(reading->filter, row, &slice) ? reading->visit(reading->arg, &slice) : -ERANGE;
}

struct nt_scan_reader nt_lanes_reader(struct nt_lanes_reading *reading)
{
	return (struct nt_scan_reader){NT_TABLE_CPU_SLICE, 0, take_slice, reading};
}

int nt_lanes_fail(const struct nt_part *part, int error, const char *what)
{
	struct nt_db *db = part->db;

	if (error == -1)
		return -1;
	if (error == -ENOMEM)
		return nt_db_refuse(db, "out of memory: choose less of it with --from and --to.");
	return nt_db_refuse(db, "%s: session %lld: its %s are not those of a recording: see nettape-report check.",
			    db->path[0] ? db->path : "the tape", (long long)part->session->id, what);
}
