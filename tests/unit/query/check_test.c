// SPDX-License-Identifier: GPL-2.0-only
/*
 * check_test.c - what `check` finds in databases of a few rows: each rule at its bounds, to the nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/check/check.h"
#include "tests/support/rand.h"
#include "tests/support/scratch_db.h"

#define START 1000
#define END 3000

typedef int (*check_fn)(struct nt_check *check);

struct fixture {
	struct nt_check check;
	bool is_cut; /* the recording has no end */
	char *found; /* what the last check found, a line each */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->check.db = scratch_db_new(NULL);
	scratch_db_session(fixture->check.db, 1, START, END, 2);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_db_close(fixture->check.db);
	free(fixture->found);
	free(fixture);
	return 0;
}

static void on_finding(void *out, const struct nt_finding *finding)
{
	fprintf(out, "%d \"%s\": \"%s\"\n", finding->verdict, finding->check, finding->text);
}

static void run(struct fixture *fixture, check_fn check)
{
	struct nt_db *db = fixture->check.db;
	size_t size;
	FILE *out;

	free(fixture->found);
	out = open_memstream(&fixture->found, &size);
	fixture->check = (struct nt_check){.db = db,
					   .session = {.id = 1,
						       .start_ts = START,
						       .end_ts = END,
						       .cpus = 2,
						       .clock_ticks = 100,
						       .is_complete = !fixture->is_cut},
					   .on_finding = on_finding,
					   .arg = out};
	assert_int_equal(nt_check_read(&fixture->check), 0);
	assert_int_equal(check(&fixture->check), 0);
	nt_check_release(&fixture->check);
	fclose(out);
}

#define SQL(...) scratch_db_run(((struct fixture *)*state)->check.db, __VA_ARGS__)

/* The check finds just so many failures, and says this of it, if that is not NULL. */
static void expect_failed(struct fixture *fixture, check_fn check, uint64_t failures, const char *part,
			  const char *what)
{
	run(fixture, check);
	if (fixture->check.found[NT_FOUND_FAILED] != failures)
		fail_msg("%s: %llu failures and not %llu: %s", what,
			 (unsigned long long)fixture->check.found[NT_FOUND_FAILED], (unsigned long long)failures,
			 fixture->found);
	if (part && !strstr(fixture->found, part))
		fail_msg("%s: '%s' is not in %s", what, part, fixture->found);
}
#define OK(check, what) expect_failed(*state, check, 0, NULL, what)
#define FAILED(check, part, what) expect_failed(*state, check, 1, part, what)

/* ---- conservation ---- */

/* Slices of both CPUs that say it all, as cpu_cost does. */
static void two_cpus(void **state)
{
	SQL("INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner) VALUES (1, 1000, 500, 0, 'task'), (1, 1500, 1, 0, "
	    "'send'), "
	    "(1, 1501, 1499, 0, 'idle'), (1, 1000, 2000, 1, 'idle');"
	    "INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) SELECT 1, 1000, 2000, cpu, owner, "
	    "sum(dur) FROM "
	    "cpu_slice GROUP BY cpu, owner");
}

static void slices_follow_one_another(void **state)
{
	two_cpus(state);
	OK(nt_check_conservation, "slices without a gap");
	assert_non_null(
		strstr(((struct fixture *)*state)->found,
		       "\"CPU 0: 3 slices, no overlap, no gap, sum 2,000 ns = the session; uncovered 0 ns (0.00 %)\""));
	SQL("INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner) VALUES (1, 3000, 0, 1, 'idle')");
	FAILED(nt_check_conservation, "with 1 overlaps and 0 gaps", "a slice of no length");
	SQL("DELETE FROM cpu_slice WHERE dur = 0; UPDATE cpu_slice SET ts = 1499, dur = 2 WHERE dur = 1");
	expect_failed(*state, nt_check_conservation, 2, "with 1 overlaps and 0 gaps",
		      "a slice that begins a nanosecond early");
	SQL("UPDATE cpu_slice SET ts = 1501, dur = 0 WHERE dur = 2");
	expect_failed(*state, nt_check_conservation, 2, "with 1 overlaps and 1 gaps", "a gap of a nanosecond");
}

static void slices_are_all_of_the_session(void **state)
{
	two_cpus(state);
	SQL("UPDATE cpu_slice SET dur = 1999 WHERE cpu = 1; UPDATE cpu_cost SET spent_ns = 1999 WHERE cpu = 1");
	FAILED(nt_check_conservation, "they end elsewhere", "slices that end a nanosecond early");
	SQL("UPDATE cpu_slice SET ts = 1001 WHERE cpu = 1");
	FAILED(nt_check_conservation, "with 0 overlaps and 1 gaps", "slices that begin a nanosecond late");
	SQL("DELETE FROM cpu_slice WHERE cpu = 1; DELETE FROM cpu_cost WHERE cpu = 1");
	FAILED(nt_check_conservation, "1 CPUs have slices, but the session has 2", "a CPU without slices");
}

