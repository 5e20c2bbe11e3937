/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.h - the tables of columns.h as data, and how a thing becomes a row of one. Knows no SQLite, so that other
 * servers of the same rows can be made of it. No I/O, no globals but constants.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/rows/cgroup_names.h"
#include "report/rows/columns.h"
#include "report/rows/flow_estimates.h"
#include "report/rows/rollup.h"
#include "report/rows/rx_payers.h"
#include "report/tape/clock.h"
#include "report/timeline/timeline.h"
#include "report/util/arena.h"
#include "schema/block.h"

enum nt_table_id {
#define X(constant, name, type, key, source, kept, what) NT_TABLE_##constant,
	NT_TABLES(X)
#undef X
		NT_TABLE_COUNT
};

enum nt_table_source {
#define X(constant, blocks) NT_SOURCE_##constant,
	NT_SOURCES(X)
#undef X
		NT_SOURCE_COUNT
};

/* NT_SOURCE_OF_SESSION, ...: for asserts. */
enum {
#define X(constant, name, type, key, source, kept, what) NT_SOURCE_OF_##constant = NT_SOURCE_##source,
	NT_TABLES(X)
#undef X
};

/* In databases of a part; bits. */
enum nt_kept { NT_KEPT_BY_NAME = 0, NT_KEPT_WITHOUT_SUMS = 1, NT_KEPT_WITH_SUMS = 2, NT_KEPT_ALWAYS = 1 | 2 };

#define NT_MAX_COLUMNS 32

enum nt_value_type { NT_VALUE_NULL, NT_VALUE_INTEGER, NT_VALUE_TEXT };

struct nt_value {
	enum nt_value_type type;
	bool is_word; /* a text that is a constant: nobody need copy it */
	union {
		int64_t integer;
		const char *text; /* zero-terminated UTF-8 without zero bytes inside */
	};
};

struct nt_row {
	enum nt_table_id table;
	uint32_t n; /* values; as many as the table has columns */
	struct nt_value values[NT_MAX_COLUMNS];
};

struct nt_column {
	const char *name;
	enum nt_value_type type; /* of a value that is not NULL */
	bool required; /* never NULL */
};

struct nt_table {
	const char *name;
	const char *key; /* the column that is the key beside session_id; "": session_id alone; NULL: none */
	enum nt_table_source source;
	enum nt_kept kept;
	const char *what; /* a row is: for documents */
	const struct nt_column *columns; /* the first is session_id in all tables */
	uint32_t n_columns;
	/* As nt_table_fill, but for row->table. */
	int (*fill)(struct nt_row *row, struct nt_arena *arena, int64_t session_id, const void *from);
	/* Whether SQL can hold the numbers that the row must have: if not, it has no place in the table. */
	bool (*fits)(const void *from);
};

/*
 * The place of a column in the rows of its table, a constant: NT_COLUMN(cpu_slice, ts); the bit of it in a set of
 * columns; and its value in a row.
 */
#define MEMBER(type, name, value) char name;
#define X(constant, table, type, key, source, kept, what)                                                              \
	struct nt_columns_of_##table {                                                                                 \
		char session_id;                                                                                       \
		NT_COLUMNS_##table(MEMBER)                                                                             \
	};
NT_TABLES(X)
#undef X
#undef MEMBER
#define NT_COLUMN(table, name) offsetof(struct nt_columns_of_##table, name)
#define NT_COLUMN_BIT(table, name) (1u << NT_COLUMN(table, name))
#define NT_VALUE(row, table, name) (&(row)->values[NT_COLUMN(table, name)])

/* The content of a value, or `otherwise` where it is of another type. */
static inline int64_t nt_integer(const struct nt_value *value, int64_t otherwise)
{
	return value->type == NT_VALUE_INTEGER ? value->integer : otherwise;
}

static inline const char *nt_text(const struct nt_value *value, const char *otherwise)
{
	return value->type == NT_VALUE_TEXT ? value->text : otherwise;
}

/* A set of tables. */
#define NT_TABLE_BIT(id) (1ull << (id))
#define NT_ALL_TABLES (NT_TABLE_BIT(NT_TABLE_COUNT) - 1)
_Static_assert(NT_TABLE_COUNT < 64, "a set of tables is a number");

/* A set of sources, and one of them by its constant in NT_SOURCES. */
#define NT_SOURCE_BIT(id) (1u << (id))
#define NT_FROM(constant) NT_SOURCE_BIT(NT_SOURCE_##constant)

