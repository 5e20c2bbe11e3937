// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_estimates.c - see flow_estimates.h.
 *
 * Two things bound a flow's packets, and both must hold. The samples: of n samples that were drawn, each with
 * probability p, the number that they were drawn from is known as of a Poisson process. The sketch: of its rows each is
 * off by what else is in the flow's cell and by the draws, symmetrically, with a variance that the other cells show.
 */
#include "report/rows/flow_estimates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schema/meta_keys.h"

/* Each end of each of the two intervals is exceeded with a probability of 0.25 %: together, of 1 %. */
#define SAMPLES_Z 2.807

/* Of a packet, on average. */
static double samples_a_packet(const struct nt_flow_estimates *estimates)
{
	return estimates->sample * (estimates->shape.rows ? estimates->shape.rows : 1);
}

int nt_flow_estimates_init(struct nt_flow_estimates *estimates, const char *sample, const char *sketch)
{
	char *end;

	memset(estimates, 0, sizeof(*estimates));
	estimates->sample = strtod(sample, &end);
	if (end == sample || *end || !(estimates->sample > 0 && estimates->sample <= 1))
		return -EINVAL;
	if (strcmp(sketch, NT_FLOW_SKETCH_NONE) != 0 && !nt_sketch_shape_parse(sketch, &estimates->shape))
		return -EINVAL;
	estimates->cells = calloc(nt_sketch_cells(&estimates->shape) + 1, sizeof(*estimates->cells));
	return estimates->cells ? 0 : -ENOMEM;
}

void nt_flow_estimates_release(struct nt_flow_estimates *estimates)
{
	free(estimates->cells);
	memset(estimates, 0, sizeof(*estimates));
}

void nt_flow_estimates_clear(struct nt_flow_estimates *estimates)
{
	if (estimates->cells)
		memset(estimates->cells, 0, nt_sketch_cells(&estimates->shape) * sizeof(*estimates->cells));
	estimates->is_squared = false;
}

/* A hostile tape may have any numbers: the sum wraps, and is then as wrong as they are. */
static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

bool nt_flow_estimates_add(struct nt_flow_estimates *estimates, uint32_t cell, int64_t packets, int64_t bytes)
{
	if (!estimates->cells || cell >= nt_sketch_cells(&estimates->shape))
		return false;
	estimates->cells[cell].packets = add(estimates->cells[cell].packets, packets);
	estimates->cells[cell].bytes = add(estimates->cells[cell].bytes, bytes);
	estimates->is_squared = false;
	return true;
}

void nt_flow_estimates_add_all(struct nt_flow_estimates *to, const struct nt_flow_estimates *from)
{
	for (uint32_t cell = 0; cell < nt_sketch_cells(&from->shape); cell++)
		nt_flow_estimates_add(to, cell, from->cells[cell].packets, from->cells[cell].bytes);
}

static void square(struct nt_flow_estimates *estimates)
{
	const uint32_t columns = 1u << estimates->shape.column_bits;

	for (uint32_t row = 0; row < estimates->shape.rows; row++) {
		double packets = 0, bytes = 0;

		for (uint32_t i = 0; i < columns; i++) {
			const struct nt_sketch_cell *cell = &estimates->cells[row * columns + i];

			packets += (double)cell->packets * (double)cell->packets;
			bytes += (double)cell->bytes * (double)cell->bytes;
		}
		estimates->packets_squared[row] = packets;
		estimates->bytes_squared[row] = bytes;
	}
	estimates->is_squared = true;
}

/* One of the two quantities, of one flow. */
struct quantity {
	double sampled, missed; /* sum of the samples; and of those that it may have had besides */
	double most; /* of one sample */
	double rows[NT_SKETCH_MAX_ROWS]; /* what each row says, ascending */
	double variance; /* of a row, by what is not the flow's */
};

struct bounds {
	double value, low, high;
};

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* What the rows of the sketch say, scaled by 1 / p. */
static void ask_rows(const struct nt_flow_estimates *estimates, uint64_t hash, bool of_bytes, struct quantity *quantity)
{
	const struct nt_sketch_shape *shape = &estimates->shape;
	const double p = estimates->sample, columns = 1u << shape->column_bits;
	double others = 0;

	for (uint32_t row = 0; row < shape->rows; row++) {
		const struct nt_sketch_cell *cell = &estimates->cells[nt_sketch_cell(shape, hash, row)];
		const double own = (double)(of_bytes ? cell->bytes : cell->packets);

		others += (of_bytes ? estimates->bytes_squared : estimates->packets_squared)[row] - own * own;
		quantity->rows[row] = (nt_sketch_is_negative(shape, hash, row) ? -own : own) / p;
	}
	quantity->variance = others > 0 ? others / (columns - 1) / shape->rows / (p * p) : 0;
	qsort(quantity->rows, shape->rows, sizeof(quantity->rows[0]), compare);
}

