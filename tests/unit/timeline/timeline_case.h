/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline_case.h - traces written by hand, record by record, and rows as text: for timeline_test.c and
 * timeline_loss_test.c.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/trace_gen.h"

#define MAX_ITEMS 64
#define NO_TASK NT_NO_TASK

/* A trace of up to three CPUs, the session being 100 to 200 unless set otherwise. */
static struct {
	struct trace_item items[MAX_ITEMS];
	size_t n;
	uint8_t present[3], online[3];
	struct nt_timeline_config config;
	struct rows rows;
} t;

static inline int begin(void **state)
{
	(void)state;
	rows_release(&t.rows);
	memset(&t, 0, sizeof(t));
	t.present[0] = t.online[0] = 1;
	t.config = (struct nt_timeline_config){.start_ns = 100,
					       .end_ns = 200,
					       .n_cpus = 3,
					       .present = t.present,
					       .online = t.online,
					       .is_main_of = trace_is_main_of,
					       .is_napi = trace_is_napi};
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	rows_release(&t.rows);
	return 0;
}

static inline union nt_any *add(uint32_t cpu, enum nt_kind kind, uint64_t end_ns)
{
	struct trace_item *item = &t.items[t.n++];

	assert_true(t.n <= MAX_ITEMS);
	item->cpu = cpu;
	item->record.record.kind = (uint8_t)kind;
	item->record.record.end_ns = end_ns;
	return &item->record;
}

static inline void start(uint32_t cpu, uint64_t end_ns, uint64_t task)
{
	union nt_any *record = add(cpu, NT_STATE, end_ns);

	record->as_state.reason = NT_STATE_START;
	record->as_state.task = task;
	t.present[cpu] = t.online[cpu] = 1;
}

static inline struct nt_state *state(uint32_t cpu, uint64_t end_ns, uint64_t task, uint8_t n_open)
{
	struct nt_state *record = &add(cpu, NT_STATE, end_ns)->as_state;

	record->reason = NT_STATE_PERIODIC;
	record->task = task;
	record->n_open = n_open;
	return record;
}

static inline void stop(uint32_t cpu, uint64_t end_ns, uint64_t task, uint8_t n_open)
{
	state(cpu, end_ns, task, n_open)->reason = NT_STATE_STOP;
}

static inline struct nt_switch *change(uint32_t cpu, uint64_t end_ns, uint64_t prev, uint64_t next, uint8_t n_open)
{
	struct nt_switch *record = &add(cpu, NT_SWITCH, end_ns)->as_switch;

	record->prev = prev;
	record->next = next;
	record->n_open = n_open;
	record->prev_prio = 120;
	record->prev_state = 1;
	return record;
}

static inline struct nt_open *open_op(uint32_t cpu, uint64_t end_ns, enum nt_op_dir dir, uint64_t begin_ns,
				      uint64_t socket)
{
	struct nt_open *record = &add(cpu, NT_OPEN, end_ns)->as_open;

	record->what = NT_OPEN_OP;
	record->detail = (uint8_t)dir;
	record->begin_ns = begin_ns;
	record->socket = socket;
	return record;
}

static inline void open_softirq(uint32_t cpu, uint64_t end_ns, uint8_t vec, uint64_t begin_ns)
{
	struct nt_open *record = &add(cpu, NT_OPEN, end_ns)->as_open;

	record->what = NT_OPEN_SOFTIRQ;
	record->detail = vec;
	record->begin_ns = begin_ns;
}

static inline struct nt_op *op(uint32_t cpu, uint64_t begin_ns, uint64_t end_ns, enum nt_op_dir dir, uint64_t socket)
{
	struct nt_op *record = &add(cpu, NT_OP, end_ns)->as_op;

	record->dir = (uint8_t)dir;
	record->dur_ns = end_ns - begin_ns;
	record->socket = socket;
	record->result = 7;
	return record;
}

