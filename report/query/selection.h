/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * selection.h - which part of a recording a command is about: a stretch of time, CPUs, a process. Parsed from the
 * command line, then applied to each session. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/fail.h"

#define NT_MAX_CPU_RANGES 64

/* A time within a recording, as people give it: since its start, or UTC. */
struct nt_moment {
	bool is_given;
	bool is_wall; /* ns since 1970, UTC; else since the session's start */
	int64_t ns;
};

/* A length of time as nt_arg_duration has it, or "2026-11-21T18:00:00.5Z". 0, or -1: it is neither. */
int nt_moment_parse(const char *text, struct nt_moment *moment);

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

/* 0, or -1 and a sentence that says what is wrong; so is --from if it is not before --to, as far as can be told yet. */
int nt_select(const struct nt_selection_args *args, struct nt_selection *selection, char error[NT_ERROR_MAX]);

/* Whether it leaves anything out. */
bool nt_selection_is_given(const struct nt_selection *selection);

/* The selected part of a session's time: from_ts <= ts < to_ts. Where nothing was given, all times. */
struct nt_window {
	int64_t from_ts, to_ts;
};
struct nt_window nt_selection_window(const struct nt_selection *selection, int64_t start_ts, int64_t start_realtime_ns);
/* The same, cut to the session; from_ts may then be the greater one. */
struct nt_window nt_selection_within(const struct nt_selection *selection, int64_t start_ts, int64_t end_ts,
				     int64_t start_realtime_ns);

#define NT_CPUS_SQL_MAX (NT_MAX_CPU_RANGES * 48 + 64)
/*
 * The selected CPUs, as a condition in SQL on `cpu`. Gives `sql`. It begins with the least and the greatest, by which a
 * tape leaves blocks out.
 */
const char *nt_selection_cpus_sql(const struct nt_selection *selection, char sql[NT_CPUS_SQL_MAX]);
/* The threads of the selected process, ?4, in session ?1. */
#define NT_PROCESS_THREADS_SQL                                                                                         \
	"SELECT t.utid FROM thread AS t JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid "         \
	"WHERE t.session_id = ?1 AND (CAST(p.pid AS TEXT) = ?4 OR p.name = ?4)"
/* That process, or those of that name. */
#define NT_PROCESSES_SQL "SELECT upid FROM process WHERE session_id = ?1 AND (CAST(pid AS TEXT) = ?4 OR name = ?4)"
/* How many of the CPUs below n are selected. */
uint32_t nt_selection_count_cpus(const struct nt_selection *selection, uint32_t n);
bool nt_selection_has_cpu(const struct nt_selection *selection, uint32_t cpu);
/* `pid` is -1 and `name` NULL where they are not known. */
bool nt_selection_has_process(const struct nt_selection *selection, int64_t pid, const char *name);
