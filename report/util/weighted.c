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
#define PAGE 4096 /* numbers that are read at once */
#define WAYS 16 /* runs that are merged at once */
#define MERGE_PAGE 512 /* numbers of each of them in memory */

static int spill_many(struct nt_samples_pool *pool);

/* From now on each has a weight of its own. */
static int begin_weights(struct nt_samples *samples)
{
	if (NT_ROOM(samples->weights, samples->weights_size, samples->n_kept + 1))
		return -ENOMEM;
	for (size_t i = 0; i < samples->n_kept; i++)
		samples->weights[i] = 1;
	samples->has_weights = true;
	return 0;
}

static void join(struct nt_samples *samples)
{
	struct nt_samples_pool *pool = samples->pool;

	samples->next = pool->first;
	samples->link = &pool->first;
	if (pool->first)
		pool->first->link = &samples->next;
	pool->first = samples;
	pool->n_members++;
}

/* How many numbers the pool has room for. */
static size_t room_of(const struct nt_samples_pool *pool)
{
	if (pool->most)
		return pool->most;
	return pool->n_members < NT_POOL_MOST / NT_POOL_EACH ? NT_POOL_MOST : pool->n_members * NT_POOL_EACH;
}

/* Room for one more in the pool. */
static int make_room(struct nt_samples *samples)
{
	struct nt_samples_pool *pool = samples->pool;

	if (!samples->link)
		join(samples);
	return pool->n < room_of(pool) ? 0 : spill_many(pool);
}

int nt_samples_add(struct nt_samples *samples, int64_t value, double weight)
{
	int error;

	if (weight == 0)
		return 0;
	error = samples->pool ? make_room(samples) : 0;
	if (error)
		return error;
	if (NT_ROOM(samples->keys, samples->keys_size, samples->n_kept + 1))
		return -ENOMEM;
	if (weight != 1 && !samples->has_weights && begin_weights(samples))
		return -ENOMEM;
	if (samples->has_weights && NT_ROOM(samples->weights, samples->weights_size, samples->n_kept + 1))
		return -ENOMEM;
	samples->keys[samples->n_kept] = nt_samples_key(value);
	if (samples->has_weights)
		samples->weights[samples->n_kept] = weight;
	samples->n_kept++;
	samples->n++;
	if (samples->pool)
		samples->pool->n++;
	samples->weight += weight;
	samples->sorted = false;
	return 0;
}

static void free_kept(struct nt_samples *samples)
{
	free(samples->keys);
	free(samples->weights);
	if (samples->pool)
		samples->pool->n -= samples->n_kept;
	samples->keys = NULL;
	samples->weights = NULL;
	samples->n_kept = samples->keys_size = samples->weights_size = 0;
}

static void leave(struct nt_samples *samples)
{
	if (samples->link) {
		*samples->link = samples->next;
		if (samples->next)
			samples->next->link = samples->link;
		samples->link = NULL;
		samples->pool->n_members--;
	}
	if (samples->pool->page_of == samples)
		samples->pool->page_of = NULL;
}

void nt_samples_keep(struct nt_samples *samples)
{
	if (!samples->pool || !nt_samples_are_kept(samples))
		return;
	samples->pool->n -= samples->n_kept;
	leave(samples);
	samples->pool = NULL;
}

void nt_samples_release(struct nt_samples *samples)
{
	free_kept(samples);
	if (samples->pool)
		leave(samples);
	free(samples->runs);
	free(samples->sums);
	memset(samples, 0, sizeof(*samples));
}

void nt_samples_pool_release(struct nt_samples_pool *pool)
{
	free(pool->page);
	nt_spill_release(&pool->spill);
	*pool = (struct nt_samples_pool){0};
}

