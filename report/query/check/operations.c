// SPDX-License-Identifier: GPL-2.0-only
/*
 * operations.c - the part of check that proves that operations cost what the slices say, and that sock_cost, which
 * views read, is the sum of them. Of a part: that its slices have at least the time of the operations inside it, and at
 * most that of those that overlap it.
 */
#include <string.h>

#include "report/query/check/check.h"
#include "report/util/words.h"

/* Bytes of an operation that count: those of peeks and of the error queue do not. */
static int64_t moved_bytes(const struct nt_row *op)
{
	const char *flags = nt_text(NT_VALUE(op, sock_op, flags), "");

	if (flags[0] && (nt_has_word(flags, "peek") || nt_has_word(flags, "errqueue")))
		return 0;
	return nt_integer(NT_VALUE(op, sock_op, bytes), 0);
}

bool nt_check_has_operations(const struct nt_check *check)
{
	return !check->part || !check->part->selection->n_cpus;
}

/* The place of an operation in a part. NULL: outside. An operation whose begin is not known is at an edge. */
static struct nt_check_ops *place_op(struct nt_check *check, const struct nt_row *op)
{
	const struct nt_value *dur = NT_VALUE(op, sock_op, dur);
	const int64_t begin = nt_integer(NT_VALUE(op, sock_op, ts), 0);
	struct nt_check_part_ops *ops = &check->events.part_ops;
	int64_t end;

	if (__builtin_add_overflow(begin, nt_integer(dur, 0), &end) || begin >= check->to_ts || end < check->from_ts ||
	    !nt_lanes_has_thread(&check->filter, NT_VALUE(op, sock_op, utid)))
		return NULL;
	return dur->type == NT_VALUE_INTEGER && begin >= check->from_ts && end <= check->to_ts ? &ops->inside
											       : &ops->at_edges;
}

int nt_check_take_op(void *arg, const struct nt_row *op)
{
	struct nt_check *check = arg;
	struct nt_check_ops *ops = check->part ? place_op(check, op) : &check->events.ops;
	const char *dir = nt_text(NT_VALUE(op, sock_op, op), "");
	int64_t *moved;

	if (!ops)
		return 0;
	moved = !strcmp(dir, "send") ? &ops->sent : !strcmp(dir, "recv") ? &ops->received : NULL;
	ops->ops++;
	if (nt_check_add(&ops->cpu_ns, nt_integer(NT_VALUE(op, sock_op, cpu_ns), 0)) &&
	    (!moved || nt_check_add(moved, moved_bytes(op))))
		return 0;
	return nt_db_refuse(check->db, "%s: its operations have sums that no recording has.",
			    check->db->path[0] ? check->db->path : "the tape");
}

static const char sums_of_costs[] =
	"SELECT coalesce(sum(ops), 0), coalesce(sum(cpu_ns), 0), coalesce(sum(CASE op WHEN 'send' THEN bytes END), 0), "
	"coalesce(sum(CASE op WHEN 'recv' THEN bytes END), 0) FROM sock_cost WHERE session_id = ?1";

static const char sums_of_slices[] =
	"SELECT 0, coalesce(sum(spent_ns), 0), 0, 0 FROM cpu_cost WHERE session_id = ?1 AND owner IN ('send', 'recv')";

static int read_sums(struct nt_check *check, const char *sql, struct nt_check_ops *sums)
{
	sqlite3_stmt *row = nt_check_query(check, sql);

	while (nt_db_next(row))
		*sums = (struct nt_check_ops){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
					      sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)};
	return nt_check_end(check, row);
}

static void judge_costs(struct nt_check *check, const struct nt_check_ops *ops, int64_t slices_ns)
{
	char count[NT_HUMAN_MAX], ops_ns[NT_HUMAN_MAX], sum_ns[NT_HUMAN_MAX];

	check->name = "operations";
	nt_human_count(count, ops->ops);
	nt_human_count(ops_ns, ops->cpu_ns);
	nt_human_count(sum_ns, slices_ns);
	if (ops->cpu_ns != slices_ns)
		nt_check_say(check, NT_FOUND_FAILED,
			     "%s operations cost %s ns, but the slices of send and recv sum to %s ns", count, ops_ns,
			     sum_ns);
	else
		nt_check_say(check, NT_FOUND_OK, "%s operations cost %s ns = the slices of send and recv", count,
			     ops_ns);
}

static const char *describe(char text[200], const struct nt_check_ops *sums)
{
	char ops[NT_HUMAN_MAX], ns[NT_HUMAN_MAX], sent[NT_HUMAN_MAX], received[NT_HUMAN_MAX];

	snprintf(text, 200, "%s operations, %s ns, %s bytes sent and %s received", nt_human_count(ops, sums->ops),
		 nt_human_count(ns, sums->cpu_ns), nt_human_count(sent, sums->sent),
		 nt_human_count(received, sums->received));
	return text;
}

static void judge_sums(struct nt_check *check, const struct nt_check_ops *ops, const struct nt_check_ops *costs)
{
	char of_ops[200], of_costs[200];

	check->name = "sums";
	if (ops->ops != costs->ops || ops->cpu_ns != costs->cpu_ns || ops->sent != costs->sent ||
	    ops->received != costs->received)
		nt_check_say(check, NT_FOUND_FAILED, "sock_cost is not the sum of sock_op: it has %s; sock_op has %s",
			     describe(of_costs, costs), describe(of_ops, ops));
	else
		nt_check_say(check, NT_FOUND_OK, "sock_cost is the sum of sock_op");
}

static int check_part(struct nt_check *check)
{
	const struct nt_check_part_ops *ops = &check->events.part_ops;
	char n_inside[NT_HUMAN_MAX], inside[NT_HUMAN_MAX], n_edges[NT_HUMAN_MAX], edges[NT_HUMAN_MAX],
		sum[NT_HUMAN_MAX];
	int64_t most = ops->inside.cpu_ns;

	if (!nt_check_add(&most, ops->at_edges.cpu_ns))
		most = INT64_MAX;
	check->name = "operations";
	if (!nt_check_has_operations(check)) {
		nt_check_say(check, NT_FOUND_NOTE, "left out: an operation may move from a chosen CPU to another");
		return 0;
	}
	nt_check_say(
		check, ops->slices_ns < ops->inside.cpu_ns || ops->slices_ns > most ? NT_FOUND_FAILED : NT_FOUND_OK,
		"the slices of send and recv sum to %s ns: %s ns of %s operations inside the time, and at most %s ns "
		"of %s at its edges",
		nt_human_count(sum, ops->slices_ns), nt_human_count(inside, ops->inside.cpu_ns),
		nt_human_count(n_inside, ops->inside.ops), nt_human_count(edges, ops->at_edges.cpu_ns),
		nt_human_count(n_edges, ops->at_edges.ops));
	return 0;
}

int nt_check_operations(struct nt_check *check)
{
	struct nt_check_ops costs = {0}, slices = {0};

	if (check->part)
		return check_part(check);
	if (read_sums(check, sums_of_costs, &costs) || read_sums(check, sums_of_slices, &slices))
		return -1;
	judge_costs(check, &check->events.ops, slices.cpu_ns);
	judge_sums(check, &check->events.ops, &costs);
	return 0;
}
