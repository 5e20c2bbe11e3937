/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * groups.h - what sending and receiving cost, in groups: by program, process, port, peer, cgroup, socket or iface. Each
 * grouping is one table entry with its titles and its SQL. Prints nothing.
 *
 * The SQL of a grouping stands behind NT_GROUP_SQL, which says what is grouped: of the part that nt_part_bind binds,
 * and of its process alone. The sums are those of query/cpus/part_costs.h, or of a whole session.
 *
 *   spent(utid, owner, ns)    CPU time of the owners send, recv and task
 *   did(utid, socket_id, op, ops, bytes, cpu_ns, untimed, lower_bound)    operations, summed as in sock_cost
 *   charged(upid, socket_id, ns, least_ns, most_ns)    what they pay of net_rx; no row: it is not known
 *   span(ns)                  one row: the time that shares of one CPU refer to
 *
 * Its rows have the most expensive first: the columns that name the group, then the number of its members (for
 * groupings that have members), then the costs. total_ns is send_ns + recv_ns + rx_ns, between at_least_ns and
 * at_most_ns. Every cost column can be added up over all rows. The sum is exactly that of `spent` (program, process,
 * cgroup) or of `did` (port, peer, socket), and of `charged`: what is not known is a row "(unknown)".
 *
 * The grouping by iface has no operations. It is all of net_rx, by the interface that received the packets last, with
 * a column for each payer that an interface may have. Its rows sum to `paid`.
 */
#pragma once

#include "report/query/by.h"
#include "report/query/payers.h"

struct nt_group_info {
	const char *rows; /* "programs": the member of JSON, the section of CSV */
	const char *title; /* for people */
	const char *note; /* a sentence on what the groups are; "" if that is plain */
	const char *sql; /* ?1 is the session */
};

/* Of a grouping of costs (NT_BY_OF_COSTS). */
const struct nt_group_info *nt_group(enum nt_by by);

/* Address and port of a socket's end, in SQL, the address in brackets if it is one of IPv6; NULL: it has none. `of`:
 * "k." */
#define NT_ENDPOINT_SQL(of, address, port)                                                                             \
	"CASE WHEN " of "family = 'inet6' THEN '[' || " of address " || ']' ELSE " of address                          \
	" END || ':' || " of port " "
/* The columns local and peer of a socket `k`; local is "(unknown)" where no socket is known. */
#define NT_SOCKET_ENDS_SQL                                                                                             \
	"CASE WHEN k.id IS NULL THEN '(unknown)' ELSE " NT_ENDPOINT_SQL(                                               \
		"k.", "src", "sport") "END AS local, " NT_ENDPOINT_SQL("k.", "dst", "dport") "AS peer"
/* The name of a network device `of`, with its network namespace where several have that name. */
#define NT_IFACE_SQL(of)                                                                                               \
	"CASE WHEN " of "name IN (SELECT name FROM net_device WHERE session_id = ?1 GROUP BY name "                    \
	"HAVING count(DISTINCT netns) > 1) THEN " of "name || coalesce(' (netns ' || " of "netns || ')', '') "         \
	"ELSE " of "name END "
/* Common table expressions. */
#define NT_GROUP_OF_PROCESS_SQL "AND (?4 IS NULL OR utid IN (" NT_PROCESS_THREADS_SQL ")) "
#define NT_GROUP_SQL                                                                                                   \
	"spent AS (SELECT utid, owner, spent_ns AS ns FROM cpu_cost "                                                  \
	"WHERE session_id = ?1 AND owner IN ('send', 'recv', 'task') " NT_GROUP_OF_PROCESS_SQL "), "                   \
	"did AS (SELECT utid, socket_id, op, ops, bytes, cpu_ns, untimed, lower_bound FROM sock_cost "                 \
	"WHERE session_id = ?1 " NT_GROUP_OF_PROCESS_SQL "), " NT_PAID_SQL ", " NT_CHARGED_SQL ", " NT_PART_SPAN_SQL
