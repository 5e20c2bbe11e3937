/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * choice.h - the options of `timeline`: which part of the recordings, how finely cut, and what to look for. Parsed from
 * the command line. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/query/selection.h"

#define NT_LANE_MAX_CELLS 10000
#define NT_WORST_MAX 100

/* As on the command line; NULL: not given. */
struct nt_lanes_args {
	const char *cells; /* --cells */
	const char *worst, *window, *top; /* --worst, --window, --top */
	bool each_cpu; /* --each-cpu */
};

struct nt_lanes_choice {
	struct nt_selection selection;
	uint32_t cells; /* 0: as many as a line has room for */
	const char *worst; /* an owner, or `network`; NULL: the whole time is shown. Not copied */
	unsigned int worst_kinds; /* the same as bits, see lanes.h */
	uint64_t window_ns;
	unsigned int top;
	bool each_cpu;
};

/* 0, or -1 and a sentence that says what is wrong. */
int nt_lanes_choose(const struct nt_lanes_args *args, const struct nt_selection_args *selection,
		    struct nt_lanes_choice *choice, char error[NT_ERROR_MAX]);
