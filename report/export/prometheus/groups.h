/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * groups.h - the groups of one kind, such as programs, at each host, until it is known which of them have names of
 * their own: those that weigh most. All others of a host are one, named `other`, and so is a group of that name. Pure.
 */
#pragma once

#include <stddef.h>

#include "report/export/prometheus/sheet.h"

#define NT_PROMETHEUS_OTHER "other"

struct nt_prometheus_group {
	double weight;
	void *figures; /* of its user */
};

struct nt_prometheus_groups {
	struct nt_prometheus_host {
		struct nt_labels names;
		struct nt_prometheus_group **groups; /* by their numbers */
		size_t size;
	} * hosts; /* by the sheet's numbers */
	size_t n, size;
};

/*
 * The group of this name at the sheet's host; a new one has figures of `size` bytes, all 0. Good until the release.
 * NULL: out of memory.
 */
struct nt_prometheus_group *nt_prometheus_group(struct nt_prometheus_groups *groups, const struct nt_sheet *sheet,
						const char *name, size_t size);
/*
 * Calls visit with each group, host by host, the greatest first, and with the name that it has: its own, of `limit` at
 * each host. The sheet's host is the group's meanwhile. Until it gives non-zero, which is then what this gives; or
 * -ENOMEM.
 */
int nt_prometheus_each_group(const struct nt_prometheus_groups *groups, size_t limit, struct nt_sheet *sheet,
			     int (*visit)(void *arg, const char *name, const struct nt_prometheus_group *group),
			     void *arg);
/*
 * The names that groups of one host have got while a tape was followed. Once it has one, a group keeps it. It gets one
 * when it has weighed a NT_NAMED_SHAREth of all, in all, if there are fewer than `limit` names. Memory is for `limit`
 * names and NT_TRIED others. Zero-initialised is empty.
 */
#define NT_NAMED_SHARE 100
#define NT_TRIED 4096
struct nt_prometheus_named {
	char **names;
	size_t n, size;
	struct nt_labels tried; /* the others, */
	double *weights; /* and what they weighed, by their numbers */
	size_t weights_size;
	double total;
};
/* As nt_prometheus_each_group, of groups that come on top of those before; those of the sheet's host. */
int nt_prometheus_each_new(const struct nt_prometheus_groups *groups, size_t limit, struct nt_prometheus_named *named,
			   const struct nt_sheet *sheet,
			   int (*visit)(void *arg, const char *name, const struct nt_prometheus_group *group),
			   void *arg);
void nt_prometheus_release_named(struct nt_prometheus_named *named);
/* Frees the figures too; `release`, or NULL, is given them before. */
void nt_prometheus_release_groups(struct nt_prometheus_groups *groups, void (*release)(void *figures));
