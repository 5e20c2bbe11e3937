/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shared.h - what the programs and the recorder share beside the records: the configuration (constant once
 * loaded), the list of programs with their outcomes, and the state of each CPU with its counters, which the
 * recorder reads through a shared mapping.
 */
#pragma once

#include "schema/event.h"
#include "schema/flow_sketch.h"

/*
 * X(name): the programs, as functions nt_NAME. Some have a twin nt_NAME__event for the same tracepoint as a perf event
 * (record/plan.h): one of the two runs, and both count under one name.
 */
#define NT_PROGRAMS(X)                                                                                                 \
	X(sys_enter)                                                                                                   \
	X(sys_exit)                                                                                                    \
	X(sched_switch)                                                                                                \
	X(softirq_entry)                                                                                               \
	X(softirq_exit)                                                                                                \
	X(softirq_raise)                                                                                               \
	X(sock_send_length)                                                                                            \
	X(sock_recv_length)                                                                                            \
	X(netif_receive_skb)                                                                                           \
	X(rx_poll)                                                                                                     \
	X(rx_forward)                                                                                                  \
	X(rx_drop)                                                                                                     \
	X(rx_socket)                                                                                                   \
	X(enter_sk_filter_trim_cap)                                                                                    \
	X(irq_handler_entry)                                                                                           \
	X(irq_handler_exit)                                                                                            \
	X(vector_entry)                                                                                                \
	X(vector_exit)                                                                                                 \
	X(control)                                                                                                     \
	X(seed)                                                                                                        \
	X(task_newtask)                                                                                                \
	X(sched_process_exec)                                                                                          \
	X(task_rename)                                                                                                 \
	X(sched_process_exit)                                                                                          \
	X(cgroup_attach_task)                                                                                          \
	X(cgroup_mkdir)                                                                                                \
	X(cpuhp_enter)                                                                                                 \
	X(cpuhp_exit)                                                                                                  \
	X(napi_poll)                                                                                                   \
	X(busy_poll)                                                                                                   \
	X(enter_napi_busy_loop)                                                                                        \
	X(exit_napi_busy_loop)                                                                                         \
	X(enter_napi_busy_loop_rcu)                                                                                    \
	X(exit_napi_busy_loop_rcu)                                                                                     \
	X(kfree_skb)                                                                                                   \
	X(tcp_retransmit_skb)                                                                                          \
	X(tcp_retransmit_synack)                                                                                       \
	X(sched_waking)                                                                                                \
	X(sched_wakeup_new)                                                                                            \
	X(flow_received)                                                                                               \
	X(flow_sent)                                                                                                   \
	X(stack_sample)                                                                                                \
	X(rx_steer)                                                                                                    \
	X(rx_steer_frags)                                                                                              \
	X(timer_expire_entry)                                                                                          \
	X(timer_expire_exit)                                                                                           \
	X(hrtimer_expire_entry)                                                                                        \
	X(hrtimer_expire_exit)                                                                                         \
	X(tasklet_entry)                                                                                               \
	X(tasklet_exit)                                                                                                \
	X(workqueue_execute_start)                                                                                     \
	X(workqueue_execute_end)                                                                                       \
	X(tcp_rcv_space_adjust)                                                                                        \
	X(seed_sockets)                                                                                                \
	X(inet_sock_set_state)                                                                                         \
	X(name_sender)                                                                                                 \
	X(name_receiver)                                                                                               \
	X(tick_begin)                                                                                                  \
	X(tick_end)                                                                                                    \
	X(block_bio_queue)                                                                                             \
	X(block_split)                                                                                                 \
	X(block_rq_issue)                                                                                              \
	X(block_rq_complete)                                                                                           \
	X(transmit_drop)                                                                                               \
	X(rss_stat)                                                                                                    \
	X(memory_fork)                                                                                                 \
	X(memory_exec)                                                                                                 \
	X(seed_memory)                                                                                                 \
	X(switch_faults)                                                                                               \
	X(kmalloc)                                                                                                     \
	X(kmem_cache_alloc)                                                                                            \
	X(mm_page_alloc)                                                                                               \
	NT_FUNCTIONS(X)                                                                                                \
	NT_LATENCY_HOOKS(X)

