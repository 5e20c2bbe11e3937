// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket.bpf.c - probe `socket` by tracepoints: the entry of a system call notes a possible begin, and the length
 * tracepoints end the operation. The begin is used only where it certainly belongs to this operation.
 */
#include "bpf/socket_op.h"

static __always_inline int see_call(struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const volatile struct nt_call_info *info;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (cpu->current != (unsigned long)task)
		nt_missed_switch(cpu_id, bpf_ktime_get_ns());
	if (nt_config.busy_begins)
		cpu->busy_ns = 0;
	info = nt_call_info(nr);
	if ((__u64)nr >= NT_MAX_CALL_NR || !info->dir) {
		if (nt_config.busy_begins && cpu->polls_busily && (__u64)nr < NT_MAX_CALL_NR &&
		    (info->flags & NT_CALL_WAITS))
			cpu->busy_ns = bpf_ktime_get_ns();
		nt_count(cpu, NT_PROGRAM_sys_enter, NT_OUTCOME_skipped_call);
		return 0;
	}
	if (nt_task_is_compat(task)) {
		cpu->op.state = NT_OP_NONE;
		nt_count(cpu, NT_PROGRAM_sys_enter, NT_OUTCOME_skipped_compat);
		return 0;
	}
	cpu->op.begin_ns = bpf_ktime_get_ns();
	if (nt_config.busy_begins && info->dir == NT_RECV)
		cpu->busy_ns = cpu->op.begin_ns;
	cpu->op.call_nr = nr;
	cpu->op.fd = nt_regs_arg(regs, info->fd_arg);
	cpu->op.flags = 0;
	cpu->op.n_done = 0;
	if (nt_config.probe_transmit && info->dir == NT_SEND)
		nt_note_send(task, &cpu->op);
	cpu->op.state = NT_OP_NOTED;
	cpu->softirq_end_ns = 0;
	nt_count(cpu, NT_PROGRAM_sys_enter, NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(nt_sys_enter, struct pt_regs *regs, long nr)
{
	return see_call(regs, nr);
}

SEC("tp/raw_syscalls/sys_enter")
int nt_sys_enter__event(struct trace_event_raw_sys_enter *event)
{
	return see_call((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()), event->id);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(nt_sock_send_length, struct sock *sk, int result, int flags)
{
	return op_end(NT_PROGRAM_sock_send_length, sk, true, result, 0, NT_SEND);
}

SEC("tp/sock/sock_send_length")
int nt_sock_send_length__event(struct trace_event_raw_sock_msg_length *event)
{
	return op_end(NT_PROGRAM_sock_send_length, event->sk, false, event->ret, 0, NT_SEND);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(nt_sock_recv_length, struct sock *sk, int result, int flags)
{
	return op_end(NT_PROGRAM_sock_recv_length, sk, true, result, flags, NT_RECV);
}

SEC("tp/sock/sock_recv_length")
int nt_sock_recv_length__event(struct trace_event_raw_sock_msg_length *event)
{
	return op_end(NT_PROGRAM_sock_recv_length, event->sk, false, event->ret, event->flags, NT_RECV);
}

/*
 * A program at a perf event cannot make the number by which a socket is known. So these come before: for each socket
 * once. Should the kernel leave such a run out, the socket's next operation has the number.
 */
static __always_inline int name_socket(__u32 program, struct sock *sk)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!sk->__sk_common.skc_cookie.counter && nt_is_network(sk->__sk_common.skc_family))
		bpf_get_socket_cookie(sk);
	nt_count(cpu, program, NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(nt_name_sender, struct sock *sk)
{
	return name_socket(NT_PROGRAM_name_sender, sk);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(nt_name_receiver, struct sock *sk)
{
	return name_socket(NT_PROGRAM_name_receiver, sk);
}
