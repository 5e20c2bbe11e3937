// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_charges.c - the part of sums.h that adds up who pays for net_rx. Charges of a minute are noted as they come and
 * put when it is over: those of processes with the most time by name, of the rest together. Sockets and flows are not
 * kept. Charges that come late make rows of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/sums_state.h"

#define LONG_NS (60 * NT_SUMS_BUCKET_NS)

#define COMPARE(member)                                                                                                \
	if (a->member != b->member)                                                                                    \
	return a->member < b->member ? -1 : 1

static int by_key(const void *first, const void *second)
{
	const struct nt_sums_charge *a = first, *b = second;

	COMPARE(cost.ts_ns);
	COMPARE(cost.dur_ns);
	COMPARE(cost.cpu);
	COMPARE(payer);
	COMPARE(process);
	COMPARE(device);
	return 0;
}

static int by_time(const void *first, const void *second)
{
	const struct nt_sums_charge *a = second, *b = first;

	COMPARE(cost.spent_ns);
	return -by_key(a, b);
}

static void add(struct nt_rx_cost *sum, const struct nt_rx_cost *more)
{
	sum->packets += more->packets;
	sum->segments += more->segments;
	sum->bytes += more->bytes;
	sum->spent_ns += more->spent_ns;
	sum->exact_ns += more->exact_ns;
	sum->most_ns += more->most_ns;
}

/* Sorts the first n, and makes one of those with the same key. Gives how many are left. */
static size_t merge(struct nt_sums_charge *charges, size_t n)
{
	size_t left = 0;

	if (n)
		qsort(charges, n, sizeof(*charges), by_key);
	for (size_t i = 0; i < n; i++) {
		if (left && !by_key(&charges[left - 1], &charges[i]))
			add(&charges[left - 1].cost, &charges[i].cost);
		else
			charges[left++] = charges[i];
	}
	return left;
}

static bool is_process(const struct nt_sums_charge *charge)
{
	return charge->process != NT_NO_TASK;
}

/* Of one minute: the processes of its largest rows keep their names there. */
static void name_processes(struct nt_sums_charge *charges, size_t n)
{
	size_t named = 0;

	qsort(charges, n, sizeof(*charges), by_time);
	for (size_t i = 0; i < n; i++) {
		if (is_process(&charges[i]) && named++ >= NT_SUMS_TOP)
			charges[i].process = NT_SUMS_OTHERS;
	}
}

static int put(struct nt_sums *sums, const struct nt_sums_charge *charge)
{
	const struct nt_rx_paid row = {
		.cost = &charge->cost, .payer = charge->payer, .process = charge->process, .device = charge->device};

	if (is_process(charge) && nt_id_map_set(&sums->processes, charge->process, 1))
		return -ENOMEM;
	if (charge->process == NT_SUMS_OTHERS && nt_id_map_set(&sums->tasks, NT_SUMS_OTHERS, 1))
		return -ENOMEM;
	return nt_sums_put(sums, NT_TABLE_RX_COST, &row);
}

static int put_minute(struct nt_sums *sums, struct nt_sums_charge *charges, size_t n)
{
	int error = 0;

	name_processes(charges, n);
	n = merge(charges, n);
	for (size_t i = 0; i < n && !error; i++)
		error = put(sums, &charges[i]);
	return error;
}

/* Puts what began before `end`. */
static int put_until(struct nt_sums *sums, uint64_t end)
{
	struct nt_sums_charges *all = &sums->charges;
	size_t done = 0, n;
	int error = 0;

	all->n = merge(all->charges, all->n);
	while (done < all->n && all->charges[done].cost.ts_ns < end && !error) {
		const uint64_t ts = all->charges[done].cost.ts_ns;

		n = NT_FIRST(all->n - done, i, all->charges[done + i].cost.ts_ns != ts);
		error = put_minute(sums, all->charges + done, n);
		done += n;
	}
	all->n -= done;
	if (all->n)
		memmove(all->charges, all->charges + done, all->n * sizeof(*all->charges));
	return error;
}

