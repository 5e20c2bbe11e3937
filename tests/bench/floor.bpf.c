// SPDX-License-Identifier: GPL-2.0-only
/*
 * floor.bpf.c - programs at the recorder's busiest tracepoints that read the clock, keep it, and do nothing else: what
 * no exact recording by tracepoints can cost less than. floor.c attaches them.
 */
#include "bpf/compat.h"

char LICENSE[] SEC("license") = "GPL";

#define MAX_CPUS 512 /* a power of two */

struct {
	__u64 ns;
} __attribute__((aligned(64))) last[MAX_CPUS];

static __always_inline int keep_time(void)
{
	last[bpf_get_smp_processor_id() & (MAX_CPUS - 1)].ns = bpf_ktime_get_ns();
	return 0;
}

#define AT(point)                                                                                                      \
	SEC("tp_btf/" #point) int floor_##point(void *ctx)                                                             \
	{                                                                                                              \
		return keep_time();                                                                                    \
	}

AT(sched_switch)
AT(softirq_entry)
AT(softirq_exit)
AT(irq_handler_entry)
AT(irq_handler_exit)
AT(sys_enter)
AT(sock_send_length)
AT(sock_recv_length)

SEC("raw_tp")
int floor_vector(void *ctx)
{
	return keep_time();
}
