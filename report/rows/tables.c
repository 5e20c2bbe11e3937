// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables.c - see tables.h: the tables that columns.h lists, and the functions that their values are made with.
 */
#include "report/rows/tables.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "report/rows/kernel_names.h"
#include "report/util/array.h"
#include "report/util/utf8.h"
#include "schema/kind.h"
#include "schema/span.h"

#define NONE UINT64_MAX /* more than SQL can hold: NULL */

/* ---- values ---- */

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

/* Of a flow each address is one, also 0.0.0.0. */
static const char *flow_address(struct nt_arena *arena, uint8_t family, const uint8_t *address)
{
	char *text = family == AF_INET || family == AF_INET6 ? nt_arena_get(arena, INET6_ADDRSTRLEN) : NULL;

	return text ? inet_ntop(family, address, text, INET6_ADDRSTRLEN) : NULL;
}

static const char *flow_sender(struct nt_arena *arena, const struct nt_flow *flow)
{
	if (flow->flags & NT_FLOW_MANY || nt_flow_sort_of(flow) == NT_FLOW_KEY_DST)
		return NULL;
	return flow_address(arena, flow->family, flow->src);
}

static const char *flow_receiver(struct nt_arena *arena, const struct nt_flow *flow)
{
	return nt_flow_sort_of(flow) == NT_FLOW_KEY_SRC ? NULL : flow_address(arena, flow->family, flow->dst);
}

/* All flows of a port have a protocol, if not a family, unless they are not of IP. */
static const char *flow_protocol(struct nt_arena *arena, const struct nt_flow *flow)
{
	switch (nt_flow_sort_of(flow)) {
	case NT_FLOW_KEY_FLOW:
		return flow->family ? nt_protocol_name(flow->family, flow->protocol, arena) : NULL;
	case NT_FLOW_KEY_PORT:
		return flow->ethertype ? NULL : nt_protocol_name(AF_INET, flow->protocol, arena);
	default:
		return NULL;
	}
}

static uint64_t has_flag(const struct nt_cpu_record *stretch, uint8_t flag)
{
	return stretch->record->as_rx_stretch.flags & flag ? 1 : 0;
}

static const char *flow_total_direction(const struct nt_cpu_record *total)
{
	return nt_dir_name(total->record->as_flow_total.flags & NT_FLOW_TOTAL_SENT ? NT_SEND : NT_RECV);
}

static uint64_t timer_own_ns(const struct nt_net_timer *timer)
{
	return timer->flags & NT_NET_TIMER_PREEMPTED ? NONE : timer->own_ns;
}

static uint64_t io_queue_ns(const struct nt_block_io *io)
{
	return io->flags & NT_IO_UNQUEUED ? NONE : io->queue_ns;
}

/* In a softirq or an interrupt it is the task's that was interrupted. */
static bool has_task(const struct nt_kmem *kmem)
{
	return kmem->context == NT_CPU_IN_TASK || kmem->context == NT_CPU_UNKNOWN;
}

/* No machine has more than 2^52 bytes. */
static uint64_t rss_bytes(const struct nt_mem_rss *rss)
{
	return rss->kib >> 42 ? NONE : rss->kib << 10;
}

static const char *elsewhere_name(enum nt_elsewhere what)
{
	static const char *const names[] = {
#define X(constant, name) [NT_ELSEWHERE_##constant] = #name,
		NT_ELSEWHERES(X)
#undef X
	};

	return names[what];
}

static uint64_t moved_bytes(const struct nt_op_row *op)
{
	return op->end == NT_OP_DONE && op->result >= 0 ? (uint64_t)op->result : NONE;
}

static bool is_late_known(const struct nt_latency_info *info)
{
	return info->late == NT_LATE_KNOWN || info->late == NT_LATE_LEAST;
}

static bool is_in_softirq(const struct nt_stack_sample *sample)
{
	return sample->context >= NT_STACK_IN_NET_RX && sample->context <= NT_STACK_IN_SOFTIRQ;
}

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

static const char *lost_kind_name(unsigned int number)
{
	const struct nt_kind_info *kind = nt_kind(number);

	if (!number)
		return "all";
	return kind ? kind->name : "unknown";
}

/* ---- rows ---- */

/* Each says whether there is a value. Numbers that SQL cannot hold stand for "none" or come from a damaged tape: NULL
 * both. */
static inline bool put_integer(struct nt_value *value, uint64_t integer)
{
	const bool is_there = integer <= INT64_MAX;

	value->type = is_there ? NT_VALUE_INTEGER : NT_VALUE_NULL;
	value->integer = (int64_t)integer;
	return is_there;
}

static inline bool put_non_zero(struct nt_value *value, uint64_t integer)
{
	return put_integer(value, integer ? integer : NONE);
}

static inline bool put_signed(struct nt_value *value, int64_t integer)
{
	value->type = NT_VALUE_INTEGER;
	value->integer = integer;
	return true;
}

static inline bool put_text(struct nt_value *value, const char *text)
{
	value->type = text ? NT_VALUE_TEXT : NT_VALUE_NULL;
	value->is_word = false;
	value->text = text;
	return text;
}

static inline bool put_word(struct nt_value *value, const char *text)
{
	const bool is_there = put_text(value, text);

	value->is_word = true;
	return is_there;
}

