/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parts.h - the parts of the data of `export html`, and what all of them ask about. Each reads the database and writes
 * to the stream of the JSON writer, and nothing else.
 */
#pragma once

#include "report/out/output.h"
#include "report/query/cpus/read.h"
#include "report/query/stages/result.h"
#include "report/timeline/timeline.h"

/* The bounds of all queries about a session. Stays where it is: `part` points into it. */
struct nt_html_scope {
	struct nt_db *db;
	const struct nt_selection *selection;
	struct nt_session session;
	struct nt_part part; /* the same for query/ */
	int64_t from_ts, to_ts; /* what of the session is selected; equal: nothing */
	bool is_whole; /* all of it is */
	char cpus[NT_CPUS_SQL_MAX]; /* the selected CPUs, as a condition in SQL on `cpu` */
};

void nt_html_scope_init(struct nt_html_scope *scope, struct nt_db *db, const struct nt_selection *selection,
			const struct nt_session *session);
/* Prepares a statement, binding ?1 the session, and ?2 to ?4 as nt_part_bind, as far as it has them. NULL: db->error.
 */
sqlite3_stmt *nt_html_prepare(const struct nt_html_scope *scope, const char *sql);

/* ---- costs.c: the owners of each CPU's time, in steps of time, and the peaks of the network ----
 *
 * Sums are exact. They come from cpu_cost where steps are whole buckets and the whole session is selected, else from
 * cpu_slice, whose slices are cut at the edges of steps.
 */

/* The owners of timeline/timeline.h, and one more: whoever else was on the CPU (with --process), and none of them. */
#define NT_HTML_OWNERS (NT_OWNER_COUNT + 1)

#define NT_HTML_MAX_STEPS 2000 /* of a session, so at least 800 where a step is not below 1 ns */
/* Steps times CPUs of the page: ten owners with ten digits each, and it is still below 5 MB. So 64 CPUs have up to 620.
 */
#define NT_HTML_MAX_CELLS 40000
#define NT_HTML_MIN_STEPS 50
#define NT_HTML_MAX_CPUS 1024

/* A stretch of steps, and the time of the network in it. */
struct nt_html_peak {
	bool is_there;
	uint32_t cpu;
	uint32_t first_step, steps;
	int64_t net_ns;
};

/* Owner frees with nt_html_costs_release. */
struct nt_html_costs {
	int64_t from_ts, to_ts, step_ns; /* the last step may be shorter */
	uint32_t steps;
	bool from_slices;
	struct nt_lanes_filter filter;
	uint32_t n_cpus, *cpus; /* ascending */
	size_t cpus_size;
	uint32_t room; /* so many steps at most */
	int64_t *cells; /* see nt_html_cell */
	struct nt_html_peak peak, peak_all; /* of one CPU; of all together */
};

/*
 * Before the scan: chooses steps and makes room. `most_cells`: the session's part of NT_HTML_MAX_CELLS. 0, or -1 and
 * db->error; to be released even then. Without steps there is nothing to read.
 */
int nt_html_costs_begin(const struct nt_html_scope *scope, uint32_t most_cells, struct nt_html_costs *costs);
/* Takes the time out of a scan. Good as long as *costs. */
struct nt_scan_reader nt_html_costs_reader(struct nt_html_costs *costs);
/* After it: finds the peaks. */
void nt_html_costs_end(struct nt_html_costs *costs);
void nt_html_costs_release(struct nt_html_costs *costs);
/*
 * Writes "costs": {"from_ns", "to_ns", "step_ns", "steps", "source", "network": [owner, ...], "peak", "peak_all",
 * "cpus": [{"cpu", "ns": {owner: [ns in each step], ...}}, ...]}; times are since `since_ts`.
 */
void nt_html_costs_json(const struct nt_html_costs *costs, int64_t since_ts, struct nt_json *json);

/* The same, piece by piece, for time that goes on: without a scan. */

