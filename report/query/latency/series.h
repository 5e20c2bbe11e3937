/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * series.h - the samples of each hook and group, collected, and the figures that sum them up. All latencies are
 * kept, for exact quantiles; those that have no room in memory in a temporary file (util/weighted.h).
 */
#pragma once

#include "report/query/latency/error.h"
#include "report/query/latency/scan.h"

#define NT_QUANTILES 4
extern const double nt_latency_quantiles[NT_QUANTILES]; /* 0.5, 0.9, 0.99, 0.999 */

struct nt_series {
	enum nt_hook hook;
	uint32_t group; /* n_groups of the set: the others, which nt_series_set_order put together */
	/* Of others: how many groups, and the weight of all of their samples, those left out too. */
	uint32_t of_groups;
	double drawn;
	struct nt_samples samples;
	uint64_t hol, future, unknown; /* samples that were left out of these, by reason */
};

struct nt_figures {
	uint64_t samples;
	double packets;
	bool any; /* the rest means something */
	int64_t min, max, quantiles[NT_QUANTILES];
	double mean;
	/* With is_sampled: how far they may be off, one standard error, and intervals of NT_CONFIDENCE. */
	bool is_sampled;
	double packets_error, mean_error;
	bool has_mean_error; /* one sample tells nothing of it */
	struct nt_interval intervals[NT_QUANTILES];
};

/* Owner frees with nt_series_set_release. */
struct nt_series_set {
	bool include_hol;
	/* For the error of counts: each CPU and program has a gap of its own, that was being counted when the time
	 * began and ended. */
	unsigned int cpus;
	unsigned int programs[NT_HOOK_COUNT];
	bool is_cut; /* the time begins after the recording */
	bool is_by_cpu; /* groups are */
	bool is_pairs; /* samples are: of packets drawn at both hooks, so that no gaps are counted over them */
	struct nt_series **by_hook[NT_HOOK_COUNT]; /* by group; NULL: none */
	struct nt_series *others[NT_HOOK_COUNT]; /* groups that were put together; NULL: none */
	struct nt_samples_pool pool; /* pool.spill.error: the file failed, and no figure is right */
	double *drawn[NT_HOOK_COUNT]; /* by group: the weight of all of its samples, those left out too */
	struct nt_weights weights[NT_HOOK_COUNT]; /* of all samples of a hook, those left out too */
	double kept[NT_HOOK_COUNT]; /* of the packets that sampling drew, so many became samples: 1 is all */
	uint32_t n_groups;
	struct nt_series **all; /* in the order that they are shown in, once nt_series_set_order was called */
	size_t n;
};

/* 0, or -ENOMEM, as the next. To be released even then. */
int nt_series_set_init(struct nt_series_set *set, uint32_t n_groups, bool include_hol);
/* Whether a sample is one of those that figures are made of. */
bool nt_series_set_takes(const struct nt_series_set *set, const struct nt_latency_sample *sample);
/* 0, -ENOMEM, or -EIO and pool.spill.error. The set must not be moved from now on. */
int nt_series_set_add(struct nt_series_set *set, const struct nt_latency_sample *sample);
/*
 * Hooks in the order of the way; in each the groups by packets, or `by_number`; the group that is none last. Of each
 * hook the `most` groups with the most packets stay as they are. All others are one series before the group that is
 * none, as if they had been one group.
 */
int nt_series_set_order(struct nt_series_set *set, bool by_number, size_t most);
/* Whether a series is such others. */
static inline bool nt_series_is_of_others(const struct nt_series_set *set, const struct nt_series *series)
{
	return series->group == set->n_groups;
}
void nt_series_set_release(struct nt_series_set *set);

/* Sorts the series' samples. */
void nt_series_figures(const struct nt_series_set *set, struct nt_series *series, struct nt_figures *figures);
