// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_loss_test.c - what the timeline makes of what is missing, with answers worked out by hand. See
 * timeline_test.c.
 */
#include "tests/unit/timeline/timeline_case.h"

static void test_loss(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 110, 115);
	loss(0, NT_SWITCH, 120, 140, 0);
	irq(0, 141, 145);
	op(0, 112, 147, NT_SEND, 1); /* somebody's, who came after the loss: not in what is before it */
	change(0, 140, 8, 9, 0); /* not after the last that was lost */
	change(0, 150, 9, 5, 0);
	start(1, 100, 6);
	stop(1, 200, 6, 0);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE,
	       "[cpu 0] task 5 ..110 hardirq 5 ..115 uncovered ..150 task 5 ..200 [cpu 1] task 6 ..200 ");
	expect(ROW_LOSS, "cpu 0 115+35 kind 2 count 3; ");
	expect(ROW_OP, "1: 112+35 cost 0 task ? done at least; ");
	expect(ROW_IRQ, "110+5 task 5 2/236; 141+4 task ? 2/236; ");
	expect(ROW_SCHED_SLICE, "cpu 0 100+15 task 5; cpu 1 100+100 task 6; cpu 0 150+50 task 5; ");
}

static void test_loss_of_spans(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 110, 115);
	irq(0, 116, 118);
	loss(0, NT_SOFTIRQ, 117, 130, 113); /* begins before the last records; no switch was lost, so 5 stays */
	softirq(0, 105, 140, 3);
	op(0, 102, 145, NT_SEND, 1);
	open_op(0, 150, NT_RECV, 101, 2);
	change(0, 150, 5, 6, 1);
	change(0, 160, 6, 5, 0);
	op(0, 101, 165, NT_RECV, 2);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE,
	       "[cpu 0] task 5 ..101 recv 5 ..102 send 5 ..105 net_rx 5 ..110 hardirq 5 ..113 uncovered ..150 "
	       "task 6 ..160 recv 5 ..165 task 5 ..200 ");
	expect(ROW_OP, "2: 101+64 cost 6 task 5 done at least; 1: 102+43 cost 3 task 5 done at least; ");
	expect(ROW_LOSS, "cpu 0 113+37 kind 4 count 3; ");
}

/* Where a switch was lost, another task than before is no surprise; where a poll was lost, the task has not changed. */
static void test_lost_switch_explains_another_task(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	start(1, 100, 6);
	loss(0, NT_SWITCH, 120, 130, 0);
	loss(1, NT_NAPI, 120, 130, 0);
	change(0, 150, 8, 9, 0);
	change(1, 150, 7, 9, 0);
	stop(0, 200, 9, 0);
	stop(1, 200, 9, 0);
	tell();
	assert_int_equal(t.rows.counts.undeclared, 1);
}

static void test_losses_together(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 110, 112);
	irq(0, 114, 116);
	loss(0, NT_IRQ, 118, 120, 117);
	loss(0, NT_OP, 113, 130, 0); /* moves the begin back to the end of the first interrupt */
	irq(0, 131, 132);
	loss(0, NT_SWITCH, 140, 160, 0);
	change(0, 150, 5, 6, 0);
	change(0, 170, 6, 7, 0);
	loss(0, NT_STATE, 0, 0, 0); /* times not known, and never a state record again */
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..110 hardirq 5 ..112 uncovered ..200 ");
	expect(ROW_LOSS, "cpu 0 112+58 kind 2 count 3; cpu 0 112+58 kind 5 count 3; cpu 0 112+58 kind 6 count 3; "
			 "cpu 0 170+30 kind 1 count 3; ");
}

static void test_lower_bounds(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	start(1, 100, 6);
	op(0, 101, 104, NT_SEND, 1); /* within a segment, before and after the loss: exact */
	open_op(0, 110, NT_RECV, 105, 2);
	change(0, 110, 5, 0, 1);
	loss(1, NT_SWITCH, 120, 125, 0);
	change(0, 130, 0, 5, 0);
	op(0, 105, 132, NT_RECV, 2); /* may have been there, and that is not over */
	op(0, 133, 135, NT_SEND, 3);
	change(1, 140, 6, 7, 0);
	open_op(0, 145, NT_RECV, 139, 4);
	change(0, 145, 5, 0, 1);
	change(0, 150, 0, 5, 0);
	op(0, 139, 151, NT_RECV, 4);
	open_op(0, 155, NT_RECV, 152, 5); /* begun after it */
	change(0, 155, 5, 0, 1);
	change(0, 160, 0, 5, 0);
	op(0, 152, 162, NT_RECV, 5);
	stop(0, 200, 5, 0);
	stop(1, 200, 7, 0);
	tell();
	expect(ROW_OP,
	       "1: 101+3 cost 3 task 5 done; 2: 105+27 cost 7 task 5 done at least; 3: 133+2 cost 2 task 5 done; "
	       "4: 139+12 cost 7 task 5 done at least; 5: 152+10 cost 5 task 5 done; ");
}