static void slices_are_of_what_there_is(void **state)
{
	static const char *const changes[] = {"owner = 'nobody'", "cpu = -1", "cpu = 65536",
					      "ts = 9223372036854775807, dur = 9"};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		SQL("DELETE FROM cpu_slice; DELETE FROM cpu_cost");
		two_cpus(state);
		SQL("UPDATE cpu_slice SET %s WHERE owner = 'send'", changes[i]);
		run(*state, nt_check_conservation);
		if (!strstr(((struct fixture *)*state)->found, "\"1 slices have an impossible CPU, owner or time\""))
			fail_msg("%s: %s", changes[i], ((struct fixture *)*state)->found);
	}
}

static void sums_are_those_of_slices(void **state)
{
	two_cpus(state);
	SQL("UPDATE cpu_cost SET spent_ns = 2 WHERE owner = 'send'");
	FAILED(nt_check_conservation, "1 sums in cpu_cost are not those of cpu_slice",
	       "a sum that is a nanosecond more");
	SQL("DELETE FROM cpu_cost WHERE owner = 'send'");
	FAILED(nt_check_conservation, "1 sums in cpu_cost are not those of cpu_slice", "a sum that is missing");
	SQL("INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) VALUES (1, 1000, 2000, 0, 'send', 1), "
	    "(1, 1000, 2000, 0, 'nobody', 0)");
	FAILED(nt_check_conservation, "1 sums in cpu_cost are not those of cpu_slice", "a sum of no owner");
}

/* Without a loss a thousandth may be uncovered: of 2,000 ns, 2. */
static void what_is_uncovered_needs_a_loss(void **state)
{
	two_cpus(state);
	SQL("UPDATE cpu_slice SET dur = 1998 WHERE cpu = 1; UPDATE cpu_cost SET spent_ns = 1998 WHERE cpu = 1;"
	    "INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner) VALUES (1, 2998, 2, 1, 'uncovered');"
	    "INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) VALUES (1, 1000, 2000, 1, 'uncovered', "
	    "2)");
	OK(nt_check_conservation, "a thousandth is uncovered");
	SQL("UPDATE cpu_slice SET dur = dur + CASE owner WHEN 'idle' THEN -1 ELSE 1 END, ts = ts - (owner = "
	    "'uncovered') WHERE "
	    "cpu = 1; UPDATE cpu_cost SET spent_ns = spent_ns + CASE owner WHEN 'idle' THEN -1 ELSE 1 END WHERE cpu = "
	    "1");
	FAILED(nt_check_conservation, "CPU 1: 3 ns are uncovered, and no loss explains it", "more than that");
	SQL("INSERT INTO loss(session_id, ts, dur, cpu, kind, count, why) VALUES (1, 2997, 3, 0, 'op', 1, 'ring "
	    "full'), "
	    "(1, 2997, 3, 1, 'latency', 1, 'ring full')");
	FAILED(nt_check_conservation, "and no loss explains it", "with losses of another CPU and of samples");
	SQL("UPDATE loss SET cpu = 1");
	OK(nt_check_conservation, "with a loss that explains it");
}

/* ---- threads ---- */

static void threads_are_in_one_place(void **state)
{
	SQL("INSERT INTO sched_slice(session_id, ts, dur, cpu, utid) VALUES (1, 1000, 50, 0, 7), (1, 1050, 50, 1, 7), "
	    "(1, 1020, 50, 1, 8), (1, 1000, 99, 0, 0), (1, 1000, 99, 1, 0)");
	OK(nt_check_threads, "a thread that goes to another CPU within a nanosecond");
	run(*state, nt_check_threads);
	assert_non_null(strstr(((struct fixture *)*state)->found, "2 threads, 3 slices"));
	SQL("UPDATE sched_slice SET ts = 1049 WHERE ts = 1050");
	FAILED(nt_check_threads, "1 times a thread was on two CPUs at once", "a thread on two CPUs for a nanosecond");
	SQL("INSERT INTO thread(session_id, utid, upid) VALUES (1, 7, 7)");
	for (int ts = 1000; ts <= 1049; ts += 49) {
		SQL("UPDATE thread SET upid = 7");
		SQL("UPDATE sched_slice SET end_state = CASE ts WHEN %d THEN 'X' END WHERE utid = 7", ts);
		OK(nt_check_threads, "a main thread that leaves its CPU for good, and the one that took its place");
		run(*state, nt_check_threads);
		assert_non_null(strstr(((struct fixture *)*state)->found, "took their place: 1"));
		SQL("UPDATE thread SET upid = 8");
		FAILED(nt_check_threads, "1 times a thread was on two CPUs at once", "the end of another thread");
	}
	SQL("UPDATE thread SET upid = 7; UPDATE sched_slice SET end_state = 'S'");
	FAILED(nt_check_threads, "1 times a thread was on two CPUs at once", "a main thread that goes to sleep");
	SQL("UPDATE sched_slice SET session_id = 2 WHERE ts = 1049");
	OK(nt_check_threads, "a thread of another session");
}

