/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline_model.h - the timeline's slow, obvious second implementation. It keeps the whole trace, holds
 * an owner for each single nanosecond of each CPU, and applies the rules of timeline.h to each by itself. For
 * traces of some thousand ns and some hundred records; it knows nothing of the timeline's code.
 */
#pragma once

#include <stddef.h>

#include "report/timeline/timeline.h"

/* One call of nt_timeline_add or nt_timeline_gap. */
struct trace_item {
	uint32_t cpu;
	bool is_gap;
	union nt_any record; /* !is_gap */
	uint64_t resume_ns; /* is_gap, and the next two */
	uint64_t task;
	const char *why;
};

/* Gives the rows to the sink, cpu_slice and sched_slice in time order. Aborts when memory is out. */
void timeline_model_run(const struct nt_timeline_config *config, const struct trace_item *items, size_t n,
			const struct nt_timeline_sink *sink, struct nt_timeline_counts *counts);

/* The timeline itself over the same items. Gives its first error, which it does not expect to see. */
int timeline_run(const struct nt_timeline_config *config, const struct trace_item *items, size_t n,
		 const struct nt_timeline_sink *sink, struct nt_timeline_counts *counts);