/* The functions whose calls are operations, where the kernel lets programs be put before and after functions. */
#define NT_FUNCTIONS(X)                                                                                                \
	X(enter_inet_sendmsg)                                                                                          \
	X(enter_inet6_sendmsg)                                                                                         \
	X(enter_inet_recvmsg)                                                                                          \
	X(enter_inet6_recvmsg)                                                                                         \
	X(enter_inet_sendpage)                                                                                         \
	X(enter_packet_sendmsg)                                                                                        \
	X(enter_packet_recvmsg)                                                                                        \
	X(enter_xsk_sendmsg)                                                                                           \
	X(enter_xsk_recvmsg)                                                                                           \
	X(exit_inet_sendmsg)                                                                                           \
	X(exit_inet6_sendmsg)                                                                                          \
	X(exit_inet_recvmsg)                                                                                           \
	X(exit_inet6_recvmsg)                                                                                          \
	X(exit_inet_sendpage)                                                                                          \
	X(exit_packet_sendmsg)                                                                                         \
	X(exit_packet_recvmsg)                                                                                         \
	X(exit_xsk_sendmsg)                                                                                            \
	X(exit_xsk_recvmsg)

/* The programs of the probes `latency` and `transmit` at hooks: HOOK__POINT, by the hook's name in NT_HOOKS. */
#define NT_LATENCY_HOOKS(X)                                                                                            \
	X(latency_ip_start__ip_rcv_core)                                                                               \
	X(latency_ip_start__ip6_rcv_core)                                                                              \
	X(latency_ip_start__netif_receive_skb)                                                                         \
	X(latency_tcp_start__tcp_v4_rcv)                                                                               \
	X(latency_tcp_start__tcp_v6_rcv)                                                                               \
	X(latency_tcp_start__tcp_probe)                                                                                \
	X(latency_udp_start__udp_rcv)                                                                                  \
	X(latency_udp_start__udpv6_rcv)                                                                                \
	X(latency_tcp_socket_enqueued__tcp_queue_rcv)                                                                  \
	X(latency_tcp_socket_enqueued__sk_data_ready)                                                                  \
	X(latency_udp_socket_enqueued____udp_enqueue_schedule_skb)                                                     \
	X(latency_udp_socket_enqueued__sk_data_ready)                                                                  \
	X(latency_tcp_socket_read__tcp_recv_timestamp)                                                                 \
	X(latency_tcp_socket_read__skb_copy_datagram_iovec)                                                            \
	X(latency_udp_socket_read__skb_consume_udp)                                                                    \
	X(latency_tx_queued__net_dev_queue)                                                                            \
	X(latency_tx_started__net_dev_start_xmit)

/* clang-format off */
enum nt_bpf_program {
#define X(name) NT_PROGRAM_##name,
	NT_PROGRAMS(X)
#undef X
	NT_PROGRAM_COUNT
};
/* clang-format on */
#define NT_FIRST_LATENCY NT_PROGRAM_latency_ip_start__ip_rcv_core /* the others follow it */
#define NT_LATENCY_COUNT (NT_PROGRAM_COUNT - NT_FIRST_LATENCY)

/* clang-format off */
/* X(name): how one run of a program ended. Each run counts exactly one. */
#define NT_OUTCOMES(X)                                                                 \
	X(recorded)		/* its record is in the ring */                        \
	X(lost)			/* its record found no room, or no ring */             \
	X(noted)		/* kept in the CPU's or the task's state */            \
	X(noted_many)		/* the same of a packet that is counted with many flows */ \
	X(skipped_gate)		/* the recording was not on */                         \
	X(skipped_family)	/* not a network socket, or a packet of another protocol than the program's */ \
	X(skipped_nested)	/* an interrupt inside an interrupt; a softirq begun over one that has not ended */ \
	X(skipped_no_entry)	/* an end whose begin was before the programs' time */ \
	X(skipped_call)		/* a system call that makes no socket operation */     \
	X(skipped_compat)	/* a 32-bit task's system call */                      \
	X(skipped_softirq)	/* the begin of a softirq's operation, which is not kept */ \
	X(skipped_part)		/* a function called by another of the same operation; a socket that is announced */ \
	X(skipped_deep)		/* more operations inside each other than are kept */  \
	X(skipped_context)	/* a poll that another program records */              \
	X(skipped_failed)	/* could not read what it needed */                    \
	X(no_stamp)		/* the packet carries no time */                       \
	X(transmit_stamp)	/* the time that it carries is its sending's */        \
	X(skipped_filter)	/* not what was asked for */                           \
	X(skipped_sample)	/* left out by --latency-sample, or since there are many; samples count for it */ \
	X(skipped_peek)		/* looked at, not read */                              \
	X(skipped_unqueued)	/* the socket did not take it, or has it no more */ \
	X(skipped_raised)	/* the raise of a softirq that waits already */        \
	X(noted_stacked)	/* noted: what is queued at a device without requests of its own */ \
	X(skipped_empty)	/* the end of a TCP connection, which no task read: no data is lost */ \
	X(skipped_unnoted)	/* a packet that was not noted when it was queued at its device */ \
	X(skipped_near)		/* a counter that has hardly changed since it was recorded */ \
	X(skipped_unowned)	/* memory that is no process's yet, or no more */ \
	X(skipped_owner)	/* what was interrupted is not the network's, and only that is asked for */

