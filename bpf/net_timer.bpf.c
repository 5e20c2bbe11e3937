// SPDX-License-Identifier: GPL-2.0-only
/*
 * net_timer.bpf.c - probe `nettimers`: runs of the network's functions that are called in softirqs by timers, TCP's
 * first of all (NT_NET_TIMERS). A function is known by its address, which the recorder has looked up. One run at a time
 * is open on a CPU: softirqs do not nest, and none of these functions is called in a hard interrupt. Where two softirqs
 * of a CPU may be open at once (PREEMPT_RT from 6.18 on), the later run counts, and the earlier one is not recorded.
 */
#include "bpf/emit.h"
#include "bpf/kernel.h"

static __always_inline __u64 function_at(__u64 address)
{
	for (__u32 i = 1; i < NT_NET_TIMER_COUNT; i++)
		if (nt_config.net_timers[i] == address)
			return i;
	return NT_NET_TIMER_NONE;
}

/*
 * The time, and what interrupts had taken by then. One that comes between the two is in neither or in both: then they
 * are read again.
 */
static __always_inline __u64 read_clock(struct nt_cpu *cpu, __u64 *irqs_ns)
{
	const volatile __u64 *irqs = &cpu->irqs_ns;
	__u64 now_ns;

	*irqs_ns = *irqs;
	now_ns = bpf_ktime_get_ns();
	if (*irqs != *irqs_ns) {
		*irqs_ns = *irqs;
		now_ns = bpf_ktime_get_ns();
	}
	return now_ns;
}

/* `called`: the address of the function that is called for the timer. */
static __always_inline int begin(__u32 program, const void *timer, __u64 called)
{
	__u64 function = called ? function_at(called) : NT_NET_TIMER_NONE, begin_ns, irqs_ns;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!function) {
		nt_count(cpu, program, NT_OUTCOME_skipped_filter);
		return 0;
	}
	nt_count(cpu, program, NT_OUTCOME_noted);
	begin_ns = read_clock(cpu, &irqs_ns);
	cpu->timer = (struct nt_open_timer){(__u64)timer, begin_ns, irqs_ns, function};
	return 0;
}

/* The timer may be gone by now, so nothing of it is read. */
static __always_inline int end(__u32 program, const void *timer)
{
	struct nt_net_timer record = {};
	struct nt_cpu *cpu;
	__u64 irqs_ns;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (cpu->timer.address != (__u64)timer) {
		nt_count(cpu, program, NT_OUTCOME_skipped_filter);
		return 0;
	}
	cpu->timer.address = 0;
	if (!cpu->gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return 0;
	}
	record.end_ns = read_clock(cpu, &irqs_ns);
	record.kind = NT_NET_TIMER;
	record.function = cpu->timer.function;
	record.took_ns = record.end_ns - cpu->timer.begin_ns;
	if (cpu->switch_ns > cpu->timer.begin_ns)
		record.flags = NT_NET_TIMER_PREEMPTED;
	else
		record.own_ns = record.took_ns - (irqs_ns - cpu->timer.irqs_ns);
	if (nt_kernel_is_rt(bpf_get_current_task_btf()))
		nt_emit_loose_apart(cpu, cpu_id, program, &record, sizeof(record), NT_NET_TIMER);
	else
		nt_emit_loose(cpu, cpu_id, program, &record, sizeof(record), NT_NET_TIMER);
	return 0;
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(nt_timer_expire_entry, struct timer_list *timer)
{
	return begin(NT_PROGRAM_timer_expire_entry, timer, (__u64)timer->function);
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(nt_timer_expire_exit, struct timer_list *timer)
{
	return end(NT_PROGRAM_timer_expire_exit, timer);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(nt_hrtimer_expire_entry, struct hrtimer *timer)
{
	return begin(NT_PROGRAM_hrtimer_expire_entry, timer, (__u64)timer->function);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(nt_hrtimer_expire_exit, struct hrtimer *timer)
{
	return end(NT_PROGRAM_hrtimer_expire_exit, timer);
}

SEC("tp_btf/tasklet_entry")
int BPF_PROG(nt_tasklet_entry, const void *tasklet, const void *function)
{
	return begin(NT_PROGRAM_tasklet_entry, tasklet, (__u64)function);
}

SEC("tp_btf/tasklet_exit")
int BPF_PROG(nt_tasklet_exit, const void *tasklet)
{
	return end(NT_PROGRAM_tasklet_exit, tasklet);
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(nt_workqueue_execute_start, struct work_struct *work)
{
	return begin(NT_PROGRAM_workqueue_execute_start, work, (__u64)work->func);
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(nt_workqueue_execute_end, const void *work)
{
	return end(NT_PROGRAM_workqueue_execute_end, work);
}
