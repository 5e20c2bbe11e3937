// SPDX-License-Identifier: GPL-2.0-only
/*
 * traffic.c - see traffic.h. Each CPU has a clock; the one that is furthest behind does a step: the idle task waits for
 * somebody to wake, a task runs, works on its socket, and blocks or is preempted.
 */
#include "tests/support/traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/rand.h"

#define MAX_CPUS 64
#define STATE_NS 40000000ull /* a state record at least so often */
#define TIMER_VECTOR 236

struct sim_task {
	uint64_t wake; /* sleeping until then */
	bool running, receiving;
	uint64_t op_begin;
	bool before; /* the receive began before the recording */
};

struct lost {
	uint32_t count;
	uint64_t first, last, begin;
};

struct sim_cpu {
	uint64_t now, state_at;
	uint64_t task;
	bool stopped;
	struct lost lost[NT_KIND_MAX];
	uint64_t softirqs[NT_VEC_COUNT], next_softirqs[NT_VEC_COUNT]; /* begun before the next snapshot; after */
};

struct sim {
	struct tape_gen *gen;
	const struct traffic_config *config;
	struct nt_rand rand;
	uint32_t n_cpus;
	struct sim_cpu cpus[MAX_CPUS];
	struct sim_task *tasks; /* by id, from 1 */
	uint64_t snapshot_at, chunk_at;
};

static uint64_t between(struct sim *sim, uint64_t from, uint64_t to)
{
	return from + nt_rand_below(&sim->rand, to - from);
}

static bool one_in(struct sim *sim, uint64_t n)
{
	return nt_rand_below(&sim->rand, n) == 0;
}

/* ---- records, or their loss ---- */

static bool is_lost(struct sim *sim, uint32_t cpu, uint64_t end, uint64_t begin, unsigned int kind)
{
	struct lost *lost = &sim->cpus[cpu].lost[kind];

	if (cpu || end < sim->config->lose_from_ns || end >= sim->config->lose_to_ns)
		return false;
	if (!lost->count++)
		*lost = (struct lost){1, end, end, begin};
	lost->last = end;
	if (begin < lost->begin)
		lost->begin = begin;
	return true;
}

/* The losses stand ahead of the next record. */
static void tell_losses(struct sim *sim, uint32_t cpu, uint64_t end)
{
	for (unsigned int kind = 1; kind < 32; kind++) {
		struct lost *lost = &sim->cpus[cpu].lost[kind];

		if (lost->count)
			gen_loss(sim->gen, cpu, end, kind, lost->count, lost->first, lost->last, lost->begin);
		lost->count = 0;
	}
}

static void softirq(struct sim *sim, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int vec, unsigned int context)
{
	struct sim_cpu *on = &sim->cpus[cpu];

	if (begin < sim->snapshot_at)
		on->softirqs[vec]++;
	else
		on->next_softirqs[vec]++;
	if (is_lost(sim, cpu, end, begin, NT_SOFTIRQ))
		return;
	tell_losses(sim, cpu, end);
	gen_softirq(sim->gen, cpu, begin, end, vec, context);
}

static void irq(struct sim *sim, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int type, uint32_t number)
{
	if (is_lost(sim, cpu, end, begin, NT_IRQ))
		return;
	tell_losses(sim, cpu, end);
	gen_irq(sim->gen, cpu, begin, end, type, number);
}

static void op(struct sim *sim, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int dir, int32_t result,
	       unsigned int flags)
{
	uint64_t task = sim->cpus[cpu].task;

	if (is_lost(sim, cpu, end, begin, NT_OP))
		return;
	tell_losses(sim, cpu, end);
	gen_op(sim->gen, cpu, begin, end, dir, dir == NT_SEND ? NT_CALL_sendto : NT_CALL_recvfrom, task, result, flags);
}

static void change(struct sim *sim, uint32_t cpu, uint64_t next, uint32_t state)
{
	struct sim_cpu *on = &sim->cpus[cpu];
	struct sim_task *prev = &sim->tasks[on->task];
	bool open = on->task && prev->receiving;
	uint64_t begin = open ? prev->op_begin : on->now;

	if (!is_lost(sim, cpu, on->now, begin, NT_SWITCH)) {
		tell_losses(sim, cpu, on->now);
		if (open)
			gen_open(sim->gen, cpu, on->now, NT_OPEN_OP, NT_RECV, NT_CALL_recvfrom, begin, on->task);
		gen_switch(sim->gen, cpu, on->now, on->task, state, next, open);
	}
	prev->running = false;
	sim->tasks[next].running = true;
	on->task = next;
}

static void state(struct sim *sim, uint32_t cpu, unsigned int reason)
{
	struct sim_cpu *on = &sim->cpus[cpu];

	on->state_at = on->now;
	if (is_lost(sim, cpu, on->now, on->now, NT_STATE))
		return;
	tell_losses(sim, cpu, on->now);
	gen_state(sim->gen, cpu, on->now, on->task, reason, 0);
}

