/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drawing.h - draws lanes with characters: a line for each CPU with a letter a cell, below it the share of the network
 * stack, and at the bottom an axis of time. Writes to the stream it is given and nowhere else.
 */
#ifndef NT_REPORT_QUERY_CPUS_DRAWING_H
#define NT_REPORT_QUERY_CPUS_DRAWING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/out/output.h"
#include "report/query/cpus/lanes.h"

#define NT_LANES_BESIDE 10 /* characters of a line that are no cell */

struct nt_lanes_style {
	bool colour; /* with escape sequences of a terminal */
	bool blocks; /* bars, in UTF-8; else digits */
};

/* `since_ts` is time 0 of the axis, and not after from_ts. */
void nt_lanes_draw(const struct nt_lanes *lanes, FILE *out, int64_t since_ts, const struct nt_lanes_style *style);
/* Seconds with as many digits as they have, as --from takes them: "2.5". Gives `out`. */
const char *nt_lanes_seconds(char out[NT_HUMAN_MAX], uint64_t ns);

#endif
