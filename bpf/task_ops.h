/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_ops.h - the operations that a task is inside, noted by the programs before the protocol's functions: a small
 * stack in the task's storage. Those programs may be preempted, so nothing here belongs to the CPU. An operation that
 * began before the programs were attached stays where open_op.h keeps it, outside of the whole stack.
 */
#pragma once

#include "bpf/open_op.h"

struct nt_task_op {
	__u64 begin_ns;
	__u64 sk; /* address: tells sockets apart, is not followed while it may be gone */
	__u64 socket; /* cookie */
	__s32 call_nr; /* the task's system call, -1 in the kernel's own tasks */
	__u8 dir; /* enum nt_op_dir */
	__u8 call; /* enum nt_call */
	__u8 flags; /* NT_OP_* */
	__u8 announced;
	__u32 is_page; /* sends a page: may send it as a message in turn, which is the same operation */
	__u32 write_seq; /* as in struct nt_noted_op */
};

struct nt_task_stack {
	__u64 n;
	struct nt_task_op op[NT_OP_DEPTH];
};

struct nt_task_stacks_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct nt_task_stack);
};

extern struct nt_task_stacks_map nt_task_stacks SEC(".maps");

#define nt_barrier() asm volatile("" ::: "memory")

/* The system call that a task of user space is in, -1 for the kernel's own tasks. */
static __always_inline __s32 nt_call_of(struct task_struct *task)
{
	return nt_is_kernel_task(task) ? -1 : (__s32)nt_regs_call((struct pt_regs *)bpf_task_pt_regs(task));
}

static __always_inline bool nt_task_has_ops(struct task_struct *task)
{
	struct nt_task_stack *stack = bpf_task_storage_get(&nt_task_stacks, task, NULL, 0);

	return stack && stack->n;
}

/* Takes an operation of this socket off the task's stack, with all inside it whose end was not seen. */
static __always_inline struct nt_task_op *nt_pop_op(struct nt_task_stack *stack, struct sock *sk, __u8 dir)
{
	__u32 i;

#pragma unroll
	for (__u32 depth = NT_OP_DEPTH; depth > 0; depth--) {
		i = depth - 1;
		if (i < stack->n && stack->op[i].sk == (unsigned long)sk && stack->op[i].dir == dir) {
			stack->n = i;
			return &stack->op[i];
		}
	}
	return NULL;
}

/* Drops what a task cannot be inside any more, since it is in another system call: an end was missed. */
static __always_inline void nt_drop_stale_ops(struct nt_task_stack *stack, __s32 call_nr)
{
#pragma unroll
	for (__u32 i = 0; i < NT_OP_DEPTH; i++)
		if (i < stack->n && stack->op[i].call_nr != call_nr)
			stack->n = i;
}

/* Adds the operations of the task's stack to `open`, of which n are filled; gives how many are then. */
static __always_inline __u32 nt_list_task_ops(struct nt_cpu *cpu, struct task_struct *task, __u64 now_ns,
					      struct nt_open *open, __u32 n, __u64 *begin_ns)
{
	struct nt_task_stack *stack = bpf_task_storage_get(&nt_task_stacks, task, NULL, 0);

	if (!stack || !stack->n)
		return n;
	nt_drop_stale_ops(stack, nt_call_of(task));
#pragma unroll
	for (__u32 i = 0; i < NT_OP_DEPTH; i++) {
		struct nt_task_op *op = &stack->op[i];

		if (i >= stack->n || n >= NT_MAX_OPS)
			break;
		if (!op->announced && cpu->gate) {
			nt_announce_socket(op->sk, op->socket, now_ns);
			op->announced = 1;
		}
		nt_fill_open(&open[n], now_ns, NT_OPEN_OP, op->dir, op->call, op->begin_ns);
		open[n].flags = op->flags;
		open[n].socket = op->socket;
		if (!*begin_ns || op->begin_ns < *begin_ns)
			*begin_ns = op->begin_ns;
		n++;
	}
	return n;
}

/* All operations that the current task is inside, outermost first: how many, and the least begin. */
static __always_inline __u32 nt_list_ops(struct nt_cpu *cpu, struct task_struct *task, __u64 now_ns,
					 struct nt_open *open, __u64 *begin_ns)
{
	__u32 n = 0;

	if (nt_noted_op_record(&cpu->op, task, now_ns, &open[0])) {
		*begin_ns = nt_lost_begin(&open[0]);
		n = 1;
	}
	return nt_config.ops_by_task ? nt_list_task_ops(cpu, task, now_ns, open, n, begin_ns) : n;
}
