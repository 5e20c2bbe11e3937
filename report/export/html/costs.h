/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * costs.h - the owners of each CPU's time, in steps of time, for `export html`: the sums that its charts show, and the
 * peaks of the network. Reads the database, prints nothing.
 *
 * Sums are exact. They come from cpu_cost where steps are whole buckets and the whole session is selected, else from
 * cpu_slice, whose slices are cut at the edges of steps.
 */
#ifndef NT_REPORT_EXPORT_HTML_COSTS_H
#define NT_REPORT_EXPORT_HTML_COSTS_H

#include "report/db/db.h"
#include "report/query/latency/scan.h"
#include "report/query/selection.h"
#include "report/timeline/timeline.h"

/* The owners of timeline/timeline.h, and one more: whoever else was on the CPU (with --process), and none of them. */
#define NT_HTML_OTHER NT_OWNER_COUNT
#define NT_HTML_OWNERS (NT_OWNER_COUNT + 1)

#define NT_HTML_MAX_STEPS 2000 /* of a session, so at least 800 where a step is not below 1 ns */
/* Steps times CPUs of the page: ten owners with ten digits each, and it is still below 5 MB. So 64 CPUs have up to 620.
 */
#define NT_HTML_MAX_CELLS 40000
#define NT_HTML_MIN_STEPS 50
#define NT_HTML_MAX_CPUS 1024

/* What all queries about a session are bound by. */
struct nt_html_scope {
	struct nt_db *db;
	const struct nt_selection *selection;
	struct nt_session session;
	int64_t from_ts, to_ts; /* what of the session is selected; equal: nothing */
	bool is_whole; /* all of it is */
	char cpus[NT_MAX_CPU_RANGES * 48 + 16]; /* the selected CPUs, as a condition in SQL on `cpu` */
};

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
	uint32_t n_cpus, *cpus; /* ascending */
	size_t cpus_size;
	int64_t *cells; /* see nt_html_cell */
	struct nt_html_peak peak, peak_all; /* of one CPU; of all together */
};

void nt_html_scope_init(struct nt_html_scope *scope, struct nt_db *db, const struct nt_selection *selection,
			const struct nt_session *session);
/* Prepares a statement, binding ?1 the session, ?2 and ?3 the time, ?4 the process or NULL, as far as it has them.
 * NULL: db->error. */
sqlite3_stmt *nt_html_prepare(const struct nt_html_scope *scope, const char *sql);

/* `most_cells`: the session's part of NT_HTML_MAX_CELLS. 0, or -1 and db->error; to be released even then. */
int nt_html_costs_read(const struct nt_html_scope *scope, uint32_t most_cells, struct nt_html_costs *costs);
void nt_html_costs_release(struct nt_html_costs *costs);
/* Nanoseconds of an owner on a CPU (by its place in `cpus`) in a step. */
int64_t *nt_html_cell(const struct nt_html_costs *costs, uint32_t cpu, uint32_t owner, uint32_t step);
/* The time of the network in a step. */
int64_t nt_html_net(const struct nt_html_costs *costs, uint32_t cpu, uint32_t step);

#endif