/*
 * The ends of a Poisson mean of which n events were seen (Wilson and Hilferty 1931): within some percent of the exact
 * ones for small n, and nearer for larger.
 */
static double poisson_low(double n)
{
	const double root = n > 0 ? 1 - 1 / (9 * n) - SAMPLES_Z / (3 * sqrt(n)) : 0;

	return root > 0 ? n * root * root * root : 0;
}

static double poisson_high(double n)
{
	const double root = 1 - 1 / (9 * (n + 1)) + SAMPLES_Z / (3 * sqrt(n + 1));

	return (n + 1) * root * root * root;
}

/*
 * By the samples. They differ in size: as many of the largest size vary more than they did. With p = 1 all were drawn,
 * and nothing varies.
 */
static struct bounds bounds_by_samples(const struct nt_flow_estimates *estimates, const struct quantity *quantity)
{
	const double p = estimates->sample, drawn = samples_a_packet(estimates), unit = quantity->most * (1 - p);
	struct bounds bounds = {.low = quantity->sampled / drawn,
				.high = (quantity->sampled + quantity->missed) / drawn};

	if (unit > 0) {
		bounds.low = poisson_low(quantity->sampled / unit) * unit / drawn;
		bounds.high = poisson_high((quantity->sampled + quantity->missed) / unit) * unit / drawn;
	}
	return bounds;
}

/*
 * How many standard deviations of a row its lower median is below or above the truth, with a probability of 0.25 %
 * each, by the number of rows as a power of two. Of four rows three must be above, or two below.
 */
static const double sketch_below[] = {2.81, 3.02, 2.05, 1.43}, sketch_above[] = {2.81, 1.65, 1.37, 1.11};

static struct bounds bounds_by_sketch(const struct nt_flow_estimates *estimates, const struct quantity *quantity,
				      const struct bounds *samples)
{
	const double p = estimates->sample;
	const int rows = __builtin_ctz(estimates->shape.rows);
	const double median = quantity->rows[(estimates->shape.rows - 1) / 2];
	const double truth = fmin(fmax(median, samples->low), samples->high);
	const double sigma = sqrt(quantity->variance + (1 - p) / p * truth * quantity->most);

	return (struct bounds){median, median - sketch_above[rows] * sigma, median + sketch_below[rows] * sigma};
}

/*
 * The flow was sampled at least as often as is known, and at most so often as may have been missed: between these the
 * sketch tells.
 */
static struct bounds estimate(const struct nt_flow_estimates *estimates, const struct quantity *quantity, bool has_rows)
{
	const double drawn = samples_a_packet(estimates);
	struct bounds samples = bounds_by_samples(estimates, quantity), sketch = samples, both = samples;

	/* Without a sketch, what found no place is of many flows: hardly any of it is of this one. */
	sketch.value = (quantity->sampled + (estimates->shape.rows ? quantity->missed / 2 : 0)) / drawn;
	if (has_rows)
		sketch = bounds_by_sketch(estimates, quantity, &samples);
	/* Where the two contradict each other, that of the samples depends on fewer assumptions. */
	if (sketch.low <= samples.high && sketch.high >= samples.low) {
		both.low = fmax(samples.low, sketch.low);
		both.high = fmin(samples.high, sketch.high);
	}
	both.value =
		fmin(fmax(sketch.value, quantity->sampled / drawn), (quantity->sampled + quantity->missed) / drawn);
	both.low = fmin(both.low, both.value);
	both.high = fmax(both.high, both.value);
	return both;
}

/* A cast of a number that is too large would be undefined. */
static uint64_t whole(double value)
{
	return value >= (double)INT64_MAX ? INT64_MAX : value > 0 ? (uint64_t)value : 0;
}

void nt_flow_estimates_of(struct nt_flow_estimates *estimates, uint64_t hash, const struct nt_flow_samples *samples,
			  struct nt_flow_estimate *out)
{
	struct quantity packets = {(double)samples->packets, (double)samples->missed, samples->most_packets, {0}, 0};
	/* A packet that was missed has no more bytes than the largest sample, which may be of many packets. */
	struct quantity bytes = {
		(double)samples->bytes, (double)samples->missed * samples->most_bytes, samples->most_bytes, {0}, 0};
	struct bounds bounds;

	if (!estimates->shape.rows)
		hash = 0;
	if (hash && !estimates->is_squared)
		square(estimates);
	if (hash) {
		ask_rows(estimates, hash, false, &packets);
		ask_rows(estimates, hash, true, &bytes);
	}
	bounds = estimate(estimates, &packets, hash);
	out->packets = whole(bounds.value + 0.5);
	out->packets_low = whole(bounds.low);
	out->packets_high = whole(ceil(bounds.high));
	bounds = estimate(estimates, &bytes, hash);
	out->bytes = whole(bounds.value + 0.5);
	out->bytes_low = whole(bounds.low);
	out->bytes_high = whole(ceil(bounds.high));
}
