// SPDX-License-Identifier: GPL-2.0-only
/*
 * split.c - see split.h.
 */
#include "report/query/stages/split.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

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
	if (NT_ROOM(split->series, split->series_size, split->n_series + 1))
		return -ENOMEM;
	split->series[split->n_series] = (struct nt_split_series){.kind = kind};
	return (int64_t)split->n_series++;
}

int nt_split_add_time(struct nt_split *split, uint32_t number, uint32_t bucket, uint32_t n, uint64_t ns)
{
	struct nt_split_series *series = &split->series[number];
	struct nt_split_cell *last = series->n_cells ? &series->cells[series->n_cells - 1] : NULL;
	bool is_last = last && last->bucket == bucket && last->n == n;

	if (n > NT_SPLIT_BUCKETS_MAX - bucket || ns > UINT32_MAX - (is_last ? last->ns : 0))
		return -ERANGE;
	if (is_last) {
		last->ns += ns;
		return 0;
	}
	if (NT_ROOM(series->cells, series->cells_size, series->n_cells + 1))
		return -ENOMEM;
	series->cells[series->n_cells++] = (struct nt_split_cell){bucket, n, ns};
	return 0;
}

int nt_split_add_sample(struct nt_split *split, uint32_t series, uint32_t bucket, uint32_t category)
{
	if (bucket >= NT_SPLIT_BUCKETS_MAX)
		return -ERANGE;
	if (NT_ROOM(split->samples, split->samples_size, split->n_samples + 1))
		return -ENOMEM;
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
	bool is_lent; /* the run's samples are those of all its kind */
	uint64_t *pool; /* of each sample kind << 32 | category, in order; NULL: nobody has asked yet */
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

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* The next sample of the run; they come by category. */
static void count(struct splitting *splitting, uint32_t category)
{
	struct count *last = splitting->n_counts ? &splitting->counts[splitting->n_counts - 1] : NULL;

	if (last && last->category == category)
		last->samples++;
	else
		splitting->counts[splitting->n_counts++] = (struct count){category, last ? last->samples + 1 : 1};
}

/* Of n samples the categories, to be counted. */
static void count_run(struct splitting *splitting, const struct nt_split_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		splitting->categories[i] = samples[i].category;
	if (n)
		qsort(splitting->categories, n, sizeof(splitting->categories[0]), nt_compare_u32);
	splitting->n_counts = 0;
	for (size_t i = 0; i < n; i++)
		count(splitting, splitting->categories[i]);
	splitting->is_lent = false;
}

/*
 * Part i is from floor(T * before / n) to floor(T * after / n) of the bucket's time: whatever is cut off there, the
 * parts sum to T.
 */
static int give_cell(struct splitting *splitting, uint32_t series, const struct nt_split_cell *cell)
{
	const uint64_t n = splitting->n_counts ? splitting->counts[splitting->n_counts - 1].samples : 0;
	struct nt_split_part part = {.series = series,
				     .bucket = cell->bucket,
				     .n = cell->n,
				     .run = splitting->run,
				     .run_samples = n,
				     .is_lent = splitting->is_lent};
	uint64_t begin = 0;

	if (!cell->ns)
		return 0;
	if (!n) {
		part.category = NT_SPLIT_UNSAMPLED;
		part.ns = cell->ns;
		return splitting->part(splitting->arg, &part);
	}
	for (size_t i = 0; i < splitting->n_counts; i++) {
		uint64_t end = (uint64_t)((unsigned __int128)cell->ns * splitting->counts[i].samples / n);
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

/* How far a series was given. */
struct place {
	size_t cell;
	uint32_t buckets; /* of that cell */
};

/* The rest of the cell at hand, as far as its buckets are before `to`. */
static struct nt_split_cell next_cell(const struct nt_split_series *series, const struct place *place, uint32_t to)
{
	struct nt_split_cell cell = series->cells[place->cell];

	cell.bucket += place->buckets;
	cell.n -= place->buckets;
	if (cell.bucket >= to)
		cell.n = 0;
	else if (cell.n > to - cell.bucket)
		cell.n = to - cell.bucket;
	return cell;
}

/* The buckets from `from` on and before `to` are a run. */
static int give_run(struct splitting *splitting, uint32_t number, struct place *from, uint32_t to)
{
	const struct nt_split_series *series = &splitting->split->series[number];
	int error = 0;

	while (from->cell < series->n_cells && !error) {
		struct nt_split_cell cell = next_cell(series, from, to);

		if (!cell.n)
			break;
		error = give_cell(splitting, number, &cell);
		from->buckets += cell.n;
		if (from->buckets == series->cells[from->cell].n)
			*from = (struct place){.cell = from->cell + 1};
	}
	splitting->run++;
	return error;
}

/* ---- series without samples ---- */

/* All samples by kind and category, for who lends them. */
static int make_pool(struct splitting *splitting)
{
	const struct nt_split *split = splitting->split;

	splitting->pool = calloc(split->n_samples + 1, sizeof(splitting->pool[0]));
	if (!splitting->pool)
		return -ENOMEM;
	for (size_t i = 0; i < split->n_samples; i++)
		splitting->pool[i] =
			(uint64_t)split->series[split->samples[i].series].kind << 32 | split->samples[i].category;
	if (split->n_samples)
		qsort(splitting->pool, split->n_samples, sizeof(splitting->pool[0]), compare_keys);
	return 0;
}

/* The first place in the pool that is not before this kind. */
static size_t find_kind(const struct splitting *splitting, uint32_t kind)
{
	return NT_COUNT_BEFORE(splitting->split->n_samples, i, splitting->pool[i] >> 32 >= kind);
}

/* A series that has no samples: those of all series of its kind. */
static int give_lent(struct splitting *splitting, uint32_t number)
{
	const struct nt_split *split = splitting->split;
	const uint32_t kind = split->series[number].kind;
	struct place from = {0};
	int error = splitting->pool ? 0 : make_pool(splitting);

	if (error)
		return error;
	splitting->n_counts = 0;
	splitting->is_lent = true;
	for (size_t i = find_kind(splitting, kind); i < split->n_samples && splitting->pool[i] >> 32 == kind; i++)
		count(splitting, (uint32_t)splitting->pool[i]);
	return give_run(splitting, number, &from, UINT32_MAX);
}

/* ---- series with samples ---- */

static uint64_t run_of(size_t samples)
{
	return (samples - 1) / NT_SPLIT_RUN;
}

/* The end of the bucket that sample `i` is in. */
static size_t end_of_bucket(const struct nt_split_sample *samples, size_t i, size_t n)
{
	uint32_t bucket = samples[i].bucket;

	while (i < n && samples[i].bucket == bucket)
		i++;
	return i;
}

/*
 * A bucket is of the run that says how many times NT_SPLIT_RUN samples there are up to its end. Buckets without samples
 * are of the run before; those at the begin, of the first.
 */
static int give_series(struct splitting *splitting, uint32_t number, const struct nt_split_sample *samples, size_t n)
{
	struct place place = {0};
	int error = 0;

	for (size_t begin = 0, end; begin < n && !error; begin = end) {
		size_t next = end_of_bucket(samples, begin, n);
		const uint64_t run = run_of(next);

		do {
			end = next;
			next = end < n ? end_of_bucket(samples, end, n) : n;
		} while (end < n && run_of(next) == run);
		count_run(splitting, samples + begin, end - begin);
		error = give_run(splitting, number, &place, end < n ? samples[end].bucket : UINT32_MAX);
	}
	return error;
}

/* ---- all ---- */

static bool is_behind(const struct nt_split_cell *cell, const struct nt_split_cell *before)
{
	return cell->bucket > before->bucket && cell->bucket - before->bucket >= before->n;
}

/* Puts cells in order; those of one bucket become one. In a recording they are in order already. */
static int settle_cells(struct nt_split_series *series)
{
	struct nt_split_cell *cells = series->cells;
	size_t n = 1;

	for (; n < series->n_cells && is_behind(&cells[n], &cells[n - 1]); n++)
		continue;
	if (n >= series->n_cells)
		return 0;
	qsort(cells, series->n_cells, sizeof(cells[0]), nt_compare_u32);
	n = 0;
	for (size_t i = 1; i < series->n_cells; i++) {
		if (is_behind(&cells[i], &cells[n]))
			cells[++n] = cells[i];
		else if (cells[i].n == 1 && cells[n].n == 1)
			cells[n].ns += cells[i].ns;
		else
			return -ERANGE;
	}
	series->n_cells = n + 1;
	return 0;
}

static int give_all(struct splitting *splitting)
{
	struct nt_split *split = splitting->split;
	size_t at = 0;

	for (uint32_t series = 0; series < split->n_series; series++) {
		size_t n = 0;
		int error = settle_cells(&split->series[series]);

		while (at + n < split->n_samples && split->samples[at + n].series == series)
			n++;
		if (!error)
			error = n ? give_series(splitting, series, &split->samples[at], n)
				  : give_lent(splitting, series);
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
	free(splitting.pool);
	return error;
}

/* ---- how sure a share is ---- */

void nt_split_worth_add(struct nt_split_worth *worth, double ns, double samples)
{
	worth->ns += ns;
	if (samples > 0)
		worth->squares += ns * ns / samples;
}

void nt_split_worth_lend(struct nt_split_worth *worth, double ns, double samples)
{
	worth->lent_ns += ns;
	worth->lent_samples = samples;
}

/* Samples' weights are T / n of their run, and beside that each sample of the pool has `lent`: sum and sum of squares.
 */
double nt_split_worth(const struct nt_split_worth *worth)
{
	const double lent = worth->lent_samples > 0 ? worth->lent_ns / worth->lent_samples : 0;
	const double ns = worth->ns + worth->lent_ns;
	const double squares = worth->squares + lent * (2 * worth->ns + worth->lent_ns);

	return squares > 0 ? ns * ns / squares : 0;
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
