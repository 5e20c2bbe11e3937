// SPDX-License-Identifier: GPL-2.0-only
/* flows.c - see flows.h. A database may be anybody's: a row that no recorder wrote is left out. */
#include "report/query/flows.h"

#include <errno.h>
#include <string.h>

#include "report/query/part_tables.h"
#include "report/rows/flow_times.h"
#include "schema/kind.h"
#include "schema/meta_keys.h"

#define CANNOT "the flows cannot be summed up"

/* ---- the records of a part, in the order of a tape ---- */

enum { SKETCH, CELL, COUNT };
#define WITHIN "WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 "
static const char records[] =
	"SELECT ts + dur, dur, 0 AS what, counted_by, samples, unnamed, cells, flows, NULL, NULL, NULL "
	"FROM flow_sketch " WITHIN
	"UNION ALL SELECT ts + dur, dur, 1, counted_by, cell, packets, bytes, NULL, NULL, NULL, NULL "
	"FROM flow_cell " WITHIN
	"UNION ALL SELECT ts + dur, dur, 2, counted_by, flow_id, sampled_packets, missed_packets, sampled_bytes, "
	"most_packets, most_bytes, hash FROM flow_count " WITHIN "ORDER BY 1, 3";
enum { END, DUR, WHAT, SORT, FIRST };

/* A column's number; what no recorder wrote is 0. */
static uint64_t number(sqlite3_stmt *row, int column, uint64_t most)
{
	const int64_t value = sqlite3_column_int64(row, column);

	return value >= 0 && (uint64_t)value <= most ? (uint64_t)value : 0;
}

static uint8_t sort_of(sqlite3_stmt *row)
{
	uint8_t sort = 0;

	while (sort < NT_FLOW_KEY_SORTS && strcmp(nt_db_text(row, SORT), nt_flow_key_name(sort)) != 0)
		sort++;
	return sort;
}

static void take_sketch(struct nt_flow_times *times, sqlite3_stmt *row)
{
	const struct nt_flow_sketch sketch = {
		.end_ns = number(row, END, INT64_MAX),
		.flags = sort_of(row),
		.dur_ns = number(row, DUR, INT64_MAX),
		.samples = number(row, FIRST, INT64_MAX),
		.unnamed = (uint32_t)number(row, FIRST + 1, UINT32_MAX),
		.cells = (uint32_t)number(row, FIRST + 2, UINT32_MAX),
		.flows = (uint32_t)number(row, FIRST + 3, UINT32_MAX),
	};

	nt_flow_times_begin(times, &sketch, true);
}

static void take_cell(struct nt_flow_times *times, sqlite3_stmt *row)
{
	const struct nt_flow_cell cell = {
		.end_ns = number(row, END, INT64_MAX),
		.flags = sort_of(row),
		.cell = (uint32_t)number(row, FIRST, UINT32_MAX),
		.packets = sqlite3_column_int64(row, FIRST + 1),
		.bytes = sqlite3_column_int64(row, FIRST + 2),
	};

	nt_flow_times_cell(times, &cell);
}

static int take_count(struct nt_flow_times *times, sqlite3_stmt *row)
{
	const struct nt_flow_count count = {
		.end_ns = number(row, END, INT64_MAX),
		.flags = sort_of(row),
		.flow = number(row, FIRST, INT64_MAX),
		.packets = (uint32_t)number(row, FIRST + 1, UINT32_MAX),
		.missed = (uint32_t)number(row, FIRST + 2, UINT32_MAX),
		.bytes = number(row, FIRST + 3, INT64_MAX),
		.most_packets = (uint32_t)number(row, FIRST + 4, UINT32_MAX),
		.most_bytes = (uint32_t)number(row, FIRST + 5, UINT32_MAX),
	};
	struct nt_flow_estimate estimate;
	const int error =
		nt_flow_times_count(times, &count, (uint64_t)sqlite3_column_int64(row, FIRST + 6), true, &estimate);

	return error == -EINVAL ? 0 : error;
}

static int take(struct nt_flow_times *times, sqlite3_stmt *row)
{
	switch (sqlite3_column_int(row, WHAT)) {
	case SKETCH:
		take_sketch(times, row);
		return 0;
	case CELL:
		take_cell(times, row);
		return 0;
	default:
		return take_count(times, row);
	}
}

