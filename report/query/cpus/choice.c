// SPDX-License-Identifier: GPL-2.0-only
/*
 * choice.c - see choice.h.
 */
#include "report/query/cpus/choice.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/query/cpus/lanes.h"

#define WINDOW_NS 10000000 /* where --window is not given */
#define TOP 5

/* A number from 1 to `most`. */
static int choose_number(const char *option, const char *word, unsigned long most, unsigned long *number,
			 char error[NT_ERROR_MAX])
{
	char *end;

	if (!word)
		return 0;
	*number = word[0] >= '0' && word[0] <= '9' ? strtoul(word, &end, 10) : 0;
	if (*number >= 1 && *number <= most && !*end)
		return 0;
	return nt_fail(error, "%s %s: give a number from 1 to %lu.", option, word, most);
}

static int choose_window(const char *word, uint64_t *ns, char error[NT_ERROR_MAX])
{
	struct nt_moment length;

	*ns = WINDOW_NS;
	if (!word)
		return 0;
	if (nt_moment_parse(word, &length) || length.is_wall || length.ns <= 0)
		return nt_fail(error, "--window %s: give a length of time, like 10ms, 500us or 2.5.", word);
	*ns = (uint64_t)length.ns;
	return 0;
}

static int choose_worst(const struct nt_lanes_args *args, struct nt_lanes_choice *choice, char error[NT_ERROR_MAX])
{
	if (!args->worst) {
		if (!args->window && !args->top && !args->each_cpu)
			return 0;
		return nt_fail(error, "--window, --top and --each-cpu need --worst.");
	}
	choice->worst = args->worst;
	choice->worst_kinds = nt_lane_kinds_of(args->worst);
	if (choice->worst_kinds)
		return 0;
	return nt_fail(error,
		       "--worst %s: choose hardirq, net_rx, net_tx, softirq, send, recv, task, idle, offline or "
		       "uncovered; or network, which is net_rx, net_tx, send and recv.",
		       args->worst);
}

int nt_lanes_choose(const struct nt_lanes_args *args, const struct nt_selection_args *selection,
		    struct nt_lanes_choice *choice, char error[NT_ERROR_MAX])
{
	unsigned long cells = 0, top = TOP;

	*choice = (struct nt_lanes_choice){.each_cpu = args->each_cpu};
	if (nt_select(selection, &choice->selection, error) ||
	    choose_number("--cells", args->cells, NT_LANE_MAX_CELLS, &cells, error) ||
	    choose_number("--top", args->top, NT_WORST_MAX, &top, error) ||
	    choose_window(args->window, &choice->window_ns, error) || choose_worst(args, choice, error))
		return -1;
	choice->cells = (uint32_t)cells;
	choice->top = (unsigned int)top;
	return 0;
}
