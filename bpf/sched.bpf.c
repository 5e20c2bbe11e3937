// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched.bpf.c - probe `sched`: context switches, which are state records too, and the identities of tasks: from
 * task_newtask to their exit, and by an iterator for tasks that exist already.
 */
#include "bpf/deliver.h"
#include "bpf/open_softirq.h"
#include "bpf/task_ops.h"

#define TASK_DEAD 0x00000080

/* The task leaves the CPU: what it is inside of goes with it. True if that was an operation. */
static __always_inline bool take_op(struct nt_cpu *cpu, struct task_struct *prev, __u32 prev_state, __u64 now_ns,
				    struct nt_open *open)
{
	struct nt_noted_op *saved;

	if (!nt_noted_op_record(&cpu->op, prev, now_ns, open))
		return false;
	if (!(prev_state & TASK_DEAD)) {
		saved = bpf_task_storage_get(&nt_task_ops, prev, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (saved)
			*saved = cpu->op;
	}
	return true;
}

/*
 * Lists what the task that leaves is inside of, outermost first, and takes it off the CPU; gives the CPU what the task
 * that comes is inside of. Gives how many spans are listed, and their least begin.
 */
static __always_inline __u32 switch_spans(struct nt_cpu *cpu, __u32 cpu_id, struct task_struct *prev, __u64 believed,
					  struct task_struct *next, __u32 prev_state, struct nt_open *open,
					  __u64 now_ns, __u64 *begin_ns)
{
	__u32 n = 0;

	if (nt_config.notes_begins) {
		if (cpu->op.state != NT_OP_NONE && take_op(cpu, prev, prev_state, now_ns, open)) {
			*begin_ns = nt_lost_begin(open);
			n = 1;
		}
		if (nt_config.ops_by_task)
			n = nt_list_task_ops(cpu, prev, now_ns, open, n, begin_ns);
		nt_give_op(cpu, next);
	}
	if (nt_softirqs_travel(cpu)) {
		if (cpu->softirq_begin_ns) {
			nt_fill_open_softirq(cpu, now_ns, &open[n]);
			*begin_ns = nt_least(*begin_ns, cpu->softirq_begin_ns);
			n++;
		}
		nt_switch_softirq(cpu_id, believed);
	}
	return n;
}

static __always_inline void fill_switch(struct nt_switch *record, bool preempt, struct task_struct *prev,
					__u64 prev_key, __u64 next_key, unsigned int prev_state, __u64 now_ns,
					__u8 n_open)
{
	record->end_ns = now_ns;
	record->kind = NT_SWITCH;
	record->n_open = n_open;
	record->prev_prio = prev->prio;
	record->zero_a = 0;
	record->prev_state = preempt ? prev_state | NT_SWITCH_PREEMPTED : prev_state;
	record->prev = prev_key;
	record->next = next_key;
}

/* The record stands behind its n spans. Most switches have none: theirs is of one size. */
static __always_inline bool write_switch(struct nt_cpu *cpu, __u32 cpu_id, struct nt_scratch *scratch, __u32 n,
					 __u64 now_ns, __u64 begin_ns)
{
	if (!n)
		return nt_emit_record(cpu, cpu_id, NT_PROGRAM_sched_switch, scratch, sizeof(struct nt_switch),
				      NT_SWITCH, now_ns, 0);
	return nt_emit_with_opens(cpu, cpu_id, NT_PROGRAM_sched_switch, scratch, sizeof(struct nt_switch), NT_SWITCH, n,
				  now_ns, begin_ns);
}

SEC("tp_btf/sched_switch")
int nt_sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1], *next = (struct task_struct *)ctx[2];
	unsigned int prev_state = nt_state_at_switch(ctx, prev, nt_config.switch_args);
	__u64 now_ns, believed, prev_key, begin_ns = 0;
	bool preempt = ctx[0];
	struct nt_scratch *scratch;
	struct nt_cpu *cpu;
	__u32 cpu_id, n;
	bool written;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	now_ns = bpf_ktime_get_ns();
	nt_check_current(cpu, cpu_id, prev, now_ns);
	/* The address of prev, as a plain number, which a global function can take. */
	believed = *(volatile __u64 *)&cpu->current;
	prev_key = cpu->current_key;
	cpu->current = (unsigned long)next;
	cpu->current_key = nt_key_of(next);
	cpu->switch_ns = now_ns;
	scratch = nt_scratch_get(cpu);
	if (!scratch) {
		nt_count(cpu, NT_PROGRAM_sched_switch, NT_OUTCOME_skipped_failed);
		return 0;
	}
	if (nt_config.probe_deliver)
		nt_leave_run(cpu, cpu_id, now_ns);
	n = switch_spans(cpu, cpu_id, prev, believed, next, preempt ? 0 : prev_state, scratch->open, now_ns, &begin_ns);
	if (!cpu->gate) {
		nt_scratch_put(cpu);
		nt_count(cpu, NT_PROGRAM_sched_switch, NT_OUTCOME_skipped_gate);
		return 0;
	}
	fill_switch((struct nt_switch *)&scratch->open[n], preempt, prev, prev_key, cpu->current_key, prev_state,
		    now_ns, n);
	written = write_switch(cpu, cpu_id, scratch, n, now_ns, begin_ns);
	nt_scratch_put(cpu);
	nt_count(cpu, NT_PROGRAM_sched_switch, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
	nt_state_written(cpu, now_ns);
	return 0;
}

