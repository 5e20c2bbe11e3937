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

/* ---- costs.c ---- */

/* What programs, cgroups and ports of each host cost, until the greatest of them are known. Zero-initialised. */
struct nt_prometheus_groups {
	struct nt_labels hosts;
	struct nt_prometheus_host *of; /* by their numbers */
	size_t size;
};
/* The sums of cpu_cost, sock_cost and rx_cost, which are of this part alone. `tables`: those that there are. */
int nt_prometheus_costs(const struct nt_part *part, uint64_t tables, struct nt_prometheus_groups *groups,
			struct nt_sheet *sheet);
/* Adds those groups to the sheet: `limit` of each kind with their names. 0, or -ENOMEM. */
int nt_prometheus_name_groups(const struct nt_prometheus_groups *groups, size_t limit, struct nt_sheet *sheet);
void nt_prometheus_release_groups(struct nt_prometheus_groups *groups);

/* ---- latency.c ---- */

/* Histograms of hooks, and how many packets are in none. `limit` as above, of the groups of choice->by. */
int nt_prometheus_latency(const struct nt_part *part, const struct nt_latency_choice *choice, size_t limit,
			  struct nt_sheet *sheet);

/* ---- probes.c ---- */

/* Drops, retransmits, waits, disks, flows, memory, energy: of all processes. */
int nt_prometheus_probes(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);

/* ---- recording.c ---- */

/* Records, and the recorder's own cost, of a whole recording. */
int nt_prometheus_recorder(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);
/* Whether the recording is whole, and up to when it goes. At the end: then all that is read of a tape has been. */
int nt_prometheus_recording(const struct nt_part *part, struct nt_sheet *sheet);
