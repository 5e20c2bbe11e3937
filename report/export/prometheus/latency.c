// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - how late packets are at the hooks. Memory is for the groups at each hook, not for the samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/parts.h"
#include "report/query/latency/result.h"
#include "report/util/array.h"

struct group {
	double packets; /* at all hooks */
	struct nt_prometheus_counts *by_hook[NT_HOOK_COUNT]; /* NULL: none */
};

struct nt_prometheus_delayed {
	struct nt_labels names;
	struct group *groups; /* by their numbers */
	size_t size;
};

/* A session. */
struct latency {
	const struct nt_part *part;
	const struct nt_latency_choice *choice;
	struct nt_sheet *sheet;
	struct nt_prometheus_delayed *host;
	struct nt_labels groups; /* the session's */
	uint32_t *number; /* of each at the host, + 1; 0: it has had no packet */
	/* Samples at each hook that are in no bucket. */
	bool has_samples[NT_HOOK_COUNT]; /* of any kind */
	int64_t hol[NT_HOOK_COUNT], future[NT_HOOK_COUNT], unknown[NT_HOOK_COUNT];
};

/* The group of the host that a group of the session is. NULL: out of memory. */
static struct group *find_group(struct latency *latency, uint32_t number)
{
	struct nt_prometheus_delayed *host = latency->host;
	const uint32_t n = host->names.texts.n;
	uint32_t *known = &latency->number[number];

	if (!*known) {
		if (NT_ROOM(host->groups, host->size, (size_t)n + 1) ||
		    nt_labels_number(&host->names, nt_labels_text(&latency->groups, number), known))
			return NULL;
		if (*known == n)
			host->groups[n] = (struct group){0};
		++*known;
	}
	return &host->groups[*known - 1];
}

static void count_left_out(struct latency *latency, const struct nt_latency_sample *sample)
{
	if (sample->is_known)
		latency->hol[sample->hook]++;
	else if (sample->is_future)
		latency->future[sample->hook]++;
	else
		latency->unknown[sample->hook]++;
}

static int count_sample(void *arg, const struct nt_latency_sample *sample)
{
	struct latency *latency = arg;
	struct nt_prometheus_counts **counts;
	struct group *group;

	if (sample->is_other)
		return 0;
	latency->has_samples[sample->hook] = true;
	if (!sample->is_known || (sample->is_hol && !latency->choice->include_hol)) {
		count_left_out(latency, sample);
		return 0;
	}
	group = find_group(latency, sample->group);
	if (!group)
		return -1;
	counts = &group->by_hook[sample->hook];
	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	if (!*counts)
		return -1;
	nt_prometheus_count(*counts, (uint64_t)sample->ns, sample->weight);
	group->packets += sample->weight;
	return 0;
}

/* ---- which groups have names ---- */

/* The first has the most packets; of those with as many, the one that came first. */
static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct nt_prometheus_delayed *host = arg;
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const double x = host->groups[first].packets, y = host->groups[second].packets;

	if (x != y)
		return x > y ? -1 : 1;
	return first < second ? -1 : first > second;
}

static int add_group(struct nt_sheet *sheet, const struct group *group, enum nt_by by, const char *name)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		const struct nt_label labels[] = {
			{"hook", nt_hook_name((enum nt_hook)hook)}, {by ? nt_by_name(by) : NULL, name}, {NULL, NULL}};

		if (group->by_hook[hook] && nt_sheet_add_counts(sheet, NT_METRIC_LATENCY, group->by_hook[hook], labels))
			return -ENOMEM;
	}
	return 0;
}

static int name_groups(struct nt_prometheus_delayed *host, enum nt_by by, size_t limit, struct nt_sheet *sheet)
{
	const uint32_t n = host->names.texts.n;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && order; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), compare_groups, host);
	for (uint32_t i = 0; i < n && !error; i++)
		error = add_group(sheet, &host->groups[order[i]], by,
				  i < limit || by == NT_BY_CPU ? nt_labels_text(&host->names, order[i])
							       : NT_PROMETHEUS_OTHER);
	free(order);
	return error;
}

int nt_prometheus_name_latencies(const struct nt_prometheus_latencies *latencies, enum nt_by by, size_t limit,
				 struct nt_sheet *sheet)
{
	int error = 0;

