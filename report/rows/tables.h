/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.h - the tables of a tape, each defined once: its name, its columns, and how a thing becomes a row of it. Knows
 * no SQLite, so that other servers of the same rows can be made of it. No I/O, no globals but constants.
 * docs/sql-schema.md says what the columns mean.
 *
 * To add a table: its line in NT_TABLES, its columns in tables.c, its text in docs/sql-schema.md.
 */
#ifndef NT_REPORT_ROWS_TABLES_H
#define NT_REPORT_ROWS_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/rows/rollup.h"
#include "report/tape/clock.h"
#include "report/timeline/timeline.h"
#include "report/util/arena.h"
#include "schema/block.h"

#define NT_SCHEMA_VERSION 3 /* of tables and views; grows with each change of them, be it only a column more */

/*
 * X(CONSTANT, name, type that a row is made of, key), in the order in which docs and databases list them. The key
 * is what makes a row unique beside session_id; NULL: nothing does.
 */
#define NT_TABLES(X)                                                                                                   \
	X(SESSION, session, struct nt_session_info, "")                                                                \
	X(SESSION_META, session_meta, struct nt_meta_line, NULL)                                                       \
	X(PROBLEM, problem, char, NULL)                                                                                \
	X(PROCESS, process, struct nt_process_info, "upid")                                                            \
	X(THREAD, thread, struct nt_thread_info, "utid")                                                               \
	X(CGROUP, cgroup, struct nt_cgroup, "id")                                                                      \
	X(SOCKET, socket, struct nt_socket, "id")                                                                      \
	X(NET_DEVICE, net_device, struct nt_device, "id")                                                              \
	X(SCHED_SLICE, sched_slice, struct nt_sched_slice, NULL)                                                       \
	X(SOFTIRQ_SLICE, softirq_slice, struct nt_span_row, NULL)                                                      \
	X(IRQ_SLICE, irq_slice, struct nt_irq_info, NULL)                                                              \
	X(SOCK_OP, sock_op, struct nt_op_row, NULL)                                                                    \
	X(NAPI_POLL, napi_poll, struct nt_napi_row, NULL)                                                              \
	X(SKB_LATENCY, skb_latency, struct nt_latency_info, NULL)                                                      \
	X(SKB_DROP, skb_drop, struct nt_drop_info, NULL)                                                               \
	X(TCP_RETRANSMIT, tcp_retransmit, struct nt_retransmit_info, NULL)                                             \
	X(SCHED_WAKEUP, sched_wakeup, struct nt_wakeup_info, NULL)                                                     \
	X(STACK_SAMPLE, stack_sample, struct nt_stack_sample_info, NULL)                                               \
	X(STACK, stack, struct nt_stack_info, "id")                                                                    \
	X(FRAME, frame, struct nt_frame_info, NULL)                                                                    \
	X(SYMBOL, symbol, struct nt_symbol_info, "id")                                                                 \
	X(CPU_SLICE, cpu_slice, struct nt_cpu_slice, NULL)                                                             \
	X(LOSS, loss, struct nt_loss_row, NULL)                                                                        \
	X(CLOCK_SNAPSHOT, clock_snapshot, struct nt_clock, NULL)                                                       \
	X(PROC_COUNTER, proc_counter, struct nt_counter_info, NULL)                                                    \
	X(SELF_COST, self_cost, struct nt_counter_info, NULL)                                                          \
	X(RECORD_COUNT, record_count, struct nt_record_count, NULL)                                                    \
	X(CPU_COST, cpu_cost, struct nt_cpu_cost, NULL)                                                                \
	X(SOCK_COST, sock_cost, struct nt_sock_cost, NULL)

enum nt_table_id {
#define X(constant, name, type, key) NT_TABLE_##constant,
	NT_TABLES(X)
#undef X
		NT_TABLE_COUNT
};

#define NT_MAX_COLUMNS 32

enum nt_value_type { NT_VALUE_NULL, NT_VALUE_INTEGER, NT_VALUE_TEXT };

struct nt_value {
	enum nt_value_type type;
	uint32_t size; /* of the text, without its terminator */
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
	const struct nt_column *columns; /* the first is session_id in all tables */
	uint32_t n_columns;
	/* Adds the values after session_id of the row that `from` makes. */
	void (*fill)(struct nt_row *row, struct nt_arena *arena, const void *from);
};

/* Never NULL for a number below NT_TABLE_COUNT. */
const struct nt_table *nt_table(enum nt_table_id id);
/*
 * Makes a row. Texts that are neither constants nor part of *from are put into the arena; the row is good as long as
 * both. `from` is of the table's type in NT_TABLES. 0, -ENOMEM, or -EBADMSG: what must be there is not, or is a
 * number that SQL cannot hold.
 */
int nt_table_fill(struct nt_row *row, struct nt_arena *arena, enum nt_table_id id, int64_t session_id,
		  const void *from);

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

struct nt_irq_info {
	const struct nt_span_row *span;
	const char *name;
};

struct nt_latency_info {
	uint32_t cpu;
	const struct nt_latency *sample;
	enum nt_late late;
	uint64_t latency_ns; /* as `late` says */
};

struct nt_drop_info {
	uint32_t cpu;
	const struct nt_drop *drop;
	const char *reason, *location; /* NULL: not known */
};

struct nt_retransmit_info {
	uint32_t cpu;
	const struct nt_retransmit *retransmit;
};

struct nt_wakeup_info {
	uint32_t cpu;
	const struct nt_wakeup *wakeup;
};

struct nt_stack_sample_info {
	uint32_t cpu;
	const struct nt_stack_sample *sample;
	enum nt_owner owner; /* NT_OWNER_COUNT: not known */
	const char *stage; /* of the network stack; NULL: there are no frames of the kernel's */
	uint8_t family; /* of addresses: 4, 6, or 0: not told */
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

#endif
