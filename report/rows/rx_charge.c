// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_charge.c - see rx_charge.h. The parts of a CPU's run wait until a part of another run comes: then all stretches of
 * the run are known, and it is cut at their ends.
 */
#include "report/rows/rx_charge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/util/array.h"

#define REORDER 64 /* stretches come by end, but for a few: an interrupt may write one first */
/* A kernel ends a run after some 300 packets, unless told otherwise. */
#define MAX_PARTS 4096
#define MAX_BATCH 1024 /* stretches that are divided together: of more nobody is charged */
#define MAX_WAITING 65536 /* stretches that no run has come for */
#define N_MEANS 1024 /* flows of a CPU */
#define N_SORTS 256
#define MEAN_UNIT 1024 /* of a nanosecond */
#define MEAN_WEIGHT 8 /* of the mean so far and what is new, the new has one of so many parts */

/* What a packet costs, in 1/MEAN_UNIT ns; 0: not known. */
struct mean {
	uint64_t flow, cost;
	uint8_t sort; /* of the flow */
};

/* What a packet of each flow costs where it can be told. */
struct means {
	struct mean flows[N_MEANS]; /* by a hash of the flow */
	uint64_t sorts[N_SORTS];
	uint64_t all;
};

/* A flow's part of a batch. */
struct share {
	uint64_t flow;
	unsigned __int128 weight;
};

struct cpu {
	struct nt_rx_part *parts; /* of the run at hand, in time order */
	size_t n_parts, parts_size;
	struct nt_rx_stretch *stretches; /* by end; those before `first` have been charged */
	size_t first, n, size;
	struct means *means; /* NULL: none yet */
};

struct nt_rx_charges {
	struct nt_rx_charges_config config;
	struct cpu *cpus;
	struct share *shares; /* of the batch at hand */
	size_t n_shares, shares_size;
};

struct nt_rx_charges *nt_rx_charges_new(const struct nt_rx_charges_config *config)
{
	struct nt_rx_charges *charges = calloc(1, sizeof(*charges));

	if (!charges)
		return NULL;
	charges->config = *config;
	charges->cpus = calloc((size_t)config->n_cpus + 1, sizeof(*charges->cpus));
	if (!charges->cpus) {
		free(charges);
		return NULL;
	}
	return charges;
}

void nt_rx_charges_free(struct nt_rx_charges *charges)
{
	if (!charges)
		return;
	for (uint32_t cpu = 0; cpu < charges->config.n_cpus; cpu++) {
		free(charges->cpus[cpu].parts);
		free(charges->cpus[cpu].stretches);
		free(charges->cpus[cpu].means);
	}
	free(charges->cpus);
	free(charges->shares);
	free(charges);
}

/* ---- what a packet costs ---- */

static struct mean *mean_of(struct means *means, uint64_t flow)
{
	return &means->flows[flow * 0x9e3779b97f4a7c15ull >> 32 & (N_MEANS - 1)];
}

static void add_to_mean(uint64_t *mean, uint64_t cost)
{
	*mean = *mean ? *mean - *mean / MEAN_WEIGHT + cost / MEAN_WEIGHT : cost;
}

/* These packets, of one flow, cost so much together. */
static int learn(struct nt_rx_charges *charges, struct cpu *cpu, const struct nt_rx_stretch *stretch, uint64_t ns)
{
	const uint64_t cost = stretch->packets && ns < UINT32_MAX ? ns * MEAN_UNIT / stretch->packets : 0;
	struct mean *mean;

	if (!cost)
		return 0;
	if (!cpu->means)
		cpu->means = calloc(1, sizeof(*cpu->means));
	if (!cpu->means)
		return -ENOMEM;
	mean = mean_of(cpu->means, stretch->flow);
	if (mean->flow != stretch->flow || !mean->cost)
		*mean = (struct mean){.flow = stretch->flow,
				      .sort = charges->config.sort_of(charges->config.arg, stretch->flow)};
	add_to_mean(&mean->cost, cost);
	add_to_mean(&cpu->means->sorts[mean->sort], cost);
	add_to_mean(&cpu->means->all, cost);
	return 0;
}

