// SPDX-License-Identifier: GPL-2.0-only
/*
 * groups.c - see groups.h.
 */
#include "report/export/prometheus/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

/* NULL: out of memory. */
static struct nt_prometheus_host *find_host(struct nt_prometheus_groups *groups, uint32_t number)
{
	const size_t n = groups->n;

	if (number < n)
		return &groups->hosts[number];
	if (NT_ROOM(groups->hosts, groups->size, (size_t)number + 1))
		return NULL;
	memset(&groups->hosts[n], 0, (number + 1 - n) * sizeof(*groups->hosts));
	groups->n = (size_t)number + 1;
	return &groups->hosts[number];
}

static struct nt_prometheus_group *new_group(size_t size)
{
	struct nt_prometheus_group *group = calloc(1, sizeof(*group));

	if (group)
		group->figures = calloc(1, size);
	if (group && group->figures)
		return group;
	free(group);
	return NULL;
}

struct nt_prometheus_group *nt_prometheus_group(struct nt_prometheus_groups *groups, const struct nt_sheet *sheet,
						const char *name, size_t size)
{
	struct nt_prometheus_host *host = find_host(groups, sheet->host);
	uint32_t n, number;

	if (!host)
		return NULL;
	n = host->names.texts.n;
	if (NT_ROOM(host->groups, host->size, (size_t)n + 1) || nt_labels_number(&host->names, name, &number))
		return NULL;
	if (number == n)
		host->groups[n] = new_group(size);
	return host->groups[number];
}

/* The first weighs most; of those that weigh as much, it is the one that came first. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct nt_prometheus_host *host = arg;
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const double x = host->groups[first]->weight, y = host->groups[second]->weight;

	if (x != y)
		return x > y ? -1 : 1;
	return first < second ? -1 : first > second;
}

/* The host's groups, the heaviest first; the caller's to free. NULL: out of memory. */
static uint32_t *order_of(struct nt_prometheus_host *host)
{
	const uint32_t n = host->names.texts.n;
	uint32_t *order = malloc((n + 1) * sizeof(*order));

	for (uint32_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), compare, host);
	return order;
}

static int each_of_host(struct nt_prometheus_host *host, size_t limit,
			int (*visit)(void *arg, const char *name, const struct nt_prometheus_group *group), void *arg)
{
	const uint32_t n = host->names.texts.n;
	uint32_t *order = order_of(host);
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !error; i++)
		error = visit(arg, i < limit ? nt_labels_text(&host->names, order[i]) : NT_PROMETHEUS_OTHER,
			      host->groups[order[i]]);
	free(order);
	return error;
}

int nt_prometheus_each_group(const struct nt_prometheus_groups *groups, size_t limit, struct nt_sheet *sheet,
			     int (*visit)(void *arg, const char *name, const struct nt_prometheus_group *group),
			     void *arg)
{
	int error = 0;

	for (size_t i = 0; i < groups->n && !error; i++) {
		sheet->host = (uint32_t)i;
		error = each_of_host(&groups->hosts[i], limit, visit, arg);
	}
	return error;
}

/* ---- names that stay ---- */

static bool has_name(const struct nt_prometheus_named *named, const char *name)
{
	return NT_ANY(named->n, i, !strcmp(named->names[i], name));
}

static int add_name(struct nt_prometheus_named *named, const char *name)
{
	if (NT_ROOM(named->names, named->size, named->n + 1) || !(named->names[named->n] = strdup(name)))
		return -ENOMEM;
	named->n++;
	return 0;
}

/* The weight, in all, of a group without a name. NULL: out of memory. */
static double *tried_weight(struct nt_prometheus_named *named, const char *name)
{
	const uint32_t n = named->tried.texts.n;
	uint32_t number;

	if (NT_ROOM(named->weights, named->weights_size, (size_t)n + 1) ||
	    nt_labels_number(&named->tried, name, &number))
		return NULL;
	if (number == n)
		named->weights[number] = 0;
	return &named->weights[number];
}

/* Gives the group a name, if it has earned one. 0 or -ENOMEM. */
static int try_name(struct nt_prometheus_named *named, size_t limit, const char *name, double weight)
{
	double *of_all;

	if (has_name(named, name) || named->n >= limit || weight <= 0)
		return 0;
	/* Those that weigh little may be very many: all begin anew. */
	if (named->tried.texts.n >= NT_TRIED)
		nt_labels_release(&named->tried);
	of_all = tried_weight(named, name);
	if (!of_all)
		return -ENOMEM;
	*of_all += weight;
	return *of_all * NT_NAMED_SHARE >= named->total ? add_name(named, name) : 0;
}

int nt_prometheus_each_new(const struct nt_prometheus_groups *groups, size_t limit, struct nt_prometheus_named *named,
			   const struct nt_sheet *sheet,
			   int (*visit)(void *arg, const char *name, const struct nt_prometheus_group *group),
			   void *arg)
{
	struct nt_prometheus_host *host = sheet->host < groups->n ? &groups->hosts[sheet->host] : NULL;
	const uint32_t n = host ? host->names.texts.n : 0;
	uint32_t *order = host ? order_of(host) : NULL;
	int error = host && !order ? -ENOMEM : 0;

	for (uint32_t i = 0; i < n && !error; i++)
		named->total += host->groups[i]->weight;
	for (uint32_t i = 0; i < n && !error; i++) {
		const struct nt_prometheus_group *group = host->groups[order[i]];
		const char *name = nt_labels_text(&host->names, order[i]);

		error = try_name(named, limit, name, group->weight);
		if (!error)
			error = visit(arg, has_name(named, name) ? name : NT_PROMETHEUS_OTHER, group);
	}
	free(order);
	return error;
}

void nt_prometheus_release_named(struct nt_prometheus_named *named)
{
	for (size_t i = 0; i < named->n; i++)
		free(named->names[i]);
	free(named->names);
	nt_labels_release(&named->tried);
	free(named->weights);
	*named = (struct nt_prometheus_named){0};
}

static void release_host(struct nt_prometheus_host *host, void (*release)(void *figures))
{
	for (uint32_t i = 0; i < host->names.texts.n; i++) {
		struct nt_prometheus_group *group = host->groups[i];

		/* NULL: memory ran out when it was to be made. */
		if (group && release)
			release(group->figures);
		if (group)
			free(group->figures);
		free(group);
	}
	free(host->groups);
	nt_labels_release(&host->names);
}

void nt_prometheus_release_groups(struct nt_prometheus_groups *groups, void (*release)(void *figures))
{
	for (size_t i = 0; i < groups->n; i++)
		release_host(&groups->hosts[i], release);
	free(groups->hosts);
	*groups = (struct nt_prometheus_groups){0};
}
