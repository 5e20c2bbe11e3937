// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - the part of result.h that is for programs: JSON and CSV, all in whole nanoseconds.
 */
#include "report/query/cpus/result.h"

#include <stdio.h>
#include <string.h>

#include "report/db/result.h"

/* ---- JSON ---- */

static void json_kinds(struct nt_json *json, const uint64_t ns[NT_LANE_KINDS])
{
	char name[32];

	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		snprintf(name, sizeof(name), "%s_ns", nt_lane_kind_name(kind));
		nt_json_integer(json, name, (int64_t)ns[kind]);
	}
}

/* What begins at `ts`, on a CPU, or on all of them if it is NULL. */
static void json_sum(struct nt_json *json, const uint32_t *cpu, int64_t ts, uint64_t dur,
		     const uint64_t ns[NT_LANE_KINDS])
{
	const struct nt_cell cell = {.type = cpu ? NT_CELL_INTEGER : NT_CELL_NULL, .integer = cpu ? *cpu : 0};

	nt_json_open(json, NULL, '{');
	nt_json_cell(json, "cpu", &cell);
	nt_json_integer(json, "ts", ts);
	nt_json_integer(json, "dur", (int64_t)dur);
	json_kinds(json, ns);
	nt_json_close(json, '}');
}

static void json_totals(struct nt_json *json, const struct nt_lanes *lanes)
{
	uint64_t total[NT_LANE_KINDS], span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;

	nt_json_open(json, "totals", '[');
	for (size_t i = 0; i < lanes->n; i++)
		json_sum(json, &lanes->lanes[i].cpu, lanes->from_ts, span, lanes->lanes[i].total);
	nt_lanes_total(lanes, total);
	json_sum(json, NULL, lanes->from_ts, span * lanes->n, total);
	nt_json_close(json, ']');
}

static void json_cells(struct nt_json *json, const struct nt_lanes *lanes)
{
	nt_json_open(json, "cells", '[');
	for (size_t i = 0; i < lanes->n; i++) {
		const struct nt_lane *lane = &lanes->lanes[i];

		for (uint32_t column = 0; column < lanes->columns; column++) {
			int64_t ts = nt_lanes_column_ts(lanes, column);

			json_sum(json, &lane->cpu, ts, (uint64_t)nt_lanes_column_ts(lanes, column + 1) - (uint64_t)ts,
				 &lane->cells[(size_t)column * NT_LANE_KINDS]);
		}
	}
	nt_json_close(json, ']');
}

static int json_thread(struct nt_json *json, const struct nt_lane_who *who, const struct nt_part *part,
		       sqlite3_stmt *names)
{
	static const char *const keys[] = {"thread", "tid", "process", "pid"};
	bool found;

	if (nt_lanes_name(part, names, who->utid, &found))
		return -1;
	nt_json_open(json, NULL, '{');
	nt_json_integer(json, "utid", who->utid);
	for (int column = 0; column < 4; column++) {
		struct nt_cell cell = {.type = NT_CELL_NULL};

		if (found)
			cell = nt_result_cell(names, column);
		nt_json_cell(json, keys[column], &cell);
	}
	json_kinds(json, who->ns);
	nt_json_close(json, '}');
	return 0;
}

static int json_who(struct nt_json *json, const struct nt_lanes *lanes, const struct nt_part *part)
{
	sqlite3_stmt *names = nt_lanes_names(part);
	int error = 0;

	if (!names)
		return -1;
	nt_json_open(json, "threads", '[');
	for (size_t i = 0; i < lanes->n_who && !error; i++)
		error = json_thread(json, &lanes->who[i], part, names);
	nt_json_close(json, ']');
	sqlite3_finalize(names);
	return error;
}

