// SPDX-License-Identifier: GPL-2.0-only
/*
 * random_host.c - see random_host.h.
 */
#include "tests/support/random_host.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "report/util/array.h"
#include "tests/support/rand.h"

#define US 1000ull
#define MS 1000000ull
#define S 1000000000ull

struct cpu {
	uint64_t last; /* when something happened here last */
	uint64_t task;
	uint64_t softirq; /* begin of one that is open; 0: none */
	bool has_received; /* a packet in that */
	bool offline;
};

struct host {
	struct tape_gen *gen;
	struct nt_rand rand, packets; /* what is received changes nothing else */
	struct cpu cpus[RANDOM_HOST_CPUS];
	uint64_t ops[RANDOM_HOST_TASKS]; /* begin of the operation that the task is in; 0: none */
	bool running[RANDOM_HOST_TASKS];
	bool loses, plugs;
	/* Identities that the chunk has; and what was said of the flows last. */
	bool has_task[RANDOM_HOST_TASKS], has_socket[RANDOM_HOST_FLOWS + 1], has_flow[RANDOM_HOST_FLOWS + 1];
	struct nt_flow flows[RANDOM_HOST_FLOWS + 1];
};

static uint64_t below(struct host *host, uint64_t n)
{
	return nt_rand_below(&host->rand, n);
}

static bool one_in(struct host *host, uint64_t n)
{
	return below(host, n) == 0;
}

/* ---- identities: each chunk has those that it refers to ---- */

static uint64_t process_of(uint64_t task)
{
	return task / 3 * 3 + 1;
}

static void name_one(struct host *host, uint64_t task)
{
	if (!task || host->has_task[task])
		return;
	host->has_task[task] = true;
	gen_task(host->gen, 0, GEN_BEFORE, task, process_of(task), 100 + (uint32_t)task,
		 100 + (uint32_t)process_of(task), 0, NT_TASK_SEED, task % 5 ? "task" : "napi/eth0-1");
}

static void name_task(struct host *host, uint64_t task)
{
	name_one(host, task);
	if (task && process_of(task) < RANDOM_HOST_TASKS)
		name_one(host, process_of(task));
}

static void name_socket(struct host *host, uint64_t socket)
{
	if (!socket || host->has_socket[socket])
		return;
	host->has_socket[socket] = true;
	gen_socket(host->gen, socket, 17, "10.0.0.1", 100 + (unsigned int)socket, "10.0.0.2",
		   200 + (unsigned int)socket);
}

static void name_flow(struct host *host, uint64_t flow)
{
	if (host->has_flow[flow])
		return;
	host->has_flow[flow] = true;
	name_socket(host, host->flows[flow].socket);
	tape_gen_identity(host->gen, &host->flows[flow]);
}

static void next_chunk(struct host *host)
{
	tape_gen_next_chunk(host->gen);
	tape_gen_forget(host->gen);
	memset(host->has_task, 0, sizeof(host->has_task));
	memset(host->has_socket, 0, sizeof(host->has_socket));
	memset(host->has_flow, 0, sizeof(host->has_flow));
}

/* ---- what happens ---- */

/* Some processes share one: then it matters who has received from it lately. */
static uint64_t socket_of(uint64_t task)
{
	return 1 + task % RANDOM_HOST_FLOWS;
}

/* The OPEN records of a state record at `now`. */
static unsigned int put_opens(struct host *host, uint32_t number, uint64_t now)
{
	const struct cpu *cpu = &host->cpus[number];
	uint64_t op = host->ops[cpu->task];

	name_task(host, cpu->task);
	if (op)
		name_socket(host, socket_of(cpu->task));
	if (op)
		gen_open(host->gen, number, now, NT_OPEN_OP, NT_RECV, NT_CALL_recvfrom, op, socket_of(cpu->task));
	if (cpu->softirq)
		gen_open(host->gen, number, now, NT_OPEN_SOFTIRQ, NT_VEC_NET_RX, NT_SOFTIRQ_IRQ_EXIT, cpu->softirq, 0);
	return !!op + !!cpu->softirq;
}

static void put_state(struct host *host, uint32_t number, uint64_t now, unsigned int reason)
{
	unsigned int n_open = put_opens(host, number, now);

	gen_state(host->gen, number, now, host->cpus[number].task, reason, n_open);
}

static void set_task(struct host *host, struct cpu *cpu, uint64_t task)
{
	host->running[cpu->task] = false;
	host->running[task] = true;
	cpu->task = task;
}

static uint64_t choose_task(struct host *host)
{
	uint64_t task = below(host, RANDOM_HOST_TASKS);

	return host->running[task] || one_in(host, 3) ? 0 : task;
}

