// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables.c - see tables.h. Each table stands here once: its columns, and directly below the function that puts
 * their values in the same order.
 */
#include "report/rows/tables.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "report/rows/words.h"
#include "report/util/utf8.h"
#include "schema/kind.h"

#define INTEGER(name)                                                                                                  \
	{                                                                                                              \
		name, NT_VALUE_INTEGER, false                                                                          \
	}
#define INTEGER_ALWAYS(name)                                                                                           \
	{                                                                                                              \
		name, NT_VALUE_INTEGER, true                                                                           \
	}
#define TEXT(name)                                                                                                     \
	{                                                                                                              \
		name, NT_VALUE_TEXT, false                                                                             \
	}
#define TEXT_ALWAYS(name)                                                                                              \
	{                                                                                                              \
		name, NT_VALUE_TEXT, true                                                                              \
	}
#define SESSION_ID INTEGER_ALWAYS("session_id")

/* ---- putting values ---- */

static void put_null(struct nt_row *row)
{
	row->values[row->n++].type = NT_VALUE_NULL;
}

/* Numbers that SQL cannot hold stand for "none" or come from a damaged tape: NULL both. */
static void put(struct nt_row *row, uint64_t integer)
{
	struct nt_value *value = &row->values[row->n++];

	value->type = integer <= INT64_MAX ? NT_VALUE_INTEGER : NT_VALUE_NULL;
	value->integer = (int64_t)integer;
}

static void put_signed(struct nt_row *row, int64_t integer)
{
	struct nt_value *value = &row->values[row->n++];

	value->type = NT_VALUE_INTEGER;
	value->integer = integer;
}

/* 0 means that there is none. */
static void put_if(struct nt_row *row, uint64_t integer)
{
	put(row, integer ? integer : UINT64_MAX);
}

static void put_text(struct nt_row *row, const char *text)
{
	struct nt_value *value = &row->values[row->n++];

	value->type = text ? NT_VALUE_TEXT : NT_VALUE_NULL;
	value->text = text;
	value->size = text ? (uint32_t)strlen(text) : 0;
}

/* ---- session ---- */

static const struct nt_column session_columns[] = {
	SESSION_ID,
	TEXT_ALWAYS("uuid"),
	TEXT_ALWAYS("host"),
	TEXT("kernel"),
	TEXT("machine"),
	TEXT("os"),
	TEXT("virtual"),
	TEXT_ALWAYS("boot_id"),
	TEXT("tool"),
	TEXT("stop"),
	INTEGER_ALWAYS("start_ts"),
	INTEGER_ALWAYS("end_ts"),
	INTEGER_ALWAYS("dur"),
	INTEGER("start_realtime_ns"),
	INTEGER_ALWAYS("bucket_ns"),
	INTEGER_ALWAYS("cpus"),
	INTEGER("clock_ticks"),
	INTEGER_ALWAYS("bytes"),
	INTEGER_ALWAYS("chunks"),
	INTEGER_ALWAYS("complete"),
	INTEGER_ALWAYS("events"),
	INTEGER_ALWAYS("lost"),
	INTEGER_ALWAYS("outside"),
	INTEGER_ALWAYS("unknown"),
	INTEGER_ALWAYS("undeclared"),
	INTEGER_ALWAYS("clamped"),
	INTEGER_ALWAYS("clamped_max_ns"),
	INTEGER_ALWAYS("malformed"),
	INTEGER_ALWAYS("bad_lines"),
	INTEGER("clock_uncertainty_ns"),
	INTEGER_ALWAYS("clock_steps"),
};

static void session_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_session_info *info = from;

	(void)arena;
	put_text(row, info->uuid);
	put_text(row, info->host);
	put_text(row, info->kernel);
	put_text(row, info->machine);
	put_text(row, info->os);
	put_text(row, info->virtual);
	put_text(row, info->boot_id);
	put_text(row, info->tool);
	put_text(row, info->stop);
	put(row, info->start_ns);
	put(row, info->end_ns);
	put(row, info->end_ns - info->start_ns);
	put_if(row, info->start_realtime_ns);
	put(row, info->bucket_ns);
	put(row, info->cpus);
	put_if(row, info->clock_ticks);
	put(row, info->bytes);
	put(row, info->chunks);
	put(row, info->complete);
	put(row, info->events);
	put(row, info->lost);
	put(row, info->counts.outside);
	put(row, info->unknown);
	put(row, info->counts.undeclared);
	put(row, info->counts.clamped);
	put(row, info->counts.clamped_max_ns);
	put(row, info->counts.malformed);
	put(row, info->bad_lines);
	put(row, info->clock_uncertainty_ns);
	put(row, info->clock_steps);
}

