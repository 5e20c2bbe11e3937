// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_sim.c - CPUs, tasks, softirqs, interrupts and operations, as far as the timeline can tell them apart. See
 * trace_gen.h. One CPU acts at a time, the one whose next action is due first.
 */
#include <stdlib.h>
#include <string.h>

#include "schema/kind.h"
#include "tests/support/trace_sim.h"

#define NEVER UINT64_MAX

/* ---- the truth ---- */

static enum nt_owner true_owner(const struct sim *sim, const struct sim_cpu *cpu)
{
	const struct sim_task *task = cpu->task;

	if (!cpu->online)
		return NT_OWNER_OFFLINE;
	if (cpu->irq_depth)
		return NT_OWNER_HARDIRQ;
	if (task->in_softirq)
		return task->vec == NT_VEC_NET_RX   ? NT_OWNER_NET_RX
		       : task->vec == NT_VEC_NET_TX ? NT_OWNER_NET_TX
						    : NT_OWNER_SOFTIRQ;
	if (task->polling)
		return NT_OWNER_NET_RX;
	if (task->n_ops)
		return sim->trace->ops[task->ops[task->n_ops - 1]].dir == NT_SEND ? NT_OWNER_SEND : NT_OWNER_RECV;
	if (trace_is_napi(NULL, task->id))
		return NT_OWNER_NET_RX;
	return task->id ? NT_OWNER_TASK : NT_OWNER_IDLE;
}

/* Writes down who had the CPU from its last action to now. */
static void account(struct sim *sim, struct sim_cpu *cpu)
{
	struct trace *trace = sim->trace;
	uint32_t number = sim_number(sim, cpu);
	enum nt_owner owner = true_owner(sim, cpu);

	for (; cpu->done_ns < sim->now && cpu->done_ns < TRACE_END_NS; cpu->done_ns++) {
		uint64_t ns = cpu->done_ns;

		trace->owner[number][ns] = owner;
		trace->task[number][ns] = cpu->online ? cpu->task->id : NT_NO_TASK;
		if (owner == NT_OWNER_SEND || owner == NT_OWNER_RECV) {
			struct true_op *op = &trace->ops[cpu->task->ops[cpu->task->n_ops - 1]];

			op->cpu_ns += ns >= trace->config.start_ns && ns < trace->config.end_ns;
			if (op->cpu != number && op->cpu != UINT32_MAX)
				trace_mark(trace, TRACE_OP_MIGRATED);
			op->cpu = number;
		}
	}
}

/* ---- interrupts and softirqs ---- */

static void begin_irq(struct sim *sim, struct sim_cpu *cpu)
{
	if (cpu->irq_depth++) {
		trace_mark(sim->trace, TRACE_NESTED_IRQ);
		return;
	}
	cpu->irq_begin = sim->now;
	cpu->irq_type = sim_chance(sim, 50) ? NT_IRQ_DEVICE : NT_IRQ_VECTOR;
	cpu->irq_number = (uint32_t)sim_below(sim, 300);
}

static void begin_softirq(struct sim *sim, struct sim_cpu *cpu, enum nt_softirq_context context)
{
	struct sim_task *task = cpu->task;
	static const uint8_t vecs[] = {NT_VEC_NET_RX, NT_VEC_NET_RX, NT_VEC_NET_TX, 1, 7, 9};

	task->in_softirq = true;
	task->vec = vecs[sim_below(sim, sizeof(vecs))];
	task->context = (uint8_t)context;
	task->softirq_begin = sim->now;
	task->pinned = (int)sim_number(sim, cpu);
	if (task->n_ops)
		trace_mark(sim->trace, TRACE_SOFTIRQ_IN_OP);
}

static void end_softirq(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_task *task = cpu->task;
	union nt_any record = {.as_softirq = {.end_ns = sim->now,
					      .kind = NT_SOFTIRQ,
					      .vec = task->vec,
					      .context = task->context,
					      .dur_ns = sim->now - task->softirq_begin}};

	task->in_softirq = false;
	task->pinned = -1;
	if (sim->inverts && sim->now > task->softirq_begin && sim_chance(sim, 10)) {
		cpu->holding = true;
		cpu->held = record;
		cpu->hold_listed = sim_chance(sim, 70);
		cpu->full_until = sim->now;
		return;
	}
	sim_emit(sim, cpu, &record, task->softirq_begin);
	if (sim_chance(sim, 20))
		begin_softirq(sim, cpu, (enum nt_softirq_context)task->context);
}

