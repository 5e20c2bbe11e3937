// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_test.c - the timeline case by case, with answers worked out by hand. Each trace also goes through
 * the model, and has to conserve time. Loss is in timeline_loss_test.c, random traces in timeline_random_test.c.
 */
#include <errno.h>

#include "tests/unit/timeline/timeline_case.h"

/* ---- owners ---- */

static void test_owners(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 115, 118);
	softirq(0, 110, 125, 3);
	softirq(0, 125, 130, 2);
	softirq(0, 130, 134, 1);
	op(0, 105, 150, NT_SEND, 1);
	change(0, 160, 5, 0, 0);
	irq(0, 170, 180);
	stop(0, 200, 0, 0);
	tell();
	expect(ROW_CPU_SLICE,
	       "[cpu 0] task 5 ..105 send 5 ..110 net_rx 5 ..115 hardirq 5 ..118 net_rx 5 ..125 net_tx 5 ..130 "
	       "softirq 5 ..134 send 5 ..150 task 5 ..160 idle 0 ..170 hardirq 0 ..180 idle 0 ..200 ");
	expect(ROW_RX_PART, "110+5 cpu 0 run 110; 118+7 cpu 0 run 110; ");
	/* 45 ns less 24 of softirqs. */
	expect(ROW_OP, "1: 105+45 cost 21 task 5 done; ");
	expect(ROW_SOFTIRQ, "110+15 task 5 3/256; 125+5 task 5 2/256; 130+4 task 5 1/256; ");
	expect(ROW_IRQ, "115+3 task 5 2/236; 170+10 task 0 2/236; ");
	expect(ROW_SCHED_SLICE, "cpu 0 100+60 task 5 switched; cpu 0 160+40 task 0; ");
	expect(ROW_LOSS, "");
	expect_counts(0, 0, 0);
}

static void test_softirq_contexts(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	op(0, 105, 120, NT_RECV, 1);
	softirq(0, 119, 125, 3); /* begun in the operation, if only just */
	softirq(0, 130, 135, 3);
	softirq(0, 141, 142, 3)->context = NT_SOFTIRQ_IRQ_EXIT;
	op(0, 140, 150, NT_RECV, 2);
	softirq(0, 152, 153, 3)->context = 77;
	softirq(0, 160, 160, 3)->flags = NT_SPAN_NO_BEGIN;
	stop(0, 200, 5, 0);
	tell();
	/* The one with IRQ_EXIT stays what it is: an operation was open, but did not run it. */
	expect(ROW_SOFTIRQ,
	       "119+6 task 5 3/256; 130+5 task 5 3/3; 141+1 task 5 3/256; 152+1 task 5 3/0; 160+0 task 5 3/3; ");
}

/* A task's own poll is net_rx, but not an interrupt during it. A poll of unknown begin has no time. */
static void test_busy_polls(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 112, 114);
	softirq(0, 114, 116, 1);
	poll_device(0, 110, 120, NT_NAPI_BUSY);
	poll_device(0, 120, 122, NT_NAPI_BUSY);
	op(0, 105, 130, NT_RECV, 1);
	poll_device(0, 140, 140, NT_NAPI_BUSY)->flags = NT_SPAN_NO_BEGIN;
	poll_device(0, 145, 150, NT_NAPI_BUSY);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..105 recv 5 ..110 net_rx 5 ..112 hardirq 5 ..114 softirq 5 ..116 "
			      "net_rx 5 ..122 recv 5 ..130 task 5 ..145 net_rx 5 ..150 task 5 ..200 ");
	expect(ROW_OP, "1: 105+25 cost 13 task 5 done; ");
	expect(ROW_RX_PART, "110+2 cpu 0 run 110; 116+4 cpu 0 run 110; 120+2 cpu 0 run 120; 145+5 cpu 0 run 145; ");
	expect(ROW_NAPI, "110+10 cpu 0 task 5 context 3 work 3; 120+2 cpu 0 task 5 context 3 work 3; "
			 "140+0 cpu 0 task 5 context 3 work 3 no begin; 145+5 cpu 0 task 5 context 3 work 3; ");
}

