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

static __always_inline void fill_socket(struct nt_socket *record, struct sock *sk, __u64 cookie, __u64 now_ns)
{
	struct sock_common *common = &sk->__sk_common;
	__u16 port = BPF_CORE_READ(common, skc_dport);

	record->end_ns = now_ns;
	record->kind = NT_SOCKET;
	record->family = BPF_CORE_READ(common, skc_family);
	record->type = BPF_CORE_READ(sk, sk_type);
	record->protocol = BPF_CORE_READ(sk, sk_protocol);
	record->netns = BPF_CORE_READ(common, skc_net.net, ns.inum);
	record->socket = cookie;
	record->cookie = cookie;
	if (record->family == AF_INET) {
		__u32 address = BPF_CORE_READ(common, skc_rcv_saddr);

		__builtin_memcpy(record->src, &address, 4);
		address = BPF_CORE_READ(common, skc_daddr);
		__builtin_memcpy(record->dst, &address, 4);
	} else if (record->family == AF_INET6) {
		bpf_probe_read_kernel(record->src, 16, &common->skc_v6_rcv_saddr);
		bpf_probe_read_kernel(record->dst, 16, &common->skc_v6_daddr);
	} else {
		return;
	}
	record->src_port = BPF_CORE_READ(common, skc_num);
	record->dst_port = port << 8 | port >> 8;
}

int nt_announce_socket(__u64 sk_address, __u64 cookie, __u64 now_ns)
{
	struct sock *sk = (struct sock *)sk_address;
	struct sock_common *common = &sk->__sk_common;
	struct nt_seen_socket *slot = seen_slot(cookie);
	struct nt_socket record = {};
	struct nt_cpu *cpu;
	__u64 now_signature;
	__u32 cpu_id;

	now_signature = signature(BPF_CORE_READ(common, skc_dport), BPF_CORE_READ(common, skc_num),
				  BPF_CORE_READ(common, skc_daddr), BPF_CORE_READ(common, skc_rcv_saddr));
	if (!slot || (slot->cookie == cookie && slot->signature == now_signature))
		return 0;
	cpu = nt_this_cpu(&cpu_id);
	if (!cpu || !cpu->gate)
		return 0;
	fill_socket(&record, sk, cookie, now_ns);
	if (nt_emit_record(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_SOCKET, now_ns, 0)) {
		slot->cookie = cookie;
		slot->signature = now_signature;
	}
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
