/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deliver.h - the stretch of packets of one flow that is open in a CPU's receive run. deliver.bpf.c adds packets to it;
 * it ends there, where another flow comes, or with the run (softirq.bpf.c).
 */
#pragma once

#include "bpf/emit.h"

/*
 * Writes the open stretch, if there is one. Its record counts as the marks' program's whoever writes it: neither of the
 * two programs interrupts the other.
 */
static __always_inline void nt_end_stretch(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	struct nt_open_stretch *stretch = &cpu->stretch;
	struct nt_rx_stretch record = {};

	if (!stretch->packets)
		return;
	record.end_ns = now_ns;
	record.kind = NT_RX_STRETCH;
	record.flags = stretch->flags;
	record.packets = stretch->packets;
	record.flow = stretch->flow;
	record.segments = stretch->segments;
	record.bytes = stretch->bytes;
	stretch->packets = 0;
	stretch->is_lost =
		!nt_write_sample(cpu, cpu_id, NT_PROGRAM_netif_receive_skb, &record, sizeof(record), NT_RX_STRETCH);
}
