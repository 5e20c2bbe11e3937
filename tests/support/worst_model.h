/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worst_model.h - the worst windows, found in a way that keeps all slices: the second implementation that
 * report/query/cpus/worst.h must equal. Slices may come in any order, and overlap.
 *
 * A curve says how much of them there was up to each instant. It is made of straight pieces, with corners only where a
 * stretch begins or ends; where several stretches run at once (on several CPUs) it is that much steeper. A window holds
 * the difference of the curve at its two ends, which is greatest where one end is at a corner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/query/cpus/worst.h"
#include "report/util/id_map.h"

/* A corner: 16 bytes, two for each stretch that does not touch the one before. */
struct nt_worst_model_corner {
	int64_t ts;
	uint64_t sum; /* ns up to ts; while stretches are being added: how many more run from here on */
};

struct nt_worst_model_curve {
	uint64_t id;
	struct nt_worst_model_corner *corners;
	size_t n, size;
	bool is_finished; /* corners have sums */
};

struct nt_worst_model {
	int64_t from_ts, to_ts;
	uint64_t length;
	struct nt_worst_model_curve *curves;
	size_t n, size;
	struct nt_id_map by_id; /* index + 1 */
};

/* 0 < length <= to_ts - from_ts. Owner frees with nt_worst_model_release. */
void nt_worst_model_init(struct nt_worst_model *worst, int64_t from_ts, int64_t to_ts, uint64_t length);
void nt_worst_model_release(struct nt_worst_model *worst);
/* A stretch, on the curve `id`, which is made if need be; windows of different curves may overlap. 0, or -ENOMEM. */
int nt_worst_model_add(struct nt_worst_model *worst, uint64_t id, int64_t begin_ts, int64_t end_ts);
/* Up to `most` windows that hold anything, worst first. More may be added then. Gives how many, or -ENOMEM. */
int nt_worst_model_find(struct nt_worst_model *worst, struct nt_worst_window *windows, unsigned int most);
