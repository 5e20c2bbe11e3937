// SPDX-License-Identifier: GPL-2.0-only
/*
 * choice.c - see choice.h.
 */
#include "report/query/latency/choice.h"

#include <stdio.h>
#include <string.h>

#include "report/util/array.h"
#include "schema/kind.h"

enum nt_hook nt_hook_number(const char *name)
{
	size_t hook = NT_FIRST(NT_HOOK_COUNT, i, i != NT_HOOK_NONE && !strcmp(name, nt_hook_name(i)));

	return hook < NT_HOOK_COUNT ? (enum nt_hook)hook : NT_HOOK_NONE;
}

static int choose_hook(const char *option, const char *word, enum nt_hook *hook, char error[NT_ERROR_MAX])
{
	int at;

	*hook = nt_hook_number(word);
	if (*hook)
		return 0;
	at = snprintf(error, NT_ERROR_MAX, "%s %s: there is no such hook; choose from", option, word);
	for (unsigned int i = NT_HOOK_NONE + 1; i < NT_HOOK_COUNT && at > 0 && (size_t)at < NT_ERROR_MAX; i++)
		at += snprintf(error + at, NT_ERROR_MAX - (size_t)at, "%s %s", i > 1 ? "," : "", nt_hook_name(i));
	if (at > 0 && (size_t)at < NT_ERROR_MAX)
		snprintf(error + at, NT_ERROR_MAX - (size_t)at, ".");
	return -1;
}

static int choose_between(const struct nt_latency_args *args, struct nt_latency_choice *choice,
			  char error[NT_ERROR_MAX])
{
	if (choose_hook("--between", args->between[0], &choice->first, error) ||
	    choose_hook("--between", args->between[1], &choice->second, error))
		return -1;
	if (choice->first >= choice->second)
		return nt_fail(error, "--between takes two hooks in the order that packets pass them.");
	if (NT_HOOK_IS_OF_SENDING(choice->first) != NT_HOOK_IS_OF_SENDING(choice->second))
		return nt_fail(error, "--between takes two hooks of one way: no packet passes both of these.");
	if (args->n_hooks)
		return nt_fail(error, "--between names the hooks: leave --hook out.");
	return 0;
}

int nt_latency_choose(const struct nt_latency_args *args, const struct nt_selection_args *selection,
		      struct nt_latency_choice *choice, char error[NT_ERROR_MAX])
{
	*choice = (struct nt_latency_choice){.include_hol = args->include_hol};
	if (nt_by_choose(args->by, NT_BY_OF_LATENCIES, &choice->by, error))
		return -1;
	for (unsigned int i = 0; i < args->n_hooks; i++) {
		enum nt_hook hook;

		if (choose_hook("--hook", args->hooks[i], &hook, error))
			return -1;
		choice->hooks |= 1u << hook;
	}
	if (!choice->hooks)
		choice->hooks = NT_ALL_HOOKS;
	if (args->between[0] && choose_between(args, choice, error))
		return -1;
	return nt_select(selection, &choice->selection, error);
}
