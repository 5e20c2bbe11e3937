/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - where in a tape the records of one CPU and time are, by the headers of its blocks. Errors as in
 * schema/block.h.
 */
#pragma once

#include "report/tape/tape.h"

/* Where a reader of one CPU begins: behind a normal block, or (zero-initialised) with the tape. */
struct nt_place {
	bool leave_out; /* nothing of the CPU is read */
	size_t chunk; /* of the block, or an earlier one */
	uint64_t sequence; /* of the block that is next */
	uint64_t end_ns; /* greatest end in the block; 0: there is no block before */
};

/* The last place from which all the CPU's records that end at at_ns or later are read. */
int nt_place_find(struct nt_tape *tape, uint32_t cpu, uint64_t at_ns, struct nt_place *out);
/* Spans of some kinds (1 << kind) that began in a time: from_ns <= begin < to_ns. */
struct nt_spans_wanted {
	uint64_t kinds;
	uint64_t from_ns, to_ns;
};
/*
 * Until when one must read to have all of these spans of the CPU, also those that ended after to_ns; to_ns: no later.
 * At most a second more than that, since headers do not tell the kinds of shorter spans.
 */
int nt_place_last_span(struct nt_tape *tape, uint32_t cpu, const struct nt_spans_wanted *wanted, uint64_t *until_ns);
