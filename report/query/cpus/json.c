// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - the part of result.h that is for programs: JSON and CSV, all in whole nanoseconds.
 */
#include "report/query/cpus/result.h"

#include <stdio.h>
#include <string.h>

#include "report/db/result.h"

/* ---- sums: alike for both formats ---- */

/* Nanoseconds of each kind, under the names of columns. */
static void put_kinds(struct nt_line *line, const uint64_t ns[NT_LANE_KINDS])
{
#define NAME(number, constant, name, sort) #name "_ns",
	static const char *const names[NT_LANE_KINDS] = {NT_OWNERS(NAME) "other_ns"};
#undef NAME

	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++)
		nt_line_put(line, names[kind], nt_cell_integer((int64_t)ns[kind]));
}

/* The sum of a time that begins at `ts`, on a CPU, or on all of them if it is NULL. */
static void put_sum(struct nt_line *line, const uint32_t *cpu, int64_t ts, uint64_t dur,
		    const uint64_t ns[NT_LANE_KINDS])
{
	nt_line_put(line, "cpu", nt_cell_if(cpu, cpu ? *cpu : 0));
	nt_line_put(line, "ts", nt_cell_integer(ts));
	nt_line_put(line, "dur", nt_cell_integer((int64_t)dur));
	put_kinds(line, ns);
}

/* Takes the lines of sums: JSON, or CSV, whose lines begin with the session and the kind of row. */
struct taker {
	struct nt_json *json;
	struct nt_printer *printer; /* NULL: JSON */
	int64_t session_id;
	const char *row;
};

static void take_sum(const struct taker *taker, const uint32_t *cpu, int64_t ts, uint64_t dur,
		     const uint64_t ns[NT_LANE_KINDS])
{
	struct nt_line line = {0};

	if (taker->printer) {
		nt_line_put(&line, "session_id", nt_cell_integer(taker->session_id));
		nt_line_put(&line, "row", nt_cell_text(taker->row));
	}
	put_sum(&line, cpu, ts, dur, ns);
	if (taker->printer)
		nt_printer_row(taker->printer, line.cells);
	else
		nt_json_record(taker->json, &line);
}

static void take_totals(const struct taker *taker, const struct nt_lanes *lanes)
{
	uint64_t total[NT_LANE_KINDS], span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;

	for (size_t i = 0; i < lanes->n; i++)
		take_sum(taker, &lanes->lanes[i].cpu, lanes->from_ts, span, lanes->lanes[i].total);
	nt_lanes_total(lanes, total);
	take_sum(taker, NULL, lanes->from_ts, span * lanes->n, total);
}

static void take_cells(const struct taker *taker, const struct nt_lanes *lanes)
{
	for (size_t i = 0; i < lanes->n; i++) {
		for (uint32_t column = 0; column < lanes->columns; column++) {
			int64_t ts = nt_lanes_column_ts(lanes, column), end = nt_lanes_column_ts(lanes, column + 1);

			take_sum(taker, &lanes->lanes[i].cpu, ts, (uint64_t)end - (uint64_t)ts,
				 &lanes->lanes[i].cells[(size_t)column * NT_LANE_KINDS]);
		}
	}
}

/* ---- JSON ---- */

static int json_thread(struct nt_json *json, const struct nt_lane_who *who, const struct nt_part *part,
		       sqlite3_stmt *names)
{
	static const char *const keys[] = {"thread", "tid", "process", "pid"};
	struct nt_line line = {0};
	bool found;

	if (nt_lanes_name(part, names, who->utid, &found))
		return -1;
	nt_line_put(&line, "utid", nt_cell_integer(who->utid));
	for (int column = 0; column < 4; column++)
		nt_line_put(&line, keys[column], found ? nt_result_cell(names, column) : (struct nt_cell){0});
	put_kinds(&line, who->ns);
	nt_json_record(json, &line);
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

/* Takes the statement, which may be NULL. */
static int json_rows(struct nt_json *json, const struct nt_part *part, sqlite3_stmt *row, const char *key)
{
	nt_json_open(json, key, '[');
	while (nt_db_next(row)) {
		nt_json_open(json, NULL, '{');
		nt_result_json(json, row);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	return nt_db_end(part->db, row, "the recording cannot be read");
}

static int json_lanes(struct nt_json *json, const struct nt_lanes *lanes, const struct nt_lanes_beside *beside)
{
	const struct taker taker = {.json = json};
	const struct nt_part *part = &beside->part;
	bool is_estimate;

	nt_json_open(json, "totals", '[');
	take_totals(&taker, lanes);
	nt_json_close(json, ']');
	nt_json_open(json, "cells", '[');
	take_cells(&taker, lanes);
	nt_json_close(json, ']');
	if (json_who(json, lanes, part) || json_rows(json, part, nt_lanes_ops(beside), "operations") ||
	    json_rows(json, part, nt_lanes_softirqs(beside), "softirqs") ||
	    json_rows(json, part, nt_lanes_payers(beside, &is_estimate), "payers"))
		return -1;
	return json_rows(json, part, nt_lanes_losses(part), "losses");
}

static int json_worst(struct nt_json *json, const struct nt_lanes_result *result)
{
	int error = 0;

	nt_json_text(json, "worst_of", result->choice->worst);
	nt_json_integer(json, "window_ns", (int64_t)result->choice->window_ns);
	nt_json_bool(json, "each_cpu", result->choice->each_cpu);
	nt_json_integer(json, "at_most_ns", (int64_t)result->at_most_ns);
	nt_json_open(json, "worst", '[');
	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		const struct nt_lanes_worst *worst = &result->worst[i];

		nt_json_open(json, NULL, '{');
		nt_json_integer(json, "ts", worst->window.ts);
		nt_json_integer(json, "since_start_ns", worst->window.ts - result->part.session->start_ts);
		nt_json_integer(json, "ns", (int64_t)worst->window.ns);
		nt_json_real(json, "share", (double)worst->window.ns / (double)nt_lanes_worst_whole(result, worst));
		error = json_lanes(json, &worst->lanes, &worst->beside);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	return error;
}

int nt_lanes_json(const struct nt_lanes_result *result, struct nt_json *json)
{
	const struct nt_part *part = &result->part;

	nt_json_integer(json, "session_id", part->session->id);
	nt_json_integer(json, "start_ts", part->session->start_ts);
	nt_json_integer(json, "start_realtime_ns", part->session->start_realtime_ns);
	nt_json_integer(json, "from_ts", part->from_ts);
	nt_json_integer(json, "to_ts", part->to_ts);
	nt_json_text(json, "process", part->selection->process);
	return result->choice->worst ? json_worst(json, result) : json_lanes(json, &result->lanes, &result->beside);
}

/* ---- CSV ---- */

/* The columns are those of a line of nothing. */
int nt_lanes_csv_begin(struct nt_printer *printer)
{
	const uint64_t none[NT_LANE_KINDS] = {0};
	struct nt_line line = {.names = {"session_id", "row"}, .n = 2};

	put_sum(&line, NULL, 0, 0, none);
	return nt_printer_begin(printer, line.n, line.names);
}

int nt_lanes_csv(const struct nt_lanes_result *result, struct nt_printer *printer)
{
	struct taker taker = {.printer = printer, .session_id = result->part.session->id, .row = "worst"};

	for (unsigned int i = 0; i < result->n_worst; i++)
		take_totals(&taker, &result->worst[i].lanes);
	if (result->choice->worst)
		return 0;
	taker.row = "total";
	take_totals(&taker, &result->lanes);
	taker.row = "cell";
	take_cells(&taker, &result->lanes);
	return 0;
}
