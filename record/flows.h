/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flows.h - probe `flows`: reads about once a second what the programs have counted by flow (schema/flow_sketch.h),
 * adds it up over all CPUs, and puts it on the tape: for each key that is counted by, at most NT_FLOWS_NAMED flows and
 * each cell once; and two totals for a device.
 *
 * The programs count into one of two buffers. The recorder has them take the other, and reads and clears the first some
 * time later, when no program that had begun before can still be at it.
 */
#pragma once

#include "record/kernel.h"
#include "record/stream.h"

#define NT_FLOWS_NAMED 256 /* flows with a count of their own in a second */
/* The same if each packet is counted (--flows exact). */
#define NT_FLOWS_EXACT (NT_SAMPLED_WAYS << NT_EXACT_SET_BITS)
#define NT_FLOWS_LEAST 1000 /* one that was sampled less often than in this many samples is not named */

/* Zero-initialised: the probe is off, and the functions do nothing. */
struct nt_flows {
	struct nt_kernel *kernel;
	struct nt_sketch_shape shape;
	uint32_t keys, n_keys; /* as in nt_flows_config */
	const struct nt_flow_hash *hashes;
	/* Shared with the programs; of the last two each key, in the buffers 0 and 1 of each CPU. */
	struct nt_flows_cpu *cpus;
	struct nt_sketch_cell *cells;
	char *sampled; /* struct nt_sampled_flows */
	uint32_t set_bits;
	size_t cells_size, sampled_size, cpus_size; /* bytes mapped */
	/* What is added up: of one key at a time. */
	enum nt_flow_key_sort sort;
	uint32_t key; /* the so-manieth of those that are counted by */
	struct nt_sketch_cell *sum;
	struct nt_sampled_flow *set; /* one set of all CPUs */
	struct nt_sampled_flow *named;
	uint32_t n_named, named_size;
	uint32_t unnamed; /* as in nt_flow_sketch */
	uint64_t samples;
	struct nt_flow_device *totals, *totals_before; /* by key, both of all CPUs and places */
	size_t n_totals, n_totals_before;
	uint32_t buffer; /* that the programs count into */
	uint64_t begin_ns; /* of what the programs count now */
	uint64_t turned_ns; /* until then they counted into the other buffer; 0: it is empty */
};

/* How many sets of flows the programs keep. */
uint32_t nt_flows_set_bits(const struct nt_flows_options *options);
/* What the programs are told: the shape, the keys, and the gaps. */
void nt_flows_configure(const struct nt_flows_options *options, struct nt_flows_config *config);
/* Before the gates open. 0 or a negative errno. */
int nt_flows_init(struct nt_flows *flows, struct nt_kernel *kernel);
/* Counts are since the session's start. */
void nt_flows_start(struct nt_flows *flows);
/* The programs count into the other buffer from now on, if this one has been counted into for half a second. */
void nt_flows_turn(struct nt_flows *flows, uint64_t now_ns);
/* Puts what was counted before the last turn on the tape, once, when that is some time ago. */
int nt_flows_take(struct nt_flows *flows, struct nt_stream *stream, uint64_t now_ns);
/* The rest, once the gates are closed. */
int nt_flows_end(struct nt_flows *flows, struct nt_stream *stream);
void nt_flows_release(struct nt_flows *flows);
