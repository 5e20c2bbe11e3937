// SPDX-License-Identifier: GPL-2.0-only
/*
 * hotplug.bpf.c - part of probe `sched`: CPUs that go offline and come back.
 *
 * No tracepoint fires on an offline CPU. Another CPU takes it down or brings it up, in numbered steps, one CPU at a
 * time, and writes the record in its name. The offline CPU touches neither its state nor its ring meanwhile. So the
 * last moments of a CPU that goes offline, which no tracepoint shows, belong to the task that stops it (migration/N). A
 * CPU that comes online is in its idle task from the step that starts it.
 */
#include "bpf/emit.h"

/* As of this kernel, when loaded: the numbers differ. */
enum cpuhp_state { CPUHP_BRINGUP_CPU = 1, CPUHP_TEARDOWN_CPU = 2 };
#define STEP(name) ((int)bpf_core_enum_value(enum cpuhp_state, CPUHP_##name))

/* A CPU comes back without the contexts that it had when it went. Its current task is not known yet. */
static __always_inline void forget(struct nt_cpu *cpu)
{
	cpu->current = 0;
	cpu->softirq_begin_ns = 0;
	cpu->irq_depth = 0;
	cpu->op.state = NT_OP_NONE;
	nt_forget_raised(cpu);
}

static __always_inline void write_hotplug(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, bool online, __u64 now_ns)
{
	struct nt_hotplug record = {.end_ns = now_ns, .kind = NT_HOTPLUG, .online = online};
	bool written = nt_emit_record(cpu, cpu_id, program, &record, sizeof(record), NT_HOTPLUG, now_ns, 0);

	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
}

/* The idle task is on the CPU (0 is its key): without this all would be uncovered to the first switch. */
static __always_inline void write_idle(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	struct nt_state record = {.end_ns = now_ns, .kind = NT_STATE, .reason = NT_STATE_RESYNC};

	nt_emit_record(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_STATE, now_ns, 0);
	nt_state_written(cpu, now_ns);
}

static __always_inline void note_hotplug(__u32 cpu_id, __u32 program, bool online)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	__u64 now_ns = bpf_ktime_get_ns();

	if (!cpu)
		return;
	forget(cpu);
	if (!cpu->gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return;
	}
	write_hotplug(cpu, cpu_id, program, online, now_ns);
	if (online)
		write_idle(cpu, cpu_id, now_ns);
	nt_batch_flush(cpu_id);
}

/* A run that is of no interest; counted with the CPU that runs it. */
static __always_inline void skip(__u32 program)
{
	__u32 cpu_id;
	struct nt_cpu *cpu = nt_this_cpu(&cpu_id);

	if (cpu)
		nt_count(cpu, program, NT_OUTCOME_noted);
}

/* Steps are taken upwards to `target` when a CPU comes, and downwards when it goes. */
SEC("tp_btf/cpuhp_enter")
int BPF_PROG(nt_cpuhp_enter, unsigned int cpu_id, int target, int step)
{
	if (step == STEP(BRINGUP_CPU) && target > step)
		note_hotplug(cpu_id, NT_PROGRAM_cpuhp_enter, true);
	else
		skip(NT_PROGRAM_cpuhp_enter);
	return 0;
}

SEC("tp_btf/cpuhp_exit")
int BPF_PROG(nt_cpuhp_exit, unsigned int cpu_id, int state, int step, int ret)
{
	if ((step == STEP(TEARDOWN_CPU) && !ret) || (step == STEP(BRINGUP_CPU) && ret))
		note_hotplug(cpu_id, NT_PROGRAM_cpuhp_exit, false);
	else
		skip(NT_PROGRAM_cpuhp_exit);
	return 0;
}
