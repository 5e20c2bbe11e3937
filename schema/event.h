/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event.h - the records: what the kernel side writes into a ring, and what a reader of a tape gets back.
 *
 * This is the one place where a kind of record is defined: its number, its layout and, through the
 * field lists below, how the tape stores it. It is included by the BPF programs and by both user-space
 * programs, so it holds only fixed-width little-endian layouts and nothing that needs a libc.
 *
 * A kind has a shape:
 *   moment    happened at one time.
 *   span      took time, and is recorded once, at its end: it has fields dur_ns and flags.
 * and a place:
 *   timeline  on its CPU's timeline, whose owners may depend on it: when one is lost, time is uncovered. The tape keeps
 *             such records per CPU, in ring order, as columns.
 *   loose     is kept in the same way, but is no part of the timeline: when one is lost, it is counted, and no time is
 *             uncovered. It may stand some records off its place.
 *   identity  says who an id is (task, socket, cgroup, interrupt, device). It has a time but no place in a
 *             CPU's order; the tape keeps the newest one of each id in every chunk that refers to it.
 *
 * The same layouts serve ring and tape. Only id fields (role TASK, SOCKET, CGROUP, DEVICE, SYMBOL, STACK, FLOW) differ:
 *   in a ring   a key made by the kernel side: nt_task_key(), the socket cookie, the kernfs id, nt_device_key(), an
 *               address, nt_stack_key(), a number that the kernel side makes of the flow
 *   on a tape   a small number given by the recorder, unique within the session, never reused;
 *               0 is the idle task (role TASK) or "none" (the other roles)
 *
 * Times are CLOCK_MONOTONIC nanoseconds.
 *
 * To add a kind: write its struct, its line in NT_KINDS, its field list; of a span NT_NO_BEGIN_... too. See
 * docs/CONTRIBUTING.md.
 */
#pragma once

#include <linux/types.h>

#define NT_COMM_LEN 16 /* TASK_COMM_LEN: includes the terminating zero */
#define NT_PATH_LEN 232 /* a longer cgroup path keeps its end, the part that tells containers apart */
#define NT_IFNAME_LEN 16 /* IFNAMSIZ: includes the terminating zero */
#define NT_NO_TASK UINT64_MAX /* where a task stands: it is not known, or there is none */
#define NT_MAX_OPEN 8 /* spans that one state record may list as open */

/*
 * X(NUMBER, CONSTANT, struct name, shape, place). Numbers are on tapes: never reuse one. Below 64.
 */
#define NT_KINDS(X)                                                                                                    \
	X(1, STATE, state, MOMENT, TIMELINE)                                                                           \
	X(2, SWITCH, switch, MOMENT, TIMELINE)                                                                         \
	X(3, OPEN, open, MOMENT, TIMELINE)                                                                             \
	X(4, SOFTIRQ, softirq, SPAN, TIMELINE)                                                                         \
	X(5, IRQ, irq, SPAN, TIMELINE)                                                                                 \
	X(6, OP, op, SPAN, TIMELINE)                                                                                   \
	X(7, LOSS, loss, MOMENT, TIMELINE)                                                                             \
	X(8, HOTPLUG, hotplug, MOMENT, TIMELINE)                                                                       \
	X(9, NAPI, napi, SPAN, TIMELINE)                                                                               \
	X(10, LATENCY, latency, MOMENT, LOOSE)                                                                         \
	X(11, DROP, drop, MOMENT, LOOSE)                                                                               \
	X(12, RETRANSMIT, retransmit, MOMENT, LOOSE)                                                                   \
	X(13, WAKEUP, wakeup, MOMENT, LOOSE)                                                                           \
	X(14, STACK_SAMPLE, stack_sample, MOMENT, LOOSE)                                                               \
	X(17, RX_STRETCH, rx_stretch, MOMENT, LOOSE)                                                                   \
	X(18, NET_TIMER, net_timer, MOMENT, LOOSE)                                                                     \
	X(20, FLOW_SKETCH, flow_sketch, SPAN, LOOSE)                                                                   \
	X(21, FLOW_CELL, flow_cell, SPAN, LOOSE)                                                                       \
	X(22, FLOW_COUNT, flow_count, SPAN, LOOSE)                                                                     \
	X(23, FLOW_TOTAL, flow_total, SPAN, LOOSE)                                                                     \
	X(24, RAISE, raise, SPAN, LOOSE)                                                                               \
	X(25, BLOCK_IO, block_io, SPAN, LOOSE)                                                                         \
	X(26, TRANSMIT, transmit, MOMENT, LOOSE)                                                                       \
	X(27, MEM_RSS, mem_rss, MOMENT, LOOSE)                                                                         \
	X(28, PAGE_FAULT, page_fault, SPAN, LOOSE)                                                                     \
	X(29, KMEM, kmem, MOMENT, LOOSE)                                                                               \
	X(32, TASK, task, MOMENT, IDENTITY)                                                                            \
	X(33, SOCKET, socket, MOMENT, IDENTITY)                                                                        \
	X(34, CGROUP, cgroup, MOMENT, IDENTITY)                                                                        \
	X(35, IRQ_NAME, irq_name, MOMENT, IDENTITY)                                                                    \
	X(36, DEVICE, device, MOMENT, IDENTITY)                                                                        \
	X(37, SYMBOL, symbol, MOMENT, IDENTITY)                                                                        \
	X(38, DROP_REASON, drop_reason, MOMENT, IDENTITY)                                                              \
	X(39, STACK, stack, MOMENT, IDENTITY)                                                                          \
	X(40, USER_SYMBOL, user_symbol, MOMENT, IDENTITY)                                                              \
	X(41, FLOW, flow, MOMENT, IDENTITY)                                                                            \
	X(42, BLOCK_DEVICE, block_device, MOMENT, IDENTITY)

enum nt_kind {
	NT_NONE = 0,
#define X(number, constant, name, shape, place) NT_##constant = number,
	NT_KINDS(X)
#undef X
		NT_KIND_MAX = 64
};

/* The first 16 bytes of every record; what is between kind and the end of the header is the kind's own. */
struct nt_record {
	__u64 end_ns;
	__u8 kind; /* enum nt_kind */
	__u8 own_a, own_b, own_c;
	__u32 own_d;
};

/* Why a state record was written. */
enum nt_state_reason { NT_STATE_START = 1, NT_STATE_PERIODIC = 2, NT_STATE_STOP = 3, NT_STATE_RESYNC = 4 };

/*
 * STATE: who is on this CPU now, and which spans are open. Written when recording starts and stops, by
 * the next event after 50 ms or 4,096 records without one, and when a switch was missed. Its `n_open` OPEN records
 * stand directly before it, outermost first, with the same end_ns.
 */
struct nt_state {
	__u64 end_ns;
	__u8 kind;
	__u8 n_open;
	__u8 reason; /* enum nt_state_reason */
	__u8 zero_a;
	__u32 zero_b;
	__u64 task; /* on the CPU at end_ns */
};

#define NT_SWITCH_PREEMPTED                                                                                            \
	(1u << 31) /* in prev_state: prev was preempted, so it is runnable whatever the rest says                      \
		    */

/*
 * SWITCH: the context switch, and a state record too: the OPEN records before it are those of `prev`.
 */
struct nt_switch {
	__u64 end_ns;
	__u8 kind;
	__u8 n_open;
	__u8 prev_prio; /* kernel priority 0..139 of the task leaving, as it ran */
	__u8 zero_a;
	__u32 prev_state; /* the kernel's task state bits, with NT_SWITCH_PREEMPTED */
	__u64 prev; /* task */
	__u64 next; /* task */
};

/* The span that an OPEN record begins. */
enum nt_open_what { NT_OPEN_OP = 1, NT_OPEN_SOFTIRQ = 2, NT_OPEN_IRQ = 3 };

/*
 * OPEN: a span that has begun and not ended at the state record that follows. begin_ns 0 with
 * NT_OP_BEFORE: open since before the recording.
 */
