// SPDX-License-Identifier: GPL-2.0-only
/*
 * series.c - see series.h.
 */
#include "report/query/latency/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const double nt_latency_quantiles[NT_QUANTILES] = {0.5, 0.9, 0.99, 0.999};

int nt_series_set_init(struct nt_series_set *set, uint32_t n_groups, bool include_hol)
{
	*set = (struct nt_series_set){.include_hol = include_hol, .n_groups = n_groups};
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		set->kept[hook] = 1;
		set->programs[hook] = 1;
		set->by_hook[hook] = calloc(n_groups, sizeof(*set->by_hook[hook]));
		set->drawn[hook] = calloc(n_groups, sizeof(*set->drawn[hook]));
		if (!set->by_hook[hook] || !set->drawn[hook])
			return -ENOMEM;
	}
	return 0;
}

void nt_series_set_release(struct nt_series_set *set)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		for (uint32_t group = 0; set->by_hook[hook] && group < set->n_groups; group++) {
			if (set->by_hook[hook][group])
				nt_samples_release(&set->by_hook[hook][group]->samples);
			free(set->by_hook[hook][group]);
		}
		if (set->others[hook])
			nt_samples_release(&set->others[hook]->samples);
		free(set->others[hook]);
		free(set->by_hook[hook]);
		free(set->drawn[hook]);
	}
	free(set->all);
	nt_samples_pool_release(&set->pool);
	*set = (struct nt_series_set){0};
}

/* Makes a series that is not there yet. */
static struct nt_series *series_at(struct nt_series_set *set, struct nt_series **at, enum nt_hook hook, uint32_t group)
{
	if (*at)
		return *at;
	*at = calloc(1, sizeof(**at));
	if (!*at)
		return NULL;
	(*at)->hook = hook;
	(*at)->group = group;
	(*at)->samples.pool = &set->pool;
	set->n++;
	return *at;
}

bool nt_series_set_takes(const struct nt_series_set *set, const struct nt_latency_sample *sample)
{
	return sample->is_known && !sample->is_other && (!sample->is_hol || set->include_hol);
}

int nt_series_set_add(struct nt_series_set *set, const struct nt_latency_sample *sample)
{
	struct nt_series *series;

	nt_weights_add(&set->weights[sample->hook], sample->weight);
	set->drawn[sample->hook][sample->group] += sample->weight;
	if (sample->is_other)
		return 0;
	series = series_at(set, &set->by_hook[sample->hook][sample->group], sample->hook, sample->group);
	if (!series)
		return -ENOMEM;
	if (!nt_series_set_takes(set, sample)) {
		if (sample->is_known)
			series->hol++;
		else if (sample->is_future)
			series->future++;
		else
			series->unknown++;
		return 0;
	}
	return nt_samples_add(&series->samples, sample->ns, sample->weight);
}

/* ---- order ---- */

static int by_group(const struct nt_series *a, const struct nt_series *b)
{
	if (!a->group || !b->group)
		return (a->group == 0) - (b->group == 0);
	return (a->group > b->group) - (a->group < b->group);
}

static int compare_numbers(const void *one, const void *two)
{
	const struct nt_series *a = *(struct nt_series *const *)one, *b = *(struct nt_series *const *)two;

	return a->hook != b->hook ? (int)a->hook - (int)b->hook : by_group(a, b);
}

static int compare_packets(const void *one, const void *two)
{
	const struct nt_series *a = *(struct nt_series *const *)one, *b = *(struct nt_series *const *)two;

	if (a->hook != b->hook)
		return (int)a->hook - (int)b->hook;
	if (a->samples.weight != b->samples.weight && a->group && b->group)
		return a->samples.weight < b->samples.weight ? 1 : -1;
	return by_group(a, b);
}

/* Adds a group to the others of its hook. */
static int put_together(struct nt_series_set *set, struct nt_series *series)
{
	struct nt_series *others = series_at(set, &set->others[series->hook], series->hook, set->n_groups);

	if (!others || nt_samples_take(&others->samples, &series->samples))
		return -ENOMEM;
	others->of_groups++;
	others->drawn += set->drawn[series->hook][series->group];
	others->hol += series->hol;
	others->future += series->future;
	others->unknown += series->unknown;
	return 0;
}

