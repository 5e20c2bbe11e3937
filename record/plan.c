// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan.c - see plan.h. The tables here are the one place that names attach points.
 */
#include "record/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "record/cgroup_root.h"
#include "record/forwarding.h"
#include "record/sampler.h"
#include "record/steering.h"
#include "record/xdp.h"

/* clang-format off */
#define POINT(name) { .program = "nt_" #name, .point = #name }
/* With a twin at the perf event. `from`: the least degree of preemption that needs it. */
#define OR_EVENT(name, group, at, from)                                                                                \
	{ .program = "nt_" #name, .point = #at, .event_from = NT_PREEMPTED_##from, .event_group = #group,              \
	  .event_program = "nt_" #name "__event" }
#define SELF_OR_EVENT(name, group, from)                                                                               \
	{ .program = "nt_" #name, .point = #name, .event_from = NT_PREEMPTED_##from, .event_group = #group,            \
	  .event_program = "nt_" #name "__event", .may_be_preempted = true }
#define OPTIONAL(name) { .program = "nt_" #name, .point = #name, .optional = true }
#define VECTOR(end, name) { .program = "nt_vector_" #end, .point = name "_" #end, .how = NT_AT_NAMED, .optional = true }
#define EACH(name, of) { .program = "nt_" #name, .point = #of, .how = NT_AT_ITERATOR }
#define BEFORE(function) { .program = "nt_enter_" #function, .point = #function, .how = NT_AT_ENTRY }
#define AFTER(function) { .program = "nt_exit_" #function, .point = #function, .how = NT_AT_EXIT }
#define BEFORE_IF(function)                                                                                            \
	{ .program = "nt_enter_" #function, .point = #function, .how = NT_AT_ENTRY, .optional = true }
#define AFTER_IF(function)                                                                                             \
	{ .program = "nt_exit_" #function, .point = #function, .how = NT_AT_EXIT, .optional = true }
#define VECTORS(end)                                                                                      \
	VECTOR(end, "local_timer"), VECTOR(end, "reschedule"), VECTOR(end, "call_function"),              \
	VECTOR(end, "call_function_single"), VECTOR(end, "irq_work"), VECTOR(end, "x86_platform_ipi"),    \
	VECTOR(end, "error_apic"), VECTOR(end, "spurious_apic"), VECTOR(end, "thermal_apic"),             \
	VECTOR(end, "threshold_apic"), VECTOR(end, "deferred_error_apic")

static const struct nt_attach_point sched_points[] = {
	POINT(sched_switch),
	POINT(task_newtask),
	SELF_OR_EVENT(sched_process_exec, sched, IN_TASKS),
	POINT(task_rename),
	SELF_OR_EVENT(sched_process_exit, sched, IN_TASKS),
	OPTIONAL(cgroup_attach_task),
	OPTIONAL(cgroup_mkdir),
	OPTIONAL(cpuhp_enter),
	OPTIONAL(cpuhp_exit),
	EACH(seed, task),
	{},
};

static const struct nt_attach_point softirq_points[] = {
	OR_EVENT(softirq_exit, irq, softirq_exit, IN_SOFTIRQS),
	OR_EVENT(softirq_entry, irq, softirq_entry, IN_SOFTIRQS),
	{},
};

static const struct nt_attach_point irq_points[] = {
	POINT(irq_handler_exit),
	POINT(irq_handler_entry),
	VECTORS(exit),
	VECTORS(entry),
	{},
};

/* The twin cannot give a socket its number. This program does, at the tracepoint. */
#define NAMES(name, at)                                                                                                \
	{ .program = "nt_" #name, .point = #at, .optional = true, .event_from = NT_PREEMPTED_IN_TASKS,                 \
	  .event_group = "sock", .event_program = "nt_" #at "__event", .is_beside_event = true }
#define SOCKET_ENDS                                                                                                    \
	NAMES(name_sender, sock_send_length), NAMES(name_receiver, sock_recv_length),                                  \
	OR_EVENT(sock_send_length, sock, sock_send_length, IN_TASKS),                                                  \
	OR_EVENT(sock_recv_length, sock, sock_recv_length, IN_TASKS)

static const struct nt_attach_point socket_points[] = {
	SOCKET_ENDS,
	OR_EVENT(sys_enter, raw_syscalls, sys_enter, IN_TASKS),
	{},
};

static const struct nt_attach_point socket_end_points[] = {SOCKET_ENDS, {}};

/*
 * Before 6.5 pages are sent by a function of their own, which the length tracepoints (since 6.3) do not see: there the
 * functions tell the ends too. These stand first, for the kernels that have both.
 */
static const struct nt_attach_point socket_function_points[] = {
	AFTER(inet_sendmsg),
	AFTER(inet6_sendmsg),
	AFTER(inet_recvmsg),
	AFTER(inet6_recvmsg),
	AFTER(inet_sendpage),
	AFTER_IF(packet_sendmsg),
	AFTER_IF(packet_recvmsg),
	AFTER_IF(xsk_sendmsg),
	AFTER_IF(xsk_recvmsg),
	POINT(sys_exit),
	BEFORE(inet_sendmsg),
	BEFORE(inet6_sendmsg),
	BEFORE(inet_recvmsg),
	BEFORE(inet6_recvmsg),
	BEFORE(inet_sendpage),
	BEFORE_IF(packet_sendmsg),
	BEFORE_IF(packet_recvmsg),
	BEFORE_IF(xsk_sendmsg),
	BEFORE_IF(xsk_recvmsg),
	{},
};

static const struct nt_attach_point socket_begin_points[] = {
	SOCKET_ENDS,
	BEFORE(inet_sendmsg),
	BEFORE_IF(inet6_sendmsg),
	BEFORE(inet_recvmsg),
	BEFORE_IF(inet6_recvmsg),
	BEFORE_IF(packet_sendmsg),
	BEFORE_IF(packet_recvmsg),
	BEFORE_IF(xsk_sendmsg),
	BEFORE_IF(xsk_recvmsg),
	{},
};

static const struct nt_attach_point busypoll_points[] = {OR_EVENT(busy_poll, napi, napi_poll, IN_SOFTIRQS), {}};

static const struct nt_attach_point busypoll_loop_points[] = {
	OR_EVENT(busy_poll, napi, napi_poll, IN_SOFTIRQS),
	AFTER(napi_busy_loop),
	AFTER_IF(napi_busy_loop_rcu),
	BEFORE(napi_busy_loop),
	BEFORE_IF(napi_busy_loop_rcu),
	{},
};

static const struct nt_attach_point napi_points[] = {OR_EVENT(napi_poll, napi, napi_poll, IN_SOFTIRQS), {}};

/* `is_wanted_by`: the function that says whether this host has any use for it. */
#define WANTED(name, group, at, is_wanted_by, sentence)                                                                \
	{ .program = "nt_" #name, .point = #at, .optional = true, .is_wanted = is_wanted_by,                           \
	  .event_from = NT_PREEMPTED_IN_SOFTIRQS, .event_group = #group, .event_program = "nt_" #name "__event",       \
	  .without = sentence }

#define LATENCY(hook, at, way, known, sentence)                                                                        \
	{ .program = "nt_latency_" #hook "__" #at, .point = #at, .how = way, .optional = true, .knows = known,         \
	  .without = sentence }
/* clang-format on */
#define NO_HOOK(hook, function) "No latency at the hook " hook ": this kernel has no separate function " function "."
#define NO_HOOK_V6(hook, function)                                                                                     \
	"No latency of IPv6 at the hook " hook ": this kernel has no separate function " function "."

/*
 * Whether a kernel lets programs be put before functions is asked of tcp_v4_rcv, which is called by its address and so
 * never inlined; the others may be, and then a hook is missing. Ends of the way come first, as everywhere.
 */
static const struct nt_attach_point latency_function_points[] = {
	LATENCY(udp_socket_read, skb_consume_udp, NT_AT_ENTRY, NT_KNOWS_TASK | NT_KNOWS_QUEUE,
		NO_HOOK("udp-socket-read", "skb_consume_udp")),
	LATENCY(tcp_socket_read, tcp_recv_timestamp, NT_AT_ENTRY, NT_KNOWS_TASK | NT_KNOWS_QUEUE,
		NO_HOOK("tcp-socket-read", "tcp_recv_timestamp")),
	LATENCY(udp_socket_enqueued, __udp_enqueue_schedule_skb, NT_AT_EXIT, NT_KNOWS_QUEUE,
		NO_HOOK("udp-socket-enqueued", "__udp_enqueue_schedule_skb")),
	LATENCY(tcp_socket_enqueued, tcp_queue_rcv, NT_AT_EXIT, NT_KNOWS_QUEUE,
		NO_HOOK("tcp-socket-enqueued", "tcp_queue_rcv")),
	LATENCY(udp_start, udp_rcv, NT_AT_ENTRY, 0, NO_HOOK("udp-start", "udp_rcv")),
	LATENCY(udp_start, udpv6_rcv, NT_AT_ENTRY, 0, NO_HOOK_V6("udp-start", "udpv6_rcv")),
	{.program = "nt_latency_tcp_start__tcp_v4_rcv", .point = "tcp_v4_rcv", .how = NT_AT_ENTRY},
	LATENCY(tcp_start, tcp_v6_rcv, NT_AT_ENTRY, 0, NO_HOOK_V6("tcp-start", "tcp_v6_rcv")),
	LATENCY(ip_start, ip_rcv_core, NT_AT_ENTRY, 0, NO_HOOK("ip-start", "ip_rcv_core")),
	LATENCY(ip_start, ip6_rcv_core, NT_AT_ENTRY, 0, NO_HOOK_V6("ip-start", "ip6_rcv_core")),
	{},
};

#define NO_POINT(hook, point) "No latency at the hook " hook ": this kernel has no tracepoint " point "."

static const struct nt_attach_point latency_points[] = {
	LATENCY(tcp_socket_read, skb_copy_datagram_iovec, NT_AT_TRACEPOINT, NT_KNOWS_TASK | NT_KNOWS_QUEUE,
		NO_POINT("tcp-socket-read", "skb_copy_datagram_iovec")),
	LATENCY(udp_socket_enqueued, sk_data_ready, NT_AT_TRACEPOINT, NT_KNOWS_QUEUE,
		NO_POINT("udp-socket-enqueued", "sk_data_ready")),
	LATENCY(tcp_socket_enqueued, sk_data_ready, NT_AT_TRACEPOINT, NT_KNOWS_QUEUE,
		NO_POINT("tcp-socket-enqueued", "sk_data_ready")),
	LATENCY(tcp_start, tcp_probe, NT_AT_TRACEPOINT, NT_KNOWS_QUEUE, NO_POINT("tcp-start", "tcp_probe")),
	{.program = "nt_latency_ip_start__netif_receive_skb", .point = "netif_receive_skb"},
	{.program = "nt_tcp_rcv_space_adjust",
	 .point = "tcp_rcv_space_adjust",
	 .optional = true,
	 .knows = NT_KNOWS_TASK | NT_KNOWS_QUEUE | NT_KNOWS_NAMELESS},
	{},
};

/* clang-format off */
#define MARKS_AND_FATES                                                                                                \
	OR_EVENT(netif_receive_skb, net, netif_receive_skb, IN_SOFTIRQS),                                              \
	WANTED(rx_steer, net, napi_gro_receive_entry, nt_host_steers, NULL),                                           \
	WANTED(rx_steer_frags, net, napi_gro_frags_entry, nt_host_steers, NULL),                                       \
	WANTED(rx_poll, napi, napi_poll, nt_host_may_run_xdp,                                                          \
	       "Polls are not cut for XDP: it had no program when the recording began. The time of packets that a "    \
	       "later one takes is charged to other packets, or is unattributed."),                                    \
	WANTED(rx_forward, net, net_dev_queue, nt_host_may_forward,                                                    \
	       "Forwarded packets are not told from others: nothing on this host forwarded when the recording began. " \
	       "If something does since, they count as `other`."),                                                     \
	OR_EVENT(rx_drop, skb, kfree_skb, IN_SOFTIRQS)
#define SOCKETS_KNOWN                                                                                                  \
	OPTIONAL(inet_sock_set_state),                                                                                 \
	{ .program = NT_SEED_SOCKETS, .point = "task_file", .how = NT_AT_ITERATOR, .optional = true,                   \
	  .without = "Packets for a socket that nothing was done with during the recording have no known process: "    \
		     "this kernel does not list the sockets that tasks hold." }
/* clang-format on */

static const struct nt_attach_point deliver_function_points[] = {
	MARKS_AND_FATES,
	BEFORE(sk_filter_trim_cap),
	SOCKETS_KNOWN,
	{},
};

static const struct nt_attach_point deliver_points[] = {
	MARKS_AND_FATES,
	{.program = "nt_rx_socket", .point = "ingress", .how = NT_AT_CGROUP, .optional = true},
	SOCKETS_KNOWN,
	{},
};

static const struct nt_attach_point nettimers_points[] = {
	POINT(timer_expire_exit),     POINT(hrtimer_expire_exit),     OPTIONAL(tasklet_exit),
	POINT(workqueue_execute_end), POINT(timer_expire_entry),      POINT(hrtimer_expire_entry),
	OPTIONAL(tasklet_entry),      POINT(workqueue_execute_start), {},
};

static const struct nt_attach_point drops_points[] = {POINT(kfree_skb), {}};
static const struct nt_attach_point retransmits_points[] = {
	POINT(tcp_retransmit_skb), OPTIONAL(tcp_retransmit_synack), {}};

static const struct nt_attach_point flows_points[] = {
	OR_EVENT(flow_received, net, netif_receive_skb, IN_SOFTIRQS),
	OR_EVENT(flow_sent, net, net_dev_start_xmit, IN_SOFTIRQS),
	{},
};

static const struct nt_attach_point wakeups_points[] = {POINT(sched_waking), POINT(sched_wakeup_new), {}};

static const struct nt_attach_point raise_points[] = {POINT(softirq_raise), {}};

/* Ends of the wait come first, as everywhere: the program that notes packets is attached last. */
static const struct nt_attach_point transmit_points[] = {
	{.program = "nt_transmit_drop", .point = "kfree_skb"},
	{.program = "nt_latency_tx_started__net_dev_start_xmit", .point = "net_dev_start_xmit"},
	{.program = "nt_latency_tx_queued__net_dev_queue", .point = "net_dev_queue"},
	{},
};

static const struct nt_attach_point block_points[] = {
	POINT(block_rq_complete), POINT(block_rq_issue), POINT(block_split), POINT(block_bio_queue), {},
};

/* The iterator is run at the begin of each chunk, after the programs that tell changes have begun. */
static const struct nt_attach_point memory_points[] = {
	POINT(rss_stat),
	{.program = "nt_memory_fork", .point = "task_newtask"},
	{.program = "nt_memory_exec", .point = "sched_process_exec"},
	{.program = "nt_switch_faults", .point = "sched_switch"},
	{.program = "nt_seed_memory", .point = "task", .how = NT_AT_ITERATOR},
	{},
};

static const struct nt_attach_point kmem_points[] = {POINT(kmalloc), POINT(kmem_cache_alloc), POINT(mm_page_alloc), {}};

/* A tick that comes inside a program at a perf event takes no stack: these see it. */
#define TICK(name, at)                                                                                                 \
	{                                                                                                              \
		.program = "nt_" #name, .point = #at, .optional = true, .event_from = NT_PREEMPTED_IN_TASKS,           \
		.event_group = "timer", .is_beside_event = true                                                        \
	}

static const struct nt_attach_point stacks_points[] = {
	TICK(tick_end, hrtimer_expire_exit),
	TICK(tick_begin, hrtimer_expire_entry),
	{.program = "nt_stack_sample", .point = "cpu-clock", .how = NT_AT_CLOCK},
	{},
};

static const char *const irq_uncovered[] = {
	"Interrupt entry and exit code, vectors without tracepoints, and NMIs count as time of the owner that they "
	"interrupted.",
	NULL,
};

#define NO_RECORD "Splice out of a TCP socket and TCP_ZEROCOPY_RECEIVE make no record; their time belongs to the task."

static const char *const socket_uncovered[] = {
	NO_RECORD,
	"Operations of io_uring, kernel threads, softirqs and 32-bit tasks have no known begin. They are counted; "
	"their time belongs to the task or the softirq.",
	NULL,
};

#define ODD_BEGINS                                                                                                     \
	"Operations in a softirq, or on sockets of families other than IPv4, IPv6, PACKET and "                        \
	"XDP, have no known begin. They are counted; their time belongs to the softirq or the "                        \
	"task."

static const char *const socket_begin_uncovered[] = {NO_RECORD, ODD_BEGINS, NULL};

static const char *const socket_preempted_uncovered[] = {
	NO_RECORD,
	ODD_BEGINS,
	"This kernel may preempt the program at the begin of an operation, and skips it meanwhile for other tasks on "
	"that CPU. Their operations have no known begin; their time belongs to the task.",
	NULL,
};

static const char *const socket_function_uncovered[] = {
	NO_RECORD,
	"Operations on sockets of families other than IPv4, IPv6, PACKET and XDP make no record; their time belongs to "
	"the task.",
	"Operations in a softirq have no known begin. They are counted; their time belongs to the softirq.",
	"An operation that began before the recording ends with its system call. Those of sendfile and splice show as "
	"abandoned; those of io_uring and kernel threads make no record.",
	NULL,
};

static const char *const socket_end_uncovered[] = {
	NO_RECORD,
	"When an operation began is not recorded: all are counted, but their time belongs to the task or the softirq.",
	NULL,
};

static const struct nt_candidate sched_candidates[] = {{.name = "tracepoints", .points = sched_points}, {}};
static const struct nt_candidate softirq_candidates[] = {{.name = "tracepoints", .points = softirq_points}, {}};
static const struct nt_candidate irq_candidates[] = {
	{.name = "tracepoints", .points = irq_points, .uncovered = irq_uncovered},
	{},
};
static const struct nt_candidate socket_candidates[] = {
	{.name = "fentry",
	 .points = socket_function_points,
	 .uncovered = socket_function_uncovered,
	 .ops_by_task = true,
	 .not_preempted = true},
	{.name = "fentry",
	 .points = socket_begin_points,
	 .uncovered = socket_begin_uncovered,
	 .ops_by_task = true,
	 .not_preempted = true},
	{.name = "tracepoints", .points = socket_points, .uncovered = socket_uncovered},
	/* Kernels before 6.7 do not count the runs that they leave out of these. */
	{.name = "events", .points = socket_points, .uncovered = socket_uncovered, .by_events = true},
	/* Only if asked for: some begins are missed, but io_uring has some. */
	{.name = "fentry", .points = socket_begin_points, .uncovered = socket_preempted_uncovered, .ops_by_task = true},
	/* The same: it costs least, and knows least. */
	{.name = "ends", .points = socket_end_points, .uncovered = socket_end_uncovered, .only_ends = true},
	{},
};
#define BUSY_AFTER_SWITCH "The first poll of a busy-polling task after it was switched out"

static const char *const busypoll_uncovered[] = {
	BUSY_AFTER_SWITCH
	", and every poll of an io_uring thread, are counted, but their time belongs to the task or its receive.",
	NULL,
};

static const char *const busypoll_loop_uncovered[] = {
	BUSY_AFTER_SWITCH " is counted, but its time belongs to the task or its receive.",
	NULL,
};

static const struct nt_candidate busypoll_candidates[] = {
	{.name = "fentry", .points = busypoll_loop_points, .uncovered = busypoll_loop_uncovered},
	{.name = "tracepoints", .points = busypoll_points, .uncovered = busypoll_uncovered},
	{},
};
static const struct nt_candidate napi_candidates[] = {{.name = "tracepoints", .points = napi_points}, {}};

#define NEW_STAMPS                                                                                                     \
	"A packet that is forwarded or bridged gets a new timestamp at the next device that "                          \
	"receives it. So latency in a container counts from its veth device, not from the host's "                     \
	"network card."

static const char *const latency_function_uncovered[] = {
	"A receive call on a TCP socket makes one sample at tcp-socket-read, by the last segment that it read; a peek "
	"looks the same. If that segment has no timestamp, the call is not counted: the kernel does not call "
	"tcp_recv_timestamp.",
	"A TCP segment that arrives out of order is not counted at tcp-socket-enqueued: it reaches the socket's queue "
	"another way (tcp_ofo_queue).",
	"Since Linux 6.18 one CPU may queue the datagrams of others. For those, udp-socket-enqueued is before the "
	"queueing, and counts them even if they are then dropped.",
	NEW_STAMPS,
	NULL,
};

static const char *const latency_uncovered[] = {
	"The hook ip-start is the tracepoint netif_receive_skb, before the protocol is called. So it includes packets "
	"that are bridged, taken or dropped there. A packet that passes several devices (bridge, macvlan, veth) counts "
	"at each. A VLAN packet counts at the device below the VLAN, or as skipped_family if its tag is in the data.",
	"The hook tcp-start is the tracepoint tcp_probe. It sees segments of established connections, after the socket "
	"was found and, if a task had locked it, unlocked.",
	"The hook udp-start is not covered: no tracepoint is near it.",
	"The hooks tcp-socket-enqueued and udp-socket-enqueued are the tracepoint sk_data_ready, for the last packet "
	"in the socket's queue. Packets that it announces together count once; a packet that is already taken does not "
	"count.",
	"The hook tcp-socket-read is the tracepoint skb_copy_datagram_iovec. It makes a sample for each segment that "
	"is read, where fentry makes one for each call. A peek looks the same.",
	"The hook udp-socket-read is not covered: no tracepoint there has the packet.",
	NEW_STAMPS,
	NULL,
};

static const char *const deliver_uncovered[] = {
	"Packets that GRO merges are seen merged. A packet that RPS takes to another CPU is seen there only.",
	"Packets that XDP takes in a driver are not seen.",
	NULL,
};

static const char *const nettimers_uncovered[] = {
	"Of the network's timers, those that a softirq calls and the kernel has under the names in net_timer are "
	"recorded. Others, such as those of modules that were loaded later, are not.",
	NULL,
};

static const char *const drops_uncovered[] = {
	"A packet that the kernel frees as delivered (consume_skb), or that a device discards by itself, is not a "
	"drop. Nor is the end of a TCP connection that no task read: it has no bytes. nt_kfree_skb counts these as "
	"skipped_empty.",
	NULL,
};

static const struct nt_candidate deliver_candidates[] = {
	{.name = "fentry", .points = deliver_function_points, .uncovered = deliver_uncovered},
	{.name = "tracepoints", .points = deliver_points, .uncovered = deliver_uncovered},
	{},
};
static const struct nt_candidate nettimers_candidates[] = {
	{.name = "tracepoints", .points = nettimers_points, .uncovered = nettimers_uncovered},
	{},
};
static const struct nt_candidate latency_candidates[] = {
	{.name = "fentry", .points = latency_function_points, .uncovered = latency_function_uncovered},
	{.name = "tracepoints", .points = latency_points, .uncovered = latency_uncovered},
	{},
};
static const struct nt_candidate drops_candidates[] = {
	{.name = "tracepoints", .points = drops_points, .uncovered = drops_uncovered},
	{},
};
static const struct nt_candidate retransmits_candidates[] = {{.name = "tracepoints", .points = retransmits_points}, {}};

static const char *const flows_uncovered[] = {
	"Flows are not counted where no packet of the kernel's is made: native XDP that takes packets or sends them, "
	"AF_XDP without copies, and what a device forwards by itself.",
	"Each device that a packet passes counts it: a veth, a bridge and a card each once. A packet that a driver has "
	"no room for and is given again counts again.",
	NULL,
};

static const struct nt_candidate flows_candidates[] = {
	{.name = "tracepoints", .points = flows_points, .uncovered = flows_uncovered},
	{},
};

static const char *const wakeups_uncovered[] = {
	"A wake-up is recorded when it begins, without the CPU that will run the task. The way there, such as an "
	"interrupt of that CPU, is part of the task's runnable time.",
	"Kernels before 6.15 show a task as asleep that a signal has just kept from sleeping, and no wake-up follows. "
	"It is not known since when that task was runnable.",
	NULL,
};

static const struct nt_candidate wakeups_candidates[] = {
	{.name = "tracepoints", .points = wakeups_points, .uncovered = wakeups_uncovered},
	{},
};

static const char *const transmit_uncovered[] = {
	"A packet's send is known only where the task that queues it is inside that send. Packets that ACKs, timers or "
	"other sends let go have no latency, nor have those with bytes of an earlier send, or that wait for a "
	"neighbour's address.",
	"The latency of a datagram in parts (MSG_MORE, a cork) counts from the send that completes it. If several "
	"threads send on one TCP socket at once, it may count from another's send.",
	"A packet that passes several devices (a bond, a tunnel, a veth) counts at each. One that the kernel cuts in "
	"software after it was queued makes no sample at tx-started, and neither do its parts.",
	"Latency is not known at the time when a device has sent a packet: the kernel tells that time only to who asks "
	"for timestamps.",
	NULL,
};

static const struct nt_candidate transmit_candidates[] = {
	{.name = "tracepoints", .points = transmit_points, .uncovered = transmit_uncovered},
	{},
};

static const char *const raise_uncovered[] = {
	"A softirq that is raised again before it runs has waited since the first time. Where the kernel left programs "
	"out for a while, that time may be unseen: the wait is then missing, or too short.",
	NULL,
};

static const char *const block_uncovered[] = {
	"Requests that were issued before the recording began, or completed after it, make no record.",
	"What a mapped device (dm, md) or a disk in memory (zram) is asked for makes no record, but the requests that "
	"come of it to devices below do. Where the mapped device has threads of its own, they count as who made them.",
	"A write that waits in the page cache is charged when it is written back: to the cgroup of its pages where the "
	"kernel keeps that (version 2 with the controllers io and memory), else to nobody (`writeback`).",
	NULL,
};

static const struct nt_candidate block_candidates[] = {
	{.name = "tracepoints", .points = block_points, .uncovered = block_uncovered},
	{},
};

static const char *const memory_uncovered[] = {
	"Resident memory is what the kernel's counters say. Each CPU keeps changes of less than 32 pages (of twice the "
	"number of CPUs, if that is more) to itself; before Linux 6.2 each thread does, of less than 64.",
	"A process that ends gives all its memory up, whatever its last rows say.",
	"A page fault is the thread's that takes it: also where the kernel takes it in a thread's time for another "
	"process's memory (ptrace, direct I/O). When in its time on the CPU a thread took them is not known.",
	NULL,
};

static const struct nt_candidate memory_candidates[] = {
	{.name = "tracepoints", .points = memory_points, .uncovered = memory_uncovered},
	{},
};

static const char *const kmem_uncovered[] = {
	"Memory that the kernel takes many at a time makes no record: pages of vmalloc() and of drivers' page pools, "
	"objects such as the heads of received packets. Nor does memory of each CPU (percpu).",
	"Who gives memory back, and when, is not recorded.",
	"Linux 6.10 and newer tell of most memory that kmalloc() takes in more than two pages twice: at its caller, "
	"and in the allocator (__kmalloc_noprof and the like).",
	"Pages are also what kmalloc() and caches cut their objects from: the three kinds are not to be summed.",
	NULL,
};

static const struct nt_candidate kmem_candidates[] = {
	{.name = "tracepoints", .points = kmem_points, .uncovered = kmem_uncovered},
	{},
};

static const char *const energy_uncovered[] = {
	"An energy counter counts the energy of all that runs, and is up to a millisecond old when it is read. The "
	"network's part is estimated by its share of busy time.",
	NULL,
};

static const struct nt_attach_point no_points[] = {{}};

static const struct nt_candidate energy_candidates[] = {
	{.name = "powercap", .points = no_points, .uncovered = energy_uncovered},
	{},
};

static const struct nt_candidate raise_candidates[] = {
	{.name = "tracepoints", .points = raise_points, .uncovered = raise_uncovered},
	{},
};

static const char *const stacks_uncovered[] = {
	"Stacks are taken by an interrupt. So code that runs with interrupts off shows where they are switched on "
	"again.",
	"Stacks of busy polling count as the task's own or its receive's.",
	NULL,
};

static const struct nt_candidate stacks_candidates[] = {
	{.name = "perf_event", .points = stacks_points, .uncovered = stacks_uncovered},
	{},
};

#define NEEDS_NOTHING false
#define NEEDS_SOFTIRQ true

const struct nt_probe nt_probes[NT_PROBE_COUNT] = {
#define X(number, name, needs, what, without) {#name, what, name##_candidates, without, NEEDS_##needs},
	NT_PROBES(X)
#undef X
};

static int probe_number(const char *name, size_t size)
{
	for (int i = 0; i < NT_PROBE_COUNT; i++)
		if (strlen(nt_probes[i].name) == size && !memcmp(nt_probes[i].name, name, size))
			return i;
	return -1;
}

static bool is_nonzero(const char *path)
{
	FILE *file = fopen(path, "re");
	bool is_so;
	long value;

	if (!file)
		return false;
	is_so = fscanf(file, "%ld", &value) == 1 && value != 0;
	fclose(file);
	return is_so;
}

/*
 * Busy polling is told apart at a tracepoint that each poll of every softirq passes too. A flood of small packets feels
 * that; so by default it is, only where the host lets all its sockets poll.
 */
static bool is_default(int probe)
{
	if (probe == NT_PROBE_BUSYPOLL)
		return is_nonzero("/proc/sys/net/core/busy_read") || is_nonzero("/proc/sys/net/core/busy_poll");
	return nt_probes[probe].without != NULL;
}

bool nt_plan_parse(struct nt_plan *plan, const char *list, char *bad, size_t bad_size)
{
	memset(plan->on, 0, sizeof(plan->on));
	plan->on[NT_PROBE_SCHED] = true;
	while (*list) {
		size_t size = strcspn(list, ",");
		int number = probe_number(list, size);

		if (size == 3 && !memcmp(list, "all", 3)) {
			memset(plan->on, true, sizeof(plan->on));
		} else if (size == 7 && !memcmp(list, "default", 7)) {
			for (number = 0; number < NT_PROBE_COUNT; number++)
				plan->on[number] |= is_default(number);
		} else if (number >= 0) {
			plan->on[number] = true;
		} else {
			snprintf(bad, bad_size, "%.*s", (int)size, list);
			return false;
		}
		list += size;
		list += *list == ',';
	}
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		plan->on[NT_PROBE_SOFTIRQ] |= plan->on[probe] && nt_probes[probe].needs_softirq;
	return true;
}

bool nt_plan_only(struct nt_plan *plan, const char *name)
{
	for (const struct nt_candidate *candidate = socket_candidates; candidate->name; candidate++)
		if (!strcmp(candidate->name, name)) {
			plan->only = candidate->name;
			return true;
		}
	return false;
}

#define BY_EVENT "tp"

static const char *how_name(enum nt_attach_how how)
{
	static const char *const names[] = {
		[NT_AT_TRACEPOINT] = "tp_btf", [NT_AT_NAMED] = "raw_tp",     [NT_AT_ENTRY] = "fentry",
		[NT_AT_EXIT] = "fexit",	       [NT_AT_CLOCK] = "perf_event", [NT_AT_ITERATOR] = "iter",
		[NT_AT_CGROUP] = "cgroup_skb",
	};

	return names[how];
}

const char *nt_plan_how_name(const struct nt_plan *plan, int probe, int number)
{
	return plan->by_event[probe][number] ? BY_EVENT : how_name(plan->chosen[probe]->points[number].how);
}

/* The kernel's type information has a prototype, btf_trace_NAME, for each tracepoint that it has. */
static int has_tracepoint(const struct btf *btf, const char *point)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", point);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0 ? 0 : -ENOENT;
}

static bool is_rt(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

/*
 * Since 7.0 the kernel guards tracepoints by an SRCU, of the fast sort. Before 6.13 it had one of this name too, for
 * tracepoints in idle tasks, and not that sort yet.
 */
static enum nt_preempted preempted_at_tracepoints(const struct btf *btf)
{
	if (btf__find_by_name_kind(btf, "tracepoint_srcu_srcu_data", BTF_KIND_VAR) <= 0 ||
	    btf__find_by_name_kind(btf, "srcu_ctr", BTF_KIND_STRUCT) <= 0)
		return NT_PREEMPTED_NEVER;
	return is_rt() ? NT_PREEMPTED_IN_SOFTIRQS : NT_PREEMPTED_IN_TASKS;
}

#define TRACEFS "/sys/kernel/tracing"

/* Whether the tracepoint can be attached to as a perf event: libbpf looks for its number in one of these. */
static bool has_event(const struct nt_attach_point *point)
{
	static const char *const places[] = {TRACEFS, "/sys/kernel/debug/tracing"};
	char path[256];
	int fd = -1;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", places[i], point->event_group, point->point);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0 ? 0 : -ENOENT;
}

static int has_iterator(const struct btf *btf, const char *point)
{
	char name[128];

	snprintf(name, sizeof(name), "bpf_iter_%s", point);
	return has_function(btf, name);
}

/* Whether the kernel's types have the point. Costs nothing, and touches nothing. */
static int has_point(const struct btf *btf, const struct nt_attach_point *point)
{
	switch (point->how) {
	case NT_AT_ENTRY:
	case NT_AT_EXIT:
		return has_function(btf, point->point);
	case NT_AT_ITERATOR:
		return has_iterator(btf, point->point);
	case NT_AT_CLOCK:
	case NT_AT_CGROUP:
		return 0;
	default:
		return has_tracepoint(btf, point->point);
	}
}

/* Puts a program that does nothing before or after the function, and takes it away again. */
static int try_function(const struct btf *btf, const char *function, enum nt_attach_how how)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = how == NT_AT_ENTRY ? BPF_TRACE_FENTRY : BPF_TRACE_FEXIT);
	int id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC), program, link, error;

	if (id <= 0)
		return -ENOENT;
	opts.attach_btf_id = id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "nt_trial", "GPL", nothing, sizeof(nothing) / sizeof(nothing[0]),
				&opts);
	if (program < 0)
		return -errno;
	link = bpf_raw_tracepoint_open(NULL, program);
	error = link < 0 ? -errno : 0;
	if (link >= 0)
		close(link);
	close(program);
	return error;
}

static int try_point(const struct btf *btf, const struct nt_attach_point *point)
{
	if (point->how == NT_AT_ENTRY || point->how == NT_AT_EXIT)
		return try_function(btf, point->point, point->how);
	if (point->how == NT_AT_CGROUP)
		return nt_cgroup_root_try();
	return point->how == NT_AT_CLOCK ? nt_sampler_try() : has_point(btf, point);
}

static bool file_says(const char *path, const char *text)
{
	char line[4096];
	FILE *file = fopen(path, "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return found;
}

/* access() would ask for the user alone, and not for capabilities. */
static bool can_be_read(const char *path)
{
	FILE *file = fopen(path, "re");

	if (file)
		fclose(file);
	return file;
}

static bool is_lenient(const char *path, const char *none, const char *voluntary)
{
	return file_says(path, none) || file_says(path, voluntary);
}

/*
 * Kernels that can be told at boot or later (PREEMPT_DYNAMIC) say what they do in debugfs, if that is mounted and may
 * be read; else the command line has it, or what the distribution built in. A kernel of which nothing is known is taken
 * for one that does: to be wrong the other way would spoil the tape.
 */
bool nt_kernel_preempts_itself(void)
{
	static const char *const mode = "/sys/kernel/debug/sched/preempt", *const told = "/proc/cmdline";
	struct utsname name;
	char config[128];

	if (uname(&name) || is_rt())
		return true;
	if (!strstr(name.version, "PREEMPT_DYNAMIC"))
		return strstr(name.version, "PREEMPT") != NULL;
	if (can_be_read(mode))
		return !is_lenient(mode, "(none)", "(voluntary)");
	if (file_says(told, "preempt="))
		return !is_lenient(told, "preempt=none", "preempt=voluntary");
	snprintf(config, sizeof(config), "/boot/config-%s", name.release);
	return !is_lenient(config, "CONFIG_PREEMPT_NONE=y", "CONFIG_PREEMPT_VOLUNTARY=y");
}

static const struct nt_refused_program *refusal_of(const struct nt_plan *plan, const char *program)
{
	for (size_t i = 0; i < plan->n_refused_programs; i++)
		if (!strcmp(plan->refused_programs[i].name, program))
			return &plan->refused_programs[i];
	return NULL;
}

static const struct nt_refused_program *refusal_of_event(const struct nt_plan *plan,
							 const struct nt_attach_point *point)
{
	return point->event_program ? refusal_of(plan, point->event_program) : NULL;
}

static bool wants_event(const struct nt_plan *plan, const struct nt_attach_point *point)
{
	return point->event_from && point->event_from <= plan->events;
}

static bool can_be_event(const struct nt_plan *plan, const struct nt_attach_point *point)
{
	return wants_event(plan, point) && has_event(point) && !refusal_of_event(plan, point);
}

static bool goes_by_event(const struct nt_plan *plan, const struct nt_attach_point *point)
{
	return point->event_program && !point->is_beside_event && can_be_event(plan, point);
}

/* Why a point that the kernel has cannot be used: its program is refused, or must not be preempted. 0: it can. */
static int point_refusal(const struct nt_plan *plan, const struct nt_attach_point *point)
{
	if (goes_by_event(plan, point))
		return 0;
	if (wants_event(plan, point) && !point->is_beside_event && !point->may_be_preempted)
		return refusal_of_event(plan, point) ? -ENOEXEC : -EOPNOTSUPP;
	return refusal_of(plan, point->program) ? -ENOEXEC : 0;
}

static bool is_wanted(const struct nt_plan *plan, const struct nt_attach_point *point)
{
	if (point->is_beside_event)
		return can_be_event(plan, point);
	return !point->is_wanted || point->is_wanted();
}

/*
 * Fills in which points exist; a negative errno if one that is needed does not, named in *missing. Those that cost
 * nothing to look for come first: no kernel function is touched for a candidate that cannot be.
 */
static int try_candidate(struct nt_plan *plan, const struct btf *btf, const struct nt_candidate *candidate, int probe,
			 const struct nt_attach_point **missing)
{
	int error, i;

	if (candidate->not_preempted && nt_kernel_preempts_itself()) {
		*missing = candidate->points;
		return -EDEADLK;
	}
	for (const struct nt_attach_point *point = candidate->points; point->program; point++) {
		*missing = point;
		if (point->optional)
			continue;
		error = has_point(btf, point);
		if (!error)
			error = point_refusal(plan, point);
		if (error)
			return error;
	}
	for (const struct nt_attach_point *point = candidate->points; point->program; point++) {
		i = point - candidate->points;
		error = point_refusal(plan, point);
		if (!error)
			error = try_point(btf, point);
		if (point->how == NT_AT_CGROUP)
			plan->root_error = error == -ENOEXEC ? 0 : error;
		plan->has[probe][i] = !error && is_wanted(plan, point);
		plan->by_event[probe][i] = plan->has[probe][i] && goes_by_event(plan, point);
		*missing = point;
		if (error && !point->optional)
			return error;
	}
	return 0;
}

/*
 * Whether a candidate may be used, if --plan names one. A probe that knows no candidate of that name goes its own way.
 */
static bool is_allowed(const struct nt_plan *plan, int probe, const struct nt_candidate *candidate)
{
	if (!plan->only || probe != NT_PROBE_SOCKET)
		return !candidate->by_events;
	return !strcmp(plan->only, candidate->name);
}

#define ENOTSUPP 524 /* the kernel's own: errno.h does not have it */
#define REFUSED_PROGRAM "this kernel refuses the program "
#define NO_EVENTS "perf events need " TRACEFS ", which is not there or may not be read"

/* Keeps the reason that tells most: first a program that is refused, then another error, last a missing point. */
static void note_refusal(const struct nt_plan *plan, char *text, size_t size, const struct nt_attach_point *missing,
			 int error)
{
	const struct nt_refused_program *itself = refusal_of(plan, missing->program),
					*refused = itself ? itself : refusal_of_event(plan, missing);

	if (error == -ENOEXEC)
		snprintf(text, size, "%s:%s: " REFUSED_PROGRAM "%s: %s", itself ? how_name(missing->how) : BY_EVENT,
			 missing->point, refused->name, refused->why);
	else if (error == -EOPNOTSUPP && missing->event_program)
		snprintf(text, size, BY_EVENT ":%s: " NO_EVENTS, missing->point);
	else if (!strstr(text, REFUSED_PROGRAM) && (error != -ENOENT || !text[0]))
		snprintf(text, size, "%s:%s: %s", how_name(missing->how), missing->point,
			 error == -ENOENT     ? "this kernel does not have it"
			 : error == -ENOTSUPP ? "this kernel attaches no program to functions"
			 : error == -EDEADLK  ? "this kernel may preempt the program (/sys/kernel/debug/sched/preempt)"
					      : strerror(-error));
}

static void choose_for(struct nt_plan *plan, const struct btf *btf, int probe)
{
	const struct nt_attach_point *missing = NULL;
	int error;

	plan->chosen[probe] = NULL;
	if (plan->given_up[probe])
		return;
	plan->refused[probe][0] = 0;
	if (!plan->on[probe])
		return;
	for (const struct nt_candidate *candidate = nt_probes[probe].candidates; candidate->name; candidate++) {
		if (!is_allowed(plan, probe, candidate))
			continue;
		error = try_candidate(plan, btf, candidate, probe, &missing);
		if (!error) {
			plan->chosen[probe] = candidate;
			if (!strcmp(candidate->name, nt_probes[probe].candidates->name))
				plan->refused[probe][0] = 0;
			return;
		}
		note_refusal(plan, plan->refused[probe], sizeof(plan->refused[probe]), missing, error);
	}
}

/* Probes that must know when a softirq is running, where nothing tells. */
static void leave_out_without_softirq(struct nt_plan *plan)
{
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!nt_probes[probe].needs_softirq || !plan->chosen[probe] || plan->chosen[NT_PROBE_SOFTIRQ])
			continue;
		plan->chosen[probe] = NULL;
		snprintf(plan->refused[probe], sizeof(plan->refused[probe]), "it needs the probe softirq");
	}
}

