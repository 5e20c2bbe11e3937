/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * socket_op.h - the end of an operation, whichever program sees it: finds the begin and the task, and writes the
 * record.
 */
#pragma once

#include "bpf/task_ops.h"

#define MSG_PEEK 0x02
#define MSG_ERRQUEUE 0x2000

/* Whether what runs on this CPU is a softirq: an operation made now is not the task's. */
static __always_inline bool nt_in_softirq(const struct nt_cpu *cpu)
{
	return cpu->softirq_begin_ns;
}

/*
 * Tells a changed address, or an older generation, from the one announced; equal for different ones is possible and
 * does no harm.
 */
static __always_inline __u64 signature(__u16 dst_port, __u16 src_port, __u32 dst, __u32 src, const struct nt_cpu *cpu)
{
	return (((__u64)dst_port << 48 | (__u64)src_port << 32 | dst) ^ (__u64)src << 24) +
	       cpu->generation * 0x9e3779b97f4a7c15ull;
}

static __always_inline struct nt_seen_socket *seen_slot(__u64 cookie)
{
	__u32 key = cookie & (NT_SEEN_SOCKETS - 1);

	return bpf_map_lookup_elem(&nt_seen_sockets, &key);
}

/* Whether this socket has been announced as it is now. The path of every operation. */
static __always_inline bool is_announced(const struct nt_cpu *cpu, struct sock *sk, bool is_typed, __u64 cookie)
{
	struct nt_seen_socket *slot = seen_slot(cookie);

	return slot && slot->cookie == cookie &&
	       slot->signature == signature(NT_FIELD(sk, is_typed, __sk_common.skc_dport),
					    NT_FIELD(sk, is_typed, __sk_common.skc_num),
					    NT_FIELD(sk, is_typed, __sk_common.skc_daddr),
					    NT_FIELD(sk, is_typed, __sk_common.skc_rcv_saddr), cpu);
}

/* From a pointer that the verifier tracks to the plain number that a global function can take. */
static __always_inline void announce(struct sock *sk, __u64 cookie, __u64 now_ns)
{
	__u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &sk);
	nt_announce_socket(address, cookie, now_ns);
}

/*
 * Whether a descriptor of the task is this socket. By the file that the socket knows to be its own: plain loads
 * but for one, where looking up the descriptor's socket takes eight calls.
 */
static __always_inline bool fd_is(struct task_struct *task, __s32 fd, struct sock *sk, bool is_typed)
{
	struct socket *socket = NT_FIELD(sk, is_typed, sk_socket);
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;

	if (!socket || fd < 0 || (__u32)fd >= table->max_fds)
		return false;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file && file == NT_FIELD(socket, is_typed, file);
}

/* The begin that was noted for this operation, if it is certain to be this one's. */
static __always_inline bool begin_is_known(struct nt_cpu *cpu, struct task_struct *task, struct sock *sk, bool is_typed,
					   __u8 dir, long nr, const volatile struct nt_call_info *info)
{
	struct nt_noted_op *op = &cpu->op;

	if (op->state == NT_OP_NONE || op->call_nr != nr || info->dir != dir)
		return false;
	if (!(info->flags & NT_CALL_MAY_NEST))
		return true;
	/*
	 * Which socket it is was found when the task was switched out. Another thread may have closed the descriptor
	 * since.
	 */
	if (op->state == NT_OP_RESOLVED)
		return op->sk == (unsigned long)sk;
	return fd_is(task, op->fd, sk, is_typed);
}

/*
 * Whether a call may make another operation after this one. A batch is over after an error, or when all its messages
 * are done. A file's pages are not counted: how many messages they make, nothing tells. Where begins are the task's
 * (task_ops.h), they are told.
 */
static __always_inline bool may_go_on(struct task_struct *task, struct nt_noted_op *op, __s32 result,
				      const volatile struct nt_call_info *info)
{
	__u32 n;

	if (!(info->flags & NT_CALL_SEVERAL) || result < 0 || nt_config.ops_by_task)
		return false;
	if (info->flags & NT_CALL_MAY_NEST)
		return true;
	n = nt_regs_arg((struct pt_regs *)bpf_task_pt_regs(task), 2);
	return ++op->n_done < (n < NT_MAX_BATCH ? n : NT_MAX_BATCH);
}

static __always_inline void use_begin(struct task_struct *task, struct nt_noted_op *op, struct nt_op *record,
				      const struct sock *sk, const volatile struct nt_call_info *info)
{
	if (op->flags & NT_OP_BEFORE)
		record->flags |= NT_OP_BEFORE;
	else
		record->dur_ns = record->end_ns - op->begin_ns;
	if (may_go_on(task, op, record->result, info)) {
		op->begin_ns = record->end_ns;
		op->flags = 0;
		if (nt_config.probe_transmit)
			op->write_seq = nt_write_seq(sk);
	} else {
		op->state = NT_OP_NONE;
	}
}

