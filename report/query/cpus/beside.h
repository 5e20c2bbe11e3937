/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * beside.h - what else happened in a part of a session: socket operations by thread and call, and softirqs by vector,
 * summed up as they are read (db/scan.h); and who pays for net_rx. Memory is for the sums. Prints nothing.
 */
#pragma once

#include "report/query/cpus/read.h"
#include "report/util/texts.h"

struct nt_lanes_op {
	int64_t utid;
	bool has_utid, is_timed, has_dur; /* has_dur: of any is it known */
	uint32_t op, call; /* numbers of texts */
	int64_t ops, failed, bytes, cpu_ns, most_ns, longest_ns, untimed;
};

struct nt_lanes_softirq {
	uint32_t vec, context; /* numbers of texts */
	int64_t runs, total_ns, longest_ns;
};

/* Owner frees with nt_lanes_beside_release. */
struct nt_lanes_beside {
	struct nt_part part;
	struct nt_lanes_filter *filter;
	struct nt_texts texts;
	struct nt_lanes_op *ops;
	size_t n_ops, ops_size;
	struct nt_lanes_softirq *softirqs;
	size_t n_softirqs, softirqs_size;
	struct nt_id_map pairs, threads, by_thread, by_vec; /* numbers of keys and indexes + 1 */
	uint64_t n_pairs, n_threads;
};

/* *part is copied; which process is meant, the filter says, which must outlive it. */
void nt_lanes_beside_begin(struct nt_lanes_beside *beside, struct nt_lanes_filter *filter, const struct nt_part *part);

void nt_lanes_beside_release(struct nt_lanes_beside *beside);
/* Adds a row of sock_op, of softirq_slice, if it is of the part. 0, -ENOMEM, or -ERANGE: it is none. */
int nt_lanes_beside_op(struct nt_lanes_beside *beside, const struct nt_row *row);
int nt_lanes_beside_softirq(struct nt_lanes_beside *beside, const struct nt_row *row);

/* Rows of these sums, with names that tell units; NULL: see db->error. `beside` must outlive them. */
/* By process and call. */
sqlite3_stmt *nt_lanes_ops(const struct nt_lanes_beside *beside);
/* By vector, clipped. */
sqlite3_stmt *nt_lanes_softirqs(const struct nt_lanes_beside *beside);
/* Those who pay for net_rx, as NT_PAYERS_SQL. *is_estimate as of nt_part_costs. */
sqlite3_stmt *nt_lanes_payers(const struct nt_lanes_beside *beside, bool *is_estimate);