	for (size_t host = 0; host < latencies->n && !error; host++) {
		sheet->host = (uint32_t)host;
		error = name_groups(&latencies->of[host], by, limit, sheet);
	}
	return error;
}

void nt_prometheus_release_latencies(struct nt_prometheus_latencies *latencies)
{
	for (size_t i = 0; i < latencies->n; i++) {
		struct nt_prometheus_delayed *host = &latencies->of[i];

		for (uint32_t group = 0; group < host->names.texts.n; group++) {
			for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++)
				free(host->groups[group].by_hook[hook]);
		}
		free(host->groups);
		nt_labels_release(&host->names);
	}
	free(latencies->of);
	*latencies = (struct nt_prometheus_latencies){0};
}

/* ---- what is in no bucket ---- */

static int add_rejected(const struct latency *latency, unsigned int hook, const char *reason, int64_t count)
{
	return nt_sheet_add(latency->sheet, NT_METRIC_LATENCY_REJECTED, (double)count,
			    NT_LABELS({"hook", nt_hook_name((enum nt_hook)hook)}, {"reason", reason}));
}

static int add_hook(const struct latency *latency, const struct nt_latency_accounting *accounting, unsigned int hook)
{
	static const char *const reasons[NT_REASON_COUNT] = {
		[NT_REASON_NO_STAMP] = "no_stamp",
		[NT_REASON_TRANSMIT_STAMP] = "transmit_stamp",
		[NT_REASON_FILTER] = "filter",
		[NT_REASON_LOST] = "lost",
	};

	if (!accounting->is_there[hook] && !latency->has_samples[hook])
		return 0;
	for (unsigned int i = 0; i < NT_REASON_COUNT; i++) {
		if (reasons[i] && accounting->is_there[hook] &&
		    add_rejected(latency, hook, reasons[i], accounting->counts[hook][i]))
			return -ENOMEM;
	}
	return add_rejected(latency, hook, "future", latency->future[hook]) ||
			       add_rejected(latency, hook, "unknown", latency->unknown[hook]) ||
			       add_rejected(latency, hook, "head_of_line", latency->hol[hook])
		       ? -ENOMEM
		       : 0;
}

static int add_all_rejected(const struct latency *latency)
{
	struct nt_latency_accounting accounting;
	int error = nt_latency_accounting(latency->part->db, latency->part->session->id, &accounting);

	for (unsigned int hook = NT_HOOK_NONE + 1; hook < NT_HOOK_COUNT && !error; hook++) {
		if (latency->choice->hooks & 1u << hook && add_hook(latency, &accounting, hook))
			error = nt_db_no_memory(latency->part->db);
	}
	return error;
}

/* The sheet's host. NULL: out of memory. */
static struct nt_prometheus_delayed *find_host(struct nt_prometheus_latencies *latencies, const struct nt_sheet *sheet)
{
	const size_t n = latencies->n;

	if (NT_ROOM(latencies->of, latencies->size, (size_t)sheet->host + 1))
		return NULL;
	if (sheet->host >= n) {
		memset(&latencies->of[n], 0, (sheet->host + 1 - n) * sizeof(*latencies->of));
		latencies->n = sheet->host + 1;
	}
	return &latencies->of[sheet->host];
}

int nt_prometheus_latency(const struct nt_part *part, const struct nt_latency_choice *choice,
			  struct nt_prometheus_latencies *latencies, struct nt_sheet *sheet)
{
	struct latency latency = {.part = part, .choice = choice, .sheet = sheet, .host = find_host(latencies, sheet)};
	struct nt_db *db = part->db;
	int error = nt_groups_read(db, part->session->id, choice->by, &latency.groups);

	if (!error) {
		latency.number = calloc(latency.groups.texts.n, sizeof(*latency.number));
		if (!latency.number || !latency.host)
			error = nt_db_no_memory(db);
	}
	if (!error)
		error = nt_latency_scan(db, part->session, choice, &latency.groups, count_sample, &latency, NULL);
	if (!error)
		error = add_all_rejected(&latency);
	free(latency.number);
	nt_labels_release(&latency.groups);
	return error;
}
