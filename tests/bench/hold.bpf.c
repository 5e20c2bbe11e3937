// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold.bpf.c - holds a CPU in a timer interrupt that has raised a softirq, for a known time, and remembers when. hold.c
 * attaches it.
 */
#include "bpf/compat.h"
#include "tests/bench/hold.h"
#include "tests/bench/spend.h"

char LICENSE[] SEC("license") = "GPL";

#define MOST_CPUS 1024

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOLD_MOST);
	__type(key, __u32);
	__type(value, struct hold);
} holds SEC(".maps");

__u32 n_holds;
__u8 waits[MOST_CPUS]; /* a softirq was raised there since the last timer interrupt began */

static __always_inline void note(__u8 is_raised)
{
	const __u32 cpu = bpf_get_smp_processor_id();

	if (cpu < MOST_CPUS)
		waits[cpu] = is_raised;
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(see_raise, unsigned int vec)
{
	note(1);
	return 0;
}

SEC("tp_btf/local_timer_entry")
int BPF_PROG(see_interrupt, int vector)
{
	note(0);
	return 0;
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(hold, int vector)
{
	const __u32 cpu = bpf_get_smp_processor_id();
	struct hold *hold = NULL;
	__u32 slot;

	if (cpu < MOST_CPUS && waits[cpu]) {
		slot = __sync_fetch_and_add(&n_holds, 1);
		hold = bpf_map_lookup_elem(&holds, &slot);
	}
	if (!hold)
		return 0;
	hold->cpu = cpu;
	hold->begin_ns = bpf_ktime_get_ns();
	spend_until(hold->begin_ns + HOLD_NS);
	hold->end_ns = bpf_ktime_get_ns();
	return 0;
}