enum nt_outcome {
#define X(name) NT_OUTCOME_##name,
	NT_OUTCOMES(X)
#undef X
	NT_OUTCOME_COUNT
};
/* clang-format on */

#define NT_MAX_CALL_NR 512 /* system calls at or over this number make no socket operation */

#define NT_CALL_SEVERAL 0x01 /* makes several operations: after one, the next begins */
#define NT_CALL_MAY_NEST 0x02 /* also works on files, whose write may use a socket of the kernel's */
#define NT_CALL_WAITS 0x04 /* waits for packets, and may poll devices itself meanwhile */
#define NT_MAX_BATCH 1024 /* the kernel takes at most so many messages of one call */

/* The possible operation of a system call, by number, on a socket. */
struct nt_call_info {
	__u8 call; /* enum nt_call; 0: none */
	__u8 fd_arg; /* which argument is the descriptor */
	__u8 dir; /* enum nt_op_dir; 0: its operations have no known begin */
	__u8 flags; /* NT_CALL_* */
};

#define NT_FILTER_PIDS 1024
#define NT_FILTER_DEVICES 256

/*
 * The configuration of the probes `latency` and `transmit`. All of it is constant, so that an option that is off costs
 * nothing.
 */
struct nt_latency_config {
	__u8 is_sampled; /* by `gaps` */
	__u8 is_preempted; /* its programs may be: they use nothing that is the CPU's but counters and the ring */
	__u8 is_filtered; /* by any of what follows */
	__u8 by_pid, by_device; /* only those of nt_filter_pids, nt_filter_devices */
	__u8 zero_a, zero_b, zero_c;
	__u32 netns; /* only this network namespace; 0: all */
	__u32 min_queue; /* probe latency: only with so many packets in the socket's queue */
	__u32 cgroup_level; /* of `cgroup` below the root */
	__u64 cgroup; /* only readers and senders in this cgroup and those below it; 0: all */
	__u32 gaps[NT_GAPS]; /* so many packets go by until the next sample; each at least 1 */
};

/* The configuration of probe `flows`. */
struct nt_flows_config {
	struct nt_sketch_shape shape;
	__u32 keys; /* 1 << enum nt_flow_key_sort, of each that is counted by */
	__u32 n_keys;
	__u32 set_bits; /* of the flows that were sampled most */
	__u32 gaps[NT_GAPS]; /* as nt_sketch_draw_rows() has them */
};

/*
 * How often what is thinned (thinning.h) is recorded, on a CPU: after so many records of a period gaps become twice as
 * long. At one rate, about so many records are made in a period.
 */
#define NT_THINNING_MANY 1024 /* a power of two */
#define NT_THINNING_PERIOD_NS 134217728ull
#define NT_THINNING_FORGET_NS (8 * NT_THINNING_PERIOD_NS)
#define NT_THINNING_SHIFTS 16 /* a power of two: a record stands for less than 1 << 16 */
struct nt_thinning {
	__u32 left; /* the next record is so many events away: 1, the next one makes it */
	__u32 gap; /* what `left` began with */
	__u32 at; /* in nt_thinning_config.exponentials */
	__u32 shift; /* the record that comes next stands for 1 << shift */
	__u32 n; /* records in the period */
	__u32 zero;
	__u64 until_ns; /* end of the period */
};

/* A gap is 1 + a drawn number times a mean, >> 32. */
struct nt_thinning_config {
	__u32 exponentials[NT_GAPS]; /* drawn from the exponential distribution, of mean 1 << 16 */
	__u64 means[NT_THINNING_SHIFTS]; /* -1 / ln(1 - 2^-shift) << 16: so gaps are geometric */
};

/* Probe `kmem`: these and larger ones are thinned apart. */
#define NT_KMEM_LARGE 32768
#define NT_KMEM_ORDER_MASK 31 /* for the verifier */