static inline struct nt_softirq *softirq(uint32_t cpu, uint64_t begin_ns, uint64_t end_ns, uint8_t vec)
{
	struct nt_softirq *record = &add(cpu, NT_SOFTIRQ, end_ns)->as_softirq;

	record->vec = vec;
	record->context = NT_SOFTIRQ_BH_ENABLE;
	record->dur_ns = end_ns - begin_ns;
	return record;
}

static inline struct nt_napi *poll_device(uint32_t cpu, uint64_t begin_ns, uint64_t end_ns,
					  enum nt_napi_context context)
{
	struct nt_napi *napi = &add(cpu, NT_NAPI, end_ns)->as_napi;

	napi->context = (uint8_t)context;
	napi->dur_ns = end_ns - begin_ns;
	napi->work = 3;
	napi->budget = 64;
	return napi;
}

static inline struct nt_irq *irq(uint32_t cpu, uint64_t begin_ns, uint64_t end_ns)
{
	struct nt_irq *record = &add(cpu, NT_IRQ, end_ns)->as_irq;

	record->type = NT_IRQ_VECTOR;
	record->number = 236;
	record->dur_ns = end_ns - begin_ns;
	return record;
}

static inline struct nt_loss *loss(uint32_t cpu, enum nt_kind kind, uint64_t first_ns, uint64_t last_ns,
				   uint64_t begin_ns)
{
	struct nt_loss *record = &add(cpu, NT_LOSS, last_ns + 1)->as_loss;

	record->lost_kind = (uint8_t)kind;
	record->count = 3;
	record->first_ns = first_ns;
	record->last_ns = last_ns;
	record->begin_ns = begin_ns;
	return record;
}

static inline void gap(uint32_t cpu, uint64_t resume_ns, uint64_t task)
{
	t.items[t.n++] = (struct trace_item){
		.cpu = cpu, .is_gap = true, .resume_ns = resume_ns, .task = task, .why = "missing block"};
}

static inline void hotplug(uint32_t cpu, uint64_t end_ns, uint8_t online)
{
	add(cpu, NT_HOTPLUG, end_ns)->as_hotplug.online = online;
}

/* ---- answers as text ---- */

static char text[4096];

static inline void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, sizeof(text) - length, format, args);
	va_end(args);
}

static inline const char *task_text(uint64_t task)
{
	static char number[24];

	snprintf(number, sizeof(number), task == NT_NO_TASK ? "?" : "%llu", (unsigned long long)task);
	return number;
}

#define U(field) ((unsigned long long)f[field])

/* Slices of all CPUs, each as the time until which it lasts. */
static inline void say_cpu_slice(const uint64_t *f)
{
	const char *owner = nt_owner_name((enum nt_owner)f[CPU_SLICE_OWNER]);

	if (f[ROW_TS] == t.config.start_ns)
		say("[cpu %llu] ", U(CPU_SLICE_CPU));
	if (f[CPU_SLICE_TASK] == NT_NO_TASK)
		say("%s ..%llu ", owner, U(ROW_TS) + U(ROW_DUR));
	else
		say("%s %llu ..%llu ", owner, U(CPU_SLICE_TASK), U(ROW_TS) + U(ROW_DUR));
}

static inline void say_rx_part(const uint64_t *f)
{
	say("%llu+%llu cpu %llu run %llu; ", U(ROW_TS), U(ROW_DUR), U(RX_PART_CPU), U(RX_PART_RUN));
}

static inline void say_irq_part(const uint64_t *f)
{
	say("%llu+%llu cpu %llu irq %llu; ", U(ROW_TS), U(ROW_DUR), U(IRQ_PART_CPU), U(IRQ_PART_IRQ) & UINT32_MAX);
}

static inline void say_sched_slice(const uint64_t *f)
{
	say("cpu %llu %llu+%llu task %llu%s; ", U(SCHED_CPU), U(ROW_TS), U(ROW_DUR), U(SCHED_TASK),
	    f[SCHED_BY_SWITCH] ? " switched" : "");
	if (f[SCHED_BY_SWITCH])
		assert_int_equal(f[SCHED_PRIORITY], 120);
	else
		assert_true(f[SCHED_PRIORITY] == 0 && f[SCHED_STATE] == 0);
}

