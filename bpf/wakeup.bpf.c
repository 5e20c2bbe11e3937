// SPDX-License-Identifier: GPL-2.0-only
/*
 * wakeup.bpf.c - probe `wakeups`: who wakes whom, when and from where, so that a report can tell how long a woken task
 * waited for a CPU.
 */
#include "bpf/emit.h"

static __always_inline int see_wakeup(__u32 program, __u8 what, struct task_struct *task, __u8 flags)
{
	struct nt_wakeup record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	record.end_ns = bpf_ktime_get_ns();
	record.kind = NT_WAKEUP;
	record.what = what;
	record.context = nt_context_of(cpu);
	record.flags = flags;
	record.target_cpu = nt_task_cpu(task);
	record.priority = task->prio;
	record.task = nt_key_of(task);
	record.waker = nt_key_of(bpf_get_current_task_btf());
	nt_emit_loose(cpu, cpu_id, program, &record, sizeof(record), NT_WAKEUP);
	return 0;
}

/*
 * The kernel tells of each wake-up that finds the task in a state of sleep, before it looks whether it has left its
 * CPU. One that has not is not woken, but goes on: so it is looked here.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(nt_sched_waking, struct task_struct *task)
{
	return see_wakeup(NT_PROGRAM_sched_waking, NT_WAKEUP_WAKING, task,
			  nt_task_is_queued(task) ? NT_WAKEUP_RUNNABLE : 0);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(nt_sched_wakeup_new, struct task_struct *task)
{
	return see_wakeup(NT_PROGRAM_sched_wakeup_new, NT_WAKEUP_NEW, task, 0);
}
