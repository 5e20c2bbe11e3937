// SPDX-License-Identifier: GPL-2.0-only
/*
 * softirq.bpf.c - probe `softirq`: one record per run of a vector's handler. Handlers never nest in a task; the one
 * that the CPU's task is inside of stands in struct nt_cpu. On PREEMPT_RT it leaves with its task (open_softirq.h).
 * And probe `raise`: a second record of each run, which says how long the vector had waited for it.
 */
#include "bpf/deliver.h"

/* Threads that are there to run softirqs: ktimers/N is ksoftirqd/N for the timers, on PREEMPT_RT. */
static __always_inline bool is_softirq_thread(struct task_struct *task)
{
	if (!(task->flags & PF_KTHREAD))
		return false;
	return nt_begins_with(task->comm, "ksoftirqd/", 10) || nt_begins_with(task->comm, "ktimers/", 8);
}

#define IRQ_JUST_ENDED_NS 1000
#define SAME_BATCH_NS 300

/*
 * The caller of the handlers. No kernel tells it, so it is inferred. The way out of an interrupt calls them at once:
 * an interrupt that ended within the last microsecond called them. A handler that follows another within 300 ns has
 * the same caller. In the idle task only an interrupt calls them. In all other cases a task enabled bottom halves, or
 * an interrupt called them that we do not see. On PREEMPT_RT no interrupt calls them, so nothing is inferred:
 * interrupt threads and rcuc/N enable bottom halves like any task.
 */
static __always_inline __u8 context_of(const struct nt_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	if (is_softirq_thread(task))
		return NT_SOFTIRQ_KSOFTIRQD;
	if (nt_kernel_is_rt(task))
		return NT_SOFTIRQ_BH_ENABLE;
	if (!task->pid || now_ns - cpu->irq_end_ns < IRQ_JUST_ENDED_NS)
		return NT_SOFTIRQ_IRQ_EXIT;
	if (now_ns - cpu->softirq_end_ns < SAME_BATCH_NS)
		return cpu->softirq_context;
	return nt_config.probe_irq ? NT_SOFTIRQ_BH_ENABLE : NT_SOFTIRQ_UNKNOWN;
}

/*
 * The vector has waited until now, if it was seen raised. An interrupt may raise it after the clock was read: then it
 * waits for the next run.
 */
static __always_inline void end_wait(struct nt_cpu *cpu, __u32 cpu_id, unsigned int vec, __u64 now_ns)
{
	struct nt_raised_softirq *raised = &cpu->raised[vec & (NT_VECS - 1)];
	__u64 begin_ns = raised->begin_ns;
	struct nt_raise record = {};

	if (!begin_ns || begin_ns > now_ns)
		return;
	record.end_ns = now_ns;
	record.kind = NT_RAISE;
	record.vec = vec;
	record.raised_in = raised->raised_in;
	record.context = cpu->softirq_context;
	record.dur_ns = now_ns - begin_ns;
	raised->begin_ns = 0;
	if (cpu->gate)
		nt_write_loose(cpu, cpu_id, NT_PROGRAM_softirq_entry, &record, sizeof(record), NT_RAISE);
}

static __always_inline int begin_softirq(unsigned int vec)
{
	__u64 now_ns = bpf_ktime_get_ns();
	struct task_struct *task;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	task = bpf_get_current_task_btf();
	nt_check_current(cpu, cpu_id, task, now_ns);
	/* One that has not ended: its end was not seen, or will find this one, and say that its begin was not. */
	nt_count(cpu, NT_PROGRAM_softirq_entry, cpu->softirq_begin_ns ? NT_OUTCOME_skipped_nested : NT_OUTCOME_noted);
	if (nt_config.probe_deliver && vec == NET_RX_SOFTIRQ)
		nt_leave_run(cpu, cpu_id, now_ns);
	cpu->softirq_vec = vec;
	cpu->softirq_context = context_of(cpu, task, now_ns);
	cpu->softirq_begin_ns = now_ns;
	if (nt_config.probe_raise)
		end_wait(cpu, cpu_id, vec, now_ns);
	return 0;
}

static __always_inline int end_softirq(unsigned int vec)
{
	struct nt_run_end records;
	struct nt_softirq *record = &records.softirq;
	__u64 begin_ns, now_ns;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	now_ns = bpf_ktime_get_ns();
	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	begin_ns = cpu->softirq_begin_ns;
	cpu->softirq_begin_ns = 0;
	cpu->softirq_end_ns = now_ns;
	if (!cpu->gate) {
		nt_count(cpu, NT_PROGRAM_softirq_exit, NT_OUTCOME_skipped_gate);
		return 0;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->end_ns = now_ns;
	record->kind = NT_SOFTIRQ;
	record->vec = vec;
	if (begin_ns && cpu->softirq_vec == vec) {
		record->context = cpu->softirq_context;
		record->dur_ns = now_ns - begin_ns;
	} else {
		record->flags = NT_SPAN_NO_BEGIN;
		begin_ns = 0;
		/* It was raised before that begin, or after it. */
		if (nt_config.probe_raise)
			cpu->raised[vec & (NT_VECS - 1)].begin_ns = 0;
	}
	if (nt_config.probe_deliver && vec == NET_RX_SOFTIRQ) {
		if (cpu->stretch.packets && !nt_batch_is_held(cpu)) {
			nt_emit_run_end(cpu, cpu_id, &records, begin_ns);
			return 0;
		}
		nt_end_run(cpu, cpu_id, now_ns);
	}
	nt_emit_event(cpu, cpu_id, NT_PROGRAM_softirq_exit, record, sizeof(*record), begin_ns);
	return 0;
}

SEC("tp_btf/softirq_raise")
int BPF_PROG(nt_softirq_raise, unsigned int vec)
{
	struct nt_raised_softirq *raised;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_softirq_raise, &cpu_id);
	if (!cpu)
		return 0;
	raised = &cpu->raised[vec & (NT_VECS - 1)];
	if (raised->begin_ns) {
		nt_count(cpu, NT_PROGRAM_softirq_raise, NT_OUTCOME_skipped_raised);
		return 0;
	}
	raised->begin_ns = bpf_ktime_get_ns();
	raised->raised_in = nt_context_of(cpu);
	nt_count(cpu, NT_PROGRAM_softirq_raise, NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(nt_softirq_entry, unsigned int vec)
{
	return begin_softirq(vec);
}

SEC("tp/irq/softirq_entry")
int nt_softirq_entry__event(struct trace_event_raw_softirq *event)
{
	return begin_softirq(event->vec);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(nt_softirq_exit, unsigned int vec)
{
	return end_softirq(vec);
}

SEC("tp/irq/softirq_exit")
int nt_softirq_exit__event(struct trace_event_raw_softirq *event)
{
	return end_softirq(event->vec);
}
