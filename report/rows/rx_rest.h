/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rx_rest.h - rows of rx_cost of the flows that came after NT_NAMED_FLOWS others in their bucket, on their CPU: those
 * with the same payer are one row, without a flow. So the rows of flows are bounded, whoever sends. Pure. Memory: a MB,
 * once there is such a row.
 */
#pragma once

#include "report/rows/rx_payers.h"

/* Zero-initialised is empty. */
struct nt_rx_rest {
	struct nt_rx_rest_row *rows;
	uint16_t *slots;
	size_t n;
};

typedef int (*nt_rx_give_fn)(void *arg, const struct nt_rx_paid *paid);

void nt_rx_rest_release(struct nt_rx_rest *rest);
/*
 * Adds a row to those of the same payer; *paid is copied. When there are many they are given first. 0, -ENOMEM, or what
 * `give` gave, which other than 0 ends the giving.
 */
int nt_rx_rest_add(struct nt_rx_rest *rest, const struct nt_rx_paid *paid, nt_rx_give_fn give, void *arg);
/* Gives all rows, and forgets them. The flow of a row is 0, unless only one had the payer. */
int nt_rx_rest_give(struct nt_rx_rest *rest, nt_rx_give_fn give, void *arg);
