// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket.bpf.c - probe `socket` by tracepoints: the entry of a system call notes a possible begin, and the length
 * tracepoints end the operation. The begin is used only where it certainly belongs to this operation.
 */
#include "bpf/socket_op.h"

SEC("tp_btf/sys_enter")
int BPF_PROG(nt_sys_enter, struct pt_regs *regs, long nr)
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
	cpu->op.state = NT_OP_NOTED;
	cpu->softirq_end_ns = 0;
	nt_count(cpu, NT_PROGRAM_sys_enter, NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(nt_sock_send_length, struct sock *sk, int result, int flags)
{
	return op_end(NT_PROGRAM_sock_send_length, sk, result, 0, NT_SEND);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(nt_sock_recv_length, struct sock *sk, int result, int flags)
{
	return op_end(NT_PROGRAM_sock_recv_length, sk, result, flags, NT_RECV);
}