struct nt_open {
	__u64 end_ns;
	__u8 kind;
	__u8 what; /* enum nt_open_what */
	__u8 detail; /* op: enum nt_op_dir; softirq: vector; irq: enum nt_irq_type */
	__u8 flags; /* op: NT_OP_* */
	__u32 number; /* op: enum nt_call; softirq: enum nt_softirq_context; irq: number */
	__u64 begin_ns;
	__u64 socket; /* op only */
};

enum nt_softirq_context {
	NT_SOFTIRQ_UNKNOWN = 0,
	NT_SOFTIRQ_IRQ_EXIT = 1, /* on the way out of a hard interrupt */
	NT_SOFTIRQ_KSOFTIRQD = 2, /* by the CPU's ksoftirqd */
	NT_SOFTIRQ_BH_ENABLE = 3 /* by a task that enabled bottom halves (inside an operation: shown as `op`) */
};

#define NT_SPAN_NO_BEGIN 0x01 /* the begin was not seen: dur_ns is 0 and means nothing */

/* SOFTIRQ: one run of one vector's handler, including what interrupted it. */
struct nt_softirq {
	__u64 end_ns;
	__u8 kind;
	__u8 vec; /* the kernel's number: 0 HI .. 9 RCU */
	__u8 context; /* enum nt_softirq_context */
	__u8 flags; /* NT_SPAN_* */
	__u32 zero_a;
	__u64 dur_ns;
};

enum nt_irq_type { NT_IRQ_DEVICE = 1, NT_IRQ_VECTOR = 2 };

/* IRQ: one hard interrupt, the outermost when they nest. */
struct nt_irq {
	__u64 end_ns;
	__u8 kind;
	__u8 type; /* enum nt_irq_type */
	__u8 flags; /* NT_SPAN_* */
	__u8 zero_a;
	__u32 number; /* device: Linux interrupt number; vector: x86 vector */
	__u64 dur_ns;
};

enum nt_op_dir { NT_SEND = 1, NT_RECV = 2 };

#define NT_OP_PEEK 0x01 /* MSG_PEEK: not in byte totals */
#define NT_OP_ERRQUEUE 0x02 /* MSG_ERRQUEUE: not in byte totals */
#define NT_OP_NO_BEGIN 0x04 /* begin unknown: dur_ns is 0 and means nothing */
#define NT_OP_BEFORE 0x08 /* open since before the recording: dur_ns is 0, the begin is clipped to its start */
#define NT_OP_IN_SOFTIRQ 0x10 /* made by a softirq, not by the task it interrupted */
#define NT_OP_KERNEL 0x20 /* made by a kernel thread or an io_uring worker */

/* The system call an operation was made by. Names in nt_call_name(). */
#define NT_CALLS(X)                                                                                                    \
	X(1, read)                                                                                                     \
	X(2, readv)                                                                                                    \
	X(3, preadv2)                                                                                                  \
	X(4, recvfrom)                                                                                                 \
	X(5, recvmsg)                                                                                                  \
	X(6, recvmmsg)                                                                                                 \
	X(7, write)                                                                                                    \
	X(8, writev)                                                                                                   \
	X(9, pwritev2)                                                                                                 \
	X(10, sendto)                                                                                                  \
	X(11, sendmsg)                                                                                                 \
	X(12, sendmmsg)                                                                                                \
	X(13, sendfile)                                                                                                \
	X(14, splice)                                                                                                  \
	X(15, io_uring_enter)

enum nt_call {
	NT_CALL_OTHER = 0, /* another call, a kernel thread, a softirq, or a 32-bit task */
#define X(number, name) NT_CALL_##name = number,
	NT_CALLS(X)
#undef X
		NT_CALL_MAX
};

/* OP: one message handed to, or asked of, a socket's protocol (docs/limits.md says which count). */
struct nt_op {
	__u64 end_ns;
	__u8 kind;
	__u8 dir; /* enum nt_op_dir */
	__u8 call; /* enum nt_call */
	__u8 flags; /* NT_OP_* */
	__s32 result; /* bytes, or a negative errno (kernel-internal ones too) */
	__u64 dur_ns;
	__u64 socket;
};

/* Why records are missing. */
enum nt_loss_why {
	NT_LOSS_RING_FULL = 0,
	NT_LOSS_NOT_RUN = 1 /* the kernel did not run the program: seen when another task was found on the CPU */
};

/*
 * LOSS: `count` records of one kind could not be written on this CPU. Stands ahead of the first record
 * written after them. Times are of the records that were lost; 0 means not known (take the end of the
 * CPU's last record before this one). For NT_LOSS_NOT_RUN they are the earliest that the loss can have been.
 */
struct nt_loss {
	__u64 end_ns; /* when this record was written */
	__u8 kind;
	__u8 lost_kind; /* enum nt_kind */
	__u8 why; /* enum nt_loss_why */
	__u8 zero_a;
	__u32 count;
	__u64 first_ns; /* least end of the lost */
	__u64 last_ns; /* greatest end of the lost */
	__u64 begin_ns; /* least begin of the lost, or of a span they said was open */
};

/* HOTPLUG: this CPU went away (online 0) or came back (online 1) at end_ns. */
struct nt_hotplug {
	__u64 end_ns;
	__u8 kind;
	__u8 online;
	__u8 zero_a, zero_b;
	__u32 zero_c;
};

/* The context of a poll. */
enum nt_napi_context {
	NT_NAPI_UNKNOWN = 0,
	NT_NAPI_SOFTIRQ = 1, /* the softirq NET_RX */
	NT_NAPI_THREAD = 2, /* a kernel thread of the device's (threaded NAPI) or of the backlog's */
	NT_NAPI_BUSY = 3, /* a task that waits for packets: busy polling */
	NT_NAPI_NETPOLL = 4 /* netconsole and the like, with budget 0: no packets are received */
};

/*
 * NAPI: one poll of a device's queue, at its end. The kernel tells the end only, so dur_ns goes back to what the poll
 * certainly followed at once: the poll before it by the same, or the begin of the softirq, of the thread's stay on the
 * CPU, or of the system call that polls. With NT_SPAN_NO_BEGIN nothing such is known.
 */
struct nt_napi {
	__u64 end_ns;
	__u8 kind;
	__u8 context; /* enum nt_napi_context */
	__u8 flags; /* NT_SPAN_* */
	__u8 zero_a;
	__u32 napi_id; /* as SO_INCOMING_NAPI_ID gives it; 0: none */
	__u64 dur_ns;
	__u64 device; /* 0: none, a CPU's backlog */
	__u32 work; /* packets received */
	__u32 budget; /* at most so many */
};

/*
 * Where a packet's lateness is measured: on its way up, since its receipt; on its way down, since its send. In the
 * order of the way. X(NUMBER, name, text).
 */
#define NT_HOOKS(X)                                                                                                    \
	X(1, ip_start, "ip-start")                                                                                     \
	X(2, tcp_start, "tcp-start")                                                                                   \
	X(3, udp_start, "udp-start")                                                                                   \
	X(4, tcp_socket_enqueued, "tcp-socket-enqueued")                                                               \
	X(5, udp_socket_enqueued, "udp-socket-enqueued")                                                               \
	X(6, tcp_socket_read, "tcp-socket-read")                                                                       \
	X(7, udp_socket_read, "udp-socket-read")                                                                       \
	X(8, tx_queued, "tx-queued")                                                                                   \
	X(9, tx_started, "tx-started")

#define NT_HOOK_IS_OF_SENDING(hook) ((hook) >= NT_HOOK_tx_queued)

enum nt_hook {
	NT_HOOK_NONE = 0,
#define X(number, name, text) NT_HOOK_##name = number,
	NT_HOOKS(X)
#undef X
		NT_HOOK_COUNT
};

/* Programs at a hook are called this and the function that they are put to. So their counts are the hook's. */
#define NT_HOOK_PROGRAM(name) "nt_latency_" #name "__"

/*
 * How a program at a hook counts a packet. X(name, whether the packet passed the hook during the recording, whether the
 * program looked at it), 0 or 1. Each is a column of the view latency_hook: append only.
 */