static const struct nt_column session_meta_columns[] = {
	SESSION_ID,
	TEXT_ALWAYS("key"),
	TEXT_ALWAYS("value"),
};

static void session_meta_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_meta_line *line = from;

	(void)arena;
	put_text(row, line->key);
	put_text(row, line->value);
}

static const struct nt_column problem_columns[] = {
	SESSION_ID,
	TEXT_ALWAYS("text"),
};

static void problem_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	(void)arena;
	put_text(row, from);
}

/* ---- who ---- */

static const struct nt_column process_columns[] = {
	SESSION_ID,   INTEGER_ALWAYS("upid"), INTEGER("pid"),	   INTEGER("ppid"),
	TEXT("name"), INTEGER("cgroup_id"),   INTEGER("start_ts"), INTEGER("end_ts"),
};

static void process_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_process_info *info = from;

	(void)arena;
	put(row, info->process);
	put(row, info->has_pid ? info->pid : UINT64_MAX);
	put(row, info->has_pid ? info->parent_pid : UINT64_MAX);
	put_text(row, info->name);
	put_if(row, info->cgroup);
	put_if(row, info->start_ns);
	put_if(row, info->end_ns);
}

static const struct nt_column thread_columns[] = {
	SESSION_ID,   INTEGER_ALWAYS("utid"), INTEGER("tid"),	 INTEGER("upid"),
	TEXT("name"), INTEGER("start_ts"),    INTEGER("end_ts"), INTEGER("is_kernel"),
};

static void thread_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_thread_info *info = from;

	(void)arena;
	put(row, info->task);
	put(row, info->known ? info->tid : UINT64_MAX);
	put(row, info->known && (info->process || !info->task) ? info->process : UINT64_MAX);
	put_text(row, info->known ? info->name : NULL);
	put_if(row, info->known ? info->start_ns : 0);
	put_if(row, info->known ? info->end_ns : 0);
	put(row, info->known ? info->is_kernel : UINT64_MAX);
}

static const struct nt_column cgroup_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("id"),
	TEXT_ALWAYS("path"),
	INTEGER("kernel_id"),
};

static void cgroup_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_cgroup *cgroup = from;

	put(row, cgroup->cgroup);
	put_text(row, nt_arena_clean(arena, cgroup->path, sizeof(cgroup->path)));
	put(row, cgroup->kernel_id);
}

static const struct nt_column socket_columns[] = {
	SESSION_ID,	      INTEGER_ALWAYS("id"), TEXT_ALWAYS("family"), TEXT_ALWAYS("type"),
	TEXT_ALWAYS("proto"), TEXT("src"),	    INTEGER("sport"),	   TEXT("dst"),
	INTEGER("dport"),     INTEGER("netns"),	    INTEGER("cookie"),
};

/* An address of an internet socket as text, with its port; nothing where both are zero: no address yet. */
static void put_address(struct nt_row *row, struct nt_arena *arena, uint8_t family, const uint8_t *address,
			uint16_t port)
{
	static const uint8_t none[16];
	bool is_inet = family == AF_INET || family == AF_INET6;

	if (!is_inet || (!port && !memcmp(address, none, family == AF_INET ? 4 : 16))) {
		put_null(row);
		put_null(row);
		return;
	}
	char *text = nt_arena_get(arena, INET6_ADDRSTRLEN);

	put_text(row, text ? inet_ntop(family, address, text, INET6_ADDRSTRLEN) : NULL);
	put(row, port);
}

static void socket_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_socket *socket = from;

	put(row, socket->socket);
	put_text(row, nt_family_name(socket->family, arena));
	put_text(row, nt_socket_type_name(socket->type, arena));
	put_text(row, nt_protocol_name(socket->family, socket->protocol, arena));
	put_address(row, arena, socket->family, socket->src, socket->src_port);
	put_address(row, arena, socket->family, socket->dst, socket->dst_port);
	put_if(row, socket->netns);
	put_if(row, socket->cookie);
}

static const struct nt_column net_device_columns[] = {
	SESSION_ID, INTEGER_ALWAYS("ifindex"), TEXT("name"), INTEGER("netns"), INTEGER_ALWAYS("id"),
};

static void net_device_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_device *device = from;

	put(row, device->ifindex);
	put_text(row, nt_arena_clean(arena, device->name, sizeof(device->name)));
	put_if(row, device->netns);
	put(row, device->device);
}

