/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - every known difference between kernels and architectures, each with the version and the reason. Nothing is
 * chosen by version number: the kernel's own types tell.
 */
#pragma once

#include "bpf/kernel.h"

/*
 * A field of a kernel's struct. `is_typed`, a constant: the verifier knows what the address points at, which it does
 * not of one that stands in a tracepoint's event.
 */
#define NT_FIELD(address, is_typed, field) ((is_typed) ? (address)->field : BPF_CORE_READ(address, field))

/* ---- architectures: the registers that user space had when it entered the kernel ---- */

#if defined(__TARGET_ARCH_x86)

/* The system call that a task is in, or was last in; negative when it came in by an interrupt. */
static __always_inline long nt_regs_call(struct pt_regs *regs)
{
	return regs->orig_ax;
}

/* The first four arguments of a system call, by number from 0. */
static __always_inline __u64 nt_regs_arg(struct pt_regs *regs, __u32 number)
{
	return number == 0 ? regs->di : number == 1 ? regs->si : number == 2 ? regs->dx : regs->r10;
}

/*
 * Whether a perf event interrupted user space: CS is the 18th word of the registers that user space is shown, whatever
 * the kernel's are.
 */
static __always_inline bool nt_regs_are_user(const struct bpf_perf_event_data *event)
{
	return ((const __u64 *)event)[17] & 3;
}

#define TS_COMPAT 0x0002 /* arch/x86: the system call came by the 32-bit entry */

/* Whether a task's system calls have the numbers and arguments of a 32-bit program. */
static __always_inline bool nt_task_is_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

#elif defined(__TARGET_ARCH_arm64)

#define PSR_MODE_MASK 0x0000000f /* 0: user space */
#define PSR_MODE32_BIT 0x00000010 /* the CPU was in its 32-bit state */

static __always_inline long nt_regs_call(struct pt_regs *regs)
{
	return regs->syscallno;
}

/* The result of a call takes the register of its first argument, which the kernel keeps. */
static __always_inline __u64 nt_regs_arg(struct pt_regs *regs, __u32 number)
{
	return number == 0 ? regs->orig_x0 : number == 1 ? regs->regs[1] : number == 2 ? regs->regs[2] : regs->regs[3];
}

/* `pstate` is the 34th word of the registers that user space is shown. */
static __always_inline bool nt_regs_are_user(const struct bpf_perf_event_data *event)
{
	return (((const __u64 *)event)[33] & PSR_MODE_MASK) == 0;
}

static __always_inline bool nt_task_is_compat(struct task_struct *task)
{
	return ((struct pt_regs *)bpf_task_pt_regs(task))->pstate & PSR_MODE32_BIT;
}

#else
#error "supported are x86-64 and arm64: add your registers and 32-bit mark here"
#endif

/* ---- kernels ---- */

/*
 * The compiler must test the pointer itself, not what it kept of an earlier test. Before 5.16 the verifier forgets
 * numbers of 32 bits that are put on the stack, and with such a flag what it knew of the pointer.
 */
#define nt_test_anew(pointer) barrier_var(pointer)

/*
 * Whether this is a PREEMPT_RT kernel: there, from 5.13 on, each task counts for itself how often it has disabled
 * softirqs. Known when the programs are loaded.
 */
static __always_inline bool nt_kernel_is_rt(const struct task_struct *task)
{
	return bpf_core_field_exists(task->softirq_disable_cnt);
}

/* The CPU that a task is on, or was on last. Until 5.16 it stood in the task itself. */
static __always_inline __u32 nt_task_cpu(const struct task_struct *task)
{
	return bpf_core_field_exists(task->thread_info.cpu) ? task->thread_info.cpu : task->cpu;
}

/*
 * Whether a task is on a CPU or waits for one. Since 6.12 (EEVDF) one that has gone to sleep may stay in the queue for
 * a while, marked: it is not.
 */
static __always_inline bool nt_task_is_queued(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed)
		return false;
	return task->on_rq;
}

#define TASK_INTERRUPTIBLE 0x0001
#define TASK_WAKING 0x0200

/*
 * The state in which a task leaves its CPU. Since 5.18 it is the fourth argument of sched_switch; before, it is read
 * from the task. By then another CPU may have begun to wake the task, and the state says only that. Such a task was
 * asleep, and counts as interruptible.
 */
static __always_inline __u32 nt_state_at_switch(const __u64 *ctx, const struct task_struct *prev, __u8 n_args)
{
	__u32 state;

	if (n_args >= 4)
		return ctx[3];
	state = prev->__state;
	return state == TASK_WAKING ? TASK_WAKING | TASK_INTERRUPTIBLE : state;
}