/* Room for the numbers of another one, in memory and in the file. */
static int make_room_for(struct nt_samples *samples, const struct nt_samples *from)
{
	const size_t kept = samples->n_kept + from->n_kept;

	if (from->has_weights && !samples->has_weights && begin_weights(samples))
		return -ENOMEM;
	if (NT_ROOM(samples->keys, samples->keys_size, kept) ||
	    (samples->has_weights && NT_ROOM(samples->weights, samples->weights_size, kept)) ||
	    NT_ROOM(samples->runs, samples->runs_size, samples->n_runs + from->n_runs))
		return -ENOMEM;
	return 0;
}

int nt_samples_take(struct nt_samples *samples, struct nt_samples *from)
{
	if (make_room_for(samples, from))
		return -ENOMEM;
	if (samples->pool && !samples->link)
		join(samples);
	for (size_t i = 0; i < from->n_kept; i++) {
		samples->keys[samples->n_kept] = from->keys[i];
		if (samples->has_weights)
			samples->weights[samples->n_kept] = from->has_weights ? from->weights[i] : 1;
		samples->n_kept++;
	}
	for (size_t i = 0; i < from->n_runs; i++)
		samples->runs[samples->n_runs++] = from->runs[i];
	if (samples->pool)
		samples->pool->n += from->n_kept;
	samples->n += from->n;
	samples->weight += from->weight;
	samples->sorted = false;
	nt_samples_release(from);
	return 0;
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

static void sort_kept(struct nt_samples *samples)
{
	if (!samples->sorted)
		sort_bytes(samples, 0, samples->n_kept, 56);
}

/* ---- runs in the file ---- */

/* Whatever could not be read or written: no figure is right any more. */
static int fail(struct nt_samples_pool *pool, int error)
{
	if (!pool->spill.error)
		pool->spill.error = error;
	return -EIO;
}

static int add_run(struct nt_samples *samples, uint64_t at, uint64_t n)
{
	if (NT_ROOM(samples->runs, samples->runs_size, samples->n_runs + 1))
		return -ENOMEM;
	samples->runs[samples->n_runs++] = (struct nt_samples_run){at, n};
	return 0;
}

static int write_kept(struct nt_samples *samples, struct nt_spilled page[PAGE])
{
	for (size_t at = 0; at < samples->n_kept; at += PAGE) {
		const size_t n = samples->n_kept - at < PAGE ? samples->n_kept - at : PAGE;

		for (size_t i = 0; i < n; i++) {
			page[i].key = samples->keys[at + i];
			page[i].weight = samples->has_weights ? samples->weights[at + i] : 1;
		}
		if (nt_spill_append(&samples->pool->spill, page, n * sizeof(*page)))
			return -EIO;
	}
	return 0;
}

static int make_page(struct nt_samples_pool *pool)
{
	if (!pool->page)
		pool->page = malloc(PAGE * sizeof(*pool->page));
	pool->page_of = NULL;
	return pool->page ? 0 : -ENOMEM;
}

static int spill_kept(struct nt_samples *samples)
{
	struct nt_samples_pool *pool = samples->pool;
	const uint64_t at = pool->spill.size, n = samples->n_kept;
	int error = make_page(pool);

	if (error)
		return error;
	samples->sorted = false;
	sort_kept(samples);
	error = write_kept(samples, pool->page);
	if (!error)
		error = add_run(samples, at, n);
	if (!error)
		free_kept(samples);
	return error;
}

/* Of those that have half of the average at least: half of the room, or more. */
static int spill_many(struct nt_samples_pool *pool)
{
	const size_t least = (pool->n + 2 * pool->n_members - 1) / (2 * pool->n_members);
	int error = 0;

	for (struct nt_samples *samples = pool->first; samples && !error; samples = samples->next) {
		if (samples->n_kept >= least)
			error = spill_kept(samples);
	}
	return error;
}

/* ---- merging runs ---- */

struct way {
	struct nt_samples_run left; /* what is not read yet */
	uint64_t forgotten; /* up to here */
	size_t i, n; /* of the page */
	struct nt_spilled page[MERGE_PAGE];
};

struct merging {
	struct nt_spill *spill;
	struct way ways[WAYS];
	unsigned int n_ways;
	size_t n;
	struct nt_spilled out[PAGE];
};

/* The next page; a way without one has ended. */
static int turn(struct merging *merging, struct way *way)
{
	size_t size;

	way->i = 0;
	way->n = way->left.n < MERGE_PAGE ? (size_t)way->left.n : MERGE_PAGE;
	size = way->n * sizeof(*way->page);
	if (nt_spill_read(merging->spill, way->left.at, way->page, size))
		return -EIO;
	way->left.at += size;
	way->left.n -= way->n;
	way->forgotten = nt_spill_forget(merging->spill, way->forgotten, way->left.at);
	return 0;
}

/* The way with the least key, the first of several; NULL: all have ended. */
static struct way *least_way(struct merging *merging)
{
	struct way *least = NULL;

	for (unsigned int i = 0; i < merging->n_ways; i++) {
		struct way *way = &merging->ways[i];

		if (way->i < way->n && (!least || way->page[way->i].key < least->page[least->i].key))
			least = way;
	}
	return least;
}

static int flush(struct merging *merging)
{
	const int error = nt_spill_append(merging->spill, merging->out, merging->n * sizeof(*merging->out));

	merging->n = 0;
	return error;
}

static int merge_all(struct merging *merging)
{
	struct way *way;
	int error = 0;

	for (unsigned int i = 0; i < merging->n_ways && !error; i++)
		error = turn(merging, &merging->ways[i]);
	while (!error && (way = least_way(merging))) {
		merging->out[merging->n++] = way->page[way->i++];
		if (way->i == way->n)
			error = turn(merging, way);
		if (!error && merging->n == PAGE)
			error = flush(merging);
	}
	return error ? error : flush(merging);
}

/* The next runs become one, which comes last. */
static int merge_next(struct nt_samples *samples, struct merging *merging, size_t *next)
{
	const uint64_t at = merging->spill->size;
	int error;

	merging->n_ways = 0;
	for (; merging->n_ways < WAYS && *next < samples->n_runs; ++*next) {
		merging->ways[merging->n_ways].left = samples->runs[*next];
		merging->ways[merging->n_ways++].forgotten = samples->runs[*next].at;
	}
	error = merge_all(merging);
	return error ? error : add_run(samples, at, (merging->spill->size - at) / sizeof(*merging->out));
}

static int merge_runs(struct nt_samples *samples)
{
	struct merging *merging = calloc(1, sizeof(*merging));
	size_t next = 0;
	int error = merging ? 0 : -ENOMEM;

	if (merging)
		merging->spill = &samples->pool->spill;
	while (!error && samples->n_runs - next > 1)
		error = merge_next(samples, merging, &next);
	free(merging);
	if (error)
		return error;
	samples->runs[0] = samples->runs[samples->n_runs - 1];
	samples->n_runs = 1;
	return 0;
}

static int sort_spilled(struct nt_samples *samples)
{
	const int error = samples->n_kept ? spill_kept(samples) : 0;

	free(samples->sums);
	samples->sums = NULL;
	return error ? error : merge_runs(samples);
}

void nt_samples_sort(struct nt_samples *samples)
{
	int error = 0;

	if (samples->sorted)
		return;
	if (nt_samples_are_kept(samples))
		sort_kept(samples);
	else
		error = sort_spilled(samples);
	if (error)
		fail(samples->pool, error == -ENOMEM ? ENOMEM : EIO);
	samples->sorted = true;
}

/* The i-th of the one run that there is; of a file that failed, anything. */
static struct nt_spilled spilled(const struct nt_samples *samples, size_t i)
{
	static const struct nt_spilled none;
	struct nt_samples_pool *pool = samples->pool;
	const size_t first = i / PAGE * PAGE;

	if (pool->page_of != samples || pool->page_first != first) {
		pool->page_of = NULL;
		pool->page_n = samples->n - first < PAGE ? samples->n - first : PAGE;
		if (pool->spill.error || nt_spill_read(&pool->spill, samples->runs->at + first * sizeof(*pool->page),
						       pool->page, pool->page_n * sizeof(*pool->page)))
			return none;
		pool->page_of = samples;
		pool->page_first = first;
	}
	return pool->page[i - first];
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

/* Sums up weights from the i-th on, whose sum before it is *sum, until that is what is wanted. Gives where. */
static size_t find_rank(const struct nt_samples *samples, double wanted, size_t i, double *sum)
{
	for (; i < samples->n; i++) {
		*sum += nt_samples_weight(samples, i);
		if (*sum >= wanted)
			return i;
	}
	return samples->n - 1;
}

/* Once for all quantiles. */
static int sum_pages(struct nt_samples *samples)
{
	double sum = 0;

	samples->sums = calloc(samples->n / PAGE + 1, sizeof(*samples->sums));
	if (!samples->sums)
		return fail(samples->pool, ENOMEM);
	for (size_t i = 0; i < samples->n; i++) {
		sum += nt_samples_weight(samples, i);
		samples->sums[i / PAGE] = sum;
	}
	return 0;
}

/* Whole pages that do not reach it are passed over. */
static size_t find_spilled(struct nt_samples *samples, double wanted)
{
	size_t page = 0;
	double sum;

	if (!samples->sums && sum_pages(samples))
		return 0;
	while (page < (samples->n - 1) / PAGE && samples->sums[page] < wanted)
		page++;
	sum = page ? samples->sums[page - 1] : 0;
	return find_rank(samples, wanted, page * PAGE, &sum);
}

int64_t nt_samples_quantile(struct nt_samples *samples, double fraction)
{
	double wanted = rank(fraction, samples->weight), sum = 0;
	size_t below;

	nt_samples_sort(samples);
	if (samples->has_weights)
		return nt_samples_value(samples, nt_samples_are_kept(samples) ? find_rank(samples, wanted, 0, &sum)
									      : find_spilled(samples, wanted));
	below = wanted <= 1 ? 0 : (size_t)ceil(wanted) - 1;
	return nt_samples_value(samples, below < samples->n ? below : samples->n - 1);
}

int64_t nt_samples_value(const struct nt_samples *samples, size_t i)
{
	const uint64_t key = nt_samples_are_kept(samples) ? samples->keys[i] : spilled(samples, i).key;

	return (int64_t)nt_samples_key((int64_t)key);
}

double nt_samples_weight(const struct nt_samples *samples, size_t i)
{
	if (!samples->has_weights)
		return 1;
	return nt_samples_are_kept(samples) ? samples->weights[i] : spilled(samples, i).weight;
}

static uint64_t changed(uint64_t key, int64_t (*change)(int64_t value))
{
	return nt_samples_key(change((int64_t)nt_samples_key((int64_t)key)));
}

static int change_run(struct nt_samples_pool *pool, struct nt_samples_run run, int64_t (*change)(int64_t value))
{
	int error = make_page(pool);

	for (uint64_t i = 0; i < run.n && !error; i += PAGE) {
		const size_t n = run.n - i < PAGE ? (size_t)(run.n - i) : PAGE;

		error = nt_spill_read(&pool->spill, run.at + i * sizeof(*pool->page), pool->page,
				      n * sizeof(*pool->page));
		for (size_t j = 0; j < n && !error; j++)
			pool->page[j].key = changed(pool->page[j].key, change);
		if (!error)
			error = nt_spill_change(&pool->spill, run.at + i * sizeof(*pool->page), pool->page,
						n * sizeof(*pool->page));
	}
	return error;
}

void nt_samples_change(struct nt_samples *samples, int64_t (*change)(int64_t value))
{
	for (size_t i = 0; i < samples->n_kept; i++)
		samples->keys[i] = changed(samples->keys[i], change);
	for (size_t i = 0; i < samples->n_runs; i++) {
		if (change_run(samples->pool, samples->runs[i], change))
			fail(samples->pool, EIO);
	}
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