static inline void say_span(const uint64_t *f)
{
	say("%llu+%llu task %s %llu/%llu%s; ", U(ROW_TS), U(ROW_DUR), task_text(f[SPAN_TASK]), U(SPAN_DETAIL),
	    U(SPAN_NUMBER), f[SPAN_STILL_OPEN] ? " open" : "");
}

static inline void say_op(const uint64_t *f)
{
	static const char *const ends[] = {"done", "open", "exit", "abandoned"};

	say("%llu: %llu+%llu cost %llu task %s %s%s%s%s; ", U(OP_SOCKET), U(ROW_TS), U(ROW_DUR), U(OP_CPU_NS),
	    task_text(f[OP_TASK]), ends[f[OP_END]], f[OP_TIMED] ? "" : " untimed", f[OP_BEFORE] ? " before" : "",
	    f[OP_LOWER_BOUND] ? " at least" : "");
	assert_int_equal(f[OP_RESULT], f[OP_END] == NT_OP_DONE ? 7 : 0);
}

static inline void say_napi(const uint64_t *f)
{
	say("%llu+%llu cpu %llu task %llu context %llu work %llu%s; ", U(ROW_TS), U(ROW_DUR), U(NAPI_CPU), U(NAPI_TASK),
	    U(NAPI_CONTEXT), U(NAPI_WORK), f[NAPI_TIMED] ? "" : " no begin");
}

static inline void say_loss(const uint64_t *f)
{
	say("cpu %llu %llu+%llu kind %llu count %llu; ", U(LOSS_CPU), U(ROW_TS), U(ROW_DUR), U(LOSS_KIND),
	    U(LOSS_COUNT));
}

static inline void expect(enum row_kind kind, const char *answer)
{
	void (*const sayers[])(const uint64_t *) = {say_cpu_slice, say_rx_part, say_irq_part, say_sched_slice, say_span,
						    say_span,	   say_op,	say_napi,     say_loss};

	_Static_assert(sizeof(sayers) / sizeof(sayers[0]) == ROW_KINDS, "one for each kind");

	text[0] = 0;
	for (size_t i = 0; i < t.rows.n[kind]; i++)
		sayers[kind](t.rows.rows[kind][i].field);
	assert_string_equal(text, answer);
}

/* Tells the timeline and the model; of the timeline, cpu_slice by CPU, the rest by time. */
static inline void tell(void)
{
	struct rows model = {0};
	struct nt_timeline_sink sink = rows_sink(&t.rows), model_sink = rows_sink(&model);
	struct row *slices;
	size_t n = 0;

	assert_int_equal(timeline_run(&t.config, t.items, t.n, &sink, &t.rows.counts), 0);
	timeline_model_run(&t.config, t.items, t.n, &model_sink, &model.counts);
	assert_true(rows_conserve(&t.rows, &t.config, stderr));
	rows_sort(&t.rows);
	rows_sort(&model);
	assert_true(rows_equal(&t.rows, "timeline", &model, "model", stderr));
	rows_release(&model);
	slices = calloc(t.rows.n[ROW_CPU_SLICE] + 1, sizeof(*slices));
	assert_non_null(slices);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		for (size_t i = 0; i < t.rows.n[ROW_CPU_SLICE]; i++) {
			if (t.rows.rows[ROW_CPU_SLICE][i].field[CPU_SLICE_CPU] == cpu)
				slices[n++] = t.rows.rows[ROW_CPU_SLICE][i];
		}
	}
	if (n)
		memcpy(t.rows.rows[ROW_CPU_SLICE], slices, n * sizeof(*slices));
	free(slices);
}

static inline void expect_counts(uint64_t undeclared, uint64_t clamped, uint64_t malformed)
{
	assert_int_equal(t.rows.counts.undeclared, undeclared);
	assert_int_equal(t.rows.counts.clamped, clamped);
	assert_int_equal(t.rows.counts.malformed, malformed);
}

#define CASE(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