#define NT_HOOK_OUTCOMES(X)                                                                                            \
	X(no_stamp, 1, 1) /* it carries no time */                                                                     \
	X(transmit_stamp, 1, 1) /* the time that it carries is its sending's */                                        \
	X(skipped_filter, 1, 1) /* not what was asked for */                                                           \
	X(skipped_sample, 1, 0) /* left out by sampling */                                                             \
	X(lost, 1, 1) /* its record found no room */                                                                   \
	X(skipped_peek, 1, 1) /* looked at by its reader, not read */                                                  \
	X(skipped_unqueued, 1, 1) /* the socket did not take it, or has it no more */                                  \
	X(skipped_gate, 0, 0) /* outside the recording */                                                              \
	X(recorded, 1, 1)                                                                                              \
	X(skipped_unnoted, 1, 0) /* it was left out when it was queued, or made since */

#define NT_LATENCY_HOL 0x01 /* what was read had to wait for a segment that came late: head-of-line blocking */
#define NT_LATENCY_IPV6 0x02

/*
 * LATENCY: a packet that carries the time of its receipt passes a hook. How late it is there is the difference of the
 * two times, each by its own clock: the reader of a tape brings them together (clock snapshots), so that a step of the
 * realtime clock moves no sample. Packets without such a time are counted by the program and leave no record.
 */
struct nt_latency {
	__u64 end_ns;
	__u8 kind;
	__u8 hook; /* enum nt_hook */
	__u8 flags; /* NT_LATENCY_* */
	__u8 zero_a;
	__u32 length; /* bytes, as the packet is at this hook; at tcp-socket-read 0: not of one packet */
	__u64 stamp_ns; /* when it was received: CLOCK_REALTIME */
	__u64 device; /* it came in by; 0: not known */
	__u64 socket; /* 0 before the packet has found one */
	__u64 task; /* who reads; 0 at other hooks */
	__u32 queue_len; /* packets in the socket's receive queue */
	__u32 weight; /* packets that this one stands for: itself, and those left out since the last sample */
};

/*
 * TRANSMIT: a packet passes a hook on its way down, at a device: it is queued there, or handed to the driver. How late
 * it is there is the time since the begin of its send.
 */
struct nt_transmit {
	__u64 end_ns;
	__u8 kind;
	__u8 hook; /* enum nt_hook */
	__u8 flags; /* NT_LATENCY_IPV6 */
	__u8 zero_a;
	__u32 length; /* bytes, with its link header */
	__u64 send_ns; /* when the operation began that sent all its bytes; 0: not known */
	__u64 wait_ns; /* at tx-started: since it was queued */
	__u64 device; /* that sends it */
	__u64 socket; /* 0: none, or not known */
	__u64 task; /* who sends; 0: not known */
	__u32 weight; /* as of LATENCY */
	__u32 zero_b;
};

/* DROP: the kernel frees a packet that it did not deliver. */
struct nt_drop {
	__u64 end_ns;
	__u8 kind;
	__u8 zero_a;
	__u16 protocol; /* ETH_P_*, host order; 0: not known */
	__u32 length; /* bytes */
	__u32 reason; /* enum skb_drop_reason of that kernel: DROP_REASON has its name */
	__u32 zero_b;
	__u64 location; /* symbol: the code that freed it */
	__u64 device; /* 0: none */
	__u64 socket; /* 0: not known */
};

enum nt_retransmit_what { NT_RETRANSMIT_DATA = 1, NT_RETRANSMIT_SYNACK = 2 };

/* RETRANSMIT: TCP sends a segment again. */
struct nt_retransmit {
	__u64 end_ns;
	__u8 kind;
	__u8 what; /* enum nt_retransmit_what */
	__u8 state; /* of the socket: TCP_ESTABLISHED ... as in the kernel; 0: not known */
	__u8 zero_a;
	__u32 length; /* bytes of payload; SYN-ACK: 0 */
	__u64 socket; /* SYN-ACK: the listening one */
};

enum nt_wakeup_what {
	NT_WAKEUP_WAKING = 1, /* somebody wakes it */
	NT_WAKEUP_NEW = 2 /* for the first time, after its fork */
};

/* The code that a CPU runs when something happens there. */
enum nt_cpu_context {
	NT_CPU_UNKNOWN = 0, /* the probes that tell (softirq and irq) were not both on */
	NT_CPU_IN_TASK = 1,
	NT_CPU_IN_SOFTIRQ = 2,
	NT_CPU_IN_HARDIRQ = 3
};

#define NT_WAKEUP_RUNNABLE 0x01 /* it had not gone to sleep yet: it was, and stays, running or runnable */

/*
 * WAKEUP: a task is woken, by the one on this CPU or by an interrupt in its time. It is runnable from here on; when it
 * runs, a switch says. Where it will run is not decided yet.
 */
struct nt_wakeup {
	__u64 end_ns;
	__u8 kind;
	__u8 what; /* enum nt_wakeup_what */
	__u8 context; /* enum nt_cpu_context: what this CPU was in */
	__u8 flags; /* NT_WAKEUP_* */
	__u16 target_cpu; /* that it was on last; new: that it is put on */
	__u8 priority; /* kernel priority of the woken, as prev_prio */
	__u8 zero_a;
	__u64 task; /* woken */
	__u64 waker; /* the task on this CPU */
};

/* The context of a CPU when the clock of probe `stacks` came. X(NUMBER, CONSTANT, word). */
#define NT_STACK_CONTEXTS(X)                                                                                           \
	X(1, IDLE, idle)                                                                                               \
	X(2, TASK, task) /* its own code, or a system call's */                                                        \
	X(3, SEND, send) /* a socket operation of the task's */                                                        \
	X(4, RECV, recv)                                                                                               \
	X(5, NAPI, napi) /* a kernel thread that polls network devices */                                              \
	X(6, NET_RX, net_rx) /* a softirq */                                                                           \
	X(7, NET_TX, net_tx)                                                                                           \
	X(8, SOFTIRQ, softirq) /* of another vector */                                                                 \
	X(9, HARDIRQ, hardirq) /* an interrupt that lets others interrupt it */

enum nt_stack_context {
	NT_STACK_IN_NONE = 0,
#define X(number, constant, word) NT_STACK_IN_##constant = number,
	NT_STACK_CONTEXTS(X)
#undef X
		NT_STACK_CONTEXT_COUNT
};

#define NT_STACK_SAMPLE_USER 0x01 /* user space was interrupted: there are no frames of the kernel */
#define NT_STACK_SAMPLE_CUT 0x02 /* the kernel's stack had more frames than are kept: the outermost are missing */
#define NT_STACK_SAMPLE_CUT_USER 0x04 /* the same of the user's */
#define NT_STACK_SAMPLE_IN_PROGRAM                                                                                     \
	16 /* as `error`, EBUSY: the kernel was inside a BPF program or a call on a BPF map */

/*
 * STACK_SAMPLE: where a CPU was when a clock came that comes at a fixed rate. It comes as an interrupt, and tells of
 * what it interrupted. error: why there is no stack of the kernel's (a positive errno); a stack 0 without an error has
 * no frames.
 */
struct nt_stack_sample {
	__u64 end_ns;
	__u8 kind;
	__u8 context; /* enum nt_stack_context */
	__u8 vec; /* of the softirq that was interrupted; 0 in other contexts */
	__u8 flags; /* NT_STACK_SAMPLE_* */
	__u16 error;
	__u16 user_error;
	__u64 task; /* on the CPU */
	__u64 stack; /* of the kernel */
	__u64 user_stack;
};

#define NT_RX_STRETCH_FIRST 0x01 /* the first of its run */
#define NT_RX_STRETCH_LISTED 0x02 /* packets of it came in a list (GRO): all of that come before the work on any */
#define NT_RX_STRETCH_AFTER_LOSS 0x04 /* the CPU's stretch before it was lost */
#define NT_RX_STRETCH_FORWARDED 0x08 /* a packet of it was sent on by a device in the same run */
/* Its first packet is the last one of the stretch before: a tunnel or bridge gave it to another device. */
#define NT_RX_STRETCH_AGAIN 0x10
/* Its packets were not received in this run, which took them from their device, but on other CPUs (RPS). */
#define NT_RX_STRETCH_STEERED 0x20
/* Only on hosts with XDP. No packets: the driver worked, until the next packet, or to the run's end. */
#define NT_RX_STRETCH_DRIVER 0x40
#define NT_RX_STRETCH_AMID                                                                                             \
	0x80 /* the same; the driver may have worked, too, so not all of the time is the packets'                      \
	      */

