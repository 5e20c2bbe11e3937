/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * columns.h - the tables of a tape, each defined once: its line in NT_TABLES, and NT_COLUMNS_<name>(C).
 * There a line C(TYPE, name, value) is a column and the value that a row has in it, made of `from`, which has the
 * table's type in NT_TABLES, and `arena`. All tables begin with session_id, which is not listed. tables.c expands these
 * lists and has the functions that values are made with. docs/sql-schema.md says what the columns mean.
 *
 *   INTEGER  TEXT                 NULL where the number is more than SQL can hold, or the text is NULL
 *   NON_ZERO                      an INTEGER, NULL for 0 too
 *   INTEGER_ALWAYS  TEXT_ALWAYS   never NULL: what would make it so is an error
 *   SIGNED_ALWAYS                 the same, of an int64_t
 *   WORD  WORD_ALWAYS             a TEXT that is a constant of the program: it outlives the row
 */
#pragma once

#define NT_SCHEMA_VERSION 17 /* of tables and views; grows with each change of their statements */

/*
 * X(CONSTANT, blocks): where the rows of a table come from. That decides which blocks of events are read for them; the
 * text says so for the rows of a window (docs/sql-schema.md).
 *
 *   META        known when the tape is opened          BLOCKS   identities, clocks and snapshots
 *   LOOSE       loose records, as they come            SPANS    records of the timeline, whole
 *   FLOWS       loose records of all CPUs        FLOW_SUMS  their sums
 *   SAMPLES     loose records, each with its owner     LOSSES   of loose records and of the timeline
 *   SLICES      the owners of each CPU's time          STAYS    tasks' time on a CPU
 *   OPERATIONS  operations on sockets                  SUMS     of slices, operations and interrupts
 *   CHARGES     the payers of net_rx                   COUNTS   known when all records have been read
 *   TASKS       identities, and tasks that rows speak of
 *   FRAMES      of stacks that samples speak of        ALL      known when all is counted
 */
#define NT_SOURCES(X)                                                                                                  \
	X(LOOSE, "those of that time and CPUs")                                                                        \
	X(FLOWS, "those of that time, of all CPUs")                                                                    \
	X(FLOW_SUMS, "as `flow_count`")                                                                                \
	X(SPANS, "the same, from a state record before the window")                                                    \
	X(LOSSES, "the same, from a state record before the window")                                                   \
	X(SLICES, "the same, from before the slice that reaches into the window")                                      \
	X(SAMPLES, "as `cpu_slice`; a flow that is drawn may be another one than in the whole tape")                   \
	X(STAYS, "as `cpu_slice`, of all CPUs")                                                                        \
	X(OPERATIONS, "of all CPUs, from where the first began of those that ended in the window")                     \
	X(CHARGES, "of all CPUs, from 100 ms before the window to 100 ms behind it")                                   \
	X(SUMS, "as `sock_op`")                                                                                        \
	X(COUNTS, "all")                                                                                               \
	X(TASKS, "all")                                                                                                \
	X(FRAMES, "all")                                                                                               \
	X(ALL, "all")                                                                                                  \
	X(BLOCKS, "none")                                                                                              \
	X(META, "none")

/*
 * X(CONSTANT, name, type that a row is made of, key, source, kept, what), in the order in which docs and databases list
 * them. The key is what makes a row unique beside session_id; NULL: nothing does. `what` is what a row is. `kept` says
 * which databases of a part have the table: ALWAYS all; WITHOUT_SUMS all but those of sums (import --sums); WITH_SUMS
 * those of sums, and those that name it (import --tables); BY_NAME only the latter.
 */