/* Stays of a few threads, in the order of time or not, of which some overlap. */
static void any_stays(void **state, struct nt_rand *rand, bool in_order)
{
	int ts = START;

	SQL("DELETE FROM sched_slice");
	for (int i = 0; i < 40; i++) {
		ts = in_order ? ts + (int)nt_rand_below(rand, 20) : START + (int)nt_rand_below(rand, 400);
		SQL("INSERT INTO sched_slice(session_id, ts, dur, cpu, utid) VALUES (%d, %d, %d, %d, %d)",
		    1 + !nt_rand_below(rand, 9), ts, (int)nt_rand_below(rand, in_order ? 8 : 30),
		    (int)nt_rand_below(rand, 2), (int)nt_rand_below(rand, 5));
	}
}

/* In passing, all overlaps are noticed; then stays are sorted, and so are those that come in no order. */
static void no_overlap_is_missed_in_passing(void **state)
{
	struct fixture *fixture = *state;
	unsigned int passed_in_order = 0;
	struct nt_rand rand = {.state = 15};

	run(fixture, nt_check_threads);
	for (int i = 0; i < 60; i++) {
		struct nt_check_threads sorted = {0};
		const struct nt_check_threads *passed = &fixture->check.events.threads;

		any_stays(state, &rand, i % 2);
		assert_int_equal(nt_check_read(&fixture->check), 0);
		assert_int_equal(nt_check_sort_threads(&fixture->check, &sorted), 0);
		if (i % 2)
			assert_int_equal(passed->needs_sorting, sorted.overlaps != 0);
		if (!passed->needs_sorting) {
			passed_in_order += i % 2;
			assert_int_equal(passed->n, sorted.n);
			assert_int_equal(passed->stays, sorted.stays);
			assert_int_equal(sorted.overlaps, 0);
		}
		nt_check_release(&fixture->check);
	}
	assert_in_range(passed_in_order, 1, 29);
	SQL("DELETE FROM sched_slice; INSERT INTO sched_slice(session_id, ts, dur, cpu, utid) VALUES "
	    "(1, 1500, 50, 0, 7), (1, 1000, 50, 1, 7), (1, 1040, 20, 0, 7)");
	FAILED(nt_check_threads, "1 times a thread was on two CPUs at once", "stays that are in no order");
}

/* ---- operations ---- */

static void operations(void **state)
{
	SQL("INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) VALUES (1, 1000, 2000, 0, 'send', 30), "
	    "(1, 1000, 2000, 1, 'recv', 12), (1, 1000, 2000, 0, 'task', 99);"
	    "INSERT INTO sock_op(session_id, ts, dur, cpu_ns, utid, op, syscall, bytes, result, flags, cpu) VALUES "
	    "(1, 1000, 30, 30, 7, 'send', 'write', 1000, 'ok', '', 0), (1, 1100, 7, 7, 7, 'recv', 'read', 200, 'ok', "
	    "'kernel', 1),"
	    "(1, 1200, 5, 5, 7, 'recv', 'read', 40, 'ok', 'peek', 1), (1, 1300, 0, 0, 7, 'recv', 'read', 3, 'ok', "
	    "'errqueue,before', 1), (1, 1400, NULL, NULL, 7, 'recv', 'read', NULL, 'EAGAIN', '', 1);"
	    "INSERT INTO sock_cost(session_id, ts, dur, utid, op, ops, failed, untimed, lower_bound, bytes, cpu_ns) "
	    "VALUES "
	    "(1, 1000, 2000, 7, 'send', 1, 0, 0, 0, 1000, 30), (1, 1000, 2000, 7, 'recv', 4, 1, 1, 0, 200, 12)");
}

static void operations_cost_what_slices_say(void **state)
{
	operations(state);
	OK(nt_check_operations, "operations that cost what slices and sums say");
	SQL("UPDATE cpu_cost SET spent_ns = 31 WHERE owner = 'send'");
	FAILED(nt_check_operations, "but the slices of send and recv sum to 43 ns",
	       "a slice that is a nanosecond more");
}

static void sums_are_those_of_operations(void **state)
{
	operations(state);
	SQL("UPDATE sock_cost SET cpu_ns = 11 WHERE op = 'recv'");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "a nanosecond less");
	SQL("UPDATE sock_cost SET cpu_ns = 12, ops = 5 WHERE op = 'recv'");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "an operation more");
	SQL("UPDATE sock_cost SET ops = 4, bytes = 201 WHERE op = 'recv'");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "a byte more");
	SQL("UPDATE sock_cost SET bytes = 240 WHERE op = 'recv'");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "bytes of a peek");
	SQL("UPDATE sock_cost SET bytes = 203 WHERE op = 'recv'");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "bytes of the error queue");
	SQL("UPDATE sock_cost SET bytes = bytes + CASE op WHEN 'send' THEN 3 ELSE -3 END");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "bytes sent that were received");
	SQL("UPDATE sock_cost SET bytes = CASE op WHEN 'send' THEN 1000 ELSE 200 END");
	OK(nt_check_operations, "all as it was");
	SQL("DELETE FROM sock_cost");
	FAILED(nt_check_operations, "sock_cost is not the sum of sock_op", "no sums");
	SQL("DELETE FROM sock_op; DELETE FROM cpu_cost");
	OK(nt_check_operations, "no operations");
}

