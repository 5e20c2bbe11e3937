/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan.h - the rows of some tables of one session, one by one, for whoever takes them: of a tape in one pass over it,
 * without SQL; of a database table by table. The rows of a table come in its order, which in cpu_slice and sched_slice
 * is that of time for each CPU; on a tape, rows of several tables come mixed. Prints nothing but progress. Memory as
 * rows/rows.h: independent of the length of the recording.
 *
 * A database may be anybody's: a value of a wrong type is given as NULL, also where a row must have one.
 *
 * Functions give 0, or -1 and a sentence in db->error, unless they say otherwise.
 */
#pragma once

#include "report/db/db.h"
#include "report/rows/view.h"

struct nt_scan_want {
	/*
	 * Rows of identities (process, thread, cgroup, socket, net_device), of symbols and stacks, and of clocks come
	 * first, then snapshots, then events.
	 */
	bool names_first;
	bool strict; /* of a database: a row is an error that lacks a value which it must have, and which is looked at
		      */
	/* NT_TABLE_BIT of each small table that the command asks for later: on a tape, this pass finds them
	 * (tape_source.h).
	 */
	uint64_t small;
	/* Of a tape only the rows of a view are read, as rows/rows.h says; a database gives all. */
	struct nt_view view;
	bool all_ops;
};

/* [from_ns, to_ns) on some CPUs. */
struct nt_scan_part {
	uint64_t from_ns, to_ns;
	bool (*has_cpu)(const void *arg, uint32_t cpu); /* NULL: all */
	const void *arg;
};
/*
 * The command is about this view only. From now on, scans of a tape give only its rows where they have no view of their
 * own, and the tables that tape_source.h names have only its rows. Of a database all rows come, so who reads them looks
 * at times and CPUs in any case.
 */
int nt_scan_limit(struct nt_db *db, const struct nt_scan_part *part);
/* From now on rx_cost of a tape is that of this view. */
int nt_scan_charge(struct nt_db *db, const struct nt_scan_part *part);

/* Takes the rows of a table, and looks at these columns. */
struct nt_scan_reader {
	enum nt_table_id table;
	uint32_t columns; /* NT_COLUMN_BIT of each: others may be NULL; 0: all */
	/* 0; anything else ends the scan: -1 and db->error, or another number. */
	int (*take)(void *arg, const struct nt_row *row);
	void *arg;
};
/*
 * One scan for several readers, also of one table. While it runs, nobody else may ask the tape anything. 0; -1 and
 * db->error; or what a reader gave.
 */
int nt_scan_all(struct nt_db *db, int64_t session_id, uint64_t small, const struct nt_scan_reader *readers, size_t n);
/* The same as `want` says. */
int nt_scan_within(struct nt_db *db, int64_t session_id, const struct nt_scan_want *want,
		   const struct nt_scan_reader *readers, size_t n);