#define NT_TABLES(X)                                                                                                   \
	X(SESSION, session, struct nt_session_info, "", ALL, ALWAYS, "a recording, or a window of one")                \
	X(SESSION_META, session_meta, struct nt_meta_line, NULL, META, ALWAYS, "a statement of the tape about itself") \
	X(PROBLEM, problem, char, NULL, COUNTS, ALWAYS, "a fault of the tape, as a sentence")                          \
	X(PROCESS, process, struct nt_process_info, "upid", BLOCKS, ALWAYS, "a process")                               \
	X(THREAD, thread, struct nt_thread_info, "utid", TASKS, ALWAYS, "a task that a row refers to")                 \
	X(CGROUP, cgroup, struct nt_cgroup_info, "id", BLOCKS, ALWAYS,                                                 \
	  "a cgroup, with the container, pod or unit that it is")                                                      \
	X(SOCKET, socket, struct nt_socket, "id", BLOCKS, ALWAYS, "a socket")                                          \
	X(NET_DEVICE, net_device, struct nt_device, "id", BLOCKS, ALWAYS, "a network device")                          \
	X(FLOW, flow, struct nt_flow, "id", BLOCKS, WITHOUT_SUMS, "one direction of a connection, at one device")      \
	X(SCHED_SLICE, sched_slice, struct nt_sched_slice, NULL, STAYS, BY_NAME,                                       \
	  "a task's time on a CPU, from switch to switch")                                                             \
	X(SOFTIRQ_SLICE, softirq_slice, struct nt_span_row, NULL, SPANS, BY_NAME, "a run of a softirq handler")        \
	X(SOFTIRQ_RAISE, softirq_raise, struct nt_cpu_record, NULL, LOOSE, BY_NAME,                                    \
	  "a softirq's wait for a CPU, from raise to run")                                                             \
	X(IRQ_SLICE, irq_slice, struct nt_irq_info, NULL, SPANS, BY_NAME, "a hard interrupt")                          \
	X(SOCK_OP, sock_op, struct nt_op_row, NULL, OPERATIONS, BY_NAME,                                               \
	  "a message handed to, or asked of, a socket's protocol")                                                     \
	X(NAPI_POLL, napi_poll, struct nt_napi_row, NULL, SPANS, BY_NAME, "a poll of a network device's queue")        \
	X(RX_STRETCH, rx_stretch, struct nt_cpu_record, NULL, LOOSE, BY_NAME,                                          \
	  "packets of one flow that followed one another")                                                             \
	X(NET_TIMER, net_timer, struct nt_cpu_record, NULL, LOOSE, BY_NAME, "a run of a timer of the network")         \
	X(SKB_LATENCY, skb_latency, struct nt_latency_info, NULL, LOOSE, BY_NAME,                                      \
	  "a packet that passed a hook on its way up or down")                                                         \
	X(SKB_DROP, skb_drop, struct nt_drop_info, NULL, LOOSE, BY_NAME, "a packet that the kernel freed undelivered") \
	X(TCP_RETRANSMIT, tcp_retransmit, struct nt_cpu_record, NULL, LOOSE, BY_NAME, "a segment that TCP sent again") \
	X(FLOW_SKETCH, flow_sketch, struct nt_cpu_record, NULL, FLOWS, WITH_SUMS,                                      \
	  "the samples of flows in about a second")                                                                    \
	X(FLOW_CELL, flow_cell, struct nt_cpu_record, NULL, FLOWS, BY_NAME, "a cell of their sketch")                  \
	X(FLOW_COUNT, flow_count, struct nt_flow_count_info, NULL, FLOWS, WITH_SUMS,                                   \
	  "what a flow had in that second, estimated")                                                                 \
	X(FLOW_TOTAL, flow_total, struct nt_cpu_record, NULL, FLOWS, WITH_SUMS,                                        \
	  "what a device had in that second, exactly")                                                                 \
	X(FLOW_SUM, flow_sum, struct nt_flow_sum_info, NULL, FLOW_SUMS, BY_NAME,                                       \
	  "what a flow had in all of the time, estimated")                                                             \
	X(SCHED_WAKEUP, sched_wakeup, struct nt_cpu_record, NULL, LOOSE, BY_NAME, "a thread woken")                    \
	X(BLOCK_IO, block_io, struct nt_block_io_info, NULL, LOOSE, BY_NAME,                                           \
	  "a request that a block device completed")                                                                   \
	X(MEM_RSS, mem_rss, struct nt_cpu_record, NULL, LOOSE, BY_NAME, "how much memory of a kind a process has")     \
	X(PAGE_FAULT, page_fault, struct nt_cpu_record, NULL, LOOSE, BY_NAME,                                          \
	  "page faults that a thread took in its time on a CPU")                                                       \
	X(KMEM, kmem, struct nt_kmem_info, NULL, LOOSE, BY_NAME, "memory that the kernel took")                        \
	X(STACK_SAMPLE, stack_sample, struct nt_stack_sample_info, NULL, SAMPLES, BY_NAME,                             \
	  "a CPU's position at a tick of its clock")                                                                   \
	X(STACK, stack, struct nt_stack_info, "id", BLOCKS, BY_NAME, "a stack")                                        \
	X(FRAME, frame, struct nt_frame_info, NULL, FRAMES, BY_NAME, "a frame of a stack")                             \
	X(SYMBOL, symbol, struct nt_symbol_info, "id", BLOCKS, BY_NAME,                                                \
	  "a place in the kernel's code or in a program")                                                              \
	X(CPU_SLICE, cpu_slice, struct nt_cpu_slice, NULL, SLICES, BY_NAME, "an owner's time on a CPU, without a gap") \
	X(LOSS, loss, struct nt_loss_row, NULL, LOSSES, BY_NAME, "an uncovered stretch, and records lost")             \
	X(CLOCK_SNAPSHOT, clock_snapshot, struct nt_clock, NULL, BLOCKS, BY_NAME, "one instant on all clocks")         \
	X(PROC_COUNTER, proc_counter, struct nt_counter_info, NULL, BLOCKS, WITH_SUMS,                                 \
	  "a counter of the kernel, as read at a time")                                                                \
	X(SELF_COST, self_cost, struct nt_counter_info, NULL, BLOCKS, WITH_SUMS, "a counter of the recorder itself")   \
	X(RECORD_COUNT, record_count, struct nt_record_count, NULL, COUNTS, WITH_SUMS,                                 \
	  "how many records of a kind a CPU has on the tape")                                                          \
	X(CPU_COST, cpu_cost, struct nt_cpu_cost, NULL, SUMS, WITH_SUMS,                                               \
	  "an owner's and a task's time on a CPU, in a bucket")                                                        \
	X(SOCK_COST, sock_cost, struct nt_sock_cost, NULL, SUMS, WITH_SUMS,                                            \
	  "a task's operations on a socket, in a bucket")                                                              \
	X(RX_COST, rx_cost, struct nt_rx_paid, NULL, CHARGES, WITH_SUMS,                                               \
	  "what is charged to a payer of `net_rx`, in a bucket")                                                       \
	X(ELSEWHERE_COST, elsewhere_cost, struct nt_elsewhere_info, NULL, SUMS, WITH_SUMS,                             \
	  "network work in others' time, in a bucket")

