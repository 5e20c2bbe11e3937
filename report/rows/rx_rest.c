// SPDX-License-Identifier: GPL-2.0-only
/* rx_rest.c - see rx_rest.h. */
#include "report/rows/rx_rest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/lot.h"

#define MAX_ROWS 4096
#define N_SLOTS (4 * MAX_ROWS)
#define MAX_AGE_NS (5 * NT_BUCKET_NS)

struct nt_rx_rest_row {
	struct nt_rx_paid paid;
	struct nt_rx_cost cost;
};

void nt_rx_rest_release(struct nt_rx_rest *rest)
{
	free(rest->rows);
	free(rest->slots);
	*rest = (struct nt_rx_rest){0};
}

static bool is_same(const struct nt_rx_paid *a, const struct nt_rx_paid *b)
{
	return a->cost->ts_ns == b->cost->ts_ns && a->cost->dur_ns == b->cost->dur_ns && a->cost->cpu == b->cost->cpu &&
	       a->payer == b->payer && a->socket == b->socket && a->process == b->process && a->device == b->device &&
	       a->has_reason == b->has_reason && a->reason == b->reason;
}

static size_t hash(const struct nt_rx_paid *paid)
{
	uint64_t word = nt_lot(paid->cost->ts_ns ^ (uint64_t)paid->cost->cpu << 48, paid->socket);

	return nt_lot(word ^ (uint64_t)paid->payer << 32 ^ paid->reason, paid->process ^ paid->device << 32) % N_SLOTS;
}

static size_t slot_of(const struct nt_rx_rest *rest, const struct nt_rx_paid *paid)
{
	size_t slot = hash(paid);

	while (rest->slots[slot] && !is_same(&rest->rows[rest->slots[slot] - 1].paid, paid))
		slot = (slot + 1) % N_SLOTS;
	return slot;
}

/* Each lies between its bounds, and all of them within the bucket's time. */
static void add(struct nt_rx_cost *sum, const struct nt_rx_cost *cost)
{
	if (sum->flow != cost->flow)
		sum->flow = 0;
	sum->packets += cost->packets;
	sum->segments += cost->segments;
	sum->bytes += cost->bytes;
	sum->spent_ns += cost->spent_ns;
	sum->exact_ns += cost->exact_ns;
	sum->most_ns += cost->most_ns;
	if (sum->most_ns > sum->dur_ns)
		sum->most_ns = sum->dur_ns;
}

/* Charges of several CPUs do not come in the order of their times. */
static bool is_long_past(const struct nt_rx_cost *cost, const struct nt_rx_cost *next)
{
	return next->ts_ns > cost->ts_ns + MAX_AGE_NS;
}

int nt_rx_rest_add(struct nt_rx_rest *rest, const struct nt_rx_paid *paid, nt_rx_give_fn give, void *arg)
{
	size_t slot;
	int error;

	if (!rest->rows) {
		rest->rows = calloc(MAX_ROWS, sizeof(*rest->rows));
		rest->slots = calloc(N_SLOTS, sizeof(*rest->slots));
	}
	if (!rest->rows || !rest->slots) {
		nt_rx_rest_release(rest);
		return -ENOMEM;
	}
	if (rest->n == MAX_ROWS || (rest->n && is_long_past(&rest->rows[0].cost, paid->cost))) {
		error = nt_rx_rest_give(rest, give, arg);
		if (error)
			return error;
	}
	slot = slot_of(rest, paid);
	if (rest->slots[slot]) {
		add(&rest->rows[rest->slots[slot] - 1].cost, paid->cost);
		return 0;
	}
	rest->rows[rest->n] = (struct nt_rx_rest_row){*paid, *paid->cost};
	rest->rows[rest->n].paid.cost = &rest->rows[rest->n].cost;
	rest->slots[slot] = (uint16_t)++rest->n;
	return 0;
}

int nt_rx_rest_give(struct nt_rx_rest *rest, nt_rx_give_fn give, void *arg)
{
	int error = 0;

	for (size_t i = 0; i < rest->n && !error; i++)
		error = give(arg, &rest->rows[i].paid);
	if (rest->n)
		memset(rest->slots, 0, N_SLOTS * sizeof(*rest->slots));
	rest->n = 0;
	return error;
}