/* Reads which CPUs there are. 0, or -1 and db->error. */
int nt_html_costs_cpus(const struct nt_html_scope *scope, struct nt_html_costs *costs);
/* Cells for so many steps, all of them 0. 0 or -ENOMEM. */
int nt_html_costs_make_room(struct nt_html_costs *costs, uint32_t steps);
/* From now on they go to `to_ts`, which is not before costs->to_ts: from as long ago as there is room for. */
void nt_html_costs_go_on(struct nt_html_costs *costs, int64_t to_ts);
/*
 * A slice; or a sum of cpu_cost: `spent_ns` of the stretch. CPUs that are not among costs->cpus, and the time outside,
 * are left out.
 */
void nt_html_costs_add(struct nt_html_costs *costs, int64_t cpu, uint32_t owner, int64_t ts, int64_t dur,
		       int64_t spent_ns);
/* Nanoseconds of an owner on a CPU (by its place in `cpus`) in a step. */
int64_t *nt_html_cell(const struct nt_html_costs *costs, uint32_t cpu, uint32_t owner, uint32_t step);

/* ---- tables.c: facts about the session, tables of costs, and events over time ----
 *
 * Each is one query; a new one is a line in tables.c and needs nothing in the page.
 */

#define NT_HTML_ROWS 40 /* of a table; the others are summed up in one */
#define NT_HTML_TEXTS 200
#define NT_HTML_TEXT_BYTES 1024 /* of a text; the rest is left out */

/* Each writes one member of the object at hand. 0, or -1 and db->error. */

/* "session": {...}, and "recorder": {...}, what its threads cost (query/self_cost.h); empty if that is not on the tape.
 */
int nt_html_facts(const struct nt_html_scope *scope, struct nt_json *json);
/* "tables": [{"name", "by", "title", "note", "columns": [...], "rows": [[...], ...], "rest": [...] or null,
 * "rest_rows"},
 * ...]. The units of columns are the ends of their names: _ns, _bytes, _count, _share. The first ones are the groupings
 * of query/groups.h, whose word is "by". */
int nt_html_tables(const struct nt_html_scope *scope, struct nt_json *json);
/* "uncovered": [...], "problems": [...] */
int nt_html_texts(const struct nt_html_scope *scope, struct nt_json *json);
/* "events": [{"name", "title", "counts": [step, count, step, count, ...]}, ...], of those that there are. */
int nt_html_events(const struct nt_html_scope *scope, const struct nt_html_costs *costs, struct nt_json *json);

/* ---- latency.c: the figures of each hook as in `latency --json` of the same time, CPUs and process, and
 * heat maps ---- */

#define NT_HTML_HEAT_COLUMNS 120
#define NT_HTML_HEAT_PER_OCTAVE 4

/*
 * Writes "latency": [an object of what nt_latency_json writes], and "heat": [{"hook", "columns": [ns since
 * the start where each begins, and the end], "bounds": [ns; bucket i holds what is above bounds[i] and up to bounds[i +
 * 1]], "cells": [column, bucket, packets, ...]}, ...]. 0, or -1 and db->error.
 */
int nt_html_latency(const struct nt_html_scope *scope, struct nt_json *json);

/* ---- stages.c: the same as `stages --json` of the same time, CPUs and process ---- */

#define NT_HTML_STAGES 1024 /* rows: no recording has as many stages and families, even of all owners together */

/* Stays where it is while it is read. */
struct nt_html_stages {
	struct nt_stage_choice choice;
	struct nt_stage_result result;
	bool has; /* the session has samples; else there is nothing to read */
};

/* Before the scan, whose readers are nt_stage_readers of result.reading. 0, or -1 and db->error. To be released in
 * either case. */
int nt_html_stages_begin(const struct nt_html_scope *scope, struct nt_html_stages *stages);
/*
 * After it: writes "stages": {a session as in `stages --json`}, and "merged_stages": [{"owner", "stage", "spent_ns",
 * "low_ns", "high_ns", "samples"}, ...], the same rows with the address families of a stage together; both only if the
 * session has samples of stacks. 0, or -1 and db->error.
 */
int nt_html_stages(struct nt_html_stages *stages, struct nt_json *json);
void nt_html_stages_release(struct nt_html_stages *stages);
