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

struct latency {
	const struct nt_part *part;
	const struct nt_latency_choice *choice;
	size_t limit;
	struct nt_sheet *sheet;
	struct nt_labels groups;
	struct nt_prometheus_counts **by_hook[NT_HOOK_COUNT]; /* by group; NULL: none */
	double *packets; /* of each group at all hooks; NULL: all groups have names */
	/* Samples at each hook that are in no bucket. */
	bool has_samples[NT_HOOK_COUNT]; /* of any kind */
	int64_t hol[NT_HOOK_COUNT], future[NT_HOOK_COUNT], unknown[NT_HOOK_COUNT];
};

static void release(struct latency *latency)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		for (uint32_t group = 0; latency->by_hook[hook] && group < latency->groups.texts.n; group++)
			free(latency->by_hook[hook][group]);
		free(latency->by_hook[hook]);
	}
	free(latency->packets);
	nt_labels_release(&latency->groups);
}

static int make_room(struct latency *latency)
{
	const uint32_t n = latency->groups.texts.n;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		latency->by_hook[hook] = calloc(n, sizeof(*latency->by_hook[hook]));
		if (!latency->by_hook[hook])
			return -ENOMEM;
	}
	/* A host has no more CPUs than it has. */
	if (n <= latency->limit || latency->choice->by == NT_BY_CPU)
		return 0;
	latency->packets = calloc(n, sizeof(*latency->packets));
	return latency->packets ? 0 : -ENOMEM;
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
	struct nt_prometheus_counts **counts = &latency->by_hook[sample->hook][sample->group];

	if (sample->is_other)
		return 0;
	latency->has_samples[sample->hook] = true;
	if (!sample->is_known || (sample->is_hol && !latency->choice->include_hol)) {
		count_left_out(latency, sample);
		return 0;
	}
	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	if (!*counts)
		return -1;
	nt_prometheus_count(*counts, (uint64_t)sample->ns, sample->weight);
	if (latency->packets)
		latency->packets[sample->group] += sample->weight;
	return 0;
}

/* ---- which groups have names ---- */

static int compare_packets(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x > y ? -1 : x < y;
}

/* A group with more packets than this has its name; of those with as many, so many have. */
struct bar {
	double packets;
	size_t room;
};

static int find_bar(const struct latency *latency, struct bar *bar)
{
	const uint32_t n = latency->groups.texts.n;
	double *sorted;

	*bar = (struct bar){.packets = -1};
	if (!latency->packets)
		return 0;
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, latency->packets, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_packets);
	bar->packets = sorted[latency->limit - 1];
	bar->room = latency->limit - NT_FIRST(n, i, sorted[i] <= bar->packets);
	free(sorted);
	return 0;
}

static bool has_name(const struct latency *latency, struct bar *bar, uint32_t group)
{
	const double packets = latency->packets ? latency->packets[group] : 0;

	if (packets != bar->packets)
		return packets > bar->packets;
	return bar->room && bar->room--;
}

static int add_group(const struct latency *latency, uint32_t group, const char *name)
{
	const enum nt_by by = latency->choice->by;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		const struct nt_prometheus_counts *counts = latency->by_hook[hook][group];
		const struct nt_label labels[] = {
			{"hook", nt_hook_name((enum nt_hook)hook)}, {by ? nt_by_name(by) : NULL, name}, {NULL, NULL}};

		if (counts && nt_sheet_add_counts(latency->sheet, NT_METRIC_LATENCY, counts, labels))
			return -ENOMEM;
	}
	return 0;
}

static int add_groups(const struct latency *latency)
{
	struct bar bar;
	int error = find_bar(latency, &bar);

	for (uint32_t group = 0; group < latency->groups.texts.n && !error; group++)
		error = add_group(latency, group,
				  has_name(latency, &bar, group) ? nt_labels_text(&latency->groups, group)
								 : NT_PROMETHEUS_OTHER);
	return error;
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

int nt_prometheus_latency(const struct nt_part *part, const struct nt_latency_choice *choice, size_t limit,
			  struct nt_sheet *sheet)
{
	struct latency latency = {.part = part, .choice = choice, .limit = limit, .sheet = sheet};
	struct nt_db *db = part->db;
	int error = nt_groups_read(db, part->session->id, choice->by, &latency.groups);

	if (!error && make_room(&latency))
		error = nt_db_no_memory(db);
	if (!error)
		error = nt_latency_scan(db, part->session, choice, &latency.groups, count_sample, &latency, NULL);
	if (!error && add_groups(&latency))
		error = nt_db_no_memory(db);
	if (!error)
		error = add_all_rejected(&latency);
	release(&latency);
	return error;
}
