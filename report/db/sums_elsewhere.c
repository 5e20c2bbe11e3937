// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_elsewhere.c - the part of sums.h that adds up what the network causes elsewhere: of each interrupt and function
 * on a CPU one row, of all of the session. So memory is for these.
 */
#include <errno.h>
#include <stdio.h>

#include "report/db/sums_state.h"

#define MAX_KEY 256

/* The sum's number; 0: out of memory. A function has a name, an interrupt has a number. */
static uint32_t number_of(struct nt_sums *sums, const struct nt_row *row, bool *is_new)
{
	const int64_t irq = nt_integer(NT_VALUE(row, elsewhere_cost, irq), -1);
	char key[MAX_KEY];

	snprintf(key, sizeof(key), "%lld %lld %s", (long long)nt_integer(NT_VALUE(row, elsewhere_cost, cpu), 0),
		 (long long)irq, irq < 0 ? nt_text(NT_VALUE(row, elsewhere_cost, name), "") : "");
	return nt_texts_number(&sums->elsewhere_keys, key, is_new);
}

int nt_sums_add_elsewhere(struct nt_sums *sums, const struct nt_row *row)
{
	const int64_t ns = nt_integer(NT_VALUE(row, elsewhere_cost, spent_ns), 0);
	bool is_new;
	const uint32_t number = number_of(sums, row, &is_new);
	int64_t *sum;

	if (!number || NT_ROOM(sums->elsewhere, sums->elsewhere_size, sums->elsewhere_keys.n))
		return -ENOMEM;
	if (is_new)
		return nt_sums_keep(sums, &sums->elsewhere[number - 1], row);
	sum = &sums->elsewhere[number - 1].values[NT_COLUMN(elsewhere_cost, spent_ns)].integer;
	/* A tape may claim more than SQL can hold. */
	return __builtin_add_overflow(*sum, ns, sum) ? -ERANGE : 0;
}

int nt_sums_finish_elsewhere(struct nt_sums *sums)
{
	int error = 0;

	for (uint32_t i = 0; i < sums->elsewhere_keys.n && !error; i++) {
		struct nt_value *values = sums->elsewhere[i].values;

		values[NT_COLUMN(elsewhere_cost, ts)].integer = sums->start_ts;
		values[NT_COLUMN(elsewhere_cost, dur)].integer = sums->end_ts - sums->start_ts;
		error = nt_sums_put_kept(sums, &sums->elsewhere[i]);
	}
	return error;
}
