// SPDX-License-Identifier: GPL-2.0-only
/*
 * selection.c - see selection.h.
 */
#include "report/query/selection.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/util/array.h"
#include "schema/cli/arg.h"

#define SECOND 1000000000ll

static int parse_wall(const char *text, struct nt_moment *moment)
{
	struct tm parts = {0};
	int64_t whole, billionths = 0;
	const char *behind = strptime(text, "%Y-%m-%dT%H:%M:", &parts);

	if (!behind)
		return -1;
	text = behind;
	behind = nt_arg_number(text, &whole, &billionths);
	if (!behind || strspn(text, "0123456789") != 2 || whole > 60 || strcmp(behind, "Z") != 0)
		return -1;
	whole += timegm(&parts);
	if (whole < 0 || __builtin_mul_overflow(whole, SECOND, &moment->ns) ||
	    __builtin_add_overflow(moment->ns, billionths, &moment->ns))
		return -1;
	moment->is_wall = true;
	return 0;
}

int nt_moment_parse(const char *text, struct nt_moment *moment)
{
	*moment = (struct nt_moment){.is_given = true};
	return strchr(text, 'T') ? parse_wall(text, moment) : nt_arg_duration(text, &moment->ns);
}

static int select_moment(const char *option, const char *word, struct nt_moment *moment, char error[NT_ERROR_MAX])
{
	if (!word || !nt_moment_parse(word, moment))
		return 0;
	return nt_fail(
		error,
		"%s %s: give a time since the start, like 2.5, 300ms or 20us, or UTC, like 2026-11-21T18:00:00Z.",
		option, word);
}

/* A number at *text, which is moved behind it. -1: there is none, or one that no CPU has. */
static int take_cpu(const char **text, uint32_t *cpu)
{
	char *end;
	unsigned long number;

	if (!isdigit((unsigned char)**text))
		return -1;
	number = strtoul(*text, &end, 10);
	*text = end;
	*cpu = (uint32_t)number;
	return number < UINT32_MAX ? 0 : -1;
}

/* "0,2-5" */
static int select_cpus(const char *word, struct nt_selection *selection)
{
	while (word) {
		uint32_t first, last;

		if (selection->n_cpus == NT_MAX_CPU_RANGES || take_cpu(&word, &first))
			return -1;
		last = first;
		if (*word == '-' && (word++, take_cpu(&word, &last) || last < first))
			return -1;
		selection->cpus[selection->n_cpus].first = first;
		selection->cpus[selection->n_cpus++].last = last;
		if (*word && *word != ',')
			return -1;
		word = *word ? word + 1 : NULL;
	}
	return 0;
}

static int check_times(const struct nt_selection *selection, char error[NT_ERROR_MAX])
{
	if (!selection->from.is_given || !selection->to.is_given || selection->from.is_wall != selection->to.is_wall ||
	    selection->from.ns < selection->to.ns)
		return 0;
	return nt_fail(error, "--from is not before --to: there is no time between them.");
}

int nt_select(const struct nt_selection_args *args, struct nt_selection *selection, char error[NT_ERROR_MAX])
{
	*selection = (struct nt_selection){.process = args->process};
	if (select_moment("--from", args->from, &selection->from, error) ||
	    select_moment("--to", args->to, &selection->to, error))
		return -1;
	if (args->cpus && select_cpus(args->cpus, selection))
		return nt_fail(error, "--cpu %s: give a list of CPUs, like 0,2-5.", args->cpus);
	if (args->process && !args->process[0])
		return nt_fail(error, "--process takes a pid or a name.");
	return check_times(selection, error);
}

bool nt_selection_is_given(const struct nt_selection *selection)
{
	return selection->from.is_given || selection->to.is_given || selection->n_cpus || selection->process;
}

/* start + ns, but within what there is. */
static int64_t add(int64_t start, int64_t ns)
{
	int64_t sum;

	return __builtin_add_overflow(start, ns, &sum) ? (ns < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t place(const struct nt_moment *moment, int64_t start_ts, int64_t start_realtime_ns)
{
	/* A database is anybody's: of the least number there is no opposite. */
	const int64_t since_start = start_realtime_ns == INT64_MIN ? INT64_MAX : -start_realtime_ns;

	return add(start_ts, moment->is_wall ? add(moment->ns, since_start) : moment->ns);
}

struct nt_window nt_selection_window(const struct nt_selection *selection, int64_t start_ts, int64_t start_realtime_ns)
{
	return (struct nt_window){
		.from_ts = selection->from.is_given ? place(&selection->from, start_ts, start_realtime_ns) : INT64_MIN,
		.to_ts = selection->to.is_given ? place(&selection->to, start_ts, start_realtime_ns) : INT64_MAX,
	};
}

struct nt_window nt_selection_within(const struct nt_selection *selection, int64_t start_ts, int64_t end_ts,
				     int64_t start_realtime_ns)
{
	struct nt_window window = nt_selection_window(selection, start_ts, start_realtime_ns);

	if (window.from_ts < start_ts)
		window.from_ts = start_ts;
	if (window.to_ts > end_ts)
		window.to_ts = end_ts;
	return window;
}

const char *nt_selection_cpus_sql(const struct nt_selection *selection, char sql[NT_CPUS_SQL_MAX])
{
	uint32_t least = UINT32_MAX, greatest = 0;
	size_t at;

	for (unsigned int i = 0; i < selection->n_cpus; i++) {
		least = selection->cpus[i].first < least ? selection->cpus[i].first : least;
		greatest = selection->cpus[i].last > greatest ? selection->cpus[i].last : greatest;
	}
	if (!selection->n_cpus)
		at = (size_t)snprintf(sql, NT_CPUS_SQL_MAX, "(1");
	else
		at = (size_t)snprintf(sql, NT_CPUS_SQL_MAX, "(cpu BETWEEN %u AND %u AND (0", least, greatest);
	for (unsigned int i = 0; i < selection->n_cpus; i++)
		at += (size_t)snprintf(sql + at, NT_CPUS_SQL_MAX - at, " OR cpu BETWEEN %u AND %u",
				       selection->cpus[i].first, selection->cpus[i].last);
	snprintf(sql + at, NT_CPUS_SQL_MAX - at, selection->n_cpus ? "))" : ")");
	return sql;
}

uint32_t nt_selection_count_cpus(const struct nt_selection *selection, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < n; cpu++)
		count += nt_selection_has_cpu(selection, cpu);
	return count;
}

bool nt_selection_has_cpu(const struct nt_selection *selection, uint32_t cpu)
{
	return !selection->n_cpus ||
	       NT_ANY(selection->n_cpus, i, cpu >= selection->cpus[i].first && cpu <= selection->cpus[i].last);
}

bool nt_selection_has_process(const struct nt_selection *selection, int64_t pid, const char *name)
{
	char number[24];

	if (!selection->process)
		return true;
	snprintf(number, sizeof(number), "%lld", (long long)pid);
	return (pid >= 0 && !strcmp(selection->process, number)) || (name && !strcmp(selection->process, name));
}
