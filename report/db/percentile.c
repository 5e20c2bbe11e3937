// SPDX-License-Identifier: GPL-2.0-only
/*
 * percentile.c - see percentile.h. The numbers of a group are kept (util/weighted.h), so the result is exact: one of
 * them. Numbers without room in memory go to a temporary file. A moving window loses its oldest row, so there the
 * numbers stay in memory in order of arrival, and a copy is sorted.
 */
#include "report/db/percentile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/util/weighted.h"

#define MOST 1048576 /* numbers of a group in memory */

struct state {
	struct nt_samples samples;
	struct nt_samples_pool pool;
	size_t first; /* those before it have left the window's frame */
	double fraction;
	bool begun; /* fraction is set */
	bool real; /* numbers are reals, as ordered integers: since the first one came */
};

/* The arguments of a row. */
struct input {
	bool counts; /* neither value nor weight is NULL, and it weighs something */
	bool real;
	int64_t integer;
	double number; /* the value as a real */
	double weight;
};

static int fail(sqlite3_context *context, const char *why)
{
	sqlite3_result_error(context, why, -1);
	return -1;
}

static int read_weight(sqlite3_context *context, sqlite3_value *value, struct input *input)
{
	int type = sqlite3_value_numeric_type(value);

	if (type == SQLITE_NULL) {
		input->counts = false;
		return 0;
	}
	input->weight = sqlite3_value_double(value);
	if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !isfinite(input->weight) || input->weight < 0)
		return fail(context, "percentile: the weight must be a number, and not negative");
	input->counts = input->counts && input->weight > 0;
	return 0;
}

static int read_input(sqlite3_context *context, int n, sqlite3_value **values, struct input *input)
{
	int type = sqlite3_value_numeric_type(values[0]);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_NULL)
		return fail(context, "percentile: the values must be numbers");
	*input = (struct input){.counts = type != SQLITE_NULL, .real = type == SQLITE_FLOAT, .weight = 1};
	input->integer = sqlite3_value_int64(values[0]);
	input->number = sqlite3_value_double(values[0]);
	return n == 3 ? read_weight(context, values[2], input) : 0;
}

static int read_fraction(sqlite3_context *context, sqlite3_value *value, struct state *state)
{
	int type = sqlite3_value_numeric_type(value);
	double fraction = sqlite3_value_double(value);

	if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(fraction >= 0 && fraction <= 1))
		return fail(context, "percentile: the fraction must be a number from 0 to 1");
	if (state->begun && state->fraction != fraction)
		return fail(context, "percentile: the fraction must be the same for all rows");
	state->fraction = fraction;
	state->begun = true;
	return 0;
}

static int64_t to_real(int64_t integer)
{
	return nt_real_to_ordered((double)integer);
}

static void give_error(sqlite3_context *context, const struct state *state)
{
	char why[128];

	if (!state->pool.spill.error || state->pool.spill.error == ENOMEM) {
		sqlite3_result_error_nomem(context);
		return;
	}
	snprintf(why, sizeof(why), "percentile: numbers cannot be kept in a temporary file (TMPDIR): %s",
		 strerror(state->pool.spill.error));
	sqlite3_result_error(context, why, -1);
}

static void begin(struct state *state)
{
	state->pool.most = MOST;
	state->samples.pool = &state->pool;
}

static void step(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct state *state = sqlite3_aggregate_context(context, sizeof(*state));
	struct input input;

	if (!state) {
		sqlite3_result_error_nomem(context);
		return;
	}
	if (read_fraction(context, values[1], state) || read_input(context, n, values, &input) || !input.counts)
		return;
	if (input.real && !state->real)
		nt_samples_change(&state->samples, to_real);
	state->real |= input.real;
	if (!state->samples.n && !state->first)
		begin(state);
	if (nt_samples_add(&state->samples, state->real ? nt_real_to_ordered(input.number) : input.integer,
			   input.weight))
		give_error(context, state);
}

static void inverse(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct state *state = sqlite3_aggregate_context(context, sizeof(*state));
	struct input input;

	if (!state || read_input(context, n, values, &input) || !input.counts)
		return;
	if (!nt_samples_are_kept(&state->samples))
		sqlite3_result_error(context, "percentile: a moving window can have 1,048,576 rows at most", -1);
	nt_samples_keep(&state->samples);
	state->first++;
}

static void give(sqlite3_context *context, const struct state *state, struct nt_samples *samples)
{
	int64_t value;

	if (!samples->n) {
		sqlite3_result_null(context);
		return;
	}
	value = nt_samples_quantile(samples, state->fraction);
	if (state->pool.spill.error)
		give_error(context, state);
	else if (state->real)
		sqlite3_result_double(context, nt_ordered_to_real(value));
	else
		sqlite3_result_int64(context, value);
}

static void value_now(sqlite3_context *context)
{
	struct state *state = sqlite3_aggregate_context(context, sizeof(*state));
	struct nt_samples copy = {0};
	int error = 0;

	if (!state) {
		sqlite3_result_error_nomem(context);
		return;
	}
	/* No window moves that has some in a file, so their order may change. */
	if (!nt_samples_are_kept(&state->samples)) {
		give(context, state, &state->samples);
		return;
	}
	for (size_t i = state->first; i < state->samples.n && !error; i++)
		error = nt_samples_add(&copy, nt_samples_value(&state->samples, i),
				       nt_samples_weight(&state->samples, i));
	if (error)
		sqlite3_result_error_nomem(context);
	else
		give(context, state, &copy);
	nt_samples_release(&copy);
}

static void finish(sqlite3_context *context)
{
	struct state *state = sqlite3_aggregate_context(context, 0);

	if (!state) {
		sqlite3_result_null(context);
		return;
	}
	if (state->first)
		value_now(context);
	else
		give(context, state, &state->samples);
	nt_samples_release(&state->samples);
	nt_samples_pool_release(&state->pool);
}

int nt_percentile_register(sqlite3 *handle, const char *name)
{
	int error = SQLITE_OK;

	for (int n = 2; n <= 3 && !error; n++)
		error = sqlite3_create_window_function(handle, name, n,
						       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
						       step, finish, value_now, inverse, NULL);
	return error;
}