/* The task's cgroup of a controller of version 1. */
static __always_inline __u64 cgroup_of_controller(const struct css_set *set, unsigned int controller)
{
	struct cgroup_subsys_state *state = NULL;

	bpf_core_read(&state, sizeof(state), &set->subsys[0] + controller);
	return BPF_CORE_READ(state, cgroup, kn, id);
}

static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	const struct css_set *set = BPF_CORE_READ(task, cgroups);

	if (nt_config.cgroups_of == NT_CGROUPS_OF_MEMORY)
		return cgroup_of_controller(set, bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
	if (nt_config.cgroups_of == NT_CGROUPS_OF_CPU)
		return cgroup_of_controller(set, bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id));
	return BPF_CORE_READ(set, dfl_cgrp, kn, id);
}

static __always_inline void fill_task(struct nt_task *record, struct task_struct *task, __u32 why)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	record->end_ns = bpf_ktime_get_ns();
	record->kind = NT_TASK;
	record->why = why;
	record->flags =
		(task->flags & PF_KTHREAD ? NT_TASK_KTHREAD : 0) | (task->flags & PF_IO_WORKER ? NT_TASK_IO_WORKER : 0);
	record->tid = task->pid;
	record->pid = task->tgid;
	record->task = nt_key_of(task);
	record->process = nt_task_key(task->tgid, BPF_CORE_READ(leader, start_time));
	record->start_ns = task->start_time;
	record->parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	record->cgroup = cgroup_of(task);
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), task->comm);
}

/* Writes who a task is. `comm`: its name to be, or NULL for the one it has. */
static __always_inline int emit_task(__u32 program, struct task_struct *task, __u32 why, const char *comm)
{
	struct nt_task record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	fill_task(&record, task, why);
	if (comm) {
		__builtin_memset(record.comm, 0, sizeof(record.comm));
		bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), comm);
	}
	nt_emit_identity(cpu, cpu_id, program, &record, sizeof(record));
	return 0;
}

/*
 * Makes the task's stack of operations, before a program that may be preempted needs it: while one task is preempted in
 * the middle of making its own, the kernel makes none for another on that CPU (one that is there is found).
 */