/* X(KIND, TABLE): kinds whose records are rows as they come. Their tables are made of struct nt_cpu_record. */
#define NT_RECORD_TABLES(X)                                                                                            \
	X(RX_STRETCH, RX_STRETCH)                                                                                      \
	X(NET_TIMER, NET_TIMER)                                                                                        \
	X(RETRANSMIT, TCP_RETRANSMIT)                                                                                  \
	X(WAKEUP, SCHED_WAKEUP)                                                                                        \
	X(RAISE, SOFTIRQ_RAISE)                                                                                        \
	X(MEM_RSS, MEM_RSS)                                                                                            \
	X(PAGE_FAULT, PAGE_FAULT)                                                                                      \
	X(FLOW_SKETCH, FLOW_SKETCH)                                                                                    \
	X(FLOW_CELL, FLOW_CELL)                                                                                        \
	X(FLOW_TOTAL, FLOW_TOTAL)

/* ---- the recording ---- */

/* From this column of session on, values are known only when the tape has been read. */
#define NT_SESSION_FIRST_COUNT "events"

#define NT_COLUMNS_session(C)                                                                                          \
	C(TEXT_ALWAYS, uuid, from->uuid)                                                                               \
	C(TEXT_ALWAYS, host, from->host)                                                                               \
	C(TEXT, kernel, from->kernel)                                                                                  \
	C(TEXT, machine, from->machine)                                                                                \
	C(TEXT, os, from->os)                                                                                          \
	C(TEXT, virtual, from->virtual)                                                                                \
	C(TEXT_ALWAYS, boot_id, from->boot_id)                                                                         \
	C(TEXT, tool, from->tool)                                                                                      \
	C(TEXT, stop, from->stop)                                                                                      \
	C(INTEGER_ALWAYS, start_ts, from->start_ns)                                                                    \
	C(INTEGER_ALWAYS, end_ts, from->end_ns)                                                                        \
	C(INTEGER_ALWAYS, dur, from->end_ns - from->start_ns)                                                          \
	C(NON_ZERO, start_realtime_ns, from->start_realtime_ns)                                                        \
	C(INTEGER_ALWAYS, bucket_ns, from->bucket_ns)                                                                  \
	C(INTEGER_ALWAYS, cpus, from->cpus)                                                                            \
	C(NON_ZERO, clock_ticks, from->clock_ticks)                                                                    \
	C(INTEGER_ALWAYS, bytes, from->bytes)                                                                          \
	C(INTEGER_ALWAYS, chunks, from->chunks)                                                                        \
	C(INTEGER_ALWAYS, complete, from->complete)                                                                    \
	C(INTEGER_ALWAYS, events, from->events)                                                                        \
	C(INTEGER_ALWAYS, lost, from->lost)                                                                            \
	C(INTEGER_ALWAYS, outside, from->counts.outside)                                                               \
	C(INTEGER_ALWAYS, unknown, from->unknown)                                                                      \
	C(INTEGER_ALWAYS, undeclared, from->counts.undeclared)                                                         \
	C(INTEGER_ALWAYS, clamped, from->counts.clamped)                                                               \
	C(INTEGER_ALWAYS, clamped_max_ns, from->counts.clamped_max_ns)                                                 \
	C(INTEGER_ALWAYS, malformed, from->counts.malformed)                                                           \
	C(INTEGER_ALWAYS, bad_lines, from->bad_lines)                                                                  \
	C(INTEGER, clock_uncertainty_ns, from->clock_uncertainty_ns)                                                   \
	C(INTEGER_ALWAYS, clock_steps, from->clock_steps)

#define NT_COLUMNS_session_meta(C)                                                                                     \
	C(TEXT_ALWAYS, key, from->key)                                                                                 \
	C(TEXT_ALWAYS, value, from->value)

#define NT_COLUMNS_problem(C) C(TEXT_ALWAYS, text, from)

/* ---- who ---- */

#define NT_COLUMNS_process(C)                                                                                          \
	C(INTEGER_ALWAYS, upid, from->process)                                                                         \
	C(INTEGER, pid, from->has_pid ? from->pid : NONE)                                                              \
	C(INTEGER, ppid, from->has_pid ? from->parent_pid : NONE)                                                      \
	C(TEXT, name, from->name)                                                                                      \
	C(NON_ZERO, cgroup_id, from->cgroup)                                                                           \
	C(NON_ZERO, start_ts, from->start_ns)                                                                          \
	C(NON_ZERO, end_ts, from->end_ns)

#define NT_COLUMNS_thread(C)                                                                                           \
	C(INTEGER_ALWAYS, utid, from->task)                                                                            \
	C(INTEGER, tid, from->known ? from->tid : NONE)                                                                \
	C(INTEGER, upid, from->known && (from->process || !from->task) ? from->process : NONE)                         \
	C(TEXT, name, from->known ? from->name : NULL)                                                                 \
	C(NON_ZERO, start_ts, from->known ? from->start_ns : 0)                                                        \
	C(NON_ZERO, end_ts, from->known ? from->end_ns : 0)                                                            \
	C(INTEGER, is_kernel, from->known ? from->is_kernel : NONE)

#define NT_COLUMNS_cgroup(C)                                                                                           \
	C(INTEGER_ALWAYS, id, from->record->cgroup)                                                                    \
	C(TEXT_ALWAYS, path, from->path)                                                                               \
	C(INTEGER, kernel_id, from->record->kernel_id)                                                                 \
	C(WORD, runtime, from->words.runtime)                                                                          \
	C(TEXT, container, from->words.container)                                                                      \
	C(TEXT, pod, from->words.pod)                                                                                  \
	C(TEXT, unit, from->words.unit)                                                                                \
	C(TEXT, name, from->words.name)                                                                                \
	C(TEXT_ALWAYS, label, from->words.label)