static void end_irq(struct sim *sim, struct sim_cpu *cpu)
{
	union nt_any record = {.as_irq = {.end_ns = sim->now,
					  .kind = NT_IRQ,
					  .type = cpu->irq_type,
					  .number = cpu->irq_number,
					  .dur_ns = sim->now - cpu->irq_begin}};

	if (--cpu->irq_depth)
		return;
	sim_emit(sim, cpu, &record, cpu->irq_begin);
	if (cpu->holding) {
		if (cpu->hold_listed && !cpu->task->polling && sim_chance(sim, 60))
			sim_emit_plain_state(sim, cpu, NT_STATE_PERIODIC);
		sim_release_held(sim, cpu);
	} else if (!cpu->task->in_softirq && sim_chance(sim, 40)) {
		begin_softirq(sim, cpu, NT_SOFTIRQ_IRQ_EXIT);
	}
}

/* ---- operations ---- */

/* Two operations of a task cannot begin within one ns. */
static bool may_begin_op(const struct sim *sim, const struct sim_task *task)
{
	return task->op_begin < sim->now;
}

static void begin_op(struct sim *sim, struct sim_task *task, uint8_t dir)
{
	struct trace *trace = sim->trace;

	if ((trace->n_ops & (trace->n_ops - 1)) == 0)
		trace->ops = realloc(trace->ops, (trace->n_ops ? 2 * trace->n_ops : 1) * sizeof(*trace->ops));
	if (!trace->ops)
		abort();
	trace->ops[trace->n_ops] = (struct true_op){.task = task->id,
						    .begin_ns = sim->now,
						    .end_ns = sim->now,
						    .dir = dir,
						    .call = (uint8_t)sim_below(sim, NT_CALL_MAX),
						    .flags = sim->now < sim->attach_ns ? NT_OP_BEFORE : 0,
						    .end = NT_OP_OPEN,
						    .cpu = UINT32_MAX};
	if (task->n_ops)
		trace_mark(trace, TRACE_NESTED_OP);
	task->op_begin = sim->now;
	task->ops[task->n_ops++] = trace->n_ops++;
}

static void end_op(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_task *task = cpu->task;
	size_t place = task->ops[--task->n_ops];
	struct true_op *op = &sim->trace->ops[place];
	bool hold = sim->inverts && sim->now > op->begin_ns && sim_chance(sim, 10);

	op->end = NT_OP_DONE;
	op->end_ns = sim->now;
	op->result = (int32_t)sim_below(sim, 2000) - 600;
	if (op->flags & NT_OP_BEFORE)
		trace_mark(sim->trace, TRACE_OP_BEFORE);
	cpu->hold_listed = sim_chance(sim, 70);
	sim_emit_op(sim, cpu, place, hold);
	/* The next message of a batch. */
	if (!hold && sim->now >= sim->attach_ns && may_begin_op(sim, task) && sim_chance(sim, 30)) {
		begin_op(sim, task, op->dir);
		trace_mark(sim->trace, TRACE_OP_BATCH);
	}
}

/* An operation of which only the end is known: it has no time of its own. */
static void point_op(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_task nobody = {.id = cpu->task->in_softirq ? NT_NO_TASK : cpu->task->id};
	struct true_op *op;

	begin_op(sim, &nobody, (uint8_t)(1 + sim_below(sim, 2)));
	op = &sim->trace->ops[nobody.ops[0]];
	op->end = NT_OP_DONE;
	op->flags = NT_OP_NO_BEGIN;
	if (cpu->task->in_softirq) {
		op->flags |= NT_OP_IN_SOFTIRQ;
		trace_mark(sim->trace, TRACE_OP_IN_SOFTIRQ);
	}
	trace_mark(sim->trace, TRACE_NO_BEGIN);
	sim_emit_op(sim, cpu, nobody.ops[0], false);
}

/* ---- polls ---- */

/* `begin`: of the poll, NEVER: not known. */
static void emit_poll(struct sim *sim, struct sim_cpu *cpu, enum nt_napi_context context, uint64_t begin)
{
	union nt_any record = {.as_napi = {.end_ns = sim->now,
					   .kind = NT_NAPI,
					   .context = (uint8_t)context,
					   .flags = begin == NEVER ? NT_SPAN_NO_BEGIN : 0,
					   .dur_ns = begin == NEVER ? 0 : sim->now - begin,
					   .napi_id = (uint32_t)sim_below(sim, 3),
					   .device = sim_below(sim, 3),
					   .work = (uint32_t)sim_below(sim, 65),
					   .budget = 64}};

	trace_mark(sim->trace, context == NT_NAPI_BUSY ? TRACE_BUSY_POLL : TRACE_POLL);
	sim_emit(sim, cpu, &record, begin == NEVER ? 0 : begin);
}

