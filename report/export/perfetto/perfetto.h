/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfetto.h - a session as a Perfetto trace. One pass over its rows; memory for the CPUs and for identities, not for
 * the length of the recording. Writes to a stream, shows progress on stderr, prints nothing else.
 *
 * packets.c: packets and their compression; fields.h: the numbers of Perfetto's fields; events.c: events on tracks,
 * with their arguments; names.c: threads, processes, sockets; head.c: clocks, the system, the process tree; bundle.c:
 * bundles of ftrace events; sched.c: the scheduler and interrupts as such events; owners.c: a lane for each CPU with
 * its owners; ops.c: socket operations, packets, flows; marks.c: counters and losses; stacks.c: stack samples;
 * perfetto.c: which row goes where.
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