/* A filter that asks for what is not known at a hook leaves that hook out. */
static void leave_out_hooks(struct nt_plan *plan)
{
	const struct nt_candidate *chosen = plan->chosen[NT_PROBE_LATENCY];

	for (const struct nt_attach_point *point = chosen ? chosen->points : NULL; point && point->program; point++)
		if ((point->knows & plan->must_know) != plan->must_know ||
		    (point->knows & NT_KNOWS_NAMELESS && !(plan->must_know & NT_KNOWS_TASK)))
			plan->has[NT_PROBE_LATENCY][point - chosen->points] = false;
}

/* How many arguments this kernel gives to programs at a tracepoint; 0: it has it not. */
static int tracepoint_args(const struct btf *btf, const char *point)
{
	const struct btf_type *type;
	char name[128];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", point);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	type = id > 0 ? btf__type_by_id(btf, id) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	type = type && btf_is_ptr(type) ? btf__type_by_id(btf, type->type) : NULL;
	/* The first is the tracepoint's own. */
	return type && btf_is_func_proto(type) && btf_vlen(type) ? btf_vlen(type) - 1 : 0;
}

int nt_plan_choose(struct nt_plan *plan)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return -errno;
	plan->preempted = preempted_at_tracepoints(btf);
	plan->events = plan->preempted;
	if (plan->events == NT_PREEMPTED_NEVER && plan->only && !strcmp(plan->only, "events"))
		plan->events = NT_PREEMPTED_IN_TASKS;
	plan->root_error = 0;
	plan->hierarchy = nt_hierarchy_ask();
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		choose_for(plan, btf, probe);
	leave_out_without_softirq(plan);
	leave_out_hooks(plan);
	plan->switch_args = tracepoint_args(btf, "sched_switch");
	plan->drop_args = tracepoint_args(btf, "kfree_skb");
	plan->retransmit_args = tracepoint_args(btf, "tcp_retransmit_skb");
	plan->has_casts = btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return 0;
}