/* Which of its cgroups a process is recorded with (record/hierarchy.h). */
enum nt_cgroups_of { NT_CGROUPS_V2, NT_CGROUPS_OF_MEMORY, NT_CGROUPS_OF_CPU };

struct nt_config {
	__u32 wake_bytes; /* the reader is woken each time a CPU has written this much */
	__u8 notes_begins; /* of operations: where one began is recorded, not only that it ended */
	__u8 probe_irq; /* hard interrupts are recorded */
	__u8 probe_raise; /* how long softirqs wait is recorded */
	__u8 probe_memory; /* page faults of the task on the CPU are noted */
	__u8 probe_transmit; /* each send notes its socket, and where its bytes begin */
	__u8 ops_by_task; /* begins are noted at the protocol's functions, per task (task_ops.h) */
	__u8 busy_begins; /* probe busypoll is on, and what a task's own polls follow is noted in busy_ns */
	__u8 busy_loops; /* by programs before and after the loop that makes them */
	__u8 switch_args; /* how many the tracepoint sched_switch has: 3, with the state 4 */
	__u8 drop_args; /* the same of kfree_skb: 2, with the reason 3, with a socket 4 */
	__u8 retransmit_args; /* of tcp_retransmit_skb: 2, with the error 3 */
	__u8 probe_deliver; /* what packets a receive run has is recorded */
	__u8 cuts_polls; /* probe deliver: the driver's work is told from packets' (deliver.bpf.c) */
	__u8 has_casts; /* the kernel has bpf_rdonly_cast */
	__u8 knows_context; /* interrupts and softirqs are both recorded: what a CPU is in is known */
	__u8 stacks_all; /* probe stacks: not only what is the network's */
	__u8 user_stacks; /* user space's too */
	__u8 stack_frames; /* the kernel keeps at most so many */
	__u8 is_preempted; /* programs at tracepoints may be, in tasks; on PREEMPT_RT in softirqs too */
	__u8 sees_ticks; /* probe stacks: also those that take no sample (stacks.bpf.c) */
	__u8 cgroups_of; /* enum nt_cgroups_of */
	__u8 page_kib_shift; /* a page is 1 << so many KiB */
	__u8 reads_cookies; /* the kernel numbers no socket that a program finds by itself */
	__u32 hierarchy; /* its number, of cgroups_of */
	__u32 gro_batch; /* a poll's packets are given to the stack when they have so many segments, else at its end */
	struct nt_flow_hash flow_hashes[2];
	__u64 net_timers[NT_NET_TIMER_COUNT]; /* where each function is; 0: this kernel does not have it */
	struct nt_call_info calls[NT_MAX_CALL_NR];
	struct nt_latency_config latency;
	struct nt_flows_config flows;
	struct nt_thinning_config thinning;
};

/* A state record is due after this long, or this many records, without one. */
#define NT_STATE_EVERY_NS 50000000ull
#define NT_STATE_EVERY_RECORDS 4096

enum nt_op_state { NT_OP_NONE = 0, NT_OP_NOTED = 1, NT_OP_RESOLVED = 2 };

/*
 * The operation that a task may be inside: noted at system call entry, resolved to a socket when somebody
 * needs to know. Lives with the CPU while the task runs, with the task while it does not.
 */
struct nt_noted_op {
	__u64 begin_ns; /* 0 with NT_OP_BEFORE */
	__u64 socket; /* resolved: cookie */
	__u64 sk; /* resolved, or probe transmit is on: address; tells sockets apart, is not followed */
	__s32 call_nr;
	__s32 fd;
	__u8 state; /* enum nt_op_state */
	__u8 flags; /* NT_OP_* */
	__u16 n_done; /* of a batch: messages that ended since it was noted */
	__u32 write_seq; /* probe transmit: a TCP socket's, when it began */
};

#define NT_LOST_BEFORE 1 /* as a begin in losses: before the recording; 0 would be "not known" */

struct nt_lost {
	__u64 count;
	__u64 first_ns, last_ns, begin_ns;
};

/*
 * By program last, the busy ones first: they share few cache lines, of which each event touches some. A program never
 * interrupts itself on a CPU, so none of these needs an atomic operation.
 */
struct nt_counts {
	__u64 outcome[NT_OUTCOME_COUNT][NT_PROGRAM_COUNT];
	__u64 written[NT_KIND_MAX][NT_PROGRAM_COUNT]; /* records by kind */
	__u64 lost[NT_KIND_MAX][NT_PROGRAM_COUNT];
};

