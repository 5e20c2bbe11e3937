/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * span.h - when the span of a record began and how long it took, for all kinds whose shape is SPAN in event.h. Inline:
 * this runs for every event of a host.
 */
#pragma once

#include <stdint.h>

#include "schema/event.h"

/* UINT64_MAX: the record is no span, or its begin is not known. 0: it would be before the clock's. */
static inline uint64_t nt_span_begin(const union nt_any *any)
{
	uint64_t end_ns = any->record.end_ns, dur_ns;

	switch (any->record.kind) {
#define NT_CASE_SPAN(number, name)                                                                                     \
	case number:                                                                                                   \
		if (any->as_##name.flags & NT_NO_BEGIN_##name)                                                         \
			return UINT64_MAX;                                                                             \
		dur_ns = any->as_##name.dur_ns;                                                                        \
		break;
#define NT_CASE_MOMENT(number, name)
#define X(number, constant, name, shape, place) NT_CASE_##shape(number, name)
		NT_KINDS(X)
#undef X
#undef NT_CASE_SPAN
#undef NT_CASE_MOMENT
	default:
		return UINT64_MAX;
	}
	return dur_ns < end_ns ? end_ns - dur_ns : 0;
}

/* 0: the record is no span, or its begin is not known. */
static inline uint64_t nt_span_dur(const union nt_any *any)
{
	uint64_t begin_ns = nt_span_begin(any);

	return begin_ns < any->record.end_ns ? any->record.end_ns - begin_ns : 0;
}
