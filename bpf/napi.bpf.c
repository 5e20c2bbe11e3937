// SPDX-License-Identifier: GPL-2.0-only
/*
 * napi.bpf.c - polls of network devices' queues, by whom and with how many packets: probe `napi` for those of softirqs
 * and NAPI threads; probe `busypoll` for those of tasks that wait for packets. The kernel's tracepoint is at the end of
 * a poll; its begin is the event that it certainly followed at once (schema/event.h).
 */
#include "bpf/deliver.h"
#include "bpf/device.h"
#include "bpf/open_op.h"

#define LONGEST_POLL_NS 1000000000ull /* longer is no poll: the begin is not what we take it for */

static __always_inline __u8 context_of(const struct nt_cpu *cpu, struct napi_struct *napi, bool is_typed,
				       struct task_struct *task, int budget)
{
	if (!budget)
		return NT_NAPI_NETPOLL;
	if (cpu->softirq_begin_ns)
		return NT_NAPI_SOFTIRQ;
	if ((unsigned long)NT_FIELD(napi, is_typed, thread) == (unsigned long)task)
		return NT_NAPI_THREAD;
	return task->flags & PF_KTHREAD ? NT_NAPI_UNKNOWN : NT_NAPI_BUSY;
}

static __always_inline __u64 later(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* The time of the event just before the poll; 0: not known. A task's poll is after the CPU's last switch. */
static __always_inline __u64 begin_of(const struct nt_cpu *cpu, __u8 context)
{
	if (context == NT_NAPI_SOFTIRQ)
		return later(cpu->poll_ns, cpu->softirq_begin_ns);
	if (context == NT_NAPI_THREAD)
		return later(cpu->poll_ns, cpu->switch_ns);
	if (context == NT_NAPI_BUSY && nt_config.busy_begins && cpu->busy_ns >= cpu->switch_ns)
		return cpu->busy_ns;
	return 0;
}

static __always_inline bool is_timed(__u64 begin_ns, __u64 now_ns)
{
	return begin_ns && now_ns - begin_ns < LONGEST_POLL_NS;
}

/* Writes the poll, and counts how the run ended. The gate is open. */
static __always_inline void emit_poll(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, struct napi_struct *napi,
				      bool is_typed, __u8 context, __u32 work, __u32 budget, __u64 begin_ns,
				      __u64 now_ns)
{
	struct nt_napi record = {};

	record.device = nt_key_of_device(NT_FIELD(napi, is_typed, dev), is_typed, now_ns);
	record.end_ns = now_ns;
	record.kind = NT_NAPI;
	record.context = context;
	record.napi_id = NT_FIELD(napi, is_typed, napi_id);
	record.work = work;
	record.budget = budget;
	if (is_timed(begin_ns, now_ns)) {
		record.dur_ns = now_ns - begin_ns;
	} else {
		record.flags = NT_SPAN_NO_BEGIN;
		begin_ns = 0;
	}
	/* Only a poll by a task has time that nothing else tells of. */
	nt_emit_event(cpu, cpu_id, program, &record, sizeof(record), context == NT_NAPI_BUSY ? begin_ns : 0);
}

static __always_inline int see_poll(struct napi_struct *napi, bool is_typed, int work, int budget)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns(), begin_ns;
	struct nt_cpu *cpu;
	__u32 cpu_id;
	__u8 context;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	nt_check_current(cpu, cpu_id, task, now_ns);
	context = context_of(cpu, napi, is_typed, task, budget);
	if (context == NT_NAPI_BUSY) {
		nt_count(cpu, NT_PROGRAM_napi_poll, NT_OUTCOME_skipped_context);
		return 0;
	}
	begin_ns = begin_of(cpu, context);
	cpu->poll_ns = now_ns;
	if (!cpu->gate) {
		nt_count(cpu, NT_PROGRAM_napi_poll, NT_OUTCOME_skipped_gate);
		return 0;
	}
	emit_poll(cpu, cpu_id, NT_PROGRAM_napi_poll, napi, is_typed, context, work > 0 ? work : 0, budget, begin_ns,
		  now_ns);
	return 0;
}

/*
 * A task that polls by itself does so in a loop, so its next poll begins where this one ended. The loop's begin and end
 * are seen where the kernel lets programs be put before and after it. Elsewhere the loop is known to be inside a system
 * call: unless another call (nt_sys_enter) or a message (op_end) comes between, the next poll follows at once. There an
 * io_uring thread, which is in no call, might do between two polls what would not be seen.
 */
static __always_inline int see_busy_poll(struct napi_struct *napi, bool is_typed, int work, int budget)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now_ns, begin_ns;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (context_of(cpu, napi, is_typed, task, budget) != NT_NAPI_BUSY) {
		nt_count(cpu, NT_PROGRAM_busy_poll, NT_OUTCOME_skipped_context);
		return 0;
	}
	now_ns = bpf_ktime_get_ns();
	nt_check_current(cpu, cpu_id, task, now_ns);
	begin_ns = begin_of(cpu, NT_NAPI_BUSY);
	cpu->polls_busily = 1;
	cpu->busy_ns = nt_config.busy_loops || !nt_is_kernel_task(task) ? now_ns : 0;
	if (nt_config.probe_deliver)
		nt_end_busy_run(cpu, cpu_id, cpu->gate && is_timed(begin_ns, now_ns), now_ns);
	if (!cpu->gate) {
		nt_count(cpu, NT_PROGRAM_busy_poll, NT_OUTCOME_skipped_gate);
		return 0;
	}
	emit_poll(cpu, cpu_id, NT_PROGRAM_busy_poll, napi, is_typed, NT_NAPI_BUSY, work > 0 ? work : 0, budget,
		  begin_ns, now_ns);
	return 0;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(nt_napi_poll, struct napi_struct *napi, int work, int budget)
{
	return see_poll(napi, true, work, budget);
}

SEC("tp/napi/napi_poll")
int nt_napi_poll__event(struct trace_event_raw_napi_poll *event)
{
	return see_poll(event->napi, false, event->work, event->budget);
}

SEC("tp_btf/napi_poll")
int BPF_PROG(nt_busy_poll, struct napi_struct *napi, int work, int budget)
{
	return see_busy_poll(napi, true, work, budget);
}

SEC("tp/napi/napi_poll")
int nt_busy_poll__event(struct trace_event_raw_napi_poll *event)
{
	return see_busy_poll(event->napi, false, event->work, event->budget);
}

/*
 * The loop's begin, and with now_ns = 0 its end. These two may be preempted. Their time is then older than the CPU's
 * last switch and not used (begin_of), or it is 0 and another task's poll loses its begin.
 */
static __always_inline int note_loop(__u32 program, __u64 now_ns)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	cpu->busy_ns = now_ns;
	nt_count(cpu, program, NT_OUTCOME_noted);
	return 0;
}

#define LOOP(name)                                                                                                     \
	SEC("fentry/" #name)                                                                                           \
	int nt_enter_##name(void *ctx)                                                                                 \
	{                                                                                                              \
		return note_loop(NT_PROGRAM_enter_##name, bpf_ktime_get_ns());                                         \
	}                                                                                                              \
	SEC("fexit/" #name)                                                                                            \
	int nt_exit_##name(void *ctx)                                                                                  \
	{                                                                                                              \
		return note_loop(NT_PROGRAM_exit_##name, 0);                                                           \
	}

LOOP(napi_busy_loop)
LOOP(napi_busy_loop_rcu)
