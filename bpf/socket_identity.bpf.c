// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket_identity.bpf.c - who sockets are, and who holds them: announced at an operation, or where one connects or
 * listens; and by an iterator for those that nobody may use while they receive (probe `deliver`).
 */
#include "bpf/socket_op.h"

#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_LISTEN 10

static __always_inline __u64 signature_now(const struct nt_cpu *cpu, struct sock *sk)
{
	struct sock_common *common = &sk->__sk_common;

	return signature(BPF_CORE_READ(common, skc_dport), BPF_CORE_READ(common, skc_num),
			 BPF_CORE_READ(common, skc_daddr), BPF_CORE_READ(common, skc_rcv_saddr), cpu);
}

/* The socket's own port, in host order. Where it has given its port back, the one that its packets said. */
static __always_inline __u16 own_port(const struct sock *sk)
{
	__u16 port = BPF_CORE_READ(sk, __sk_common.skc_num);

	return port ? port : __builtin_bswap16(BPF_CORE_READ((const struct inet_sock *)sk, inet_sport));
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
	/* The kernel keeps those of version 2 only, and their ids are others' in another hierarchy. */
	record->cgroup = nt_config.cgroups_of == NT_CGROUPS_V2 ? nt_cgroup_of_socket(sk) : 0;
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
	record->src_port = own_port(sk);
	record->dst_port = port << 8 | port >> 8;
}

static __always_inline __u64 process_of(struct task_struct *task)
{
	return nt_task_key(task->tgid, BPF_CORE_READ(task, group_leader, start_time));
}

/* Another socket may take the slot meanwhile, on another CPU: what is read of it is this one's if it is so after, too.
 */
static __always_inline __u64 noted_process(const volatile struct nt_seen_socket *slot, __u64 cookie)
{
	__u64 process = slot->cookie == cookie ? slot->process : 0;

	return slot->cookie == cookie ? process : 0;
}

static __always_inline void set_slot(volatile struct nt_seen_socket *slot, __u64 cookie, __u64 new_signature,
				     __u64 process)
{
	slot->cookie = 0;
	slot->signature = new_signature;
	slot->process = process;
	slot->cookie = cookie;
}

int nt_announce_socket(__u64 sk_address, __u64 cookie, __u64 now_ns)
{
	struct sock *sk = (struct sock *)sk_address;
	struct nt_seen_socket *slot = seen_slot(cookie);
	struct nt_socket record = {};
	struct nt_cpu *cpu;
	__u64 now_signature, process;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!slot || !cpu || !cpu->gate)
		return 0;
	now_signature = signature_now(cpu, sk);
	if (slot->cookie == cookie && slot->signature == now_signature)
		return 0;
	fill_socket(&record, sk, cookie, now_ns);
	process = noted_process(slot, cookie);
	record.process = process == NT_PROCESS_WANTED ? 0 : process;
	if (nt_emit_record(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_SOCKET, now_ns, 0))
		set_slot(slot, cookie, now_signature, process);
	return 0;
}

/*
 * Notes whose task connects the socket, for its identity: its own port is chosen after. The signature is none that
 * a socket with this port at its other end has, so that it counts as not announced.
 */
static __always_inline void note_process(struct nt_cpu *cpu, struct sock *sk, __u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct nt_seen_socket *slot = seen_slot(cookie);

	if (slot && !nt_in_softirq(cpu) && !(task->flags & PF_KTHREAD))
		set_slot(slot, cookie, ~signature_now(cpu, sk), process_of(task));
}

/*
 * A connection's own end is known when it is established, a listener's when it listens. An accepted connection is
 * announced by its first operation, or by the first packet that it gets (receiver.bpf.c).
 */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(nt_inet_sock_set_state, struct sock *sk, int old, int new)
{
	bool is_connected = old == TCP_SYN_SENT && new == TCP_ESTABLISHED;
	struct nt_cpu *cpu;
	__u32 cpu_id;
	__u64 cookie;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_inet_sock_set_state, &cpu_id);
	if (!cpu)
		return 0;
	if (!is_connected && new != TCP_SYN_SENT &&new != TCP_LISTEN) {
		nt_count(cpu, NT_PROGRAM_inet_sock_set_state, NT_OUTCOME_skipped_filter);
		return 0;
	}
	cookie = bpf_get_socket_cookie(sk);
	if (!is_connected)
		note_process(cpu, sk, cookie);
	if (new != TCP_SYN_SENT)
		announce(sk, cookie, bpf_ktime_get_ns());
	nt_count(cpu, NT_PROGRAM_inet_sock_set_state, NT_OUTCOME_noted);
	return 0;
}

/* Whether packets can come for it: else there is nothing to charge, and its first operation announces it. */
static __always_inline bool can_receive(const struct sock *sk)
{
	__u16 family = sk->__sk_common.skc_family;

	return (family == AF_INET || family == AF_INET6) && sk->__sk_common.skc_num;
}

/* 0: it has none yet. */
static __always_inline __u64 cookie_of(struct sock *sk)
{
	return nt_config.reads_cookies ? (__u64)BPF_CORE_READ(sk, __sk_common.skc_cookie.counter)
				       : bpf_get_socket_cookie(sk);
}

/* How the run ended: a record that found no room is asked for again. */
static __always_inline __u32 seed_socket(const struct nt_cpu *cpu, struct seq_file *seq, struct task_struct *task,
					 struct sock *sk)
{
	__u64 cookie = cookie_of(sk);
	struct nt_seen_socket *slot = seen_slot(cookie);
	struct nt_socket record = {};

	if (!cookie)
		return NT_OUTCOME_skipped_failed;
	if (!slot || (slot->process != NT_PROCESS_WANTED && is_announced(cpu, sk, true, cookie)))
		return NT_OUTCOME_skipped_part;
	fill_socket(&record, sk, cookie, bpf_ktime_get_ns());
	record.process = process_of(task);
	if (bpf_seq_write(seq, &record, sizeof(record)))
		return NT_OUTCOME_skipped_failed;
	set_slot(slot, cookie, signature_now(cpu, sk), record.process);
	return NT_OUTCOME_noted;
}

/*
 * Files come by their tasks, in the order of pids, and those that threads share once: a socket that several processes
 * hold is given to the first. The recorder reads what is written here, so no ring must hold it.
 */
SEC("iter/task_file")
int nt_seed_sockets(struct bpf_iter__task_file *ctx)
{
	__u32 cpu_id, outcome = NT_OUTCOME_skipped_family;
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct socket *socket = NULL;
	struct sock *sk = NULL;
	struct nt_cpu *cpu;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (task && file)
		socket = bpf_sock_from_file(file);
	if (socket)
		sk = socket->sk;
	if (sk && can_receive(sk))
		outcome = seed_socket(cpu, ctx->meta->seq, task, sk);
	nt_count(cpu, NT_PROGRAM_seed_sockets, outcome);
	return 0;
}
