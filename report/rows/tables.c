// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables.c - see tables.h. Each table stands here once, as COLUMNS_<name>(C): a line C(TYPE, "name", value) is a column
 * and the value that a row has there, made of `from`, which has the table's type in NT_TABLES, and `arena`. All tables
 * begin with session_id, which is not listed.
 *
 *   INTEGER  TEXT                 NULL where the number is more than SQL can hold, or the text is NULL
 *   NON_ZERO                      an INTEGER, NULL for 0 too
 *   INTEGER_ALWAYS  TEXT_ALWAYS   never NULL: what would make it so is an error
 *   SIGNED_ALWAYS                 the same, of an int64_t
 */
#include "report/rows/tables.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "report/rows/kernel_names.h"
#include "report/util/utf8.h"
#include "schema/kind.h"

#define NONE UINT64_MAX /* more than SQL can hold: NULL */

/* ---- the recording ---- */

#define COLUMNS_session(C)                                                                                             \
	C(TEXT_ALWAYS, "uuid", from->uuid)                                                                             \
	C(TEXT_ALWAYS, "host", from->host)                                                                             \
	C(TEXT, "kernel", from->kernel)                                                                                \
	C(TEXT, "machine", from->machine)                                                                              \
	C(TEXT, "os", from->os)                                                                                        \
	C(TEXT, "virtual", from->virtual)                                                                              \
	C(TEXT_ALWAYS, "boot_id", from->boot_id)                                                                       \
	C(TEXT, "tool", from->tool)                                                                                    \
	C(TEXT, "stop", from->stop)                                                                                    \
	C(INTEGER_ALWAYS, "start_ts", from->start_ns)                                                                  \
	C(INTEGER_ALWAYS, "end_ts", from->end_ns)                                                                      \
	C(INTEGER_ALWAYS, "dur", from->end_ns - from->start_ns)                                                        \
	C(NON_ZERO, "start_realtime_ns", from->start_realtime_ns)                                                      \
	C(INTEGER_ALWAYS, "bucket_ns", from->bucket_ns)                                                                \
	C(INTEGER_ALWAYS, "cpus", from->cpus)                                                                          \
	C(NON_ZERO, "clock_ticks", from->clock_ticks)                                                                  \
	C(INTEGER_ALWAYS, "bytes", from->bytes)                                                                        \
	C(INTEGER_ALWAYS, "chunks", from->chunks)                                                                      \
	C(INTEGER_ALWAYS, "complete", from->complete)                                                                  \
	C(INTEGER_ALWAYS, "events", from->events)                                                                      \
	C(INTEGER_ALWAYS, "lost", from->lost)                                                                          \
	C(INTEGER_ALWAYS, "outside", from->counts.outside)                                                             \
	C(INTEGER_ALWAYS, "unknown", from->unknown)                                                                    \
	C(INTEGER_ALWAYS, "undeclared", from->counts.undeclared)                                                       \
	C(INTEGER_ALWAYS, "clamped", from->counts.clamped)                                                             \
	C(INTEGER_ALWAYS, "clamped_max_ns", from->counts.clamped_max_ns)                                               \
	C(INTEGER_ALWAYS, "malformed", from->counts.malformed)                                                         \
	C(INTEGER_ALWAYS, "bad_lines", from->bad_lines)                                                                \
	C(INTEGER, "clock_uncertainty_ns", from->clock_uncertainty_ns)                                                 \
	C(INTEGER_ALWAYS, "clock_steps", from->clock_steps)

#define COLUMNS_session_meta(C)                                                                                        \
	C(TEXT_ALWAYS, "key", from->key)                                                                               \
	C(TEXT_ALWAYS, "value", from->value)

#define COLUMNS_problem(C) C(TEXT_ALWAYS, "text", from)

/* ---- who ---- */

#define COLUMNS_process(C)                                                                                             \
	C(INTEGER_ALWAYS, "upid", from->process)                                                                       \
	C(INTEGER, "pid", from->has_pid ? from->pid : NONE)                                                            \
	C(INTEGER, "ppid", from->has_pid ? from->parent_pid : NONE)                                                    \
	C(TEXT, "name", from->name)                                                                                    \
	C(NON_ZERO, "cgroup_id", from->cgroup)                                                                         \
	C(NON_ZERO, "start_ts", from->start_ns)                                                                        \
	C(NON_ZERO, "end_ts", from->end_ns)

