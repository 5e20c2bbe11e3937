/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * open_op.h - the operation that a task may be inside, and its sockets: for the socket probe when an operation ends,
 * and for state records, which say what is open.
 */
#pragma once

#include "bpf/emit.h"

/* In socket.bpf.c: writes the socket's identity unless it has been written as it is. */
int nt_announce_socket(__u64 sk_address, __u64 cookie, __u64 now_ns);

struct nt_seen_sockets_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_SEEN_SOCKETS);
	__type(key, __u32);
	__type(value, struct nt_seen_socket);
};

struct nt_task_ops_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct nt_noted_op);
};

extern struct nt_seen_sockets_map nt_seen_sockets SEC(".maps");
extern struct nt_task_ops_map nt_task_ops SEC(".maps");

#define TCP_TIME_WAIT 6
#define TCP_NEW_SYN_RECV 12

/* Families whose operations are the network stack's; the others stay the task's own time. */
static __always_inline bool nt_is_network(__u16 family)
{
	return family != AF_UNIX && family != AF_NETLINK && family != AF_ALG && family != 0;
}

/* Whether it is a network's socket, and a whole one: half of one has other fields in their places. */
static __always_inline bool nt_is_whole_socket(struct sock *sk, bool is_typed)
{
	__u8 state = NT_FIELD(sk, is_typed, __sk_common.skc_state);

	return state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV &&
	       nt_is_network(NT_FIELD(sk, is_typed, __sk_common.skc_family));
}

static __always_inline bool nt_is_kernel_task(struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER);
}

/* The socket behind a descriptor of a task, or NULL. For reading only: nothing is held. */
static __always_inline struct sock *nt_sock_of_fd(struct task_struct *task, __s32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files, *file, *back;
	struct socket *socket;

	if (!table || fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	if (bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return NULL;
	if ((BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	back = BPF_CORE_READ(socket, file);
	return back == file ? BPF_CORE_READ(socket, sk) : NULL;
}

/* The sequence number of the next byte that TCP is given to send; 0: another socket. */
static __always_inline __u32 nt_write_seq(const struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP ? BPF_CORE_READ((const struct tcp_sock *)sk, write_seq)
							     : 0;
}

/*
 * Notes which socket a send is on, and where its bytes begin. Of another file than a socket's this is an address that
 * no packet's socket has: so nothing more is asked of the file.
 */
static __always_inline void nt_note_send(struct task_struct *task, struct nt_noted_op *op)
{
	struct fdtable *table = task->files->fdt;
	struct socket *socket;
	struct file *file;
	struct sock *sk;

	op->sk = 0;
	if (op->fd < 0 || (__u32)op->fd >= table->max_fds ||
	    bpf_probe_read_kernel(&file, sizeof(file), table->fd + op->fd))
		return;
	socket = BPF_CORE_READ(file, private_data);
	sk = BPF_CORE_READ(socket, sk);
	op->sk = (unsigned long)sk;
	op->write_seq = nt_write_seq(sk);
}

static __always_inline const volatile struct nt_call_info *nt_call_info(__u32 call_nr)
{
	return &nt_config.calls[call_nr & (NT_MAX_CALL_NR - 1)];
}

/* Whether the task on this CPU is inside the operation that the CPU notes. */
static __always_inline bool nt_op_is_open(struct nt_noted_op *op, struct task_struct *task)
{
	struct pt_regs *regs;

	if (op->state == NT_OP_NONE || nt_is_kernel_task(task))
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	return nt_regs_call(regs) == op->call_nr;
}

static __always_inline void nt_fill_open(struct nt_open *open, __u64 end_ns, __u8 what, __u8 detail, __u32 number,
					 __u64 begin_ns)
{
	open->end_ns = end_ns;
	open->kind = NT_OPEN;
	open->what = what;
	open->detail = detail;
	open->flags = 0;
	open->number = number;
	open->begin_ns = begin_ns;
	open->socket = 0;
}

/*
 * The open operation of `task`, resolved, as an OPEN record; false if there is none. An operation whose
 * descriptor is no network socket is dropped, so that it is looked up once.
 */
static __always_inline bool nt_noted_op_record(struct nt_noted_op *op, struct task_struct *task, __u64 now_ns,
					       struct nt_open *open)
{
	const volatile struct nt_call_info *info;
	struct sock *sk;

	if (!nt_op_is_open(op, task)) {
		op->state = NT_OP_NONE;
		return false;
	}
	if (op->state == NT_OP_NOTED) {
		sk = nt_sock_of_fd(task, op->fd);
		if (!sk || !nt_is_network(BPF_CORE_READ(sk, __sk_common.skc_family))) {
			op->state = NT_OP_NONE;
			return false;
		}
		op->socket = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
		op->sk = (unsigned long)sk;
		op->state = NT_OP_RESOLVED;
		if (op->socket) /* else its first operation will say */
			nt_announce_socket((unsigned long)sk, op->socket, now_ns);
	}
	info = nt_call_info(op->call_nr);
	nt_fill_open(open, now_ns, NT_OPEN_OP, info->dir, info->call, op->begin_ns);
	open->flags = op->flags;
	open->socket = op->socket;
	return true;
}

/* The task comes onto the CPU, and with it what it was inside of. */
static __always_inline void nt_give_op(struct nt_cpu *cpu, struct task_struct *next)
{
	struct nt_noted_op *saved;

	cpu->op.state = NT_OP_NONE;
	if (nt_is_kernel_task(next))
		return;
	saved = bpf_task_storage_get(&nt_task_ops, next, NULL, 0);
	if (saved && saved->state != NT_OP_NONE) {
		cpu->op = *saved;
		saved->state = NT_OP_NONE;
	}
}

/*
 * Takes a scratch area for a record with OPEN records before it; NULL if all are in use. Give it back by
 * nt_scratch_put.
 */
static __always_inline struct nt_scratch *nt_scratch_get(struct nt_cpu *cpu)
{
	__u64 slot = cpu->n_scratch;

	if (slot >= NT_SCRATCH_COUNT)
		return NULL;
	cpu->n_scratch = slot + 1;
	return &cpu->scratch[slot];
}

static __always_inline void nt_scratch_put(struct nt_cpu *cpu)
{
	cpu->n_scratch--;
}

/* Of two begins, of which 0 is none. */
static __always_inline __u64 nt_least(__u64 a, __u64 b)
{
	return !a || (b && b < a) ? b : a;
}

/* The begin of an open operation, as losses tell it. */
static __always_inline __u64 nt_lost_begin(const struct nt_open *open)
{
	return open->begin_ns ? open->begin_ns : NT_LOST_BEFORE;
}
