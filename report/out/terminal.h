/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * terminal.h - what the output goes to: the width of a line, and what it may contain. Without a terminal the answer is
 * always the same, so that a report depends on its tape alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/out/output.h"

struct nt_terminal {
	bool is_terminal;
	bool colour; /* escape sequences: not with NO_COLOR, nor on a terminal that is dumb */
	bool utf8; /* the locale says that it shows more than ASCII */
	uint32_t width; /* 40 to 400; 80 where there is no telling, unless nt_terminal_set_width says another */
};

/* The width of lines of what is no terminal, from now on, in all of the program: for a reader that has no edge. */
void nt_terminal_set_width(uint32_t columns);

/* Only tables are for terminals. */
struct nt_terminal nt_terminal_find(FILE *out, enum nt_format format);