bool nt_plan_refuse(struct nt_plan *plan, const char *program, const char *why)
{
	struct nt_refused_program *refused = &plan->refused_programs[plan->n_refused_programs];

	if (plan->n_refused_programs == NT_PLAN_MAX_POINTS || !nt_plan_attaches(plan, program))
		return false;
	snprintf(refused->name, sizeof(refused->name), "%s", program);
	snprintf(refused->why, sizeof(refused->why), "%s", why);
	plan->n_refused_programs++;
	return !nt_plan_choose(plan) && plan->chosen[NT_PROBE_SCHED];
}

bool nt_plan_give_up(struct nt_plan *plan, int probe, const char *why)
{
	plan->given_up[probe] = true;
	plan->chosen[probe] = NULL;
	snprintf(plan->refused[probe], sizeof(plan->refused[probe]), "this kernel refuses its programs: %s", why);
	leave_out_without_softirq(plan);
	return probe != NT_PROBE_SCHED;
}

static const struct nt_attach_point *point_of(const struct nt_candidate *way, const char *program)
{
	for (const struct nt_attach_point *point = way->points; point->program; point++)
		if (!strcmp(point->program, program) ||
		    (point->event_program && !strcmp(point->event_program, program)))
			return point;
	return NULL;
}

static bool may_have_program(int probe, const char *program)
{
	for (const struct nt_candidate *way = nt_probes[probe].candidates; way->name; way++)
		if (point_of(way, program))
			return true;
	return false;
}

