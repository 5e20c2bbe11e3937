// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched.c - switches, wakings, softirqs and interrupts as the kernel's own tracing tells them, so that Perfetto makes
 * its own tracks and tables of them. bundle.c knows the format.
 *
 * A switch names the next thread, and ends the slice before it. So a slice that ends without a switch (in uncovered
 * time, at the end of the recording) is ended by a switch to a made-up thread, in a state that no task can have.
 * Perfetto leaves out the first compact switch of a CPU, and compact wakings before it, for it does not know yet who
 * wakes: those are written in full.
 */
#include <string.h>

#include "report/export/perfetto/state.h"
#include "report/util/array.h"

/* Task states as the kernel reports them since 4.14. */
#define STATE_RUNNABLE 0x00u
#define STATE_PARKED 0x40u
#define STATE_IDLE 0x80u
#define STATE_PREEMPTED 0x100u
/* Two states that exclude each other: Perfetto shows "PI", and neither counts it as running nor as runnable. */
#define STATE_NOT_KNOWN (STATE_PARKED | STATE_IDLE)

#define PRIORITY_USUAL 120u

#define NEWTASK_THREAD 0x10000u /* the kernel's CLONE_THREAD */

/* Bits of common_flags. */
#define IN_HARDIRQ 0x08u
#define IN_SOFTIRQ 0x10u

/* ---- switches ---- */

static void write_first_switch(struct nt_perfetto *trace, uint32_t cpu, int64_t ts, const struct nt_ftrace_task *next)
{
	struct nt_proto *proto = &trace->packets.batch;
	size_t packet, message = nt_bundle_begin(trace, cpu, &packet), marks[2];

	nt_ftrace_begin(trace, proto, ts, 0, NT_FTRACE_SCHED_SWITCH, marks);
	nt_proto_text(proto, NT_SWITCH_PREV_COMM, "swapper");
	nt_proto_uint(proto, NT_SWITCH_PREV_PID, 0);
	nt_proto_uint(proto, NT_SWITCH_PREV_PRIO, PRIORITY_USUAL);
	nt_proto_uint(proto, NT_SWITCH_PREV_STATE, STATE_RUNNABLE);
	nt_proto_text(proto, NT_SWITCH_NEXT_COMM, next->name);
	nt_proto_uint(proto, NT_SWITCH_NEXT_PID, next->tid);
	nt_proto_uint(proto, NT_SWITCH_NEXT_PRIO, next->priority);
	nt_ftrace_end(proto, marks);
	nt_bundle_end(trace, packet, message);
}

static void switch_to(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, int64_t ts,
		      const struct nt_ftrace_task *next)
{
	struct nt_sched *sched = &cpu->sched;

	if (!sched->has_begun) {
		sched->first_ts = ts;
		write_first_switch(trace, cpu->number, ts, next);
	} else {
		nt_bundle_switch(trace, &sched->bundle, ts, sched->state, next);
		nt_bundle_write_if_full(trace, cpu);
	}
	sched->has_begun = true;
}

/* Nobody knows who has the CPU from where the last stay ended. */
static void switch_to_uncovered(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu)
{
	const struct nt_ftrace_task next = {NT_TID_UNCOVERED + cpu->number, PRIORITY_USUAL, "uncovered"};

	switch_to(trace, cpu, cpu->sched.at_ts, &next);
	cpu->sched.state = STATE_NOT_KNOWN;
	cpu->sched.is_others = false;
}

static uint32_t state_of(const char *word)
{
	static const struct {
		char word[3];
		uint16_t state;
	} states[] = {{"R", STATE_RUNNABLE}, {"S", 0x01},      {"D", 0x02}, {"R+", STATE_PREEMPTED},
		      {"T", 0x04},	     {"t", 0x08},      {"X", 0x10}, {"P", STATE_PARKED},
		      {"Z", 0x20},	     {"I", STATE_IDLE}};
	const size_t found = word ? NT_FIRST(NT_COUNT(states), i, !strcmp(word, states[i].word)) : NT_COUNT(states);

	return found < NT_COUNT(states) ? states[found].state : STATE_NOT_KNOWN;
}

/* Stays of processes that were not asked for are one, of a thread that is made up. The idle task is nobody's. */
static void stay_of_others(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, int64_t begin)
{
	const struct nt_ftrace_task next = {NT_TID_OTHERS + cpu->number, PRIORITY_USUAL, "other processes"};

	if (!cpu->sched.is_others)
		switch_to(trace, cpu, begin, &next);
	cpu->sched.is_others = true;
	cpu->sched.state = STATE_NOT_KNOWN;
}

static void stay_of(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, int64_t begin,
		    const struct nt_perfetto_thread *thread)
{
	const struct nt_ftrace_task next = {thread->tid, (uint32_t)thread->priority, thread->name};

	switch_to(trace, cpu, begin, &next);
	cpu->sched.is_others = false;
}

