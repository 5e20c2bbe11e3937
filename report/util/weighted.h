/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * weighted.h - numbers with weights, of which quantiles are wanted. All are kept, so quantiles are exact: 8 bytes a
 * number, 16 once one weighs something else than 1. They are sorted in place, in time that no order of them can spoil.
 * Holds no I/O.
 *
 * The quantile of a fraction f is the nearest rank: the least number such that it and all below it have at least f of
 * the weight. 0 gives the least number, 1 the greatest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. Owner frees with nt_samples_release. */
struct nt_samples {
	uint64_t *keys; /* in the order of the numbers */
	double *weights; /* NULL while all are 1 */
	size_t n, keys_size, weights_size;
	double weight; /* of all */
	bool sorted;
};

/* 0, or -ENOMEM. Nothing that weighs 0 is kept; a weight is finite and not negative. */
int nt_samples_add(struct nt_samples *samples, int64_t value, double weight);
/* The quantile; sorts if need be. There must be one number at least; fraction is 0 to 1. */
int64_t nt_samples_quantile(struct nt_samples *samples, double fraction);
void nt_samples_sort(struct nt_samples *samples);
/* The i-th number, in order if they are sorted, and its weight. */
int64_t nt_samples_value(const struct nt_samples *samples, size_t i);
double nt_samples_weight(const struct nt_samples *samples, size_t i);
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
