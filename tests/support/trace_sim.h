/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_sim.h - what the parts of the simulation share: trace_sim.c moves CPUs and tasks, trace_sim_records.c
 * writes what the kernel side would of it. See trace_gen.h.
 */
#pragma once

#include "tests/support/trace_gen.h"

#define MAX_TASKS 10
#define MAX_DEPTH 3

enum sim_state { RUNNABLE, RUNNING, LEAVING, SLEEPING, DEAD };

struct sim_task {
	uint64_t id;
	enum sim_state state;
	uint64_t wake_ns;
	int pinned; /* CPU, while it has a softirq; -1 */
	size_t ops[MAX_DEPTH]; /* places in trace->ops, outermost first */
	int n_ops;
	bool in_softirq;
	uint8_t vec, context;
	uint64_t softirq_begin;
	bool polling; /* it polls a device itself */
	uint64_t poll_begin;
	uint64_t op_begin; /* of the operation begun last */
};

struct sim_lost {
	uint32_t count;
	uint64_t first, last, begin;
};

struct sim_cpu {
	bool exists, online, gate_open, stopped;
	uint64_t gate_ns, stop_ns, next_ns;
	uint64_t done_ns; /* the truth is written up to here */
	struct sim_task idle, *task;
	int irq_depth;
	uint64_t irq_begin;
	uint8_t irq_type;
	uint32_t irq_number;
	bool leaving; /* the next action is a switch, already seen by others */
	bool rival; /* another CPU has taken the leaving task */
	/* A record whose time was read, and that an interrupt keeps from being written. */
	bool holding, hold_listed;
	union nt_any held;
	struct trace_ring ring;
	uint64_t full_until;
	struct sim_lost lost[NT_NAPI + 1]; /* by kind of event */
};

struct sim {
	struct trace *trace;
	struct nt_rand rand;
	struct sim_cpu cpus[TRACE_CPUS];
	struct sim_task tasks[MAX_TASKS];
	int n_tasks;
	uint64_t attach_ns, now;
	/* How this trace is. */
	uint64_t step;
	bool polls, rt, loses, loses_parts, inverts, clocks_differ, plugs, execs, dies;
};

static inline uint64_t sim_below(struct sim *sim, uint64_t n)
{
	return nt_rand_below(&sim->rand, n);
}

static inline bool sim_chance(struct sim *sim, uint64_t percent)
{
	return sim_below(sim, 100) < percent;
}

static inline uint32_t sim_number(const struct sim *sim, const struct sim_cpu *cpu)
{
	return (uint32_t)(cpu - sim->cpus);
}

/* ---- trace_sim_records.c ---- */

/* One record; begin_ns: of the span it tells of, 0: of none. It is lost if the CPU's ring is full. */
void sim_emit(struct sim *sim, struct sim_cpu *cpu, const union nt_any *record, uint64_t begin_ns);
/* The record of an operation that has ended; hold: an interrupt comes before it is written. */
void sim_emit_op(struct sim *sim, struct sim_cpu *cpu, size_t place, bool hold);
/* A state record with its OPEN records: all are written, or none; or, in some traces, any of them. */
void sim_emit_state(struct sim *sim, struct sim_cpu *cpu, union nt_any *state);
void sim_emit_plain_state(struct sim *sim, struct sim_cpu *cpu, enum nt_state_reason reason);
/* Writes the record that was held back, if there is one. */
void sim_release_held(struct sim *sim, struct sim_cpu *cpu);
/* Tells what was lost, ahead of the next record. */
void sim_write_lost(struct sim *sim, struct sim_cpu *cpu);
