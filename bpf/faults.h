/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - page faults of threads: a thread's own counters, when it comes to a CPU and when it leaves, tell how many
 * it took between. They count what /proc/PID/stat counts.
 */
#pragma once

#include "bpf/emit.h"

/* The task is on this CPU from now on. */
static __always_inline void nt_note_faults(struct nt_cpu *cpu, struct task_struct *task, __u64 now_ns)
{
	cpu->faults.task = (unsigned long)task;
	cpu->faults.since_ns = now_ns;
	cpu->faults.minor = task->min_flt;
	cpu->faults.major = task->maj_flt;
}

/*
 * Writes a record if the task took faults since it was noted, and gives how it went: NT_OUTCOME_noted if there is
 * nothing to write.
 */
static __always_inline __u32 nt_write_faults(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, struct task_struct *task,
					     __u64 now_ns)
{
	struct nt_page_fault record = {.end_ns = now_ns, .kind = NT_PAGE_FAULT};

	/* The kernel hid the switch to it. */
	if (cpu->faults.task != (unsigned long)task)
		return NT_OUTCOME_skipped_no_entry;
	record.minor = task->min_flt - cpu->faults.minor;
	record.major = task->maj_flt - cpu->faults.major;
	if (!record.minor && !record.major)
		return NT_OUTCOME_noted;
	record.dur_ns = now_ns - cpu->faults.since_ns;
	record.task = nt_key_of(task);
	return nt_write_loose(cpu, cpu_id, program, &record, sizeof(record), NT_PAGE_FAULT) ? NT_OUTCOME_recorded
											    : NT_OUTCOME_lost;
}
