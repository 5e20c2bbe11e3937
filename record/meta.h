/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * meta.h - what the tape says about the session as a whole: chunk header and meta blocks.
 */
#pragma once

#include "record/kernel.h"
#include "schema/chunk.h"

/*
 * The CPU time of the recorder's threads, as the snapshots on the tape have it: until the first of them, from there to
 * the last one while programs ran, and from there to the last of all.
 */
struct nt_own_cost {
	uint64_t loading_ns, recording_ns, ending_ns;
	uint64_t recorded_ns; /* the time that recording_ns is of; 0: there are no two snapshots */
};

struct nt_totals {
	uint64_t duration_ns, events;
	uint64_t lost; /* the rings were full */
	uint64_t missed; /* switches that the kernel did not show */
	uint64_t many; /* packets that were counted with many flows (NT_FLOW_MANY), at most */
	uint64_t left_out, left_out_most; /* runs that the kernel left out; those of the program that has most */
	const char *most_left_out; /* its name */
	struct nt_own_cost own;
	uint64_t lost_bytes_max; /* room for what was lost on one CPU between two drains, at most */
	uint64_t dropped_chunks, dropped_bytes, dropped_events; /* that are not on the tape any more */
	uint64_t kept_ns; /* if there are any: the time that the tape has now */
};

/* A new session: random id, this host. Number and times are the chunk's (tape_writer.h). */
void nt_meta_header(struct nt_chunk_header *header);
/* The lines that open every chunk; `hidden` is one more sentence on what is not covered, or "". 0 or -ENOMEM. */
int nt_meta_open(struct nt_buf *out, const struct nt_record_options *options, const struct nt_kernel *kernel,
		 const char *hidden);
/* The lines that close a session. */
int nt_meta_close(struct nt_buf *out, uint64_t end_ns, const char *stop, const struct nt_totals *totals);
