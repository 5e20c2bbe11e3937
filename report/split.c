// SPDX-License-Identifier: GPL-2.0-only
/*
 * split.c - see split.h.
 */
#include "report/split.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void nt_split_release(struct nt_split *split)
{
	for (size_t i = 0; i < split->n_series; i++)
		free(split->series[i].cells);
	free(split->series);
	free(split->samples);
	*split = (struct nt_split){0};
}

int64_t nt_split_new_series(struct nt_split *split, uint32_t kind)
{
	if (split->n_series == split->series_size) {
		size_t size = split->series_size ? 2 * split->series_size : 16;
		struct nt_split_series *larger = reallocarray(split->series, size, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		split->series = larger;
		split->series_size = size;
	}
	split->series[split->n_series] = (struct nt_split_series){.kind = kind};
	return (int64_t)split->n_series++;
}

/* NULL: *error says why. */
static struct nt_split_cell *cell_at(struct nt_split *split, uint32_t number, uint32_t bucket, int *error)
{
	struct nt_split_series *series = &split->series[number];

	*error = bucket < NT_SPLIT_BUCKETS_MAX ? -ENOMEM : -ERANGE;
	if (bucket >= NT_SPLIT_BUCKETS_MAX)
		return NULL;
	if (bucket >= series->n_cells) {
		uint32_t n = 64;
		struct nt_split_cell *larger;

		while (n <= bucket)
			n *= 2;
		larger = reallocarray(series->cells, n, sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + series->n_cells, 0, (n - series->n_cells) * sizeof(*larger));
		series->cells = larger;
		series->n_cells = n;
	}
	return &series->cells[bucket];
}

int nt_split_add_time(struct nt_split *split, uint32_t series, uint32_t bucket, uint64_t ns)
{
	int error;
	struct nt_split_cell *cell = cell_at(split, series, bucket, &error);

	if (!cell)
		return error;
	if (ns > UINT32_MAX - cell->ns)
		return -ERANGE;
	cell->ns += (uint32_t)ns;
	return 0;
}

int nt_split_add_sample(struct nt_split *split, uint32_t series, uint32_t bucket, uint32_t category)
{
	int error;
	struct nt_split_cell *cell = cell_at(split, series, bucket, &error);

	if (!cell)
		return error;
	if (split->n_samples == split->samples_size) {
		size_t size = split->samples_size ? 2 * split->samples_size : 1024;
		struct nt_split_sample *larger = reallocarray(split->samples, size, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		split->samples = larger;
		split->samples_size = size;
	}
	cell->samples++;
	split->samples[split->n_samples++] = (struct nt_split_sample){series, bucket, category};
	return 0;
}

/* ---- splitting ---- */

struct count {
	uint32_t category;
	uint64_t samples; /* of it and of all before it */
};

struct splitting {
	struct nt_split *split;
	int (*part)(void *arg, const struct nt_split_part *part);
	void *arg;
	uint64_t run;
	struct count *counts; /* of the run; there is room for one a sample */
	size_t n_counts;
	uint32_t *categories; /* room for sorting them */
};

static int compare_samples(const void *a, const void *b)
{
	const struct nt_split_sample *left = a, *right = b;

	if (left->series != right->series)
		return left->series < right->series ? -1 : 1;
	return (left->bucket > right->bucket) - (left->bucket < right->bucket);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Counts the categories that were put together. */
static void count(struct splitting *splitting, size_t n)
{
	qsort(splitting->categories, n, sizeof(splitting->categories[0]), compare_numbers);
	splitting->n_counts = 0;
	for (size_t i = 0; i < n; i++) {
		struct count *last = splitting->n_counts ? &splitting->counts[splitting->n_counts - 1] : NULL;

		if (!last || last->category != splitting->categories[i])
			splitting->counts[splitting->n_counts++] = (struct count){splitting->categories[i], i + 1};
		else
			last->samples = i + 1;
	}
}

/*
 * Part i is from floor(T * before / n) to floor(T * after / n) of the bucket's time: whatever is cut off there, the
 * parts sum to T.
 */
static int give_bucket(struct splitting *splitting, uint32_t series, uint32_t bucket)
{
	const uint64_t ns = splitting->split->series[series].cells[bucket].ns;
	const uint64_t n = splitting->n_counts ? splitting->counts[splitting->n_counts - 1].samples : 0;
	struct nt_split_part part = {.series = series, .bucket = bucket, .run = splitting->run, .run_samples = n};
	uint64_t begin = 0;

	if (!ns)
		return 0;
	if (!n) {
		part.category = NT_SPLIT_UNSAMPLED;
		part.ns = ns;
		return splitting->part(splitting->arg, &part);
	}
	for (size_t i = 0; i < splitting->n_counts; i++) {
		uint64_t end = (uint64_t)((unsigned __int128)ns * splitting->counts[i].samples / n);
		int error;

		part.category = splitting->counts[i].category;
		part.ns = end - begin;
		begin = end;
		error = splitting->part(splitting->arg, &part);
		if (error)
			return error;
	}
	return 0;
}

static int give_run(struct splitting *splitting, uint32_t series, uint32_t from, uint32_t to)
{
	int error = 0;

	for (uint32_t bucket = from; bucket < to && !error; bucket++)
		error = give_bucket(splitting, series, bucket);
	splitting->run++;
	return error;
}

/* A series that has no samples: those of all series of its kind. */
static int give_borrowed(struct splitting *splitting, uint32_t number)
{
	const struct nt_split *split = splitting->split;
	size_t n = 0;

	for (size_t i = 0; i < split->n_samples; i++) {
		if (split->series[split->samples[i].series].kind == split->series[number].kind)
			splitting->categories[n++] = split->samples[i].category;
	}
	count(splitting, n);
	return give_run(splitting, number, 0, split->series[number].n_cells);
}

/*
 * Which run a bucket is of: how many times NT_SPLIT_RUN samples there are up to its end. Buckets without samples are of
 * the run before, those at the begin of the first that has some.
 */
static uint64_t run_of(uint64_t samples)
{
	return (samples ? samples - 1 : 0) / NT_SPLIT_RUN;
}

/* `at` is the first of its samples, of which there are n. */
static int give_series(struct splitting *splitting, uint32_t number, size_t at, size_t n)
{
	const struct nt_split_series *series = &splitting->split->series[number];
	uint32_t from = 0;
	uint64_t samples = 0, taken = 0;

	for (uint32_t bucket = 0; bucket <= series->n_cells; bucket++) {
		bool is_end = bucket == series->n_cells;
		uint64_t after = is_end ? samples : samples + series->cells[bucket].samples;
		int error;

		if (samples > 0 && (is_end || run_of(after) != run_of(samples))) {
			for (uint64_t i = taken; i < samples; i++)
				splitting->categories[i - taken] = splitting->split->samples[at + i].category;
			count(splitting, samples - taken);
			error = give_run(splitting, number, from, bucket);
			if (error)
				return error;
			from = bucket;
			taken = samples;
		}
		samples = after;
	}
	(void)n;
	return 0;
}

static int give_all(struct splitting *splitting)
{
	const struct nt_split *split = splitting->split;
	size_t at = 0;

	for (uint32_t series = 0; series < split->n_series; series++) {
		size_t n = 0;
		int error;

		while (at + n < split->n_samples && split->samples[at + n].series == series)
			n++;
		error = n ? give_series(splitting, series, at, n) : give_borrowed(splitting, series);
		if (error)
			return error;
		at += n;
	}
	return 0;
}

int nt_split_each(struct nt_split *split, int (*part)(void *arg, const struct nt_split_part *part), void *arg)
{
	struct splitting splitting = {.split = split, .part = part, .arg = arg};
	int error = -ENOMEM;

	if (split->n_samples)
		qsort(split->samples, split->n_samples, sizeof(split->samples[0]), compare_samples);
	splitting.counts = calloc(split->n_samples + 1, sizeof(splitting.counts[0]));
	splitting.categories = calloc(split->n_samples + 1, sizeof(splitting.categories[0]));
	if (splitting.counts && splitting.categories)
		error = give_all(&splitting);
	free(splitting.counts);
	free(splitting.categories);
	return error;
}

/* ---- how sure a share is ---- */

void nt_split_worth_add(struct nt_split_worth *worth, double ns, double samples)
{
	worth->ns += ns;
	if (samples > 0)
		worth->squares += ns * ns / samples;
}

double nt_split_worth(const struct nt_split_worth *worth)
{
	return worth->squares > 0 ? worth->ns * worth->ns / worth->squares : 0;
}

/*
 * Wilson's score interval (Probable inference, J. Am. Stat. Assoc. 22, 1927), which keeps what it promises also for few
 * samples and shares near 0 and 1, where the normal approximation does not (Brown, Cai, DasGupta: Interval estimation
 * for a binomial proportion, Stat. Science 16, 2001). A clock's instants are a vanishing part of all nanoseconds, so
 * nothing is taken off for a finite population. That samples are taken run by run, in proportion to time, can only make
 * shares surer than this says (Cochran, Sampling Techniques, 1977, 5.6).
 */
struct nt_split_bounds nt_split_interval(double share, double samples)
{
	const double z = 1.959963984540054;
	struct nt_split_bounds bounds = {0, 1};
	double middle, half, whole;

	if (samples <= 0)
		return bounds;
	whole = 1 + z * z / samples;
	middle = share + z * z / (2 * samples);
	half = z * sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples));
	bounds.low = share > 0 ? (middle - half) / whole : 0;
	bounds.high = share < 1 ? (middle + half) / whole : 1;
	bounds.low = bounds.low > 0 ? bounds.low : 0;
	bounds.high = bounds.high < 1 ? bounds.high : 1;
	return bounds;
}