#define COLUMNS_thread(C)                                                                                              \
	C(INTEGER_ALWAYS, "utid", from->task)                                                                          \
	C(INTEGER, "tid", from->known ? from->tid : NONE)                                                              \
	C(INTEGER, "upid", from->known && (from->process || !from->task) ? from->process : NONE)                       \
	C(TEXT, "name", from->known ? from->name : NULL)                                                               \
	C(NON_ZERO, "start_ts", from->known ? from->start_ns : 0)                                                      \
	C(NON_ZERO, "end_ts", from->known ? from->end_ns : 0)                                                          \
	C(INTEGER, "is_kernel", from->known ? from->is_kernel : NONE)

#define COLUMNS_cgroup(C)                                                                                              \
	C(INTEGER_ALWAYS, "id", from->cgroup)                                                                          \
	C(TEXT_ALWAYS, "path", nt_arena_clean(arena, from->path, sizeof(from->path)))                                  \
	C(INTEGER, "kernel_id", from->kernel_id)

/* Whether it is an internet socket's, and not all zero: no address yet. */
static bool has_address(uint8_t family, const uint8_t *address, uint16_t port)
{
	static const uint8_t none[16];
	bool is_inet = family == AF_INET || family == AF_INET6;

	return is_inet && (port || memcmp(address, none, family == AF_INET ? 4 : 16) != 0);
}

static const char *address_text(struct nt_arena *arena, uint8_t family, const uint8_t *address, uint16_t port)
{
	char *text = has_address(family, address, port) ? nt_arena_get(arena, INET6_ADDRSTRLEN) : NULL;

	return text ? inet_ntop(family, address, text, INET6_ADDRSTRLEN) : NULL;
}

#define COLUMNS_socket(C)                                                                                              \
	C(INTEGER_ALWAYS, "id", from->socket)                                                                          \
	C(TEXT_ALWAYS, "family", nt_family_name(from->family, arena))                                                  \
	C(TEXT_ALWAYS, "type", nt_socket_type_name(from->type, arena))                                                 \
	C(TEXT_ALWAYS, "proto", nt_protocol_name(from->family, from->protocol, arena))                                 \
	C(TEXT, "src", address_text(arena, from->family, from->src, from->src_port))                                   \
	C(INTEGER, "sport", has_address(from->family, from->src, from->src_port) ? from->src_port : NONE)              \
	C(TEXT, "dst", address_text(arena, from->family, from->dst, from->dst_port))                                   \
	C(INTEGER, "dport", has_address(from->family, from->dst, from->dst_port) ? from->dst_port : NONE)              \
	C(NON_ZERO, "netns", from->netns)                                                                              \
	C(NON_ZERO, "cookie", from->cookie)

#define COLUMNS_net_device(C)                                                                                          \
	C(INTEGER_ALWAYS, "ifindex", from->ifindex)                                                                    \
	C(TEXT, "name", nt_arena_clean(arena, from->name, sizeof(from->name)))                                         \
	C(NON_ZERO, "netns", from->netns)                                                                              \
	C(INTEGER_ALWAYS, "id", from->device)

/* ---- what happened ---- */

#define COLUMNS_sched_slice(C)                                                                                         \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER_ALWAYS, "dur", from->dur_ns)                                                                         \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(INTEGER, "utid", from->task)                                                                                 \
	C(TEXT, "end_state", from->ended_by_switch ? nt_end_state_name(from->end_state) : NULL)                        \
	C(INTEGER, "priority", from->ended_by_switch ? from->priority : NONE)

#define COLUMNS_softirq_slice(C)                                                                                       \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER_ALWAYS, "dur", from->dur_ns)                                                                         \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "vec", nt_vec_name(from->detail))                                                               \
	C(TEXT_ALWAYS, "context", nt_context_name(from->number))                                                       \
	C(INTEGER, "utid", from->task)