/* Each interrupt's time is its own. Of two at once, which no recorder writes, the one that ends last has it. */
static void test_irq_parts(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 95, 105)->number = 7;
	irq(0, 112, 114);
	irq(0, 114, 120)->number = 7;
	irq(0, 132, 136)->number = 8;
	irq(0, 130, 140);
	irq(0, 150, 160);
	irq(0, 155, 165)->type = NT_IRQ_DEVICE;
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_IRQ_PART, "100+5 cpu 0 irq 7; 112+2 cpu 0 irq 236; 114+6 cpu 0 irq 7; 130+10 cpu 0 irq 236; "
			     "150+5 cpu 0 irq 236; 155+10 cpu 0 irq 236; ");
}

/* All of a NAPI thread's time is net_rx, whether its polls are recorded or not; a poll in a softirq is the softirq's.
 */
static void test_napi_threads(void **unused)
{
	(void)unused;
	start(0, 100, 12);
	softirq(0, 110, 120, 1);
	poll_device(0, 120, 130, NT_NAPI_THREAD);
	change(0, 150, 12, 5, 0);
	poll_device(0, 161, 169, NT_NAPI_SOFTIRQ);
	softirq(0, 160, 170, 3);
	poll_device(0, 180, 185, NT_NAPI_UNKNOWN);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] net_rx 12 ..110 softirq 12 ..120 net_rx 12 ..150 task 5 ..160 net_rx 5 ..170 "
			      "task 5 ..200 ");
	expect(ROW_RX_PART, "100+10 cpu 0 run 100; 120+30 cpu 0 run 100; 160+10 cpu 0 run 160; ");
	expect(ROW_NAPI, "120+10 cpu 0 task 12 context 2 work 3; 161+8 cpu 0 task 5 context 1 work 3; "
			 "180+5 cpu 0 task 5 context 0 work 3; ");
}

static void test_nested_ops(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	op(0, 110, 120, NT_SEND, 2);
	op(0, 120, 125, NT_SEND, 3); /* the next of a batch */
	op(0, 130, 140, NT_RECV, 5);
	op(0, 130, 145, NT_SEND, 4); /* begun together with the one before: outside it, since it ends later */
	op(0, 105, 150, NT_RECV, 1);
	op(0, 160, 170, NT_SEND, 6);
	op(0, 165, 180, NT_RECV, 7); /* not nested: the later begun owns until its end */
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..105 recv 5 ..110 send 5 ..125 recv 5 ..140 send 5 ..145 recv 5 ..150 "
			      "task 5 ..160 send 5 ..165 recv 5 ..180 task 5 ..200 ");
	expect(ROW_OP, "1: 105+45 cost 15 task 5 done; 2: 110+10 cost 10 task 5 done; 3: 120+5 cost 5 task 5 done; "
		       "5: 130+10 cost 10 task 5 done; 4: 130+15 cost 5 task 5 done; 6: 160+10 cost 5 task 5 done; "
		       "7: 165+15 cost 15 task 5 done; ");
	expect_counts(0, 0, 1);
}

static void test_ops_without_time(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	op(0, 120, 120, NT_SEND, 1)->flags = NT_OP_NO_BEGIN;
	op(0, 132, 135, NT_SEND, 2)->flags = NT_OP_IN_SOFTIRQ;
	softirq(0, 130, 140, 3);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..130 net_rx 5 ..140 task 5 ..200 ");
	expect(ROW_OP, "1: 120+0 cost 0 task 5 done untimed; 2: 132+3 cost 0 task ? done; ");
}

/* ---- operations over segments ---- */

static void test_blocked_op(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	open_op(0, 115, NT_RECV, 110, 1);
	change(0, 115, 5, 0, 1);
	change(0, 180, 0, 5, 0);
	op(0, 110, 182, NT_RECV, 1);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..110 recv 5 ..115 idle 0 ..180 recv 5 ..182 task 5 ..200 ");
	expect(ROW_OP, "1: 110+72 cost 7 task 5 done; ");
}

static void test_op_before_recording(void **unused)
{
	(void)unused;
	start(0, 90, 0);
	open_op(1, 95, NT_RECV, 0, 2)->flags = NT_OP_BEFORE;
	start(1, 95, 6);
	t.items[t.n - 1].record.as_state.n_open = 1;
	op(1, 120, 120, NT_RECV, 2)->flags = NT_OP_BEFORE;
	change(0, 150, 0, 5, 0); /* was blocked since before */
	op(0, 152, 152, NT_RECV, 1)->flags = NT_OP_BEFORE;
	op(0, 92, 155, NT_SEND, 3); /* begun between the first record of a CPU and the session's start */
	stop(0, 200, 5, 0);
	stop(1, 200, 6, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] idle 0 ..150 send 5 ..155 task 5 ..200 [cpu 1] recv 6 ..120 task 6 ..200 ");
	expect(ROW_OP, "2: 100+20 cost 20 task 6 done before; 1: 100+52 cost 0 task 5 done before; "
		       "3: 100+55 cost 5 task 5 done before; ");
}

