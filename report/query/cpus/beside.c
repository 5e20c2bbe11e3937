// SPDX-License-Identifier: GPL-2.0-only
/*
 * beside.c - see beside.h. Sums are handed to SQL as JSON, which names and orders them.
 */
#include "report/query/cpus/beside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/query/cpus/part_costs.h"
#include "report/query/payers.h"
#include "report/util/array.h"
#include "report/util/words.h"

void nt_lanes_beside_begin(struct nt_lanes_beside *beside, struct nt_lanes_filter *filter, const struct nt_part *part)
{
	*beside = (struct nt_lanes_beside){.part = *part, .filter = filter};
}

void nt_lanes_beside_release(struct nt_lanes_beside *beside)
{
	nt_texts_release(&beside->texts);
	free(beside->ops);
	free(beside->softirqs);
	nt_id_map_release(&beside->pairs);
	nt_id_map_release(&beside->threads);
	nt_id_map_release(&beside->by_thread);
	nt_id_map_release(&beside->by_vec);
	memset(beside, 0, sizeof(*beside));
}

/* ---- keys ---- */

/* 0: out of memory. */
static uint32_t text_number(struct nt_lanes_beside *beside, const char *text)
{
	bool is_new;

	return nt_texts_number(&beside->texts, text, &is_new);
}

static int64_t find_op(struct nt_lanes_beside *beside, const struct nt_lanes_op *key)
{
	const uint64_t pair = nt_id_map_number(&beside->pairs, (uint64_t)key->op << 32 | key->call, &beside->n_pairs);
	const uint64_t thread = key->has_utid
					? nt_id_map_number(&beside->threads, (uint64_t)key->utid, &beside->n_threads)
					: UINT32_MAX;

	if (!pair || !thread)
		return -1;
	return NT_INDEX(&beside->by_thread, thread << 32 | pair, beside->ops, beside->ops_size, beside->n_ops, *key);
}

/* ---- adding ---- */

static bool add(int64_t *sum, int64_t more)
{
	return !__builtin_add_overflow(*sum, more, sum);
}

static void raise_to(int64_t *most, int64_t value)
{
	if (value > *most)
		*most = value;
}

static int64_t moved_bytes(const struct nt_row *row)
{
	const char *flags = nt_text(NT_VALUE(row, sock_op, flags), "");

	if (flags[0] && (nt_has_word(flags, "peek") || nt_has_word(flags, "errqueue")))
		return 0;
	return nt_integer(NT_VALUE(row, sock_op, bytes), 0);
}

static int add_op(struct nt_lanes_op *op, const struct nt_row *row)
{
	const struct nt_value *cpu_ns = NT_VALUE(row, sock_op, cpu_ns), *dur = NT_VALUE(row, sock_op, dur);

	op->ops++;
	op->failed += strcmp(nt_text(NT_VALUE(row, sock_op, result), ""), "ok") != 0;
	if (!add(&op->bytes, moved_bytes(row)) || !add(&op->cpu_ns, nt_integer(cpu_ns, 0)))
		return -ERANGE;
	if (cpu_ns->type == NT_VALUE_NULL) {
		op->untimed++;
	} else {
		op->is_timed = true;
		raise_to(&op->most_ns, cpu_ns->integer);
	}
	if (dur->type != NT_VALUE_NULL) {
		op->has_dur = true;
		raise_to(&op->longest_ns, dur->integer);
	}
	return 0;
}

int nt_lanes_beside_op(struct nt_lanes_beside *beside, const struct nt_row *row)
{
	const int64_t ts = nt_integer(NT_VALUE(row, sock_op, ts), 0), dur = nt_integer(NT_VALUE(row, sock_op, dur), 0);
	const struct nt_value *utid = NT_VALUE(row, sock_op, utid);
	struct nt_lanes_op key = {.utid = nt_integer(utid, 0),
				  .has_utid = utid->type != NT_VALUE_NULL,
				  .most_ns = INT64_MIN,
				  .longest_ns = INT64_MIN};
	const struct nt_view_time time = nt_part_time(&beside->part);
	int64_t end, i;

	/* Where its begin is not known, `ts` is its end. */
	if (__builtin_add_overflow(ts, dur, &end) || end < 0 || !nt_view_has(&time, (uint64_t)end) ||
	    !nt_lanes_has_cpu(&beside->part, NT_VALUE(row, sock_op, cpu)) || !nt_lanes_has_thread(beside->filter, utid))
		return 0;
	key.op = text_number(beside, nt_text(NT_VALUE(row, sock_op, op), ""));
	key.call = text_number(beside, nt_text(NT_VALUE(row, sock_op, syscall), ""));
	i = key.op && key.call ? find_op(beside, &key) : -1;
	return i < 0 ? -ENOMEM : add_op(&beside->ops[i], row);
}

int nt_lanes_beside_softirq(struct nt_lanes_beside *beside, const struct nt_row *row)
{
	const int64_t dur = nt_integer(NT_VALUE(row, softirq_slice, dur), 0);
	int64_t begin = nt_integer(NT_VALUE(row, softirq_slice, ts), 0), end, i;
	struct nt_lanes_softirq key = {.longest_ns = INT64_MIN};

	if (begin >= beside->part.to_ts || __builtin_add_overflow(begin, dur, &end) || end <= beside->part.from_ts ||
	    !nt_lanes_has_cpu(&beside->part, NT_VALUE(row, softirq_slice, cpu)) ||
	    !nt_lanes_has_thread(beside->filter, NT_VALUE(row, softirq_slice, utid)))
		return 0;
	begin = begin > beside->part.from_ts ? begin : beside->part.from_ts;
	end = end < beside->part.to_ts ? end : beside->part.to_ts;
	key.vec = text_number(beside, nt_text(NT_VALUE(row, softirq_slice, vec), ""));
	key.context = text_number(beside, nt_text(NT_VALUE(row, softirq_slice, context), ""));
	i = key.vec && key.context ? NT_INDEX(&beside->by_vec, (uint64_t)key.vec << 32 | key.context, beside->softirqs,
					      beside->softirqs_size, beside->n_softirqs, key)
				   : -1;
	if (i < 0)
		return -ENOMEM;
	beside->softirqs[i].runs++;
	raise_to(&beside->softirqs[i].longest_ns, end - begin);
	return add(&beside->softirqs[i].total_ns, end - begin) ? 0 : -ERANGE;
}