/*
 * Which clock a packet's time is by: two bits since 6.11, one from 5.18 to 6.10. By another than CLOCK_REALTIME it is
 * the time it is to be sent at, kept on its way round. Before 5.18 no such time is kept.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sk_buff___since_6_11 {
	__u8 tstamp_type : 2;
};

struct sk_buff___since_5_18 {
	__u8 mono_delivery_time : 1;
};
#pragma clang attribute pop

static __always_inline bool nt_stamp_is_of_sending(const struct sk_buff *skb)
{
	const struct sk_buff___since_6_11 *typed = (const void *)skb;
	const struct sk_buff___since_5_18 *marked = (const void *)skb;

	if (bpf_core_field_exists(typed->tstamp_type))
		return BPF_CORE_READ_BITFIELD(typed, tstamp_type);
	if (bpf_core_field_exists(marked->mono_delivery_time))
		return BPF_CORE_READ_BITFIELD(marked, mono_delivery_time);
	return false;
}

/* The time that a receive call gives with what it read, in ns: a time in two parts before 7.1, one number since. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct scm_timestamping_internal___before_7_1 {
	struct timespec64 ts[3];
};

struct scm_timestamping_internal___since_7_1 {
	__s64 ts[3];
};
#pragma clang attribute pop

static __always_inline __u64 nt_stamp_of_read(const struct scm_timestamping_internal *stamps)
{
	const struct scm_timestamping_internal___before_7_1 *parted = (const void *)stamps;
	const struct scm_timestamping_internal___since_7_1 *whole = (const void *)stamps;

	if (bpf_core_field_exists(parted->ts[0].tv_sec))
		return parted->ts[0].tv_sec * 1000000000ull + parted->ts[0].tv_nsec;
	return whole->ts[0];
}

/*
 * Whether a queue's packets are given to other CPUs by who reads them: it has a table for that. The table's address is
 * a pointer before 7.1, and since then a number, whose last bits say how large the table is.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct netdev_rx_queue___before_7_1 {
	struct rps_dev_flow_table *rps_flow_table;
};

struct netdev_rx_queue___since_7_1 {
	unsigned long rps_flow_table;
};
#pragma clang attribute pop

static __always_inline bool nt_queue_has_flow_table(const struct netdev_rx_queue *queue)
{
	const struct netdev_rx_queue___before_7_1 *pointing = (const void *)queue;
	const struct netdev_rx_queue___since_7_1 *tagged = (const void *)queue;

	if (bpf_core_field_exists(pointing->rps_flow_table))
		return BPF_CORE_READ(pointing, rps_flow_table);
	return BPF_CORE_READ(tagged, rps_flow_table);
}

/* How many pages of a kind a process has: a number for all CPUs before 6.2, and one that CPUs lag behind since. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct mm_rss_stat {
	atomic64_t count[4];
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
};
#pragma clang attribute pop

/*
 * A literal index: only that is fitted to the size that the kernel's elements have. Of a function of its own the
 * compiler moves nothing to where other kernels would meet it.
 */
static __noinline __s64 nt_memory_counter_before_6_2(const struct mm_struct___before_6_2 *mm, __u32 what)
{
	switch (what) {
	case 0:
		return BPF_CORE_READ(mm, rss_stat.count[0].counter);
	case 1:
		return BPF_CORE_READ(mm, rss_stat.count[1].counter);
	case 2:
		return BPF_CORE_READ(mm, rss_stat.count[2].counter);
	default:
		return BPF_CORE_READ(mm, rss_stat.count[3].counter);
	}
}

static __always_inline __s64 nt_memory_counter(const struct mm_struct *mm, __u32 what)
{
	const struct mm_struct___before_6_2 *old = (const void *)mm;

	if (bpf_core_field_exists(old->rss_stat.count))
		return nt_memory_counter_before_6_2(old, what);
	switch (what) {
	case 0:
		return mm->rss_stat[0].count;
	case 1:
		return mm->rss_stat[1].count;
	case 2:
		return mm->rss_stat[2].count;
	default:
		return mm->rss_stat[3].count;
	}
}

/* The device that the last packet of an established TCP socket came in by; 0 before 5.16, which keeps it elsewhere. */
static __always_inline __u32 nt_last_ifindex(const struct sock *sk)
{
	return bpf_core_field_exists(sk->sk_rx_dst_ifindex) ? sk->sk_rx_dst_ifindex : 0;
}

/*
 * The cgroup that the kernel keeps with a socket, by its kernfs id; 0: the kernel is built without
 * CONFIG_SOCK_CGROUP_DATA, or older than 5.15, where the pointer shares its word with other things.
 */
static __always_inline __u64 nt_cgroup_of_socket(const struct sock *sk)
{
	if (!bpf_core_field_exists(sk->sk_cgrp_data.cgroup))
		return 0;
	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
}
