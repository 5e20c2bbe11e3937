// SPDX-License-Identifier: GPL-2.0-only
/* recent.c - see recent.h. */
#include "report/serve/recent.h"

#include <errno.h>
#include <string.h>

#include "report/util/array.h"

void nt_recent_slot_release(struct nt_recent_slot *slot)
{
	for (size_t i = 0; i < NT_COUNT(slot->groups); i++)
		nt_prometheus_release_groups(&slot->groups[i], NULL);
	*slot = (struct nt_recent_slot){0};
}

void nt_recent_release(struct nt_recent *recent)
{
	for (size_t i = 0; i < recent->n; i++)
		nt_recent_slot_release(&recent->slots[i]);
	recent->n = 0;
}

/* ---- groups ---- */

struct adding {
	struct nt_prometheus_groups *to;
	size_t most; /* names */
};

/* Of the only host that there is. */
static bool has_room(const struct adding *adding, const char *name)
{
	const struct nt_prometheus_host *host = adding->to->n ? &adding->to->hosts[0] : NULL;

	return !host || host->names.texts.n < adding->most ||
	       NT_ANY(host->names.texts.n, i, !strcmp(nt_labels_text(&host->names, (uint32_t)i), name));
}

static int add_group(void *arg, const char *name, const struct nt_prometheus_group *group)
{
	static const struct nt_sheet of_one_host;
	const struct adding *adding = arg;
	struct nt_prometheus_group *to =
		nt_prometheus_group(adding->to, &of_one_host, has_room(adding, name) ? name : NT_PROMETHEUS_OTHER,
				    sizeof(struct nt_prometheus_cost));

	if (!to)
		return -ENOMEM;
	nt_prometheus_cost_add(to->figures, group->figures);
	to->weight = nt_prometheus_cost_total(to->figures);
	return 0;
}

/* The greatest of `from` get their names, and of `to` no more than `most` have some. */
static int add_groups(struct nt_prometheus_groups *to, const struct nt_prometheus_groups *from, size_t most)
{
	struct nt_sheet one_host = {.host = 0};
	struct adding adding = {to, most};

	return nt_prometheus_each_group(from, most, &one_host, add_group, &adding);
}

static int add_slot(struct nt_recent_slot *to, const struct nt_recent_slot *from, size_t most)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(to->groups) && !error; i++)
		error = add_groups(&to->groups[i], &from->groups[i], most);
	to->records += from->records;
	to->lost += from->lost;
	to->to_ts = from->to_ts;
	return error;
}

/* ---- slots ---- */

static void drop_first(struct nt_recent *recent)
{
	nt_recent_slot_release(&recent->slots[0]);
	recent->n--;
	memmove(recent->slots, recent->slots + 1, recent->n * sizeof(recent->slots[0]));
}

/* The one that what came is added to. */
static struct nt_recent_slot *open_slot(struct nt_recent *recent, const struct nt_recent_slot *news)
{
	struct nt_recent_slot *last = recent->n ? &recent->slots[recent->n - 1] : NULL;

	/* Where no time has become complete, what came is of the time before. */
	if (last && (last->to_ts - last->from_ts < recent->span_ns / NT_RECENT_SLOTS || news->from_ts == news->to_ts))
		return last;
	if (recent->n == NT_COUNT(recent->slots))
		drop_first(recent);
	last = &recent->slots[recent->n++];
	*last = (struct nt_recent_slot){.from_ts = news->from_ts};
	return last;
}

int nt_recent_add(struct nt_recent *recent, const struct nt_recent_slot *news)
{
	while (recent->n && recent->slots[0].to_ts <= news->to_ts - recent->span_ns)
		drop_first(recent);
	return add_slot(open_slot(recent, news), news, NT_RECENT_NAMES);
}

int nt_recent_sum(const struct nt_recent *recent, struct nt_recent_slot *sum)
{
	int error = 0;

	*sum = (struct nt_recent_slot){.from_ts = recent->n ? recent->slots[0].from_ts : 0};
	for (size_t i = 0; i < recent->n && !error; i++)
		error = add_slot(sum, &recent->slots[i], SIZE_MAX);
	if (error)
		nt_recent_slot_release(sum);
	return error;
}
