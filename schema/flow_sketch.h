/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow_sketch.h - how probe `flows` counts packets by flow in bounded memory: a count sketch (Charikar 2002) whose rows
 * are sampled as NitroSketch does it (2019), and beside it the flows that were sampled most (space-saving, Metwally
 * 2005), in sets. docs/flows.md has the rule. Pure: the BPF programs, the recorder, the reader and the tests share it.
 *
 * Each packet could update one cell of each row. Which of these updates are made is drawn with probability p, each for
 * itself, by the gaps between them. A packet without an update, which most are, costs a comparison and a subtraction.
 * Cells keep what was sampled; who reads them divides by p.
 */
#pragma once

#include "schema/flow_key.h"

#define NT_SKETCH_MAX_ROWS 8
#define NT_SKETCH_LEAST_COLUMNS 64
#define NT_SKETCH_MAX_CELLS 32768

/* Of a count sketch; one hash of 64 bits serves all rows: rows * (column_bits + 1) <= 64. */
struct nt_sketch_shape {
	__u32 rows; /* a power of two; 0: there is no sketch, and each packet is counted with its flow */
	__u32 column_bits; /* a row has 1 << column_bits cells */
};

/* In flow_sketch.c, for user space. Takes rows and columns such as "4x512". False: they are none that a sketch can
 * have. */
bool nt_sketch_shape_parse(const char *text, struct nt_sketch_shape *shape);

/* 0 without a sketch. */
static __always_inline __u32 nt_sketch_cells(const struct nt_sketch_shape *shape)
{
	return shape->rows << shape->column_bits;
}

struct nt_sketch_cell {
	__s64 packets, bytes; /* sampled, each with its flow's sign in this row */
};

/* The draws: how many updates lie between two that are made. */
#define NT_GAPS 4096 /* a power of two */
struct nt_sketch_draw {
	__u32 left; /* the next update that is made is the so-manieth from here; at least 1 */
	__u32 at; /* of the gap drawn last */
};

/*
 * The next gap. All of them in turn, in another order each time: else the same rows would be updated each time, where
 * the sum of all gaps is a multiple of the number of rows.
 */
static __always_inline __u32 nt_sketch_next_gap(struct nt_sketch_draw *draw, const volatile __u32 *gaps)
{
	__u32 at = ++draw->at;

	return gaps[at * (at / NT_GAPS * 2 + 1) & (NT_GAPS - 1)];
}

/*
 * Which rows a packet updates: a bit for each; 0 for most packets. The last gap reaches beyond this packet's rows, and
 * what is left of it is carried over to the next packet.
 */
static __always_inline __u32 nt_sketch_draw_rows(struct nt_sketch_draw *draw, const volatile __u32 *gaps, __u32 n_rows)
{
	__u32 left = draw->left, rows = 0;

	if (left > n_rows) {
		draw->left = left - n_rows;
		return 0;
	}
	for (int i = 0; i < NT_SKETCH_MAX_ROWS && left <= n_rows; i++) {
		rows |= 1u << ((left - 1) & (NT_SKETCH_MAX_ROWS - 1));
		left += nt_sketch_next_gap(draw, gaps);
	}
	draw->left = left - n_rows;
	return rows;
}

/* What the cells of a flow, and its set, are cut from. Mixed, since keys of similar flows differ in few bits. */
static __always_inline __u64 nt_sketch_hash(__u64 key)
{
	key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
	key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
	return key ^ key >> 33;
}

/* The flow's cell in a row. */
static __always_inline __u32 nt_sketch_cell(const struct nt_sketch_shape *shape, __u64 hash, __u32 row)
{
	__u32 part = hash >> row * (shape->column_bits + 1);

	return row << shape->column_bits | (part & ((1u << shape->column_bits) - 1));
}

/* Whether the flow counts in that row with the sign -: the bit beside those of the column. */
static __always_inline bool nt_sketch_is_negative(const struct nt_sketch_shape *shape, __u64 hash, __u32 row)
{
	return hash >> (row * (shape->column_bits + 1) + shape->column_bits) & 1;
}