static void test_migrated_op(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	start(1, 100, 0);
	open_op(0, 120, NT_SEND, 110, 1);
	state(0, 120, 5, 1); /* and across a state record that is no switch */
	open_op(0, 125, NT_SEND, 110, 1);
	change(0, 125, 5, 0, 1)->prev_state = NT_SWITCH_PREEMPTED;
	change(1, 140, 0, 5, 0);
	irq(1, 141, 144);
	open_op(1, 150, NT_SEND, 110, 1);
	change(1, 150, 5, 0, 1);
	change(0, 160, 0, 5, 0);
	op(0, 110, 163, NT_SEND, 1);
	stop(0, 200, 5, 0);
	stop(1, 200, 0, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..110 send 5 ..125 idle 0 ..160 send 5 ..163 task 5 ..200 "
			      "[cpu 1] idle 0 ..140 send 5 ..141 hardirq 5 ..144 send 5 ..150 idle 0 ..200 ");
	expect(ROW_OP, "1: 110+53 cost 25 task 5 done; ");
	expect(ROW_SCHED_SLICE,
	       "cpu 0 100+25 task 5 switched; cpu 1 100+40 task 0 switched; cpu 0 125+35 task 0 switched; "
	       "cpu 1 140+10 task 5 switched; cpu 1 150+50 task 0; cpu 0 160+40 task 5; ");
}

static void test_unended_ops(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	open_op(0, 120, NT_SEND, 110, 1);
	open_op(0, 120, NT_RECV, 115, 2);
	change(0, 120, 5, 6, 2)->prev_state = 0x80; /* dies inside both */
	open_op(0, 130, NT_SEND, 125, 3);
	change(0, 130, 6, 7, 1);
	open_op(0, 140, NT_RECV, 135, 4);
	change(0, 140, 7, 6, 1)->prev_state = NT_SWITCH_PREEMPTED | 0x80; /* preempted is not dead */
	change(0, 150, 6, 7, 0); /* 3 is gone without a record */
	open_op(0, 160, NT_RECV, 135, 4);
	change(0, 160, 7, 6, 1);
	op(0, 170, 175, NT_SEND, 5);
	stop(0, 200, 6, 0);
	tell();
	expect(ROW_OP, "1: 110+10 cost 5 task 5 exit; 2: 115+5 cost 5 task 5 exit; 3: 125+5 cost 5 task 6 abandoned; "
		       "4: 135+65 cost 15 task 7 open; 5: 170+5 cost 5 task 6 done; ");
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..110 send 5 ..115 recv 5 ..120 task 6 ..125 send 6 ..130 task 7 ..135 "
			      "recv 7 ..140 task 6 ..150 recv 7 ..160 task 6 ..170 send 6 ..175 task 6 ..200 ");
}

static void test_dead_without_open(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	open_op(0, 120, NT_SEND, 110, 1);
	change(0, 120, 5, 0, 1);
	change(0, 130, 0, 5, 0);
	change(0, 140, 5, 0, 0)->prev_state = 0x80;
	stop(0, 200, 0, 0);
	tell();
	expect(ROW_OP, "1: 110+10 cost 10 task 5 exit; ");
}

/* ---- the session's borders ---- */

static void test_session_borders(void **unused)
{
	(void)unused;
	start(0, 80, 5);
	softirq(0, 82, 85, 3); /* outside */
	change(0, 90, 5, 6, 0);
	irq(0, 95, 105);
	op(0, 92, 110, NT_SEND, 1);
	change(0, 150, 6, 7, 0);
	op(0, 190, 205, NT_SEND, 2);
	softirq(0, 206, 208, 3); /* outside */
	open_softirq(0, 210, 2, 195);
	open_softirq(0, 210, 3, 205);
	change(0, 210, 7, 8, 2);
	softirq(0, 195, 212, 2);
	stop(0, 220, 8, 0);
	tell();
	expect(ROW_CPU_SLICE,
	       "[cpu 0] hardirq 6 ..105 send 6 ..110 task 6 ..150 task 7 ..190 send 7 ..195 net_tx 7 ..200 ");
	expect(ROW_OP, "1: 100+10 cost 5 task 6 done before; 2: 190+10 cost 5 task 7 done; ");
	expect(ROW_SOFTIRQ, "195+5 task 8 2/3; ");
	expect(ROW_IRQ, "100+5 task 6 2/236; ");
	expect(ROW_SCHED_SLICE, "cpu 0 100+50 task 6 switched; cpu 0 150+50 task 7; ");
	assert_int_equal(t.rows.counts.outside, 2);
	assert_int_equal(t.rows.counts.records, t.n);
}

