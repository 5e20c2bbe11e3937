/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part_sums.h - what a part of a session cost, summed up as its rows are read: the time of each owner on each CPU, the
 * CPU time of each thread, its operations on each socket, and what each payer pays of net_rx. SQL takes the sums as
 * arrays in JSON (query/groups.h, query/cpus/summary.h). Of a whole session the tables cpu_cost, sock_cost and rx_cost
 * have them. Memory is for the sums. Prints nothing.
 */
#pragma once

#include "report/query/cpus/read.h"
#include "report/query/cpus/rx_sums.h"
#include "report/query/payers.h"
#include "report/timeline/timeline.h"
#include "report/util/texts.h"

struct nt_part_sums {
	struct nt_lanes_filter *filter; /* has the part, and the threads of --process */
	struct nt_part_owned { /* while the threads were on the CPU */
		int64_t cpu;
		int64_t ns[NT_OWNER_COUNT];
	} * owned;
	size_t n_owned, owned_size;
	struct nt_part_spent {
		struct nt_value utid;
		enum nt_owner owner;
		int64_t ns;
	} * spent;
	size_t n_spent, spent_size;
	struct nt_part_did {
		struct nt_value utid, socket_id;
		uint32_t op; /* number of a text */
		int64_t ops, bytes, cpu_ns, untimed, lower_bound;
	} * did;
	size_t n_did, did_size;
	struct nt_texts ops;
	struct nt_id_map threads, sockets, pairs; /* numbers, from 1 on */
	uint64_t n_threads, n_sockets, n_pairs;
	struct nt_id_map by_cpu, by_thread, by_pair; /* indexes + 1 */
	struct nt_rx_sums rx;
	char *owned_json, *spent_json, *did_json, *paid_json; /* as SQL has them, below */
};

/* `filter` and its part must outlive it. To be released in any case. */
void nt_part_sums_begin(struct nt_part_sums *sums, struct nt_lanes_filter *filter);
/* Reads slices and operations. 0; -1 and db->error; -ENOMEM; -ERANGE: they are no recorder's; so do the next. */
int nt_part_sums_read(struct nt_part_sums *sums);
/* The same in two steps: slices are taken out of a scan; then operations are read. The reader is good as long as *sums.
 */
struct nt_scan_reader nt_part_sums_slices(struct nt_part_sums *sums);
int nt_part_sums_read_ops(struct nt_part_sums *sums);
/* After them: writes the arrays. 0, or -1 and db->error. */
int nt_part_sums_end(struct nt_part_sums *sums);
void nt_part_sums_release(struct nt_part_sums *sums);

/*
 * The common table expressions of query/groups.h, of a part. `owned` is that of query/cpus/summary.h.
 * nt_part_sums_bind binds the time, ?2 and ?3, and the arrays, ?5 to ?8, as far as the statement has them.
 */
#define NT_PART_SUMS_SQL                                                                                               \
	"spent AS (SELECT value ->> 0 AS utid, value ->> 1 AS owner, value ->> 2 AS ns FROM json_each(?5)), "          \
	"did AS (SELECT value ->> 0 AS utid, value ->> 1 AS socket_id, value ->> 2 AS op, value ->> 3 AS ops, "        \
	"value ->> 4 AS bytes, value ->> 5 AS cpu_ns, value ->> 6 AS untimed, value ->> 7 AS lower_bound "             \
	"FROM json_each(?6)), " NT_PAID_JSON_SQL("?8") ", " NT_CHARGED_SQL ", " NT_PART_SPAN_SQL
#define NT_PART_SPAN_SQL "span AS (SELECT ?3 - ?2 AS ns) "
#define NT_PART_OWNED_SQL                                                                                              \
	"owned AS (SELECT value ->> 0 AS cpu, value ->> 1 AS owner, value ->> 2 AS ns FROM json_each(?7)) "
void nt_part_sums_bind(const struct nt_part_sums *sums, sqlite3_stmt *statement);