static void begin_poll(struct sim *sim, struct sim_task *task)
{
	task->polling = true;
	task->poll_begin = sim->now;
	if (task->n_ops)
		trace_mark(sim->trace, TRACE_BUSY_POLL_IN_OP);
}

static void end_poll(struct sim *sim, struct sim_cpu *cpu)
{
	cpu->task->polling = false;
	emit_poll(sim, cpu, NT_NAPI_BUSY, cpu->task->poll_begin);
}

/* One whose begin nothing tells, or that needs none since its time is a softirq's or a thread's anyway. */
static void point_poll(struct sim *sim, struct sim_cpu *cpu)
{
	enum nt_napi_context context = cpu->task->in_softirq		    ? NT_NAPI_SOFTIRQ
				       : trace_is_napi(NULL, cpu->task->id) ? NT_NAPI_THREAD
									    : NT_NAPI_BUSY;
	bool known = context != NT_NAPI_BUSY && sim_chance(sim, 70);

	if (context == NT_NAPI_THREAD)
		trace_mark(sim->trace, TRACE_NAPI_THREAD);
	emit_poll(sim, cpu, context, !known ? NEVER : sim->now - sim_below(sim, sim->now < 5 ? sim->now : 5));
}

/* ---- tasks ---- */

static struct sim_task *pick_next(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_task *found = &cpu->idle;

	for (int i = 0; i < sim->n_tasks; i++) {
		struct sim_task *task = &sim->tasks[i];
		bool ready = task->state == RUNNABLE || (task->state == SLEEPING && task->wake_ns <= sim->now);

		if (task->state == LEAVING && task != cpu->task && sim_chance(sim, 70))
			ready = true;
		if (task == cpu->task || !ready || (task->pinned >= 0 && task->pinned != (int)sim_number(sim, cpu)))
			continue;
		if (found == &cpu->idle || sim_chance(sim, 50))
			found = task;
	}
	return found;
}

/* The CPUs' clocks differ a little: this one already has the task that another still shows for some ns. */
static void take_leaving(struct sim *sim, const struct sim_cpu *taker, const struct sim_task *task)
{
	for (int i = 0; i < TRACE_CPUS; i++) {
		struct sim_cpu *cpu = &sim->cpus[i];

		if (cpu->exists && cpu != taker && cpu->task == task)
			cpu->rival = true;
	}
	trace_mark(sim->trace, TRACE_CLOCKS_DIFFER);
}

/* An operation may end unseen while its task is away, or at once when it comes back. */
static void come_back(struct sim *sim, struct sim_task *task)
{
	if (!task->n_ops || task->in_softirq || sim->now < sim->attach_ns || !sim_chance(sim, 5))
		return;
	sim->trace->ops[task->ops[--task->n_ops]].end = NT_OP_ABANDONED;
	trace_mark(sim->trace, TRACE_OP_ABANDONED);
}

static void leave_cpu(struct sim *sim, struct sim_cpu *cpu, struct sim_task *prev, enum sim_state state)
{
	for (int i = 0; i < prev->n_ops && state != DEAD; i++)
		trace_mark(sim->trace, state == SLEEPING ? TRACE_OP_BLOCKED : TRACE_OP_PREEMPTED);
	for (int i = 0; i < prev->n_ops && state == DEAD; i++) {
		sim->trace->ops[prev->ops[i]].end = NT_OP_EXIT;
		sim->trace->ops[prev->ops[i]].end_ns = sim->now;
		trace_mark(sim->trace, TRACE_OP_EXIT);
	}
	if (prev->in_softirq)
		trace_mark(sim->trace, TRACE_SOFTIRQ_PREEMPTED);
	if (prev == &cpu->idle || cpu->rival)
		return;
	prev->state = state;
	prev->wake_ns = sim->now + sim_below(sim, 12 * sim->step);
	if (state == DEAD)
		prev->n_ops = 0;
}

