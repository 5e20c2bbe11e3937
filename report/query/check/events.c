// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - see events.h.
 */
#include <stdlib.h>
#include <string.h>

#include "report/db/scan.h"
#include "report/query/check/check.h"
#include "report/util/array.h"

bool nt_check_add(int64_t *sum, int64_t more)
{
	int64_t both;
	const bool fits = !__builtin_add_overflow(*sum, more, &both);

	if (fits)
		*sum = both;
	return fits;
}

bool nt_check_clip(const struct nt_check *check, int64_t *ts, int64_t *dur)
{
	int64_t end;

	if (__builtin_add_overflow(*ts, *dur, &end) || *ts >= check->to_ts || end <= check->from_ts)
		return false;
	*ts = *ts > check->from_ts ? *ts : check->from_ts;
	/* A database may have a session that is longer than all numbers. */
	return !__builtin_sub_overflow(end < check->to_ts ? end : check->to_ts, *ts, dur);
}

/* The findings ask for them by SQL. */
static uint64_t small(void)
{
	return nt_tables_of(NT_FROM(ALL) | NT_FROM(COUNTS) | NT_FROM(LOSSES) | NT_FROM(SUMS) | NT_FROM(CHARGES));
}

static int read_part(struct nt_check *check)
{
#define BIT NT_COLUMN_BIT
	const struct nt_scan_reader readers[] = {
		{NT_TABLE_CPU_SLICE,
		 BIT(cpu_slice, ts) | BIT(cpu_slice, dur) | BIT(cpu_slice, cpu) | BIT(cpu_slice, owner) |
			 BIT(cpu_slice, utid),
		 nt_check_take_slice, check},
		{NT_TABLE_SCHED_SLICE,
		 BIT(sched_slice, ts) | BIT(sched_slice, dur) | BIT(sched_slice, utid) | BIT(sched_slice, cpu),
		 nt_check_take_stay, check},
		{NT_TABLE_SOCK_OP,
		 BIT(sock_op, ts) | BIT(sock_op, dur) | BIT(sock_op, cpu_ns) | BIT(sock_op, utid) | BIT(sock_op, op),
		 nt_check_take_op, check},
	};
	const struct nt_scan_want want = {.small = NT_TABLE_BIT(NT_TABLE_LOSS), .all_ops = true};
#undef BIT

	/* The last is of operations, which end where they may: a tape is read up to there. */
	return nt_scan_within(check->db, check->session.id, &want, readers,
			      NT_COUNT(readers) - !nt_check_has_operations(check));
}

int nt_check_read(struct nt_check *check)
{
#define BIT NT_COLUMN_BIT
	const struct nt_scan_reader readers[] = {
		{NT_TABLE_CPU_SLICE,
		 BIT(cpu_slice, ts) | BIT(cpu_slice, dur) | BIT(cpu_slice, cpu) | BIT(cpu_slice, owner),
		 nt_check_take_slice, check},
		{NT_TABLE_SCHED_SLICE, BIT(sched_slice, ts) | BIT(sched_slice, dur) | BIT(sched_slice, utid),
		 nt_check_take_stay, check},
		{NT_TABLE_SOCK_OP, BIT(sock_op, op) | BIT(sock_op, cpu_ns) | BIT(sock_op, bytes) | BIT(sock_op, flags),
		 nt_check_take_op, check},
		{NT_TABLE_SOFTIRQ_SLICE, BIT(softirq_slice, ts) | BIT(softirq_slice, cpu) | BIT(softirq_slice, vec),
		 nt_check_take_softirq, check},
		{NT_TABLE_SCHED_WAKEUP, BIT(sched_wakeup, what), nt_check_take_wakeup, check},
		{NT_TABLE_STACK_SAMPLE, BIT(stack_sample, stack_id) | BIT(stack_sample, error), nt_check_take_stack,
		 check},
		{NT_TABLE_SKB_LATENCY, BIT(skb_latency, hook) | BIT(skb_latency, latency_ns) | BIT(skb_latency, flags),
		 nt_check_take_latency, check},
	};
#undef BIT

	memset(&check->events, 0, sizeof(check->events));
	check->from_ts = check->part ? check->part->from_ts : check->session.start_ts;
	check->to_ts = check->part ? check->part->to_ts : check->session.end_ts;
	if (check->part)
		return read_part(check);
	if (nt_check_read_snapshots(check) || nt_check_read_stacks(check))
		return -1;
	return nt_scan_all(check->db, check->session.id, small(), readers, NT_COUNT(readers));
}

void nt_check_release(struct nt_check *check)
{
	free(check->events.cpus.cpus);
	nt_check_release_threads(&check->events.threads);
	nt_check_release_softirqs(&check->events.softirqs);
	nt_id_map_release(&check->events.stacks.known);
}