static void test_open_at_end(void **unused)
{
	struct nt_open *interrupt;

	(void)unused;
	start(0, 100, 5);
	open_op(0, 201, NT_SEND, 180, 1);
	open_softirq(0, 201, 3, 185);
	interrupt = &add(0, NT_OPEN, 201)->as_open;
	interrupt->what = NT_OPEN_IRQ;
	interrupt->detail = NT_IRQ_DEVICE;
	interrupt->number = 24;
	interrupt->begin_ns = 190;
	stop(0, 201, 5, 3);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..180 send 5 ..185 net_rx 5 ..190 hardirq 5 ..200 ");
	expect(ROW_OP, "1: 180+20 cost 5 task 5 open; ");
	expect(ROW_SOFTIRQ, "185+15 task 5 3/256 open; ");
	expect(ROW_IRQ, "190+10 task 5 1/24 open; ");
}

static void test_starts(void **unused)
{
	(void)unused;
	start(0, 110, 5); /* a START record tells of the time before it, even if it is late */
	stop(0, 200, 5, 0);
	t.present[1] = t.online[1] = 1;
	softirq(1, 105, 120, 3);
	change(1, 130, 6, 7, 0); /* another does not */
	stop(1, 200, 7, 0);
	t.present[2] = t.online[2] = 1; /* and of this one there is nothing */
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..200 [cpu 1] uncovered ..130 task 7 ..200 [cpu 2] uncovered ..200 ");
	expect(ROW_SOFTIRQ, "105+15 task ? 3/3; ");
	expect(ROW_LOSS, "cpu 1 100+30 kind 0 count 0; cpu 2 100+100 kind 0 count 0; ");
}

static void test_torn(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	change(0, 150, 5, 6, 0);
	op(0, 155, 160, NT_SEND, 1);
	start(1, 100, 7);
	stop(1, 190, 7, 0); /* the session cannot end later than this, but if it does, 7 went on */
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..150 uncovered ..200 [cpu 1] task 7 ..200 ");
	expect(ROW_OP, "1: 155+5 cost 0 task 6 done at least; ");
	expect(ROW_LOSS, "cpu 0 150+50 kind 0 count 0; ");
	expect(ROW_SCHED_SLICE, "cpu 0 100+50 task 5 switched; cpu 1 100+100 task 7; ");
}

/* ---- times that do not fit ---- */

static void test_inversions(void **unused)
{
	(void)unused;
	t.config.end_ns = 9000;
	start(0, 100, 5);
	start(1, 100, 0);
	op(0, 110, 120, NT_SEND, 1);
	open_op(0, 125, NT_SEND, 110, 1); /* listed by an interrupt that came before the end was noted */
	state(0, 125, 5, 1);
	open_op(0, 140, NT_RECV, 130, 2);
	state(0, 140, 5, 1);
	op(0, 130, 138, NT_RECV, 2); /* out of order: it was open until 140 at least */
	change(1, 149, 0, 5, 0); /* comes 1 ns before it leaves the other */
	change(0, 150, 5, 0, 0);
	change(1, 2000, 5, 0, 0);
	change(0, 2000, 0, 6, 0);
	change(1, 3500, 0, 6, 0); /* and this one is on two CPUs for long */
	change(0, 5000, 6, 0, 0);
	stop(0, 9000, 0, 0);
	stop(1, 9000, 6, 0);
	tell();
	expect(ROW_OP, "1: 110+10 cost 10 task 5 done; 2: 130+10 cost 10 task 5 done; ");
	expect(ROW_SCHED_SLICE,
	       "cpu 1 100+49 task 0 switched; cpu 0 100+50 task 5 switched; cpu 0 150+1850 task 0 switched; "
	       "cpu 1 150+1850 task 5 switched; cpu 1 2000+1500 task 0 switched; "
	       "cpu 0 2000+3000 task 6 switched; cpu 1 3500+5500 task 6; cpu 0 5000+4000 task 0; ");
	/* The record out of order, the early stay; and the long overlap. */
	expect_counts(0, 2, 1);
	assert_int_equal(t.rows.counts.clamped_max_ns, 2);
}