/* ---- /proc/softirqs ---- */

/* Snapshots of CPU 0 at 1100 to 1110 ns, 1200 to 1210 and so on, after each of which the vector's count is so much. */
static void snapshots(void **state, const char *vec, size_t n, const int *counts)
{
	SQL("DELETE FROM proc_counter; DELETE FROM softirq_slice; DELETE FROM loss; DELETE FROM cpu_cost;"
	    "INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) VALUES (1, 1000, 2000, 0, 'idle', 2000)");
	for (size_t i = 0; i < n; i++)
		SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES (1, %d, "
		    "%d, "
		    "'/proc/softirqs', 0, '%s', %d)",
		    1100 + 100 * (int)i, 1110 + 100 * (int)i, vec, counts[i]);
}

static void softirqs(void **state, const char *vec, int n, int ts)
{
	while (n--)
		SQL("INSERT INTO softirq_slice(session_id, ts, dur, cpu, vec, context) VALUES (1, %d, 1, 0, '%s', "
		    "'op')",
		    ts, vec);
}

/* Two softirqs that begin at `ts`, between two snapshots that differ by `change`. */
static void expect_pair(void **state, int ts, int change, bool is_right, const char *what)
{
	snapshots(state, "NET_RX", 2, (const int[]){70, 70 + change});
	softirqs(state, "NET_RX", 2, ts);
	expect_failed(*state, nt_check_softirqs, !is_right, is_right ? NULL : "/proc/softirqs changed by", what);
}

static void softirqs_are_counted_by_the_snapshot_they_begin_in(void **state)
{
	expect_pair(state, 1150, 2, true, "between two snapshots");
	expect_pair(state, 1150, 0, false, "between two snapshots, and not counted");
	/* A softirq that begins while a snapshot is taken may be in it or not. */
	expect_pair(state, 1099, 2, false, "before the first snapshot");
	expect_pair(state, 1100, 0, true, "as the first snapshot begins");
	expect_pair(state, 1100, 2, true, "as the first snapshot begins, and counted after it");
	expect_pair(state, 1110, 0, true, "as the first snapshot ends");
	expect_pair(state, 1110, 2, true, "as the first snapshot ends, and counted after it");
	expect_pair(state, 1111, 0, false, "behind the first snapshot");
	expect_pair(state, 1199, 0, false, "before the second snapshot");
	expect_pair(state, 1200, 0, true, "as the second snapshot begins");
	expect_pair(state, 1200, 2, true, "as the second snapshot begins, and counted in it");
	expect_pair(state, 1210, 0, true, "as the second snapshot ends");
	expect_pair(state, 1210, 2, true, "as the second snapshot ends, and counted in it");
	expect_pair(state, 1211, 2, false, "behind the second snapshot");
}

static void softirqs_of_every_vector_are_compared(void **state)
{
	static const char *const vecs[] = {"HI",       "TIMER",	  "NET_TX", "NET_RX",  "BLOCK",
					   "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++) {
		snapshots(state, vecs[i], 2, (const int[]){70, 73});
		softirqs(state, vecs[i], 3, 1150);
		OK(nt_check_softirqs, vecs[i]);
		assert_non_null(strstr(((struct fixture *)*state)->found, "1 changes of /proc/softirqs"));
		softirqs(state, vecs[i], 2, 1150);
		FAILED(nt_check_softirqs, vecs[i], vecs[i]);
	}
}