#define NT_RX_LIST_BEGINS 0x01 /* its list begins with it */
#define NT_RX_LIST_CUT 0x02 /* it ended where a packet of the next stretch was delivered or forwarded */
#define NT_RX_LIST_MORE 0x04 /* its end tells nothing: its time is the next one's, too */

/*
 * RX_STRETCH: packets of one flow that follow one another in one receive run: of the softirq NET_RX, of a NAPI thread
 * (its stay on the CPU), or of a task that polls by itself (one poll). It ends where a packet of another flow is
 * received, with the run, or after 1,024 packets; it began where the one before ended, or with the run. Of a list with
 * packets of several flows, it ends where the work on a packet of the next one is seen.
 */
struct nt_rx_stretch {
	__u64 end_ns;
	__u8 kind;
	__u8 flags; /* NT_RX_STRETCH_* */
	__u8 list; /* NT_RX_LIST_* */
	__u8 zero_a;
	__u32 packets; /* as the stack received them: after GRO and RPS */
	__u64 flow;
	__u32 segments; /* of the wire, as far as the kernel knows: what GRO or a local sender merged counts as it was
			 */
	__u32 bytes; /* from the network header on */
	__u32 dropped; /* packets seen dropped; of a list only the last one is seen */
	__u32 reason; /* why the last of these was: the kernel's number, as of DROP; 0: none was */
	__u32 since_ns; /* in a list: so long before end_ns work on its packets was last seen; 0: it was not */
	__u32 zero_b;
};

/*
 * Functions that the network has called by timers, tasklets and work in softirqs: X(NUMBER, name in the kernel).
 * Append only. Those that a kernel does not have never run.
 */
#define NT_NET_TIMERS(X)                                                                                               \
	X(1, tcp_write_timer) /* retransmits, probes of a closed window */                                             \
	X(2, tcp_delack_timer)                                                                                         \
	X(3, tcp_keepalive_timer)                                                                                      \
	X(4, tcp_pace_kick)                                                                                            \
	X(5, tcp_compressed_ack_kick)                                                                                  \
	X(6, tcp_orphan_update)                                                                                        \
	X(7, tcp_tsq_workfn) /* since 6.9: sends on where a device has sent */                                         \
	X(8, tcp_tasklet_func) /* the same before */                                                                   \
	X(9, reqsk_timer_handler)                                                                                      \
	X(10, tw_timer_handler)                                                                                        \
	X(11, mptcp_retransmit_timer)                                                                                  \
	X(12, mptcp_timeout_timer)                                                                                     \
	X(13, mptcp_tout_timer)                                                                                        \
	X(14, neigh_timer_handler)                                                                                     \
	X(15, neigh_proxy_process)                                                                                     \
	X(16, ip_expire)                                                                                               \
	X(17, ip6_frag_expire)                                                                                         \
	X(18, igmp_timer_expire)                                                                                       \
	X(19, igmp_gq_timer_expire)                                                                                    \
	X(20, igmp_ifc_timer_expire)                                                                                   \
	X(21, xfrm_timer_handler)                                                                                      \
	X(22, dev_watchdog)                                                                                            \
	X(23, est_timer)

enum nt_net_timer_function {
	NT_NET_TIMER_NONE = 0,
#define X(number, function) NT_NET_TIMER_##function = number,
	NT_NET_TIMERS(X)
#undef X
		NT_NET_TIMER_COUNT
};

#define NT_NET_TIMER_PREEMPTED 0x01 /* other tasks ran in between: own_ns is 0 and means nothing */

/* NET_TIMER: one run of such a function. */
struct nt_net_timer {
	__u64 end_ns;
	__u8 kind;
	__u8 function; /* enum nt_net_timer_function */
	__u8 flags; /* NT_NET_TIMER_* */
	__u8 zero_a;
	__u32 zero_b;
	__u64 took_ns;
	__u64 own_ns; /* of that, without hard interrupts */
};

/*
 * What probe `flows` counts, about once a second, of all CPUs together (schema/flow_sketch.h). The records of one time
 * follow one another: for each key that is counted by, the FLOW_SKETCH, its cells, its flows; and the totals. The
 * recorder writes them.
 *
 * FLOW_SKETCH: the samples of that time.
 */
struct nt_flow_sketch {
	__u64 end_ns;
	__u8 kind;
	__u8 flags; /* enum nt_flow_key_sort: that it is by; so in the next two */
	__u8 zero_a, zero_b;
	__u32 unnamed; /* a flow without a FLOW_COUNT record of this time was sampled so often at most, as packets there
			*/
	__u64 dur_ns;
	__u64 samples; /* updates of the sketch */
	__u32 cells, flows; /* so many records of these follow */
};

/* FLOW_CELL: a cell of the sketch that is not 0. */
struct nt_flow_cell {
	__u64 end_ns;
	__u8 kind;
	__u8 flags;
	__u8 zero_a, zero_b;
	__u32 cell; /* row << column_bits | column */
	__u64 dur_ns;
	__s64 packets, bytes; /* sampled, with the signs of their flows */
};

/* FLOW_COUNT: one of the flows that were sampled most. One packet may be several samples, one for each row. */
struct nt_flow_count {
	__u64 end_ns;
	__u8 kind;
	__u8 flags;
	__u8 zero_a, zero_b;
	__u32 most_bytes; /* of one sample */
	__u64 dur_ns;
	__u64 flow;
	__u32 packets, missed; /* sampled; and so many more, at most, in its place's time before it */
	__u64 bytes; /* as packets */
	__u32 most_packets; /* of one sample */
	__u32 zero_c;
};

#define NT_FLOW_TOTAL_SENT 0x01 /* by the device to its driver; else received of it */

/* FLOW_TOTAL: all packets of a device in one direction, exactly. */
struct nt_flow_total {
	__u64 end_ns;
	__u8 kind;
	__u8 flags; /* NT_FLOW_TOTAL_* */
	__u8 zero_a, zero_b;
	__u32 zero_c;
	__u64 dur_ns;
	__u64 device; /* 0: of more devices than have places (NT_FLOW_DEVICES) */
	__u64 buffers; /* of the kernel's: one may be several packets */
	__u64 packets; /* of the wire, as far as the kernel knows: what GRO merged, or a card is to cut, counts as it
			  was */
	__u64 bytes; /* with one link header for each buffer */
};

/*
 * RAISE: a vector's handler begins to run at end_ns, which is the begin of its SOFTIRQ record too; the vector was first
 * raised, since the handler last began, dur_ns before.
 */
struct nt_raise {
	__u64 end_ns;
	__u8 kind;
	__u8 vec; /* the kernel's number, as of SOFTIRQ */
	__u8 raised_in; /* enum nt_cpu_context */
	__u8 flags; /* 0 */
	__u32 context; /* enum nt_softirq_context: the caller of the handler */
	__u64 dur_ns;
};

/*
 * Who a request of a block device is charged to. X(NUMBER, word). Kernel threads write back pages, and pass on what
 * others asked for, so some requests are not their submitter's.
 */
#define NT_IO_PAYERS(X)                                                                                                \
	X(0, unknown) /* its submission was not seen */                                                                \
	X(1, task) /* a thread of a process submitted it */                                                            \
	X(2, cgroup) /* a kernel thread did, for pages or requests of this cgroup */                                   \
	X(3, writeback) /* a kernel thread that writes back pages, and the kernel does not tell whose */               \
	X(4, kernel) /* another kernel thread: a journal's, swap's, a mapped device's */                               \
	X(5, loop) /* a loop device's, to its backing device: the request to the loop device is charged to who made it \
		    */                                                                                                 \
	X(6, shared) /* a flush that the device's queue makes once, for all that wait for one */

enum nt_io_payer {
#define X(number, word) NT_IO_PAYER_##word = number,
	NT_IO_PAYERS(X)
#undef X
		NT_IO_PAYER_COUNT
};