/* ---- what happened ---- */

static const struct nt_column sched_slice_columns[] = {
	SESSION_ID,	 INTEGER_ALWAYS("ts"), INTEGER_ALWAYS("dur"), INTEGER_ALWAYS("cpu"),
	INTEGER("utid"), TEXT("end_state"),    INTEGER("priority"),
};

static void sched_slice_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_sched_slice *slice = from;

	(void)arena;
	put(row, slice->ts_ns);
	put(row, slice->dur_ns);
	put(row, slice->cpu);
	put(row, slice->task);
	put_text(row, slice->ended_by_switch ? nt_end_state_name(slice->end_state) : NULL);
	put(row, slice->ended_by_switch ? slice->priority : UINT64_MAX);
}

static const struct nt_column softirq_slice_columns[] = {
	SESSION_ID,	    INTEGER_ALWAYS("ts"),   INTEGER_ALWAYS("dur"), INTEGER_ALWAYS("cpu"),
	TEXT_ALWAYS("vec"), TEXT_ALWAYS("context"), INTEGER("utid"),
};

static void softirq_slice_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_span_row *span = from;

	(void)arena;
	put(row, span->ts_ns);
	put(row, span->dur_ns);
	put(row, span->cpu);
	put_text(row, nt_vec_name(span->detail));
	put_text(row, nt_context_name(span->number));
	put(row, span->task);
}

static const struct nt_column irq_slice_columns[] = {
	SESSION_ID,	     INTEGER_ALWAYS("ts"), INTEGER_ALWAYS("dur"), INTEGER_ALWAYS("cpu"), INTEGER_ALWAYS("irq"),
	TEXT_ALWAYS("name"), TEXT_ALWAYS("type"),  INTEGER("utid"),
};

static void irq_slice_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_irq_info *info = from;
	const struct nt_span_row *span = info->span;

	(void)arena;
	put(row, span->ts_ns);
	put(row, span->dur_ns);
	put(row, span->cpu);
	put(row, span->number);
	put_text(row, info->name);
	put_text(row, span->detail == NT_IRQ_VECTOR ? "vector" : "device");
	put(row, span->task);
}

static const struct nt_column sock_op_columns[] = {
	SESSION_ID,	  INTEGER_ALWAYS("ts"),	 INTEGER("dur"),	 INTEGER("cpu_ns"),
	INTEGER("utid"),  TEXT_ALWAYS("op"),	 TEXT_ALWAYS("syscall"), INTEGER("socket_id"),
	INTEGER("bytes"), TEXT_ALWAYS("result"), TEXT_ALWAYS("flags"),	 INTEGER_ALWAYS("cpu"),
};

static void sock_op_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_op_row *op = from;
	bool ok = op->end == NT_OP_DONE && op->result >= 0;

	put(row, op->ts_ns);
	put(row, op->timed ? op->dur_ns : UINT64_MAX);
	put(row, op->timed ? op->cpu_ns : UINT64_MAX);
	put(row, op->task);
	put_text(row, nt_dir_name(op->dir));
	put_text(row, nt_call_name(op->call));
	put_if(row, op->socket);
	put(row, ok ? (uint64_t)op->result : UINT64_MAX);
	put_text(row, nt_op_result_name(op, arena));
	put_text(row, nt_op_flags_text(op, arena));
	put(row, op->cpu);
}

static const struct nt_column napi_poll_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("ts"),
	INTEGER("dur"),
	INTEGER_ALWAYS("cpu"),
	INTEGER("utid"),
	TEXT_ALWAYS("context"),
	INTEGER("device_id"),
	INTEGER("napi_id"),
	INTEGER_ALWAYS("work"),
	INTEGER_ALWAYS("budget"),
};

static void napi_poll_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_napi_row *poll = from;

	(void)arena;
	put(row, poll->ts_ns);
	put(row, poll->timed ? poll->dur_ns : UINT64_MAX);
	put(row, poll->cpu);
	put(row, poll->task);
	put_text(row, nt_napi_context_name(poll->context));
	put_if(row, poll->device);
	put_if(row, poll->napi_id);
	put(row, poll->work);
	put(row, poll->budget);
}

