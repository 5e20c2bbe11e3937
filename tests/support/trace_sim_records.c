// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_sim_records.c - the records of a simulation, as the kernel side writes them: loss told ahead of the next
 * record, state records with what is open, and now and then a record that an interrupt holds up. See trace_gen.h.
 */
#include "tests/support/trace_sim.h"

static void write_record(struct sim *sim, struct sim_cpu *cpu, const union nt_any *record)
{
	struct trace_item *item = trace_append(&cpu->ring.items, &cpu->ring.n, &cpu->ring.size);

	item->cpu = sim_number(sim, cpu);
	item->record = *record;
	item->why = cpu->holding ? TRACE_GLUED : NULL;
}

static void note_lost(struct sim_cpu *cpu, const union nt_any *record, uint64_t begin_ns)
{
	struct sim_lost *lost = &cpu->lost[record->record.kind];
	uint64_t end_ns = record->record.end_ns;

	if (!lost->count++) {
		lost->first = lost->last = end_ns;
		lost->begin = 0;
	}
	lost->first = end_ns < lost->first ? end_ns : lost->first;
	lost->last = end_ns > lost->last ? end_ns : lost->last;
	if (begin_ns && (!lost->begin || begin_ns < lost->begin))
		lost->begin = begin_ns;
}

/* Tells what was lost, ahead of the next record. */
void sim_write_lost(struct sim *sim, struct sim_cpu *cpu)
{
	for (unsigned int kind = 0; kind <= NT_NAPI; kind++) {
		struct sim_lost *lost = &cpu->lost[kind];
		union nt_any record = {.as_loss = {.end_ns = sim->now,
						   .kind = NT_LOSS,
						   .lost_kind = (uint8_t)kind,
						   .count = lost->count,
						   .first_ns = lost->first,
						   .last_ns = lost->last,
						   .begin_ns = lost->begin}};

		if (!lost->count)
			continue;
		write_record(sim, cpu, &record);
		lost->count = 0;
		trace_mark(sim->trace, TRACE_LOSS);
		sim->trace->lossless = false;
	}
}

static bool ring_is_full(struct sim *sim, struct sim_cpu *cpu)
{
	/*
	 * Loss between a state record that lists a span as open and the record that says it had ended would be more
	 * than loss can tell: the state record would stay believed.
	 */
	if (cpu->holding)
		return false;
	if (sim->loses && cpu->full_until < sim->now && sim_chance(sim, 2))
		cpu->full_until = sim->now + 1 + sim_below(sim, 8 * sim->step);
	return sim->now < cpu->full_until;
}

/* One record; begin_ns: of the span it tells of, 0: of none. */
void sim_emit(struct sim *sim, struct sim_cpu *cpu, const union nt_any *record, uint64_t begin_ns)
{
	if (!cpu->gate_open || cpu->stopped)
		return;
	if (ring_is_full(sim, cpu)) {
		note_lost(cpu, record, begin_ns);
		return;
	}
	sim_write_lost(sim, cpu);
	write_record(sim, cpu, record);
}

static uint64_t begin_told(const struct true_op *op)
{
	/* A begin before the recording is told as such; what is lost of it began as early as can be said. */
	return op->flags & NT_OP_BEFORE ? 1 : op->begin_ns;
}

void sim_emit_op(struct sim *sim, struct sim_cpu *cpu, size_t place, bool hold)
{
	struct true_op *op = &sim->trace->ops[place];
	union nt_any record = {
		.as_op = {.end_ns = op->end_ns,
			  .kind = NT_OP,
			  .dir = op->dir,
			  .call = op->call,
			  .flags = op->flags,
			  .result = op->result,
			  .dur_ns = op->flags & (NT_OP_BEFORE | NT_OP_NO_BEGIN) ? 0 : op->end_ns - op->begin_ns,
			  .socket = place + 1}};

	op->recorded = op->recorded || (cpu->gate_open && !cpu->stopped);
	if (hold) {
		cpu->holding = true;
		cpu->held = record;
	} else {
		sim_emit(sim, cpu, &record, op->flags & NT_OP_NO_BEGIN ? 0 : begin_told(op));
	}
}

static union nt_any open_record(uint64_t now, enum nt_open_what what, uint8_t detail, uint32_t number,
				uint64_t begin_ns)
{
	return (union nt_any){.as_open = {.end_ns = now,
					  .kind = NT_OPEN,
					  .what = (uint8_t)what,
					  .detail = detail,
					  .number = number,
					  .begin_ns = begin_ns}};
}

