/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * metrics.h - every metric that nettape tells Prometheus: its name, what it is, how those of several recordings of one
 * host become one, its unit inside of nettape, and its sentence. The order is that of the output.
 *
 * Units are Prometheus's base units: seconds, bytes, joules. A histogram's buckets end at 2^0, 2^1 ... 2^34 ns, told in
 * seconds. What equals a bound is in the bucket of that bound, as `le` (less or equal) has it.
 */
#pragma once

enum nt_metric_type { NT_METRIC_COUNTER, NT_METRIC_GAUGE, NT_METRIC_HISTOGRAM };

/* Several recordings of one host. */
enum nt_metric_join {
	NT_JOIN_SUM,
	NT_JOIN_LAST, /* only the series of the last recording */
	NT_JOIN_LEAST,
	NT_JOIN_MOST
};

/* The unit in which values are added up; NS is written as seconds. */
enum nt_metric_unit { NT_UNIT_ONE, NT_UNIT_NS };

#define NT_OF_TOP ". Those with the most network CPU time have series of their own, all others are `other`."

/* X(CONSTANT, name, TYPE, JOIN, UNIT, help) of what programs, cgroups and ports cost. */
#define NT_METRICS_OF_GROUP(X, GROUP, group, of)                                                                       \
	X(GROUP##_SECONDS, "nettape_" group "_seconds_total", COUNTER, SUM, NS,                                        \
	  "CPU time of sends and receives of " of ", and net_rx that is charged to it, by owner" NT_OF_TOP)            \
	X(GROUP##_NET_RX_LOW, "nettape_" group "_net_rx_low_seconds_total", COUNTER, SUM, NS,                          \
	  "Of the net_rx that is charged to " of ", at least.")                                                        \
	X(GROUP##_NET_RX_HIGH, "nettape_" group "_net_rx_high_seconds_total", COUNTER, SUM, NS,                        \
	  "Of the net_rx that is charged to " of ", at most.")                                                         \
	X(GROUP##_OPERATIONS, "nettape_" group "_operations_total", COUNTER, SUM, ONE,                                 \
	  "Sends and receives of " of ", also those that failed.")                                                     \
	X(GROUP##_BYTES, "nettape_" group "_bytes_total", COUNTER, SUM, ONE,                                           \
	  "Bytes of those that succeeded, without peeks and error queues.")

/* What each recording costs. */
#define NT_METRICS_OF_COSTS(X)                                                                                         \
	X(CPU_SECONDS, "nettape_cpu_seconds_total", COUNTER, SUM, NS,                                                  \
	  "Time of each CPU by its owner: each nanosecond has one. uncovered: records were lost.")                     \
	X(NET_RX, "nettape_net_rx_seconds_total", COUNTER, SUM, NS,                                                    \
	  "The time of net_rx by who pays for it: processes pay for their sockets.")                                   \
	X(NET_RX_LOW, "nettape_net_rx_low_seconds_total", COUNTER, SUM, NS, "Of that time, at least.")                 \
	X(NET_RX_HIGH, "nettape_net_rx_high_seconds_total", COUNTER, SUM, NS, "Of that time, at most.")                \
	X(OPERATIONS, "nettape_socket_operations_total", COUNTER, SUM, ONE,                                            \
	  "Messages that were handed to, or asked of, sockets, also those that failed.")                               \
	X(OPERATIONS_FAILED, "nettape_socket_operations_failed_total", COUNTER, SUM, ONE,                              \
	  "Of these operations, those that failed.")                                                                   \
	X(OPERATION_BYTES, "nettape_socket_bytes_total", COUNTER, SUM, ONE,                                            \
	  "Bytes of those that succeeded, without peeks and error queues.")                                            \
	NT_METRICS_OF_GROUP(X, PROGRAM, "program", "a program")                                                        \
	NT_METRICS_OF_GROUP(X, CGROUP, "cgroup", "a container, pod, unit or other cgroup")                             \
	NT_METRICS_OF_GROUP(X, PORT, "port", "a service's port")

