/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * selection.h - which part of a recording a command is about: a stretch of time, CPUs, a process. Parsed from the
 * command line, then applied to each session. Pure.
 */
#ifndef NT_REPORT_QUERY_SELECTION_H
#define NT_REPORT_QUERY_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/query/moment.h"

#define NT_MAX_CPU_RANGES 64

/* As on the command line; NULL: not given. */
struct nt_selection_args {
	const char *from, *to; /* --from, --to */
	const char *cpus; /* --cpu */
	const char *process; /* --process */
};

struct nt_selection {
	struct nt_moment from, to;
	struct {
		uint32_t first, last;
	} cpus[NT_MAX_CPU_RANGES];
	unsigned int n_cpus; /* ranges; 0: all */
	const char *process; /* pid or name; NULL: all. Not copied */
};

/* 0, or -1 and a sentence that says what is wrong. */
int nt_select(const struct nt_selection_args *args, struct nt_selection *selection, char *error, size_t error_size);

/* Whether --from is before --to, as far as can be told without a session. 0, or -1 and a sentence. */
int nt_selection_check(const struct nt_selection *selection, char *error, size_t error_size);

/* What of a session's time is selected: from_ts <= ts < to_ts. Where nothing was given, all that can be. */
struct nt_window {
	int64_t from_ts, to_ts;
};
struct nt_window nt_selection_window(const struct nt_selection *selection, int64_t start_ts, int64_t start_realtime_ns);
/* The same, cut to the session; from_ts may then be the greater one. */
struct nt_window nt_selection_within(const struct nt_selection *selection, int64_t start_ts, int64_t end_ts,
				     int64_t start_realtime_ns);

bool nt_selection_has_cpu(const struct nt_selection *selection, uint32_t cpu);
/* `pid` is -1 and `name` NULL where they are not known. */
bool nt_selection_has_process(const struct nt_selection *selection, int64_t pid, const char *name);

#endif
