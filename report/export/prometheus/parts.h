/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parts.h - what each part of a recording adds to a sheet. Functions give 0, or -1 and a sentence in db->error.
 *
 * They add what is there: a database may lack tables, and a recording may have been made without a probe. `part` is of
 * one session, and its db is limited to it (query/session.h).
 */
#pragma once

#include "report/export/export.h"
#include "report/export/prometheus/groups.h"
#include "report/export/prometheus/sheet.h"
#include "report/query/latency/result.h"
#include "report/query/session.h"

/* ---- rows.c ---- */

/* The first columns of each row are the values of these metrics, NULL for none; the others are labels by their names.
 * Frees the statement, which may be NULL as of nt_db_prepare that failed. */
int nt_prometheus_add_rows(const struct nt_part *part, const enum nt_metric *metrics, int n_metrics, sqlite3_stmt *row,
			   struct nt_sheet *sheet);

/* Such rows of a part, as nt_part_bind binds it. */
struct nt_prometheus_query {
	enum nt_table_id table; /* that must be there */
	const char *sql;
	int n_metrics;
	enum nt_metric metrics[3];
};
/* Those whose table is one of `tables`. */
int nt_prometheus_add_queries(const struct nt_part *part, uint64_t tables, const struct nt_prometheus_query *queries,
			      size_t n, struct nt_sheet *sheet);

/* ---- costs.c ---- */

enum { NT_PROMETHEUS_KINDS = 3 }; /* of groups: programs, cgroups and ports */
/* What groups of a kind are grouped by. */
enum nt_by nt_prometheus_kind(size_t kind);

/* The figures of such a group. */
struct nt_prometheus_cost {
	double send_ns, recv_ns;
	double rx_ns, rx_low_ns, rx_high_ns; /* 0 where it is not known what they pay */
	double ops, sent_bytes, received_bytes;
	bool has_rx; /* it is known */
};
void nt_prometheus_cost_add(struct nt_prometheus_cost *to, const struct nt_prometheus_cost *from);
/* What a group weighs. */
double nt_prometheus_cost_total(const struct nt_prometheus_cost *cost);

/* The sums of cpu_cost, sock_cost and rx_cost, which are of this part alone. `tables`: those that there are. */
int nt_prometheus_costs(const struct nt_part *part, uint64_t tables,
			struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS], struct nt_sheet *sheet);
/* When all are added: the groups, `limit` of each kind and host with their names. 0, or -ENOMEM. */
int nt_prometheus_name_costs(struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS], size_t limit,
			     struct nt_sheet *sheet);
/* The same of costs that come on top of those before. */
int nt_prometheus_name_new_costs(struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS], size_t limit,
				 struct nt_prometheus_named named[NT_PROMETHEUS_KINDS], struct nt_sheet *sheet);

/* ---- latency.c ---- */

/*
 * How late packets are at the hooks, by choice->by; and how many are in no bucket. Of those that the recorder's
 * programs count, the tape tells all each time: `told` has what was added before, and gets what has been now; NULL:
 * nothing was.
 */
int nt_prometheus_latency(const struct nt_part *part, const struct nt_latency_choice *choice,
			  struct nt_latency_accounting *told, struct nt_prometheus_groups *groups,
			  struct nt_sheet *sheet);
/* When all are added, as above. CPUs all have their names: a host has no more of them than it has. 0, or -ENOMEM. */
int nt_prometheus_name_latencies(struct nt_prometheus_groups *groups, enum nt_by by, size_t limit,
				 struct nt_sheet *sheet);
void nt_prometheus_release_latencies(struct nt_prometheus_groups *groups);

/* ---- probes.c ---- */

/* Drops, retransmits, waits, disks, flows, memory, energy: of all processes. Only what is in one of `tables`. */
int nt_prometheus_probes(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);

/* ---- recording.c ---- */

/* Records of a whole recording, and the recorder's own cost. */
int nt_prometheus_records(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);
int nt_prometheus_recorder(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet);
/* Forgets what the last one and nt_prometheus_recording add: it is found anew. */
void nt_prometheus_forget_recording(struct nt_sheet *sheet);
/* Whether the recording is whole, and up to when it goes. At the end: then all that is read of a tape has been. */
int nt_prometheus_recording(const struct nt_part *part, struct nt_sheet *sheet);