static __always_inline void make_stack(struct task_struct *task)
{
	if (nt_config.ops_by_task)
		bpf_task_storage_get(&nt_task_stacks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

SEC("tp_btf/task_newtask")
int BPF_PROG(nt_task_newtask, struct task_struct *task)
{
	make_stack(task);
	return emit_task(NT_PROGRAM_task_newtask, task, NT_TASK_FORK, NULL);
}

/* The task on this CPU executes a program, and may have become its process's main thread by that. */
static __always_inline int emit_exec(struct task_struct *task)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (cpu && cpu->current == (unsigned long)task)
		cpu->current_key = nt_key_of(task);
	return emit_task(NT_PROGRAM_sched_process_exec, task, NT_TASK_EXEC, NULL);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(nt_sched_process_exec, struct task_struct *task)
{
	return emit_exec(task);
}

SEC("tp/sched/sched_process_exec")
int nt_sched_process_exec__event(void *event)
{
	return emit_exec(bpf_get_current_task_btf());
}

SEC("tp_btf/task_rename")
int BPF_PROG(nt_task_rename, struct task_struct *task, const char *comm)
{
	return emit_task(NT_PROGRAM_task_rename, task, NT_TASK_RENAME, comm);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(nt_sched_process_exit, struct task_struct *task)
{
	return emit_task(NT_PROGRAM_sched_process_exit, task, NT_TASK_EXIT, NULL);
}

SEC("tp/sched/sched_process_exit")
int nt_sched_process_exit__event(void *event)
{
	return emit_task(NT_PROGRAM_sched_process_exit, bpf_get_current_task_btf(), NT_TASK_EXIT, NULL);
}

/* The kernel gives up to 1,023 bytes. A longer path than ours keeps its end: `at` is where its last piece begins. */
static __always_inline void read_path(char to[NT_PATH_LEN], const char *path)
{
	const char *at = path;
	long n = bpf_probe_read_kernel_str(to, NT_PATH_LEN, at);

	for (int i = 0; i < 4 && n == NT_PATH_LEN; i++) {
		at += NT_PATH_LEN - 1;
		n = bpf_probe_read_kernel_str(to, NT_PATH_LEN, at);
	}
	if (at != path && n > 0)
		bpf_probe_read_kernel_str(to, NT_PATH_LEN, at + n - NT_PATH_LEN);
}

static __always_inline void fill_cgroup(struct nt_cgroup *record, struct cgroup *cgroup, const char *path)
{
	record->end_ns = bpf_ktime_get_ns();
	record->kind = NT_CGROUP;
	record->cgroup = BPF_CORE_READ(cgroup, kn, id);
	record->kernel_id = record->cgroup;
	read_path(record->path, path);
}

/* An id is unique in its hierarchy only: a cgroup of another one would be taken for one that is recorded. */
SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(nt_cgroup_mkdir, struct cgroup *cgroup, const char *path)
{
	struct nt_cgroup record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if ((__u32)BPF_CORE_READ(cgroup, root, hierarchy_id) != nt_config.hierarchy) {
		nt_count(cpu, NT_PROGRAM_cgroup_mkdir, NT_OUTCOME_skipped_filter);
		return 0;
	}
	fill_cgroup(&record, cgroup, path);
	nt_emit_identity(cpu, cpu_id, NT_PROGRAM_cgroup_mkdir, &record, sizeof(record));
	return 0;
}

/* A task moves to another cgroup, of any hierarchy: the one that is recorded is taken, whatever moved. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(nt_cgroup_attach_task, struct cgroup *cgroup, const char *path, struct task_struct *task)
{
	return emit_task(NT_PROGRAM_cgroup_attach_task, task, NT_TASK_CGROUP, NULL);
}

/*
 * Notes the operation that a sleeping task is inside, begun before the recording. A task that is running or
 * runnable is left alone: whether its call is over cannot be told from outside. The note is taken back if the
 * task has been on a CPU meanwhile.
 */
static __always_inline void seed_op(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	unsigned long switches = task->nvcsw + task->nivcsw;
	const volatile struct nt_call_info *info;
	struct nt_noted_op *saved;
	long nr = nt_regs_call(regs);
	struct sock *sk;
	__s32 fd;

	if (nt_is_kernel_task(task) || nt_task_is_compat(task) || nr < 0 || nr >= NT_MAX_CALL_NR)
		return;
	if (task->on_cpu || !(task->__state & TASK_SLEEPING))
		return;
	info = nt_call_info(nr);
	if (!info->dir || (nt_config.ops_by_task && nt_task_has_ops(task)))
		return;
	fd = nt_regs_arg(regs, info->fd_arg);
	sk = nt_sock_of_fd(task, fd);
	if (!sk || !nt_is_network(BPF_CORE_READ(sk, __sk_common.skc_family)))
		return;
	saved = bpf_task_storage_get(&nt_task_ops, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!saved || saved->state != NT_OP_NONE)
		return;
	saved->begin_ns = 0;
	saved->flags = NT_OP_BEFORE;
	saved->call_nr = nr;
	saved->fd = fd;
	saved->n_done = 0;
	saved->socket = 0;
	saved->state = NT_OP_NOTED;
	if (task->on_cpu || task->nvcsw + task->nivcsw != switches)
		saved->state = NT_OP_NONE;
}

SEC("iter/task")
int nt_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct nt_task record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!task) {
		nt_count(cpu, NT_PROGRAM_seed, NT_OUTCOME_noted);
		return 0;
	}
	make_stack(task);
	if (nt_config.notes_begins)
		seed_op(task);
	fill_task(&record, task, NT_TASK_SEED);
	if (bpf_seq_write(ctx->meta->seq, &record, sizeof(record)))
		nt_count(cpu, NT_PROGRAM_seed, NT_OUTCOME_skipped_failed);
	else
		nt_count(cpu, NT_PROGRAM_seed, NT_OUTCOME_noted);
	return 0;
}
