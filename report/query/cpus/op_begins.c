// SPDX-License-Identifier: GPL-2.0-only
/*
 * op_begins.c - see op_begins.h.
 */
#include "report/query/cpus/op_begins.h"

void nt_op_begins_init(struct nt_op_begins *begins, int64_t from_ts, int64_t to_ts)
{
	begins->from_ts = from_ts;
	begins->to_ts = to_ts;
	for (unsigned int i = 0; i < NT_OP_BEGINS_PIECES; i++)
		begins->least_ts[i] = INT64_MAX;
}

static unsigned int piece_of(const struct nt_op_begins *begins, int64_t ts)
{
	const unsigned __int128 span = (unsigned __int128)((uint64_t)begins->to_ts - (uint64_t)begins->from_ts) + 1;
	const uint64_t since = (uint64_t)ts - (uint64_t)begins->from_ts;

	return (unsigned int)((unsigned __int128)since * NT_OP_BEGINS_PIECES / span);
}

void nt_op_begins_add(struct nt_op_begins *begins, int64_t ts, int64_t end_ts)
{
	int64_t *least_ts;

	if (end_ts < begins->from_ts || end_ts > begins->to_ts)
		return;
	least_ts = &begins->least_ts[piece_of(begins, end_ts)];
	*least_ts = ts < *least_ts ? ts : *least_ts;
}

int64_t nt_op_begins_least(const struct nt_op_begins *begins, int64_t from_ts, int64_t to_ts)
{
	const unsigned int last = piece_of(begins, to_ts);
	int64_t least_ts = from_ts;

	for (unsigned int i = piece_of(begins, from_ts); i <= last; i++)
		least_ts = begins->least_ts[i] < least_ts ? begins->least_ts[i] : least_ts;
	return least_ts;
}