#define NT_IO_UNQUEUED 0x01 /* when it was queued is not known: queue_ns is 0 and means nothing */
#define NT_IO_REQUEUED 0x02 /* issued more than once: dur_ns is since the last time */
#define NT_IO_UNISSUED                                                                                                 \
	0x08 /* never issued: dur_ns is 0, and all its time is queue_ns. Flushes are so: see `shared`                  \
	      */
#define NT_IO_PARTIAL 0x04 /* completed in part: the rest is issued again, and makes a record of its own */

/* BLOCK_IO: a block device completes a request. It was issued to the device's driver dur_ns before. */
struct nt_block_io {
	__u64 end_ns;
	__u8 kind;
	__u8 op; /* enum req_op of the kernel; a write of nothing is a flush */
	__u8 payer; /* enum nt_io_payer */
	__u8 status; /* blk_status_t of the kernel; 0: no error */
	__u32 device; /* major number << 20 | minor number of the whole device; 0: none */
	__u64 dur_ns;
	__u64 queue_ns; /* from the queueing of its first bio to the issue */
	__u64 task; /* that submitted that bio; 0: not known */
	__u64 cgroup; /* of a kernel thread's: that the bio is of; 0: not known */
	__u32 bytes;
	__u8 flags; /* NT_IO_* */
	__u8 zero_a, zero_b, zero_c;
};

/* The counters of a process's memory, numbered as the kernel's. X(NUMBER, word). */
#define NT_RSS_KINDS(X)                                                                                                \
	X(0, file) /* pages of files */                                                                                \
	X(1, anon) /* pages of no file */                                                                              \
	X(2, swap) /* anonymous pages that are in swap space, and not resident */                                      \
	X(3, shmem) /* shared memory, tmpfs */

enum nt_rss_kind {
#define X(number, word) NT_RSS_##word = number,
	NT_RSS_KINDS(X)
#undef X
		NT_RSS_KIND_COUNT
};

/* Why a value is told. X(NUMBER, word). */
#define NT_RSS_CAUSES(X)                                                                                               \
	X(1, change) /* it has changed by NT_RSS_STEP_PAGES or more since it was told last */                          \
	X(2, start) /* the recording or a chunk of it begins */                                                        \
	X(3, fork) /* the process begins, with copies of its parent's pages */                                         \
	X(4, exec) /* the process runs another program, in new memory */

enum nt_rss_cause {
#define X(number, word) NT_RSS_CAUSE_##word = number,
	NT_RSS_CAUSES(X)
#undef X
};

#define NT_RSS_STEP_PAGES 32 /* the least that a CPU of kernels from 6.2 on keeps to itself of a counter's changes */
#define NT_RSS_EXTERNAL 0x01 /* another process made the change, or the kernel did: by reclaim, say */

/* MEM_RSS: how much memory of a kind a process has, as the kernel's counter says, which lags (docs/limits.md). */
struct nt_mem_rss {
	__u64 end_ns;
	__u8 kind;
	__u8 what; /* enum nt_rss_kind */
	__u8 cause; /* enum nt_rss_cause */
	__u8 flags; /* NT_RSS_* */
	__u32 zero_a;
	__u64 process; /* that the memory is of: the task id of its main thread */
	__u64 kib;
};

/* PAGE_FAULT: so many page faults a thread took in its time on the CPU, which began dur_ns before. */
struct nt_page_fault {
	__u64 end_ns;
	__u8 kind;
	__u8 flags; /* 0 */
	__u8 zero_a, zero_b;
	__u32 major; /* that waited for a page to be read */
	__u64 dur_ns;
	__u64 task;
	__u64 minor; /* the others */
};

/* By which of its allocators the kernel takes memory. X(NUMBER, word). */
#define NT_KMEM_KINDS(X)                                                                                               \
	X(0, kmalloc) /* of any size */                                                                                \
	X(1, cache) /* an object of a cache: of one sort, such as a socket */                                          \
	X(2, pages) /* whole pages: also those that the two above are cut from */

enum nt_kmem_kind {
#define X(number, word) NT_KMEM_##word = number,
	NT_KMEM_KINDS(X)
#undef X
		NT_KMEM_KIND_COUNT
};

#define NT_KMEM_FAILED 0x01 /* there was no memory */

/* KMEM: the kernel takes memory for itself or, pages, also for a process. Where many do, some are recorded. */
struct nt_kmem {
	__u64 end_ns;
	__u8 kind;
	__u8 what; /* enum nt_kmem_kind */
	__u8 context; /* enum nt_cpu_context: what this CPU was in */
	__u8 vec; /* in a softirq: its vector */
	__u32 bytes; /* taken: what was asked for, and what it was rounded up by */
	__u64 task; /* that ran, in NT_CPU_IN_TASK and NT_CPU_UNKNOWN */
	__u64 location; /* symbol: the code that asked; 0: not known, as of pages */
	__u32 weight; /* it stands for so many; those of 32 KiB and more are sampled apart */
	__u32 flags; /* NT_KMEM_* */
};

enum nt_task_why {
	NT_TASK_SEED = 1, /* was there when recording began, or was looked up in /proc */
	NT_TASK_FORK = 2,
	NT_TASK_EXEC = 3,
	NT_TASK_RENAME = 4,
	NT_TASK_CGROUP = 5,
	NT_TASK_EXIT = 6
};

#define NT_TASK_KTHREAD 0x01
#define NT_TASK_IO_WORKER 0x02

/* TASK: a thread and its process, as of end_ns. */
struct nt_task {
	__u64 end_ns;
	__u8 kind;
	__u8 why; /* enum nt_task_why */
	__u8 flags; /* NT_TASK_* */
	__u8 zero_a;
	__u32 tid; /* as the initial pid namespace sees it, like all pids here */
	__u64 task;
	__u64 process; /* the task id of the process's main thread: the process's id */
	__u64 start_ns; /* when this thread was forked */
	__u64 cgroup;
	__u32 pid;
	__u32 parent_pid;
	char comm[NT_COMM_LEN];
};

/*
 * SOCKET: addresses as of end_ns. IPv4 addresses stand in the first 4 bytes; ports are in host order. The operations of
 * a socket tell who works on it; `process` and `cgroup` are for sockets without operations.
 */
struct nt_socket {
	__u64 end_ns;
	__u8 kind;
	__u8 family; /* AF_* */
	__u8 type; /* SOCK_* */
	__u8 zero_a;
	__u32 netns; /* inode number of the network namespace */
	__u64 socket;
	__u64 cookie; /* the kernel's own id, as `ss -e` shows it */
	__u16 protocol; /* IPPROTO_* */
	__u16 src_port, dst_port;
	__u16 zero_b;
	__u8 src[16], dst[16];
	__u64 process; /* the first that was seen to hold it, connect it or make it listen, as nt_task has it; 0: none
			*/
	__u64 cgroup; /* that the kernel keeps with it: its creator's; 0: not known */
};

#define NT_FLOW_SCATTERED 0x01 /* its packets went to too many sockets to name: from end_ns on none is known */
#define NT_FLOW_MANY 0x02 /* many flows that were too many to write: no sender, or nothing but the device */
#define NT_FLOW_PARTLY 0x04 /* of many: not all packets were seen to go to the socket */
#define NT_FLOW_SENT 0x08 /* the device sends its packets; else it receives them */
/* All flows that have this in common (enum nt_flow_key_sort), as probe flows counts them: what is not said is 0. */
#define NT_FLOW_KEY_SHIFT 4
#define NT_FLOW_KEY_MASK 0x30

/*
 * FLOW: what packets of one sender, receiver and device have in common. Addresses and ports as in nt_socket;
 * src is the sender's. Ports are 0 where packets have none, in fragments, and behind IPv6 extension headers.
 */
struct nt_flow {
	__u64 end_ns;
	__u8 kind;
	__u8 family; /* AF_INET, AF_INET6; 0: neither */
	__u8 protocol; /* IPPROTO_* */
	__u8 flags; /* NT_FLOW_* */
	__u32 netns; /* as nt_socket: of the device */
	__u64 flow;
	__u16 ethertype; /* ETH_P_*, host order */
	__u16 src_port, dst_port;
	__u16 zero_b;
	__u8 src[16], dst[16];
	__u64 device; /* that received it, or sends it (NT_FLOW_SENT) */
	/* The kernel delivered a packet of it to this one, and so those from end_ns on; 0: that is not known. */
	__u64 socket;
};

