// SPDX-License-Identifier: GPL-2.0-only
/*
 * part_sums.c - see part_sums.h. A database may be anybody's: no number in it is trusted to fit.
 */
#include "report/query/cpus/part_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/query/cpus/beside.h"
#include "report/util/array.h"
#include "report/util/words.h"

void nt_part_sums_begin(struct nt_part_sums *sums, struct nt_lanes_filter *filter)
{
	*sums = (struct nt_part_sums){.filter = filter};
	nt_rx_sums_begin(&sums->rx, filter, filter->part);
}

void nt_part_sums_release(struct nt_part_sums *sums)
{
	nt_texts_release(&sums->ops);
	nt_id_map_release(&sums->threads);
	nt_id_map_release(&sums->sockets);
	nt_id_map_release(&sums->pairs);
	nt_id_map_release(&sums->by_cpu);
	nt_id_map_release(&sums->by_thread);
	nt_id_map_release(&sums->by_pair);
	free(sums->owned);
	free(sums->spent);
	free(sums->did);
	free(sums->owned_json);
	free(sums->spent_json);
	free(sums->did_json);
	free(sums->paid_json);
	nt_rx_sums_release(&sums->rx);
	*sums = (struct nt_part_sums){0};
}

/* Numbers from 1 on, and one for NULL; 0: out of memory. */
static uint64_t number_of(struct nt_id_map *map, const struct nt_value *id, uint64_t *n)
{
	return id->type == NT_VALUE_INTEGER ? nt_id_map_number(map, (uint64_t)id->integer, n) : UINT32_MAX;
}

static int add(int64_t *sum, int64_t more)
{
	return __builtin_add_overflow(*sum, more, sum) ? -ERANGE : 0;
}

/* ---- CPU time ---- */

static int add_owned(struct nt_part_sums *sums, int64_t cpu, enum nt_owner owner, int64_t ns)
{
	const int64_t i =
		NT_INDEX(&sums->by_cpu, (uint64_t)cpu, sums->owned, sums->owned_size, sums->n_owned, {.cpu = cpu});

	return i < 0 ? -ENOMEM : add(&sums->owned[i].ns[owner], ns);
}

static int add_spent(struct nt_part_sums *sums, const struct nt_value *utid, enum nt_owner owner, int64_t ns)
{
	const uint64_t thread = number_of(&sums->threads, utid, &sums->n_threads);
	const int64_t i = thread ? NT_INDEX(&sums->by_thread, thread << 8 | owner, sums->spent, sums->spent_size,
					    sums->n_spent, {.utid = *utid, .owner = owner})
				 : -1;

	return i < 0 ? -ENOMEM : add(&sums->spent[i].ns, ns);
}

static int take_slice(void *arg, const struct nt_row *row)
{
	struct nt_part_sums *sums = arg;
	const struct nt_part *part = sums->filter->part;
	const struct nt_value *utid = NT_VALUE(row, cpu_slice, utid), *cpu = NT_VALUE(row, cpu_slice, cpu);
	const enum nt_owner owner = nt_owner_number(nt_text(NT_VALUE(row, cpu_slice, owner), ""));
	int64_t from = nt_integer(NT_VALUE(row, cpu_slice, ts), 0), to;
	int error = nt_rx_sums_slice(&sums->rx, row);

	if (error)
		return error;
	if (__builtin_add_overflow(from, nt_integer(NT_VALUE(row, cpu_slice, dur), 0), &to) || to > part->to_ts)
		to = part->to_ts;
	if (from < part->from_ts)
		from = part->from_ts;
	if (from >= to || owner == NT_OWNER_COUNT || cpu->type != NT_VALUE_INTEGER || !nt_lanes_has_cpu(part, cpu) ||
	    !nt_lanes_has_thread(sums->filter, utid))
		return 0;
	error = add_owned(sums, cpu->integer, owner, to - from);
	if (error || (owner != NT_OWNER_SEND && owner != NT_OWNER_RECV && owner != NT_OWNER_TASK))
		return error;
	return add_spent(sums, utid, owner, to - from);
}

