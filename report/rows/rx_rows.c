// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_rows.c - the part of rows.h that makes rows of rx_cost: from the parts of receive runs and their stretches
 * (rx_charge.h) over sums of flows (rollup.h) to those who pay (rx_payers.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "report/rows/state.h"

#define MAX_UNPAID 8192 /* costs: more are paid without a process */

static int on_charge(void *arg, const struct nt_rx_charge *charge)
{
	struct nt_rows *rows = arg;

	return rows->rollup ? nt_rollup_rx(rows->rollup, charge) : 0;
}

/* Flows of one protocol cost about the same. */
static uint8_t sort_of(void *arg, uint64_t flow)
{
	struct nt_rows *rows = arg;

	return nt_endpoints_protocol(&rows->learned->ids.endpoints, flow);
}

static uint64_t socket_of(void *arg, uint64_t flow, uint64_t at_ns)
{
	struct nt_rows *rows = arg;

	return nt_endpoints_delivered_to(&rows->learned->ids.endpoints, flow, at_ns);
}

/* Probe flows knows flows too, but not when their packets were received. */
bool nt_rx_rows_has_flows(const struct nt_rows *rows)
{
	return nt_tape_has_probe(rows->tape, "deliver") ||
	       (rows->learned->ids.endpoints.n_flows && !nt_tape_has_probe(rows->tape, "flows"));
}

int nt_rx_rows_new(struct nt_rows *rows)
{
	const struct nt_rx_charges_config config = {
		.time = rows->time,
		.n_cpus = rows->tape->n_cpus,
		.arg = rows,
		.charge = on_charge,
		.sample = nt_rows_push_received,
		.sort_of = sort_of,
		.socket_of = socket_of,
	};

	rows->charges = nt_rx_charges_new(&config);
	return rows->charges ? 0 : -ENOMEM;
}

void nt_rx_rows_free(struct nt_rows *rows)
{
	nt_rx_charges_free(rows->charges);
	nt_socket_users_release(&rows->users);
	nt_rx_rest_release(&rows->rest);
	free(rows->unpaid);
}

int nt_rx_rows_part(void *arg, const struct nt_rx_part *part)
{
	struct nt_rows *rows = arg;

	return rows->has_flows ? nt_rx_charges_part(rows->charges, part) : nt_rx_charges_nobodys(rows->charges, part);
}

int nt_rx_rows_sample(struct nt_rows *rows, uint32_t cpu, const struct nt_stack_sample *sample)
{
	return nt_rx_charges_sample(rows->charges, cpu, sample);
}

/* So that the same are known however much is read. */
static bool is_near(const struct nt_rows *rows, const struct nt_op_row *op)
{
	const struct nt_view_time *time = &rows->time;
	const uint64_t end_ns = op->ts_ns + op->dur_ns;

	return (end_ns + NT_USERS_NEAR_NS >= time->from_ns || time->begins) &&
	       (end_ns < time->to_ns + NT_USERS_NEAR_NS || time->ends);
}

int nt_rx_rows_op(struct nt_rows *rows, const struct nt_op_row *op)
{
	const bool is_done = op->end == NT_OP_DONE;
	const bool has_received =
		op->dir == NT_RECV && is_done && op->result > 0 && !(op->flags & (NT_OP_PEEK | NT_OP_ERRQUEUE));

	/* One that is not done may be told of long after the view, and nobody reads until then. */
	if (op->task == NT_NO_TASK || !op->socket || (rows->is_view && !(is_done && is_near(rows, op))))
		return 0;
	return nt_socket_users_add(&rows->users, op->socket, nt_identities_process_of(&rows->learned->ids, op->task),
				   op->ts_ns + op->dur_ns, has_received ? (uint64_t)op->result : 0);
}

static int push_paid(void *arg, const struct nt_rx_paid *paid)
{
	struct nt_rows *rows = arg;
	struct nt_rx_paid row = *paid;

	if (row.has_reason)
		row.reason_name = nt_identities_drop_reason(&rows->learned->ids, row.reason);
	return nt_rows_push(rows, NT_TABLE_RX_COST, &row);
}

static int on_paid(void *arg, const struct nt_rx_paid *paid)
{
	struct nt_rows *rows = arg;

	return paid->cost->is_late ? nt_rx_rest_add(&rows->rest, paid, push_paid, rows) : push_paid(rows, paid);
}

static int pay(struct nt_rows *rows, struct nt_socket_users *users, const struct nt_rx_cost *cost,
	       enum nt_rx_unused unused)
{
	struct nt_identities *ids = &rows->learned->ids;
	struct nt_rx_flows flows = {.endpoints = &ids->endpoints, .users = users};

	flows.has_refusal = nt_identities_refusal(ids, &flows.refusal);
	return nt_rx_pay(&flows, cost, unused, on_paid, rows);
}

/* Whoever used sockets at any time: all of the tape is charged for that, once. */
static int know_users(struct nt_rows *rows)
{
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_RX_COST),
					  .learned = rows->learned,
					  .is_stopped = rows->want.is_stopped,
					  .stopped_arg = rows->want.stopped_arg};
	const struct nt_row *row;
	struct nt_row_iter *all;
	int error;

	if (rows->learned->has_users)
		return 0;
	error = nt_rows_open(&all, rows->tape, NULL, rows->session_id, &want);
	if (error)
		return error;
	while (!(error = nt_row_next(all, &row)))
		;
	if (error == 1) {
		rows->learned->users = nt_rows_of(all)->users;
		rows->learned->has_users = true;
		nt_rows_of(all)->users = (struct nt_socket_users){0};
	}
	nt_row_close(all);
	return error == 1 ? 0 : error;
}

/* All operations that were read are known. Of a view others may tell more. */
static int pay_at_last(struct nt_rows *rows, const struct nt_rx_cost *cost)
{
	int error = pay(rows, &rows->users, cost, rows->is_view ? NT_RX_HOLDERS : NT_RX_PAY);

	if (error != NT_RX_LATER)
		return error;
	error = know_users(rows);
	return error ? error : pay(rows, &rows->learned->users, cost, NT_RX_PAY);
}

int nt_rx_rows_cost(void *arg, const struct nt_rx_cost *cost)
{
	struct nt_rows *rows = arg;
	int error;

	if (rows->n_unpaid == MAX_UNPAID)
		return pay_at_last(rows, cost);
	error = pay(rows, &rows->users, cost, NT_RX_WAIT);
	if (error != NT_RX_LATER)
		return error;
	if (NT_ROOM(rows->unpaid, rows->unpaid_size, rows->n_unpaid + 1))
		return -ENOMEM;
	rows->unpaid[rows->n_unpaid++] = *cost;
	return 0;
}

int nt_rx_rows_known(struct nt_rows *rows, uint64_t until_ns)
{
	size_t n = 0;
	int error = 0;

	for (size_t i = 0; i < rows->n_unpaid && !error; i++) {
		const struct nt_rx_cost *cost = &rows->unpaid[i];

		if (cost->ts_ns + cost->dur_ns <= until_ns)
			error = pay(rows, &rows->users, cost, NT_RX_PAY);
		else
			rows->unpaid[n++] = *cost;
	}
	rows->n_unpaid = n;
	return error ? error : nt_rx_rest_give(&rows->rest, push_paid, rows);
}

int nt_rx_rows_finish(struct nt_rows *rows)
{
	int error = 0;

	for (size_t i = 0; i < rows->n_unpaid && !error; i++)
		error = pay_at_last(rows, &rows->unpaid[i]);
	rows->n_unpaid = 0;
	return error ? error : nt_rx_rest_give(&rows->rest, push_paid, rows);
}
