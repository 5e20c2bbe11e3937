/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * open_softirq.h - the softirq that the task on a CPU may be inside, and how it leaves and returns with its task. Only
 * PREEMPT_RT switches tasks inside a softirq; elsewhere all this is one test at each switch, which is false.
 */
#pragma once

#include "bpf/emit.h"

/* In core.bpf.c: keeps what `prev` (the address of a task) is inside of, gives the CPU's new task what it was. */
int nt_switch_softirq(__u32 cpu_id, __u64 prev);

/* Whether a switch on this CPU has softirqs to take along. */
static __always_inline bool nt_softirqs_travel(const struct nt_cpu *cpu)
{
	return cpu->softirq_begin_ns || cpu->softirqs_away;
}

static __always_inline void nt_fill_open_softirq(const struct nt_cpu *cpu, __u64 now_ns, struct nt_open *open)
{
	open->end_ns = now_ns;
	open->kind = NT_OPEN;
	open->what = NT_OPEN_SOFTIRQ;
	open->detail = cpu->softirq_vec;
	open->flags = 0;
	open->number = cpu->softirq_context;
	open->begin_ns = cpu->softirq_begin_ns;
	open->socket = 0;
}