/* What takes probes that are off unless asked for. */
#define NT_METRICS_OF_PROBES(X)                                                                                        \
	X(LATENCY, "nettape_skb_latency_seconds", HISTOGRAM, SUM, NS,                                                  \
	  "Time since the host received a packet, at a hook on its way up; on its way down, since its send.")          \
	X(LATENCY_REJECTED, "nettape_skb_latency_rejected_total", COUNTER, SUM, ONE,                                   \
	  "Packets at a hook that are in no bucket, by reason, as counted: not scaled where packets were sampled. "    \
	  "no_stamp, transmit_stamp, filter and lost are of the whole recording, also where only a part of its time "  \
	  "was asked for.")                                                                                            \
	X(DROPS, "nettape_skb_drops_total", COUNTER, SUM, ONE,                                                         \
	  "Packets that the kernel freed and did not deliver, by its reason.")                                         \
	X(RETRANSMITS, "nettape_tcp_retransmits_total", COUNTER, SUM, ONE, "Segments that TCP sent again.")            \
	X(SOFTIRQ_WAIT, "nettape_softirq_wait_seconds", HISTOGRAM, SUM, NS,                                            \
	  "Time that a softirq waited on a CPU, from its raise to its run.")                                           \
	X(BLOCK_DEVICE, "nettape_block_device_seconds", HISTOGRAM, SUM, NS,                                            \
	  "Time of a request from its issue to the device to its completion.")                                         \
	X(BLOCK_QUEUE, "nettape_block_queue_seconds", HISTOGRAM, SUM, NS,                                              \
	  "Time of a request from its queueing to its issue, if it is known.")                                         \
	X(BLOCK_BYTES, "nettape_block_bytes_total", COUNTER, SUM, ONE, "Bytes that requests moved or discarded.")      \
	X(DEVICE_PACKETS, "nettape_device_packets_total", COUNTER, SUM, ONE,                                           \
	  "Packets of the wire that a device received or sent, exactly.")                                              \
	X(DEVICE_BYTES, "nettape_device_bytes_total", COUNTER, SUM, ONE,                                               \
	  "Their bytes, with one link header for each buffer.")                                                        \
	X(PAGE_FAULTS, "nettape_page_faults_total", COUNTER, SUM, ONE,                                                 \
	  "Page faults; a major one waited for its page to be read.")                                                  \
	X(KMEM, "nettape_kernel_allocations_total", COUNTER, SUM, ONE,                                                 \
	  "Allocations of the kernel, an estimate where there were many. Pages are also what the other kinds are of.") \
	X(KMEM_BYTES, "nettape_kernel_allocated_bytes_total", COUNTER, SUM, ONE,                                       \
	  "Their bytes, an estimate where there were many.")                                                           \
	X(KMEM_FAILED, "nettape_kernel_allocations_failed_total", COUNTER, SUM, ONE,                                   \
	  "Of these allocations, those without memory.")

/* The same, of all of a recording at once: in files only, not while the tape is followed. */
#define NT_METRICS_OF_WHOLE(X)                                                                                         \
	X(FLOW_PACKETS, "nettape_flow_packets", GAUGE, LAST, ONE,                                                      \
	  "Packets of each of the flows with the most, at one device that saw it: an estimate.")                       \
	X(FLOW_PACKETS_LOW, "nettape_flow_packets_low", GAUGE, LAST, ONE,                                              \
	  "Packets of each of the flows with the most, at one device that saw it: at least (99 %).")                   \
	X(FLOW_PACKETS_HIGH, "nettape_flow_packets_high", GAUGE, LAST, ONE,                                            \
	  "Packets of each of the flows with the most, at one device that saw it: at most (99 %).")                    \
	X(FLOW_REST, "nettape_flow_rest_packets", GAUGE, LAST, ONE,                                                    \
	  "Packets of a device that are not of these flows there: an estimate.")                                       \
	X(RESIDENT, "nettape_resident_bytes", GAUGE, LAST, ONE,                                                        \
	  "Resident memory of the programs with the most, as of all their processes last.")                            \
	X(ENERGY, "nettape_energy_joules_total", COUNTER, SUM, ONE,                                                    \
	  "Energy that a zone of the host used between readings.")                                                     \
	X(NETWORK_ENERGY, "nettape_network_energy_joules", GAUGE, SUM, ONE,                                            \
	  "Of a package, the network's part of its energy, by its share of busy time: an estimate.")                   \
	X(NETWORK_ENERGY_LOW, "nettape_network_energy_joules_low", GAUGE, SUM, ONE,                                    \
	  "Of a package, the network's part of its energy, by its share of busy time: at least.")                      \
	X(NETWORK_ENERGY_HIGH, "nettape_network_energy_joules_high", GAUGE, SUM, ONE,                                  \
	  "Of a package, the network's part of its energy, by its share of busy time: at most.")