static const struct nt_column skb_latency_columns[] = {
	SESSION_ID,	      INTEGER_ALWAYS("ts"),	   INTEGER_ALWAYS("cpu"),
	TEXT_ALWAYS("hook"),  INTEGER("latency_ns"),	   INTEGER("stamp_ns"),
	INTEGER("device_id"), INTEGER("socket_id"),	   INTEGER("utid"),
	INTEGER("length"),    INTEGER_ALWAYS("queue_len"), INTEGER_ALWAYS("weight"),
	TEXT_ALWAYS("flags"),
};

static void skb_latency_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_latency_info *info = from;
	const struct nt_latency *sample = info->sample;
	bool is_known = info->late == NT_LATE_KNOWN || info->late == NT_LATE_LEAST;

	(void)arena;
	put(row, sample->end_ns);
	put(row, info->cpu);
	put_text(row, nt_hook_name(sample->hook));
	put(row, is_known ? info->latency_ns : UINT64_MAX);
	put(row, sample->stamp_ns);
	put_if(row, sample->device);
	put_if(row, sample->socket);
	put_if(row, sample->task);
	put_if(row, sample->length);
	put(row, sample->queue_len);
	put(row, sample->weight);
	put_text(row, nt_latency_flags_text(sample->flags, info->late));
}

static const struct nt_column skb_drop_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("ts"),
	INTEGER_ALWAYS("cpu"),
	TEXT_ALWAYS("reason"),
	TEXT_ALWAYS("location"),
	INTEGER("device_id"),
	INTEGER("socket_id"),
	INTEGER_ALWAYS("length"),
	INTEGER("protocol"),
};

static void skb_drop_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_drop_info *info = from;
	const struct nt_drop *drop = info->drop;

	put(row, drop->end_ns);
	put(row, info->cpu);
	put_text(row, info->reason ? info->reason : nt_arena_format(arena, "reason %u", drop->reason));
	put_text(row, info->location ? info->location : "unknown");
	put_if(row, drop->device);
	put_if(row, drop->socket);
	put(row, drop->length);
	put_if(row, drop->protocol);
}

static const struct nt_column tcp_retransmit_columns[] = {
	SESSION_ID,	      INTEGER_ALWAYS("ts"),	INTEGER_ALWAYS("cpu"), TEXT_ALWAYS("what"),
	INTEGER("socket_id"), INTEGER_ALWAYS("length"), TEXT("state"),
};

static void tcp_retransmit_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_retransmit_info *info = from;
	const struct nt_retransmit *retransmit = info->retransmit;

	put(row, retransmit->end_ns);
	put(row, info->cpu);
	put_text(row, nt_retransmit_name(retransmit->what));
	put_if(row, retransmit->socket);
	put(row, retransmit->length);
	put_text(row, nt_tcp_state_name(retransmit->state, arena));
}

static const struct nt_column sched_wakeup_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("ts"),
	INTEGER_ALWAYS("cpu"),
	INTEGER("utid"),
	INTEGER_ALWAYS("target_cpu"),
	INTEGER("waker_utid"),
	INTEGER_ALWAYS("priority"),
	TEXT_ALWAYS("what"),
	TEXT("context"),
	INTEGER_ALWAYS("was_runnable"),
};

static void sched_wakeup_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_wakeup_info *info = from;
	const struct nt_wakeup *wakeup = info->wakeup;

	(void)arena;
	put(row, wakeup->end_ns);
	put(row, info->cpu);
	put(row, wakeup->task);
	put(row, wakeup->target_cpu);
	put(row, wakeup->waker);
	put(row, wakeup->priority);
	put_text(row, nt_wakeup_name(wakeup->what));
	put_text(row, nt_wakeup_context_name(wakeup->context));
	put(row, wakeup->flags & NT_WAKEUP_RUNNABLE);
}

static const struct nt_column stack_sample_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("ts"),
	INTEGER_ALWAYS("cpu"),
	INTEGER("utid"),
	TEXT("owner"),
	TEXT("stage"),
	TEXT("family"),
	TEXT_ALWAYS("context"),
	TEXT("vec"),
	INTEGER_ALWAYS("in_user"),
	INTEGER("stack_id"),
	INTEGER("user_stack_id"),
	INTEGER("error"),
	INTEGER("user_error"),
	TEXT_ALWAYS("flags"),
};

