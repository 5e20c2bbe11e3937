/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow_estimates.h - how many packets and bytes a flow had, from a sketch and the flow's own samples
 * (schema/flow_sketch.h), and between which bounds that lies. docs/flows.md says why. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/event.h"
#include "schema/flow_sketch.h"

/* The sketch of one time, or the sum of several. Zero-initialised: nothing can be estimated. */
struct nt_flow_estimates {
	struct nt_sketch_shape shape;
	double sample; /* the probability of an update */
	struct nt_sketch_cell *cells;
	/* Of each row: the sum of the squares of all cells. */
	double packets_squared[NT_SKETCH_MAX_ROWS], bytes_squared[NT_SKETCH_MAX_ROWS];
	bool is_squared; /* they are known */
};

/* The samples of a flow: a packet is one for each row of the sketch that it updated. */
struct nt_flow_samples {
	uint64_t packets;
	uint64_t missed; /* it may have had so many besides, and not more */
	uint64_t bytes; /* as packets */
	uint32_t most_packets, most_bytes; /* of one sample */
};

/* Between the bounds with a probability of 99 %. */
struct nt_flow_estimate {
	uint64_t packets, packets_low, packets_high;
	uint64_t bytes, bytes_low, bytes_high;
};

/* Reads the probability and the shape, or that there is no sketch, as a tape has them. 0; -EINVAL: they make no sense;
 * or -ENOMEM. */
int nt_flow_estimates_init(struct nt_flow_estimates *estimates, const char *sample, const char *sketch);
void nt_flow_estimates_release(struct nt_flow_estimates *estimates);
/* All cells are 0 again. */
void nt_flow_estimates_clear(struct nt_flow_estimates *estimates);
/* Adds to a cell. False: the sketch has no such cell. */
bool nt_flow_estimates_add(struct nt_flow_estimates *estimates, uint32_t cell, int64_t packets, int64_t bytes);
/* Adds all cells of a sketch of the same shape. */
void nt_flow_estimates_add_all(struct nt_flow_estimates *to, const struct nt_flow_estimates *from);
/*
 * The estimate of the flow that has this hash and these samples, of the time that the cells are of. A hash of 0: only
 * the samples tell.
 */
void nt_flow_estimates_of(struct nt_flow_estimates *estimates, uint64_t hash, const struct nt_flow_samples *samples,
			  struct nt_flow_estimate *out);
