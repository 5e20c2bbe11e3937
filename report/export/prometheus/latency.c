// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - how late packets are at the hooks. Memory is for the groups at each hook, not for the samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/parts.h"
#include "report/util/array.h"

/* Of a group of the host. */
struct delays {
	struct nt_prometheus_counts *by_hook[NT_HOOK_COUNT]; /* NULL: none */
};

/* A session. */
struct latency {
	const struct nt_part *part;
	const struct nt_latency_choice *choice;
	struct nt_sheet *sheet;
	struct nt_latency_accounting *told; /* before, of the session */
	struct nt_prometheus_groups *host_groups;
	struct nt_labels groups; /* the session's */
	struct nt_prometheus_group **of; /* each of these at the host; NULL: it has had no packet */
	/* Samples at each hook that are in no bucket. */
	bool has_samples[NT_HOOK_COUNT]; /* of any kind */
	int64_t hol[NT_HOOK_COUNT], future[NT_HOOK_COUNT], unknown[NT_HOOK_COUNT];
};

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
	struct nt_prometheus_group **group = &latency->of[sample->group];
	struct nt_prometheus_counts **counts;

	if (sample->is_other)
		return 0;
	latency->has_samples[sample->hook] = true;
	if (!sample->is_known || (sample->is_hol && !latency->choice->include_hol)) {
		count_left_out(latency, sample);
		return 0;
	}
	if (!*group)
		*group = nt_prometheus_group(latency->host_groups, latency->sheet,
					     nt_labels_text(&latency->groups, sample->group), sizeof(struct delays));
	if (!*group)
		return -1;
	counts = &((struct delays *)(*group)->figures)->by_hook[sample->hook];
	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	if (!*counts)
		return -1;
	nt_prometheus_count(*counts, (uint64_t)sample->ns, sample->weight);
	(*group)->weight += sample->weight;
	return 0;
}

/* ---- groups with names ---- */

struct naming {
	enum nt_by by;
	struct nt_sheet *sheet;
};

static int name_group(void *arg, const char *name, const struct nt_prometheus_group *group)
{
	const struct naming *naming = arg;
	const struct delays *delays = group->figures;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		const struct nt_label labels[] = {{"hook", nt_hook_name((enum nt_hook)hook)},
						  {naming->by ? nt_by_name(naming->by) : NULL, name},
						  {NULL, NULL}};

		if (delays->by_hook[hook] &&
		    nt_sheet_add_counts(naming->sheet, NT_METRIC_LATENCY, delays->by_hook[hook], labels))
			return -ENOMEM;
	}
	return 0;
}

int nt_prometheus_name_latencies(struct nt_prometheus_groups *groups, enum nt_by by, size_t limit,
				 struct nt_sheet *sheet)
{
	struct naming naming = {by, sheet};

	return nt_prometheus_each_group(groups, by == NT_BY_CPU ? SIZE_MAX : limit, sheet, name_group, &naming);
}

static void release_delays(void *figures)
{
	struct delays *delays = figures;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++)
		free(delays->by_hook[hook]);
}

void nt_prometheus_release_latencies(struct nt_prometheus_groups *groups)
{
	nt_prometheus_release_groups(groups, release_delays);
}

/* ---- what is in no bucket ---- */

static int add_rejected(const struct latency *latency, unsigned int hook, const char *reason, int64_t count)
{
	return nt_sheet_add(latency->sheet, NT_METRIC_LATENCY_REJECTED, (double)count,
			    NT_LABELS({"hook", nt_hook_name((enum nt_hook)hook)}, {"reason", reason}));
}

/* So many have come since. A damaged tape may count back. */
static int64_t more_than(int64_t *told, int64_t count)
{
	const int64_t more = count > *told ? count - *told : 0;

	*told += more;
	return more;
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
		    add_rejected(latency, hook, reasons[i],
				 more_than(&latency->told->counts[hook][i], accounting->counts[hook][i])))
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

int nt_prometheus_latency(const struct nt_part *part, const struct nt_latency_choice *choice,
			  struct nt_latency_accounting *told, struct nt_prometheus_groups *groups,
			  struct nt_sheet *sheet)
{
	struct nt_latency_accounting none = {0};
	struct latency latency = {
		.part = part, .choice = choice, .sheet = sheet, .told = told ? told : &none, .host_groups = groups};
	struct nt_db *db = part->db;
	int error = nt_groups_read(db, part->session->id, choice->by, &latency.groups);

	if (!error) {
		latency.of = calloc(latency.groups.texts.n, sizeof(struct nt_prometheus_group *));
		error = latency.of ? 0 : nt_db_no_memory(db);
	}
	if (!error)
		error = nt_latency_scan(db, part->session, choice, &latency.groups, count_sample, &latency, NULL);
	if (!error)
		error = add_all_rejected(&latency);
	free(latency.of);
	nt_labels_release(&latency.groups);
	return error;
}
