// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket_fentry.bpf.c - probe `socket` where the kernel allows programs before and after functions: those that take a
 * socket's messages show the true begin of each operation, whoever makes it.
 *
 * The ends come from the length tracepoints (socket.bpf.c) or, on a kernel without them, from the functions' own ends.
 * There sys_exit ends operations that began before the programs were attached, since a running function returns past a
 * program that is attached to its end.
 *
 * Where the kernel preempts itself, it preempts these programs too: those before a function write nothing but to the
 * task's stack and their own counters. (While one stands preempted, the kernel does not run it for another task
 * on that CPU and counts a miss: that operation's begin is not known.) Those after a function write records, as only
 * what is not preempted may; so they are used only on kernels that do not preempt themselves (record/plan.c).
 */
#include "bpf/socket_op.h"

/* An operation from before, if it is on this socket, is over: its function is being called again. */
static __always_inline void drop_from_before(struct nt_cpu *cpu, struct task_struct *task, struct sock *sk, __u8 dir)
{
	if (nt_call_info(cpu->op.call_nr)->dir == dir && fd_is(task, cpu->op.fd, sk, true))
		cpu->op.state = NT_OP_NONE;
}

/* Whether the task is just sending a page of this socket, by a function that sends it as a message in turn. */
static __always_inline bool is_part(struct nt_task_stack *stack, struct sock *sk)
{
#pragma unroll
	for (__u32 i = 0; i < NT_OP_DEPTH; i++)
		if (i < stack->n && stack->op[i].is_page && stack->op[i].sk == (unsigned long)sk)
			return true;
	return false;
}

static __always_inline void note_begin(struct nt_cpu *cpu, struct task_struct *task, struct nt_task_op *op,
				       struct sock *sk, __u8 dir, bool is_page)
{
	const volatile struct nt_call_info *info;
	__u64 address = 0;
	long nr = 0;

	bpf_probe_read_kernel(&address, sizeof(address), &sk);
	op->sk = address;
	op->socket = sk->__sk_common.skc_cookie.counter;
	if (!op->socket)
		op->socket = bpf_get_socket_cookie(sk);
	op->call_nr = nt_call_of(task);
	op->dir = dir;
	info = call_at_work(task, &nr);
	op->call = info ? call_for(info, dir) : NT_CALL_OTHER;
	op->flags = nt_is_kernel_task(task) ? NT_OP_KERNEL : 0;
	op->announced = 0;
	op->is_page = is_page;
	if (nt_config.probe_transmit)
		op->write_seq = nt_write_seq(sk);
	cpu->softirq_end_ns = 0;
}

static __always_inline int op_begin(__u32 program, struct socket *socket, __u8 dir, bool is_page)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns();
	struct sock *sk = socket->sk;
	struct nt_task_stack *stack;
	struct nt_task_op *op;
	struct nt_cpu *cpu;
	__u32 cpu_id;
	__u64 n;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (nt_in_softirq(cpu)) {
		nt_count(cpu, program, NT_OUTCOME_skipped_softirq);
		return 0;
	}
	stack = bpf_task_storage_get(&nt_task_stacks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!stack || !sk) {
		nt_count(cpu, program, NT_OUTCOME_skipped_failed);
		return 0;
	}
	if (cpu->op.state != NT_OP_NONE && cpu->current == (unsigned long)task)
		drop_from_before(cpu, task, sk, dir);
	if (stack->n) {
		nt_drop_stale_ops(stack, nt_call_of(task));
		if (dir == NT_SEND && is_part(stack, sk)) {
			nt_count(cpu, program, NT_OUTCOME_skipped_part);
			return 0;
		}
		nt_pop_op(stack, sk, dir); /* there only if its end was missed */
	}
	n = stack->n;
	if (n >= NT_OP_DEPTH) {
		nt_count(cpu, program, NT_OUTCOME_skipped_deep);
		return 0;
	}
	op = &stack->op[n];
	note_begin(cpu, task, op, sk, dir, is_page);
	/* If the task was switched out since the clock was read, that switch did not list the operation. */
	op->begin_ns = now_ns < cpu->switch_ns ? bpf_ktime_get_ns() : now_ns;
	nt_barrier();
	stack->n = n + 1;
	nt_count(cpu, program, NT_OUTCOME_noted);
	return 0;
}

/* As op_end, but for a function that another one of the same operation called. */
static __always_inline int call_end(__u32 program, struct socket *socket, long result, int msg_flags, __u8 dir,
				    bool is_page)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sock *sk = socket->sk;
	struct nt_task_stack *stack;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!sk) {
		nt_count(cpu, program, NT_OUTCOME_skipped_failed);
		return 0;
	}
	if (dir == NT_SEND && !is_page && !nt_in_softirq(cpu)) {
		stack = bpf_task_storage_get(&nt_task_stacks, task, NULL, 0);
		if (stack && stack->n && is_part(stack, sk)) {
			nt_count(cpu, program, NT_OUTCOME_skipped_part);
			return 0;
		}
	}
	return op_end(program, sk, true, result, msg_flags, dir);
}