static void put_switch(struct host *host, uint32_t number, uint64_t now, uint64_t next)
{
	struct cpu *cpu = &host->cpus[number];
	unsigned int n_open = put_opens(host, number, now);

	name_task(host, next);
	gen_switch(host->gen, number, now, cpu->task, 1, next, n_open);
	set_task(host, cpu, next);
}

/* The task goes to another CPU, whose clock is a little behind: it seems to begin there before it left. */
static void migrate(struct host *host, uint32_t number, uint64_t now)
{
	uint32_t to = (number + 1) % RANDOM_HOST_CPUS;
	uint64_t task = host->cpus[number].task, behind = below(host, 1500);

	if (!task || host->cpus[to].offline || host->cpus[to].softirq)
		return put_switch(host, number, now, choose_task(host));
	put_switch(host, to, now, task);
	put_switch(host, number, now + behind, 0);
	host->running[task] = true;
	host->cpus[to].last = now;
	host->cpus[number].last = now + behind;
}

static void put_napi(struct host *host, uint32_t number, uint64_t now)
{
	struct nt_napi napi = {.end_ns = GEN_START_NS + now, .kind = NT_NAPI, .context = NT_NAPI_SOFTIRQ, .work = 3};
	/* It may have taken longer than a block may. */
	uint64_t most = one_in(host, 40) ? 2 * S : 20 * US;

	napi.dur_ns = below(host, most < now ? most : now);
	tape_gen_event(host->gen, number, &napi);
}

static void put_loss(struct host *host, uint32_t number, uint64_t now)
{
	static const uint8_t kinds[] = {NT_SOFTIRQ, NT_IRQ, NT_OP, NT_NAPI, NT_STATE, NT_SWITCH};
	struct cpu *cpu = &host->cpus[number];
	uint8_t kind = kinds[below(host, NT_COUNT(kinds))];
	uint64_t first = cpu->last + 1 + below(host, now - cpu->last), last = first + below(host, now - first + 1);

	if (kind == NT_SWITCH)
		set_task(host, cpu, choose_task(host));
	gen_loss(host->gen, number, now, kind, 1 + (uint32_t)below(host, 9), first, last,
		 first - below(host, first - cpu->last));
}

static void plug(struct host *host, uint32_t number, uint64_t now)
{
	struct cpu *cpu = &host->cpus[number];
	union nt_any record = {.as_hotplug = {.end_ns = GEN_START_NS + now, .kind = NT_HOTPLUG}};

	cpu->offline = !cpu->offline;
	record.as_hotplug.online = !cpu->offline;
	if (cpu->offline)
		put_switch(host, number, now - 1, 0);
	tape_gen_event(host->gen, number, &record);
}

static void put_interruption(struct host *host, uint32_t number, uint64_t now)
{
	const struct cpu *cpu = &host->cpus[number];
	uint64_t begin = cpu->last + below(host, now - cpu->last);

	if (one_in(host, 2))
		gen_irq(host->gen, number, begin, now, NT_IRQ_VECTOR, 236);
	else
		gen_softirq(host->gen, number, begin, now, NT_VEC_NET_TX, NT_SOFTIRQ_IRQ_EXIT);
}

static void put_op(struct host *host, uint32_t number, uint64_t now)
{
	uint64_t task = host->cpus[number].task;

	name_task(host, task);
	name_socket(host, socket_of(task));
	if (host->ops[task])
		gen_op(host->gen, number, host->ops[task], now, NT_RECV, NT_CALL_recvfrom, socket_of(task), 9, 0);
	host->ops[task] = task && !host->ops[task] ? now : 0;
}

static uint64_t since_last(struct host *host, const struct cpu *cpu, uint64_t now)
{
	return GEN_START_NS + cpu->last + 1 + nt_rand_below(&host->packets, now - cpu->last);
}

/* Packets of some flow until just now, and samples. */
static void receive(struct host *host, uint32_t number, uint64_t now)
{
	struct cpu *cpu = &host->cpus[number];
	struct nt_stack_sample sample = {.end_ns = since_last(host, cpu, now), .kind = NT_STACK_SAMPLE};
	const struct nt_rx_stretch stretch = {
		.end_ns = since_last(host, cpu, now),
		.kind = NT_RX_STRETCH,
		.flow = 1 + nt_rand_below(&host->packets, RANDOM_HOST_FLOWS),
		.packets = 1 + (uint32_t)nt_rand_below(&host->packets, 9),
		.flags = (cpu->has_received ? 0 : NT_RX_STRETCH_FIRST) |
			 (!nt_rand_below(&host->packets, 3) ? NT_RX_STRETCH_LISTED : 0),
	};

	name_flow(host, stretch.flow);
	if (stretch.end_ns < sample.end_ns)
		tape_gen_event(host->gen, number, &stretch);
	tape_gen_event(host->gen, number, &sample);
	if (stretch.end_ns >= sample.end_ns)
		tape_gen_event(host->gen, number, &stretch);
	cpu->has_received = true;
}