/* The interrupt before the end was noted may take long: the end is right, and nothing contradicts it. */
static void test_stale_open(void **unused)
{
	(void)unused;
	t.config.end_ns = 90000;
	start(0, 100, 5);
	op(0, 110, 120, NT_SEND, 1);
	irq(0, 130, 50120);
	open_op(0, 50120, NT_SEND, 110, 1);
	state(0, 50120, 5, 1);
	op(0, 50200, 50230, NT_RECV, 1);
	stop(0, 90000, 5, 0);
	tell();
	expect(ROW_OP, "1: 110+10 cost 10 task 5 done; 1: 50200+30 cost 30 task 5 done; ");
	expect_counts(0, 0, 0);
}

static void test_misfits(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	open_op(0, 109, NT_SEND, 105, 1); /* of no state record */
	open_op(0, 110, NT_SEND, 106, 2); /* one more than the next says */
	open_op(0, 110, NT_SEND, 107, 3);
	change(0, 110, 5, 6, 1);
	change(0, 120, 6, 7, 2); /* two that are not there */
	open_op(0, 130, NT_SEND, 131, 4); /* begins after it is open */
	open_op(0, 130, 9, 125, 5);
	open_op(0, 130, NT_SEND, 125, 6)->what = 8;
	open_op(0, 130, NT_SEND, 125, 7)->flags = NT_OP_NO_BEGIN;
	change(0, 130, 7, 8, 4);
	op(0, 131, 132, 5, 8); /* neither send nor receive */
	op(0, 134, 135, NT_SEND, 9)->dur_ns = UINT64_MAX;
	for (uint64_t i = 0; i < 9; i++) /* one more than may be listed */
		open_op(0, 140, NT_SEND, 135 + i % 5, 10 + i)->detail = (uint8_t)(1 + i / 5);
	change(0, 140, 8, 0, 9);
	stop(0, 200, 0, 0);
	tell();
	expect_counts(0, 0, 1 + 1 + 2 + 4 + 1 + 2);
	expect(ROW_CPU_SLICE,
	       "[cpu 0] task 5 ..107 send 5 ..110 task 6 ..120 task 7 ..130 send 8 ..135 recv 8 ..138 send 8 ..140 "
	       "idle 0 ..200 ");
}

static void test_far_times(void **unused)
{
	(void)unused;
	start(0, 0, 5);
	op(0, 0, UINT64_MAX, NT_SEND, 1);
	change(0, 150, 5, 6, 0);
	change(0, UINT64_MAX, 6, 7, 0);
	irq(0, 10, 160);
	change(0, 170, 7, 8, 0);
	loss(0, NT_SWITCH, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	gap(0, UINT64_MAX, NO_TASK);
	hotplug(0, 5, 0);
	stop(0, 0, 9, 200);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] send 5 ..150 task 6 ..200 ");
	expect(ROW_OP, "1: 100+100 cost 50 task 5 done before at least; ");
}

static void test_no_session(void **unused)
{
	(void)unused;
	t.config.end_ns = 50; /* before its start */
	start(0, 100, 5);
	op(0, 110, 120, NT_SEND, 1);
	stop(0, 200, 5, 0);
	t.config.end_ns = 100;
	tell();
	expect(ROW_CPU_SLICE, "");
	expect(ROW_OP, "");
	assert_int_equal(t.rows.counts.outside, 1);
}

/* ---- the interface ---- */

static int stop_at_third(void *arg, const struct nt_cpu_slice *slice)
{
	int *n = arg;

	(void)slice;
	return ++*n == 3 ? 42 : 0;
}

struct seen_events {
	uint64_t tasks[4];
	size_t n;
};

static int see_event(void *arg, uint32_t cpu, uint64_t task, const union nt_any *record)
{
	struct seen_events *seen = arg;

	assert_int_equal(cpu, 0);
	assert_int_equal(record->record.kind, NT_RETRANSMIT);
	seen->tasks[seen->n++] = task;
	return seen->n == 4 ? 42 : 0;
}

