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

/* The findings ask for them by SQL. */
static const uint64_t small = NT_TABLE_BIT(NT_TABLE_SESSION) | NT_TABLE_BIT(NT_TABLE_PROBLEM) |
			      NT_TABLE_BIT(NT_TABLE_LOSS) | NT_TABLE_BIT(NT_TABLE_RECORD_COUNT) |
			      NT_TABLE_BIT(NT_TABLE_CPU_COST) | NT_TABLE_BIT(NT_TABLE_SOCK_COST);

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
	if (nt_check_read_snapshots(check) || nt_check_read_stacks(check))
		return -1;
	return nt_scan_all(check->db, check->session.id, small, readers, NT_COUNT(readers));
}

void nt_check_release(struct nt_check *check)
{
	free(check->events.cpus.cpus);
	nt_check_release_threads(&check->events.threads);
	nt_check_release_softirqs(&check->events.softirqs);
	nt_id_map_release(&check->events.stacks.known);
}