static void do_switch(struct sim *sim, struct sim_cpu *cpu, enum sim_state prev_state)
{
	struct sim_task *prev = cpu->task, *next = pick_next(sim, cpu);
	union nt_any record = {.as_switch = {.end_ns = sim->now,
					     .kind = NT_SWITCH,
					     .prev_prio = (uint8_t)sim_below(sim, 140),
					     .prev = prev->id,
					     .next = next->id}};

	if (next == prev)
		return;
	record.as_switch.prev_state = prev_state == DEAD       ? 0x80
				      : prev_state == SLEEPING ? 1 + (uint32_t)sim_below(sim, 2)
				      : sim_chance(sim, 50)    ? NT_SWITCH_PREEMPTED | (uint32_t)sim_below(sim, 256)
							       : 0;
	sim_emit_state(sim, cpu, &record);
	if (cpu->next_ns == sim->now)
		cpu->next_ns++;
	leave_cpu(sim, cpu, prev, prev_state);
	cpu->leaving = cpu->rival = false;
	if (next->state == LEAVING && next != &cpu->idle) {
		take_leaving(sim, cpu, next);
		/* Nothing happens to it here while the other CPU still shows it. */
		cpu->next_ns = sim->now + 5;
	} else {
		come_back(sim, next);
	}
	cpu->task = next;
	if (next != &cpu->idle)
		next->state = RUNNING;
}

/* A thread executes a program: it becomes its process's main thread. */
static void do_exec(struct sim *sim, struct sim_task *task)
{
	uint64_t main_id = task->id / 10 * 10;

	if (task->id == main_id || task->n_ops || trace_is_napi(NULL, task->id))
		return;
	for (int i = 0; i < sim->n_tasks; i++) {
		struct sim_task *main = &sim->tasks[i];

		if (main->id != main_id)
			continue;
		if (main->state == RUNNING || main->state == LEAVING || main->n_ops || main->in_softirq)
			return;
		main->state = DEAD;
		main->id = NT_NO_TASK;
	}
	task->id = main_id;
	trace_mark(sim->trace, TRACE_EXEC);
}

/* ---- hotplug ---- */

static void emit_hotplug(struct sim *sim, struct sim_cpu *cpu, bool online)
{
	union nt_any record = {.as_hotplug = {.end_ns = sim->now, .kind = NT_HOTPLUG, .online = online}};

	sim_emit(sim, cpu, &record, 0);
}

static void go_offline(struct sim *sim, struct sim_cpu *cpu)
{
	int n = 0;

	for (int i = 0; i < sim->n_tasks; i++) {
		if (sim->tasks[i].pinned == (int)sim_number(sim, cpu))
			return;
	}
	for (int i = 0; i < TRACE_CPUS; i++)
		n += sim->cpus[i].exists && sim->cpus[i].online;
	if (n < 2)
		return;
	emit_hotplug(sim, cpu, false);
	cpu->online = false;
	cpu->next_ns = sim->now + 1 + sim_below(sim, 60 * sim->step);
	trace_mark(sim->trace, TRACE_HOTPLUG);
}

/* It works for a while before its ring does. */
static void come_online(struct sim *sim, struct sim_cpu *cpu)
{
	bool was_open = cpu->gate_open;

	if (sim->now < sim->trace->config.start_ns)
		return;
	cpu->gate_open = true;
	emit_hotplug(sim, cpu, true);
	cpu->online = true;
	cpu->gate_open = false;
	cpu->gate_ns = sim->now + sim_below(sim, 4 * sim->step);
	if (!was_open)
		trace_mark(sim->trace, TRACE_STARTS_OFFLINE);
}

/* ---- what a CPU does next ---- */

static void act_in_irq(struct sim *sim, struct sim_cpu *cpu)
{
	if (cpu->irq_depth < 3 && sim_chance(sim, 20))
		begin_irq(sim, cpu);
	else if (!cpu->task->polling && sim_chance(sim, 5))
		sim_emit_plain_state(sim, cpu, NT_STATE_PERIODIC);
	else
		end_irq(sim, cpu);
}

static void act_in_softirq(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t dice = sim_below(sim, 100);

	if (dice < 25)
		begin_irq(sim, cpu);
	else if (dice < 32)
		point_op(sim, cpu);
	else if (dice < 36 && !cpu->task->polling)
		sim_emit_plain_state(sim, cpu, NT_STATE_PERIODIC);
	else if (dice < 40 && sim->polls)
		point_poll(sim, cpu);
	else if (dice < 50 && sim->rt && cpu->task != &cpu->idle && !cpu->task->polling)
		do_switch(sim, cpu, RUNNABLE);
	else
		end_softirq(sim, cpu);
}

