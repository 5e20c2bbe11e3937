// SPDX-License-Identifier: GPL-2.0-only
/*
 * function_ranges.c - see function_ranges.h: one sweep over the functions in order of their begin, with those that are
 * not over yet on a stack.
 */
#include "report/symbols/function_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

/* The better name first: `send` before `__send`; then one that others can call, then the shorter. */
static int compare_names(const struct nt_function *a, const struct nt_function *b)
{
	size_t bars_a = strspn(a->name, "_"), bars_b = strspn(b->name, "_");
	size_t size_a, size_b;

	if (bars_a != bars_b)
		return bars_a < bars_b ? -1 : 1;
	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	size_a = strlen(a->name);
	size_b = strlen(b->name);
	if (size_a != size_b)
		return size_a < size_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* By begin; the larger ones first, so that what is inside another comes after it, and those without a size last. */
static int compare(const void *a, const void *b)
{
	const struct nt_function *one = a, *other = b;

	if (one->begin != other->begin)
		return one->begin < other->begin ? -1 : 1;
	if (one->size != other->size)
		return one->size > other->size ? -1 : 1;
	return compare_names(one, other);
}

/* The state of the sweep. */
struct sweep {
	struct nt_function_ranges *ranges;
	struct open {
		uint64_t end;
		const struct nt_function *function;
	} * open; /* the one that began last on top */
	size_t n_open;
};

static int append(struct nt_function_ranges *ranges, uint64_t begin, const struct nt_function *function)
{
	struct nt_function_range range = {
		.begin = begin,
		.function = function ? function->begin : 0,
		.name = function ? function->name : NULL,
	};

	if (ranges->n && ranges->ranges[ranges->n - 1].begin == begin) {
		ranges->ranges[ranges->n - 1] = range;
		return 0;
	}
	if (NT_ROOM(ranges->ranges, ranges->size, ranges->n + 1))
		return -ENOMEM;
	ranges->ranges[ranges->n++] = range;
	return 0;
}

/* Ends what is over at `until`: the one below goes on from there. */
static int close_until(struct sweep *sweep, uint64_t until)
{
	int error = 0;

	while (!error && sweep->n_open && sweep->open[sweep->n_open - 1].end <= until) {
		uint64_t end = sweep->open[sweep->n_open - 1].end;

		while (sweep->n_open && sweep->open[sweep->n_open - 1].end <= end)
			sweep->n_open--;
		error = append(sweep->ranges, end, sweep->n_open ? sweep->open[sweep->n_open - 1].function : NULL);
	}
	return error;
}

static int open_function(struct sweep *sweep, const struct nt_function *function, uint64_t end)
{
	sweep->open[sweep->n_open++] = (struct open){end, function};
	return append(sweep->ranges, function->begin, function);
}

static uint64_t end_of(const struct nt_function *function)
{
	return function->size > UINT64_MAX - function->begin ? UINT64_MAX : function->begin + function->size;
}

static int sweep_all(struct sweep *sweep, const struct nt_function *functions, size_t n)
{
	int error = 0;

	for (size_t i = 0, next; i < n && !error; i = next) {
		const struct nt_function *function = &functions[i];
		uint64_t end = end_of(function);

		/* Of other names for the same thing the first is the best. */
		for (next = i + 1;
		     next < n && functions[next].begin == function->begin && functions[next].size == function->size;)
			next++;
		error = close_until(sweep, function->begin);
		if (!function->size) {
			end = next < n && functions[next].begin < function->limit ? functions[next].begin
										  : function->limit;
			if (sweep->n_open || end <= function->begin)
				continue;
		}
		if (!error)
			error = open_function(sweep, function, end);
	}
	return error ? error : close_until(sweep, UINT64_MAX);
}

int nt_function_ranges_make(struct nt_function_ranges *ranges, struct nt_function *functions, size_t n)
{
	struct sweep sweep = {.ranges = ranges, .open = reallocarray(NULL, n + 1, sizeof(*sweep.open))};
	int error;

	if (!sweep.open)
		return -ENOMEM;
	ranges->n = 0;
	if (n)
		qsort(functions, n, sizeof(*functions), compare);
	error = sweep_all(&sweep, functions, n);
	free(sweep.open);
	return error;
}

void nt_function_ranges_release(struct nt_function_ranges *ranges)
{
	free(ranges->ranges);
	*ranges = (struct nt_function_ranges){0};
}

const struct nt_function_range *nt_function_ranges_find(const struct nt_function_ranges *ranges, uint64_t address)
{
	size_t n = NT_COUNT_BEFORE(ranges->n, i, ranges->ranges[i].begin > address);

	return n && ranges->ranges[n - 1].name ? &ranges->ranges[n - 1] : NULL;
}
