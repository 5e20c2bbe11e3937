/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elsewhere.h - the query for what the network causes elsewhere, for every command that shows it.
 */
#pragma once

#include "report/db/older.h"
#include "schema/meta_keys.h"

/*
 * Of the session ?1: place, what, name, device, ns, share, unknown, n. A line of its own for each of the four, also
 * where there was nothing: then without a name. ns is NULL where the probe was not on, or the database is older than
 * the table; `unknown` says why. Of each of the four, n counts from 1 on, the largest first.
 */
#define NT_ELSEWHERE_IS_OLDER_SQL NT_OLDER_LACKS_SQL("elsewhere_cost")
#define NT_ELSEWHERE_UNKNOWN_SQL                                                                                       \
	"CASE WHEN what <> 'net_tx' AND " NT_ELSEWHERE_IS_OLDER_SQL " THEN 'unknown, as its schema is older' "         \
	"WHEN NOT ifnull(instr((SELECT list FROM probes), ',' || probe || ','), 0) "                                   \
	"THEN 'unknown without the probe ' || probe END AS unknown "
#define NT_ELSEWHERE_LINES_SQL                                                                                         \
	"(WITH kind(place, what, probe) AS (VALUES (1, 'hardirq', 'irq'), (2, 'net_tx', 'softirq'), "                  \
	"(3, 'timer', 'nettimers'), (4, 'thread', 'sched')), "                                                         \
	"probes(list) AS (SELECT ',' || value || ',' FROM session_meta WHERE session_id = ?1 AND "                     \
	"key = '" NT_META_PROBES "'), "                                                                                \
	"doubt AS (SELECT place, what, " NT_ELSEWHERE_UNKNOWN_SQL "FROM kind), "                                       \
	"part AS (SELECT what, name, device, sum(ns) AS ns, sum(share) AS share FROM net_cost_elsewhere "              \
	"WHERE session_id = ?1 GROUP BY what, name, device) "                                                          \
	"SELECT d.place, d.what, p.name, p.device, CASE WHEN d.unknown IS NULL THEN ifnull(p.ns, 0) ELSE p.ns END "    \
	"AS ns, p.share, d.unknown, row_number() OVER (PARTITION BY d.place ORDER BY p.ns DESC, p.name, p.device) "    \
	"AS n FROM doubt AS d LEFT JOIN part AS p ON p.what = d.what)"
#define NT_ELSEWHERE_SQL                                                                                               \
	"SELECT what, name, device, ns AS total_ns, share AS cpu_share FROM " NT_ELSEWHERE_LINES_SQL                   \
	" ORDER BY place, n"

/* For people: of each of the four the first `most` (SQL), and the rest as one; a name says what is missing. */
#define NT_ELSEWHERE_FIRST_SQL(most)                                                                                   \
	"SELECT what, CASE WHEN ns IS NULL THEN unknown WHEN n > " most                                                \
	" THEN count(*) || ' more' ELSE name END AS name, CASE WHEN n <= " most " THEN device END AS device, "         \
	"sum(ns) AS total_ns, sum(share) AS cpu_share FROM " NT_ELSEWHERE_LINES_SQL " GROUP BY place, min(n, " most    \
	" + 1) ORDER BY place, min(n, " most " + 1)"

#define NT_ELSEWHERE_NOTE                                                                                              \
	"net_tx is a part of the network's time. The others are not: they are parts of hardirq, softirq and task."
