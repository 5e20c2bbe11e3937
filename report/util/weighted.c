// SPDX-License-Identifier: GPL-2.0-only
/*
 * weighted.c - see weighted.h.
 */
#include "report/util/weighted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

#define SMALL 24 /* so few are sorted by insertion */

/* From now on each has a weight of its own. */
static int begin_weights(struct nt_samples *samples)
{
	if (NT_ROOM(samples->weights, samples->weights_size, samples->n + 1))
		return -ENOMEM;
	for (size_t i = 0; i < samples->n; i++)
		samples->weights[i] = 1;
	return 0;
}

int nt_samples_add(struct nt_samples *samples, int64_t value, double weight)
{
	if (weight == 0)
		return 0;
	if (NT_ROOM(samples->keys, samples->keys_size, samples->n + 1))
		return -ENOMEM;
	if (weight != 1 && !samples->weights && begin_weights(samples))
		return -ENOMEM;
	if (samples->weights && NT_ROOM(samples->weights, samples->weights_size, samples->n + 1))
		return -ENOMEM;
	samples->keys[samples->n] = nt_samples_key(value);
	if (samples->weights)
		samples->weights[samples->n] = weight;
	samples->n++;
	samples->weight += weight;
	samples->sorted = false;
	return 0;
}

void nt_samples_release(struct nt_samples *samples)
{
	free(samples->keys);
	free(samples->weights);
	memset(samples, 0, sizeof(*samples));
}

/* ---- sorting: by one byte after the other from the highest, in place ---- */

static void swap(struct nt_samples *samples, size_t a, size_t b)
{
	uint64_t key = samples->keys[a];

	samples->keys[a] = samples->keys[b];
	samples->keys[b] = key;
	if (samples->weights) {
		double weight = samples->weights[a];

		samples->weights[a] = samples->weights[b];
		samples->weights[b] = weight;
	}
}

static void sort_few(struct nt_samples *samples, size_t begin, size_t end)
{
	for (size_t i = begin + 1; i < end; i++) {
		for (size_t j = i; j > begin && samples->keys[j - 1] > samples->keys[j]; j--)
			swap(samples, j - 1, j);
	}
}

/* Each of begin .. end goes to the part of its byte; where parts end is in `ends` then. */
static void part(struct nt_samples *samples, size_t begin, size_t end, unsigned int shift, size_t ends[256])
{
	size_t next[256], at = begin;

	memset(ends, 0, 256 * sizeof(*ends));
	for (size_t i = begin; i < end; i++)
		ends[samples->keys[i] >> shift & 0xff]++;
	for (size_t byte = 0; byte < 256; byte++) {
		next[byte] = at;
		at += ends[byte];
		ends[byte] = at;
	}
	for (size_t byte = 0; byte < 256; byte++) {
		while (next[byte] < ends[byte]) {
			size_t to = samples->keys[next[byte]] >> shift & 0xff;

			if (to == byte)
				next[byte]++;
			else
				swap(samples, next[byte], next[to]++);
		}
	}
}

static void sort_bytes(struct nt_samples *samples, size_t begin, size_t end, unsigned int shift)
{
	size_t ends[256];

	if (end - begin <= SMALL) {
		sort_few(samples, begin, end);
		return;
	}
	part(samples, begin, end, shift, ends);
	for (size_t byte = 0; shift && byte < 256; byte++) {
		size_t from = byte ? ends[byte - 1] : begin;

		if (ends[byte] - from > 1)
			sort_bytes(samples, from, ends[byte], shift - 8);
	}
}

void nt_samples_sort(struct nt_samples *samples)
{
	if (!samples->sorted)
		sort_bytes(samples, 0, samples->n, 56);
	samples->sorted = true;
}

/* ---- quantiles ---- */

/*
 * The weight that the wanted number and all below it have at least. A fraction like 0.07 is no binary number: 0.07 of
 * 100 is 7, though their product is a little more.
 */
static double rank(double fraction, double whole)
{
	double product = fraction * whole, nearest = rint(product);

	return fabs(product - nearest) <= 1e-12 * whole ? nearest : product;
}

int64_t nt_samples_quantile(struct nt_samples *samples, double fraction)
{
	double wanted = rank(fraction, samples->weight), sum = 0;

	nt_samples_sort(samples);
	if (!samples->weights) {
		size_t below = wanted <= 1 ? 0 : (size_t)ceil(wanted) - 1;

		return nt_samples_value(samples, below < samples->n ? below : samples->n - 1);
	}
	for (size_t i = 0; i < samples->n; i++) {
		sum += samples->weights[i];
		if (sum >= wanted)
			return nt_samples_value(samples, i);
	}
	return nt_samples_value(samples, samples->n - 1);
}

int64_t nt_samples_value(const struct nt_samples *samples, size_t i)
{
	return (int64_t)nt_samples_key((int64_t)samples->keys[i]);
}

double nt_samples_weight(const struct nt_samples *samples, size_t i)
{
	return samples->weights ? samples->weights[i] : 1;
}

/* ---- reals ---- */

int64_t nt_real_to_ordered(double real)
{
	int64_t bits;

	if (real == 0)
		real = 0; /* there are two of them */
	memcpy(&bits, &real, sizeof(bits));
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

double nt_ordered_to_real(int64_t ordered)
{
	int64_t bits = ordered < 0 ? ordered ^ INT64_MAX : ordered;
	double real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

int64_t nt_round(double value)
{
	if (!(value > -9e18))
		return INT64_MIN;
	return value < 9e18 ? (int64_t)(value < 0 ? value - 0.5 : value + 0.5) : INT64_MAX;
}
