/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weighted.h - numbers with weights, of which quantiles are wanted. All are kept, so quantiles are exact. In memory
 * they take 8 bytes a number, 16 once one weighs something else than 1, and are sorted in place, in time that no order
 * of them can spoil. When a pool is full, its numbers go to a temporary file (util/spill.h) in sorted runs, which are
 * merged when order is wanted.
 *
 * The quantile of a fraction f is the nearest rank: the least number such that it and all below it have at least f of
 * the weight. 0 gives the least number, 1 the greatest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/spill.h"

#define NT_POOL_MOST 8192
#define NT_POOL_EACH 16

struct nt_samples;

/* As it is in the file. */
struct nt_spilled {
	uint64_t key;
	double weight;
};

/* Shared by samples that together have a bound in memory. Zero-initialised is empty. It must outlive them, and is then
 * freed with nt_samples_pool_release. */
struct nt_samples_pool {
	/* How many numbers may be in memory; 0: NT_POOL_MOST, and more where this is less than NT_POOL_EACH for each
	 * of the samples. */
	size_t most;
	size_t n; /* that are */
	struct nt_samples *first; /* of those that have some, or had */
	size_t n_members; /* of these */
	struct nt_spill spill; /* spill.error: numbers are lost, and no figure is right */
	struct nt_spilled *page; /* a part of a run, for reading */
	size_t page_first, page_n;
	const struct nt_samples *page_of;
};

void nt_samples_pool_release(struct nt_samples_pool *pool);

/* A sorted run: where in the file it begins, and how many numbers it has. */
struct nt_samples_run {
	uint64_t at, n;
};

/* Zero-initialised is empty; without a pool all stay in memory. With one, it must not be moved. Owner frees with
 * nt_samples_release. */
struct nt_samples {
	struct nt_samples_pool *pool;
	size_t n; /* of all */
	double weight; /* of all */
	bool has_weights; /* some is not 1 */
	bool sorted;
	/* In memory. */
	uint64_t *keys; /* in the order of the numbers */
	double *weights; /* NULL while all are 1 */
	size_t n_kept, keys_size, weights_size;
	/* In the file: one run, once sorted. */
	struct nt_samples_run *runs;
	size_t n_runs, runs_size;
	double *sums; /* of weights, up to the end of each page of that run */
	struct nt_samples *next, **link; /* of the pool; what points to it, NULL: it is in none */
};

/* 0, -ENOMEM, or -EIO and pool->spill.error. Nothing that weighs 0 is kept; a weight is finite and not negative. */
int nt_samples_add(struct nt_samples *samples, int64_t value, double weight);
/* Takes all numbers of another, which has the same pool or, as this one, none; `from` is empty then, as after release.
 * 0, or -ENOMEM: then nothing was moved. */
int nt_samples_take(struct nt_samples *samples, struct nt_samples *from);
/* The quantile; sorts if need be. There must be one number at least; fraction is 0 to 1. */
int64_t nt_samples_quantile(struct nt_samples *samples, double fraction);
/* With a pool this may fail, and so may what comes after it: pool->spill.error. */
void nt_samples_sort(struct nt_samples *samples);
/* Whether all are in memory, in the order in which they came if they were not sorted. */
static inline bool nt_samples_are_kept(const struct nt_samples *samples)
{
	return !samples->n_runs;
}
/* Those that are all in memory leave the pool, and stay there. */
void nt_samples_keep(struct nt_samples *samples);
/* The i-th number, in order if they are sorted, and its weight. Of those in a file they must be. */
int64_t nt_samples_value(const struct nt_samples *samples, size_t i);
double nt_samples_weight(const struct nt_samples *samples, size_t i);
/* Makes of each number another one; the greater one never becomes the less. */
void nt_samples_change(struct nt_samples *samples, int64_t (*change)(int64_t value));
void nt_samples_release(struct nt_samples *samples);
/* The key of a number. */
static inline uint64_t nt_samples_key(int64_t value)
{
	return (uint64_t)value ^ 1ull << 63;
}

/* The nearest integer, as far as there is one: sums of weights may be greater than any. */
int64_t nt_round(double value);

/* Real numbers by the same means: integers in the order of the reals that they stand for. */
int64_t nt_real_to_ordered(double real);
double nt_ordered_to_real(int64_t ordered);
