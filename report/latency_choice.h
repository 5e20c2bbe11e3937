/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_choice.h - which samples of skb_latency a command is about: hooks, a stretch of time, groups. Parsed from the
 * command line, then applied to each session. Pure.
 */
#ifndef NT_REPORT_LATENCY_CHOICE_H
#define NT_REPORT_LATENCY_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/moment.h"
#include "schema/event.h"

enum nt_by { NT_BY_NONE, NT_BY_IFACE, NT_BY_CGROUP, NT_BY_PROCESS, NT_BY_SOCKET, NT_BY_CPU, NT_BY_PORT, NT_BY_COUNT };

#define NT_MAX_HOOKS 16 /* --hook may be given so often */

/* As on the command line; NULL and 0: not given. */
struct nt_latency_words {
	const char *by;
	const char *hooks[NT_MAX_HOOKS];
	unsigned int n_hooks;
	const char *from, *to;
	const char *between[2];
	bool include_hol;
};

struct nt_latency_choice {
	enum nt_by by;
	unsigned int hooks; /* a bit for each enum nt_hook */
	struct nt_moment from, to;
	enum nt_hook first, second; /* the time between two; NT_HOOK_NONE: the time since the stamp */
	bool include_hol;
};

/* 0, or -1 and a sentence that says what is wrong. */
int nt_latency_choose(const struct nt_latency_words *words, struct nt_latency_choice *choice, char *error,
		      size_t error_size);
/* "iface" and so on; NULL for NT_BY_NONE. */
const char *nt_by_name(enum nt_by by);
/* The number of a hook by its name; NT_HOOK_NONE: there is none of that name. */
enum nt_hook nt_hook_number(const char *name);

/* What of a session's time is chosen: from_ts <= ts < to_ts. Where nothing was given, all that can be. */
struct nt_latency_window {
	int64_t from_ts, to_ts;
};
struct nt_latency_window nt_latency_window(const struct nt_latency_choice *choice, int64_t start_ts,
					   int64_t start_realtime_ns);

#endif