#define SEND(name)                                                                                                     \
	SEC("fentry/" #name)                                                                                           \
	int BPF_PROG(nt_enter_##name, struct socket *socket)                                                           \
	{                                                                                                              \
		return op_begin(NT_PROGRAM_enter_##name, socket, NT_SEND, false);                                      \
	}                                                                                                              \
	SEC("fexit/" #name)                                                                                            \
	int BPF_PROG(nt_exit_##name, struct socket *socket, void *msg, unsigned long size, int result)                 \
	{                                                                                                              \
		return call_end(NT_PROGRAM_exit_##name, socket, result, 0, NT_SEND, false);                            \
	}

#define RECV(name)                                                                                                     \
	SEC("fentry/" #name)                                                                                           \
	int BPF_PROG(nt_enter_##name, struct socket *socket)                                                           \
	{                                                                                                              \
		return op_begin(NT_PROGRAM_enter_##name, socket, NT_RECV, false);                                      \
	}                                                                                                              \
	SEC("fexit/" #name)                                                                                            \
	int BPF_PROG(nt_exit_##name, struct socket *socket, void *msg, unsigned long size, int flags, int result)      \
	{                                                                                                              \
		return call_end(NT_PROGRAM_exit_##name, socket, result, flags, NT_RECV, false);                        \
	}

SEND(inet_sendmsg)
SEND(inet6_sendmsg)
SEND(packet_sendmsg)
SEND(xsk_sendmsg)
RECV(inet_recvmsg)
RECV(inet6_recvmsg)
RECV(packet_recvmsg)
RECV(xsk_recvmsg)

SEC("fentry/inet_sendpage")
int BPF_PROG(nt_enter_inet_sendpage, struct socket *socket)
{
	return op_begin(NT_PROGRAM_enter_inet_sendpage, socket, NT_SEND, true);
}

SEC("fexit/inet_sendpage")
int BPF_PROG(nt_exit_inet_sendpage, struct socket *socket, void *page, int offset, unsigned long size, int flags,
	     long result)
{
	return call_end(NT_PROGRAM_exit_inet_sendpage, socket, result, 0, NT_SEND, true);
}

/* struct mmsghdr of the system calls' interface. */
#define MMSGHDR_SIZE 64
#define MMSGHDR_LENGTH 56

/* The flags that a receiving call was given. */
static __always_inline int recv_flags(struct pt_regs *regs, __u8 call)
{
	if (call == NT_CALL_recvmsg)
		return nt_regs_arg(regs, 2);
	return call == NT_CALL_recvfrom || call == NT_CALL_recvmmsg ? nt_regs_arg(regs, 3) : 0;
}

/* The record of an operation from before: what is known of it without having been at its begin. */
static __always_inline void end_from_before(struct nt_cpu *cpu, __u32 cpu_id, struct sock *sk, long result,
					    int msg_flags)
{
	const volatile struct nt_call_info *info = nt_call_info(cpu->op.call_nr);
	__u64 now_ns = bpf_ktime_get_ns();
	struct nt_op record = {
		.end_ns = now_ns,
		.kind = NT_OP,
		.dir = info->dir,
		.call = info->call,
		.flags = NT_OP_BEFORE,
		.result = result,
	};

	record.flags |= (msg_flags & MSG_PEEK ? NT_OP_PEEK : 0) | (msg_flags & MSG_ERRQUEUE ? NT_OP_ERRQUEUE : 0);
	record.socket = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	if (record.socket)
		nt_announce_socket((unsigned long)sk, record.socket, now_ns);
	nt_emit_event(cpu, cpu_id, NT_PROGRAM_sys_exit, &record, sizeof(record), NT_LOST_BEFORE);
}

/*
 * The result of the function with which the call ends. For a batch of messages it is the last message's length, which
 * the kernel has just left in the caller's memory. For a batch of a file's pages nothing tells it. False: not known.
 */
static __always_inline bool function_result(struct pt_regs *regs, const volatile struct nt_call_info *info,
					    long *result)
{
	__u32 length, n = *result;

	if (*result < 0 || !(info->flags & NT_CALL_SEVERAL))
		return true;
	if ((info->flags & NT_CALL_MAY_NEST) || !n || n > NT_MAX_BATCH)
		return false;
	if (bpf_probe_read_user(&length, sizeof(length),
				(void *)(nt_regs_arg(regs, 1) + (n - 1) * MMSGHDR_SIZE + MMSGHDR_LENGTH)))
		return false;
	*result = length;
	return true;
}

/* Ends the operation from before that the task was inside, unless it is left to show as abandoned. */
SEC("tp_btf/sys_exit")
int BPF_PROG(nt_sys_exit, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const volatile struct nt_call_info *info;
	struct sock *sk = NULL;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (cpu->current != (unsigned long)task)
		nt_missed_switch(cpu_id, bpf_ktime_get_ns());
	if (cpu->op.state == NT_OP_NONE || !nt_op_is_open(&cpu->op, task)) {
		cpu->op.state = NT_OP_NONE;
		nt_count(cpu, NT_PROGRAM_sys_exit, NT_OUTCOME_skipped_call);
		return 0;
	}
	info = nt_call_info(cpu->op.call_nr);
	if (function_result(regs, info, &result))
		sk = nt_sock_of_fd(task, cpu->op.fd);
	cpu->op.state = NT_OP_NONE;
	if (!cpu->gate)
		nt_count(cpu, NT_PROGRAM_sys_exit, NT_OUTCOME_skipped_gate);
	else if (!sk || !nt_is_network(BPF_CORE_READ(sk, __sk_common.skc_family)))
		nt_count(cpu, NT_PROGRAM_sys_exit, NT_OUTCOME_skipped_failed);
	else
		end_from_before(cpu, cpu_id, sk, result, recv_flags(regs, info->call));
	return 0;
}