static __always_inline void nt_sketch_add(struct nt_sketch_cell *cell, bool is_negative, __u32 packets, __u32 bytes)
{
	if (is_negative) {
		cell->packets -= packets;
		cell->bytes -= bytes;
	} else {
		cell->packets += packets;
		cell->bytes += bytes;
	}
}

/* ---- the flows that were sampled most ---- */

#define NT_SAMPLED_SET_BITS 7 /* of the number of sets */
#define NT_EXACT_SET_BITS 11 /* the same without a sketch */
#define NT_SAMPLED_WAYS 7

/* One flow, in one CPU's second. A packet that updated two rows counts twice. */
struct nt_sampled_flow {
	struct nt_flow_tuple tuple;
	__u32 packets; /* sampled since it has this place; 0: the place is free */
	__u32 missed; /* it may have been sampled so often before, and not more */
	__u64 bytes; /* as `packets` */
	__u32 most_packets, most_bytes; /* of one sample */
};

struct nt_sampled_set {
	struct nt_sampled_flow ways[NT_SAMPLED_WAYS];
	/* Without a sketch: packets that came when the set was full, and the largest one's bytes. */
	__u32 unplaced, most_bytes;
};

struct nt_sampled_flows {
	__u64 samples;
	struct nt_sampled_set sets[]; /* 1 << set_bits */
};

static __always_inline __u32 nt_sampled_set_of(__u64 hash, __u32 set_bits)
{
	return hash >> (64 - set_bits) & ((1u << set_bits) - 1);
}

/* Bytes of a struct nt_sampled_flows. */
static __always_inline __u32 nt_sampled_size(__u32 set_bits)
{
	return sizeof(struct nt_sampled_flows) + (sizeof(struct nt_sampled_set) << set_bits);
}

/* The flow's place, or the one that it takes: free, or that of the flow which was sampled least. */
static __always_inline struct nt_sampled_flow *nt_sampled_place(struct nt_sampled_set *set,
								const struct nt_flow_tuple *tuple)
{
	struct nt_sampled_flow *least = &set->ways[0];

	for (int i = 0; i < NT_SAMPLED_WAYS; i++) {
		struct nt_sampled_flow *way = &set->ways[i];

		if (nt_flow_is_same(&way->tuple, tuple))
			return way;
		if (way->packets + way->missed < least->packets + least->missed)
			least = way;
	}
	return least;
}

/* A packet that is `packets` on the wire, for each of the rows that it updated. */
static __always_inline void nt_sampled_count(struct nt_sampled_flow *flow, __u32 n_rows, __u32 packets, __u32 bytes)
{
	flow->packets += n_rows * packets;
	flow->bytes += (__u64)n_rows * bytes;
	if (packets > flow->most_packets)
		flow->most_packets = packets;
	if (bytes > flow->most_bytes)
		flow->most_bytes = bytes;
}

static __always_inline void nt_sampled_add(struct nt_sampled_set *set, const struct nt_flow_tuple *tuple, __u32 n_rows,
					   __u32 packets, __u32 bytes)
{
	struct nt_sampled_flow *flow = nt_sampled_place(set, tuple);

	if (!nt_flow_is_same(&flow->tuple, tuple)) {
		flow->tuple = *tuple;
		flow->missed += flow->packets;
		flow->packets = flow->most_packets = flow->most_bytes = 0;
		flow->bytes = 0;
	}
	nt_sampled_count(flow, n_rows, packets, bytes);
}

/* The same without a sketch: a flow keeps its place, so that its count is exact. */
static __always_inline void nt_sampled_keep(struct nt_sampled_set *set, const struct nt_flow_tuple *tuple,
					    __u32 packets, __u32 bytes)
{
	struct nt_sampled_flow *flow = nt_sampled_place(set, tuple);

	if (flow->packets && !nt_flow_is_same(&flow->tuple, tuple)) {
		set->unplaced += packets;
		if (bytes > set->most_bytes)
			set->most_bytes = bytes;
		return;
	}
	flow->tuple = *tuple;
	nt_sampled_count(flow, 1, packets, bytes);
}
