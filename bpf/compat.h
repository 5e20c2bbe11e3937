/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - every difference between kernels and architectures that the programs know of, each with the
 * version and the reason. Nothing is chosen by version number: the kernel's own types say what is there.
 */
#ifndef NT_BPF_COMPAT_H
#define NT_BPF_COMPAT_H

#include "bpf/kernel.h"

#ifndef __TARGET_ARCH_x86
#error "only x86-64 has been tried: registers, the 32-bit mark and the preemption count are its own; add yours here"
#endif

/* The system call that a task is in, or was last in; negative when it came in by an interrupt. */
static __always_inline long nt_regs_call(struct pt_regs *regs)
{
	return regs->orig_ax;
}

/* The first three arguments of a system call, by number from 0. */
static __always_inline __u64 nt_regs_arg(struct pt_regs *regs, __u32 number)
{
	return number == 0 ? regs->di : number == 1 ? regs->si : regs->dx;
}

#define TS_COMPAT 0x0002	/* arch/x86: the system call came by the 32-bit entry */

static __always_inline bool nt_task_is_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

/*
 * Whether this is a PREEMPT_RT kernel: there, from 5.13 on, each task counts for itself how often it has disabled
 * softirqs. Known when the programs are loaded.
 */
static __always_inline bool nt_kernel_is_rt(const struct task_struct *task)
{
	return bpf_core_field_exists(task->softirq_disable_cnt);
}

#endif