#define COLUMNS_irq_slice(C)                                                                                           \
	C(INTEGER_ALWAYS, "ts", from->span->ts_ns)                                                                     \
	C(INTEGER_ALWAYS, "dur", from->span->dur_ns)                                                                   \
	C(INTEGER_ALWAYS, "cpu", from->span->cpu)                                                                      \
	C(INTEGER_ALWAYS, "irq", from->span->number)                                                                   \
	C(TEXT_ALWAYS, "name", from->name)                                                                             \
	C(TEXT_ALWAYS, "type", from->span->detail == NT_IRQ_VECTOR ? "vector" : "device")                              \
	C(INTEGER, "utid", from->span->task)

static uint64_t moved_bytes(const struct nt_op_row *op)
{
	return op->end == NT_OP_DONE && op->result >= 0 ? (uint64_t)op->result : NONE;
}

#define COLUMNS_sock_op(C)                                                                                             \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER, "dur", from->timed ? from->dur_ns : NONE)                                                           \
	C(INTEGER, "cpu_ns", from->timed ? from->cpu_ns : NONE)                                                        \
	C(INTEGER, "utid", from->task)                                                                                 \
	C(TEXT_ALWAYS, "op", nt_dir_name(from->dir))                                                                   \
	C(TEXT_ALWAYS, "syscall", nt_call_name(from->call))                                                            \
	C(NON_ZERO, "socket_id", from->socket)                                                                         \
	C(INTEGER, "bytes", moved_bytes(from))                                                                         \
	C(TEXT_ALWAYS, "result", nt_op_result_name(from, arena))                                                       \
	C(TEXT_ALWAYS, "flags", nt_op_flags_text(from, arena))                                                         \
	C(INTEGER_ALWAYS, "cpu", from->cpu)

#define COLUMNS_napi_poll(C)                                                                                           \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER, "dur", from->timed ? from->dur_ns : NONE)                                                           \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(INTEGER, "utid", from->task)                                                                                 \
	C(TEXT_ALWAYS, "context", nt_napi_context_name(from->context))                                                 \
	C(NON_ZERO, "device_id", from->device)                                                                         \
	C(NON_ZERO, "napi_id", from->napi_id)                                                                          \
	C(INTEGER_ALWAYS, "work", from->work)                                                                          \
	C(INTEGER_ALWAYS, "budget", from->budget)

static bool is_late_known(const struct nt_latency_info *info)
{
	return info->late == NT_LATE_KNOWN || info->late == NT_LATE_LEAST;
}

#define COLUMNS_skb_latency(C)                                                                                         \
	C(INTEGER_ALWAYS, "ts", from->sample->end_ns)                                                                  \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "hook", nt_hook_name(from->sample->hook))                                                       \
	C(INTEGER, "latency_ns", is_late_known(from) ? from->latency_ns : NONE)                                        \
	C(INTEGER, "stamp_ns", from->sample->stamp_ns)                                                                 \
	C(NON_ZERO, "device_id", from->sample->device)                                                                 \
	C(NON_ZERO, "socket_id", from->sample->socket)                                                                 \
	C(NON_ZERO, "utid", from->sample->task)                                                                        \
	C(NON_ZERO, "length", from->sample->length)                                                                    \
	C(INTEGER_ALWAYS, "queue_len", from->sample->queue_len)                                                        \
	C(INTEGER_ALWAYS, "weight", from->sample->weight)                                                              \
	C(TEXT_ALWAYS, "flags", nt_latency_flags_text(from->sample->flags, from->late))

#define COLUMNS_skb_drop(C)                                                                                            \
	C(INTEGER_ALWAYS, "ts", from->drop->end_ns)                                                                    \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "reason",                                                                                       \
	  from->reason ? from->reason : nt_arena_format(arena, "reason %u", from->drop->reason))                       \
	C(TEXT_ALWAYS, "location", from->location ? from->location : "unknown")                                        \
	C(NON_ZERO, "device_id", from->drop->device)                                                                   \
	C(NON_ZERO, "socket_id", from->drop->socket)                                                                   \
	C(INTEGER_ALWAYS, "length", from->drop->length)                                                                \
	C(NON_ZERO, "protocol", from->drop->protocol)

#define COLUMNS_tcp_retransmit(C)                                                                                      \
	C(INTEGER_ALWAYS, "ts", from->retransmit->end_ns)                                                              \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "what", nt_retransmit_name(from->retransmit->what))                                             \
	C(NON_ZERO, "socket_id", from->retransmit->socket)                                                             \
	C(INTEGER_ALWAYS, "length", from->retransmit->length)                                                          \
	C(TEXT, "state", nt_tcp_state_name(from->retransmit->state, arena))