#define BY_ADDRESSES "to which sockets packets went is guessed by their addresses and ports"

/* Says how the chosen way of a probe does without this program. */
static void say_instead(const struct nt_plan *plan, int probe, const char *program, char *text, size_t size)
{
	const struct nt_candidate *chosen = plan->chosen[probe];
	const struct nt_attach_point *point = point_of(chosen, program);

	if (!point)
		snprintf(text, size, "the probe %s is served by %s", nt_probes[probe].name, chosen->name);
	else if (plan->has[probe][point - chosen->points])
		snprintf(text, size, "%s takes its place, and may be preempted", point->program);
	else if (point->how == NT_AT_CGROUP)
		snprintf(text, size, BY_ADDRESSES);
	else
		snprintf(text, size, "what it tells was not recorded");
}

/* Programs of this probe that the kernel refuses: it is served without them, or in another way. */
static int put_refused(const struct nt_plan *plan, int probe, int (*put)(void *arg, const char *sentence), void *arg)
{
	char text[NT_PLAN_WHY_MAX], instead[128];
	int result = 0;

	for (size_t i = 0; i < plan->n_refused_programs && !result; i++) {
		const struct nt_refused_program *refused = &plan->refused_programs[i];

		if (!may_have_program(probe, refused->name))
			continue;
		say_instead(plan, probe, refused->name, instead, sizeof(instead));
		snprintf(text, sizeof(text), "This kernel refuses the program %s (%s): %s.", refused->name,
			 refused->why, instead);
		result = put(arg, text);
	}
	return result;
}

