// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.bpf.c - probe `memory`: how much memory of each kind a process has, by the kernel's own counters, and which
 * threads take page faults.
 *
 * Memory is charged to whose it is, and not to who runs: reclaim takes one process's pages in another's time. A process
 * has new memory when it begins and when it runs another program. No counter tells that, so both are told here.
 */
#include "bpf/faults.h"
#include "bpf/places.h"

struct nt_noted_memories_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_MEMORY_SETS);
	__type(key, __u32);
	__type(value, struct nt_memory_set);
};

struct nt_noted_memories_map nt_noted_memories SEC(".maps");

static __always_inline __u64 address_key(const struct mm_struct *mm)
{
	return nt_address_key(mm, &nt_noted_memories);
}

static __always_inline struct nt_memory_set *set_of(__u64 key)
{
	__u32 number = nt_places_set_of(key, NT_MEMORY_SETS);

	return bpf_map_lookup_elem(&nt_noted_memories, &number);
}

/* While CPUs keep changes to themselves, a counter may be below zero. */
static __always_inline __u64 pages_of(const struct mm_struct *mm, __u32 what)
{
	__s64 pages = nt_memory_counter(mm, what);

	_Static_assert(NT_RSS_KIND_COUNT == 4, "its cases");
	return pages < 0 ? 0 : pages;
}

static __always_inline __u64 process_key(struct task_struct *task)
{
	return nt_task_key(BPF_CORE_READ(task, tgid), BPF_CORE_READ(task, group_leader, start_time));
}

/*
 * Whose memory it is. 0: nobody's yet, while a process is made or a program is read, or nobody's more. A process that
 * ends has given its memory up when its last task frees it: it is the one that was noted.
 */
static __always_inline __u64 owner_of(const struct mm_struct *mm, const struct nt_noted_memory *noted)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_struct *owner = task;

	if (bpf_core_field_exists(mm->owner))
		owner = BPF_CORE_READ(mm, owner);
	if (owner && BPF_CORE_READ(owner, mm) == mm)
		return process_key(owner);
	if (task->mm == mm)
		return process_key(task);
	return task->flags & PF_EXITING && noted ? noted->process : 0;
}

static __always_inline void fill_record(struct nt_mem_rss *record, __u64 process, __u8 what, __u8 cause, __u64 pages)
{
	record->kind = NT_MEM_RSS;
	record->what = what;
	record->cause = cause;
	record->process = process;
	record->kib = pages << nt_config.page_kib_shift;
}

/* Its place, with nothing recorded of it if it had none. */
static __always_inline struct nt_noted_memory *place_of(struct nt_memory_set *set, __u64 key, bool is_noted)
{
	__u32 way = nt_places_take(set->keys, set->ways, sizeof(set->ways[0]), key) & (NT_PLACES - 1);

	if (!is_noted)
		for (__u32 what = 0; what < NT_RSS_KIND_COUNT; what++)
			set->ways[way].pages[what] = NT_NOT_RECORDED;
	return &set->ways[way];
}

static __always_inline bool is_near(__u64 noted, __u64 pages)
{
	return noted != NT_NOT_RECORDED && noted - pages + (NT_RSS_STEP_PAGES - 1) < 2 * NT_RSS_STEP_PAGES - 1;
}

/* Kernels from 6.2 on run it at each change. The counter is then mostly as it was: CPUs keep small changes. */
SEC("tp_btf/rss_stat")
int BPF_PROG(nt_rss_stat, struct mm_struct *mm, int member)
{
	const __u32 what = member & (NT_RSS_KIND_COUNT - 1);
	struct nt_noted_memory *noted = NULL;
	struct nt_mem_rss record = {};
	struct nt_memory_set *set;
	struct nt_cpu *cpu;
	__u64 key, process;
	__u32 cpu_id, way;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_rss_stat, &cpu_id);
	if (!cpu)
		return 0;
	key = address_key(mm);
	set = set_of(key);
	if (!set)
		return 0;
	way = nt_places_find(set->keys, key);
	if (way < NT_PLACES)
		noted = &set->ways[way & (NT_PLACES - 1)];
	if (noted && is_near(noted->pages[what], pages_of(mm, what))) {
		nt_count(cpu, NT_PROGRAM_rss_stat, NT_OUTCOME_skipped_near);
		return 0;
	}
	process = owner_of(mm, noted);
	if (!process) {
		nt_count(cpu, NT_PROGRAM_rss_stat, NT_OUTCOME_skipped_unowned);
		return 0;
	}
	record.end_ns = bpf_ktime_get_ns();
	noted = place_of(set, key, noted != NULL);
	noted->age = record.end_ns;
	noted->process = process;
	/* Read behind the time: of two CPUs' records the later one then has the later value. */
	noted->pages[what] = pages_of(mm, what);
	fill_record(&record, process, what, NT_RSS_CAUSE_change, noted->pages[what]);
	if (process != process_key(bpf_get_current_task_btf()))
		record.flags = NT_RSS_EXTERNAL;
	nt_emit_loose_apart(cpu, cpu_id, NT_PROGRAM_rss_stat, &record, sizeof(record), NT_MEM_RSS);
	return 0;
}