static uint8_t list_ops(struct sim *sim, struct sim_cpu *cpu, union nt_any *opens)
{
	struct trace *trace = sim->trace;
	uint8_t n = 0;

	for (int i = 0; i < cpu->task->n_ops; i++) {
		struct true_op *op = &trace->ops[cpu->task->ops[i]];

		opens[n] = open_record(sim->now, NT_OPEN_OP, op->dir, op->call,
				       op->flags & NT_OP_BEFORE ? 0 : op->begin_ns);
		opens[n].as_open.flags = op->flags;
		opens[n++].as_open.socket = cpu->task->ops[i] + 1;
		if (cpu->gate_open && !cpu->stopped) {
			op->recorded = true;
			op->end_ns = sim->now;
		}
	}
	/* One that has ended, but whose end is not noted yet. */
	if (cpu->holding && cpu->hold_listed && cpu->held.record.kind == NT_OP) {
		const struct nt_op *op = &cpu->held.as_op;

		opens[n] = open_record(sim->now, NT_OPEN_OP, op->dir, op->call,
				       op->flags & NT_OP_BEFORE ? 0 : op->end_ns - op->dur_ns);
		opens[n].as_open.flags = op->flags;
		opens[n++].as_open.socket = op->socket;
		trace_mark(trace, TRACE_STALE_OPEN);
	}
	return n;
}

/* The spans open now, outermost first. */
static uint8_t list_open(struct sim *sim, struct sim_cpu *cpu, union nt_any *opens)
{
	const struct sim_task *task = cpu->task;
	uint8_t n = list_ops(sim, cpu, opens);

	if (task->in_softirq)
		opens[n++] = open_record(sim->now, NT_OPEN_SOFTIRQ, task->vec, task->context, task->softirq_begin);
	if (cpu->holding && cpu->hold_listed && cpu->held.record.kind == NT_SOFTIRQ) {
		opens[n++] =
			open_record(sim->now, NT_OPEN_SOFTIRQ, cpu->held.as_softirq.vec, cpu->held.as_softirq.context,
				    cpu->held.as_softirq.end_ns - cpu->held.as_softirq.dur_ns);
		trace_mark(sim->trace, TRACE_STALE_OPEN);
	}
	if (cpu->irq_depth) {
		opens[n++] = open_record(sim->now, NT_OPEN_IRQ, cpu->irq_type, cpu->irq_number, cpu->irq_begin);
		trace_mark(sim->trace, TRACE_IRQ_AT_STATE);
	}
	return n;
}

/* A state record with its OPEN records: all are written, or none; or, in some traces, any of them. */
void sim_emit_state(struct sim *sim, struct sim_cpu *cpu, union nt_any *state)
{
	union nt_any opens[NT_MAX_OPEN];
	uint8_t n = list_open(sim, cpu, opens);
	uint64_t begin_ns[NT_MAX_OPEN + 1] = {0}; /* the last: the least of those that the state record speaks of */
	bool full;

	state->as_state.n_open = n; /* at the same place in a switch */
	if (!cpu->gate_open || cpu->stopped)
		return;
	for (uint8_t i = 0; i < n; i++) {
		begin_ns[i] = opens[i].as_open.begin_ns ? opens[i].as_open.begin_ns : 1;
		if (!begin_ns[n] || begin_ns[i] < begin_ns[n])
			begin_ns[n] = begin_ns[i];
	}
	full = ring_is_full(sim, cpu);
	if (!full && !sim->loses_parts)
		sim_write_lost(sim, cpu);
	for (uint8_t i = 0; i <= n; i++) {
		const union nt_any *record = i < n ? &opens[i] : state;

		if (sim->loses_parts)
			sim_emit(sim, cpu, record, begin_ns[i]);
		else if (full)
			note_lost(cpu, record, begin_ns[i]);
		else
			write_record(sim, cpu, record);
	}
	if (sim->loses_parts)
		trace_mark(sim->trace, TRACE_LOSS_OF_PART);
}

void sim_emit_plain_state(struct sim *sim, struct sim_cpu *cpu, enum nt_state_reason reason)
{
	union nt_any state = {
		.as_state = {.end_ns = sim->now, .kind = NT_STATE, .reason = (uint8_t)reason, .task = cpu->task->id}};

	if (reason == NT_STATE_PERIODIC && cpu->task->n_ops)
		trace_mark(sim->trace, TRACE_PERIODIC_IN_OP);
	sim_emit_state(sim, cpu, &state);
	/* State records are far apart: a second one does not come before the held record is written. */
	cpu->hold_listed = false;
}

void sim_release_held(struct sim *sim, struct sim_cpu *cpu)
{
	if (!cpu->holding)
		return;
	cpu->holding = false;
	cpu->full_until = sim->now;
	if (cpu->held.record.end_ns < sim->now)
		trace_mark(sim->trace, TRACE_ORDER_INVERTED);
	if (cpu->held.record.kind == NT_OP)
		sim_emit(sim, cpu, &cpu->held, begin_told(&sim->trace->ops[cpu->held.as_op.socket - 1]));
	else
		sim_emit(sim, cpu, &cpu->held, cpu->held.as_softirq.end_ns - cpu->held.as_softirq.dur_ns);
}
