// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. */
#include "report/cmd/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/groups.h"
#include "report/rows/tables.h"
#include "report/timeline/timeline.h"
#include "schema/kind.h"

/* ---- where values go ---- */

bool nt_add_hook(void *samples, const struct nt_option_values *values)
{
	struct nt_latency_args *args = samples;

	if (args->n_hooks == NT_MAX_HOOKS) {
		snprintf(values->error, values->error_size, "option '--hook' is given too often");
		return false;
	}
	args->hooks[args->n_hooks++] = values->text;
	return true;
}

bool nt_add_symbols(void *symbols, const struct nt_option_values *values)
{
	struct nt_symbol_args *args = symbols;

	if (args->n_dirs == NT_MAX_SYMBOL_DIRS) {
		snprintf(values->error, values->error_size, "option '--symbols' is given too often");
		return false;
	}
	args->dirs[args->n_dirs++] = values->text;
	return true;
}

bool nt_set_limit(void *limit, const struct nt_option_values *values)
{
	int64_t *rows = limit;
	unsigned long long n;
	char *end;

	*rows = NT_LIMIT_ALL;
	if (!strcmp(values->text, "all"))
		return true;
	n = strtoull(values->text, &end, 10);
	if (values->text[0] < '0' || values->text[0] > '9' || *end || !n)
		return false;
	if (n < NT_LIMIT_ALL)
		*rows = (int64_t)n;
	return true;
}

bool nt_set_json(void *format, const struct nt_option_values *values)
{
	(void)values;
	*(enum nt_format *)format = NT_FORMAT_JSON;
	return true;
}

bool nt_set_csv(void *format, const struct nt_option_values *values)
{
	(void)values;
	*(enum nt_format *)format = NT_FORMAT_CSV;
	return true;
}

/* ---- values that have names ---- */

const char *nt_choose_cost_group(unsigned int i)
{
	return nt_by_name(nt_by_nth(NT_BY_OF_COSTS, i));
}

const char *nt_choose_latency_group(unsigned int i)
{
	return nt_by_name(nt_by_nth(NT_BY_OF_LATENCIES, i));
}

const char *nt_choose_stage_group(unsigned int i)
{
	return nt_by_name(nt_by_nth(NT_BY_OF_STAGES, i));
}

const char *nt_choose_flame_group(unsigned int i)
{
	return nt_by_name(nt_by_nth(NT_BY_OF_FLAMES, i));
}

const char *nt_choose_flow_group(unsigned int i)
{
	return nt_by_name(nt_by_nth(NT_BY_OF_FLOWS, i));
}

const char *nt_choose_owner(unsigned int i)
{
	if (!i)
		return "network";
	return i - 1 < NT_OWNER_COUNT ? nt_owner_name((enum nt_owner)(i - 1)) : NULL;
}

const char *nt_choose_hook(unsigned int i)
{
	return NT_HOOK_NONE + 1 + i < NT_HOOK_COUNT ? nt_hook_name(NT_HOOK_NONE + 1 + i) : NULL;
}

const char *nt_choose_table(unsigned int i)
{
	return i < NT_TABLE_COUNT ? nt_table((enum nt_table_id)i)->name : NULL;
}

const char *nt_choose_limit(unsigned int i)
{
	return i ? NULL : "all";
}