#define COLUMN_INTEGER(name) {#name, NT_VALUE_INTEGER, false},
#define COLUMN_INTEGER_ALWAYS(name) {#name, NT_VALUE_INTEGER, true},
#define COLUMN_NON_ZERO COLUMN_INTEGER
#define COLUMN_SIGNED_ALWAYS COLUMN_INTEGER_ALWAYS
#define COLUMN_TEXT(name) {#name, NT_VALUE_TEXT, false},
#define COLUMN_TEXT_ALWAYS(name) {#name, NT_VALUE_TEXT, true},
#define COLUMN_WORD COLUMN_TEXT
#define COLUMN_WORD_ALWAYS COLUMN_TEXT_ALWAYS
#define COLUMN(type, name, value) COLUMN_##type(name)

#define FITS_INTEGER(value)
#define FITS_INTEGER_ALWAYS(value) &&(uint64_t)(value) <= INT64_MAX
#define FITS_NON_ZERO FITS_INTEGER
#define FITS_SIGNED_ALWAYS FITS_INTEGER
#define FITS_TEXT FITS_INTEGER
#define FITS_TEXT_ALWAYS FITS_INTEGER
#define FITS_WORD FITS_INTEGER
#define FITS_WORD_ALWAYS FITS_INTEGER
#define FITS(type, name, value) FITS_##type(value)

#define PUT_INTEGER(value, from) put_integer(value, from)
#define PUT_INTEGER_ALWAYS(value, from) is_whole &= put_integer(value, from)
#define PUT_NON_ZERO(value, from) put_non_zero(value, from)
#define PUT_SIGNED_ALWAYS(value, from) is_whole &= put_signed(value, from)
#define PUT_TEXT(value, from) put_text(value, from)
#define PUT_TEXT_ALWAYS(value, from) is_whole &= put_text(value, from)
#define PUT_WORD(value, from) put_word(value, from)
#define PUT_WORD_ALWAYS(value, from) is_whole &= put_word(value, from)
#define PUT(type, name, from) PUT_##type(value++, from);

/* The result of nt_table_fill for a row: a text may have had no room, or a value that must be there may be missing. */
static inline int fill_error(const struct nt_arena *arena, bool is_whole)
{
	if (arena->failed)
		return -ENOMEM;
	return is_whole ? 0 : -EBADMSG;
}

#define X(constant, table, type, key, source, kept, what)                                                              \
	static const struct nt_column table##_columns[] = {COLUMN_INTEGER_ALWAYS(session_id)                           \
								   NT_COLUMNS_##table(COLUMN)};                        \
	_Static_assert(sizeof(table##_columns) <= NT_MAX_COLUMNS * sizeof(struct nt_column), "columns of " #table);    \
	static int table##_fill(struct nt_row *row, struct nt_arena *arena, int64_t session_id, const void *data)      \
	{                                                                                                              \
		struct nt_value *value = row->values;                                                                  \
		const type *from = data;                                                                               \
		bool is_whole = true;                                                                                  \
                                                                                                                       \
		row->n = sizeof(table##_columns) / sizeof(table##_columns[0]);                                         \
		put_signed(value++, session_id);                                                                       \
		NT_COLUMNS_##table(PUT) return fill_error(arena, is_whole);                                            \
	}                                                                                                              \
	static bool table##_fits(const void *data)                                                                     \
	{                                                                                                              \
		const type *from = data;                                                                               \
                                                                                                                       \
		(void)from;                                                                                            \
		return true NT_COLUMNS_##table(FITS);                                                                  \
	}
NT_TABLES(X)
#undef X

static const struct nt_table tables[NT_TABLE_COUNT] = {
#define X(constant, table, type, key_, source_, kept_, what_)                                                          \
	[NT_TABLE_##constant] = {.name = #table,                                                                       \
				 .key = key_,                                                                          \
				 .source = NT_SOURCE_##source_,                                                        \
				 .kept = NT_KEPT_##kept_,                                                              \
				 .what = what_,                                                                        \
				 .columns = table##_columns,                                                           \
				 .n_columns = sizeof(table##_columns) / sizeof(table##_columns[0]),                    \
				 .fill = table##_fill,                                                                 \
				 .fits = table##_fits},
	NT_TABLES(X)
#undef X
};

const struct nt_table *nt_table(enum nt_table_id id)
{
	return &tables[id];
}

enum nt_table_id nt_table_named(const char *name)
{
	return (enum nt_table_id)NT_FIRST(NT_TABLE_COUNT, i, !strcasecmp(tables[i].name, name));
}

int nt_table_fill(struct nt_row *row, struct nt_arena *arena, enum nt_table_id id, int64_t session_id, const void *from)
{
	row->table = id;
	return tables[id].fill(row, arena, session_id, from);
}

struct nt_value *nt_row_value(const struct nt_row *row, const char *column)
{
	const struct nt_table *table = &tables[row->table];
	const size_t at = NT_FIRST(row->n, i, !strcmp(table->columns[i].name, column));

	return at < row->n ? (struct nt_value *)&row->values[at] : NULL;
}

int nt_values_own(struct nt_value *values, uint32_t n, struct nt_arena *arena)
{
	for (uint32_t i = 0; i < n; i++) {
		size_t size;
		char *copy;

		if (values[i].type != NT_VALUE_TEXT || values[i].is_word)
			continue;
		size = strlen(values[i].text) + 1;
		copy = nt_arena_get(arena, size);
		if (!copy)
			return -ENOMEM;
		values[i].text = memcpy(copy, values[i].text, size);
	}
	return 0;
}