static int note(struct nt_sums *sums, const struct nt_sums_charge *charge)
{
	struct nt_sums_charges *all = &sums->charges;
	int error = 0;

	if (charge->cost.ts_ns > all->newest_ns) {
		/* The one before may still get some. */
		error = put_until(sums, all->newest_ns);
		all->newest_ns = charge->cost.ts_ns;
	}
	if (!error && all->n == NT_SUMS_NOTED) {
		all->n = merge(all->charges, all->n);
		if (all->n > NT_SUMS_NOTED / 2)
			error = put_until(sums, UINT64_MAX);
	}
	if (error || NT_ROOM(all->charges, all->size, all->n + 1))
		return error ? error : -ENOMEM;
	all->charges[all->n++] = *charge;
	return 0;
}

/* The share of `whole` that the time [from, to) of `dur` has. */
static uint64_t share(uint64_t whole, uint64_t from, uint64_t to, uint64_t dur)
{
	return (uint64_t)((unsigned __int128)whole * to / dur) - (uint64_t)((unsigned __int128)whole * from / dur);
}

/* The part [from, to) of a row's time. Packets count in the first. */
static struct nt_sums_charge part_of(const struct nt_sums_charge *charge, uint64_t from, uint64_t to)
{
	const struct nt_rx_cost *whole = &charge->cost;
	struct nt_sums_charge part = *charge;

	part.cost.spent_ns = share(whole->spent_ns, from, to, whole->dur_ns);
	part.cost.exact_ns = share(whole->exact_ns, from, to, whole->dur_ns);
	part.cost.most_ns = share(whole->most_ns, from, to, whole->dur_ns);
	if (from)
		part.cost.packets = part.cost.segments = part.cost.bytes = 0;
	return part;
}

/* The minute that a time of the session is in. */
static void widen(const struct nt_sums *sums, struct nt_rx_cost *cost, uint64_t at)
{
	const uint64_t dur = (uint64_t)(sums->end_ts - sums->start_ts), begin = at - at % NT_SUMS_BUCKET_NS;

	cost->ts_ns = (uint64_t)sums->start_ts + begin;
	cost->dur_ns = dur - begin < NT_SUMS_BUCKET_NS ? dur - begin : NT_SUMS_BUCKET_NS;
}

static int add_parts(struct nt_sums *sums, const struct nt_sums_charge *charge)
{
	const uint64_t at = charge->cost.ts_ns - (uint64_t)sums->start_ts, dur = charge->cost.dur_ns;
	uint64_t from = 0, to;
	int error = 0;

	for (; from < dur && !error; from = to) {
		const uint64_t room = NT_SUMS_BUCKET_NS - (at + from) % NT_SUMS_BUCKET_NS, left = dur - from;
		struct nt_sums_charge part;

		/* Many whole minutes are one row: a tape may claim centuries. */
		if (room == NT_SUMS_BUCKET_NS && left >= LONG_NS) {
			to = from + left - left % NT_SUMS_BUCKET_NS;
			part = part_of(charge, from, to);
			part.cost.ts_ns = charge->cost.ts_ns + from;
			part.cost.dur_ns = to - from;
			error = put(sums, &part);
			continue;
		}
		to = from + (left < room ? left : room);
		part = part_of(charge, from, to);
		widen(sums, &part.cost, at + from);
		error = note(sums, &part);
	}
	return error;
}

static uint64_t number(const struct nt_row *row, const char *column)
{
	return (uint64_t)nt_sums_integer(row, column, 0);
}

int nt_sums_add_charge(struct nt_sums *sums, const struct nt_row *row)
{
	const struct nt_sums_charge charge = {
		.payer = nt_payer_number(nt_row_value(row, "payer")->text),
		.process = (uint64_t)nt_sums_integer(row, "upid", (int64_t)NT_NO_TASK),
		.device = number(row, "device_id"),
		.cost =
			{
				.ts_ns = number(row, "ts"),
				.dur_ns = number(row, "dur"),
				.cpu = (uint32_t)number(row, "cpu"),
				.packets = number(row, "packets"),
				.segments = number(row, "segments"),
				.bytes = number(row, "bytes"),
				.spent_ns = number(row, "spent_ns"),
				.exact_ns = number(row, "exact_ns"),
				.most_ns = number(row, "most_ns"),
			},
	};

	return add_parts(sums, &charge);
}

int nt_sums_finish_charges(struct nt_sums *sums)
{
	return put_until(sums, UINT64_MAX);
}