#define NT_COLUMNS_socket(C)                                                                                           \
	C(INTEGER_ALWAYS, id, from->socket)                                                                            \
	C(TEXT_ALWAYS, family, nt_family_name(from->family, arena))                                                    \
	C(TEXT_ALWAYS, type, nt_socket_type_name(from->type, arena))                                                   \
	C(TEXT_ALWAYS, proto, nt_protocol_name(from->family, from->protocol, arena))                                   \
	C(TEXT, src, address_text(arena, from->family, from->src, from->src_port))                                     \
	C(INTEGER, sport, has_address(from->family, from->src, from->src_port) ? from->src_port : NONE)                \
	C(TEXT, dst, address_text(arena, from->family, from->dst, from->dst_port))                                     \
	C(INTEGER, dport, has_address(from->family, from->dst, from->dst_port) ? from->dst_port : NONE)                \
	C(NON_ZERO, netns, from->netns)                                                                                \
	C(NON_ZERO, cookie, from->cookie)                                                                              \
	C(NON_ZERO, upid, from->process)                                                                               \
	C(NON_ZERO, cgroup_id, from->cgroup)

#define NT_COLUMNS_net_device(C)                                                                                       \
	C(INTEGER_ALWAYS, ifindex, from->ifindex)                                                                      \
	C(TEXT, name, nt_arena_clean(arena, from->name, sizeof(from->name)))                                           \
	C(NON_ZERO, netns, from->netns)                                                                                \
	C(INTEGER_ALWAYS, id, from->device)

#define NT_COLUMNS_flow(C)                                                                                             \
	C(INTEGER_ALWAYS, id, from->flow)                                                                              \
	C(TEXT, family, from->family ? nt_family_name(from->family, arena) : NULL)                                     \
	C(TEXT, proto, flow_protocol(arena, from))                                                                     \
	C(TEXT, src, flow_sender(arena, from))                                                                         \
	C(NON_ZERO, sport, from->src_port)                                                                             \
	C(TEXT, dst, flow_receiver(arena, from))                                                                       \
	C(NON_ZERO, dport, from->dst_port)                                                                             \
	C(INTEGER_ALWAYS, ethertype, from->ethertype)                                                                  \
	C(NON_ZERO, netns, from->netns)                                                                                \
	C(NON_ZERO, device_id, from->device)                                                                           \
	C(WORD, direction, nt_dir_name(from->flags &NT_FLOW_SENT ? NT_SEND : NT_RECV))                                 \
	C(WORD_ALWAYS, counted_by, nt_flow_key_name(nt_flow_sort_of(from)))

/* ---- what happened ---- */

#define NT_COLUMNS_sched_slice(C)                                                                                      \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER_ALWAYS, dur, from->dur_ns)                                                                           \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(INTEGER, utid, from->task)                                                                                   \
	C(WORD, end_state, from->ended_by_switch ? nt_end_state_name(from->end_state) : NULL)                          \
	C(INTEGER, priority, from->ended_by_switch ? from->priority : NONE)

#define NT_COLUMNS_softirq_slice(C)                                                                                    \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER_ALWAYS, dur, from->dur_ns)                                                                           \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, vec, nt_vec_name(from->detail))                                                                 \
	C(WORD_ALWAYS, context, nt_context_name(from->number))                                                         \
	C(INTEGER, utid, from->task)

#define NT_COLUMNS_softirq_raise(C)                                                                                    \
	C(INTEGER_ALWAYS, ts, nt_span_begin(from->record))                                                             \
	C(INTEGER_ALWAYS, dur, nt_span_dur(from->record))                                                              \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, vec, nt_vec_name(from->record->as_raise.vec))                                                   \
	C(WORD, raised_in, nt_cpu_context_name(from->record->as_raise.raised_in))                                      \
	C(WORD_ALWAYS, context, nt_context_name(from->record->as_raise.context))

#define NT_COLUMNS_irq_slice(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, from->span->ts_ns)                                                                       \
	C(INTEGER_ALWAYS, dur, from->span->dur_ns)                                                                     \
	C(INTEGER_ALWAYS, cpu, from->span->cpu)                                                                        \
	C(INTEGER_ALWAYS, irq, from->span->number)                                                                     \
	C(TEXT_ALWAYS, name, from->name)                                                                               \
	C(WORD_ALWAYS, type, from->span->detail == NT_IRQ_VECTOR ? "vector" : "device")                                \
	C(INTEGER, utid, from->span->task)

#define NT_COLUMNS_sock_op(C)                                                                                          \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER, dur, from->timed ? from->dur_ns : NONE)                                                             \
	C(INTEGER, cpu_ns, from->timed ? from->cpu_ns : NONE)                                                          \
	C(INTEGER, utid, from->task)                                                                                   \
	C(WORD_ALWAYS, op, nt_dir_name(from->dir))                                                                     \
	C(WORD_ALWAYS, syscall, nt_call_name(from->call))                                                              \
	C(NON_ZERO, socket_id, from->socket)                                                                           \
	C(INTEGER, bytes, moved_bytes(from))                                                                           \
	C(TEXT_ALWAYS, result, nt_op_result_name(from, arena))                                                         \
	C(TEXT_ALWAYS, flags, nt_op_flags_text(from, arena))                                                           \
	C(INTEGER_ALWAYS, cpu, from->cpu)

