// SPDX-License-Identifier: GPL-2.0-only
/*
 * choice.c - see choice.h.
 */
#include "report/query/stages/choice.h"

#include <stdio.h>
#include <string.h>

#include "report/query/cpus/lanes.h"
#include "report/util/array.h"

bool nt_stage_by_is_labelled(enum nt_by by)
{
	return by == NT_BY_PROCESS || by == NT_BY_PAYER || by == NT_BY_CGROUP;
}

/* "net_rx,send", or "network". */
static int choose_owners(const char *list, unsigned int *owners, char error[NT_ERROR_MAX])
{
	*owners = list ? 0 : NT_NETWORK_OWNERS;
	while (list && *list) {
		size_t size = strcspn(list, ",");
		char word[32];
		unsigned int kinds;

		snprintf(word, sizeof(word), "%.*s", (int)(size < sizeof(word) ? size : sizeof(word) - 1), list);
		kinds = nt_lane_kinds_of(word);
		if (!kinds || size >= sizeof(word))
			return nt_fail(error,
				       "--owner %s: choose from hardirq, net_rx, net_tx, softirq, send, recv and task, "
				       "separated by commas; or network, which is net_rx, net_tx, send and recv.",
				       word);
		*owners |= kinds;
		list += size + (list[size] == ',');
	}
	if (*owners)
		return 0;
	return nt_fail(error, "--owner takes names of owners, separated by commas.");
}

int nt_stage_choose(const struct nt_stage_args *args, enum nt_by_of command, const char *by,
		    const struct nt_selection_args *selection, struct nt_stage_choice *choice, char error[NT_ERROR_MAX])
{
	*choice = (struct nt_stage_choice){.inclusive = args->inclusive, .other = args->other, .user = args->user};
	if (nt_select(selection, &choice->selection, error) || nt_by_choose(by, command, &choice->by, error) ||
	    choose_owners(args->owners, &choice->owners, error))
		return -1;
	if (args->other && (by || args->inclusive))
		return nt_fail(error, "--other lists stacks: leave --by and --inclusive out.");
	return 0;
}
