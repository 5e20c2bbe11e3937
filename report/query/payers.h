/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * payers.h - who pays for net_rx, in SQL and in words, for every command that says so. Prints nothing.
 */
#pragma once

#include "report/query/session.h"

#define NT_PAID_COLUMNS                                                                                                \
	"payer, reason, upid, socket_id, flow_id, device_id, spent_ns, exact_ns, most_ns, packets, segments, bytes "

/* A common table expression: `paid`, with these columns of rx_cost, of session ?1 and process ?4; NULL: of all. */
#define NT_PAID_SQL                                                                                                    \
	"paid AS (SELECT " NT_PAID_COLUMNS "FROM rx_cost WHERE session_id = ?1 "                                       \
	"AND (?4 IS NULL OR upid IN (" NT_PROCESSES_SQL "))) "
/* Behind it: what processes pay for their sockets, as query/groups.h wants it. */
#define NT_CHARGED_SQL                                                                                                 \
	"charged AS (SELECT upid, socket_id, sum(spent_ns) AS ns, sum(exact_ns) AS least_ns, sum(most_ns) AS most_ns " \
	"FROM paid WHERE payer = 'socket' GROUP BY upid, socket_id) "

/* The time that shares refer to, of the part that nt_part_bind binds. */
#define NT_PART_SPAN_SQL "span AS (SELECT ?3 - ?2 AS ns) "

/* Their time and packets, of `paid`, with `span` as in query/groups.h. `total`: the name of the time's column. */
#define NT_PAID_FIGURES_SQL(total)                                                                                     \
	"sum(r.spent_ns) AS " total ", "                                                                               \
	"CAST(sum(r.spent_ns) AS REAL) / (SELECT nullif(ns, 0) FROM span) AS cpu_share, "                              \
	"sum(r.exact_ns) AS at_least_ns, sum(r.most_ns) AS at_most_ns, sum(r.packets) AS packets_count, "              \
	"sum(r.segments) AS segments_count, sum(r.bytes) AS received_bytes "
/* A row for each payer, the largest first. Only a socket's row has a process. */
#define NT_PAYERS_SQL NT_PAYERS_WHERE_SQL("total_ns", "")
#define NT_PAYERS_WHERE_SQL(total, where)                                                                              \
	"SELECT r.payer AS payer, CASE WHEN r.payer <> 'socket' THEN NULL WHEN r.upid IS NULL THEN 'kernel' "          \
	"ELSE coalesce(w.name, '(unknown)') END AS process, "                                                          \
	"w.pid AS pid, r.reason AS reason, " NT_PAID_FIGURES_SQL(                                                      \
		total) "FROM paid AS r "                                                                               \
		       "LEFT JOIN process AS w ON w.session_id = ?1 AND w.upid = r.upid " where                        \
		       "GROUP BY r.payer, r.upid, r.reason "                                                           \
		       "ORDER BY " total " DESC, packets_count DESC, r.payer, r.upid, r.reason"
/* Without the probe all is of one payer, and says nothing. */
#define NT_IF_PAYERS_ARE_KNOWN_SQL "WHERE EXISTS (SELECT 1 FROM paid WHERE payer <> 'unattributed') "
#define NT_PAYERS_TITLE "Who pays for net_rx"
/* Columns that a narrow line has no room for, the first to go first. */
#define NT_PAYERS_LEAVE_OUT "segments_count,received_bytes,packets_count,cpu_share,at_least_ns&at_most_ns"

/* How a total is made, with payers and without; what they mean; how to get to know them; that some of it is not exact,
 * or estimated. */
#define NT_PAYERS_TOTAL "`total` is send, recv and rx, which is what is paid of net_rx."
#define NT_PAYERS_TOTAL_UNPAID "`total` is send and recv."
#define NT_PAYERS_MEAN                                                                                                 \
	"`unattributed` is time without known packets; `driver`, time of drivers and XDP; `other`, packets to no "     \
	"known socket."
#define NT_PAYERS_UNKNOWN "The probe deliver was off, so it is not known who pays for net_rx: --probes default has it."
#define NT_PAYERS_BOUNDS "Not all rx is known exactly: each total lies between at_least and at_most."
#define NT_PAYERS_ESTIMATED                                                                                            \
	"A database has sums of 100 ms. The part cuts some of these, so what each pays there is an estimate, between " \
	"at_least and at_most. A tape has it exactly."

/* Whether the recording of a session says whose packets were received. 0, or -1 and db->error. */
int nt_payers_are_known(struct nt_db *db, int64_t session_id, bool *are_known);
