// SPDX-License-Identifier: GPL-2.0-only
/* rx_flows.c - see rx_flows.h */
#include "report/rows/rx_flows.h"

#include <stdlib.h>

#include "report/util/array.h"

#define N_FLOWS 1024
#define N_SORTS 256
#define MEAN_OF 64 /* a mean is of the last so many, about */
#define MAX_COST ((uint64_t)UINT32_MAX * NT_RX_COST_UNIT)

struct mean {
	uint64_t cost;
	uint32_t n; /* up to MEAN_OF; 0: not known */
};

struct place {
	uint64_t flow;
	struct mean phases[NT_RX_PHASES];
	uint32_t fate;
};

struct nt_rx_flows {
	struct place places[N_FLOWS]; /* by a hash of the flow */
	struct mean sorts[N_SORTS][NT_RX_PHASES];
	struct mean all[NT_RX_PHASES];
};

struct nt_rx_flows *nt_rx_flows_new(void)
{
	return calloc(1, sizeof(struct nt_rx_flows));
}

static size_t number_of(uint64_t flow)
{
	return flow * 0x9e3779b97f4a7c15ull >> 32 & (N_FLOWS - 1);
}

/* NULL: the flow has no place. */
static const struct place *find(const struct nt_rx_flows *flows, uint64_t flow)
{
	const struct place *place = &flows->places[number_of(flow)];

	return place->flow == flow ? place : NULL;
}

/* The flow's place, which another one may have to leave. */
static struct place *claim(struct nt_rx_flows *flows, uint64_t flow)
{
	struct place *place = &flows->places[number_of(flow)];

	if (place->flow != flow)
		*place = (struct place){.flow = flow};
	return place;
}

uint64_t nt_rx_cost(const struct nt_rx_flows *flows, uint64_t flow, uint8_t sort, enum nt_rx_phase phase)
{
	const struct place *place;
	size_t known;

	if (!flows)
		return 1;
	place = find(flows, flow);
	if (place && place->phases[phase].n)
		return place->phases[phase].cost;
	if (flows->sorts[sort][phase].n)
		return flows->sorts[sort][phase].cost;
	if (flows->all[phase].n)
		return flows->all[phase].cost;
	known = NT_FIRST(NT_RX_PHASES, i, flows->all[i].n);
	return known < NT_RX_PHASES ? flows->all[known].cost : 1;
}

bool nt_rx_costs_are_known(const struct nt_rx_flows *flows)
{
	return flows && NT_ANY(NT_RX_PHASES, i, flows->all[i].n);
}

unsigned __int128 nt_rx_weight(const struct nt_rx_term *terms, size_t n)
{
	unsigned __int128 weight = 0;

	for (size_t i = 0; i < n; i++)
		weight += (unsigned __int128)terms[i].packets * terms[i].cost;
	return weight;
}

static void add_to_mean(struct mean *mean, uint64_t cost)
{
	mean->n += mean->n < MEAN_OF;
	mean->cost = mean->cost - mean->cost / mean->n + cost / mean->n;
}

static void learn_term(struct nt_rx_flows *flows, const struct nt_rx_term *term, uint64_t cost)
{
	add_to_mean(&claim(flows, term->flow)->phases[term->phase], cost);
	add_to_mean(&flows->sorts[term->sort][term->phase], cost);
	add_to_mean(&flows->all[term->phase], cost);
}

/* Flows that come in the same proportion in each list keep that of their costs: so each learns once. */
static bool is_repeated(const struct nt_rx_term *terms, size_t i)
{
	return NT_ANY(i, j, terms[j].phase == terms[i].phase && terms[j].flow == terms[i].flow);
}

void nt_rx_learn(struct nt_rx_flows *flows, const struct nt_rx_term *terms, size_t n, uint64_t ns)
{
	const unsigned __int128 weight = nt_rx_weight(terms, n);

	if (!ns || ns > UINT32_MAX || !weight)
		return;
	for (size_t i = 0; i < n; i++) {
		const unsigned __int128 cost = (unsigned __int128)terms[i].cost * ns * NT_RX_COST_UNIT / weight;
		const uint64_t bounded = cost < MAX_COST ? (uint64_t)cost : MAX_COST;

		if (!is_repeated(terms, i))
			learn_term(flows, &terms[i], bounded ? bounded : 1);
	}
}

bool nt_rx_last_fate(const struct nt_rx_flows *flows, uint64_t flow, uint32_t *fate)
{
	const struct place *place = flows ? find(flows, flow) : NULL;

	if (place)
		*fate = place->fate;
	return place;
}

void nt_rx_note_fate(struct nt_rx_flows *flows, uint64_t flow, uint32_t fate)
{
	claim(flows, flow)->fate = fate;
}