/* The root of cgroups is not to be had. */
static int put_without_root(const struct nt_plan *plan, int (*put)(void *arg, const char *sentence), void *arg)
{
	char text[NT_PLAN_WHY_MAX];

	snprintf(text, sizeof(text), "No program sees packets at the root cgroup (%s): " BY_ADDRESSES ".",
		 nt_cgroup_root_why(plan->root_error));
	return put(arg, text);
}

static int put_of_sched(const struct nt_plan *plan, int (*put)(void *arg, const char *sentence), void *arg)
{
	const char *controller = nt_hierarchy_controller(&plan->hierarchy);
	char text[NT_PLAN_WHY_MAX];
	int result = 0;

	if (plan->switch_args == 3)
		result = put(arg, "Before Linux 5.18 a switch does not tell how its task sleeps: it is asked of the "
				  "task. One that is woken while it leaves its CPU counts as interruptible.");
	if (result || !controller)
		return result;
	snprintf(text, sizeof(text),
		 "Cgroups are those of the controller %s, which this host has in version 1: a socket that no process "
		 "has is in none.",
		 controller);
	return put(arg, text);
}

#define COOKIES_ARE_READ                                                                                               \
	"This kernel numbers no socket that a program finds by itself. Of a socket that nothing was done with, the "   \
	"process is known for TCP and UDP only, in the recorder's own network namespace, and with CAP_SYS_ADMIN in "   \
	"the others; of any other, if packets came for it, and it was open when the recording ended."