/* What a packet of the flow is thought to cost; of any two flows, in the same unit. */
static uint64_t cost_of(const struct nt_rx_charges *charges, const struct cpu *cpu, uint64_t flow)
{
	const struct mean *mean;
	uint64_t of_sort;

	if (!cpu->means)
		return 1;
	mean = mean_of(cpu->means, flow);
	if (mean->flow == flow && mean->cost)
		return mean->cost;
	of_sort = cpu->means->sorts[charges->config.sort_of(charges->config.arg, flow)];
	return of_sort ? of_sort : cpu->means->all;
}

/* ---- charging ---- */

static int by_flow(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return left->flow < right->flow ? -1 : left->flow > right->flow;
}

static unsigned __int128 weight_of_all(const struct nt_rx_charges *charges)
{
	unsigned __int128 weight = 0;

	for (size_t i = 0; i < charges->n_shares; i++)
		weight += charges->shares[i].weight;
	return weight;
}

/* So that a time by all of them fits 128 bits. If they say nothing, nobody is charged. */
static void check_shares(struct nt_rx_charges *charges)
{
	while (weight_of_all(charges) > UINT64_MAX) {
		for (size_t i = 0; i < charges->n_shares; i++)
			charges->shares[i].weight /= 2;
	}
	if (weight_of_all(charges))
		return;
	charges->shares[0] = (struct share){.weight = 1};
	charges->n_shares = 1;
}

/* The time that comes is nobody's. */
static int charge_nobody(struct nt_rx_charges *charges)
{
	if (NT_ROOM(charges->shares, charges->shares_size, 1))
		return -ENOMEM;
	charges->shares[0] = (struct share){.weight = 1};
	charges->n_shares = 1;
	return 0;
}

/* One share for each flow of these stretches. */
static int make_shares(struct nt_rx_charges *charges, const struct cpu *cpu, const struct nt_rx_stretch *stretches,
		       size_t n)
{
	struct share *shares;

	charges->n_shares = 0;
	if (NT_ROOM(charges->shares, charges->shares_size, n))
		return -ENOMEM;
	shares = charges->shares;
	for (size_t i = 0; i < n; i++)
		shares[i] = (struct share){
			.flow = stretches[i].flow,
			.weight = (unsigned __int128)stretches[i].packets *
				  (n > 1 ? cost_of(charges, cpu, stretches[i].flow) : 1),
		};
	if (n > 1)
		qsort(shares, n, sizeof(*shares), by_flow);
	for (size_t i = 0; i < n; i++) {
		if (charges->n_shares && shares[charges->n_shares - 1].flow == shares[i].flow)
			shares[charges->n_shares - 1].weight += shares[i].weight;
		else
			shares[charges->n_shares++] = shares[i];
	}
	check_shares(charges);
	return 0;
}

/* To the only one. */
static int charge_one(struct nt_rx_charges *charges, uint32_t cpu, uint64_t ts_ns, uint64_t dur_ns)
{
	const struct nt_rx_charge charge = {
		.ts_ns = ts_ns,
		.dur_ns = dur_ns,
		.cpu = cpu,
		.flow = charges->shares[0].flow,
		.spent_ns = dur_ns,
		.exact_ns = dur_ns,
		.most_ns = dur_ns,
	};

	return charges->config.charge(charges->config.arg, &charge);
}

/* Divides a time that is within a bucket, or is whole buckets, by the shares: what is left of each goes to the next. */
static int divide(struct nt_rx_charges *charges, uint32_t cpu, uint64_t ts_ns, uint64_t dur_ns)
{
	const unsigned __int128 all = weight_of_all(charges);
	unsigned __int128 weight = 0;
	uint64_t given_ns = 0;
	int error = 0;

	if (charges->n_shares == 1)
		return charge_one(charges, cpu, ts_ns, dur_ns);
	for (size_t i = 0; i < charges->n_shares && !error; i++) {
		struct nt_rx_charge charge = {
			.ts_ns = ts_ns, .dur_ns = dur_ns, .cpu = cpu, .flow = charges->shares[i].flow};
		uint64_t until_ns;

		weight += charges->shares[i].weight;
		until_ns = (uint64_t)(dur_ns * weight / all);
		charge.spent_ns = until_ns - given_ns;
		charge.most_ns = dur_ns;
		given_ns = until_ns;
		error = charges->config.charge(charges->config.arg, &charge);
	}
	return error;
}