/* ---- operations ---- */

/* Those count that ended in the time: the sums of buckets (rows/rollup.h) have what ended with the session, and before
 * it. */
static bool has_ended(const struct nt_part *part, const struct nt_row *row)
{
	int64_t end = nt_integer(NT_VALUE(row, sock_op, ts), 0);

	if (__builtin_add_overflow(end, nt_integer(NT_VALUE(row, sock_op, dur), 0), &end))
		return false;
	return (end >= part->from_ts || part->from_ts == part->session->start_ts) &&
	       (end < part->to_ts || part->to_ts == part->session->end_ts);
}

static int64_t find_did(struct nt_part_sums *sums, const struct nt_row *row)
{
	const struct nt_value *utid = NT_VALUE(row, sock_op, utid), *socket_id = NT_VALUE(row, sock_op, socket_id);
	const uint64_t thread = number_of(&sums->threads, utid, &sums->n_threads);
	const uint64_t socket = number_of(&sums->sockets, socket_id, &sums->n_sockets);
	const uint64_t pair =
		thread && socket ? nt_id_map_number(&sums->pairs, thread << 32 | socket, &sums->n_pairs) : 0;
	bool is_new;
	const uint32_t op = nt_texts_number(&sums->ops, nt_text(NT_VALUE(row, sock_op, op), ""), &is_new);

	if (!pair || !op)
		return -1;
	return NT_INDEX(&sums->by_pair, pair << 32 | op, sums->did, sums->did_size, sums->n_did,
			{.utid = *utid, .socket_id = *socket_id, .op = op});
}

static int take_op(void *arg, const struct nt_row *row)
{
	struct nt_part_sums *sums = arg;
	const struct nt_part *part = sums->filter->part;
	const struct nt_value *cpu_ns = NT_VALUE(row, sock_op, cpu_ns);
	struct nt_part_did *did;
	int64_t i;

	if (!has_ended(part, row) || !nt_lanes_has_cpu(part, NT_VALUE(row, sock_op, cpu)) ||
	    !nt_lanes_has_thread(sums->filter, NT_VALUE(row, sock_op, utid)))
		return 0;
	i = find_did(sums, row);
	if (i < 0)
		return -ENOMEM;
	did = &sums->did[i];
	did->ops++;
	did->untimed += NT_VALUE(row, sock_op, dur)->type == NT_VALUE_NULL;
	did->lower_bound += nt_has_word(nt_text(NT_VALUE(row, sock_op, flags), ""), "lower_bound");
	return add(&did->cpu_ns, nt_integer(cpu_ns, 0)) ? -ERANGE : add(&did->bytes, nt_lanes_moved_bytes(row));
}

/* ---- reading ---- */

static int take_rx(void *arg, const struct nt_row *row)
{
	struct nt_part_sums *sums = arg;

	return nt_rx_sums_row(&sums->rx, row);
}

struct nt_scan_reader nt_part_sums_slices(struct nt_part_sums *sums)
{
	return (struct nt_scan_reader){NT_TABLE_CPU_SLICE, 0, take_slice, sums};
}

#define OF_OPS(sums)                                                                                                   \
	{NT_TABLE_SOCK_OP, 0, take_op, sums},                                                                          \
	{                                                                                                              \
		NT_TABLE_RX_COST, 0, take_rx, sums                                                                     \
	}

int nt_part_sums_read_ops(struct nt_part_sums *sums)
{
	const struct nt_part *part = sums->filter->part;
	const struct nt_scan_reader readers[] = {OF_OPS(sums)};

	return nt_lanes_read_ops(part, part->from_ts == part->session->start_ts ? 0 : part->from_ts, readers,
				 NT_COUNT(readers));
}