static void act_idle(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t dice = sim_below(sim, 100);

	if (dice < 35)
		begin_irq(sim, cpu);
	else if (dice < 45)
		begin_softirq(sim, cpu, NT_SOFTIRQ_UNKNOWN);
	else if (dice < 49 && sim->plugs && sim->now >= sim->trace->config.start_ns)
		go_offline(sim, cpu);
	else if (dice < 52)
		sim_emit_plain_state(sim, cpu, NT_STATE_PERIODIC);
	else
		do_switch(sim, cpu, RUNNABLE);
}

static void act_leave(struct sim *sim, struct sim_cpu *cpu)
{
	if (sim->clocks_differ && sim_chance(sim, 50)) {
		cpu->leaving = true;
		cpu->task->state = LEAVING;
		cpu->next_ns = sim->now + 1 + sim_below(sim, 3);
		return;
	}
	do_switch(sim, cpu, RUNNABLE);
}

/*
 * A state record in the middle of a poll would take its first part from it: the timeline knows no open polls. Writers
 * may do so; then that part is the task's (the model knows). Here it is avoided, so that there is one truth.
 */
static void act_in_poll(struct sim *sim, struct sim_cpu *cpu)
{
	uint64_t dice = sim_below(sim, 100);

	if (dice < 15)
		begin_irq(sim, cpu);
	else if (dice < 30)
		begin_softirq(sim, cpu, NT_SOFTIRQ_BH_ENABLE);
	else
		end_poll(sim, cpu);
}

static void act_in_task(struct sim *sim, struct sim_cpu *cpu)
{
	struct sim_task *task = cpu->task;
	uint64_t dice = sim_below(sim, 100);
	int depth = sim->now < sim->attach_ns ? 1 : MAX_DEPTH;

	if (dice < 15)
		begin_irq(sim, cpu);
	else if (dice < 21 && sim->polls)
		begin_poll(sim, task);
	else if (dice < 27)
		begin_softirq(sim, cpu,
			      task->n_ops ? NT_SOFTIRQ_BH_ENABLE : (enum nt_softirq_context)sim_below(sim, 4));
	else if (dice < 50 && task->n_ops < depth && may_begin_op(sim, task))
		begin_op(sim, task, (uint8_t)(1 + sim_below(sim, 2)));
	else if (dice < 70 && task->n_ops)
		end_op(sim, cpu);
	else if (dice < 82)
		do_switch(sim, cpu, SLEEPING);
	else if (dice < 90)
		act_leave(sim, cpu);
	else if (dice < 92 && sim->dies)
		do_switch(sim, cpu, DEAD);
	else if (dice < 94 && sim->execs)
		do_exec(sim, task);
	else if (dice < 95 && sim->polls)
		point_poll(sim, cpu);
	else if (dice < 96)
		point_op(sim, cpu);
	else
		sim_emit_plain_state(sim, cpu, NT_STATE_PERIODIC);
}

static void act(struct sim *sim, struct sim_cpu *cpu)
{
	cpu->next_ns = sim->now + sim_below(sim, 2 * sim->step);
	if (!cpu->online)
		come_online(sim, cpu);
	else if (cpu->irq_depth)
		act_in_irq(sim, cpu);
	else if (cpu->holding)
		begin_irq(sim, cpu);
	else if (cpu->leaving)
		do_switch(sim, cpu, RUNNABLE);
	else if (cpu->task->in_softirq)
		act_in_softirq(sim, cpu);
	else if (cpu->task->polling)
		act_in_poll(sim, cpu);
	else if (cpu->task == &cpu->idle)
		act_idle(sim, cpu);
	else
		act_in_task(sim, cpu);
	/* Nothing stands still for ever, and a time that was read is past when something comes between. */
	if (cpu->next_ns == sim->now && (cpu->holding || sim_chance(sim, 50)))
		cpu->next_ns++;
}

/* ---- the whole ---- */

static void stop_cpu(struct sim *sim, struct sim_cpu *cpu)
{
	size_t written;

	sim_release_held(sim, cpu);
	if (cpu->task->polling && cpu->online)
		end_poll(sim, cpu);
	for (int i = 0; i < cpu->task->n_ops; i++)
		trace_mark(sim->trace, TRACE_OP_AT_END);
	if (cpu->online)
		sim_emit_plain_state(sim, cpu, NT_STATE_STOP);
	written = cpu->ring.n;
	sim_write_lost(sim, cpu);
	if (cpu->ring.n > written)
		trace_mark(sim->trace, TRACE_LOSS_AT_END);
	cpu->stopped = true;
}