#define NT_COLUMNS_napi_poll(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER, dur, from->timed ? from->dur_ns : NONE)                                                             \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(INTEGER, utid, from->task)                                                                                   \
	C(WORD_ALWAYS, context, nt_napi_context_name(from->context))                                                   \
	C(NON_ZERO, device_id, from->device)                                                                           \
	C(NON_ZERO, napi_id, from->napi_id)                                                                            \
	C(INTEGER_ALWAYS, work, from->work)                                                                            \
	C(INTEGER_ALWAYS, budget, from->budget)

#define NT_COLUMNS_skb_latency(C)                                                                                      \
	C(INTEGER_ALWAYS, ts, from->sample->end_ns)                                                                    \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, hook, nt_hook_name(from->sample->hook))                                                         \
	C(INTEGER, latency_ns, is_late_known(from) ? from->latency_ns : NONE)                                          \
	C(INTEGER, stamp_ns, from->sample->stamp_ns)                                                                   \
	C(NON_ZERO, device_id, from->sample->device)                                                                   \
	C(NON_ZERO, socket_id, from->sample->socket)                                                                   \
	C(NON_ZERO, utid, from->sample->task)                                                                          \
	C(NON_ZERO, length, from->sample->length)                                                                      \
	C(INTEGER_ALWAYS, queue_len, from->sample->queue_len)                                                          \
	C(INTEGER_ALWAYS, weight, from->sample->weight)                                                                \
	C(WORD_ALWAYS, flags, nt_latency_flags_text(from->sample->flags, from->late))                                  \
	C(INTEGER, wait_ns, from->wait_ns)

#define NT_COLUMNS_skb_drop(C)                                                                                         \
	C(INTEGER_ALWAYS, ts, from->drop->end_ns)                                                                      \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(TEXT_ALWAYS, reason, from->reason ? from->reason : nt_arena_format(arena, "reason %u", from->drop->reason))  \
	C(TEXT_ALWAYS, location, from->location ? from->location : "unknown")                                          \
	C(NON_ZERO, device_id, from->drop->device)                                                                     \
	C(NON_ZERO, socket_id, from->drop->socket)                                                                     \
	C(INTEGER_ALWAYS, length, from->drop->length)                                                                  \
	C(NON_ZERO, protocol, from->drop->protocol)

#define NT_COLUMNS_tcp_retransmit(C)                                                                                   \
	C(INTEGER_ALWAYS, ts, from->record->as_retransmit.end_ns)                                                      \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, what, nt_retransmit_name(from->record->as_retransmit.what))                                     \
	C(NON_ZERO, socket_id, from->record->as_retransmit.socket)                                                     \
	C(INTEGER_ALWAYS, length, from->record->as_retransmit.length)                                                  \
	C(TEXT, state, nt_tcp_state_name(from->record->as_retransmit.state, arena))

#define NT_COLUMNS_rx_stretch(C)                                                                                       \
	C(INTEGER_ALWAYS, ts, from->record->as_rx_stretch.end_ns)                                                      \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(NON_ZERO, flow_id, from->record->as_rx_stretch.flow)                                                         \
	C(INTEGER_ALWAYS, packets, from->record->as_rx_stretch.packets)                                                \
	C(INTEGER_ALWAYS, segments, from->record->as_rx_stretch.segments)                                              \
	C(INTEGER_ALWAYS, bytes, from->record->as_rx_stretch.bytes)                                                    \
	C(INTEGER_ALWAYS, is_first, has_flag(from, NT_RX_STRETCH_FIRST))                                               \
	C(INTEGER_ALWAYS, is_listed, has_flag(from, NT_RX_STRETCH_LISTED))                                             \
	C(INTEGER_ALWAYS, after_loss, has_flag(from, NT_RX_STRETCH_AFTER_LOSS))                                        \
	C(INTEGER_ALWAYS, is_again, has_flag(from, NT_RX_STRETCH_AGAIN))                                               \
	C(INTEGER_ALWAYS, is_forwarded, has_flag(from, NT_RX_STRETCH_FORWARDED))                                       \
	C(INTEGER_ALWAYS, is_steered, has_flag(from, NT_RX_STRETCH_STEERED))                                           \
	C(INTEGER_ALWAYS, dropped, from->record->as_rx_stretch.dropped)

#define NT_COLUMNS_net_timer(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, from->record->as_net_timer.end_ns)                                                       \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, function, nt_net_timer_name(from->record->as_net_timer.function))                               \
	C(INTEGER_ALWAYS, took_ns, from->record->as_net_timer.took_ns)                                                 \
	C(INTEGER, own_ns, timer_own_ns(&from->record->as_net_timer))

#define NT_COLUMNS_flow_sketch(C)                                                                                      \
	C(INTEGER_ALWAYS, ts, nt_span_begin(from->record))                                                             \
	C(INTEGER_ALWAYS, dur, nt_span_dur(from->record))                                                              \
	C(INTEGER_ALWAYS, samples, from->record->as_flow_sketch.samples)                                               \
	C(INTEGER_ALWAYS, unnamed, from->record->as_flow_sketch.unnamed)                                               \
	C(INTEGER_ALWAYS, cells, from->record->as_flow_sketch.cells)                                                   \
	C(INTEGER_ALWAYS, flows, from->record->as_flow_sketch.flows)                                                   \
	C(WORD_ALWAYS, counted_by, nt_flow_key_name(from->record->as_flow_sketch.flags))