#define COLUMNS_sched_wakeup(C)                                                                                        \
	C(INTEGER_ALWAYS, "ts", from->wakeup->end_ns)                                                                  \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(INTEGER, "utid", from->wakeup->task)                                                                         \
	C(INTEGER_ALWAYS, "target_cpu", from->wakeup->target_cpu)                                                      \
	C(INTEGER, "waker_utid", from->wakeup->waker)                                                                  \
	C(INTEGER_ALWAYS, "priority", from->wakeup->priority)                                                          \
	C(TEXT_ALWAYS, "what", nt_wakeup_name(from->wakeup->what))                                                     \
	C(TEXT, "context", nt_wakeup_context_name(from->wakeup->context))                                              \
	C(INTEGER_ALWAYS, "was_runnable", from->wakeup->flags &NT_WAKEUP_RUNNABLE)

static bool is_in_softirq(const struct nt_stack_sample *sample)
{
	return sample->context >= NT_STACK_IN_NET_RX && sample->context <= NT_STACK_IN_SOFTIRQ;
}

#define COLUMNS_stack_sample(C)                                                                                        \
	C(INTEGER_ALWAYS, "ts", from->sample->end_ns)                                                                  \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(INTEGER, "utid", from->sample->task)                                                                         \
	C(TEXT, "owner", from->owner < NT_OWNER_COUNT ? nt_owner_name(from->owner) : NULL)                             \
	C(TEXT, "stage", from->stage)                                                                                  \
	C(TEXT, "family", from->family == 4 ? "inet" : from->family == 6 ? "inet6" : NULL)                             \
	C(TEXT_ALWAYS, "context", nt_stack_context_name(from->sample->context))                                        \
	C(TEXT, "vec", is_in_softirq(from->sample) ? nt_vec_name(from->sample->vec) : NULL)                            \
	C(INTEGER_ALWAYS, "in_user", from->sample->flags &NT_STACK_SAMPLE_USER)                                        \
	C(NON_ZERO, "stack_id", from->sample->stack)                                                                   \
	C(NON_ZERO, "user_stack_id", from->sample->user_stack)                                                         \
	C(NON_ZERO, "error", from->sample->error)                                                                      \
	C(NON_ZERO, "user_error", from->sample->user_error)                                                            \
	C(TEXT_ALWAYS, "flags", nt_stack_flags_text(from->sample->flags))

#define COLUMNS_stack(C)                                                                                               \
	C(INTEGER_ALWAYS, "id", from->stack->stack)                                                                    \
	C(INTEGER_ALWAYS, "depth", from->depth)                                                                        \
	C(TEXT_ALWAYS, "kind", from->stack->flags &NT_STACK_USER ? "user" : "kernel")                                  \
	C(NON_ZERO, "parent_id", from->stack->parent)                                                                  \
	C(NON_ZERO, "symbol_id", from->stack->symbol)

#define COLUMNS_frame(C)                                                                                               \
	C(INTEGER_ALWAYS, "stack_id", from->stack)                                                                     \
	C(INTEGER_ALWAYS, "pos", from->pos)                                                                            \
	C(NON_ZERO, "symbol_id", from->symbol)

/* Text of a record, cleaned; NULL for "". */
#define CLEAN(text) ((text)[0] ? nt_arena_clean(arena, text, sizeof(text)) : NULL)

/* A user's function that is not known goes by its place. */
static const char *symbol_name(const struct nt_symbol_info *info, struct nt_arena *arena)
{
	if (info->kernel)
		return info->kernel->name[0] ? CLEAN(info->kernel->name) : "[unknown]";
	if (info->function)
		return nt_arena_clean(arena, info->function, strlen(info->function));
	return nt_user_place_name(info->user, CLEAN(info->user->path), arena);
}

static uint64_t symbol_offset(const struct nt_symbol_info *info)
{
	if (info->kernel)
		return info->kernel->name[0] ? info->kernel->offset : NONE;
	return info->function ? info->offset : NONE;
}

static bool has_file(const struct nt_symbol_info *info)
{
	return info->user && !(info->user->flags & NT_USER_SYMBOL_ADDRESS);
}