static int take_stay(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, UTID, END_STATE, PRIORITY };
	struct nt_sched *sched = &cpu->sched;
	struct nt_perfetto_thread *thread;
	int64_t begin, end;

	if (!nt_perfetto_clip(trace, nt_integer(values[TS], -1), nt_integer(values[DUR], -1), &begin, &end))
		return 0;
	if (nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (!thread)
		return 0;
	if (begin < sched->at_ts)
		return nt_perfetto_disorder(trace, "sched_slice");
	if (begin > sched->at_ts)
		switch_to_uncovered(trace, cpu);
	thread->priority = (int)nt_integer(values[PRIORITY], thread->priority);
	if (thread->utid && !thread->is_selected) {
		stay_of_others(trace, cpu, begin);
	} else {
		stay_of(trace, cpu, begin, thread);
		sched->state = state_of(nt_text(values[END_STATE], NULL));
		/* The rest of the stay was not asked for. */
		if (nt_integer(values[TS], 0) + nt_integer(values[DUR], 0) > end)
			sched->state = STATE_NOT_KNOWN;
	}
	sched->at_ts = end;
	return 0;
}

/* ---- wakings ---- */

static uint32_t flags_of(const char *context)
{
	return !strcmp(context, "hardirq") ? IN_HARDIRQ : !strcmp(context, "softirq") ? IN_SOFTIRQ : 0;
}

struct waking {
	struct nt_ftrace_task task;
	int64_t ts;
	uint32_t waker_tid, target, flags;
	bool is_new;
};

static void put_in_full(struct nt_perfetto *trace, struct nt_proto *proto, const struct waking *waking)
{
	size_t marks[2];

	nt_ftrace_begin(trace, proto, waking->ts, waking->waker_tid,
			waking->is_new ? NT_FTRACE_SCHED_WAKEUP_NEW : NT_FTRACE_SCHED_WAKING, marks);
	nt_proto_text(proto, NT_WAKEUP_COMM, waking->task.name);
	nt_proto_uint(proto, NT_WAKEUP_PID, waking->task.tid);
	nt_proto_uint(proto, NT_WAKEUP_PRIO, waking->task.priority);
	nt_proto_uint(proto, NT_WAKEUP_TARGET_CPU, waking->target);
	nt_proto_end(proto, marks[1]);
	nt_proto_uint(proto, NT_FTRACE_COMMON_FLAGS, waking->flags);
	nt_proto_end(proto, marks[0]);
}

static void put_waking(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct waking *waking)
{
	struct nt_sched *sched = &cpu->sched;
	const bool is_before_all = !sched->has_begun || waking->ts < sched->first_ts;

	if (waking->is_new || is_before_all)
		put_in_full(trace, &sched->bundle.events, waking);
	else
		nt_bundle_waking(trace, &sched->bundle, waking->ts, &waking->task, waking->target, waking->flags);
	nt_bundle_write_if_full(trace, cpu);
}

static int take_wakeup(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, UTID, TARGET, WAKER, PRIORITY, WHAT, CONTEXT };
	struct nt_perfetto_thread *thread, *waker;
	struct waking waking = {
		.ts = nt_integer(values[TS], -1),
		.target = (uint32_t)nt_integer(values[TARGET], cpu->number) & 0xffff,
		.flags = flags_of(nt_text(values[CONTEXT], "")),
		.is_new = !strcmp(nt_text(values[WHAT], ""), "new"),
	};

	if (!nt_perfetto_has(trace, waking.ts) || !nt_is_there(values[UTID]))
		return 0;
	if (nt_thread_if(trace, values[WAKER], &waker) || nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (!thread->is_selected)
		return 0;
	waking.waker_tid = waker ? waker->tid : 0;
	waking.task.tid = thread->tid;
	waking.task.priority = (uint32_t)nt_integer(values[PRIORITY], thread->priority);
	waking.task.name = thread->name;
	put_waking(trace, cpu, &waking);
	return 0;
}

/* A thread that begins in the recording is runnable from there, and takes over its number from an earlier thread. */
void nt_sched_life(struct nt_perfetto *trace, const struct nt_perfetto_thread *thread, uint32_t source_tid)
{
	struct nt_proto *proto = &trace->packets.batch;
	size_t packet, message = nt_bundle_begin(trace, 0, &packet), marks[2];

	nt_ftrace_begin(trace, proto, thread->start_ts, source_tid, NT_FTRACE_TASK_NEWTASK, marks);
	nt_proto_uint(proto, NT_NEWTASK_PID, thread->tid);
	nt_proto_text(proto, NT_NEWTASK_COMM, thread->name);
	nt_proto_uint(proto, NT_NEWTASK_CLONE_FLAGS, thread->tid == thread->tgid ? 0 : NEWTASK_THREAD);
	nt_ftrace_end(proto, marks);
	nt_bundle_end(trace, packet, message);
}

