/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * summary.h - the part of the summary that is about CPUs: one query, and its table for people.
 */
#pragma once

#include "report/db/db.h"
#include "report/db/load.h"
#include "report/out/output.h"
#include "report/query/session.h"
#include "report/timeline/timeline.h"

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
 * enum nt_owner. It stands behind what nt_summary_query puts before it:
 *
 *   owned(cpu, owner, ns)
 *   counted(cpu, events, lost, lost_samples)    no row of a part: its records are not counted
 *   stolen(cpu, stolen_ns)                      nor of a part: it is not known
 */
#define NT_SUMMARY_CPUS_SQL                                                                                            \
	", summed AS (SELECT n.cpu, " NT_SUMMARY_OWNERS "sum(n.ns) AS all_ns FROM owned AS n GROUP BY n.cpu), "        \
	"each AS (SELECT summed.*, " NT_SUMMARY_COUNT("events") ", " NT_SUMMARY_COUNT("lost") ", " NT_SUMMARY_COUNT(   \
		"lost_samples") ", stolen_ns FROM summed LEFT JOIN counted ON counted.cpu = summed.cpu "               \
				"LEFT JOIN stolen ON stolen.cpu = summed.cpu), "                                       \
				"both AS (SELECT * FROM each UNION ALL SELECT NULL, " NT_SUMMARY_SUMS "sum(all_ns), "  \
				"sum(events), sum(lost), sum(lost_samples), sum(stolen_ns) FROM each) "                \
				"SELECT *, " NT_SUMMARY_NETWORK " AS net_ns, "                                         \
				"CAST(" NT_SUMMARY_NETWORK " AS REAL) / nullif(all_ns - offline_ns, 0) AS net_share, " \
				"CAST(" NT_SUMMARY_NETWORK                                                             \
				" + uncovered_ns AS REAL) / nullif(all_ns - offline_ns, 0) AS net_share_at_most "      \
				"FROM both ORDER BY cpu IS NULL, cpu"
/* Of a CPU without records there are 0. */
#define NT_SUMMARY_COUNT(name) "CASE WHEN EXISTS (SELECT 1 FROM counted) THEN coalesce(" name ", 0) END AS " name

/*
 * Such a query with what it stands behind. `is_whole`: nothing is selected, so records are counted. NULL: see
 * db->error.
 */
sqlite3_stmt *nt_summary_query(const struct nt_part *part, bool is_whole, const char *query);

/* A row of NT_SUMMARY_CPUS_SQL. */
struct nt_summary_line {
	bool is_total;
	int cpu;
	uint64_t ns[NT_OWNER_COUNT];
	uint64_t there_ns; /* all but offline */
	int64_t events, lost, lost_samples; /* of the lost: samples */
	bool has_stolen;
	uint64_t stolen_ns;
};

/* All of them: one for each CPU, and the total, last. */
struct nt_summary_cpus {
	struct nt_summary_line *lines;
	size_t n, room;
	bool with_counts; /* of records: of a part they are not counted */
};

/* 0, or -1 and db->error; release it in any case. */
int nt_summary_read_cpus(const struct nt_part *part, bool is_whole, struct nt_summary_cpus *cpus);
void nt_summary_release_cpus(struct nt_summary_cpus *cpus);

/* For people, on stdout: how much time the network stack took, as a sentence. */
void nt_summary_print_network(const struct nt_summary_cpus *cpus);

/* Sentences on what makes that uncertain: losses, stolen time, begins that were not recorded; none where nothing does.
 * 0, or -1 and db->error. */
int nt_summary_print_doubts(struct nt_db *db, const struct nt_summary_cpus *cpus, int64_t session_id);

/* The table of the owners of each CPU's time. 0, or -1: out of memory. */
int nt_summary_print_cpus(const struct nt_summary_cpus *cpus, struct nt_printer *printer);