/* CGROUP: the path below the cgroup2 root. */
struct nt_cgroup {
	__u64 end_ns;
	__u8 kind;
	__u8 zero_a, zero_b, zero_c;
	__u32 zero_d;
	__u64 cgroup;
	__u64 kernel_id; /* kernfs id, the inode number below /sys/fs/cgroup */
	char path[NT_PATH_LEN];
};

#define NT_IRQ_NAME_ASKED 0x01 /* sysfs was asked whose it is: without a device, it is no network device's */

/* IRQ_NAME: written by the recorder, from /proc/interrupts, the vector table and sysfs. */
struct nt_irq_name {
	__u64 end_ns;
	__u8 kind;
	__u8 type; /* enum nt_irq_type */
	__u8 flags; /* NT_IRQ_NAME_* */
	__u8 zero_a;
	__u32 number;
	char name[48];
	char device[NT_IFNAME_LEN]; /* the network device that the interrupt is of; "": none, or not known */
};

/* DEVICE: a network device, as of end_ns. */
struct nt_device {
	__u64 end_ns;
	__u8 kind;
	__u8 zero_a, zero_b, zero_c;
	__u32 ifindex;
	__u64 device;
	__u32 netns; /* as nt_socket */
	__u32 zero_d;
	char name[NT_IFNAME_LEN];
};

/* SYMBOL: an address of the kernel's code. Resolved by the recorder, since nobody can later. */
struct nt_symbol {
	__u64 end_ns;
	__u8 kind;
	__u8 zero_a, zero_b, zero_c;
	__u32 offset; /* bytes from the function's begin */
	__u64 symbol;
	char name[64]; /* "" if not known */
	char module[24]; /* "" for the kernel proper */
};

/* DROP_REASON: written by the recorder, from the kernel's type information. */
struct nt_drop_reason {
	__u64 end_ns;
	__u8 kind;
	__u8 zero_a, zero_b, zero_c;
	__u32 number;
	char name[48]; /* NO_SOCKET: without the kernel's prefix */
};

/* BLOCK_DEVICE: written by the recorder, from /proc/diskstats. */
struct nt_block_device {
	__u64 end_ns;
	__u8 kind;
	__u8 zero_a, zero_b, zero_c;
	__u32 number; /* as nt_block_io has it */
	char name[32];
};

#define NT_STACK_USER 0x01 /* of user space */
#define NT_STACK_MAX_FRAMES 127 /* no stack is deeper */

/*
 * STACK: one frame more than `parent`, which is the stack of its caller. So all stacks make up a tree, in which what
 * they have in common stands once. Frames of one stack are all the kernel's or all the user's. A stack never changes:
 * end_ns is 0. (In a ring a stack comes whole: bpf/shared.h.)
 */
struct nt_stack {
	__u64 end_ns;
	__u8 kind;
	__u8 flags; /* NT_STACK_* */
	__u8 zero_a, zero_b;
	__u32 zero_c;
	__u64 stack;
	__u64 parent; /* 0: it is the outermost frame */
	__u64 symbol; /* where it is: the instruction, of callers the one after the call */
};

#define NT_BUILD_ID_LEN 20
#define NT_USER_SYMBOL_ADDRESS 0x01 /* place is an address in its process: what is mapped there is not known */

/* USER_SYMBOL: a place in a program or library; its number is one of the symbols'. */
struct nt_user_symbol {
	__u64 end_ns;
	__u8 kind;
	__u8 flags; /* NT_USER_SYMBOL_* */
	__u8 zero_a, zero_b;
	__u32 zero_c;
	__u64 symbol;
	__u64 place; /* the offset in the file; named so on tapes */
	__u8 build_id[NT_BUILD_ID_LEN]; /* all 0: not known */
	char path[100]; /* of the file, as its process sees it; "": not known. A longer one keeps its end */
};

/* The flags of each span that say that its begin is not known: dur_ns is 0 then and means nothing. */
#define NT_NO_BEGIN_softirq NT_SPAN_NO_BEGIN
#define NT_NO_BEGIN_irq NT_SPAN_NO_BEGIN
#define NT_NO_BEGIN_op (NT_OP_NO_BEGIN | NT_OP_BEFORE)
#define NT_NO_BEGIN_napi NT_SPAN_NO_BEGIN
#define NT_NO_BEGIN_flow_sketch 0
#define NT_NO_BEGIN_flow_cell 0
#define NT_NO_BEGIN_flow_count 0
#define NT_NO_BEGIN_flow_total 0
#define NT_NO_BEGIN_raise 0
#define NT_NO_BEGIN_block_io 0
#define NT_NO_BEGIN_page_fault 0

/*
 * The fields of each kind, in the order in which the tape numbers them: append only.
 * F(field, coding, role). end_ns comes first, coded against the record before it; `kind` is implied.
 *
 * Codings of event columns (docs/chunk-format.md):
 *   TIME    difference to the end_ns of the record before it in the block, zigzag
 *   AGO     end_ns minus the value, zigzag: for absolute times
 *   PLAIN   the value itself
 *   SIGNED  the value itself, zigzag
 *   DELTA   difference to the value before it in the column, zigzag
 *   BYTES   a fixed array of bytes, identities only
 * Roles tell the recorder which keys to turn into ids.
 */
#define NT_FIELDS_state(F)                                                                                             \
	F(end_ns, TIME, NONE)                                                                                          \
	F(n_open, PLAIN, NONE)                                                                                         \
	F(reason, PLAIN, NONE)                                                                                         \
	F(task, PLAIN, TASK)

#define NT_FIELDS_switch(F)                                                                                            \
	F(end_ns, TIME, NONE)                                                                                          \
	F(n_open, PLAIN, NONE)                                                                                         \
	F(prev_prio, PLAIN, NONE)                                                                                      \
	F(prev_state, PLAIN, NONE)                                                                                     \
	F(prev, PLAIN, TASK)                                                                                           \
	F(next, PLAIN, TASK)

#define NT_FIELDS_open(F)                                                                                              \
	F(end_ns, TIME, NONE)                                                                                          \
	F(what, PLAIN, NONE)                                                                                           \
	F(detail, PLAIN, NONE)                                                                                         \
	F(flags, PLAIN, NONE)                                                                                          \
	F(number, PLAIN, NONE)                                                                                         \
	F(begin_ns, AGO, NONE)                                                                                         \
	F(socket, PLAIN, SOCKET)

#define NT_FIELDS_softirq(F)                                                                                           \
	F(end_ns, TIME, NONE)                                                                                          \
	F(vec, PLAIN, NONE)                                                                                            \
	F(context, PLAIN, NONE)                                                                                        \
	F(flags, PLAIN, NONE)                                                                                          \
	F(dur_ns, PLAIN, NONE)

#define NT_FIELDS_irq(F)                                                                                               \
	F(end_ns, TIME, NONE)                                                                                          \
	F(type, PLAIN, NONE)                                                                                           \
	F(flags, PLAIN, NONE)                                                                                          \
	F(number, PLAIN, NONE)                                                                                         \
	F(dur_ns, PLAIN, NONE)

#define NT_FIELDS_op(F)                                                                                                \
	F(end_ns, TIME, NONE)                                                                                          \
	F(dir, PLAIN, NONE)                                                                                            \
	F(call, PLAIN, NONE)                                                                                           \
	F(flags, PLAIN, NONE)                                                                                          \
	F(result, SIGNED, NONE)                                                                                        \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(socket, PLAIN, SOCKET)

#define NT_FIELDS_loss(F)                                                                                              \
	F(end_ns, TIME, NONE)                                                                                          \
	F(lost_kind, PLAIN, NONE)                                                                                      \
	F(count, PLAIN, NONE)                                                                                          \
	F(first_ns, AGO, NONE)                                                                                         \
	F(last_ns, AGO, NONE)                                                                                          \
	F(begin_ns, AGO, NONE)                                                                                         \
	F(why, PLAIN, NONE)

#define NT_FIELDS_hotplug(F)                                                                                           \
	F(end_ns, TIME, NONE)                                                                                          \
	F(online, PLAIN, NONE)