static int json_rows(struct nt_json *json, const struct nt_part *part, enum nt_lanes_rows what, const char *key)
{
	sqlite3_stmt *row = nt_lanes_rows(part, what, -1);

	nt_json_open(json, key, '[');
	while (nt_db_next(row)) {
		nt_json_open(json, NULL, '{');
		nt_result_json(json, row);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	return nt_db_end(part->db, row, "the recording cannot be read");
}

static int json_lanes(struct nt_json *json, const struct nt_lanes *lanes, const struct nt_part *part)
{
	json_totals(json, lanes);
	json_cells(json, lanes);
	if (json_who(json, lanes, part) || json_rows(json, part, NT_LANES_OPERATIONS, "operations") ||
	    json_rows(json, part, NT_LANES_SOFTIRQS, "softirqs"))
		return -1;
	return json_rows(json, part, NT_LANES_LOSSES, "losses");
}

static int json_worst(struct nt_json *json, const struct nt_lanes_result *result)
{
	struct nt_selection one_cpu;
	int error = 0;

	nt_json_text(json, "worst_of", result->choice->worst);
	nt_json_integer(json, "window_ns", (int64_t)result->choice->window_ns);
	nt_json_bool(json, "each_cpu", result->choice->each_cpu);
	nt_json_integer(json, "at_most_ns", (int64_t)result->at_most_ns);
	nt_json_open(json, "worst", '[');
	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		const struct nt_lanes_worst *worst = &result->worst[i];
		struct nt_part part = nt_lanes_worst_part(result, worst, &one_cpu);

		nt_json_open(json, NULL, '{');
		nt_json_integer(json, "ts", worst->window.ts);
		nt_json_integer(json, "since_start_ns", worst->window.ts - result->part.session->start_ts);
		nt_json_integer(json, "ns", (int64_t)worst->window.ns);
		nt_json_real(json, "share", (double)worst->window.ns / (double)nt_lanes_worst_whole(result, worst));
		error = json_lanes(json, &worst->lanes, &part);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	return error;
}

int nt_lanes_json(const struct nt_lanes_result *result, struct nt_json *json)
{
	const struct nt_part *part = &result->part;
	int error;

	nt_json_open(json, NULL, '{');
	nt_json_integer(json, "session_id", part->session->id);
	nt_json_integer(json, "start_ts", part->session->start_ts);
	nt_json_integer(json, "start_realtime_ns", part->session->start_realtime_ns);
	nt_json_integer(json, "from_ts", part->from_ts);
	nt_json_integer(json, "to_ts", part->to_ts);
	nt_json_text(json, "process", part->selection->process);
	error = result->choice->worst ? json_worst(json, result) : json_lanes(json, &result->lanes, part);
	nt_json_close(json, '}');
	return error;
}

/* ---- CSV ---- */

#define FIXED 5 /* columns before those of kinds */

int nt_lanes_csv_begin(struct nt_printer *printer)
{
	const char *names[FIXED + NT_LANE_KINDS] = {"session_id", "row", "cpu", "ts", "dur"};
	char kinds[NT_LANE_KINDS][32];

	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		snprintf(kinds[kind], sizeof(kinds[kind]), "%s_ns", nt_lane_kind_name(kind));
		names[FIXED + kind] = kinds[kind];
	}
	return nt_printer_begin(printer, FIXED + NT_LANE_KINDS, names);
}

static void csv_sum(struct nt_printer *printer, int64_t session_id, const char *row, const uint32_t *cpu, int64_t ts,
		    uint64_t dur, const uint64_t ns[NT_LANE_KINDS])
{
	struct nt_cell cells[FIXED + NT_LANE_KINDS] = {
		nt_cell_integer(session_id),   nt_cell_text(row), {.type = NT_CELL_NULL}, nt_cell_integer(ts),
		nt_cell_integer((int64_t)dur),
	};

	if (cpu)
		cells[2] = nt_cell_integer(*cpu);
	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++)
		cells[FIXED + kind] = nt_cell_integer((int64_t)ns[kind]);
	nt_printer_row(printer, cells);
}

static void csv_totals(struct nt_printer *printer, int64_t session_id, const char *row, const struct nt_lanes *lanes)
{
	uint64_t total[NT_LANE_KINDS], span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;

	for (size_t i = 0; i < lanes->n; i++)
		csv_sum(printer, session_id, row, &lanes->lanes[i].cpu, lanes->from_ts, span, lanes->lanes[i].total);
	nt_lanes_total(lanes, total);
	csv_sum(printer, session_id, row, NULL, lanes->from_ts, span * lanes->n, total);
}

static void csv_cells(struct nt_printer *printer, int64_t session_id, const struct nt_lanes *lanes)
{
	for (size_t i = 0; i < lanes->n; i++) {
		const struct nt_lane *lane = &lanes->lanes[i];

		for (uint32_t column = 0; column < lanes->columns; column++) {
			int64_t ts = nt_lanes_column_ts(lanes, column);

			csv_sum(printer, session_id, "cell", &lane->cpu, ts,
				(uint64_t)nt_lanes_column_ts(lanes, column + 1) - (uint64_t)ts,
				&lane->cells[(size_t)column * NT_LANE_KINDS]);
		}
	}
}

int nt_lanes_csv(const struct nt_lanes_result *result, struct nt_printer *printer)
{
	int64_t session_id = result->part.session->id;

	if (!result->choice->worst) {
		csv_totals(printer, session_id, "total", &result->lanes);
		csv_cells(printer, session_id, &result->lanes);
		return 0;
	}
	for (unsigned int i = 0; i < result->n_worst; i++)
		csv_totals(printer, session_id, "worst", &result->worst[i].lanes);
	return 0;
}