static uint64_t due_ns(const struct sim_cpu *cpu)
{
	uint64_t due = cpu->next_ns;

	if (!cpu->exists || cpu->stopped)
		return NEVER;
	if (!cpu->gate_open && cpu->online && cpu->gate_ns < due)
		due = cpu->gate_ns;
	return cpu->stop_ns < due ? cpu->stop_ns : due;
}

static void run(struct sim *sim)
{
	for (;;) {
		struct sim_cpu *cpu = &sim->cpus[0];

		for (int i = 1; i < TRACE_CPUS; i++) {
			if (due_ns(&sim->cpus[i]) < due_ns(cpu))
				cpu = &sim->cpus[i];
		}
		if (due_ns(cpu) == NEVER)
			return;
		sim->now = due_ns(cpu);
		account(sim, cpu);
		if (cpu->stop_ns <= sim->now) {
			stop_cpu(sim, cpu);
		} else if (!cpu->gate_open && cpu->online && cpu->gate_ns <= sim->now) {
			cpu->gate_open = true;
			sim_emit_plain_state(sim, cpu, NT_STATE_START);
		} else {
			act(sim, cpu);
		}
	}
}

static void set_up_cpus(struct sim *sim)
{
	struct trace *trace = sim->trace;
	uint64_t start_ns = sim->attach_ns, end_ns = sim->attach_ns + 100 + sim_below(sim, 2000);
	uint32_t n = 1 + (uint32_t)sim_below(sim, TRACE_CPUS);
	bool some_online = false;

	trace->config = (struct nt_timeline_config){.n_cpus = n,
						    .present = trace->present,
						    .online = trace->online,
						    .is_main_of = trace_is_main_of,
						    .is_napi = trace_is_napi};
	for (uint32_t i = 0; i < n; i++) {
		struct sim_cpu *cpu = &sim->cpus[i];

		cpu->exists = !some_online || sim_chance(sim, 90);
		cpu->online = cpu->exists && (!some_online || !sim->plugs || sim_chance(sim, 70));
		some_online = some_online || cpu->online;
		trace->present[i] = cpu->exists;
		trace->online[i] = cpu->online;
		if (!cpu->exists)
			trace_mark(trace, TRACE_NOT_PRESENT);
		cpu->idle.pinned = -1;
		cpu->task = &cpu->idle;
		cpu->next_ns = 1 + sim_below(sim, 2 * sim->step); /* nothing begins at 0: in a loss that says nothing */
		cpu->gate_ns = sim->attach_ns + sim_below(sim, 20);
		cpu->stop_ns = end_ns + sim_below(sim, 20);
		if (cpu->online && cpu->gate_ns > start_ns)
			start_ns = cpu->gate_ns;
	}
	end_ns = NEVER;
	for (uint32_t i = 0; i < n; i++) {
		if (sim->cpus[i].exists && sim->cpus[i].stop_ns < end_ns)
			end_ns = sim->cpus[i].stop_ns;
	}
	trace->config.start_ns = start_ns;
	trace->config.end_ns = end_ns;
}

static void set_up(struct sim *sim, struct trace *trace, uint64_t seed)
{
	sim->trace = trace;
	sim->rand.state = seed;
	sim->step = 1 + sim_below(sim, 25);
	sim->attach_ns = 50 + sim_below(sim, 100);
	sim->polls = sim_chance(sim, 40);
	sim->rt = sim_chance(sim, 30);
	sim->loses = sim_chance(sim, 40);
	sim->loses_parts = sim->loses && sim_chance(sim, 25);
	sim->inverts = sim_chance(sim, 40);
	sim->clocks_differ = sim_chance(sim, 25);
	sim->plugs = sim_chance(sim, 25);
	sim->execs = sim_chance(sim, 30);
	sim->dies = sim_chance(sim, 60);
	sim->n_tasks = 1 + (int)sim_below(sim, MAX_TASKS);
	for (int i = 0; i < sim->n_tasks; i++) {
		sim->tasks[i].id = (1 + (uint64_t)i / 3) * 10 + (uint64_t)i % 3;
		sim->tasks[i].pinned = -1;
	}
	trace->true_known = trace->lossless = true;
	set_up_cpus(sim);
}

void trace_simulate(struct trace *trace, uint64_t seed)
{
	struct sim sim = {0};
	struct trace_ring rings[TRACE_CPUS];

	set_up(&sim, trace, seed);
	run(&sim);
	for (int i = 0; i < TRACE_CPUS; i++)
		rings[i] = sim.cpus[i].ring;
	trace_tape(trace, rings, &sim.rand);
}
