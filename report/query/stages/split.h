/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * split.h - splits exact time by samples. A series is time that is known to the nanosecond, but not what was done in it
 * (an owner's time on a CPU). Samples of it have categories (stages, stacks). Each series is cut into buckets, and
 * buckets are joined into runs until a run has some NT_SPLIT_RUN samples: the time of a run is split by its samples. So
 * the result follows changes over time, no share comes from a handful of samples, and each bucket's parts sum to the
 * bucket's time to the nanosecond.
 *
 * The time of a series without any sample is split by all samples of its kind (the same owner on other CPUs), and if
 * there are none either, it is of the category NT_SPLIT_UNSAMPLED. The views net_cost_stage and
 * net_cost_stage_over_time do the same in SQL, to the nanosecond.
 *
 * Pure. Memory: 16 bytes for each bucket of a series that has time (those that one span fills count as one),
 * and some 40 a sample.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_SPLIT_RUN 30 /* samples */
#define NT_SPLIT_UNSAMPLED UINT32_MAX
#define NT_SPLIT_BUCKETS_MAX UINT32_MAX

/* Time in n buckets in a row, in each of them the same. */
struct nt_split_cell {
	uint32_t bucket, n;
	uint64_t ns;
};

struct nt_split_series {
	uint32_t kind; /* series of one kind lend each other their samples */
	struct nt_split_cell *cells; /* by bucket once they are split; buckets without time have none */
	size_t n_cells, cells_size;
};

struct nt_split_sample {
	uint32_t series, bucket, category;
};

/* Zero-initialised is empty. Owner frees with nt_split_release. */
struct nt_split {
	struct nt_split_series *series;
	size_t n_series, series_size;
	struct nt_split_sample *samples;
	size_t n_samples, samples_size;
};

/*
 * A part of a bucket's time, the same in each of n buckets in a row. All parts of a run come together, bucket after
 * bucket, in the order of categories.
 */
struct nt_split_part {
	uint32_t series, bucket, n;
	uint64_t run; /* no two runs have the same number */
	uint64_t run_samples; /* that the run's time is split by; 0: unsampled */
	bool is_lent; /* they are all samples of its kind: those of other runs too */
	uint32_t category;
	uint64_t ns; /* in each bucket */
};

void nt_split_release(struct nt_split *split);
/* The number of a new series, or -ENOMEM. */
int64_t nt_split_new_series(struct nt_split *split, uint32_t kind);
/*
 * Adds time to each of n buckets of a series, n > 0. 0, -ENOMEM, or -ERANGE: there is no such bucket, or it is more
 * than four seconds at once.
 */
int nt_split_add_time(struct nt_split *split, uint32_t series, uint32_t bucket, uint32_t n, uint64_t ns);
/* Adds a sample. The same errors. */
int nt_split_add_sample(struct nt_split *split, uint32_t series, uint32_t bucket, uint32_t category);
/*
 * Gives all parts. Stops where `part` gives non-zero, and gives that; or -ENOMEM; or -ERANGE: a series has time twice
 * in buckets that were added in a row.
 */
int nt_split_each(struct nt_split *split, int (*part)(void *arg, const struct nt_split_part *part), void *arg);

/* ---- how sure a share is ---- */

/*
 * Samples of runs that are not of one size tell less than as many of one: how many they are worth. Add each run's time
 * and samples. (Kish, Survey Sampling, 1965: the effective size of a weighted sample.) Time that was lent samples has
 * them from the same pool, whose samples have the runs' weight too: lending them to ever more CPUs makes nothing surer.
 */
struct nt_split_worth {
	double ns, squares; /* of runs that have samples: sums of T, and of T * T / n */
	double lent_ns, lent_samples; /* the time of all others, and the size of their pool */
};
void nt_split_worth_add(struct nt_split_worth *worth, double ns, double samples);
void nt_split_worth_lend(struct nt_split_worth *worth, double ns, double samples);
double nt_split_worth(const struct nt_split_worth *worth);

/* Bounds of a share, 95 %. */
struct nt_split_bounds {
	double low, high;
};
struct nt_split_bounds nt_split_interval(double share, double samples);
