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
/*
 * Until when one must read to have all softirqs, interrupts and polls of the CPU that began before ns and ended later;
 * ns: there are none. A little more than that, since headers do not tell these from operations.
 */
int nt_place_last_span(struct nt_tape *tape, uint32_t cpu, uint64_t ns, uint64_t *until_ns);