static int put_without(const struct nt_plan *plan, int probe, int (*put)(void *arg, const char *sentence), void *arg)
{
	const struct nt_attach_point *point = plan->chosen[probe]->points;
	unsigned int must_know = probe == NT_PROBE_LATENCY ? plan->must_know : 0;
	int result = 0;

	for (; point->program && !result; point++)
		if (point->without && !plan->has[probe][point - plan->chosen[probe]->points] &&
		    (point->knows & must_know) == must_know && !refusal_of(plan, point->program))
			result = put(arg, point->without);
	if (!result && probe == NT_PROBE_DELIVER && plan->reads_cookies && !refusal_of(plan, NT_SEED_SOCKETS))
		result = put(arg, COOKIES_ARE_READ);
	if (!result && probe == NT_PROBE_DELIVER && plan->root_error)
		result = put_without_root(plan, put, arg);
	else if (!result && probe == NT_PROBE_SCHED)
		result = put_of_sched(plan, put, arg);
	else if (!result && probe == NT_PROBE_TRANSMIT && !plan->chosen[NT_PROBE_SOCKET])
		result = put(arg, "Without the probe socket no packet's send is known, and so neither how late it is.");
	else if (!result && must_know & NT_KNOWS_TASK)
		result = put(arg, "Latency is recorded only at the hooks tcp-socket-read and udp-socket-read: the "
				  "filter asks for processes or cgroups, and no other hook knows the reader.");
	else if (!result && must_know & NT_KNOWS_QUEUE)
		result = put(arg, "Latency is recorded only at hooks that know the packet's socket: the filter asks "
				  "for the length of its queue.");
	return result;
}