/* What was counted before the session's start belongs to its first part. */
static void bind_time(const struct nt_part *part, sqlite3_stmt *statement)
{
	const struct nt_view_time time = nt_part_time(part);

	sqlite3_bind_int64(statement, 2, time.begins ? INT64_MIN : part->from_ts);
	sqlite3_bind_int64(statement, 3, time.ends ? INT64_MAX : part->to_ts);
}

static int read_records(const struct nt_part *part, struct nt_flow_times *times)
{
	sqlite3_stmt *row = nt_db_query(part->db, records, part->session->id);
	int error = 0;

	bind_time(part, row);
	while (!error && nt_db_next(row))
		error = take(times, row);
	if (nt_db_end(part->db, row, CANNOT))
		return -1;
	nt_flow_times_finish(times);
	return error ? nt_db_no_memory(part->db) : 0;
}

/* ---- their sums ---- */

static int insert(const struct nt_part *part, struct nt_flow_times *times)
{
	sqlite3_stmt *statement =
		nt_db_prepare(part->db, "INSERT INTO temp.flow_sum VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", NULL);
	int error = statement ? 0 : -1;

	for (size_t i = 0; i < times->n && !error; i++) {
		struct nt_flow_sum_info info = {.flow = times->flows[i].flow, .sort = (uint8_t)times->flows[i].sort};

		nt_flow_times_of(times, i, &info.estimate);
		error = nt_part_table_put(part, statement, NT_TABLE_FLOW_SUM, &info);
	}
	sqlite3_finalize(statement);
	return error == -ENOMEM ? nt_db_no_memory(part->db) : error;
}

/* How the samples were taken. A session without the probe has no such line, and no record. */
static int init(const struct nt_part *part, struct nt_flow_times *times, bool *is_known)
{
	sqlite3_stmt *row = nt_db_query(
		part->db, "SELECT (" NT_META_SQL(NT_META_FLOW_SAMPLE) "), (" NT_META_SQL(NT_META_FLOW_SKETCH) ")",
		part->session->id);
	int error = -EINVAL;

	if (nt_db_next(row))
		error = nt_flow_times_init(times, nt_db_text(row, 0), nt_db_text(row, 1));
	*is_known = !error;
	if (nt_db_end(part->db, row, CANNOT))
		return -1;
	return error == -ENOMEM ? nt_db_no_memory(part->db) : 0;
}

static int sum_up(const struct nt_part *part)
{
	struct nt_flow_times times = {0};
	bool is_known;
	int error = init(part, &times, &is_known);

	if (!error)
		error = nt_part_table_make(part, NT_TABLE_FLOW_SUM, "");
	if (!error && is_known)
		error = read_records(part, &times) || insert(part, &times) ? -1 : 0;
	nt_flow_times_release(&times);
	return error;
}

int nt_flows_are_known(const struct nt_part *part, bool *are_known)
{
	const uint64_t needed = NT_FLOWS_TABLES | (nt_selection_is_given(part->selection) ? NT_FLOWS_OF_PART : 0);
	uint64_t tables = NT_ALL_TABLES;
	sqlite3_stmt *row;

	*are_known = false;
	if (!part->db->source && nt_db_tables(part->db, &tables))
		return -1;
	if ((tables & needed) != needed)
		return 0;
	row = nt_db_query(part->db, "SELECT 1 WHERE " NT_HAS_PROBE_SQL("flows") " AND NOT " NT_FLOWS_IS_OLDER_SQL,
			  part->session->id);
	*are_known = nt_db_next(row);
	return nt_db_end(part->db, row, CANNOT);
}

int nt_flows_sum(const struct nt_part *part)
{
	int error;

	if (!nt_selection_is_given(part->selection))
		return 0;
	if (part->db->source)
		return nt_part_limit(part);
	if (nt_db_need(part->db, NT_FLOWS_OF_PART))
		return -1;
	nt_db_allow_temporary(part->db, true);
	error = sum_up(part);
	nt_db_allow_temporary(part->db, false);
	return error;
}