static void stack_sample_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_stack_sample_info *info = from;
	const struct nt_stack_sample *sample = info->sample;
	bool in_softirq = sample->context >= NT_STACK_IN_NET_RX && sample->context <= NT_STACK_IN_SOFTIRQ;

	(void)arena;
	put(row, sample->end_ns);
	put(row, info->cpu);
	put(row, sample->task);
	put_text(row, info->owner < NT_OWNER_COUNT ? nt_owner_name(info->owner) : NULL);
	put_text(row, info->stage);
	put_text(row, info->family == 4 ? "inet" : info->family == 6 ? "inet6" : NULL);
	put_text(row, nt_stack_context_name(sample->context));
	put_text(row, in_softirq ? nt_vec_name(sample->vec) : NULL);
	put(row, sample->flags & NT_STACK_SAMPLE_USER);
	put_if(row, sample->stack);
	put_if(row, sample->user_stack);
	put_if(row, sample->error);
	put_if(row, sample->user_error);
	put_text(row, nt_stack_flags_text(sample->flags));
}

static const struct nt_column stack_columns[] = {
	SESSION_ID,	     INTEGER_ALWAYS("id"), INTEGER_ALWAYS("depth"),
	TEXT_ALWAYS("kind"), INTEGER("parent_id"), INTEGER("symbol_id"),
};

static void stack_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_stack_info *info = from;

	(void)arena;
	put(row, info->stack->stack);
	put(row, info->depth);
	put_text(row, info->stack->flags & NT_STACK_USER ? "user" : "kernel");
	put_if(row, info->stack->parent);
	put_if(row, info->stack->symbol);
}

static const struct nt_column frame_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("stack_id"),
	INTEGER_ALWAYS("pos"),
	INTEGER("symbol_id"),
};

static void frame_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_frame_info *info = from;

	(void)arena;
	put(row, info->stack);
	put(row, info->pos);
	put_if(row, info->symbol);
}

static const struct nt_column symbol_columns[] = {
	SESSION_ID,	INTEGER_ALWAYS("id"), TEXT_ALWAYS("kind"),    TEXT_ALWAYS("name"), INTEGER("offset"),
	TEXT("module"), TEXT("build_id"),     INTEGER("file_offset"), TEXT("path"),
};

static void put_kernel_symbol(struct nt_row *row, struct nt_arena *arena, const struct nt_symbol *symbol)
{
	put_text(row, symbol->name[0] ? nt_arena_clean(arena, symbol->name, sizeof(symbol->name)) : "[unknown]");
	put(row, symbol->name[0] ? symbol->offset : UINT64_MAX);
	put_text(row, symbol->module[0] ? nt_arena_clean(arena, symbol->module, sizeof(symbol->module)) : NULL);
	put_null(row);
	put_null(row);
	put_null(row);
}

/* Where the function is not known, the place says what it is. */
static void put_user_symbol(struct nt_row *row, struct nt_arena *arena, const struct nt_symbol_info *info)
{
	const struct nt_user_symbol *symbol = info->user;
	const char *path = symbol->path[0] ? nt_arena_clean(arena, symbol->path, sizeof(symbol->path)) : NULL;
	bool has_file = !(symbol->flags & NT_USER_SYMBOL_ADDRESS);

	put_text(row, info->function ? nt_arena_clean(arena, info->function, strlen(info->function))
				     : nt_user_place_name(symbol, path, arena));
	put(row, info->function ? info->offset : UINT64_MAX);
	put_null(row);
	put_text(row, nt_build_id_text(symbol->build_id, arena));
	put(row, has_file ? symbol->place : UINT64_MAX);
	put_text(row, path);
}

static void symbol_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_symbol_info *info = from;

	put(row, info->symbol);
	put_text(row, info->kernel ? "kernel" : "user");
	if (info->kernel)
		put_kernel_symbol(row, arena, info->kernel);
	else
		put_user_symbol(row, arena, info);
}

static const struct nt_column cpu_slice_columns[] = {
	SESSION_ID,	      INTEGER_ALWAYS("ts"), INTEGER_ALWAYS("dur"), INTEGER_ALWAYS("cpu"),
	TEXT_ALWAYS("owner"), INTEGER("utid"),
};

static void cpu_slice_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_cpu_slice *slice = from;

	(void)arena;
	put(row, slice->ts_ns);
	put(row, slice->dur_ns);
	put(row, slice->cpu);
	put_text(row, nt_owner_name(slice->owner));
	put(row, slice->task);
}

static const struct nt_column loss_columns[] = {
	SESSION_ID,	     INTEGER_ALWAYS("ts"), INTEGER_ALWAYS("dur"), INTEGER_ALWAYS("cpu"),
	TEXT_ALWAYS("kind"), INTEGER("count"),	   TEXT_ALWAYS("why"),
};