/* A task's own poll begins with a call or a loop that some program must see. */
static bool polls_have_begins(const struct nt_plan *plan)
{
	return nt_plan_attaches(plan, "nt_sys_enter") || nt_plan_attaches(plan, "nt_enter_napi_busy_loop");
}

int nt_plan_uncovered(const struct nt_plan *plan, int probe, int (*put)(void *arg, const char *sentence), void *arg)
{
	const char *without = nt_probes[probe].without;
	char text[2 * NT_PLAN_WHY_MAX];
	int result = 0;

	if (!plan->chosen[probe] && !plan->on[probe])
		return without ? put(arg, without) : 0;
	if (!plan->chosen[probe]) {
		snprintf(text, sizeof(text), "The probe %s is not available on this kernel (%s). %s",
			 nt_probes[probe].name, plan->refused[probe],
			 without ? without : "Nothing of it was recorded.");
		return put(arg, text);
	}
	result = put_refused(plan, probe, put, arg);
	if (result)
		return result;
	if (probe == NT_PROBE_BUSYPOLL && !polls_have_begins(plan))
		return put(arg, "Polls of busy-polling tasks are counted, but their time belongs to the task or its "
				"receive: no program sees them begin.");
	for (const char *const *sentence = plan->chosen[probe]->uncovered; sentence && *sentence && !result; sentence++)
		result = put(arg, *sentence);
	return result ? result : put_without(plan, probe, put, arg);
}