/* The kernel counts one a moment before it begins: that one is missing from the next change, and no more. */
static void a_softirq_may_be_counted_before_it_begins(void **state)
{
	snapshots(state, "NET_RX", 3, (const int[]){70, 71, 71});
	softirqs(state, "NET_RX", 1, 1250);
	OK(nt_check_softirqs, "counted before the second snapshot, begun behind it");
	snapshots(state, "NET_RX", 3, (const int[]){70, 71, 72});
	FAILED(nt_check_softirqs, "from 1200 to 1310 ns", "two counted and never begun");
	snapshots(state, "NET_RX", 3, (const int[]){70, 71, 70});
	softirqs(state, "NET_RX", 1, 1250);
	FAILED(nt_check_softirqs, "from 1200 to 1310 ns", "one that is owed twice");
	snapshots(state, "NET_RX", 2, (const int[]){70, 70});
	softirqs(state, "NET_RX", 1, 1150);
	OK(nt_check_softirqs, "counted before the first snapshot, begun behind it");
	/* Another CPU owes nothing. */
	snapshots(state, "NET_RX", 2, (const int[]){70, 71});
	SQL("INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) VALUES (1, 1000, 2000, 1, 'idle', 2000);"
	    "INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES "
	    "(1, 1100, 1110, '/proc/softirqs', 1, 'NET_RX', 4), (1, 1200, 1210, '/proc/softirqs', 1, 'NET_RX', 5)");
	OK(nt_check_softirqs, "one of each CPU counted and not begun");
	/* Another vector owes nothing. */
	snapshots(state, "NET_RX", 2, (const int[]){70, 71});
	SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES "
	    "(1, 1100, 1110, '/proc/softirqs', 0, 'NET_TX', 4), (1, 1200, 1210, '/proc/softirqs', 0, 'NET_TX', 5)");
	OK(nt_check_softirqs, "one of each vector counted and not begun");
}

/* After a failure, and where something was lost, it is not known what is owed. */
static void after_a_failure_nothing_is_owed(void **state)
{
	snapshots(state, "NET_RX", 3, (const int[]){70, 75, 76});
	softirqs(state, "NET_RX", 1, 1250);
	FAILED(nt_check_softirqs, "from 1100 to 1210 ns", "only the first change is wrong");
	snapshots(state, "NET_RX", 4, (const int[]){70, 71, 71, 72});
	SQL("INSERT INTO loss(session_id, ts, dur, cpu, kind, count, why) VALUES (1, 1250, 10, 0, 'softirq', 3, 'ring "
	    "full')");
	OK(nt_check_softirqs, "one that began where something was lost, and another that was counted before it begins");
	assert_non_null(
		strstr(((struct fixture *)*state)->found, "; 1 of them include a loss or an end of the session"));
}

/* A database may be anybody's: the same snapshot twice, and the last one. */
static void a_snapshot_may_stand_twice(void **state)
{
	snapshots(state, "NET_RX", 2, (const int[]){70, 70});
	SQL("INSERT INTO proc_counter SELECT * FROM proc_counter");
	OK(nt_check_softirqs, "each snapshot stands twice");
}

/* Where something was lost, records may be missing; where nothing was, they may not. */
static void softirqs_may_be_lost(void **state)
{
	expect_pair(state, 1150, 5, false, "three were not recorded");
	SQL("INSERT INTO loss(session_id, ts, dur, cpu, kind, count, why) VALUES (1, 1050, 50, 0, 'softirq', 3, 'ring "
	    "full')");
	OK(nt_check_softirqs, "lost up to the first snapshot's begin");
	SQL("UPDATE loss SET dur = 49");
	FAILED(nt_check_softirqs, NULL, "lost before the first snapshot");
	SQL("UPDATE loss SET ts = 1210");
	OK(nt_check_softirqs, "lost from the second snapshot's end on");
	SQL("UPDATE loss SET ts = 1211");
	FAILED(nt_check_softirqs, NULL, "lost behind the second snapshot");
	SQL("UPDATE loss SET ts = 1150, cpu = 1");
	FAILED(nt_check_softirqs, NULL, "lost on another CPU");
	SQL("UPDATE loss SET cpu = 0, kind = 'latency'");
	FAILED(nt_check_softirqs, NULL, "samples lost");
	/* More records than were counted are wrong also there, but for one that was cut and one that was counted
	 * before. */
	snapshots(state, "NET_RX", 2, (const int[]){70, 71});
	softirqs(state, "NET_RX", 3, 1150);
	SQL("INSERT INTO loss(session_id, ts, dur, cpu, kind, count, why) VALUES (1, 1150, 10, 0, 'softirq', 3, 'ring "
	    "full')");
	OK(nt_check_softirqs, "two records more than were counted, of a CPU with one loss");
	softirqs(state, "NET_RX", 1, 1150);
	FAILED(nt_check_softirqs, NULL, "three records more than were counted");
}

/* At the session's ends softirqs are not recorded while the snapshots still count them. */
static void snapshots_about_the_ends_are_compared_from_below(void **state)
{
	for (int shift = -1; shift <= 0; shift++) {
		snapshots(state, "NET_RX", 2, (const int[]){70, 75});
		softirqs(state, "NET_RX", 2, 1150);
		SQL("UPDATE proc_counter SET ts_begin = 1000 + %d, ts_end = 1010 WHERE ts_begin = 1100", shift);
		expect_failed(*state, nt_check_softirqs, !shift, NULL, "a snapshot at the session's start");
		snapshots(state, "NET_RX", 2, (const int[]){70, 75});
		softirqs(state, "NET_RX", 2, 1150);
		SQL("UPDATE proc_counter SET ts_end = 3000 - %d WHERE ts_begin = 1200", shift);
		expect_failed(*state, nt_check_softirqs, !shift, NULL, "a snapshot at the session's end");
	}
}