/*
 * Events are gathered here and put into the ring some at a time: putting one there costs about as much as
 * everything else that a program does. An interrupt may add records of its own between any two instructions of a
 * program; it has done all of it when the program goes on. So whoever adds takes room first, and only a program
 * that has interrupted nobody in the middle of adding empties the batch.
 */
#define NT_BATCH_FLUSH 480 /* put into the ring from this many bytes on */
#define NT_BATCH_LIMIT                                                                                                 \
	2816 /* beyond, records are lost: the ring is full, or one interrupt in the middle of adding brought a hundred \
	      */
#define NT_BATCH_BYTES 4096 /* a power of two; the limit, and what interrupts in interrupts can add at once */

struct nt_batch {
	__u32 begin; /* bytes up to here are in the ring already; 0 but while the batch is emptied */
	__u32 end; /* bytes up to here are taken */
	__u32 adding; /* programs that are in the middle of it */
	__u32 zero;
	__u64 data[NT_BATCH_BYTES / 8];
};

/*
 * A softirq that is open while its task is not on the CPU: on PREEMPT_RT softirqs are preempted. Its task does not
 * migrate meanwhile, so it is kept with the CPU. One lock for all softirqs of a CPU lets one at a time be open;
 * kernels from 6.18 on may be built without that lock.
 */
#define NT_AWAY_SOFTIRQS 16
struct nt_away_softirq {
	__u64 task; /* its address; 0: the slot is free */
	__u64 begin_ns;
	__u8 vec, context;
	__u8 zero_a, zero_b;
	__u32 zero_c;
};

/*
 * Where a record is put together that would take too much of a program's stack: one with OPEN records before it, and
 * the sockets that these name. Two slots for a task, two for a softirq that interrupts it, two for a hard interrupt
 * in that.
 */
#define NT_OP_DEPTH 2 /* operations of one task inside each other; deeper ones have no known begin */
#define NT_MAX_OPS (1 + NT_OP_DEPTH) /* one from before the programs, and those that they noted */
#define NT_SCRATCH_COUNT 6

struct nt_scratch {
	struct nt_open open[NT_MAX_OPS + 2 + 1]; /* operations, a softirq, an interrupt; and the record behind them */
};

/*
 * Where each program is between two samples; the recorder lets each start somewhere else. A run that is left out
 * touches nothing but its `left`, and these lie together. It is counted with the sample after it: until then
 * nt_left_out() of them are not.
 */
struct nt_gaps {
	__u32 left[NT_LATENCY_COUNT]; /* the next sample is so many packets away: 1, the next one is it */
	__u32 gap[NT_LATENCY_COUNT]; /* what `left` began with: so many packets the next sample stands for */
	__u32 at[NT_LATENCY_COUNT]; /* in nt_latency_config.gaps */
};

/*
 * Its program may be drawing the next gap on another CPU: between the two words it can have left more than it began
 * with.
 */
static inline __u32 nt_left_out(__u32 gap, __u32 left)
{
	return left < gap ? gap - left : 0;
}

/* New flows that a CPU may write in a second. A packet of one more is counted with many (NT_FLOW_MANY). */
#define NT_NEW_FLOWS 1024
#define NT_NEW_LOCAL 128 /* the same of those that have many flows to one address and port... */
#define NT_NEW_BOUND 1024 /* ... of these where a packet went to a socket... */
#define NT_NEW_CONNECTED 8192 /* ... and of flows to connected sockets, which no stranger makes alone */

struct nt_flow_budget {
	__u64 second; /* that these were written in */
	__u32 n_flows, n_local, n_bound, n_connected;
};

/* Packets of one flow in the receive run at hand (deliver.h). */
struct nt_open_stretch {
	__u64 flow; /* key */
	struct nt_flow_tuple tuple; /* of the last packet */
	__u32 generation; /* in which the flow was announced */
	__u32 zero_c;
	__u64 run_ns; /* when the run began that the last packet was in; 0: the next packet begins one */
	/* The last packet: its buffer, the buffer's data, and their end. */
	__u64 skb, head;
	__u32 tail;
	__u32 packets; /* 0: none is open; the driver's counts as one */
	__u32 segments, bytes;
	__u32 dropped, reason; /* packets that the kernel dropped, and why it did the last */
	__u8 flags; /* of its record to come */
	__u8 is_lost; /* the stretch that ended last */
	__u8 in_task; /* its run is no softirq's, but a NAPI thread's or a task's own poll */
	__u8 is_new; /* its flow's identity is not written yet: it waits for the socket */
	__u32 polled; /* segments of lists that the stack got since the run's begin, or the last poll */
	__u8 after_full; /* the last poll used up its budget: GRO gave its last packets to the stack after it */
	__u8 many; /* enum nt_many: `flow` is of so many, and the tuple one of them */
	__u8 is_forwarded; /* the last packet: a device was given it to send on */
	__u8 list; /* of its record to come */
	__u8 is_queued_behind; /* the stretch before it was queued */
	__u8 zero_b[7];
	__u32 forwarded, delivered; /* of many: packets; of these, to their socket */
	__u64 reached_ns; /* when work on a packet of it was last seen, in a list of several flows; 0: never */
};