/* Records each counter of a process's new memory. `with_zeroes`: it had other memory before. */
static __always_inline int record_all(__u32 program, struct task_struct *task, __u8 cause, bool with_zeroes)
{
	struct mm_struct *mm = task->mm;
	struct nt_noted_memory *noted;
	struct nt_mem_rss record = {};
	struct nt_memory_set *set;
	struct nt_cpu *cpu;
	bool written = true;
	__u32 cpu_id;
	__u64 key;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	key = address_key(mm);
	set = set_of(key);
	if (!mm || !set) {
		nt_count(cpu, program, NT_OUTCOME_skipped_unowned);
		return 0;
	}
	record.end_ns = bpf_ktime_get_ns();
	noted = place_of(set, key, true);
	noted->age = record.end_ns;
	noted->process = process_key(task);
	for (__u32 what = 0; what < NT_RSS_KIND_COUNT; what++) {
		noted->pages[what] = pages_of(mm, what);
		fill_record(&record, noted->process, what, cause, noted->pages[what]);
		if (with_zeroes || record.kib)
			written &= nt_write_loose_apart(cpu, cpu_id, program, &record, sizeof(record), NT_MEM_RSS);
	}
	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(nt_memory_fork, struct task_struct *task, unsigned long flags)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	if (!(flags & CLONE_VM))
		return record_all(NT_PROGRAM_memory_fork, task, NT_RSS_CAUSE_fork, false);
	cpu = nt_this_cpu(&cpu_id);
	if (cpu)
		nt_count(cpu, NT_PROGRAM_memory_fork, NT_OUTCOME_skipped_part);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(nt_memory_exec, struct task_struct *task)
{
	return record_all(NT_PROGRAM_memory_exec, task, NT_RSS_CAUSE_exec, true);
}

/* The task that stands for all that share its memory. */
static __always_inline bool is_owner(struct task_struct *task, const struct mm_struct *mm)
{
	if (bpf_core_field_exists(mm->owner))
		return BPF_CORE_READ(mm, owner) == task;
	return task->pid == task->tgid;
}

/* What processes have now. Another program may run meanwhile, so nothing is noted. */
SEC("iter/task")
int nt_seed_memory(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct nt_mem_rss record = {};
	struct mm_struct *mm;
	struct nt_cpu *cpu;
	__u32 cpu_id;
	long error = 0;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	mm = task ? task->mm : NULL;
	if (!mm || task->flags & PF_KTHREAD || !is_owner(task, mm)) {
		nt_count(cpu, NT_PROGRAM_seed_memory, NT_OUTCOME_skipped_unowned);
		return 0;
	}
	record.end_ns = bpf_ktime_get_ns();
	for (__u32 what = 0; what < NT_RSS_KIND_COUNT; what++) {
		fill_record(&record, process_key(task), what, NT_RSS_CAUSE_start, pages_of(mm, what));
		if (record.kib)
			error |= bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	}
	nt_count(cpu, NT_PROGRAM_seed_memory, error ? NT_OUTCOME_skipped_failed : NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(nt_switch_faults, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct nt_cpu *cpu;
	__u64 now_ns;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	/* The probe sched runs before this, and has read the clock; but where the kernel did not run it. */
	now_ns = cpu->current == (unsigned long)next ? cpu->switch_ns : bpf_ktime_get_ns();
	nt_count(cpu, NT_PROGRAM_switch_faults,
		 cpu->gate ? nt_write_faults(cpu, cpu_id, NT_PROGRAM_switch_faults, prev, now_ns)
			   : NT_OUTCOME_skipped_gate);
	nt_note_faults(cpu, next, now_ns);
	return 0;
}