#define COLUMNS_symbol(C)                                                                                              \
	C(INTEGER_ALWAYS, "id", from->symbol)                                                                          \
	C(TEXT_ALWAYS, "kind", from->kernel ? "kernel" : "user")                                                       \
	C(TEXT_ALWAYS, "name", symbol_name(from, arena))                                                               \
	C(INTEGER, "offset", symbol_offset(from))                                                                      \
	C(TEXT, "module", from->kernel ? CLEAN(from->kernel->module) : NULL)                                           \
	C(TEXT, "build_id", from->user ? nt_build_id_text(from->user->build_id, arena) : NULL)                         \
	C(INTEGER, "file_offset", has_file(from) ? from->user->place : NONE)                                           \
	C(TEXT, "path", from->user ? CLEAN(from->user->path) : NULL)

#define COLUMNS_cpu_slice(C)                                                                                           \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER_ALWAYS, "dur", from->dur_ns)                                                                         \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "owner", nt_owner_name(from->owner))                                                            \
	C(INTEGER, "utid", from->task)

static const char *lost_kind_name(unsigned int number)
{
	const struct nt_kind_info *kind = nt_kind(number);

	if (!number)
		return "all";
	return kind ? kind->name : "unknown";
}

#define COLUMNS_loss(C)                                                                                                \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER_ALWAYS, "dur", from->dur_ns)                                                                         \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "kind", lost_kind_name(from->kind))                                                             \
	C(NON_ZERO, "count", from->count)                                                                              \
	C(TEXT_ALWAYS, "why", from->why)

/* ---- snapshots ---- */

#define COLUMNS_clock_snapshot(C)                                                                                      \
	C(INTEGER_ALWAYS, "ts", from->monotonic_ns)                                                                    \
	C(INTEGER, "realtime_ns", from->realtime_ns)                                                                   \
	C(INTEGER, "tai_ns", from->tai_ns)                                                                             \
	C(INTEGER, "boot_ns", from->boot_ns)                                                                           \
	C(INTEGER, "uncertainty_ns", from->uncertainty_ns)

#define COLUMNS_proc_counter(C)                                                                                        \
	C(INTEGER_ALWAYS, "ts_begin", from->begin_ns)                                                                  \
	C(INTEGER_ALWAYS, "ts_end", from->end_ns)                                                                      \
	C(TEXT_ALWAYS, "source", from->source)                                                                         \
	C(INTEGER, "cpu", from->cpu >= 0 ? (uint64_t)from->cpu : NONE)                                                 \
	C(TEXT_ALWAYS, "name", from->name)                                                                             \
	C(SIGNED_ALWAYS, "value", from->value)

#define COLUMNS_self_cost(C)                                                                                           \
	C(INTEGER_ALWAYS, "ts", from->end_ns)                                                                          \
	C(TEXT, "program", from->source)                                                                               \
	C(TEXT_ALWAYS, "name", from->name)                                                                             \
	C(SIGNED_ALWAYS, "value", from->value)

#define COLUMNS_record_count(C)                                                                                        \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "kind", lost_kind_name(from->kind))                                                             \
	C(INTEGER_ALWAYS, "records", from->records)                                                                    \
	C(INTEGER_ALWAYS, "lost", from->lost)

/* ---- sums, so that the everyday questions need not read every slice ---- */

#define COLUMNS_cpu_cost(C)                                                                                            \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER_ALWAYS, "dur", from->dur_ns)                                                                         \
	C(INTEGER_ALWAYS, "cpu", from->cpu)                                                                            \
	C(TEXT_ALWAYS, "owner", nt_owner_name(from->owner))                                                            \
	C(INTEGER, "utid", from->task)                                                                                 \
	C(INTEGER_ALWAYS, "spent_ns", from->spent_ns)