/* ---- softirqs and interrupts ---- */

/* The part of a row's span that was asked for, and the number of the thread that was on the CPU. */
struct taken {
	int64_t begin, end;
	uint32_t tid;
};

/* 0: *taken is set; 1: nothing of it was asked for; -1: an error. */
static int take_span(struct nt_perfetto *trace, const struct nt_value *ts, const struct nt_value *dur,
		     const struct nt_value *utid, struct taken *taken)
{
	struct nt_perfetto_thread *thread;

	if (!nt_perfetto_clip(trace, nt_integer(ts, -1), nt_integer(dur, -1), &taken->begin, &taken->end))
		return 1;
	if (nt_thread_if(trace, utid, &thread))
		return -1;
	if (trace->selection->process && (!thread || !thread->is_selected))
		return 1;
	taken->tid = thread ? thread->tid : 0;
	return 0;
}

static int vec_of(const char *word)
{
	/* Rows made of a tape have our own texts. */
	size_t vec = NT_FIRST(NT_VEC_COUNT, i, word == nt_vec_name(i));

	if (vec == NT_VEC_COUNT)
		vec = NT_FIRST(NT_VEC_COUNT, i, !strcmp(word, nt_vec_name(i)));
	return vec < NT_VEC_COUNT ? (int)vec : -1;
}

static int take_softirq(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, VEC, UTID };
	const int vec = vec_of(nt_text(values[VEC], ""));
	struct nt_proto *proto = &cpu->sched.bundle.events;
	struct taken taken;
	size_t marks[2];
	int result = take_span(trace, values[TS], values[DUR], values[UTID], &taken);

	if (result || vec < 0)
		return result < 0 ? -1 : 0;
	nt_ftrace_begin(trace, proto, taken.begin, taken.tid, NT_FTRACE_SOFTIRQ_ENTRY, marks);
	nt_proto_uint(proto, NT_SOFTIRQ_VEC, (uint64_t)vec);
	nt_ftrace_end(proto, marks);
	nt_ftrace_begin(trace, proto, taken.end, taken.tid, NT_FTRACE_SOFTIRQ_EXIT, marks);
	nt_proto_uint(proto, NT_SOFTIRQ_VEC, (uint64_t)vec);
	nt_ftrace_end(proto, marks);
	nt_bundle_write_if_full(trace, cpu);
	return 0;
}

static int take_irq(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, IRQ, NAME, UTID };
	const uint64_t irq = (uint64_t)nt_integer(values[IRQ], 0) & INT32_MAX;
	struct nt_proto *proto = &cpu->sched.bundle.events;
	struct taken taken;
	size_t marks[2];
	int result = take_span(trace, values[TS], values[DUR], values[UTID], &taken);

	if (result)
		return result < 0 ? -1 : 0;
	nt_ftrace_begin(trace, proto, taken.begin, taken.tid, NT_FTRACE_IRQ_ENTRY, marks);
	nt_proto_uint(proto, NT_IRQ_IRQ, irq);
	nt_proto_text(proto, NT_IRQ_NAME_TEXT, nt_text(values[NAME], ""));
	nt_ftrace_end(proto, marks);
	nt_ftrace_begin(trace, proto, taken.end, taken.tid, NT_FTRACE_IRQ_EXIT, marks);
	nt_proto_uint(proto, NT_IRQ_IRQ, irq);
	nt_proto_uint(proto, NT_IRQ_RET, 1);
	nt_ftrace_end(proto, marks);
	nt_bundle_write_if_full(trace, cpu);
	return 0;
}

/* The last stay ends with a switch to the idle task, which stays open: queries leave that one out as not finished. */
void nt_sched_finish(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu)
{
	const struct nt_ftrace_task idle = {0, PRIORITY_USUAL, "swapper"};

	if (cpu->sched.has_begun) {
		if (cpu->sched.at_ts < trace->to_ts)
			switch_to_uncovered(trace, cpu);
		switch_to(trace, cpu, trace->to_ts, &idle);
	}
	nt_bundle_write(trace, cpu);
}

const struct nt_perfetto_reader nt_sched_readers[] = {
	{"sched_slice", {"ts", "dur", "utid", "end_state", "priority"}, .take_of_cpu = take_stay},
	{"softirq_slice", {"ts", "dur", "vec", "utid"}, .take_of_cpu = take_softirq},
	{"irq_slice", {"ts", "dur", "irq", "name", "utid"}, .take_of_cpu = take_irq},
	{"sched_wakeup",
	 {"ts", "utid", "target_cpu", "waker_utid", "priority", "what", "context"},
	 .take_of_cpu = take_wakeup},
	{0},
};