static void says_of_many_failures_how_many(void **state)
{
	struct fixture *fixture = *state;
	size_t lines = 0;

	snapshots(state, "NET_RX", 9, (const int[]){0, 5, 10, 15, 20, 25, 30, 35, 40});
	expect_failed(fixture, nt_check_softirqs, 8, NULL, "eight changes without a softirq");
	for (const char *at = fixture->found; (at = strstr(at, "changed by 5")); at++)
		lines++;
	assert_int_equal(lines, 5);
}

static void softirqs_that_were_not_recorded_are_not_compared(void **state)
{
	expect_pair(state, 1150, 0, false, "recorded");
	SQL("INSERT INTO session_meta(session_id, key, value) VALUES (1, 'probes', 'sched,softirq,irq')");
	FAILED(nt_check_softirqs, NULL, "recorded, and named");
	SQL("UPDATE session_meta SET value = 'sched,softirqs,irq'");
	OK(nt_check_softirqs, "the probe was off");
	assert_int_equal(((struct fixture *)*state)->check.found[NT_FOUND_NOTE], 1);
	SQL("DELETE FROM session_meta; DELETE FROM proc_counter WHERE ts_begin > 1100");
	OK(nt_check_softirqs, "one snapshot");
	assert_int_equal(((struct fixture *)*state)->check.found[NT_FOUND_NOTE], 1);
}

/* ---- counters ---- */

static void records_are_as_many_as_were_written(void **state)
{
	SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES "
	    "(1, 1500, 1500, 'nettape/cpus', 0, 'op.written', 1), (1, 2000, 2000, 'nettape/cpus', 0, 'op.written', 5), "
	    "(1, 2000, 2000, 'nettape/cpus', 0, 'op.lost', 2), (1, 2000, 2000, 'nettape/cpus', 1, 'socket.written', 9);"
	    "INSERT INTO record_count(session_id, cpu, kind, records, lost) VALUES (1, 0, 'op', 5, 2)");
	OK(nt_check_written, "as many as the last snapshot says");
	SQL("UPDATE record_count SET records = 4");
	FAILED(nt_check_written, "CPU 0, op: the kernel side wrote 5 and lost 2, the tape has 4",
	       "a record is missing");
	SQL("UPDATE record_count SET records = 5, lost = 1");
	FAILED(nt_check_written, "says that 1 were lost", "a loss that was not declared");
	SQL("UPDATE record_count SET lost = 2; INSERT INTO record_count(session_id, cpu, kind, records, lost) VALUES "
	    "(1, 1, 'irq', 1, 0)");
	FAILED(nt_check_written, "CPU 1, irq", "records of a kind that was not counted");
	SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES "
	    "(1, 2000, 2000, 'nettape/cpus', 1, 'irq.written', 1), (1, 2000, 2000, 'nettape/cpus', 1, 'socket.lost', "
	    "1)");
	FAILED(nt_check_written, "CPU 1, socket", "an identity that was lost");
	SQL("DELETE FROM proc_counter");
	OK(nt_check_written, "no snapshot");
	assert_int_equal(((struct fixture *)*state)->check.found[NT_FOUND_NOTE], 1);
}

/* A program's own counter: the last value of each counts. */
static void program(void **state, const char *name, const char *counter, int value)
{
	SQL("INSERT INTO self_cost(session_id, ts, program, name, value) VALUES (1, 1500, '%s', '%s', 0), (1, 2000, "
	    "'%s', '%s', %d)",
	    name, counter, name, counter, value);
}

static void has(void **state, const char *part)
{
	struct fixture *fixture = *state;

	if (!strstr(fixture->found, part))
		fail_msg("'%s' is not in %s", part, fixture->found);
}

/* Where nothing was recorded, there is nothing to say. */
static void expect_silence(void **state, check_fn check)
{
	struct fixture *fixture = *state;

	SQL("DELETE FROM self_cost; DELETE FROM skb_latency; DELETE FROM sched_wakeup; DELETE FROM stack_sample");
	OK(check, "nothing recorded");
	assert_int_equal(fixture->check.found[NT_FOUND_OK], 0);
}

static void samples_are_as_many_as_were_recorded(void **state)
{
	program(state, "nt_latency_ip_start__a", "recorded", 2);
	program(state, "nt_latency_ip_start__b", "recorded", 1);
	program(state, "nt_latency_ip_start__b", "no_stamp", 40);
	SQL("INSERT INTO skb_latency(session_id, ts, cpu, hook, queue_len, weight, flags) VALUES (1, 1500, 0, "
	    "'ip-start', 0, 1, ''), "
	    "(1, 1501, 0, 'ip-start', 0, 1, ''), (1, 1502, 0, 'ip-start', 0, 1, ''), (2, 1503, 0, 'ip-start', 0, 1, "
	    "''), "
	    "(1, 1500, 0, 'tcp-start', 0, 1, '')");
	OK(nt_check_hooks, "three packets of two programs");
	has(state, "ip-start: packets that passed: 43, samples of them: 3;");
	SQL("DELETE FROM skb_latency WHERE ts = 1501");
	FAILED(nt_check_hooks, "ip-start: its programs recorded 3 packets, and the tape has 2 samples",
	       "a sample is missing");
	expect_silence(state, nt_check_hooks);
}