/* The tables whose rows come from one of these sources. */
static inline uint64_t nt_tables_of(uint32_t sources)
{
#define X(constant, table, type, key, source, kept, what)                                                              \
	| (uint64_t)(sources >> NT_SOURCE_##source & 1) << NT_TABLE_##constant
	return 0 NT_TABLES(X);
#undef X
}

/* The tables that each database of one of these kinds has (a set of enum nt_kept). */
static inline uint64_t nt_tables_kept(unsigned int kept_by)
{
#define X(constant, table, type, key, source, kept, what)                                                              \
	| (uint64_t) !!(NT_KEPT_##kept & kept_by) << NT_TABLE_##constant
	return 0 NT_TABLES(X);
#undef X
}

/* Never NULL for a number below NT_TABLE_COUNT. */
const struct nt_table *nt_table(enum nt_table_id id);
/* The table of this name, in letters of any case as in SQL; or NT_TABLE_COUNT. */
enum nt_table_id nt_table_named(const char *name);
/*
 * Makes a row. Texts that are neither constants nor part of *from are put into the arena; the row is good as long as
 * both. `from` is of the table's type in NT_TABLES. 0, -ENOMEM, or -EBADMSG: what must be there is not, or is a
 * number that SQL cannot hold (fits says which).
 */
int nt_table_fill(struct nt_row *row, struct nt_arena *arena, enum nt_table_id id, int64_t session_id,
		  const void *from);

/* The row's value in that column of its table; NULL: there is no such column. */
struct nt_value *nt_row_value(const struct nt_row *row, const char *column);
/* Puts the texts among n values that are no constants into an arena: they last as long as it. 0 or -ENOMEM. */
int nt_values_own(struct nt_value *values, uint32_t n, struct nt_arena *arena);

/* ---- what rows are made of, where timeline/timeline.h, rollup.h and the records do not say it already ---- */

struct nt_session_info {
	const char *uuid, *host, *boot_id;
	const char *kernel, *machine, *os, *virtual, *tool, *stop; /* NULL: not known */
	uint64_t start_ns, end_ns, start_realtime_ns;
	uint64_t bucket_ns; /* width of the buckets of cpu_cost and sock_cost (rollup.h) */
	uint64_t bytes, chunks;
	uint32_t cpus; /* present */
	uint32_t clock_ticks; /* a second, the unit of /proc/stat; 0: not known */
	bool complete;
	struct nt_timeline_counts counts;
	uint64_t unknown; /* records of kinds that this program does not know */
	uint64_t events, lost; /* records on the tape, and what its LOSS records say */
	uint64_t bad_lines; /* of snapshots, that were not understood */
	uint64_t clock_uncertainty_ns; /* of realtime - monotonic; UINT64_MAX: not known */
	uint64_t clock_steps; /* of the realtime clock, that snapshots show */
};

struct nt_meta_line {
	const char *key, *value;
};

struct nt_process_info {
	uint64_t process;
	uint32_t pid, parent_pid;
	bool has_pid;
	const char *name; /* NULL: not known */
	uint64_t cgroup; /* 0: not known */
	uint64_t start_ns, end_ns; /* 0: not within the recording */
};

struct nt_thread_info {
	uint64_t task;
	uint32_t tid;
	bool known; /* false: only referred to, nothing but `task` means anything */
	uint64_t process; /* 0 for another task than the idle one: not known */
	const char *name;
	uint64_t start_ns, end_ns; /* 0: not within the recording */
	bool is_kernel;
};

/* A record that is a row as it comes. */
struct nt_cpu_record {
	uint32_t cpu;
	uint64_t task; /* on the CPU, as the timeline has it: of events only; else NT_NO_TASK */
	const union nt_any *record;
};

struct nt_cgroup_info {
	const struct nt_cgroup *record;
	const char *path;
	struct nt_cgroup_words words;
};

struct nt_irq_info {
	const struct nt_span_row *span;
	const char *name;
};

struct nt_elsewhere_info {
	const struct nt_elsewhere_cost *cost;
	const char *name;
	const char *device; /* of an interrupt; NULL: not known */
};

struct nt_latency_info {
	uint32_t cpu;
	const struct nt_latency *sample;
	enum nt_late late;
	uint64_t latency_ns; /* as `late` says */
	uint64_t wait_ns; /* for the device's driver; UINT64_MAX: not at this hook */
};

struct nt_flow_count_info {
	const struct nt_flow_count *count;
	bool is_known; /* the rest is: the tape says how samples were taken */
	uint64_t hash; /* that its cells are cut from; 0: not known */
	struct nt_flow_estimate estimate;
};

/* Of all times in the view. */
struct nt_flow_sum_info {
	uint64_t flow;
	uint8_t sort; /* enum nt_flow_key_sort */
	struct nt_flow_estimate estimate;
};

struct nt_drop_info {
	uint32_t cpu;
	const struct nt_drop *drop;
	const char *reason, *location; /* NULL: not known */
};

struct nt_kmem_info {
	uint32_t cpu;
	const struct nt_kmem *kmem;
	const char *location; /* NULL: not known, or it has none */
};

struct nt_block_io_info {
	uint32_t cpu;
	const union nt_any *record;
	const char *device; /* NULL: none */
};

struct nt_stack_sample_info {
	uint32_t cpu;
	const struct nt_stack_sample *sample;
	enum nt_owner owner; /* NT_OWNER_COUNT: not known */
	const char *stage; /* of the network stack; NULL: there are no frames of the kernel's */
	uint8_t family; /* of addresses: 4, 6, or 0: not told */
	uint64_t flow; /* whose packets were received; 0: none, or none is known */
	bool flow_is_exact; /* no other's: rx_charge.h */
};

struct nt_stack_info {
	const struct nt_stack *stack;
	uint32_t depth;
};

struct nt_frame_info {
	uint64_t stack;
	uint32_t pos; /* 0: the innermost */
	uint64_t symbol; /* 0: not known */
};

struct nt_symbol_info {
	uint64_t symbol;
	const struct nt_symbol *kernel; /* one of the two */
	const struct nt_user_symbol *user;
	const char *function; /* of the user's; NULL: not known */
	uint64_t offset; /* from the function's begin */
};

struct nt_counter_info {
	uint64_t begin_ns, end_ns; /* the counter was read between */
	const char *source; /* proc_counter: the file; self_cost: NULL or the BPF program */
	int64_t cpu; /* -1: of no CPU */
	const char *name;
	int64_t value;
};

struct nt_record_count {
	uint32_t cpu;
	uint8_t kind; /* enum nt_kind */
	uint64_t records, lost;
};