/* ---- what CPUs do ---- */

static void timer_tick(struct sim *sim, uint32_t cpu)
{
	struct sim_cpu *on = &sim->cpus[cpu];
	uint64_t begin = on->now, end = begin + between(sim, 500, 2000);

	irq(sim, cpu, begin, end, NT_IRQ_VECTOR, TIMER_VECTOR);
	softirq(sim, cpu, end + 100, end + 100 + between(sim, 300, 3000), one_in(sim, 2) ? 1 : 7, NT_SOFTIRQ_IRQ_EXIT);
	on->now = end + 4000;
}

static uint64_t somebody_awake(struct sim *sim, uint64_t now)
{
	uint64_t n = sim->config->n_tasks, first = between(sim, 0, n);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t task = 1 + (first + i) % n;

		if (!sim->tasks[task].running && sim->tasks[task].wake <= now)
			return task;
	}
	return 0;
}

static void idle_step(struct sim *sim, uint32_t cpu)
{
	struct sim_cpu *on = &sim->cpus[cpu];
	uint64_t task = somebody_awake(sim, on->now);

	if (task) {
		change(sim, cpu, task, 0);
		on->now += between(sim, 500, 1500);
		return;
	}
	on->now += between(sim, 2000, 60000);
	if (one_in(sim, 4))
		timer_tick(sim, cpu);
	else
		irq(sim, cpu, on->now - 900, on->now, NT_IRQ_DEVICE, 24 + cpu);
}

/* A send with the softirq that loopback runs inside it, sometimes an interrupt in that. */
static void send_step(struct sim *sim, uint32_t cpu)
{
	struct sim_cpu *on = &sim->cpus[cpu];
	uint64_t begin = on->now, at = begin + between(sim, 800, 2500), end;
	bool failed = one_in(sim, 50);

	if (!failed) {
		uint64_t softirq_end = at + between(sim, 1500, 4000);

		if (one_in(sim, 20))
			irq(sim, cpu, at + 300, at + 900, NT_IRQ_VECTOR, TIMER_VECTOR);
		softirq(sim, cpu, at, softirq_end, NT_VEC_NET_RX, NT_SOFTIRQ_BH_ENABLE);
		at = softirq_end;
	}
	end = at + between(sim, 200, 900);
	op(sim, cpu, begin, end, NT_SEND, failed ? -11 : (int32_t)between(sim, 64, 1400), 0);
	on->now = end + between(sim, 300, 4000);
}

static void task_step(struct sim *sim, uint32_t cpu)
{
	struct sim_cpu *on = &sim->cpus[cpu];
	struct sim_task *task = &sim->tasks[on->task];

	if (task->receiving) {
		on->now += between(sim, 400, 3000);
		op(sim, cpu, task->op_begin, on->now, NT_RECV, (int32_t)between(sim, 1, 1400),
		   task->before	     ? NT_OP_BEFORE
		   : one_in(sim, 30) ? NT_OP_PEEK
				     : 0);
		task->receiving = task->before = false;
		on->now += between(sim, 500, 5000);
		return;
	}
	if (one_in(sim, 400))
		timer_tick(sim, cpu);
	send_step(sim, cpu);
	if (one_in(sim, 12)) {
		task->wake = on->now + between(sim, 1000, 20000);
		change(sim, cpu, one_in(sim, 2) ? 0 : somebody_awake(sim, on->now), NT_SWITCH_PREEMPTED);
	} else if (one_in(sim, 3)) {
		task->receiving = true;
		task->op_begin = on->now;
		on->now += between(sim, 500, 2000);
		task->wake = on->now + between(sim, 5000, 400000);
		change(sim, cpu, somebody_awake(sim, on->now), 1);
	}
	on->now += between(sim, 200, 1000);
}

static void step(struct sim *sim, uint32_t cpu)
{
	struct sim_cpu *on = &sim->cpus[cpu];

	if (on->now - on->state_at > STATE_NS && !sim->tasks[on->task].receiving)
		state(sim, cpu, NT_STATE_PERIODIC);
	if (on->task)
		task_step(sim, cpu);
	else
		idle_step(sim, cpu);
}

/* ---- what is read ---- */

static void read_softirqs(struct sim *sim, uint64_t at)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("          ", out);
	for (uint32_t cpu = 0; cpu < sim->n_cpus; cpu++)
		fprintf(out, " %10s%u", "CPU", cpu);
	fputc('\n', out);
	for (unsigned int vec = 0; vec < NT_VEC_COUNT; vec++) {
		fprintf(out, "%12s:", nt_vec_name(vec));
		for (uint32_t cpu = 0; cpu < sim->n_cpus; cpu++)
			fprintf(out, " %10llu", (unsigned long long)sim->cpus[cpu].softirqs[vec]);
		fputc('\n', out);
	}
	fclose(out);
	tape_gen_proc_snapshot(sim->gen, GEN_START_NS + at - 1, GEN_START_NS + at + 1, "/proc/softirqs", text);
	free(text);
}

