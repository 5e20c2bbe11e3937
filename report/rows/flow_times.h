/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow_times.h - what flows had in each of the times that probe flows tells of, and in all of them together: of cells
 * that are added up, not of bounds (flow_estimates.h). A flow is here one of any key (NT_FLOW_KEYS), each of which has
 * its own sketch. It is fed with the records of a tape in their order, or with rows of a database. Pure. Memory: some
 * 130 bytes for each flow that has a record.
 */
#pragma once

#include <stddef.h>

#include "report/rows/flow_estimates.h"
#include "report/util/id_map.h"

/* Index of what follows: of times that have all their cells, so that the sketch tells of them; and of the others. */
enum { NT_FLOW_OF_SKETCH, NT_FLOW_OF_SAMPLES, NT_FLOW_PARTS };

struct nt_flow_sum {
	uint64_t flow;
	enum nt_flow_key_sort sort;
	uint64_t hash; /* that its cells are cut from; 0: not known */
	struct nt_flow_samples samples[NT_FLOW_PARTS];
	/* In the times in which it has a record: so many samples another flow may have had. */
	uint64_t others_missed[NT_FLOW_PARTS];
};

/* Of one key. */
struct nt_flow_key_times {
	struct nt_flow_estimates now, all; /* of the time at hand; of all that are summed up */
	struct nt_flow_sketch sketch; /* of the time at hand; its numbers of cells and flows count down to 0 */
	bool is_open; /* there is one */
	bool counts; /* it belongs to the sum */
	size_t *named; /* in the time at hand: indexes of flows */
	size_t n_named, named_size;
	/* In all times: so many samples a flow without any record may have had. */
	uint64_t missed[NT_FLOW_PARTS];
};

/* Owner frees with nt_flow_times_release. */
struct nt_flow_times {
	struct nt_flow_key_times keys[NT_FLOW_KEY_SORTS];
	struct nt_id_map by_flow;
	struct nt_flow_sum *flows;
	size_t n, size;
};

/* As nt_flow_estimates_init. Then a sum may be made; else only nt_flow_times_release may be called. */
int nt_flow_times_init(struct nt_flow_times *times, const char *sample, const char *sketch);
void nt_flow_times_release(struct nt_flow_times *times);
/* A time of a key begins, and its one before has ended. `counts`: it is to be summed up. */
void nt_flow_times_begin(struct nt_flow_times *times, const struct nt_flow_sketch *sketch, bool counts);
/* A cell of it. One of another time, whose sketch is lost, says nothing. */
void nt_flow_times_cell(struct nt_flow_times *times, const struct nt_flow_cell *cell);
/*
 * A flow of it, behind all cells; *out is what it had in that time. `counts` as above, for one whose sketch is lost.
 * 0; -ENOMEM; or -EINVAL: it is of a key that is not known here.
 */
int nt_flow_times_count(struct nt_flow_times *times, const struct nt_flow_count *count, uint64_t hash, bool counts,
			struct nt_flow_estimate *out);
/* The last time has ended. */
void nt_flow_times_finish(struct nt_flow_times *times);
/* What flows[i] had in all of them. After nt_flow_times_finish. */
void nt_flow_times_of(struct nt_flow_times *times, size_t i, struct nt_flow_estimate *out);