static void wakeups_are_as_many_as_were_recorded(void **state)
{
	program(state, "nt_sched_waking", "recorded", 2);
	program(state, "nt_sched_waking", "lost", 7);
	program(state, "nt_sched_wakeup_new", "recorded", 1);
	SQL("INSERT INTO sched_wakeup(session_id, ts, cpu, target_cpu, priority, what, was_runnable) VALUES (1, 1500, "
	    "0, 0, 0, 'waking', "
	    "0), (1, 1501, 0, 0, 0, 'waking', 0), (1, 1502, 0, 0, 0, 'new', 0)");
	OK(nt_check_wakeups, "wake-ups of both programs");
	has(state, "waking: 2 recorded, and as many on the tape; 7 lost");
	SQL("DELETE FROM sched_wakeup WHERE what = 'new'");
	FAILED(nt_check_wakeups, "new: the program recorded 1, and the tape has 0", "a wake-up is missing");
	expect_silence(state, nt_check_wakeups);
}

static void stacks_are_as_many_as_were_recorded(void **state)
{
	program(state, "nt_stack_sample", "recorded", 3);
	program(state, "nt_stack_sample", "lost", 5);
	program(state, "nt_stack_sample", "skipped_owner", 6);
	SQL("INSERT INTO stack(session_id, id, kind, symbol_id, depth) VALUES (1, 8, 'kernel', 1, 1);"
	    "INSERT INTO stack_sample(session_id, ts, cpu, owner, context, in_user, stack_id, error, flags) VALUES "
	    "(1, 1500, 0, 'send', 'task', 0, 8, NULL, ''), (1, 1501, 0, 'send', 'task', 0, 9, NULL, ''), "
	    "(1, 1502, 0, 'send', 'task', 0, NULL, 14, '')");
	OK(nt_check_stacks, "three samples");
	has(state, "3 samples recorded, and as many on the tape; 5 lost, 6 of other owners left out, 1 could not be "
		   "unwound, of 1 the "
		   "frames were lost");
	SQL("DELETE FROM stack_sample WHERE ts = 1500");
	FAILED(nt_check_stacks, "the program recorded 3 samples, and the tape has 2", "a sample is missing");
	expect_silence(state, nt_check_stacks);
}

/* Without its end a recording has no last counts. */
static void counts_of_a_recording_without_an_end_are_not_compared(void **state)
{
	static const check_fn checks[] = {nt_check_written, nt_check_hooks, nt_check_wakeups, nt_check_stacks};
	struct fixture *fixture = *state;

	program(state, "nt_latency_ip_start__a", "recorded", 2);
	program(state, "nt_sched_waking", "recorded", 2);
	program(state, "nt_stack_sample", "recorded", 3);
	SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES (1, 1500, 1500, "
	    "'nettape/cpus', 0, "
	    "'op.written', 1)");
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		FAILED(checks[i], NULL, "whole");
		fixture->is_cut = true;
		OK(checks[i], "without its end");
		assert_int_equal(fixture->check.found[NT_FOUND_NOTE], checks[i] == nt_check_written);
		fixture->is_cut = false;
	}
}

/* In ticks of 10 ms, beside what the recording says. */
static void proc_stat_is_shown(void **state)
{
	struct fixture *fixture = *state;

	SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES "
	    "(1, 1100, 1110, '/proc/stat', 0, 'idle', 10), (1, 1200, 1210, '/proc/stat', 0, 'idle', 12), "
	    "(1, 1100, 1110, '/proc/stat', 0, 'iowait', 1), (1, 1200, 1210, '/proc/stat', 0, 'iowait', 2), "
	    "(1, 1100, 1110, '/proc/stat', 0, 'softirq', 5), (1, 1200, 1210, '/proc/stat', 0, 'softirq', 9), "
	    "(1, 1100, 1110, '/proc/stat', 0, 'steal', 0), (1, 1200, 1210, '/proc/stat', 0, 'steal', 7), "
	    "(1, 1200, 1210, '/proc/stat', NULL, 'idle', 99);"
	    "INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) VALUES (1, 1000, 2000, 0, 'idle', 11), "
	    "(1, 1000, 2000, 0, "
	    "'net_rx', 13), (1, 1000, 2000, 0, 'net_tx', 100), (1, 1000, 2000, 0, 'softirq', 200), (1, 1000, 2000, 0, "
	    "'send', 7), "
	    "(1, 1000, 2000, 1, 'idle', 500)");
	OK(nt_check_stat, "a CPU of which there are two snapshots");
	assert_int_equal(fixture->check.found[NT_FOUND_NOTE], 1);
	has(state, "CPU 0: idle 30.00 ms (here 11 ns), softirqs 40.00 ms (here 313 ns), stolen 70.00 ms;");
}

