/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * error.h - the error of figures when only some packets were sampled. Pure.
 *
 * A sample of weight w stands for itself and for w - 1 packets that were left out since the sample before it, with any
 * latency. So the error of a sum over all packets has the variance of the sum over w(w - 1) samples; it is 0 where
 * every packet is a sample. This gives the standard error of the mean, and of the number of packets in a group.
 * Quantiles have intervals between two of the samples themselves (order statistics): the packets below a quantile are
 * as many as heads in as many throws of a coin.
 */
#pragma once

#include <stdbool.h>

#include "report/util/weighted.h"

#define NT_CONFIDENCE 0.95

struct nt_interval {
	bool has_low, has_high; /* with few samples there may be none */
	int64_t low, high;
};

/* The weights of all samples of a hook: in a small group all may weigh 1, though most packets were left out. */
struct nt_weights {
	double n, sum, out; /* how many, the sum of w, and of w(w - 1) */
};

void nt_weights_add(struct nt_weights *hook, double weight);
/* Whether any packet was left out. */
bool nt_is_sampled(const struct nt_weights *hook);
/* The extent over which packets were counted. */
struct nt_counted {
	double share; /* the group's, of all packets that gaps were counted over */
	unsigned int edges; /* in so many stretches: of each CPU and program; the packets since the last sample of one
			       are not counted */
	bool is_cut; /* they began before what is asked for, so the first sample of one counts for some of before */
};
/* The standard error of the number of packets. */
double nt_count_error(const struct nt_samples *samples, const struct nt_weights *hook,
		      const struct nt_counted *counted);
/* The standard error of the weighted mean. There must be two samples at least. */
double nt_mean_error(const struct nt_samples *samples, const struct nt_weights *hook, double mean);
/* Where the quantile of all packets lies, with NT_CONFIDENCE. Sorts. There must be one sample at least. */
struct nt_interval nt_quantile_interval(struct nt_samples *samples, const struct nt_weights *hook, double fraction);

/*
 * Of n packets in order: the ranks (from 1) between which the quantile lies, the closest that are wrong with a chance
 * of at most (1 - NT_CONFIDENCE) / 2 each. 0 and n + 1: there is no such rank.
 */
void nt_rank_interval(uint64_t n, double fraction, uint64_t *low, uint64_t *high);