/* A softirq that state records may come in; nothing else but interrupts may. */
static void go_on_in_softirq(struct host *host, uint32_t number, uint64_t now)
{
	struct cpu *cpu = &host->cpus[number];

	if (nt_rand_below(&host->packets, 3))
		receive(host, number, now);
	if (one_in(host, 2)) {
		put_state(host, number, now, NT_STATE_PERIODIC);
		return;
	}
	gen_softirq(host->gen, number, cpu->softirq, now, NT_VEC_NET_RX, NT_SOFTIRQ_IRQ_EXIT);
	cpu->softirq = 0;
	cpu->has_received = false;
}

static void act(struct host *host, uint32_t number, uint64_t now)
{
	struct cpu *cpu = &host->cpus[number];
	uint64_t what = below(host, 100);

	if (cpu->softirq)
		go_on_in_softirq(host, number, now);
	else if (cpu->offline || (host->plugs && what < 1))
		plug(host, number, now);
	else if (host->loses && what < 3)
		put_loss(host, number, now);
	else if (what < 25)
		put_switch(host, number, now, choose_task(host));
	else if (what < 30)
		migrate(host, number, now);
	else if (what < 45)
		put_op(host, number, now);
	else if (what < 55)
		put_napi(host, number, now);
	else if (what < 58)
		cpu->softirq = now;
	else if (what < 65)
		put_state(host, number, now, NT_STATE_PERIODIC);
	else
		put_interruption(host, number, now);
	cpu->last = cpu->last > now ? cpu->last : now;
}

/* Mostly some us, at times half a second. */
static uint64_t pause_of(struct host *host)
{
	return 3 * US + below(host, one_in(host, 200) ? S / 2 : one_in(host, 20) ? 5 * MS : 60 * US);
}

/* A flow to the address of the socket of that number; from `now` on it is delivered to `socket`, if that is not 0. */
static void put_flow(struct host *host, unsigned int number, uint64_t now, uint64_t socket)
{
	struct nt_flow *flow = &host->flows[number];

	*flow = (struct nt_flow){.end_ns = GEN_START_NS + now,
				 .kind = NT_FLOW,
				 .family = AF_INET,
				 .protocol = 17,
				 .netns = 4026531840,
				 .flow = number,
				 .ethertype = 0x800,
				 .src_port = (uint16_t)(200 + number),
				 .dst_port = (uint16_t)(100 + number),
				 .socket = socket ? socket : flow->socket};
	inet_pton(AF_INET, "10.0.0.2", flow->src);
	inet_pton(AF_INET, "10.0.0.1", flow->dst);
	host->has_flow[number] = false;
	name_flow(host, number);
}

uint64_t random_host_record(const struct tape_gen_config *config, uint64_t seed, unsigned int n,
			    const struct random_host_eye *eye)
{
	struct host host = {.gen = tape_gen_new(config), .rand = {seed}, .packets = {seed}};
	uint64_t now = 10 * US;

	host.loses = one_in(&host, 2);
	host.plugs = one_in(&host, 2);
	for (uint32_t task = 1; task < RANDOM_HOST_TASKS; task++)
		name_task(&host, task);
	for (unsigned int flow = 1; flow <= RANDOM_HOST_FLOWS; flow++)
		name_socket(&host, flow);
	for (unsigned int flow = 1; flow <= RANDOM_HOST_FLOWS; flow++)
		put_flow(&host, flow, 0, 0);
	for (uint32_t cpu = 0; cpu < RANDOM_HOST_CPUS; cpu++)
		gen_state(host.gen, cpu, 0, 0, NT_STATE_START, 0);
	for (unsigned int i = 0; i < n; i++) {
		/* The last CPU is mostly idle. */
		act(&host, one_in(&host, 50) ? RANDOM_HOST_CPUS - 1 : (uint32_t)below(&host, RANDOM_HOST_CPUS - 1),
		    now);
		if (!nt_rand_below(&host.packets, 30))
			put_flow(&host, 1 + (unsigned int)nt_rand_below(&host.packets, RANDOM_HOST_FLOWS), now,
				 nt_rand_below(&host.packets, RANDOM_HOST_FLOWS + 1));
		now += pause_of(&host);
		if (one_in(&host, 1500))
			next_chunk(&host);
		if (eye)
			eye->see(eye->arg, host.gen, now);
	}
	for (uint32_t cpu = 0; cpu < RANDOM_HOST_CPUS; cpu++) {
		if (!host.cpus[cpu].offline && !one_in(&host, 5))
			put_state(&host, cpu, now, NT_STATE_STOP);
	}
	tape_gen_finish(host.gen, GEN_START_NS + now, true);
	return now;
}
