/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * segment.h - one segment of one CPU: the spans that ended or are open in it, and the owner of each of its nanoseconds.
 * Pure: knows nothing of records, sessions or other CPUs. For timeline.c only.
 *
 * The owner of a nanosecond, first match wins: an interrupt; a softirq (NET_RX, then NET_TX, then the
 * others); a poll that the task makes itself (NET_RX too); the operation begun last (of two begun together, the one
 * that ends first; of two that end together as well, the one recorded first; an open one is outside those that ended,
 * and of two open ones the one listed last is inside); else whatever the CPU does by itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/timeline/timeline.h"
#include "report/util/array.h"

#define NT_SEGMENT_MAX (1u << 16) /* spans; a writer keeps a segment under 4,096 records */

enum nt_layer { NT_LAYER_OP, NT_LAYER_POLL, NT_LAYER_SOFTIRQ, NT_LAYER_IRQ };

#define NT_MARK_TIMED 0x01 /* has a begin, and time of its own */
#define NT_MARK_KNOWN 0x02 /* made by the segment's task, or while it was on the CPU: can own time */
#define NT_MARK_OPEN 0x04 /* had not ended when the segment did; end_ns is UINT64_MAX */
#define NT_MARK_LOWER 0x08 /* operation: some of its time may lie in uncovered time */
#define NT_MARK_IN_OP 0x10 /* set by nt_segment_paint: softirq begun inside an operation */

struct nt_span {
	uint64_t begin_ns, end_ns;
	uint64_t own_ns; /* operation: set by nt_segment_paint, what it owned in the segment */
	uint64_t socket; /* poll: device */
	int32_t result; /* poll: work */
	uint32_t number; /* softirq: context; irq: number; poll: napi_id */
	uint32_t budget; /* poll */
	uint8_t layer; /* enum nt_layer */
	uint8_t detail; /* operation: enum nt_op_dir; softirq: vector; irq: enum nt_irq_type; poll: enum nt_napi_context
			 */
	uint8_t call;
	uint8_t flags; /* as the record's */
	uint8_t marks; /* NT_MARK_* */
};

/* The owner from the end of the piece before (or the segment's start) to until_ns. */
struct nt_piece {
	uint64_t until_ns;
	uint64_t run_ns; /* net_rx: the begin of the softirq or poll, or that of the base */
	uint32_t irq_type, irq_number; /* hardirq: the interrupt's; else 0 */
	enum nt_owner owner;
};

/* The owner of time outside all spans, and for net_rx the begin of its run. */
struct nt_segment_base {
	enum nt_owner owner;
	uint64_t run_ns;
};

/* Zero-initialised is empty. The owner releases it. */
struct nt_segment {
	struct nt_span *spans; /* in the order added: by end, but for small inversions */
	uint32_t n;
	size_t spans_size;
	/* The results of nt_segment_paint. */
	struct nt_piece *pieces;
	uint32_t n_pieces;
	size_t pieces_size;
	uint32_t overlaps; /* operations that outlast the one they began in */
	uint32_t *order; /* scratch of nt_segment_paint */
	size_t order_size;
};

void nt_segment_release(struct nt_segment *segment);
/*
 * Room for one more span, behind the n that there are: the caller fills it in and counts it. NULL: out of memory. The
 * caller holds to NT_SEGMENT_MAX. Inline, and without a copy: this is for every span of a host.
 */
static inline struct nt_span *nt_segment_room(struct nt_segment *segment)
{
	return NT_ROOM(segment->spans, segment->spans_size, segment->n + 1) ? NULL : &segment->spans[segment->n];
}
/*
 * Gives each nanosecond of [from_ns, to_ns) its owner: pieces without gaps, `base` where no span owns. Spans
 * that are TIMED and KNOWN and begin before to_ns take part. Sets own_ns and IN_OP of those. 0, or -ENOMEM.
 * n log n in the spans, linear when they were added in the order of their begins.
 */
int nt_segment_paint(struct nt_segment *segment, uint64_t from_ns, uint64_t to_ns, struct nt_segment_base base);
