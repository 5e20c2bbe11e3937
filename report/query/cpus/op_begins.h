/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * op_begins.h - how early operations began that ended in some time: so much of a tape must be read for them. Exact
 * enough to read no less, in little memory: the time is cut into pieces, and each piece has the least begin. Pure.
 */
#pragma once

#include <stdint.h>

#define NT_OP_BEGINS_PIECES 4096

struct nt_op_begins {
	int64_t from_ts, to_ts;
	int64_t least_ts[NT_OP_BEGINS_PIECES]; /* INT64_MAX: none ended there */
};

/* from_ts <= to_ts, both included. */
void nt_op_begins_init(struct nt_op_begins *begins, int64_t from_ts, int64_t to_ts);
/* One that ended outside of the time is left out. */
void nt_op_begins_add(struct nt_op_begins *begins, int64_t ts, int64_t end_ts);
/* A time before which none began that ended within both; not after from_ts. */
int64_t nt_op_begins_least(const struct nt_op_begins *begins, int64_t from_ts, int64_t to_ts);