#define NT_COLUMNS_flow_cell(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, nt_span_begin(from->record))                                                             \
	C(INTEGER_ALWAYS, dur, nt_span_dur(from->record))                                                              \
	C(INTEGER_ALWAYS, cell, from->record->as_flow_cell.cell)                                                       \
	C(SIGNED_ALWAYS, packets, from->record->as_flow_cell.packets)                                                  \
	C(SIGNED_ALWAYS, bytes, from->record->as_flow_cell.bytes)                                                      \
	C(WORD_ALWAYS, counted_by, nt_flow_key_name(from->record->as_flow_cell.flags))

#define NT_COLUMNS_flow_count(C)                                                                                       \
	C(INTEGER_ALWAYS, ts, from->count->end_ns - from->count->dur_ns)                                               \
	C(INTEGER_ALWAYS, dur, from->count->dur_ns)                                                                    \
	C(NON_ZERO, flow_id, from->count->flow)                                                                        \
	C(INTEGER, packets, from->is_known ? from->estimate.packets : NONE)                                            \
	C(INTEGER, packets_low, from->is_known ? from->estimate.packets_low : NONE)                                    \
	C(INTEGER, packets_high, from->is_known ? from->estimate.packets_high : NONE)                                  \
	C(INTEGER, bytes, from->is_known ? from->estimate.bytes : NONE)                                                \
	C(INTEGER, bytes_low, from->is_known ? from->estimate.bytes_low : NONE)                                        \
	C(INTEGER, bytes_high, from->is_known ? from->estimate.bytes_high : NONE)                                      \
	C(INTEGER_ALWAYS, sampled_packets, from->count->packets)                                                       \
	C(INTEGER_ALWAYS, missed_packets, from->count->missed)                                                         \
	C(INTEGER_ALWAYS, sampled_bytes, from->count->bytes)                                                           \
	C(INTEGER_ALWAYS, most_packets, from->count->most_packets)                                                     \
	C(INTEGER_ALWAYS, most_bytes, from->count->most_bytes)                                                         \
	C(SIGNED_ALWAYS, hash, (int64_t)from->hash)                                                                    \
	C(WORD_ALWAYS, counted_by, nt_flow_key_name(from->count->flags))

#define NT_COLUMNS_flow_sum(C)                                                                                         \
	C(NON_ZERO, flow_id, from->flow)                                                                               \
	C(INTEGER, packets, from->estimate.packets)                                                                    \
	C(INTEGER, packets_low, from->estimate.packets_low)                                                            \
	C(INTEGER, packets_high, from->estimate.packets_high)                                                          \
	C(INTEGER, bytes, from->estimate.bytes)                                                                        \
	C(INTEGER, bytes_low, from->estimate.bytes_low)                                                                \
	C(INTEGER, bytes_high, from->estimate.bytes_high)                                                              \
	C(WORD_ALWAYS, counted_by, nt_flow_key_name(from->sort))

#define NT_COLUMNS_flow_total(C)                                                                                       \
	C(INTEGER_ALWAYS, ts, nt_span_begin(from->record))                                                             \
	C(INTEGER_ALWAYS, dur, nt_span_dur(from->record))                                                              \
	C(NON_ZERO, device_id, from->record->as_flow_total.device)                                                     \
	C(WORD_ALWAYS, direction, flow_total_direction(from))                                                          \
	C(INTEGER_ALWAYS, buffers, from->record->as_flow_total.buffers)                                                \
	C(INTEGER_ALWAYS, packets, from->record->as_flow_total.packets)                                                \
	C(INTEGER_ALWAYS, bytes, from->record->as_flow_total.bytes)

#define NT_COLUMNS_sched_wakeup(C)                                                                                     \
	C(INTEGER_ALWAYS, ts, from->record->as_wakeup.end_ns)                                                          \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(INTEGER, utid, from->record->as_wakeup.task)                                                                 \
	C(INTEGER_ALWAYS, target_cpu, from->record->as_wakeup.target_cpu)                                              \
	C(INTEGER, waker_utid, from->record->as_wakeup.waker)                                                          \
	C(INTEGER_ALWAYS, priority, from->record->as_wakeup.priority)                                                  \
	C(WORD_ALWAYS, what, nt_wakeup_name(from->record->as_wakeup.what))                                             \
	C(WORD, context, nt_cpu_context_name(from->record->as_wakeup.context))                                         \
	C(INTEGER_ALWAYS, was_runnable, from->record->as_wakeup.flags &NT_WAKEUP_RUNNABLE)

#define NT_COLUMNS_block_io(C)                                                                                         \
	C(INTEGER_ALWAYS, ts, nt_span_begin(from->record))                                                             \
	C(INTEGER_ALWAYS, dur, nt_span_dur(from->record))                                                              \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(TEXT, device, from->device)                                                                                  \
	C(WORD_ALWAYS, op, nt_io_op_name(from->record->as_block_io.op))                                                \
	C(INTEGER_ALWAYS, bytes, from->record->as_block_io.bytes)                                                      \
	C(INTEGER, queue_ns, io_queue_ns(&from->record->as_block_io))                                                  \
	C(WORD_ALWAYS, payer, nt_io_payer_name(from->record->as_block_io.payer))                                       \
	C(NON_ZERO, utid, from->record->as_block_io.task)                                                              \
	C(NON_ZERO, cgroup_id, from->record->as_block_io.cgroup)                                                       \
	C(TEXT_ALWAYS, result, nt_io_status_name(from->record->as_block_io.status, arena))                             \
	C(WORD_ALWAYS, flags, nt_io_flags_text(from->record->as_block_io.flags))