/* The system call that the task is in, as far as it is one that makes operations; else NULL. */
static __always_inline const volatile struct nt_call_info *call_at_work(struct task_struct *task, long *nr)
{
	if (nt_is_kernel_task(task) || nt_task_is_compat(task))
		return NULL;
	*nr = nt_regs_call((struct pt_regs *)bpf_task_pt_regs(task));
	return *nr >= 0 && *nr < NT_MAX_CALL_NR ? nt_call_info(*nr) : NULL;
}

/*
 * The call that made an operation in this direction. io_uring makes any operation, also on the way out of another
 * call, which then did not make it. splice and sendfile read from sockets too.
 */
static __always_inline __u8 call_for(const volatile struct nt_call_info *info, __u8 dir)
{
	return !info->dir || info->dir == dir || (info->flags & NT_CALL_SEVERAL) ? info->call : NT_CALL_OTHER;
}

/* The begin that the program before the function noted. */
static __always_inline bool use_task_begin(struct task_struct *task, struct nt_op *record, struct sock *sk)
{
	struct nt_task_stack *stack = bpf_task_storage_get(&nt_task_stacks, task, NULL, 0);
	struct nt_task_op *op = stack ? nt_pop_op(stack, sk, record->dir) : NULL;

	if (!op)
		return false;
	record->dur_ns = record->end_ns - op->begin_ns;
	record->flags &= ~NT_OP_NO_BEGIN;
	return true;
}

/* Says whose operation it is and when it began. */
static __always_inline void fill_origin(struct nt_cpu *cpu, struct nt_op *record, struct sock *sk, bool is_typed)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const volatile struct nt_call_info *info;
	long nr = 0;

	record->flags |= NT_OP_NO_BEGIN;
	if (nt_in_softirq(cpu)) {
		record->flags |= NT_OP_IN_SOFTIRQ;
		return;
	}
	if (nt_is_kernel_task(task))
		record->flags |= NT_OP_KERNEL;
	info = call_at_work(task, &nr);
	if (info)
		record->call = call_for(info, record->dir);
	if (nt_config.ops_by_task && use_task_begin(task, record, sk))
		return;
	nt_test_anew(info);
	if (info && begin_is_known(cpu, task, sk, is_typed, record->dir, nr, info)) {
		record->flags &= ~NT_OP_NO_BEGIN;
		use_begin(task, &cpu->op, record, sk, info);
	}
}

static __always_inline int op_end(__u32 program, struct sock *sk, bool is_typed, int result, int msg_flags, __u8 dir)
{
	__u64 now_ns = bpf_ktime_get_ns(), begin_ns;
	struct nt_op record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!nt_is_network(NT_FIELD(sk, is_typed, __sk_common.skc_family))) {
		nt_count(cpu, program, NT_OUTCOME_skipped_family);
		return 0;
	}
	/* The task may have been switched out and back since the clock was read, if this is after a function. */
	if (nt_config.ops_by_task && now_ns < cpu->switch_ns)
		now_ns = bpf_ktime_get_ns();
	nt_check_current(cpu, cpu_id, bpf_get_current_task_btf(), now_ns);
	record.end_ns = now_ns;
	record.kind = NT_OP;
	record.dir = dir;
	record.result = result;
	record.flags = (msg_flags & MSG_PEEK ? NT_OP_PEEK : 0) | (msg_flags & MSG_ERRQUEUE ? NT_OP_ERRQUEUE : 0);
	cpu->softirq_end_ns = 0;
	if (nt_config.busy_begins && cpu->busy_ns && !cpu->softirq_begin_ns)
		cpu->busy_ns = now_ns;
	fill_origin(cpu, &record, sk, is_typed);
	if (!cpu->gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return 0;
	}
	record.socket = NT_FIELD(sk, is_typed, __sk_common.skc_cookie.counter);
	if (!record.socket && is_typed)
		record.socket = bpf_get_socket_cookie(sk);
	if (record.socket && !is_announced(cpu, sk, is_typed, record.socket))
		announce(sk, record.socket, now_ns);
	begin_ns = record.dur_ns ? now_ns - record.dur_ns : record.flags & NT_OP_BEFORE ? NT_LOST_BEFORE : 0;
	nt_emit_event(cpu, cpu_id, program, &record, sizeof(record), begin_ns);
	return 0;
}