/* Packets of lists in the run at hand. All of a list are seen before the work on any. In a ring: the last of them. */
#define NT_LISTED 16 /* a power of two; a kernel's lists have 8, unless told otherwise */
struct nt_listed {
	__u64 skb; /* 0: the work on it has been seen */
	__u64 flow;
	struct nt_flow_tuple tuple;
	__u32 many; /* enum nt_many, as in nt_open_stretch */
	__u32 stretch; /* number in the CPU's queue */
};

/* The run of a network's function that a timer, tasklet or work has called (net_timer.bpf.c). */
struct nt_open_timer {
	__u64 address; /* of the timer; 0: none is open */
	__u64 begin_ns;
	__u64 irqs_ns; /* as the CPU's at the begin */
	__u64 function; /* enum nt_net_timer_function */
};

/* A softirq that was raised, and whose handler has not run since: probe raise. */
#define NT_VECS 16 /* a power of two: the kernel has 10 */
struct nt_raised_softirq {
	__u64 begin_ns; /* when it was raised first; 0: it was not */
	__u64 raised_in; /* enum nt_cpu_context, then */
};

/* The task on the CPU, and its page faults when it came there, or the recording began: probe memory. */
struct nt_noted_faults {
	__u64 task; /* address; 0: none seen */
	__u64 since_ns;
	__u64 minor, major;
};

/*
 * One per CPU, written by programs on that CPU only. The softirq is that of the task on the CPU.
 */