static void on_no_finding(void *arg, const struct nt_finding *finding)
{
	(void)arg;
	(void)finding;
}

/* A database may lack what a check reads: that is an error of its own, and no finding. */
static void what_cannot_be_read_is_an_error(void **state)
{
	static const struct {
		check_fn check;
		const char *table;
	} cases[] = {
		{nt_check_conservation, "cpu_slice"}, {nt_check_conservation, "cpu_cost"},
		{nt_check_threads, "sched_slice"},    {nt_check_operations, "sock_op"},
		{nt_check_operations, "sock_cost"},   {nt_check_operations, "cpu_cost"},
		{nt_check_written, "record_count"},   {nt_check_hooks, "skb_latency"},
		{nt_check_wakeups, "sched_wakeup"},   {nt_check_stacks, "stack_sample"},
		{nt_check_softirqs, "session_meta"},  {nt_check_softirqs, "proc_counter"},
		{nt_check_softirqs, "softirq_slice"}, {nt_check_softirqs, "loss"},
		{nt_check_misses, "self_cost"},	      {nt_check_stat, "proc_counter"},
	};
	struct fixture *fixture = *state;

	snapshots(state, "NET_RX", 2, (const int[]){70, 70});
	/* So that views go on asking for the table by its name. */
	SQL("PRAGMA legacy_alter_table = ON");
	fixture->check.session.is_complete = true;
	fixture->check.on_finding = on_no_finding;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		SQL("ALTER TABLE %s RENAME TO away", cases[i].table);
		fixture->check.session.id = 1;
		fixture->check.db->error[0] = 0;
		if ((!nt_check_read(&fixture->check) && cases[i].check(&fixture->check) != -1) ||
		    !strstr(fixture->check.db->error, cases[i].table))
			fail_msg("without %s: '%s'", cases[i].table, fixture->check.db->error);
		nt_check_release(&fixture->check);
		SQL("ALTER TABLE away RENAME TO %s", cases[i].table);
	}
}

static void misses_are_losses(void **state)
{
	struct fixture *fixture = *state;

	SQL("INSERT INTO self_cost(session_id, ts, program, name, value) VALUES (1, 1100, 'nt_x', 'misses', 3), "
	    "(1, 1200, 'nt_x', 'misses', 3), (1, 1100, 'nt_y', 'misses', 9), (1, 1100, NULL, 'misses', 1), (1, 1200, "
	    "NULL, 'misses', "
	    "5)");
	run(fixture, nt_check_misses);
	assert_int_equal(fixture->check.found[NT_FOUND_LOSS], 0);
	assert_int_equal(fixture->check.found[NT_FOUND_OK], 1);
	SQL("INSERT INTO self_cost(session_id, ts, program, name, value) VALUES (1, 1300, 'nt_x', 'misses', 7), "
	    "(1, 1200, 'nt_name_sender', 'misses', 1), (1, 1300, 'nt_name_sender', 'misses', 2)");
	run(fixture, nt_check_misses);
	assert_int_equal(fixture->check.found[NT_FOUND_LOSS], 1);
	assert_int_equal(fixture->check.found[NT_FOUND_OK], 0);
	assert_non_null(strstr(fixture->found, "left out 4 runs of nt_x between 1200 and 1300 ns"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(slices_follow_one_another),
		TEST(slices_are_all_of_the_session),
		TEST(slices_are_of_what_there_is),
		TEST(sums_are_those_of_slices),
		TEST(what_is_uncovered_needs_a_loss),
		TEST(threads_are_in_one_place),
		TEST(no_overlap_is_missed_in_passing),
		TEST(operations_cost_what_slices_say),
		TEST(sums_are_those_of_operations),
		TEST(softirqs_are_counted_by_the_snapshot_they_begin_in),
		TEST(softirqs_of_every_vector_are_compared),
		TEST(a_softirq_may_be_counted_before_it_begins),
		TEST(after_a_failure_nothing_is_owed),
		TEST(a_snapshot_may_stand_twice),
		TEST(softirqs_may_be_lost),
		TEST(snapshots_about_the_ends_are_compared_from_below),
		TEST(says_of_many_failures_how_many),
		TEST(softirqs_that_were_not_recorded_are_not_compared),
		TEST(records_are_as_many_as_were_written),
		TEST(samples_are_as_many_as_were_recorded),
		TEST(wakeups_are_as_many_as_were_recorded),
		TEST(stacks_are_as_many_as_were_recorded),
		TEST(counts_of_a_recording_without_an_end_are_not_compared),
		TEST(proc_stat_is_shown),
		TEST(what_cannot_be_read_is_an_error),
		TEST(misses_are_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