int nt_part_sums_read(struct nt_part_sums *sums)
{
	const struct nt_part *part = sums->filter->part;
	const struct nt_scan_reader readers[] = {nt_part_sums_slices(sums), OF_OPS(sums)};
	const bool is_limited = nt_session_is_limited(part->db, part->session, part->selection);
	const uint64_t small = NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_LOSS);
	const int error = nt_scan_all(part->db, part->session->id, small, readers, is_limited ? 1 : NT_COUNT(readers));

	return error || !is_limited ? error : nt_part_sums_read_ops(sums);
}

/* ---- for SQL ---- */

static void write_id(struct nt_json *json, const struct nt_value *id)
{
	nt_json_if(json, NULL, id->type == NT_VALUE_INTEGER, id->integer);
}

static void write_owned(struct nt_json *json, const void *arg)
{
	const struct nt_part_sums *sums = arg;

	for (size_t i = 0; i < sums->n_owned * NT_OWNER_COUNT; i++) {
		const struct nt_part_owned *owned = &sums->owned[i / NT_OWNER_COUNT];
		const enum nt_owner owner = (enum nt_owner)(i % NT_OWNER_COUNT);

		nt_json_open(json, NULL, '[');
		nt_json_integer(json, NULL, owned->cpu);
		nt_json_text(json, NULL, nt_owner_name(owner));
		nt_json_integer(json, NULL, owned->ns[owner]);
		nt_json_close(json, ']');
	}
}

static void write_spent(struct nt_json *json, const void *arg)
{
	const struct nt_part_sums *sums = arg;

	for (size_t i = 0; i < sums->n_spent; i++) {
		nt_json_open(json, NULL, '[');
		write_id(json, &sums->spent[i].utid);
		nt_json_text(json, NULL, nt_owner_name(sums->spent[i].owner));
		nt_json_integer(json, NULL, sums->spent[i].ns);
		nt_json_close(json, ']');
	}
}

static void write_did(struct nt_json *json, const void *arg)
{
	const struct nt_part_sums *sums = arg;

	for (size_t i = 0; i < sums->n_did; i++) {
		const struct nt_part_did *did = &sums->did[i];

		nt_json_open(json, NULL, '[');
		write_id(json, &did->utid);
		write_id(json, &did->socket_id);
		nt_json_text(json, NULL, nt_texts_text(&sums->ops, did->op));
		nt_json_integer(json, NULL, did->ops);
		nt_json_integer(json, NULL, did->bytes);
		nt_json_integer(json, NULL, did->cpu_ns);
		nt_json_integer(json, NULL, did->untimed);
		nt_json_integer(json, NULL, did->lower_bound);
		nt_json_close(json, ']');
	}
}

/* Of a text that does not SQLite would take nothing. */
static bool fits(struct nt_db *db, const char *json)
{
	return json && nt_foreign_fits(db, json);
}

int nt_part_sums_end(struct nt_part_sums *sums)
{
	struct nt_db *db = sums->filter->part->db;
	const int error = nt_rx_sums_end(&sums->rx);

	if (error)
		return nt_lanes_fail(sums->filter->part, error, "costs");
	sums->owned_json = nt_json_array(write_owned, sums);
	sums->spent_json = nt_json_array(write_spent, sums);
	sums->did_json = nt_json_array(write_did, sums);
	sums->paid_json = nt_rx_sums_json(&sums->rx);
	return fits(db, sums->owned_json) && fits(db, sums->spent_json) && fits(db, sums->did_json) &&
			       fits(db, sums->paid_json)
		       ? 0
		       : nt_db_no_memory(db);
}

void nt_part_sums_bind(const struct nt_part_sums *sums, sqlite3_stmt *statement)
{
	const struct nt_part *part = sums->filter->part;

	sqlite3_bind_int64(statement, 2, part->from_ts);
	sqlite3_bind_int64(statement, 3, part->to_ts);
	sqlite3_bind_text(statement, 5, sums->spent_json, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 6, sums->did_json, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 7, sums->owned_json, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 8, sums->paid_json, -1, SQLITE_STATIC);
}