/* ---- rows ---- */

/* A statement over the sums that `write` puts, one each, into the JSON array that is its ?2. NULL: db->error. */
static sqlite3_stmt *ask(const struct nt_lanes_beside *beside, const char *sql,
			 void (*write)(struct nt_json *json, const void *beside))
{
	const struct nt_part *part = &beside->part;
	char *text = nt_json_array(write, beside);
	sqlite3_stmt *statement;

	if (!text || !nt_foreign_fits(part->db, text)) {
		free(text);
		nt_db_no_memory(part->db);
		return NULL;
	}
	statement = nt_db_query(part->db, sql, part->session->id);
	if (statement && sqlite3_bind_text(statement, 2, text, -1, free) == SQLITE_OK)
		return statement;
	if (statement)
		nt_db_no_memory(part->db); /* a text that could not be bound was freed */
	else
		free(text);
	sqlite3_finalize(statement);
	return NULL;
}

static void write_op(struct nt_json *json, const struct nt_texts *texts, const struct nt_lanes_op *op)
{
	nt_json_open(json, NULL, '[');
	nt_json_if(json, NULL, op->has_utid, op->utid);
	nt_json_text(json, NULL, nt_texts_text(texts, op->op));
	nt_json_text(json, NULL, nt_texts_text(texts, op->call));
	nt_json_integer(json, NULL, op->ops);
	nt_json_integer(json, NULL, op->failed);
	nt_json_integer(json, NULL, op->bytes);
	nt_json_integer(json, NULL, op->cpu_ns);
	nt_json_if(json, NULL, op->is_timed, op->most_ns);
	nt_json_if(json, NULL, op->has_dur, op->longest_ns);
	nt_json_integer(json, NULL, op->untimed);
	nt_json_close(json, ']');
}

static void write_ops(struct nt_json *json, const void *arg)
{
	const struct nt_lanes_beside *beside = arg;

	for (size_t i = 0; i < beside->n_ops; i++)
		write_op(json, &beside->texts, &beside->ops[i]);
}

sqlite3_stmt *nt_lanes_ops(const struct nt_lanes_beside *beside)
{
	return ask(beside,
		   "WITH done AS (SELECT value ->> 0 AS utid, value ->> 1 AS op, value ->> 2 AS syscall, value ->> 3 "
		   "AS ops, value ->> 4 AS failed, value ->> 5 AS bytes, value ->> 6 AS cpu_ns, value ->> 7 AS "
		   "most_ns, value ->> 8 AS longest_ns, value ->> 9 AS untimed FROM json_each(?2)) "
		   "SELECT coalesce(p.name, '(unknown)') AS process, p.pid, op, syscall, sum(ops) AS ops_count, "
		   "sum(failed) AS failed_count, sum(bytes) AS moved_bytes, sum(cpu_ns) AS cpu_ns, "
		   "max(most_ns) AS dearest_ns, max(longest_ns) AS longest_ns, sum(untimed) AS untimed_count "
		   "FROM done LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = done.utid "
		   "LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = t.upid "
		   "GROUP BY t.upid, op, syscall ORDER BY cpu_ns DESC, ops_count DESC, p.pid, op, syscall",
		   write_ops);
}

static void write_softirq(struct nt_json *json, const struct nt_texts *texts, const struct nt_lanes_softirq *softirq)
{
	nt_json_open(json, NULL, '[');
	nt_json_text(json, NULL, nt_texts_text(texts, softirq->vec));
	nt_json_text(json, NULL, nt_texts_text(texts, softirq->context));
	nt_json_integer(json, NULL, softirq->runs);
	nt_json_integer(json, NULL, softirq->total_ns);
	nt_json_integer(json, NULL, softirq->longest_ns);
	nt_json_close(json, ']');
}

static void write_softirqs(struct nt_json *json, const void *arg)
{
	const struct nt_lanes_beside *beside = arg;

	for (size_t i = 0; i < beside->n_softirqs; i++)
		write_softirq(json, &beside->texts, &beside->softirqs[i]);
}

sqlite3_stmt *nt_lanes_softirqs(const struct nt_lanes_beside *beside)
{
	return ask(beside,
		   "SELECT value ->> 0 AS vec, value ->> 1 AS context, value ->> 2 AS runs_count, value ->> 3 AS "
		   "total_ns, value ->> 4 AS longest_ns FROM json_each(?2) ORDER BY total_ns DESC, vec, context",
		   write_softirqs);
}

sqlite3_stmt *nt_lanes_payers(const struct nt_lanes_beside *beside, bool *is_estimate)
{
	const struct nt_part *part = &beside->part;
	sqlite3_stmt *statement;

	if (nt_part_costs(part, true, is_estimate))
		return NULL;
	statement = nt_db_query(part->db, "WITH " NT_PAID_SQL ", " NT_PART_SPAN_SQL NT_PAYERS_SQL, part->session->id);
	nt_part_bind(part, statement);
	return statement;
}