static void read_stat(struct sim *sim, uint64_t at)
{
	uint64_t ticks = at / 10000000, steal = sim->config->steal_ticks * at / sim->config->dur_ns;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t cpu = 0; cpu < sim->n_cpus; cpu++)
		fprintf(out, "cpu%u 0 0 %llu 0 0 0 0 %llu 0 0\n", cpu, (unsigned long long)ticks,
			(unsigned long long)steal);
	fprintf(out, "ctxt 12345\n");
	fclose(out);
	tape_gen_proc_snapshot(sim->gen, GEN_START_NS + at, GEN_START_NS + at + 1000, "/proc/stat", text);
	free(text);
}

/* When all CPUs are past the time of a snapshot, what had begun before it is known. */
static void read_if_due(struct sim *sim, uint64_t least)
{
	if (least <= sim->snapshot_at + 10000000)
		return;
	read_softirqs(sim, sim->snapshot_at);
	read_stat(sim, sim->snapshot_at);
	tape_gen_clock(sim->gen, GEN_START_NS + sim->snapshot_at);
	sim->snapshot_at += sim->config->snapshot_ns ? sim->config->snapshot_ns : 1000000000;
	for (uint32_t cpu = 0; cpu < sim->n_cpus; cpu++) {
		for (unsigned int vec = 0; vec < NT_VEC_COUNT; vec++) {
			sim->cpus[cpu].softirqs[vec] += sim->cpus[cpu].next_softirqs[vec];
			sim->cpus[cpu].next_softirqs[vec] = 0;
		}
	}
}

/* ---- the whole ---- */

static void identities(struct sim *sim)
{
	gen_cgroup(sim->gen, 1, "/system.slice/web.service");
	gen_cgroup(sim->gen, 2, "/user.slice");
	gen_irq_name(sim->gen, NT_IRQ_VECTOR, TIMER_VECTOR, "LOC");
	gen_irq_name(sim->gen, NT_IRQ_DEVICE, 24, "virtio0-input.0");
	for (uint32_t task = 1; task <= sim->config->n_tasks; task++) {
		uint32_t process = (task - 1) / 5 * 5 + ((task - 1) % 5 < 3 ? 1 : 4);
		char name[16];

		if (process > sim->config->n_tasks)
			process = task;
		snprintf(name, sizeof(name), "%s%u", process % 5 == 1 ? "web" : "client", task);
		gen_task(sim->gen, 0, GEN_BEFORE, task, process, 1000 + task, 1000 + process, process % 5 == 1 ? 1 : 2,
			 NT_TASK_SEED, name);
		gen_socket(sim->gen, task, task % 2 ? 6 : 17, "10.0.0.1", 8000 + task, "10.0.0.2", 40000 + task);
	}
}

static void start(struct sim *sim)
{
	identities(sim);
	for (uint32_t cpu = 0; cpu < sim->n_cpus; cpu++) {
		struct sim_cpu *on = &sim->cpus[cpu];

		on->now = 100 + 10 * cpu;
		/* The gates open one after the other: the session starts with the last. */
		gen_state(sim->gen, cpu, 0, 0, NT_STATE_START, 0);
	}
	for (uint32_t task = 1; task <= sim->config->n_tasks; task += 7) {
		sim->tasks[task].receiving = sim->tasks[task].before = true;
		sim->tasks[task].wake = 1000ull * task;
	}
}

void traffic_record(struct tape_gen *gen, uint32_t n_cpus, const struct traffic_config *config)
{
	struct sim sim = {.gen = gen, .config = config, .rand = {config->seed}, .n_cpus = n_cpus};
	uint64_t end = config->dur_ns;

	sim.tasks = calloc(config->n_tasks + 1, sizeof(*sim.tasks));
	sim.snapshot_at = 1000;
	sim.chunk_at = config->chunk_ns;
	start(&sim);
	for (;;) {
		uint32_t cpu = 0;

		for (uint32_t i = 1; i < n_cpus; i++)
			cpu = sim.cpus[i].now < sim.cpus[cpu].now ? i : cpu;
		read_if_due(&sim, sim.cpus[cpu].now);
		if (sim.cpus[cpu].now >= end)
			break;
		step(&sim, cpu);
		if (sim.chunk_at && sim.cpus[cpu].now > sim.chunk_at) {
			tape_gen_next_chunk(gen);
			sim.chunk_at += config->chunk_ns;
		}
	}
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		struct sim_cpu *on = &sim.cpus[cpu];
		bool open = on->task && sim.tasks[on->task].receiving;

		tell_losses(&sim, cpu, on->now);
		if (open)
			gen_open(gen, cpu, on->now, NT_OPEN_OP, NT_RECV, NT_CALL_recvfrom, sim.tasks[on->task].op_begin,
				 on->task);
		gen_state(gen, cpu, on->now, on->task, NT_STATE_STOP, open);
	}
	tape_gen_counters(gen, GEN_START_NS + end);
	free(sim.tasks);
}