/* An operation known from before is found by its begin and socket, whoever was on the CPU. */
static void test_op_found_in_loss(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	open_op(0, 110, NT_RECV, 105, 1);
	change(0, 110, 5, 0, 1);
	loss(0, NT_SWITCH, 120, 125, 0);
	op(0, 105, 130, NT_RECV, 1);
	change(0, 140, 5, 0, 0);
	stop(0, 200, 0, 0);
	tell();
	expect(ROW_OP, "1: 105+25 cost 5 task 5 done at least; ");
}

static void test_gaps(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	irq(0, 105, 110);
	gap(0, 120, 6); /* what was open at 110 is not known: lost from 100 */
	softirq(0, 115, 125, 3); /* clipped to what follows */
	change(0, 130, 6, 7, 0);
	gap(0, 140, NO_TASK);
	change(0, 140, 7, 8, 0); /* not after it */
	change(0, 150, 8, 9, 0);
	stop(0, 200, 9, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] uncovered ..120 net_rx 6 ..125 task 6 ..130 uncovered ..150 task 9 ..200 ");
	expect(ROW_LOSS, "cpu 0 100+20 kind 0 count 0; cpu 0 130+20 kind 0 count 0; ");
	expect(ROW_IRQ, "105+5 task 5 2/236; ");
	expect(ROW_SOFTIRQ, "115+10 task 6 3/3; ");
	expect(ROW_SCHED_SLICE, "cpu 0 120+10 task 6 switched; cpu 0 150+50 task 9; ");
}

static void test_undeclared(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	change(0, 110, 5, 6, 0);
	op(0, 112, 115, NT_SEND, 1);
	change(0, 120, 7, 6, 0);
	state(0, 130, 9, 0);
	change(0, 140, 9, 5, 0);
	stop(0, 200, 5, 0);
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..110 uncovered ..130 task 9 ..140 task 5 ..200 ");
	expect(ROW_OP, "1: 112+3 cost 0 task ? done at least; ");
	expect(ROW_LOSS, "cpu 0 110+10 kind 0 count 0; cpu 0 120+10 kind 0 count 0; ");
	expect_counts(2, 0, 0);
}

static void test_exec(void **unused)
{
	(void)unused;
	start(0, 100, 11);
	open_op(0, 110, NT_RECV, 105, 1);
	change(0, 110, 11, 0, 1);
	change(0, 120, 0, 11, 0);
	open_op(0, 140, NT_RECV, 105, 1);
	change(0, 140, 10, 0, 1); /* thread 1 of process 1 became its main thread */
	change(0, 150, 0, 10, 0);
	op(0, 105, 160, NT_RECV, 1);
	stop(0, 200, 10, 0);
	tell();
	expect(ROW_CPU_SLICE,
	       "[cpu 0] task 11 ..105 recv 11 ..110 idle 0 ..120 recv 10 ..140 idle 0 ..150 recv 10 ..160 "
	       "task 10 ..200 ");
	expect(ROW_OP, "1: 105+55 cost 35 task 10 done; ");
	expect(ROW_SCHED_SLICE,
	       "cpu 0 100+10 task 11 switched; cpu 0 110+10 task 0 switched; cpu 0 120+20 task 11 switched; "
	       "cpu 0 140+10 task 0 switched; cpu 0 150+50 task 10; ");
	expect_counts(0, 0, 0);
}

static void test_hotplug(void **unused)
{
	(void)unused;
	start(0, 100, 5);
	change(0, 110, 5, 0, 0);
	hotplug(0, 120, 0);
	hotplug(0, 150, 1);
	start(0, 160, 0);
	t.present[1] = 1; /* there, but not online at first */
	hotplug(1, 140, 1);
	change(1, 145, 0, 7, 0);
	stop(0, 200, 0, 0);
	stop(1, 200, 7, 0);
	t.present[2] = 1;
	tell();
	expect(ROW_CPU_SLICE, "[cpu 0] task 5 ..110 idle 0 ..120 offline ..150 uncovered ..160 idle 0 ..200 "
			      "[cpu 1] offline ..140 uncovered ..145 task 7 ..200 [cpu 2] offline ..200 ");
	expect(ROW_SCHED_SLICE,
	       "cpu 0 100+10 task 5 switched; cpu 0 110+10 task 0; cpu 1 145+55 task 7; cpu 0 160+40 task 0; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(loss),
		CASE(loss_of_spans),
		CASE(lost_switch_explains_another_task),
		CASE(losses_together),
		CASE(lower_bounds),
		CASE(op_found_in_loss),
		CASE(gaps),
		CASE(undeclared),
		CASE(exec),
		CASE(hotplug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