#define COLUMNS_sock_cost(C)                                                                                           \
	C(INTEGER_ALWAYS, "ts", from->ts_ns)                                                                           \
	C(INTEGER_ALWAYS, "dur", from->dur_ns)                                                                         \
	C(INTEGER, "utid", from->task)                                                                                 \
	C(TEXT_ALWAYS, "op", nt_dir_name(from->dir))                                                                   \
	C(NON_ZERO, "socket_id", from->socket)                                                                         \
	C(INTEGER_ALWAYS, "ops", from->ops)                                                                            \
	C(INTEGER_ALWAYS, "failed", from->failed)                                                                      \
	C(INTEGER_ALWAYS, "untimed", from->untimed)                                                                    \
	C(INTEGER_ALWAYS, "lower_bound", from->lower_bound)                                                            \
	C(INTEGER_ALWAYS, "bytes", from->bytes)                                                                        \
	C(INTEGER_ALWAYS, "cpu_ns", from->cpu_ns)

/* ---- all of them ---- */

/* Numbers that SQL cannot hold stand for "none" or come from a damaged tape: NULL both. */
static void put_integer(struct nt_row *row, uint64_t integer)
{
	struct nt_value *value = &row->values[row->n++];

	value->type = integer <= INT64_MAX ? NT_VALUE_INTEGER : NT_VALUE_NULL;
	value->integer = (int64_t)integer;
}

static void put_non_zero(struct nt_row *row, uint64_t integer)
{
	put_integer(row, integer ? integer : NONE);
}

static void put_signed(struct nt_row *row, int64_t integer)
{
	struct nt_value *value = &row->values[row->n++];

	value->type = NT_VALUE_INTEGER;
	value->integer = integer;
}

static void put_text(struct nt_row *row, const char *text)
{
	struct nt_value *value = &row->values[row->n++];

	value->type = text ? NT_VALUE_TEXT : NT_VALUE_NULL;
	value->text = text;
	value->size = text ? (uint32_t)strlen(text) : 0;
}

#define COLUMN_INTEGER(name) {name, NT_VALUE_INTEGER, false},
#define COLUMN_INTEGER_ALWAYS(name) {name, NT_VALUE_INTEGER, true},
#define COLUMN_NON_ZERO COLUMN_INTEGER
#define COLUMN_SIGNED_ALWAYS COLUMN_INTEGER_ALWAYS
#define COLUMN_TEXT(name) {name, NT_VALUE_TEXT, false},
#define COLUMN_TEXT_ALWAYS(name) {name, NT_VALUE_TEXT, true},
#define COLUMN(type, name, value) COLUMN_##type(name)

#define PUT_INTEGER put_integer
#define PUT_INTEGER_ALWAYS put_integer
#define PUT_NON_ZERO put_non_zero
#define PUT_SIGNED_ALWAYS put_signed
#define PUT_TEXT put_text
#define PUT_TEXT_ALWAYS put_text
#define PUT(type, name, value) PUT_##type(row, value);

#define X(constant, table, type, key)                                                                                  \
	static const struct nt_column table##_columns[] = {COLUMN_INTEGER_ALWAYS("session_id")                         \
								   COLUMNS_##table(COLUMN)};                           \
	_Static_assert(sizeof(table##_columns) <= NT_MAX_COLUMNS * sizeof(struct nt_column), "columns of " #table);    \
	static void table##_fill(struct nt_row *row, struct nt_arena *arena, const void *data)                         \
	{                                                                                                              \
		const type *from = data;                                                                               \
                                                                                                                       \
		(void)arena;                                                                                           \
		COLUMNS_##table(PUT)                                                                                   \
	}
NT_TABLES(X)
#undef X

static const struct nt_table tables[NT_TABLE_COUNT] = {
#define X(constant, table, type, key)                                                                                  \
	[NT_TABLE_##constant] = {#table, key, table##_columns, sizeof(table##_columns) / sizeof(table##_columns[0]),   \
				 table##_fill},
	NT_TABLES(X)
#undef X
};

const struct nt_table *nt_table(enum nt_table_id id)
{
	return &tables[id];
}

int nt_table_fill(struct nt_row *row, struct nt_arena *arena, enum nt_table_id id, int64_t session_id, const void *from)
{
	const struct nt_table *table = &tables[id];

	row->table = id;
	row->n = 0;
	put_signed(row, session_id);
	table->fill(row, arena, from);
	for (uint32_t i = 0; i < row->n; i++) {
		if (table->columns[i].required && row->values[i].type == NT_VALUE_NULL)
			return arena->failed ? -ENOMEM : -EBADMSG;
	}
	return arena->failed ? -ENOMEM : 0;
}
