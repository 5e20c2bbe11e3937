// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums.c - see parts.h. Sums are handed to SQL as JSON. A database may be anybody's: no number in it is trusted to fit.
 */
#include "report/export/html/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/cpus/beside.h"
#include "report/util/array.h"
#include "report/util/words.h"

void nt_html_sums_begin(const struct nt_html_scope *scope, struct nt_lanes_filter *filter, struct nt_html_sums *sums)
{
	*sums = (struct nt_html_sums){.scope = scope, .filter = filter};
}

void nt_html_sums_release(struct nt_html_sums *sums)
{
	nt_texts_release(&sums->ops);
	nt_id_map_release(&sums->threads);
	nt_id_map_release(&sums->sockets);
	nt_id_map_release(&sums->by_thread);
	nt_id_map_release(&sums->pairs);
	nt_id_map_release(&sums->by_pair);
	free(sums->spent);
	free(sums->did);
	free(sums->spent_json);
	free(sums->did_json);
	*sums = (struct nt_html_sums){0};
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

static int take_slice(void *arg, const struct nt_row *row)
{
	struct nt_html_sums *sums = arg;
	const struct nt_html_scope *scope = sums->scope;
	const struct nt_value *utid = NT_VALUE(row, cpu_slice, utid);
	const enum nt_owner owner = nt_owner_number(nt_text(NT_VALUE(row, cpu_slice, owner), ""));
	int64_t from = nt_integer(NT_VALUE(row, cpu_slice, ts), 0), to;
	uint64_t thread;
	int64_t i;

	if (__builtin_add_overflow(from, nt_integer(NT_VALUE(row, cpu_slice, dur), 0), &to) || to > scope->to_ts)
		to = scope->to_ts;
	if (from < scope->from_ts)
		from = scope->from_ts;
	if (from >= to || (owner != NT_OWNER_SEND && owner != NT_OWNER_RECV && owner != NT_OWNER_TASK) ||
	    !nt_lanes_has_cpu(&scope->part, NT_VALUE(row, cpu_slice, cpu)) || !nt_lanes_has_thread(sums->filter, utid))
		return 0;
	thread = number_of(&sums->threads, utid, &sums->n_threads);
	i = thread ? NT_INDEX(&sums->by_thread, thread << 8 | owner, sums->spent, sums->spent_size, sums->n_spent,
			      {.utid = *utid, .owner = owner})
		   : -1;
	return i < 0 ? -ENOMEM : add(&sums->spent[i].ns, to - from);
}

struct nt_scan_reader nt_html_spent_reader(struct nt_html_sums *sums)
{
	return (struct nt_scan_reader){NT_TABLE_CPU_SLICE, 0, take_slice, sums};
}

/* ---- operations ---- */

/* Those count that ended in the time: the sums of buckets (rows/rollup.h) have what ended with the session, and before
 * it. */
static bool has_ended(const struct nt_html_scope *scope, const struct nt_row *row)
{
	int64_t end = nt_integer(NT_VALUE(row, sock_op, ts), 0);

	if (__builtin_add_overflow(end, nt_integer(NT_VALUE(row, sock_op, dur), 0), &end))
		return false;
	return (end >= scope->from_ts || scope->from_ts == scope->session.start_ts) &&
	       (end < scope->to_ts || scope->to_ts == scope->session.end_ts);
}

static int64_t find_did(struct nt_html_sums *sums, const struct nt_row *row)
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
	struct nt_html_sums *sums = arg;
	const struct nt_value *cpu_ns = NT_VALUE(row, sock_op, cpu_ns);
	struct nt_html_did *did;
	int64_t i;

	if (!has_ended(sums->scope, row) || !nt_lanes_has_cpu(&sums->scope->part, NT_VALUE(row, sock_op, cpu)) ||
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

/* Read from where the first began of those that ended in the time. */
int nt_html_sums_read_ops(struct nt_html_sums *sums)
{
	const struct nt_html_scope *scope = sums->scope;
	const uint64_t from_ns = scope->from_ts == scope->session.start_ts ? 0 : (uint64_t)scope->from_ts;
	const struct nt_scan_reader reader = {NT_TABLE_SOCK_OP, 0, take_op, sums};
	struct nt_scan_want want = {.to_ns = (uint64_t)scope->to_ts + 1, .begun_within = true};

	if (nt_scan_ops_since(scope->db, from_ns, (uint64_t)scope->to_ts, &want.from_ns))
		return -1;
	return nt_scan_within(scope->db, scope->session.id, &want, &reader, 1);
}

/* ---- for SQL ---- */

static void write_id(struct nt_json *json, const struct nt_value *id)
{
	nt_json_if(json, NULL, id->type == NT_VALUE_INTEGER, id->integer);
}

static void write_spent(struct nt_json *json, const void *arg)
{
	const struct nt_html_sums *sums = arg;

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
	const struct nt_html_sums *sums = arg;

	for (size_t i = 0; i < sums->n_did; i++) {
		const struct nt_html_did *did = &sums->did[i];

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

int nt_html_sums_end(struct nt_html_sums *sums)
{
	sums->spent_json = nt_json_array(write_spent, sums);
	sums->did_json = nt_json_array(write_did, sums);
	return sums->spent_json && sums->did_json ? 0 : nt_db_no_memory(sums->scope->db);
}