/* A kind of which the timeline knows nothing goes by, with the task on its CPU as far as that is known. */
static void test_events(void **unused)
{
	struct seen_events seen = {0};
	struct nt_timeline_sink sink = {.arg = &seen, .event = see_event};
	struct nt_timeline_counts counts;

	(void)unused;
	add(0, NT_RETRANSMIT, 99);
	start(0, 100, 5);
	add(0, NT_RETRANSMIT, 110);
	loss(0, NT_SWITCH, 120, 130, 0);
	add(0, NT_RETRANSMIT, 131);
	state(0, 140, 6, 0);
	add(0, NT_RETRANSMIT, 150);
	assert_int_equal(timeline_run(&t.config, t.items, t.n, &sink, &counts), 42);
	assert_int_equal(seen.n, 4);
	assert_int_equal(seen.tasks[0], NO_TASK);
	assert_int_equal(seen.tasks[1], 5);
	assert_int_equal(seen.tasks[2], NO_TASK);
	assert_int_equal(seen.tasks[3], 6);
}

static int stop_at_open(void *arg, const struct nt_span_row *row)
{
	(void)arg;
	return row->still_open ? 42 : 0;
}

static void test_callbacks(void **unused)
{
	int n = 0;
	struct nt_timeline_sink sink = {.arg = &n, .cpu_slice = stop_at_third}, none = {0};
	const struct nt_timeline_sink at_end = {.softirq = stop_at_open};
	struct nt_timeline_counts counts;
	const union nt_any unknown = {.record = {.kind = NT_TASK}};
	struct nt_timeline *timeline;

	(void)unused;
	start(0, 100, 5);
	irq(0, 110, 120);
	irq(0, 130, 140);
	open_op(0, 150, NT_SEND, 105, 1);
	change(0, 150, 5, 6, 1);
	loss(0, NT_SWITCH, 160, 170, 0);
	softirq(0, 171, 172, 3);
	open_softirq(0, 200, 3, 180);
	stop(0, 200, 6, 1);
	assert_int_equal(timeline_run(&t.config, t.items, t.n, &sink, &counts), 42);
	assert_int_equal(n, 3);
	assert_int_equal(timeline_run(&t.config, t.items, t.n, &at_end, &counts), 42);
	assert_int_equal(timeline_run(&t.config, t.items, t.n, &none, &counts), 0);

	timeline = nt_timeline_new(&t.config, &none);
	assert_int_equal(nt_timeline_add(timeline, 3, &t.items[0].record), -EINVAL);
	assert_int_equal(nt_timeline_gap(timeline, 3, 150, 0, ""), -EINVAL);
	assert_int_equal(nt_timeline_add(timeline, 0, &unknown), -EINVAL);
	assert_int_equal(nt_timeline_add(timeline, 2, &t.items[1].record), 0); /* not present: counted, no row */
	assert_int_equal(nt_timeline_gap(timeline, 2, 150, 0, ""), 0);
	assert_int_equal(nt_timeline_counts(timeline)->malformed, 1);
	assert_int_equal(nt_timeline_finish(timeline), 0);
	nt_timeline_free(timeline);
	nt_timeline_free(NULL);
}

static void test_owner_names(void **unused)
{
	(void)unused;
	assert_string_equal(nt_owner_name(NT_OWNER_HARDIRQ), "hardirq");
	assert_string_equal(nt_owner_name(NT_OWNER_UNCOVERED), "uncovered");
	for (int i = 0; i < NT_OWNER_COUNT; i++)
		assert_int_equal(nt_owner_number(nt_owner_name((enum nt_owner)i)), i);
	assert_string_equal(nt_owner_name(NT_OWNER_COUNT), "unknown");
	assert_int_equal(nt_owner_number("unknown"), NT_OWNER_COUNT);
	assert_int_equal(NT_NETWORK_OWNERS,
			 1u << NT_OWNER_NET_RX | 1u << NT_OWNER_NET_TX | 1u << NT_OWNER_SEND | 1u << NT_OWNER_RECV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(owners),
		CASE(softirq_contexts),
		CASE(busy_polls),
		CASE(irq_parts),
		CASE(napi_threads),
		CASE(nested_ops),
		CASE(ops_without_time),
		CASE(blocked_op),
		CASE(op_before_recording),
		CASE(migrated_op),
		CASE(unended_ops),
		CASE(dead_without_open),
		CASE(session_borders),
		CASE(open_at_end),
		CASE(starts),
		CASE(torn),
		CASE(inversions),
		CASE(stale_open),
		CASE(misfits),
		CASE(far_times),
		CASE(no_session),
		CASE(events),
		CASE(callbacks),
		CASE(owner_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
