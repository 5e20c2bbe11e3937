// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket.bpf.c - probe `socket` by tracepoints: system call entry notes where an operation may begin, the
 * length tracepoints end it. The noted begin is used only where it is certain to be this operation's.
 */
#include "bpf/open_op.h"

#define MSG_PEEK 0x02
#define MSG_ERRQUEUE 0x2000

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
	cpu->busy_ns = 0;
	info = nt_call_info(nr);
	if ((__u64)nr >= NT_MAX_CALL_NR || !info->dir) {
		if (cpu->polls_busily && (__u64)nr < NT_MAX_CALL_NR && (info->flags & NT_CALL_WAITS))
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
	cpu->busy_ns = info->dir == NT_RECV ? cpu->op.begin_ns : 0;
	cpu->op.call_nr = nr;
	cpu->op.fd = nt_regs_arg(regs, info->fd_arg);
	cpu->op.flags = 0;
	cpu->op.state = NT_OP_NOTED;
	cpu->softirq_end_ns = 0;
	nt_count(cpu, NT_PROGRAM_sys_enter, NT_OUTCOME_noted);
	return 0;
}

/* Tells a changed address from the one announced; equal for different ones is possible and does no harm. */
static __always_inline __u64 signature(__u16 dst_port, __u16 src_port, __u32 dst, __u32 src)
{
	return ((__u64)dst_port << 48 | (__u64)src_port << 32 | dst) ^ (__u64)src << 24;
}

static __always_inline struct nt_seen_socket *seen_slot(__u64 cookie)
{
	__u32 key = cookie & (NT_SEEN_SOCKETS - 1);

	return bpf_map_lookup_elem(&nt_seen_sockets, &key);
}

/* Whether this socket has been announced as it is now. The path of every operation. */
static __always_inline bool is_announced(struct sock *sk, __u64 cookie)
{
	struct sock_common *common = &sk->__sk_common;
	struct nt_seen_socket *slot = seen_slot(cookie);

	return slot && slot->cookie == cookie &&
	       slot->signature == signature(common->skc_dport, common->skc_num, common->skc_daddr, common->skc_rcv_saddr);
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
	if (nt_emit_sample(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_SOCKET, 0, now_ns, 0)) {
		slot->cookie = cookie;
		slot->signature = now_signature;
	}
	return 0;
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
static __always_inline bool fd_is(struct task_struct *task, __s32 fd, struct sock *sk)
{
	struct fdtable *table = task->files->fdt;
	struct socket *socket = sk->sk_socket;
	struct file *file = NULL;

	if (!socket || fd < 0 || (__u32)fd >= table->max_fds)
		return false;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	return file && file == socket->file;
}

/* The begin that was noted for this operation, if it is certain to be this one's. */
static __always_inline bool begin_is_known(struct nt_cpu *cpu, struct task_struct *task, struct sock *sk, __u8 dir,
					   long nr, const volatile struct nt_call_info *info)
{
	struct nt_open_op *op = &cpu->op;

	if (op->state == NT_OP_NONE || op->call_nr != nr || info->dir != dir)
		return false;
	if (info->flags & NT_CALL_MAY_NEST)
		return fd_is(task, op->fd, sk);
	return true;
}

static __always_inline void use_begin(struct nt_open_op *op, struct nt_op *record,
				      const volatile struct nt_call_info *info)
{
	if (op->flags & NT_OP_BEFORE)
		record->flags |= NT_OP_BEFORE;
	else
		record->dur_ns = record->end_ns - op->begin_ns;
	/* A batch goes on after a message that went well; an error ends it. */
	if ((info->flags & NT_CALL_BATCH) && record->result >= 0) {
		op->begin_ns = record->end_ns;
		op->flags = 0;
	} else {
		op->state = NT_OP_NONE;
	}
}

/* Says whose operation it is and when it began. */
static __always_inline void fill_origin(struct nt_cpu *cpu, struct nt_op *record, struct sock *sk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const volatile struct nt_call_info *info;
	long nr;

	record->flags |= NT_OP_NO_BEGIN;
	if (cpu->softirq_begin_ns) {
		record->flags |= NT_OP_IN_SOFTIRQ;
		return;
	}
	if (nt_is_kernel_task(task)) {
		record->flags |= NT_OP_KERNEL;
		return;
	}
	nr = nt_regs_call((struct pt_regs *)bpf_task_pt_regs(task));
	if (nr < 0 || nr >= NT_MAX_CALL_NR || nt_task_is_compat(task))
		return;
	info = nt_call_info(nr);
	record->call = info->call;
	if (begin_is_known(cpu, task, sk, record->dir, nr, info)) {
		record->flags &= ~NT_OP_NO_BEGIN;
		use_begin(&cpu->op, record, info);
	}
}

static __always_inline int op_end(__u32 program, struct sock *sk, int result, int msg_flags, __u8 dir)
{
	__u64 now_ns = bpf_ktime_get_ns(), begin_ns;
	struct nt_op record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!nt_is_network(sk->__sk_common.skc_family)) {
		nt_count(cpu, program, NT_OUTCOME_skipped_family);
		return 0;
	}
	nt_check_current(cpu, cpu_id, bpf_get_current_task_btf(), now_ns);
	record.end_ns = now_ns;
	record.kind = NT_OP;
	record.dir = dir;
	record.result = result;
	record.flags = (msg_flags & MSG_PEEK ? NT_OP_PEEK : 0) | (msg_flags & MSG_ERRQUEUE ? NT_OP_ERRQUEUE : 0);
	cpu->softirq_end_ns = 0;
	if (cpu->busy_ns && !cpu->softirq_begin_ns)
		cpu->busy_ns = now_ns;
	fill_origin(cpu, &record, sk);
	if (!cpu->gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return 0;
	}
	record.socket = sk->__sk_common.skc_cookie.counter;
	if (!record.socket)
		record.socket = bpf_get_socket_cookie(sk);
	if (!is_announced(sk, record.socket))
		announce(sk, record.socket, now_ns);
	begin_ns = record.dur_ns ? now_ns - record.dur_ns : record.flags & NT_OP_BEFORE ? NT_LOST_BEFORE : 0;
	nt_emit_event(cpu, cpu_id, program, &record, sizeof(record), begin_ns);
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