#define NT_FIELDS_napi(F)                                                                                              \
	F(end_ns, TIME, NONE)                                                                                          \
	F(context, PLAIN, NONE)                                                                                        \
	F(flags, PLAIN, NONE)                                                                                          \
	F(napi_id, PLAIN, NONE)                                                                                        \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(work, PLAIN, NONE)                                                                                           \
	F(budget, PLAIN, NONE)

#define NT_FIELDS_latency(F)                                                                                           \
	F(end_ns, TIME, NONE)                                                                                          \
	F(hook, PLAIN, NONE)                                                                                           \
	F(flags, PLAIN, NONE)                                                                                          \
	F(length, PLAIN, NONE)                                                                                         \
	F(stamp_ns, DELTA, NONE)                                                                                       \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(socket, PLAIN, SOCKET)                                                                                       \
	F(task, PLAIN, TASK)                                                                                           \
	F(queue_len, PLAIN, NONE)                                                                                      \
	F(weight, PLAIN, NONE)

#define NT_FIELDS_drop(F)                                                                                              \
	F(end_ns, TIME, NONE)                                                                                          \
	F(protocol, PLAIN, NONE)                                                                                       \
	F(length, PLAIN, NONE)                                                                                         \
	F(reason, PLAIN, NONE)                                                                                         \
	F(location, PLAIN, SYMBOL)                                                                                     \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(socket, PLAIN, SOCKET)

#define NT_FIELDS_retransmit(F)                                                                                        \
	F(end_ns, TIME, NONE)                                                                                          \
	F(what, PLAIN, NONE)                                                                                           \
	F(state, PLAIN, NONE)                                                                                          \
	F(length, PLAIN, NONE)                                                                                         \
	F(socket, PLAIN, SOCKET)

#define NT_FIELDS_wakeup(F)                                                                                            \
	F(end_ns, TIME, NONE)                                                                                          \
	F(what, PLAIN, NONE)                                                                                           \
	F(context, PLAIN, NONE)                                                                                        \
	F(flags, PLAIN, NONE)                                                                                          \
	F(target_cpu, PLAIN, NONE)                                                                                     \
	F(priority, PLAIN, NONE)                                                                                       \
	F(task, PLAIN, TASK)                                                                                           \
	F(waker, PLAIN, TASK)

#define NT_FIELDS_stack_sample(F)                                                                                      \
	F(end_ns, TIME, NONE)                                                                                          \
	F(context, PLAIN, NONE)                                                                                        \
	F(vec, PLAIN, NONE)                                                                                            \
	F(flags, PLAIN, NONE)                                                                                          \
	F(error, PLAIN, NONE)                                                                                          \
	F(user_error, PLAIN, NONE)                                                                                     \
	F(task, PLAIN, TASK)                                                                                           \
	F(stack, PLAIN, STACK)                                                                                         \
	F(user_stack, PLAIN, STACK)

