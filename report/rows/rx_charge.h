/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rx_charge.h - which flow each nanosecond of net_rx is charged to (docs/charging.md, the rule). Takes the parts of
 * receive runs, as the timeline gives them, and the stretches of packets in them, as the probe `deliver` records them;
 * gives charges that add up to the parts, exactly. Pure. Memory: for the run at hand of each CPU, and its stretches.
 *
 * tests/unit/rows/rx_charge_test.c has the slow, obvious second implementation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/rows/rollup.h"
#include "report/rows/view.h"
#include "report/timeline/timeline.h"

/* Time that a flow is charged for, or packets of it. */
struct nt_rx_charge {
	/* A time of the CPU within one bucket, or of several whole buckets, of which the flow has a share. */
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	uint64_t flow; /* 0: none is known; or NT_RX_DRIVER */
	uint64_t socket; /* that the kernel delivered its packets to; 0: none is known */
	uint32_t fate; /* of its packets: NT_RX_FATE_* */
	uint64_t spent_ns; /* the share, and */
	uint64_t exact_ns, most_ns; /* its bounds: it is no estimate where they are equal */
	/* Of a stretch that ended at ts_ns; then the numbers above are 0. */
	uint64_t packets, segments, bytes;
};

/* A stack sample in a receive run, and the flow whose time it lies in. */
struct nt_rx_sample {
	uint32_t cpu;
	const struct nt_stack_sample *sample;
	uint64_t flow; /* 0: none is known, or it is the driver's time */
	bool is_exact; /* no other flow's; else it was drawn among those that share the time, in proportion to their
			  shares */
};

struct nt_rx_charges;

struct nt_rx_charges_config {
	/* Nothing outside of it is charged, and the cost of packets is learned within it. */
	struct nt_view_time time;
	uint32_t n_cpus; /* CPU numbers are below this */
	void *arg;
	/* A charge. A result other than 0 stops the adding, which gives that number. */
	int (*charge)(void *arg, const struct nt_rx_charge *charge);
	/* A sample, each once; the same. NULL: none are added. */
	int (*sample)(void *arg, const struct nt_rx_sample *sample);
	/* The sort of a flow, 0 to 255: packets of one sort cost about the same. */
	uint8_t (*sort_of)(void *arg, uint64_t flow);
	/* The socket that the kernel delivered the flow's packets to by that time; 0: none is known. */
	uint64_t (*socket_of)(void *arg, uint64_t flow, uint64_t at_ns);
};

/* NULL: out of memory. *config is copied. */
struct nt_rx_charges *nt_rx_charges_new(const struct nt_rx_charges_config *config);
void nt_rx_charges_free(struct nt_rx_charges *charges);
/*
 * The next of each CPU. A run's stretches come before the first part of another run. 0, -ENOMEM, or what the callback
 * gave.
 */
int nt_rx_charges_part(struct nt_rx_charges *charges, const struct nt_rx_part *part);
/* A part of a recording without any stretches: nobody is charged. */
int nt_rx_charges_nobodys(struct nt_rx_charges *charges, const struct nt_rx_part *part);
int nt_rx_charges_stretch(struct nt_rx_charges *charges, uint32_t cpu, const struct nt_rx_stretch *stretch);
/* A sample whose owner is net_rx, after the part that it interrupted and before the next. */
int nt_rx_charges_sample(struct nt_rx_charges *charges, uint32_t cpu, const struct nt_stack_sample *sample);
/* The end of the time, which was INT64_MAX, is known. Before parts of later times. */
void nt_rx_charges_end_at(struct nt_rx_charges *charges, uint64_t end_ns);
/*
 * The time of the CPU is known until then, and its run at hand is over, or (`goes_on`) it may have more parts. Charges
 * all of it; of one that goes on only what has waited for longer than NT_RX_PATIENCE_NS.
 */
#define NT_RX_PATIENCE_NS 1000000000ull
int nt_rx_charges_known(struct nt_rx_charges *charges, uint32_t cpu, uint64_t until_ns, bool goes_on);
/* When the CPU's run at hand began; 0: there is none. And since when its time has not been charged; UINT64_MAX: all
 * has. */
uint64_t nt_rx_charges_run(const struct nt_rx_charges *charges, uint32_t cpu);
uint64_t nt_rx_charges_since(const struct nt_rx_charges *charges, uint32_t cpu);
/* Charges what is left. */
int nt_rx_charges_finish(struct nt_rx_charges *charges);