/* Each recording itself. */
#define NT_METRICS_OF_RECORDING(X)                                                                                     \
	X(RECORDS, "nettape_records_total", COUNTER, SUM, ONE, "Records on the tape.")                                 \
	X(RECORDS_LOST, "nettape_records_lost_total", COUNTER, SUM, ONE,                                               \
	  "Records that found no room. Of those of the timeline, the time about them is uncovered.")                   \
	X(RECORDER_CPU, "nettape_recorder_cpu_seconds_total", COUNTER, SUM, NS,                                        \
	  "CPU time of the recorder's threads, loading included. Its programs in the kernel run in others' time.")     \
	X(RECORDER_MEMORY, "nettape_recorder_peak_resident_bytes", GAUGE, LAST, ONE,                                   \
	  "Resident memory of the recorder at most.")                                                                  \
	X(RECORDER_WRITTEN, "nettape_recorder_written_bytes_total", COUNTER, SUM, ONE,                                 \
	  "Bytes that the recorder wrote to the tape.")                                                                \
	X(RECORDER_RUNS, "nettape_recorder_program_runs_total", COUNTER, SUM, ONE,                                     \
	  "Runs of the recorder's programs in the kernel.")                                                            \
	X(RECORDER_MISSES, "nettape_recorder_program_misses_total", COUNTER, SUM, ONE,                                 \
	  "Runs that the kernel left out: what they would have recorded is missing.")                                  \
	X(RECORDER_RUN_SECONDS, "nettape_recorder_program_seconds_total", COUNTER, SUM, NS,                            \
	  "Time of these runs, if the kernel measured it (nettape-record --bpf-stats).")                               \
	X(WHOLE, "nettape_recording_whole", GAUGE, LEAST, ONE,                                                         \
	  "1: nothing is known to be missing. 0: damaged, cut, or without all its chunks.")                            \
	X(PROBLEMS, "nettape_recording_problems", GAUGE, SUM, ONE, "Known problems of the recording.")                 \
	X(TOUCHED, "nettape_recording_touched_seconds", GAUGE, SUM, NS,                                                \
	  "CPU time in which records are missing because of them, if it is known.")                                    \
	X(COMPLETE_UNTIL, "nettape_complete_until_seconds", GAUGE, MOST, NS,                                           \
	  "The time since 1970 up to which all of these figures are.")                                                 \
	X(SESSIONS, "nettape_sessions", GAUGE, SUM, ONE, "Recordings that these figures are the sums of.")             \
	X(SESSION_INFO, "nettape_session_info", GAUGE, LAST, ONE, "The last of these recordings.")

#define NT_METRICS(X) NT_METRICS_OF_COSTS(X) NT_METRICS_OF_PROBES(X) NT_METRICS_OF_WHOLE(X) NT_METRICS_OF_RECORDING(X)

#define NT_METRIC_CONSTANT(constant, name, type, join, unit, help) NT_METRIC_##constant,
enum nt_metric { NT_METRICS(NT_METRIC_CONSTANT) NT_METRIC_COUNT };
#undef NT_METRIC_CONSTANT

struct nt_metric_info {
	const char *name, *help;
	enum nt_metric_type type;
	enum nt_metric_join join;
	enum nt_metric_unit unit;
};
const struct nt_metric_info *nt_metric(enum nt_metric metric);