#define NT_FIELDS_rx_stretch(F)                                                                                        \
	F(end_ns, TIME, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(packets, PLAIN, NONE)                                                                                        \
	F(flow, PLAIN, FLOW)                                                                                           \
	F(segments, PLAIN, NONE)                                                                                       \
	F(bytes, PLAIN, NONE)                                                                                          \
	F(dropped, PLAIN, NONE)                                                                                        \
	F(reason, PLAIN, NONE)                                                                                         \
	F(list, PLAIN, NONE)                                                                                           \
	F(since_ns, PLAIN, NONE)

#define NT_FIELDS_net_timer(F)                                                                                         \
	F(end_ns, TIME, NONE)                                                                                          \
	F(function, PLAIN, NONE)                                                                                       \
	F(flags, PLAIN, NONE)                                                                                          \
	F(took_ns, PLAIN, NONE)                                                                                        \
	F(own_ns, PLAIN, NONE)

#define NT_FIELDS_flow_sketch(F)                                                                                       \
	F(end_ns, TIME, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(samples, PLAIN, NONE)                                                                                        \
	F(unnamed, PLAIN, NONE)                                                                                        \
	F(cells, PLAIN, NONE)                                                                                          \
	F(flows, PLAIN, NONE)

#define NT_FIELDS_flow_cell(F)                                                                                         \
	F(end_ns, TIME, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(cell, DELTA, NONE)                                                                                           \
	F(packets, SIGNED, NONE)                                                                                       \
	F(bytes, SIGNED, NONE)

#define NT_FIELDS_flow_count(F)                                                                                        \
	F(end_ns, TIME, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(flow, PLAIN, FLOW)                                                                                           \
	F(packets, PLAIN, NONE)                                                                                        \
	F(missed, PLAIN, NONE)                                                                                         \
	F(bytes, PLAIN, NONE)                                                                                          \
	F(most_packets, PLAIN, NONE)                                                                                   \
	F(most_bytes, PLAIN, NONE)

#define NT_FIELDS_flow_total(F)                                                                                        \
	F(end_ns, TIME, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(buffers, PLAIN, NONE)                                                                                        \
	F(packets, PLAIN, NONE)                                                                                        \
	F(bytes, PLAIN, NONE)

#define NT_FIELDS_raise(F)                                                                                             \
	F(end_ns, TIME, NONE)                                                                                          \
	F(vec, PLAIN, NONE)                                                                                            \
	F(raised_in, PLAIN, NONE)                                                                                      \
	F(flags, PLAIN, NONE)                                                                                          \
	F(context, PLAIN, NONE)                                                                                        \
	F(dur_ns, PLAIN, NONE)

#define NT_FIELDS_block_io(F)                                                                                          \
	F(end_ns, TIME, NONE)                                                                                          \
	F(op, PLAIN, NONE)                                                                                             \
	F(payer, PLAIN, NONE)                                                                                          \
	F(status, PLAIN, NONE)                                                                                         \
	F(device, PLAIN, NONE)                                                                                         \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(queue_ns, PLAIN, NONE)                                                                                       \
	F(task, PLAIN, TASK)                                                                                           \
	F(cgroup, PLAIN, CGROUP)                                                                                       \
	F(bytes, PLAIN, NONE)                                                                                          \
	F(flags, PLAIN, NONE)

#define NT_FIELDS_transmit(F)                                                                                          \
	F(end_ns, TIME, NONE)                                                                                          \
	F(hook, PLAIN, NONE)                                                                                           \
	F(flags, PLAIN, NONE)                                                                                          \
	F(length, PLAIN, NONE)                                                                                         \
	F(send_ns, DELTA, NONE)                                                                                        \
	F(wait_ns, PLAIN, NONE)                                                                                        \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(socket, PLAIN, SOCKET)                                                                                       \
	F(task, PLAIN, TASK)                                                                                           \
	F(weight, PLAIN, NONE)

#define NT_FIELDS_mem_rss(F)                                                                                           \
	F(end_ns, TIME, NONE)                                                                                          \
	F(what, PLAIN, NONE)                                                                                           \
	F(cause, PLAIN, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(process, PLAIN, TASK)                                                                                        \
	F(kib, PLAIN, NONE)

#define NT_FIELDS_page_fault(F)                                                                                        \
	F(end_ns, TIME, NONE)                                                                                          \
	F(flags, PLAIN, NONE)                                                                                          \
	F(major, PLAIN, NONE)                                                                                          \
	F(dur_ns, PLAIN, NONE)                                                                                         \
	F(task, PLAIN, TASK)                                                                                           \
	F(minor, PLAIN, NONE)

#define NT_FIELDS_kmem(F)                                                                                              \
	F(end_ns, TIME, NONE)                                                                                          \
	F(what, PLAIN, NONE)                                                                                           \
	F(context, PLAIN, NONE)                                                                                        \
	F(vec, PLAIN, NONE)                                                                                            \
	F(bytes, PLAIN, NONE)                                                                                          \
	F(task, PLAIN, TASK)                                                                                           \
	F(location, PLAIN, SYMBOL)                                                                                     \
	F(weight, PLAIN, NONE)                                                                                         \
	F(flags, PLAIN, NONE)

#define NT_FIELDS_stack(F)                                                                                             \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(flags, PLAIN, NONE)                                                                                          \
	F(stack, PLAIN, STACK)                                                                                         \
	F(parent, PLAIN, STACK)                                                                                        \
	F(symbol, PLAIN, SYMBOL)

#define NT_FIELDS_user_symbol(F)                                                                                       \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(flags, PLAIN, NONE)                                                                                          \
	F(symbol, PLAIN, SYMBOL)                                                                                       \
	F(place, PLAIN, NONE)                                                                                          \
	F(build_id, BYTES, NONE)                                                                                       \
	F(path, BYTES, NONE)

#define NT_FIELDS_symbol(F)                                                                                            \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(offset, PLAIN, NONE)                                                                                         \
	F(symbol, PLAIN, SYMBOL)                                                                                       \
	F(name, BYTES, NONE)                                                                                           \
	F(module, BYTES, NONE)

#define NT_FIELDS_drop_reason(F)                                                                                       \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(number, PLAIN, NONE)                                                                                         \
	F(name, BYTES, NONE)

#define NT_FIELDS_device(F)                                                                                            \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(ifindex, PLAIN, NONE)                                                                                        \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(netns, PLAIN, NONE)                                                                                          \
	F(name, BYTES, NONE)

#define NT_FIELDS_task(F)                                                                                              \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(why, PLAIN, NONE)                                                                                            \
	F(flags, PLAIN, NONE)                                                                                          \
	F(tid, PLAIN, NONE)                                                                                            \
	F(task, PLAIN, TASK)                                                                                           \
	F(process, PLAIN, TASK)                                                                                        \
	F(start_ns, PLAIN, NONE)                                                                                       \
	F(cgroup, PLAIN, CGROUP)                                                                                       \
	F(pid, PLAIN, NONE)                                                                                            \
	F(parent_pid, PLAIN, NONE)                                                                                     \
	F(comm, BYTES, NONE)

#define NT_FIELDS_socket(F)                                                                                            \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(family, PLAIN, NONE)                                                                                         \
	F(type, PLAIN, NONE)                                                                                           \
	F(netns, PLAIN, NONE)                                                                                          \
	F(socket, PLAIN, SOCKET)                                                                                       \
	F(cookie, PLAIN, NONE)                                                                                         \
	F(protocol, PLAIN, NONE)                                                                                       \
	F(src_port, PLAIN, NONE)                                                                                       \
	F(dst_port, PLAIN, NONE)                                                                                       \
	F(src, BYTES, NONE)                                                                                            \
	F(dst, BYTES, NONE)                                                                                            \
	F(process, PLAIN, TASK)                                                                                        \
	F(cgroup, PLAIN, CGROUP)

#define NT_FIELDS_flow(F)                                                                                              \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(family, PLAIN, NONE)                                                                                         \
	F(protocol, PLAIN, NONE)                                                                                       \
	F(netns, PLAIN, NONE)                                                                                          \
	F(flow, PLAIN, FLOW)                                                                                           \
	F(ethertype, PLAIN, NONE)                                                                                      \
	F(src_port, PLAIN, NONE)                                                                                       \
	F(dst_port, PLAIN, NONE)                                                                                       \
	F(src, BYTES, NONE)                                                                                            \
	F(dst, BYTES, NONE)                                                                                            \
	F(device, PLAIN, DEVICE)                                                                                       \
	F(socket, PLAIN, SOCKET)                                                                                       \
	F(flags, PLAIN, NONE)

#define NT_FIELDS_cgroup(F)                                                                                            \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(cgroup, PLAIN, CGROUP)                                                                                       \
	F(kernel_id, PLAIN, NONE)                                                                                      \
	F(path, BYTES, NONE)

#define NT_FIELDS_irq_name(F)                                                                                          \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(type, PLAIN, NONE)                                                                                           \
	F(number, PLAIN, NONE)                                                                                         \
	F(name, BYTES, NONE)                                                                                           \
	F(flags, PLAIN, NONE)                                                                                          \
	F(device, BYTES, NONE)

#define NT_FIELDS_block_device(F)                                                                                      \
	F(end_ns, PLAIN, NONE)                                                                                         \
	F(number, PLAIN, NONE)                                                                                         \
	F(name, BYTES, NONE)

/*
 * The key of a task in a ring: pid and start time in one word. The start time is cut to 16 us, less than
 * any pid can be reused in, and wraps after 2.3 years of uptime, which only matters to a task that old
 * whose pid comes round in the same 16 us. The idle tasks are 0.
 */
static inline __u64 nt_task_key(__u32 pid, __u64 start_ns)
{
	return pid ? (start_ns >> 14 << 22) ^ pid : 0;
}

/* The key of a device in a ring: an index is its network namespace's only. */
static inline __u64 nt_device_key(__u32 netns, __u32 ifindex)
{
	return (__u64)netns << 32 | ifindex;
}

/*
 * The key of a stack in a ring: of its caller's key, and a number that tells the frame; the outermost frame's caller
 * has one of the two below. Two stacks of one key would show as the first of them: with a million stacks that happens
 * in one recording of 40 million.
 */
#define NT_STACK_KERNEL_KEY 0x6e657474617065ull
#define NT_STACK_USER_KEY 0x7461706574656eull
static inline __u64 nt_stack_key(__u64 parent, __u64 frame)
{
	__u64 mixed = (parent ^ frame) * 0x9e3779b97f4a7c15ull;

	return mixed ^ mixed >> 29;
}

/* Layouts are contracts: a compiler that lays them out otherwise must fail here, on both sides. */
#define NT_ASSERT_LAYOUT(name, size)                                                                                   \
	_Static_assert(sizeof(struct nt_##name) == (size), "size of nt_" #name);                                       \
	_Static_assert(__builtin_offsetof(struct nt_##name, kind) == 8, "kind in nt_" #name)
NT_ASSERT_LAYOUT(record, 16);
NT_ASSERT_LAYOUT(state, 24);
NT_ASSERT_LAYOUT(switch, 32);
NT_ASSERT_LAYOUT(open, 32);
NT_ASSERT_LAYOUT(softirq, 24);
NT_ASSERT_LAYOUT(irq, 24);
NT_ASSERT_LAYOUT(op, 32);
NT_ASSERT_LAYOUT(loss, 40);
NT_ASSERT_LAYOUT(hotplug, 16);
NT_ASSERT_LAYOUT(napi, 40);
NT_ASSERT_LAYOUT(latency, 56);
NT_ASSERT_LAYOUT(drop, 48);
NT_ASSERT_LAYOUT(retransmit, 24);
NT_ASSERT_LAYOUT(wakeup, 32);
NT_ASSERT_LAYOUT(stack_sample, 40);
NT_ASSERT_LAYOUT(rx_stretch, 48);
NT_ASSERT_LAYOUT(net_timer, 32);
NT_ASSERT_LAYOUT(flow_sketch, 40);
NT_ASSERT_LAYOUT(flow_cell, 40);
NT_ASSERT_LAYOUT(flow_count, 56);
NT_ASSERT_LAYOUT(flow_total, 56);
NT_ASSERT_LAYOUT(raise, 24);
NT_ASSERT_LAYOUT(block_io, 56);
NT_ASSERT_LAYOUT(transmit, 64);
NT_ASSERT_LAYOUT(mem_rss, 32);
NT_ASSERT_LAYOUT(page_fault, 40);
NT_ASSERT_LAYOUT(kmem, 40);
NT_ASSERT_LAYOUT(task, 72);
NT_ASSERT_LAYOUT(socket, 88);
NT_ASSERT_LAYOUT(flow, 80);
NT_ASSERT_LAYOUT(cgroup, 264);
NT_ASSERT_LAYOUT(irq_name, 80);
NT_ASSERT_LAYOUT(device, 48);
NT_ASSERT_LAYOUT(symbol, 112);
NT_ASSERT_LAYOUT(drop_reason, 64);
NT_ASSERT_LAYOUT(block_device, 48);
NT_ASSERT_LAYOUT(stack, 40);
NT_ASSERT_LAYOUT(user_symbol, 152);
#define NT_MAX_RECORD_SIZE 264

/* Any record. */
union nt_any {
	struct nt_record record;
#define X(number, constant, name, shape, place) struct nt_##name as_##name;
	NT_KINDS(X)
#undef X
};
