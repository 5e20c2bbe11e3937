/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rx_flows.h - what is known of the flows that a CPU receives: what a packet of each costs, and what became of the last
 * one. Pure. Memory: for 1,024 flows; others take their places.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The phases of a packet's cost. Of packets of a list, the kernel does the first for all, then the others for each. */
enum nt_rx_phase {
	NT_RX_ARRIVAL, /* until all of its list have been received */
	NT_RX_UNTIL_SEEN, /* then until the work on it is seen: its delivery, for most */
	NT_RX_SINCE_SEEN,
	NT_RX_PHASES
};

#define NT_RX_COST_UNIT (1 << 20) /* costs are in such parts of a nanosecond */

/* Packets of one flow in a time, and one phase of what they cost. */
struct nt_rx_term {
	uint64_t flow;
	uint64_t packets, cost; /* of one */
	enum nt_rx_phase phase;
	uint8_t sort; /* packets of one sort cost about the same */
};

struct nt_rx_flows;

/* NULL: out of memory. The caller calls free(). */
struct nt_rx_flows *nt_rx_flows_new(void);
/*
 * What one phase of a packet of the flow costs. If it is not known, that of its sort, else of any, else another phase;
 * if nothing is known at all, 1: so costs are in proportion even then. `flows` may be NULL: nothing is known.
 */
uint64_t nt_rx_cost(const struct nt_rx_flows *flows, uint64_t flow, uint8_t sort, enum nt_rx_phase phase);
/* Whether any cost is known. */
bool nt_rx_costs_are_known(const struct nt_rx_flows *flows);
/* The sum of the terms, in NT_RX_COST_UNIT. */
unsigned __int128 nt_rx_weight(const struct nt_rx_term *terms, size_t n);
/*
 * These terms, with the costs that nt_rx_cost() gave, took so long together. So each costs as much more or less as they
 * all do. In the mean that comes to what they cost, if flows come in several orders, or one several times in a row.
 */
void nt_rx_learn(struct nt_rx_flows *flows, const struct nt_rx_term *terms, size_t n, uint64_t ns);
/* What became of the flow's last packet, NT_RX_FATE_*. False: the flow is not known. */
bool nt_rx_last_fate(const struct nt_rx_flows *flows, uint64_t flow, uint32_t *fate);
void nt_rx_note_fate(struct nt_rx_flows *flows, uint64_t flow, uint32_t fate);
