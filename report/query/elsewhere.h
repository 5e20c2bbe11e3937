/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * elsewhere.h - the query for what the network causes elsewhere, for every command that shows it.
 */
#pragma once

#include "schema/meta_keys.h"

/*
 * Of the session ?1: place, what, probe, name, device, ns, share, n. A line of its own for each of the four, also where
 * there was nothing: then without a name. ns is NULL where the probe was not on. Of each of the four, n counts from 1
 * on, the largest first.
 */
#define NT_ELSEWHERE_LINES_SQL                                                                                         \
	"(WITH kind(place, what, probe) AS (VALUES (1, 'hardirq', 'irq'), (2, 'net_tx', 'softirq'), "                  \
	"(3, 'timer', 'nettimers'), (4, 'thread', 'sched')), "                                                         \
	"probes(list) AS (SELECT ',' || value || ',' FROM session_meta WHERE session_id = ?1 AND "                     \
	"key = '" NT_META_PROBES "'), "                                                                                \
	"part AS (SELECT what, name, device, sum(ns) AS ns, sum(share) AS share FROM net_cost_elsewhere "              \
	"WHERE session_id = ?1 GROUP BY what, name, device) "                                                          \
	"SELECT k.place, k.what, k.probe, p.name, p.device, CASE WHEN p.ns IS NOT NULL THEN p.ns "                     \
	"WHEN instr((SELECT list FROM probes), ',' || k.probe || ',') THEN 0 END AS ns, p.share, "                     \
	"row_number() OVER (PARTITION BY k.place ORDER BY p.ns DESC, p.name, p.device) AS n "                          \
	"FROM kind AS k LEFT JOIN part AS p ON p.what = k.what)"
#define NT_ELSEWHERE_SQL                                                                                               \
	"SELECT what, name, device, ns AS total_ns, share AS cpu_share FROM " NT_ELSEWHERE_LINES_SQL                   \
	" ORDER BY place, n"

/* For people: of each of the four the first `most` (SQL), and the rest as one; a name says what is missing. */
#define NT_ELSEWHERE_FIRST_SQL(most)                                                                                   \
	"SELECT what, CASE WHEN ns IS NULL THEN 'unknown without the probe ' || probe WHEN n > " most                  \
	" THEN count(*) || ' more' ELSE name END AS name, CASE WHEN n <= " most " THEN device END AS device, "         \
	"sum(ns) AS total_ns, sum(share) AS cpu_share FROM " NT_ELSEWHERE_LINES_SQL " GROUP BY place, min(n, " most    \
	" + 1) ORDER BY place, min(n, " most " + 1)"

#define NT_ELSEWHERE_NOTE                                                                                              \
	"net_tx is a part of the network's time. The others are not: they are parts of hardirq, softirq and task."