/* All series of groups, in no order. */
static size_t list_groups(struct nt_series_set *set)
{
	size_t n = 0;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		for (uint32_t group = 0; group < set->n_groups; group++) {
			if (set->by_hook[hook][group])
				set->all[n++] = set->by_hook[hook][group];
		}
	}
	return n;
}

/* The first of each hook in the order of packets, and its others behind them. Gives how many are left, or -ENOMEM. */
static int64_t keep_first(struct nt_series_set *set, size_t n, size_t most)
{
	size_t left = 0, of_hook = 0;

	for (size_t i = 0; i < n; i++) {
		struct nt_series *series = set->all[i];
		const bool has_others = set->others[series->hook];

		of_hook = i && set->all[i - 1]->hook == series->hook ? of_hook + 1 : 1;
		if (!series->group || of_hook <= most) {
			set->all[left++] = series;
			continue;
		}
		if (put_together(set, series))
			return -ENOMEM;
		if (!has_others)
			set->all[left++] = set->others[series->hook];
	}
	return (int64_t)left;
}

int nt_series_set_order(struct nt_series_set *set, bool by_number, size_t most)
{
	int64_t left;
	size_t n;

	set->all = calloc(set->n + 1, sizeof(*set->all));
	if (!set->all)
		return -ENOMEM;
	n = list_groups(set);
	qsort(set->all, n, sizeof(*set->all), compare_packets);
	left = keep_first(set, n, most);
	if (left < 0)
		return (int)left;
	set->n = (size_t)left;
	if (by_number)
		qsort(set->all, set->n, sizeof(*set->all), compare_numbers);
	return 0;
}

/* ---- figures ---- */

static double mean_of(const struct nt_samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->n; i++)
		sum += (double)nt_samples_value(samples, i) * nt_samples_weight(samples, i);
	return sum / samples->weight;
}

/*
 * A CPU counts its own gaps, so all of them are its group's. Packets that were sampled at both hooks are few and far
 * between: how many come is by chance alone, whatever the weights of others are.
 */
static struct nt_counted counted_over(const struct nt_series_set *set, const struct nt_series *series)
{
	const bool is_others = nt_series_is_of_others(set, series);
	double drawn = set->weights[series->hook].sum;

	if (set->is_pairs)
		return (struct nt_counted){.share = 0};
	if (set->is_by_cpu)
		drawn = is_others ? series->drawn : set->drawn[series->hook][series->group];
	return (struct nt_counted){
		.share = series->samples.weight / drawn * set->kept[series->hook],
		.edges = (!set->is_by_cpu ? set->cpus
			  : is_others	  ? series->of_groups
					  : 1) *
			 set->programs[series->hook],
		.is_cut = set->is_cut,
	};
}

void nt_series_figures(const struct nt_series_set *set, struct nt_series *series, struct nt_figures *figures)
{
	const struct nt_weights *hook = &set->weights[series->hook];
	struct nt_samples *samples = &series->samples;
	struct nt_counted counted;

	*figures = (struct nt_figures){.samples = samples->n, .packets = samples->weight, .any = samples->n > 0};
	if (!figures->any)
		return;
	nt_samples_sort(samples);
	figures->min = nt_samples_value(samples, 0);
	figures->max = nt_samples_value(samples, samples->n - 1);
	figures->mean = mean_of(samples);
	figures->is_sampled = nt_is_sampled(hook);
	if (figures->is_sampled) {
		counted = counted_over(set, series);
		figures->packets_error = nt_count_error(samples, hook, &counted);
		figures->has_mean_error = samples->n > 1;
	}
	if (figures->has_mean_error)
		figures->mean_error = nt_mean_error(samples, hook, figures->mean);
	for (unsigned int i = 0; i < NT_QUANTILES; i++) {
		figures->quantiles[i] = nt_samples_quantile(samples, nt_latency_quantiles[i]);
		if (figures->is_sampled)
			figures->intervals[i] = nt_quantile_interval(samples, hook, nt_latency_quantiles[i]);
	}
}
