// SPDX-License-Identifier: GPL-2.0-only
/*
 * groups.c - see groups.h.
 */
#include "report/export/prometheus/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

#define OTHER "other"

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

static int each_of_host(struct nt_prometheus_host *host, size_t limit,
			int (*visit)(void *arg, const char *name, const struct nt_prometheus_group *group), void *arg)
{
	const uint32_t n = host->names.texts.n;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	int error = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare, host);
	for (uint32_t i = 0; i < n && !error; i++)
		error = visit(arg, i < limit ? nt_labels_text(&host->names, order[i]) : OTHER, host->groups[order[i]]);
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
