/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rollup.h - sums of slices, of operations, of receive runs' charges and of what the network causes elsewhere, in
 * buckets of time, made while they pass: what the rows of cpu_cost, sock_cost, rx_cost and elsewhere_cost are made of.
 * Pure. Sums of one bucket may be given in several rows, which add up; memory is bounded by that.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/rows/view.h"
#include "report/timeline/timeline.h"

#define NT_BUCKET_NS 100000000ull

/* Time of one owner and task on one CPU in one bucket, or in several whole ones in a row. */
struct nt_cpu_cost {
	uint64_t ts_ns, dur_ns; /* the bucket or buckets */
	uint32_t cpu;
	enum nt_owner owner;
	uint64_t task;
	uint64_t spent_ns;
};

/* Operations of one task on one socket that ended in one bucket. */
struct nt_sock_cost {
	uint64_t ts_ns, dur_ns;
	uint64_t task;
	uint8_t dir;
	uint64_t socket;
	uint64_t ops, failed, untimed, lower_bound;
	uint64_t bytes; /* without peeks and the error queue */
	uint64_t cpu_ns;
};

/* The cost of one flow on one CPU in one bucket, or in several whole ones in a row. */
struct nt_rx_cost {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	uint64_t flow; /* 0: none is known; or NT_RX_DRIVER */
	uint64_t socket; /* that the kernel delivered its packets to; 0: none is known */
	uint32_t fate; /* of the packets: NT_RX_FATE_* */
	uint64_t packets, segments, bytes;
	uint64_t spent_ns, exact_ns, most_ns; /* as struct nt_rx_charge */
	bool is_late; /* its flow came after NT_NAMED_FLOWS others of the bucket and CPU: a part of its cost */
};

#define NT_NAMED_FLOWS 1024

/* As a flow: no packet's, but the driver's own work, and what XDP does there. */
#define NT_RX_DRIVER UINT64_MAX

/* The fate of packets after they were received. Above DROPPED: the kernel's reason for it, + DROPPED. */
#define NT_RX_FATE_NONE 0u
#define NT_RX_FATE_FORWARDED 1u
#define NT_RX_FATE_DROPPED 2u

/* Where the network causes time that is not its owners'. X(CONSTANT, name). */
#define NT_ELSEWHERES(X)                                                                                               \
	X(HARDIRQ, hardirq) /* network devices' interrupts */                                                          \
	X(TIMER, timer) /* functions of the network that softirqs call by timers */

enum nt_elsewhere {
#define X(constant, name) NT_ELSEWHERE_##constant,
	NT_ELSEWHERES(X)
#undef X
};

/* A time on one CPU that one interrupt, or function, had; as a sum, of a bucket, or several whole ones in a row. */
struct nt_elsewhere_cost {
	uint64_t ts_ns, dur_ns; /* the time, or the bucket or buckets */
	uint32_t cpu;
	enum nt_elsewhere what;
	uint32_t number; /* the interrupt's, or enum nt_net_timer_function */
	uint64_t spent_ns; /* of a sum */
};

struct nt_rollup;
struct nt_rx_charge;

/* Where finished sums go. A function that gives non-zero stops the adding, which gives that number. */
struct nt_rollup_sink {
	void *arg;
	int (*cpu_cost)(void *arg, const struct nt_cpu_cost *cost);
	int (*sock_cost)(void *arg, const struct nt_sock_cost *cost);
	int (*rx_cost)(void *arg, const struct nt_rx_cost *cost);
	int (*elsewhere_cost)(void *arg, const struct nt_elsewhere_cost *cost);
};

/* Of what lies in this time, in its buckets: the first and the last may be cut. NULL: out of memory. Both are copied.
 */
struct nt_rollup *nt_rollup_new(const struct nt_view_time *time, const struct nt_rollup_sink *sink);
void nt_rollup_free(struct nt_rollup *rollup);
/* A slice within the time; it is split at the edges of buckets. */
int nt_rollup_slice(struct nt_rollup *rollup, const struct nt_cpu_slice *slice);
/* An operation; it counts in the bucket of its end. */
int nt_rollup_op(struct nt_rollup *rollup, const struct nt_op_row *op);
/* A charge: its time is within a bucket, or is whole buckets. */
int nt_rollup_rx(struct nt_rollup *rollup, const struct nt_rx_charge *charge);
/* One within the time; it is split at the edges of buckets. */
int nt_rollup_elsewhere(struct nt_rollup *rollup, const struct nt_elsewhere_cost *time);
/* The end of the time, which was INT64_MAX, is known. Before anything of later times is added. */
void nt_rollup_end_at(struct nt_rollup *rollup, uint64_t end_ns);
/* Gives the sums of buckets that have ended by then, and keeps the others. */
int nt_rollup_give(struct nt_rollup *rollup, uint64_t until_ns);
/* Gives all sums that are left. */
int nt_rollup_finish(struct nt_rollup *rollup);
