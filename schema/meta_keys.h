/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * meta_keys.h - the keys of meta blocks, which nettape-record writes and nettape-report reads. They stay as they are:
 * tapes have them. docs/chunk-format.md section 10 is the specification, and a test compares it with this list.
 */
#pragma once

/* In the first block of every chunk. */
#define NT_META_TOOL "tool" /* name and version of the writer */
#define NT_META_KERNEL "kernel" /* release, as uname gives it */
#define NT_META_MACHINE "machine" /* architecture, as uname gives it */
#define NT_META_OS "os" /* PRETTY_NAME of os-release */
#define NT_META_VIRTUAL "virtual" /* the hypervisor, "none", or "unknown", which arm64 may be */
#define NT_META_CPUS_POSSIBLE "cpus_possible" /* a list such as "0-3,6" */
#define NT_META_CPUS_ONLINE "cpus_online" /* at the start, a list */
#define NT_META_CLOCK_TICKS "clock_ticks" /* a second: the unit of /proc/stat */
#define NT_META_PAGE_BYTES "page_bytes" /* the unit of memory in /proc/net/sockstat */
#define NT_META_START_NS "start_ns" /* of the session */
#define NT_META_START_REALTIME_NS "start_realtime_ns" /* the same instant, CLOCK_REALTIME */
#define NT_META_RING_SIZE "ring_size" /* bytes of each CPU's ring */
#define NT_META_KEEP_NS "keep_ns" /* a flight recorder drops what is older; absent: it does not */
#define NT_META_MAX_BYTES "max_bytes" /* a flight recorder drops the oldest of what is more; absent: it does not */
#define NT_META_PROBES "probes" /* those recorded: "sched,softirq" */
#define NT_META_PLAN "plan" /* a line each: how a probe was served, and why not better */
#define NT_META_ATTACH "attach" /* a line each: probe, program, attach point */
#define NT_META_UNCOVERED "uncovered" /* a sentence each on what was not recorded */
#define NT_META_BUSY_READ "busy_read" /* net.core.busy_read: us that a receive polls */
#define NT_META_BUSY_POLL "busy_poll" /* net.core.busy_poll: us that poll and select poll */
#define NT_META_LATENCY_SAMPLE "latency_sample" /* probability of a packet to make a sample; absent: 1 */
#define NT_META_LATENCY_FILTER "latency_filter" /* a line each: which packets could make a sample */
#define NT_META_TSTAMP_PREQUEUE "netdev_tstamp_prequeue" /* 1: packets got their time before the backlog; 0: after */
#define NT_META_FLOW_SAMPLE "flow_sample" /* probability of an update of the sketch of probe flows */
#define NT_META_FLOW_SKETCH "flow_sketch" /* its rows and columns: "4x512"; or NT_FLOW_SKETCH_NONE */
#define NT_FLOW_SKETCH_NONE "none" /* each packet was counted */
#define NT_META_FLOW_KEYS "flow_keys" /* that were counted by: "flow,src"; absent: "flow" */
#define NT_META_FLOW_HASH "flow_hash" /* the numbers that flows' hashes are made with: 28 of 16 hexadecimal digits */
#define NT_META_STACKS_HZ "stacks_hz" /* samples a second of each CPU's stack */
#define NT_META_STACKS "stacks" /* whose were kept: "network" or "all" */
#define NT_META_USER_STACKS "user_stacks" /* 1: stacks of user space too */
#define NT_META_COMMAND "command" /* the recorder's command line */

/* In the last block of the last chunk, if the recording ended in order. */
#define NT_META_END_NS "end_ns" /* of the session */
#define NT_META_STOP "stop" /* why it ended: "duration", "signal", "disk full" */
#define NT_STOP_SNAPSHOT "snapshot" /* the recording went on: this is the end of what was linked then */
#define NT_META_EVENTS "events" /* records written */
#define NT_META_LOST "lost" /* records lost */
#define NT_META_COMPLETE "complete" /* 1 */
