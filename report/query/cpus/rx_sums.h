/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rx_sums.h - what each payer pays of net_rx in a part of a session, summed up as rows of rx_cost are read.
 *
 * Rows of a tape are cut at the edges of the part (nt_lanes_read_ops), and their sums are exact. Those of a database
 * are sums of buckets. In a bucket that an edge cuts, the slices tell how much net_rx each CPU had within the part. It
 * is divided in the proportion of the whole bucket: with exact remainders, and with bounds. So in both cases the sums
 * add up to the net_rx of the part.
 *
 * Memory is for the sums, and for the rows of buckets that are cut. Prints nothing.
 */
#pragma once

#include "report/query/cpus/read.h"
#include "report/util/texts.h"

#define NT_RX_NO_WORD UINT32_MAX

/* As the columns of rx_cost. */
struct nt_rx_figures {
	int64_t spent_ns, exact_ns, most_ns, packets, segments, bytes;
};

struct nt_rx_sum {
	uint32_t payer, reason; /* numbers of words; NT_RX_NO_WORD: NULL */
	struct nt_value upid, socket_id, flow_id, device_id;
	struct nt_rx_figures figures;
};

/* A row of which the part has some of the time. */
struct nt_rx_edge {
	int64_t cpu, ts, dur;
	int64_t within_ns; /* of net_rx, if it fills the row's time; else the CPU's edges tell */
	size_t sum; /* SIZE_MAX: it is another process's */
	struct nt_rx_figures figures;
};

struct nt_rx_sums {
	struct nt_lanes_filter *filter; /* has the process */
	struct nt_part part;
	/* The parts of the first and of the last bucket that are in the part; of one bucket alone, the first. */
	struct nt_window edges[2];
	struct nt_texts words;
	struct nt_rx_sum *sums;
	size_t n, size;
	struct nt_rx_edge *cut;
	size_t n_cut, cut_size;
	struct nt_rx_cpu {
		int64_t ns[2]; /* of net_rx, in the edges */
	} * cpus;
	size_t n_cpus, cpus_size;
	struct nt_id_map ids, pairs; /* numbers, from 1 on */
	uint64_t n_ids, n_pairs;
	struct nt_id_map by_key, by_cpu; /* indexes + 1 */
	bool is_estimate; /* some of it */
};

/* *part is copied; `filter` must outlive the sums. To be released in any case; zero-initialised is empty. */
void nt_rx_sums_begin(struct nt_rx_sums *sums, struct nt_lanes_filter *filter, const struct nt_part *part);
void nt_rx_sums_release(struct nt_rx_sums *sums);
/* Takes a row of cpu_slice, one of rx_cost, in any order. 0, -ENOMEM, or -ERANGE: it is no recorder's; so the next. */
int nt_rx_sums_slice(struct nt_rx_sums *sums, const struct nt_row *row);
int nt_rx_sums_row(struct nt_rx_sums *sums, const struct nt_row *row);
/* After them. */
int nt_rx_sums_end(struct nt_rx_sums *sums);
/* An array for NT_PAID_JSON_SQL (query/payers.h). The caller frees it. NULL: out of memory. */
char *nt_rx_sums_json(const struct nt_rx_sums *sums);
