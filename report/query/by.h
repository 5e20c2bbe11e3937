/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * by.h - the groupings that --by takes: of costs (groups.h), of latencies and of stages (labels.h), of flows
 * (flows.h). Pure.
 */
#pragma once

#include <stddef.h>

#include "report/util/fail.h"

/* Commands that have --by. */
enum nt_by_of {
	NT_BY_OF_COSTS = 1, /* summary, export html */
	NT_BY_OF_LATENCIES = 2, /* latency, export prometheus */
	NT_BY_OF_STAGES = 4,
	NT_BY_OF_FLAMES = 8,
	NT_BY_OF_FLOWS = 16 /* top */
};

enum nt_by {
	NT_BY_NONE,
	NT_BY_PROGRAM,
	NT_BY_PROCESS,
	NT_BY_PAYER, /* the process, and what no process pays for by its own names */
	NT_BY_FLOW,
	NT_BY_SRC,
	NT_BY_DST,
	NT_BY_PORT,
	NT_BY_PEER,
	NT_BY_CGROUP,
	NT_BY_SOCKET,
	NT_BY_IFACE,
	NT_BY_CPU,
	NT_BY_TIME,
	NT_BY_COUNT
};

/* "program" and so on; NULL for NT_BY_NONE. */
const char *nt_by_name(enum nt_by by);
/* The i-th grouping that these commands have; NT_BY_NONE: there are no more. */
enum nt_by nt_by_nth(enum nt_by_of commands, size_t i);
/* All of them for a sentence: "program, process or socket". Gives text. */
#define NT_BY_WORDS_MAX 128
const char *nt_by_words(enum nt_by_of commands, char text[NT_BY_WORDS_MAX]);
/* The grouping of this name; NULL: NT_BY_NONE. 0, or -1 and a sentence with what there is. */
int nt_by_choose(const char *word, enum nt_by_of commands, enum nt_by *by, char error[NT_ERROR_MAX]);