/* Cuts a time at the edges of buckets: the rest of the first, whole ones together, the begin of the last. */
static int divide_by_buckets(struct nt_rx_charges *charges, uint32_t cpu, uint64_t ts_ns, uint64_t end_ns)
{
	int error = 0;

	while (ts_ns < end_ns && !error) {
		const uint64_t within_ns = (ts_ns - charges->config.start_ns) % NT_BUCKET_NS;
		uint64_t dur_ns = end_ns - ts_ns;

		if (within_ns && dur_ns > NT_BUCKET_NS - within_ns)
			dur_ns = NT_BUCKET_NS - within_ns;
		else if (!within_ns && dur_ns > NT_BUCKET_NS)
			dur_ns -= dur_ns % NT_BUCKET_NS;
		error = divide(charges, cpu, ts_ns, dur_ns);
		ts_ns += dur_ns;
	}
	return error;
}

/* The time of the run's parts that is left, up to until_ns: takes it from them. Gives how much it is. */
static int charge_until(struct nt_rx_charges *charges, uint32_t number, size_t *part, uint64_t until_ns, uint64_t *ns)
{
	struct cpu *cpu = &charges->cpus[number];
	int error = 0;

	*ns = 0;
	for (; *part < cpu->n_parts && !error; (*part)++) {
		struct nt_rx_part *at = &cpu->parts[*part];
		const uint64_t end_ns = at->ts_ns + at->dur_ns < until_ns ? at->ts_ns + at->dur_ns : until_ns;

		if (at->ts_ns >= until_ns)
			break;
		error = divide_by_buckets(charges, number, at->ts_ns, end_ns);
		*ns += end_ns - at->ts_ns;
		at->dur_ns -= end_ns - at->ts_ns;
		at->ts_ns = end_ns;
		if (at->dur_ns)
			break;
	}
	return error;
}

static int charge_packets(struct nt_rx_charges *charges, uint32_t cpu, const struct nt_rx_stretch *stretch)
{
	uint64_t last_ns = charges->config.end_ns - (charges->config.end_ns > charges->config.start_ns);
	struct nt_rx_charge charge = {
		.ts_ns = stretch->end_ns < last_ns ? stretch->end_ns : last_ns,
		.cpu = cpu,
		.flow = stretch->flow,
		.packets = stretch->packets,
		.segments = stretch->segments,
		.bytes = stretch->bytes,
	};

	if (charge.ts_ns < charges->config.start_ns)
		charge.ts_ns = charges->config.start_ns;
	return charges->config.charge(charges->config.arg, &charge);
}

/* ---- runs ---- */

/*
 * How many of these n stretches must be charged together. Packets that the kernel received as a list are marked first
 * and worked on then: where their stretches end tells nothing.
 */
static size_t batch_of(const struct nt_rx_stretch *stretches, size_t n)
{
	size_t length = 1;

	if (stretches[0].flags & NT_RX_STRETCH_LISTED)
		while (length < n && stretches[length].flags & NT_RX_STRETCH_LISTED)
			length++;
	return length;
}

/* Whether all is known of their time: no record is missing before one of them. */
static bool are_known(const struct nt_rx_stretch *stretches, size_t n, bool is_first)
{
	bool known = true;

	for (size_t i = 0; i < n; i++) {
		known = known && !(stretches[i].flags & NT_RX_STRETCH_AFTER_LOSS) &&
			!(stretches[i].flags & NT_RX_STRETCH_FIRST) == !(is_first && !i);
	}
	return known;
}

/* The time up to the end of these stretches, to their flows. */
static int charge_batch(struct nt_rx_charges *charges, uint32_t number, size_t *part,
			const struct nt_rx_stretch *stretches, size_t n, bool is_first)
{
	struct cpu *cpu = &charges->cpus[number];
	const bool known = n <= MAX_BATCH && are_known(stretches, n, is_first);
	uint64_t ns;
	int error = known ? make_shares(charges, cpu, stretches, n) : charge_nobody(charges);

	if (!error)
		error = charge_until(charges, number, part, stretches[n - 1].end_ns, &ns);
	if (!error && known && n == 1)
		error = learn(charges, cpu, &stretches[0], ns);
	return error;
}

