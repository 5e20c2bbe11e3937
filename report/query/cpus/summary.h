/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * summary.h - the part of the summary that is about CPUs: one query, and its table for people.
 */
#pragma once

#include "report/db/db.h"
#include "report/db/load.h"
#include "report/out/output.h"

#define NT_SUMMARY_OWNER(number, constant, name, sort)                                                                 \
	"sum(CASE n.owner WHEN '" #name "' THEN n.ns ELSE 0 END) AS " #name "_ns, "
#define NT_SUMMARY_SUM(number, constant, name, sort) "sum(" #name "_ns), "
#define NT_SUMMARY_OF_OTHER(name)
#define NT_SUMMARY_OF_NETWORK(name) " + " #name "_ns"
#define NT_SUMMARY_NS(number, constant, name, sort) NT_SUMMARY_OF_##sort(name)
#define NT_SUMMARY_OWNERS NT_OWNERS(NT_SUMMARY_OWNER)
#define NT_SUMMARY_SUMS NT_OWNERS(NT_SUMMARY_SUM)
#define NT_SUMMARY_NETWORK "0" NT_OWNERS(NT_SUMMARY_NS)

/*
 * A row for each CPU and, with cpu NULL, one for all, last. Columns 1 to NT_OWNER_COUNT are the owners in the order of
 * enum nt_owner. ?1 is the session, ?2 the most rows.
 */
#define NT_SUMMARY_CPUS_SQL                                                                                            \
	"WITH owned AS (SELECT n.cpu, " NT_SUMMARY_OWNERS "sum(n.ns) AS all_ns "                                       \
	"FROM net_cost_cpu AS n WHERE n.session_id = ?1 GROUP BY n.cpu), "                                             \
	"counted AS (SELECT cpu, sum(records) AS events, sum(lost) AS lost, "                                          \
	"sum(CASE WHEN kind IN " NT_SAMPLES_SQL " THEN lost ELSE 0 END) AS lost_samples FROM record_count "            \
	"WHERE session_id = ?1 GROUP BY cpu), "                                                                        \
	"stolen AS (SELECT cpu, (max(value) - min(value)) * (1000000000 / "                                            \
	"(SELECT clock_ticks FROM session WHERE session_id = ?1)) AS stolen_ns FROM proc_counter "                     \
	"WHERE session_id = ?1 AND source = '/proc/stat' AND name = 'steal' AND cpu IS NOT NULL "                      \
	"AND NOT EXISTS (" NT_META_SQL(                                                                                \
		NT_LOAD_RECORDING_START) ") GROUP BY cpu), "                                                           \
					 "each AS (SELECT owned.*, coalesce(events, 0) AS events, coalesce(lost, 0) "  \
					 "AS lost, "                                                                   \
					 "coalesce(lost_samples, 0) AS lost_samples, stolen_ns FROM owned "            \
					 "LEFT JOIN counted ON counted.cpu = owned.cpu LEFT JOIN stolen ON "           \
					 "stolen.cpu = owned.cpu), "                                                   \
					 "both AS (SELECT * FROM each UNION ALL SELECT NULL, " NT_SUMMARY_SUMS         \
					 "sum(all_ns), "                                                               \
					 "sum(events), sum(lost), sum(lost_samples), sum(stolen_ns) FROM each) "       \
					 "SELECT *, " NT_SUMMARY_NETWORK " AS net_ns, "                                \
					 "CAST(" NT_SUMMARY_NETWORK                                                    \
					 " AS REAL) / nullif(all_ns - offline_ns, 0) AS net_share, "                   \
					 "CAST(" NT_SUMMARY_NETWORK " + uncovered_ns AS REAL) / nullif(all_ns - "      \
					 "offline_ns, 0) AS net_share_at_most "                                        \
					 "FROM both ORDER BY cpu IS NULL, cpu LIMIT ?2"

/* The table, and the sentences on what it leaves uncertain, on stdout. 0, or -1 and db->error. */
int nt_summary_print_cpus(struct nt_db *db, struct nt_printer *printer, int64_t session_id);