/* The program that the plan has at its point of this number. */
static const char *program_at(const struct nt_plan *plan, int probe, int number)
{
	const struct nt_attach_point *point = &plan->chosen[probe]->points[number];

	return plan->by_event[probe][number] ? point->event_program : point->program;
}

bool nt_plan_attaches(const struct nt_plan *plan, const char *program)
{
	const struct nt_attach_point *points;

	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!plan->chosen[probe])
			continue;
		points = plan->chosen[probe]->points;
		for (int i = 0; points[i].program; i++)
			if (plan->has[probe][i] &&
			    (!strcmp(points[i].program, program) || !strcmp(program_at(plan, probe, i), program)))
				return true;
	}
	return false;
}

void nt_plan_set_autoload(const struct nt_plan *plan, struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), "nt_control"));
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!plan->chosen[probe])
			continue;
		for (int i = 0; plan->chosen[probe]->points[i].program; i++)
			if (plan->has[probe][i])
				bpf_program__set_autoload(
					bpf_object__find_program_by_name(object, program_at(plan, probe, i)), true);
	}
}

/* NULL, and errno: it cannot be. */
static struct bpf_link *attach_to_cgroups(const struct bpf_program *program)
{
	const int root = nt_cgroup_root_open();
	struct bpf_link *link = NULL;

	errno = root < 0 ? -root : 0;
	if (root >= 0) {
		link = bpf_program__attach_cgroup(program, root);
		close(root);
	}
	return link;
}

static int attach_point(struct nt_plan *plan, struct bpf_object *object, int probe, int number)
{
	const struct nt_attach_point *point = &plan->chosen[probe]->points[number];
	struct bpf_program *program = bpf_object__find_program_by_name(object, program_at(plan, probe, number));
	struct bpf_link *link;

	if (!program)
		return -ENOENT;
	if (point->how == NT_AT_CGROUP)
		link = attach_to_cgroups(program);
	else
		link = point->how == NT_AT_NAMED ? bpf_program__attach_raw_tracepoint(program, point->point)
						 : bpf_program__attach(program);
	if (!link)
		return -errno;
	plan->links[plan->n_links++] = link;
	return 0;
}

/* Whether others attach it, when its time comes. */
static bool waits(const struct nt_attach_point *point)
{
	return point->how == NT_AT_CLOCK || point->how == NT_AT_ITERATOR;
}

int nt_plan_attach(struct nt_plan *plan, struct bpf_object *object, struct nt_attach_failure *failure)
{
	int error;

	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!plan->chosen[probe])
			continue;
		for (int i = 0; plan->chosen[probe]->points[i].program; i++) {
			if (!plan->has[probe][i] || waits(&plan->chosen[probe]->points[i]))
				continue;
			error = attach_point(plan, object, probe, i);
			if (!error)
				continue;
			failure->program = program_at(plan, probe, i);
			failure->point = plan->chosen[probe]->points[i].point;
			failure->may_be_forbidden =
				plan->by_event[probe][i] || plan->chosen[probe]->points[i].how == NT_AT_CGROUP;
			return error;
		}
	}
	return 0;
}

void nt_plan_detach(struct nt_plan *plan)
{
	while (plan->n_links)
		bpf_link__destroy(plan->links[--plan->n_links]);
}
