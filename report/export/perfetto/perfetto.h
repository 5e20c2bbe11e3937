/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfetto.h - a session as a Perfetto trace. One pass over its rows; memory for the CPUs and for who is who, not for
 * the length of the recording. Writes to a stream, shows progress on stderr, prints nothing else.
 *
 * perfetto_packets: packets and their compression; perfetto_fields: the numbers of Perfetto's fields; perfetto_events:
 * events on tracks, with their arguments; perfetto_names: threads, processes, sockets; perfetto_head: clocks, the
 * system, the process tree; perfetto_bundle: bundles of ftrace events; perfetto_sched: which of them the scheduler and
 * interrupts are; perfetto_owners: a lane for each CPU, who had it; perfetto_ops: socket operations, packets, flows;
 * perfetto_marks: counters and losses; perfetto_stacks: stack samples; perfetto: which row goes where.
 */
#ifndef NT_REPORT_EXPORT_PERFETTO_PERFETTO_H
#define NT_REPORT_EXPORT_PERFETTO_PERFETTO_H

#include <stdio.h>

#include "report/db/feed.h"
#include "report/out/progress.h"
#include "report/query/selection.h"

/* 0, or -1 and a sentence in `error`; failures of `out` stay in it. `progress` has begun. */
int nt_perfetto_export(struct nt_feed *feed, const struct nt_selection *selection, FILE *out,
		       struct nt_progress *progress, char *error, size_t error_size);

#endif
