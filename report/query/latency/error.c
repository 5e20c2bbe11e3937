// SPDX-License-Identifier: GPL-2.0-only
/*
 * error.c - see error.h.
 */
#include "report/query/latency/error.h"

#include <math.h>

#define TAIL ((1 - NT_CONFIDENCE) / 2)

void nt_weights_add(struct nt_weights *hook, double weight)
{
	hook->n++;
	hook->sum += weight;
	hook->out += weight * (weight - 1);
}

bool nt_is_sampled(const struct nt_weights *hook)
{
	return hook->out > 0;
}

/*
 * Before the first sample and after the last come as many packets as a gap has, m, and half the mean of w(w - 1) is m *
 * m. The packets missing at the ends are an error to the same side everywhere, by (edges^2 + edges) * m * m in the mean
 * of squares. Surplus packets at the beginnings make up for that in the mean, and 2 * edges * m * m is left. Of either
 * the group has its share.
 */
double nt_count_error(const struct nt_samples *samples, const struct nt_weights *hook, const struct nt_counted *counted)
{
	double out = hook->out / hook->n, share = counted->share, edges = counted->edges;
	double ends = counted->is_cut ? 2 * edges : edges * (edges + 1);

	return sqrt((1 - share) * out * (double)samples->n + share * share * ends * out / 2);
}

static double sum_of_squares(const struct nt_samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->n; i++)
		sum += nt_samples_weight(samples, i) * nt_samples_weight(samples, i);
	return sum;
}

/*
 * The variance of the weighted mean, in those of one packet. Of the samples alone it would be sum(w^2) / sum(w)^2; but
 * they are part of the packets that are asked about, as many as so many samples of the hook stand for.
 */
static double spread(const struct nt_samples *samples, const struct nt_weights *hook)
{
	double packets = (double)samples->n * hook->sum / hook->n;

	return fmax(0, sum_of_squares(samples) / (samples->weight * samples->weight) - 1 / packets);
}

double nt_mean_error(const struct nt_samples *samples, const struct nt_weights *hook, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < samples->n; i++) {
		double off = (double)nt_samples_value(samples, i) - mean;

		sum += nt_samples_weight(samples, i) * off * off;
	}
	/* The mean is the samples' own, so they are closer to it than packets are. The divisor is 1 at least, but for
	 * rounding. */
	sum /= fmax(1, samples->weight - sum_of_squares(samples) / samples->weight);
	return sqrt(spread(samples, hook) * sum);
}

/* The probability of exactly k of n. */
static double binomial(uint64_t n, double p, uint64_t k)
{
	double left = (double)(n - k);

	return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma(left + 1) + (double)k * log(p) +
		   left * log1p(-p));
}

/*
 * How many of n packets are at or below the quantile is binomial. The k-th lies above it if that is at most k - 1, and
 * not above it if it is k or more. Counts ten standard deviations away are too rare to matter.
 */
void nt_rank_interval(uint64_t n, double fraction, uint64_t *low, uint64_t *high)
{
	double mean = (double)n * fraction, width = 10 * sqrt(mean * (1 - fraction)) + 20;
	uint64_t begin = mean > width ? (uint64_t)(mean - width) : 0;
	uint64_t end = mean + width < (double)n ? (uint64_t)(mean + width) : n;
	double chance, sum = 0;
	uint64_t k;

	*low = 0;
	*high = n + 1;
	if (!(fraction > 0 && fraction < 1) || !n)
		return;
	chance = binomial(n, fraction, begin);
	for (k = begin; k <= end; k++) {
		sum += chance; /* of at most k */
		if (sum <= TAIL)
			*low = k + 1;
		if (sum >= 1 - TAIL) {
			*high = k + 1;
			break;
		}
		chance *= (double)(n - k) / (double)(k + 1) * (fraction / (1 - fraction));
	}
}

struct nt_interval nt_quantile_interval(struct nt_samples *samples, const struct nt_weights *hook, double fraction)
{
	struct nt_interval interval = {true, true, 0, 0};
	double independent;
	uint64_t n, low, high;

	if (!nt_is_sampled(hook)) {
		interval.low = interval.high = nt_samples_quantile(samples, fraction);
		return interval;
	}
	/* As many equal ones would tell as much as these unequal ones. */
	independent = 1 / spread(samples, hook);
	n = independent < 1 ? 1 : (uint64_t)independent;
	nt_rank_interval(n, fraction, &low, &high);
	interval.has_low = low >= 1;
	interval.has_high = high <= n;
	if (interval.has_low)
		interval.low = nt_samples_quantile(samples, (double)low / (double)n);
	if (interval.has_high)
		interval.high = nt_samples_quantile(samples, (double)high / (double)n);
	return interval;
}
