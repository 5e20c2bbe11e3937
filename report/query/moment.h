/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * moment.h - a time within a recording, as people give it: since its start, or UTC. Pure.
 */
#ifndef NT_REPORT_QUERY_MOMENT_H
#define NT_REPORT_QUERY_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct nt_moment {
	bool is_given;
	bool is_wall; /* ns since 1970, UTC; else since the session's start */
	int64_t ns;
};

/* A length of time as nt_arg_duration has it, or "2026-11-21T18:00:00.5Z". 0, or -1: it is neither. */
int nt_moment_parse(const char *text, struct nt_moment *moment);

#endif