/* What is left of the run's time belongs to no stretch. */
static int charge_rest(struct nt_rx_charges *charges, uint32_t number, size_t *part)
{
	uint64_t ns;
	int error = charge_nobody(charges);

	return error ? error : charge_until(charges, number, part, UINT64_MAX, &ns);
}

/* Charges the packets of all stretches that end by then, and takes them out. */
static int take_stretches(struct nt_rx_charges *charges, uint32_t number, uint64_t by_ns)
{
	struct cpu *cpu = &charges->cpus[number];
	int error = 0;

	for (; cpu->first < cpu->n && cpu->stretches[cpu->first].end_ns <= by_ns && !error; cpu->first++)
		error = charge_packets(charges, number, &cpu->stretches[cpu->first]);
	return error;
}

/* The run at hand is over: all its stretches end by then. */
static int end_run(struct nt_rx_charges *charges, uint32_t number, uint64_t by_ns)
{
	struct cpu *cpu = &charges->cpus[number];
	size_t part = 0, end, n;
	int error;

	if (!cpu->n_parts)
		return take_stretches(charges, number, by_ns);
	/* What ended before belongs to time that is not covered. */
	error = take_stretches(charges, number, cpu->parts[0].ts_ns);
	end = cpu->first + NT_FIRST(cpu->n - cpu->first, i, cpu->stretches[cpu->first + i].end_ns > by_ns);
	for (size_t i = cpu->first; i < end && !error; i += n) {
		n = batch_of(&cpu->stretches[i], end - i);
		error = charge_batch(charges, number, &part, &cpu->stretches[i], n, i == cpu->first);
	}
	if (!error)
		error = charge_rest(charges, number, &part);
	cpu->n_parts = 0;
	return error ? error : take_stretches(charges, number, by_ns);
}

int nt_rx_charges_part(struct nt_rx_charges *charges, const struct nt_rx_part *part)
{
	struct cpu *cpu = &charges->cpus[part->cpu];
	int error = 0;

	/* Nobody tells whose packets tasks and threads poll. The run goes on when its task does. */
	if (!part->run_ns) {
		error = charge_nobody(charges);
		return error ? error : divide_by_buckets(charges, part->cpu, part->ts_ns, part->ts_ns + part->dur_ns);
	}
	if (cpu->n_parts && (cpu->parts[0].run_ns != part->run_ns || cpu->n_parts == MAX_PARTS))
		error = end_run(charges, part->cpu, part->ts_ns);
	if (!error && NT_ROOM(cpu->parts, cpu->parts_size, cpu->n_parts + 1))
		return -ENOMEM;
	if (!error)
		cpu->parts[cpu->n_parts++] = *part;
	return error;
}

/* Room for one more, also where those stood that have been charged, once they were half of all. */
static int make_room(struct cpu *cpu)
{
	if (cpu->first > cpu->n / 2) {
		cpu->n -= cpu->first;
		memmove(cpu->stretches, cpu->stretches + cpu->first, cpu->n * sizeof(*cpu->stretches));
		cpu->first = 0;
	}
	return NT_ROOM(cpu->stretches, cpu->size, cpu->n + 1);
}

int nt_rx_charges_stretch(struct nt_rx_charges *charges, uint32_t number, const struct nt_rx_stretch *stretch)
{
	struct cpu *cpu = &charges->cpus[number];
	int error = 0;
	size_t at;

	if (cpu->n - cpu->first == MAX_WAITING)
		error = take_stretches(charges, number, cpu->stretches[cpu->first].end_ns);
	if (!error)
		error = make_room(cpu);
	if (error)
		return error;
	for (at = cpu->n++; at > cpu->first && cpu->n - at <= REORDER; at--) {
		if (cpu->stretches[at - 1].end_ns <= stretch->end_ns)
			break;
		cpu->stretches[at] = cpu->stretches[at - 1];
	}
	cpu->stretches[at] = *stretch;
	return 0;
}

int nt_rx_charges_finish(struct nt_rx_charges *charges)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < charges->config.n_cpus && !error; cpu++)
		error = end_run(charges, cpu, UINT64_MAX);
	return error;
}
