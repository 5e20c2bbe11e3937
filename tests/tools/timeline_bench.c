// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_bench.c - how many records a second the timeline takes, on what a flood of small packets over a veth pair
 * looks like: a sender whose packets are received in softirqs inside its send, a receiver that blocks, interrupts in
 * between. Rows go to callbacks that only count.
 *
 *   timeline_bench [SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/timeline/timeline.h"
#include "schema/kind.h"
#include "tests/support/rand.h"

#define N_CPUS 2
#define N_RECORDS 20000 /* of one CPU, told again and again */

/* Largest record of the timeline; union nt_any is much larger. */
#define EVENT_SIZE 40

struct pattern {
	uint8_t records[N_RECORDS][EVENT_SIZE];
	uint32_t n;
	uint64_t at_ns;
};

static union nt_any *next_record(struct pattern *pattern, enum nt_kind kind)
{
	union nt_any *record = (union nt_any *)pattern->records[pattern->n++];

	record->record.kind = (uint8_t)kind;
	record->record.end_ns = pattern->at_ns;
	return record;
}

static uint64_t pass(struct pattern *pattern, struct nt_rand *rand, uint64_t most_ns)
{
	uint64_t ns = 1 + nt_rand_below(rand, most_ns);

	pattern->at_ns += ns;
	return ns;
}

/* The sender sends a packet, which is received at once. */
static void send_one(struct pattern *pattern, struct nt_rand *rand)
{
	uint64_t before_ns = pass(pattern, rand, 400), softirq_ns = pass(pattern, rand, 900);
	struct nt_softirq *softirq = &next_record(pattern, NT_SOFTIRQ)->as_softirq;
	struct nt_op *op;

	softirq->vec = NT_VEC_NET_RX;
	softirq->context = NT_SOFTIRQ_BH_ENABLE;
	softirq->dur_ns = softirq_ns;
	before_ns += softirq_ns + pass(pattern, rand, 100);
	op = &next_record(pattern, NT_OP)->as_op;
	op->dir = NT_SEND;
	op->dur_ns = before_ns;
	op->socket = 1;
	pass(pattern, rand, 100);
}

static void interrupt(struct pattern *pattern, struct nt_rand *rand)
{
	struct nt_irq *irq;
	uint64_t dur_ns = pass(pattern, rand, 500);

	irq = &next_record(pattern, NT_IRQ)->as_irq;
	irq->dur_ns = dur_ns;
	irq->type = NT_IRQ_VECTOR;
	pass(pattern, rand, 100);
}

static void change(struct pattern *pattern, uint64_t prev, uint64_t next, uint8_t n_open)
{
	struct nt_switch *by = &next_record(pattern, NT_SWITCH)->as_switch;

	by->prev = prev;
	by->next = next;
	by->n_open = n_open;
	by->prev_state = 1;
}

/* Sender, then the receiver, who reads what there is and blocks until he comes again. */
static void one_round(struct pattern *pattern, struct nt_rand *rand, uint64_t task, uint64_t *blocked_ns)
{
	struct nt_open *open;
	struct nt_op *op;

	for (uint64_t n = 1 + nt_rand_below(rand, 4); n--;)
		send_one(pattern, rand);
	if (nt_rand_below(rand, 3) == 0)
		interrupt(pattern, rand);
	pass(pattern, rand, 200);
	change(pattern, task, task + 1, 0);
	for (uint64_t n = 1 + nt_rand_below(rand, 3); n--;) {
		pass(pattern, rand, 600);
		op = &next_record(pattern, NT_OP)->as_op;
		op->dir = NT_RECV;
		op->dur_ns = pattern->at_ns - *blocked_ns;
		op->socket = 2;
		*blocked_ns = pattern->at_ns;
	}
	pass(pattern, rand, 200);
	open = &next_record(pattern, NT_OPEN)->as_open;
	open->what = NT_OPEN_OP;
	open->detail = NT_RECV;
	open->begin_ns = *blocked_ns;
	open->socket = 2;
	change(pattern, task + 1, task, 1);
}

static void make_pattern(struct pattern *pattern, uint64_t task, struct nt_rand *rand)
{
	uint64_t blocked_ns = pattern->at_ns = 1000;

	while (pattern->n + 32 < N_RECORDS)
		one_round(pattern, rand, task, &blocked_ns);
}

/* ---- feeding ---- */

static int count_cpu_slice(void *arg, const struct nt_cpu_slice *slice)
{
	*(uint64_t *)arg += slice->dur_ns != 0;
	return 0;
}

static int count_sched_slice(void *arg, const struct nt_sched_slice *slice)
{
	*(uint64_t *)arg += slice->dur_ns != 0;
	return 0;
}

static int count_span(void *arg, const struct nt_span_row *row)
{
	*(uint64_t *)arg += row->dur_ns != 0;
	return 0;
}

static int count_op(void *arg, const struct nt_op_row *row)
{
	*(uint64_t *)arg += row->timed;
	return 0;
}

static int count_loss(void *arg, const struct nt_loss_row *row)
{
	*(uint64_t *)arg += row->count != 0;
	return 0;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Tells one record, moved on in time. */
static int tell(struct nt_timeline *timeline, uint32_t cpu, const uint8_t *bytes, uint64_t later_ns)
{
	union nt_any record;

	memcpy(&record, bytes, EVENT_SIZE);
	record.record.end_ns += later_ns;
	if (record.record.kind == NT_OPEN)
		record.as_open.begin_ns += later_ns;
	return nt_timeline_add(timeline, cpu, &record);
}

/* The patterns of both CPUs, merged, once; gives how many records. */
static uint64_t tell_all(struct nt_timeline *timeline, const struct pattern *patterns, uint64_t later_ns)
{
	uint32_t next[N_CPUS] = {0};
	uint64_t told = 0;

	while (next[0] < patterns[0].n || next[1] < patterns[1].n) {
		uint64_t ends[N_CPUS];
		uint32_t cpu;

		for (cpu = 0; cpu < N_CPUS; cpu++) {
			ends[cpu] = UINT64_MAX;
			if (next[cpu] < patterns[cpu].n)
				memcpy(&ends[cpu], patterns[cpu].records[next[cpu]], sizeof(ends[cpu]));
		}
		cpu = ends[1] < ends[0];
		if (tell(timeline, cpu, patterns[cpu].records[next[cpu]++], later_ns))
			abort();
		told++;
	}
	return told;
}

int main(int argc, char **argv)
{
	static struct pattern patterns[N_CPUS];
	static const uint8_t all[N_CPUS] = {1, 1};
	double seconds = argc > 1 ? atof(argv[1]) : 2, begun, took;
	struct nt_timeline_config config = {.end_ns = UINT64_MAX, .n_cpus = N_CPUS, .present = all, .online = all};
	uint64_t n_rows = 0;
	struct nt_timeline_sink sink = {
		.arg = &n_rows,
		.cpu_slice = count_cpu_slice,
		.sched_slice = count_sched_slice,
		.softirq = count_span,
		.irq = count_span,
		.op = count_op,
		.loss = count_loss,
	};
	struct nt_timeline *timeline = nt_timeline_new(&config, &sink);
	struct nt_rand rand = {1};
	uint64_t told = 0, later_ns = 0, period_ns = 0;

	if (!timeline)
		return 1;
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		union nt_any state = {
			.as_state = {.kind = NT_STATE, .reason = NT_STATE_START, .task = 10 * (uint64_t)cpu + 1}};

		make_pattern(&patterns[cpu], state.as_state.task, &rand);
		if (patterns[cpu].at_ns > period_ns)
			period_ns = patterns[cpu].at_ns;
		if (nt_timeline_add(timeline, cpu, &state))
			return 1;
	}
	begun = seconds_now();
	do {
		told += tell_all(timeline, patterns, later_ns);
		later_ns += period_ns;
		took = seconds_now() - begun;
	} while (took < seconds);
	if (nt_timeline_finish(timeline))
		return 1;
	printf("%.2f million records a second (%llu records, %llu rows, %llu malformed)\n", (double)told / took / 1e6,
	       (unsigned long long)told, (unsigned long long)n_rows,
	       (unsigned long long)nt_timeline_counts(timeline)->malformed);
	nt_timeline_free(timeline);
	return 0;
}
