/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parts.h - what each part of a recording adds to a sheet. Functions give 0, or -1 and a sentence in db->error.
 *
 * They add what is there: a database may lack tables, and a recording may have been made without a probe. `part` is of
 * one session, and its db is limited to it (query/session.h).
 */
#pragma once

#include "report/export/export.h"
#include "report/export/prometheus/sheet.h"
#include "report/query/session.h"

/* The groups of what costs the network's CPU time: more of them than are named are one, named `other`. */
#define NT_PROMETHEUS_OTHER "other"

/* ---- rows.c ---- */

/* The first columns are the values of these metrics, NULL for none; the others are labels by their names. */
struct nt_prometheus_rows {
	unsigned int n_metrics;
	enum nt_metric metrics[3];
};
/* Frees the statement, which may be NULL as of nt_db_prepare that failed. */
int nt_prometheus_add_rows(const struct nt_part *part, const struct nt_prometheus_rows *rows, sqlite3_stmt *row,
			   struct nt_sheet *sheet);

/* ---- costs.c ---- */

/* What programs, cgroups and ports of each host cost, until the greatest of them are known. Zero-initialised. */
struct nt_prometheus_groups {
	struct nt_prometheus_host *of; /* by the sheet's number of the host */
	size_t n, size;
};
/* The sums of cpu_cost, sock_cost and rx_cost, which are of this part alone. `tables`: those that there are. */
int nt_prometheus_costs(const struct nt_part *part, uint64_t tables, struct nt_prometheus_groups *groups,
			struct nt_sheet *sheet);
/* Adds those groups to the sheet: `limit` of each kind with their names. 0, or -ENOMEM. */
int nt_prometheus_name_groups(const struct nt_prometheus_groups *groups, size_t limit, struct nt_sheet *sheet);
void nt_prometheus_release_groups(struct nt_prometheus_groups *groups);

/* ---- latency.c ---- */

/* Histograms of each host's groups (choice->by), until those with the most packets are known. Zero-initialised. */
struct nt_prometheus_latencies {
	struct nt_prometheus_delayed *of; /* by the sheet's number of the host */
	size_t n, size;
};
/* How late packets are at the hooks. How many are in no bucket goes to the sheet. */
int nt_prometheus_latency(const struct nt_part *part, const struct nt_latency_choice *choice,
			  struct nt_prometheus_latencies *latencies, struct nt_sheet *sheet);
/* Adds those histograms to the sheet, as above. CPUs all have their names: a host has no more of them than it has. */
int nt_prometheus_name_latencies(const struct nt_prometheus_latencies *latencies, enum nt_by by, size_t limit,
				 struct nt_sheet *sheet);
void nt_prometheus_release_latencies(struct nt_prometheus_latencies *latencies);

/* ---- probes.c ---- */

/* Drops, retransmits, waits, disks, flows, memory, energy: of all processes. */
int nt_prometheus_probes(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);

/* ---- recording.c ---- */

/* Records, and the recorder's own cost, of a whole recording. */
int nt_prometheus_recorder(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);
/* Whether the recording is whole, and up to when it goes. At the end: then all that is read of a tape has been. */
int nt_prometheus_recording(const struct nt_part *part, struct nt_sheet *sheet);