#define NT_COLUMNS_mem_rss(C)                                                                                          \
	C(INTEGER_ALWAYS, ts, from->record->as_mem_rss.end_ns)                                                         \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(INTEGER, upid, from->record->as_mem_rss.process)                                                             \
	C(WORD_ALWAYS, kind, nt_rss_kind_name(from->record->as_mem_rss.what))                                          \
	C(INTEGER_ALWAYS, bytes, rss_bytes(&from->record->as_mem_rss))                                                 \
	C(WORD_ALWAYS, cause, nt_rss_cause_name(from->record->as_mem_rss.cause))                                       \
	C(INTEGER_ALWAYS, is_external, from->record->as_mem_rss.flags &NT_RSS_EXTERNAL)

#define NT_COLUMNS_page_fault(C)                                                                                       \
	C(INTEGER_ALWAYS, ts, nt_span_begin(from->record))                                                             \
	C(INTEGER_ALWAYS, dur, nt_span_dur(from->record))                                                              \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(INTEGER, utid, from->record->as_page_fault.task)                                                             \
	C(INTEGER_ALWAYS, minor, from->record->as_page_fault.minor)                                                    \
	C(INTEGER_ALWAYS, major, from->record->as_page_fault.major)

#define NT_COLUMNS_kmem(C)                                                                                             \
	C(INTEGER_ALWAYS, ts, from->kmem->end_ns)                                                                      \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, kind, nt_kmem_kind_name(from->kmem->what))                                                      \
	C(WORD, context, nt_cpu_context_name(from->kmem->context))                                                     \
	C(WORD, vec, from->kmem->context == NT_CPU_IN_SOFTIRQ ? nt_vec_name(from->kmem->vec) : NULL)                   \
	C(INTEGER, utid, has_task(from->kmem) ? from->kmem->task : NONE)                                               \
	C(TEXT, location, from->location)                                                                              \
	C(INTEGER_ALWAYS, bytes, from->kmem->bytes)                                                                    \
	C(INTEGER_ALWAYS, weight, from->kmem->weight)                                                                  \
	C(INTEGER_ALWAYS, is_failed, from->kmem->flags &NT_KMEM_FAILED)

#define NT_COLUMNS_stack_sample(C)                                                                                     \
	C(INTEGER_ALWAYS, ts, from->sample->end_ns)                                                                    \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(INTEGER, utid, from->sample->task)                                                                           \
	C(WORD, owner, from->owner < NT_OWNER_COUNT ? nt_owner_name(from->owner) : NULL)                               \
	C(TEXT, stage, from->stage)                                                                                    \
	C(WORD, family, from->family == 4 ? "inet" : from->family == 6 ? "inet6" : NULL)                               \
	C(WORD_ALWAYS, context, nt_stack_context_name(from->sample->context))                                          \
	C(WORD, vec, is_in_softirq(from->sample) ? nt_vec_name(from->sample->vec) : NULL)                              \
	C(INTEGER_ALWAYS, in_user, from->sample->flags &NT_STACK_SAMPLE_USER)                                          \
	C(NON_ZERO, stack_id, from->sample->stack)                                                                     \
	C(NON_ZERO, user_stack_id, from->sample->user_stack)                                                           \
	C(NON_ZERO, error, from->sample->error)                                                                        \
	C(NON_ZERO, user_error, from->sample->user_error)                                                              \
	C(WORD_ALWAYS, flags, nt_stack_flags_text(from->sample->flags))                                                \
	C(NON_ZERO, flow_id, from->flow)                                                                               \
	C(INTEGER, flow_is_exact, from->flow ? from->flow_is_exact : NONE)

#define NT_COLUMNS_stack(C)                                                                                            \
	C(INTEGER_ALWAYS, id, from->stack->stack)                                                                      \
	C(INTEGER_ALWAYS, depth, from->depth)                                                                          \
	C(WORD_ALWAYS, kind, from->stack->flags &NT_STACK_USER ? "user" : "kernel")                                    \
	C(NON_ZERO, parent_id, from->stack->parent)                                                                    \
	C(NON_ZERO, symbol_id, from->stack->symbol)

#define NT_COLUMNS_frame(C)                                                                                            \
	C(INTEGER_ALWAYS, stack_id, from->stack)                                                                       \
	C(INTEGER_ALWAYS, pos, from->pos)                                                                              \
	C(NON_ZERO, symbol_id, from->symbol)

#define NT_COLUMNS_symbol(C)                                                                                           \
	C(INTEGER_ALWAYS, id, from->symbol)                                                                            \
	C(WORD_ALWAYS, kind, from->kernel ? "kernel" : "user")                                                         \
	C(TEXT_ALWAYS, name, symbol_name(from, arena))                                                                 \
	C(INTEGER, offset, symbol_offset(from))                                                                        \
	C(TEXT, module, from->kernel ? CLEAN(from->kernel->module) : NULL)                                             \
	C(TEXT, build_id, from->user ? nt_build_id_text(from->user->build_id, arena) : NULL)                           \
	C(INTEGER, file_offset, has_file(from) ? from->user->place : NONE)                                             \
	C(TEXT, path, from->user ? CLEAN(from->user->path) : NULL)

#define NT_COLUMNS_cpu_slice(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER_ALWAYS, dur, from->dur_ns)                                                                           \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, owner, nt_owner_name(from->owner))                                                              \
	C(INTEGER, utid, from->task)