static const char *lost_kind_name(unsigned int number)
{
	const struct nt_kind_info *kind = nt_kind(number);

	if (!number)
		return "all";
	return kind ? kind->name : "unknown";
}

static void loss_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_loss_row *loss = from;

	(void)arena;
	put(row, loss->ts_ns);
	put(row, loss->dur_ns);
	put(row, loss->cpu);
	put_text(row, lost_kind_name(loss->kind));
	put_if(row, loss->count);
	put_text(row, loss->why);
}

/* ---- snapshots ---- */

static const struct nt_column clock_snapshot_columns[] = {
	SESSION_ID,	   INTEGER_ALWAYS("ts"), INTEGER("realtime_ns"),
	INTEGER("tai_ns"), INTEGER("boot_ns"),	 INTEGER("uncertainty_ns"),
};

static void clock_snapshot_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_clock *clock = from;

	(void)arena;
	put(row, clock->monotonic_ns);
	put(row, clock->realtime_ns);
	put(row, clock->tai_ns);
	put(row, clock->boot_ns);
	put(row, clock->uncertainty_ns);
}

static const struct nt_column proc_counter_columns[] = {
	SESSION_ID,	INTEGER_ALWAYS("ts_begin"), INTEGER_ALWAYS("ts_end"), TEXT_ALWAYS("source"),
	INTEGER("cpu"), TEXT_ALWAYS("name"),	    INTEGER_ALWAYS("value"),
};

static void proc_counter_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_counter_info *info = from;

	(void)arena;
	put(row, info->begin_ns);
	put(row, info->end_ns);
	put_text(row, info->source);
	put(row, info->cpu >= 0 ? (uint64_t)info->cpu : UINT64_MAX);
	put_text(row, info->name);
	put_signed(row, info->value);
}

static const struct nt_column self_cost_columns[] = {
	SESSION_ID, INTEGER_ALWAYS("ts"), TEXT("program"), TEXT_ALWAYS("name"), INTEGER_ALWAYS("value"),
};

static void self_cost_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_counter_info *info = from;

	(void)arena;
	put(row, info->end_ns);
	put_text(row, info->source);
	put_text(row, info->name);
	put_signed(row, info->value);
}

static const struct nt_column record_count_columns[] = {
	SESSION_ID, INTEGER_ALWAYS("cpu"), TEXT_ALWAYS("kind"), INTEGER_ALWAYS("records"), INTEGER_ALWAYS("lost"),
};

static void record_count_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_record_count *count = from;

	(void)arena;
	put(row, count->cpu);
	put_text(row, lost_kind_name(count->kind));
	put(row, count->records);
	put(row, count->lost);
}

/* ---- sums, so that the everyday questions need not read every slice ---- */

static const struct nt_column cpu_cost_columns[] = {
	SESSION_ID,	      INTEGER_ALWAYS("ts"), INTEGER_ALWAYS("dur"),	INTEGER_ALWAYS("cpu"),
	TEXT_ALWAYS("owner"), INTEGER("utid"),	    INTEGER_ALWAYS("spent_ns"),
};

static void cpu_cost_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_cpu_cost *cost = from;

	(void)arena;
	put(row, cost->ts_ns);
	put(row, cost->dur_ns);
	put(row, cost->cpu);
	put_text(row, nt_owner_name(cost->owner));
	put(row, cost->task);
	put(row, cost->spent_ns);
}

static const struct nt_column sock_cost_columns[] = {
	SESSION_ID,
	INTEGER_ALWAYS("ts"),
	INTEGER_ALWAYS("dur"),
	INTEGER("utid"),
	TEXT_ALWAYS("op"),
	INTEGER("socket_id"),
	INTEGER_ALWAYS("ops"),
	INTEGER_ALWAYS("failed"),
	INTEGER_ALWAYS("untimed"),
	INTEGER_ALWAYS("lower_bound"),
	INTEGER_ALWAYS("bytes"),
	INTEGER_ALWAYS("cpu_ns"),
};

static void sock_cost_fill(struct nt_row *row, struct nt_arena *arena, const void *from)
{
	const struct nt_sock_cost *cost = from;

	(void)arena;
	put(row, cost->ts_ns);
	put(row, cost->dur_ns);
	put(row, cost->task);
	put_text(row, nt_dir_name(cost->dir));
	put_if(row, cost->socket);
	put(row, cost->ops);
	put(row, cost->failed);
	put(row, cost->untimed);
	put(row, cost->lower_bound);
	put(row, cost->bytes);
	put(row, cost->cpu_ns);
}

/* ---- all of them ---- */

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