struct nt_cpu {
	__u32 gate; /* records are written while it is 1 */
	__u32 identity_gate; /* the same of tasks' and cgroups' identities: opens before those that exist are listed */
	__u32 since_state; /* records since the last state record */
	__u64 state_ns; /* its time */
	__u64 current; /* address of the task that the last switch put on this CPU; 0: none seen */
	__u64 current_key; /* its key as the tape has it, until it leaves or executes a program */
	__u64 switch_ns; /* time of that switch */
	__u32 wake_bytes; /* written since the reader was last woken */
	__u32 lossy; /* something is in `losses` */
	__u64 softirq_begin_ns; /* 0: none open */
	__u64 softirq_end_ns; /* of the last one; 0 after a system call began or an operation ended */
	__u8 softirq_vec;
	__u8 softirq_context;
	__u8 softirqs_away; /* how many there are in `away` */
	__u8 irq_type;
	__u32 irq_number;
	__u64 irq_begin_ns;
	__u64 irq_end_ns; /* of the last one outside softirqs */
	__u64 irqs_ns; /* that all interrupts took so far */
	__u8 irq_depth;
	__u32 generation; /* the recorder's: identities of sockets and flows are sent once in each (record/ids.h) */
	__u64 poll_ns; /* end of the last NAPI poll in a softirq or NAPI thread */
	/* The time just before a task's own poll: its system call's begin, or its last poll; 0: not known. */
	__u64 busy_ns;
	__u32 polls_busily; /* a task has polled: calls that wait are noted */
	struct nt_open_stretch stretch;
	struct nt_listed listed[NT_LISTED];
	__u64 listed_run_ns; /* the run, as in `stretch` */
	__u64 n_listed; /* packets that the ring took in it */
	__u64 next_listed; /* number of the first packet whose work may still be seen */
	/* Stretches of a list, before the open one: each waits for the work on the next one. A ring. */
	struct nt_open_stretch queued[NT_LISTED];
	__u32 queue_begin, queue_end; /* numbers; that of the open stretch is queue_end */
	__u8 list_is_reached; /* since the last mark of a list, the work on a packet of it was seen */
	struct nt_flow_budget new_flows;
	/* A task receives them, perhaps by polling: until its poll has ended nobody knows. */
	__u8 is_busy_run;
	struct nt_open_timer timer;
	__u64 hrtimer; /* address of the one that is expiring in a hard interrupt; 0: none */
	__u64 tick; /* of the one that is the clock of probe stacks; 0: not known yet */
	__u64 missed_tick; /* `tick`, while its sample is due; else 0 */
	struct nt_raised_softirq raised[NT_VECS];
	struct nt_noted_op op;
	__u64 start_ns, stop_ns; /* when the gate opened and closed; 0: it did not */
	struct nt_batch batch;
	struct nt_lost losses[NT_KIND_MAX] __attribute__((aligned(64)));
	struct nt_counts counts __attribute__((aligned(64)));
	struct nt_away_softirq away[NT_AWAY_SOFTIRQS];
	struct nt_scratch scratch[NT_SCRATCH_COUNT];
	__u64 n_scratch; /* how many of them are in use */
	struct nt_noted_faults faults;
	struct nt_gaps gaps __attribute__((aligned(64)));
	struct nt_thinning kmem[NT_KMEM_KIND_COUNT][2] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

#define NT_PLACES 8 /* in a set (places.h); a power of two */

/*
 * Probe `block`: bios from their queueing to the completion of their request, and requests without bios. What was
 * merged into another's request is never taken out: it makes room for what comes later, as does what has waited for its
 * issue for longest.
 */
#define NT_BIO_SETS 4096 /* a power of two */
#define NT_BIO_IS_ISSUED (1ull << 63)
struct nt_noted_bio {
	__u64 age; /* when it was queued, 0: not known; and NT_BIO_IS_ISSUED */
	__u64 issue_ns; /* of its request, whose first bio it is; 0: not issued */
	__u64 task; /* as in its record; so in what follows */
	__u64 cgroup;
	__u8 payer;
	__u8 flags;
	__u8 zero[6];
};

struct nt_bio_set {
	__u64 keys[NT_PLACES]; /* 0: the place is free */
	struct nt_noted_bio ways[NT_PLACES];
};

/*
 * Probe `transmit`: packets from their queueing at a device to the start of its driver. One that is dropped is taken
 * out; of those that the kernel takes apart or hands to another device, the oldest makes room.
 */
#define NT_PACKET_SETS 4096 /* a power of two */
struct nt_noted_packet {
	__u64 queue_ns; /* its age */
	__u64 send_ns; /* as in its record; so in what follows */
	__u64 device;
	__u64 socket;
	__u64 task;
	__u64 sk; /* address of the socket: tells packets apart, is not followed */
	__u32 length;
	__u32 weight;
	__u32 flags;
	__u32 zero;
};

struct nt_packet_set {
	__u64 keys[NT_PLACES]; /* 0: the place is free */
	struct nt_noted_packet ways[NT_PLACES];
};

/*
 * Probe `memory`: what was recorded last of the memory of processes. Several CPUs may write the place of one: then a
 * value may be recorded once more than it must, or an older one be noted than was recorded.
 */
#define NT_MEMORY_SETS 1024 /* a power of two */
#define NT_NOT_RECORDED (~0ull)
struct nt_noted_memory {
	__u64 age; /* when it was recorded last */
	__u64 process; /* as in its record */
	__u64 pages[NT_RSS_KIND_COUNT]; /* or NT_NOT_RECORDED */
};

struct nt_memory_set {
	__u64 keys[NT_PLACES]; /* 0: the place is free */
	struct nt_noted_memory ways[NT_PLACES];
};

/* Commands to the control program, for the CPU on which it runs. */
enum nt_control {
	NT_CONTROL_START = 1, /* open the gate, write a state record */
	NT_CONTROL_STOP = 2, /* write a state record, close the gate */
	NT_CONTROL_FLUSH = 3, /* write what is left of losses */
	NT_CONTROL_REFRESH = 4 /* write a state record, and put the batch into the ring */
};

/* Direct-mapped, as the next: which device identities have been sent, and by which name. */
#define NT_SEEN_DEVICES 4096
#define NT_DEVICE_SLOTS 4 /* that a device may stand in */
struct nt_seen_device {
	__u64 key;
	__u64 name[NT_IFNAME_LEN / 8];
};

/* Direct-mapped: which stacks have been sent, by their keys. A collision only sends one again. */
#define NT_SEEN_STACKS 65536

/*
 * A stack as it is in a ring, whole and in an item of its own: this header, then n frames, the innermost first. The
 * recorder takes it apart into the tape's STACK identities, one for each frame; the key that records refer to is that
 * of the innermost.
 */
struct nt_stack_header {
	__u64 end_ns;
	__u8 kind; /* NT_STACK */
	__u8 is_user;
	__u16 n;
	__u32 pid; /* the process, as the initial pid namespace has it */
	__u64 key;
};

/* Room for one frame more than there are, so that a mask can bound an index. */
struct nt_stack_message {
	struct nt_stack_header header;
	__u64 frames[NT_STACK_MAX_FRAMES + 1];
};

/* As the kernel's struct bpf_stack_build_id. */
struct nt_user_frame {
	__s32 status; /* 1: build id and offset in the file; 2: no more than an address */
	__u8 build_id[NT_BUILD_ID_LEN];
	__u64 file_offset;
};

struct nt_user_stack_message {
	struct nt_stack_header header;
	struct nt_user_frame frames[NT_STACK_MAX_FRAMES + 1];
};

/*
 * The number that tells a user's frame, and its symbol's key: kernel addresses, which are the others, have the highest
 * bit set.
 */
static inline __u64 nt_user_frame_key(const struct nt_user_frame *frame, __u32 pid)
{
	const __u64 *words = (const __u64 *)(const void *)frame; /* the status and 20 bytes of build id are three */
	__u64 key;

	/*
	 * No address of user space: a word that was taken for one. All of them have one key, of which nothing is known.
	 */
	if (frame->file_offset >> 47)
		return 1ull << 62;
	if (frame->status == 1)
		key = nt_stack_key(nt_stack_key(nt_stack_key(frame->file_offset, words[0]), words[1]), words[2]);
	else
		key = nt_stack_key(frame->file_offset, pid);
	return (key & ~(1ull << 63)) | 1ull << 62;
}

/*
 * Which flow identities have been sent, by the flows' keys. A flow has a place in one set; one that finds none drives
 * out another (flow.h), which is sent again when it comes again.
 */
#define NT_FLOW_SETS 16384 /* powers of two */
#define NT_FLOW_WAYS 8
#define NT_FLOW_MAX_USES 15
struct nt_seen_flow {
	__u64 flow; /* key; 0: the place is free */
	__u64 socket; /* that the identity names; 0: none yet */
	__u32 generation; /* in which it was sent */
	__u8 n_sockets; /* how many it has named in this generation */
	__u8 is_partly; /* NT_FLOW_PARTLY, in this generation */
	__u8 uses; /* how often it was looked for: at most NT_FLOW_MAX_USES, and less by what drove out others since */
	__u8 zero;
};

struct nt_flow_set {
	struct nt_seen_flow ways[NT_FLOW_WAYS];
	__u64 n_driven_out; /* flows */
};

/*
 * Probe `flows`: the state of one CPU. The totals are exact and only grow; what is sampled goes into one of two
 * buffers, of which the recorder reads and clears the other.
 */
#define NT_FLOW_DEVICES 256 /* a power of two */
struct nt_flow_sums {
	__u64 buffers, packets, bytes; /* packets: of the wire, as far as the kernel knows */
};

struct nt_flow_device {
	__u64 key; /* nt_device_key(); 0: the place is free, or it is that of the devices that found none */
	struct nt_flow_sums received, sent;
	__u64 zero; /* so it takes one cache line */
};

/* The device of the last packet. A forwarded packet has two, one that received it and one that sends it. */
struct nt_flow_last {
	__u64 device; /* its address, and index: a new device may have the address of one that is gone */
	__u32 ifindex;
	__u32 link_bytes; /* of the link header that a received packet has left behind; 0: sent */
	__u32 place; /* in `devices` */
	__u32 zero;
};

/* A packet without an update touches the first cache line, and that of its device. */
struct nt_flows_cpu {
	struct nt_sketch_draw draw;
	__u32 buffer; /* 0 or 1: set by the recorder */
	__u32 zero;
	struct nt_flow_last received, sent;
	struct nt_flow_device devices[NT_FLOW_DEVICES + 1];
} __attribute__((aligned(64)));

/* Direct-mapped: which socket identities have been sent. A collision only sends one again. */
#define NT_SEEN_SOCKETS 65536
struct nt_seen_socket {
	__u64 cookie;
	__u64 signature; /* of addresses and ports, so that a connect or bind is sent again; and of the generation */
	__u64 process; /* as in its identity; 0: not seen; or NT_PROCESS_WANTED */
};

/* A packet announced the socket, and not an operation: so it may be that nothing else will tell who holds it. */
#define NT_PROCESS_WANTED 1