#define NT_COLUMNS_loss(C)                                                                                             \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER_ALWAYS, dur, from->dur_ns)                                                                           \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, kind, lost_kind_name(from->kind))                                                               \
	C(NON_ZERO, count, from->count)                                                                                \
	C(TEXT_ALWAYS, why, from->why)

/* ---- snapshots ---- */

#define NT_COLUMNS_clock_snapshot(C)                                                                                   \
	C(INTEGER_ALWAYS, ts, from->monotonic_ns)                                                                      \
	C(INTEGER, realtime_ns, from->realtime_ns)                                                                     \
	C(INTEGER, tai_ns, from->tai_ns)                                                                               \
	C(INTEGER, boot_ns, from->boot_ns)                                                                             \
	C(INTEGER, uncertainty_ns, from->uncertainty_ns)

#define NT_COLUMNS_proc_counter(C)                                                                                     \
	C(INTEGER_ALWAYS, ts_begin, from->begin_ns)                                                                    \
	C(INTEGER_ALWAYS, ts_end, from->end_ns)                                                                        \
	C(TEXT_ALWAYS, source, from->source)                                                                           \
	C(INTEGER, cpu, from->cpu >= 0 ? (uint64_t)from->cpu : NONE)                                                   \
	C(TEXT_ALWAYS, name, from->name)                                                                               \
	C(SIGNED_ALWAYS, value, from->value)

#define NT_COLUMNS_self_cost(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, from->end_ns)                                                                            \
	C(TEXT, program, from->source)                                                                                 \
	C(TEXT_ALWAYS, name, from->name)                                                                               \
	C(SIGNED_ALWAYS, value, from->value)

#define NT_COLUMNS_record_count(C)                                                                                     \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, kind, lost_kind_name(from->kind))                                                               \
	C(INTEGER_ALWAYS, records, from->records)                                                                      \
	C(INTEGER_ALWAYS, lost, from->lost)

/* ---- sums, so that the everyday questions need not read every slice ---- */

#define NT_COLUMNS_cpu_cost(C)                                                                                         \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER_ALWAYS, dur, from->dur_ns)                                                                           \
	C(INTEGER_ALWAYS, cpu, from->cpu)                                                                              \
	C(WORD_ALWAYS, owner, nt_owner_name(from->owner))                                                              \
	C(INTEGER, utid, from->task)                                                                                   \
	C(INTEGER_ALWAYS, spent_ns, from->spent_ns)

#define NT_COLUMNS_sock_cost(C)                                                                                        \
	C(INTEGER_ALWAYS, ts, from->ts_ns)                                                                             \
	C(INTEGER_ALWAYS, dur, from->dur_ns)                                                                           \
	C(INTEGER, utid, from->task)                                                                                   \
	C(WORD_ALWAYS, op, nt_dir_name(from->dir))                                                                     \
	C(NON_ZERO, socket_id, from->socket)                                                                           \
	C(INTEGER_ALWAYS, ops, from->ops)                                                                              \
	C(INTEGER_ALWAYS, failed, from->failed)                                                                        \
	C(INTEGER_ALWAYS, untimed, from->untimed)                                                                      \
	C(INTEGER_ALWAYS, lower_bound, from->lower_bound)                                                              \
	C(INTEGER_ALWAYS, bytes, from->bytes)                                                                          \
	C(INTEGER_ALWAYS, cpu_ns, from->cpu_ns)

#define NT_COLUMNS_rx_cost(C)                                                                                          \
	C(INTEGER_ALWAYS, ts, from->cost->ts_ns)                                                                       \
	C(INTEGER_ALWAYS, dur, from->cost->dur_ns)                                                                     \
	C(INTEGER_ALWAYS, cpu, from->cost->cpu)                                                                        \
	C(WORD_ALWAYS, payer, nt_payer_name(from->payer))                                                              \
	C(NON_ZERO, socket_id, from->socket)                                                                           \
	C(INTEGER, upid, from->process)                                                                                \
	C(NON_ZERO, device_id, from->device)                                                                           \
	C(NON_ZERO, flow_id, from->cost->flow)                                                                         \
	C(TEXT, reason,                                                                                                \
	  !from->has_reason   ? NULL                                                                                   \
	  : from->reason_name ? from->reason_name                                                                      \
			      : nt_arena_format(arena, "reason %u", from->reason))                                     \
	C(INTEGER_ALWAYS, packets, from->cost->packets)                                                                \
	C(INTEGER_ALWAYS, segments, from->cost->segments)                                                              \
	C(INTEGER_ALWAYS, bytes, from->cost->bytes)                                                                    \
	C(INTEGER_ALWAYS, spent_ns, from->cost->spent_ns)                                                              \
	C(INTEGER_ALWAYS, exact_ns, from->cost->exact_ns)                                                              \
	C(INTEGER_ALWAYS, most_ns, from->cost->most_ns)

#define NT_COLUMNS_elsewhere_cost(C)                                                                                   \
	C(INTEGER_ALWAYS, ts, from->cost->ts_ns)                                                                       \
	C(INTEGER_ALWAYS, dur, from->cost->dur_ns)                                                                     \
	C(INTEGER_ALWAYS, cpu, from->cost->cpu)                                                                        \
	C(WORD_ALWAYS, what, elsewhere_name(from->cost->what))                                                         \
	C(TEXT_ALWAYS, name, from->name)                                                                               \
	C(TEXT, device, from->device)                                                                                  \
	C(INTEGER, irq, from->cost->what == NT_ELSEWHERE_HARDIRQ ? from->cost->number : NONE)                          \
	C(INTEGER_ALWAYS, spent_ns, from->cost->spent_ns)
