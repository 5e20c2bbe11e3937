/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - what `timeline` finds in one session (result.c), and the ways to show it: text for people
 * (text.c), JSON and CSV for programs (json.c).
 */
#pragma once

#include "report/out/terminal.h"
#include "report/query/cpus/beside.h"
#include "report/query/cpus/choice.h"
#include "report/query/cpus/read.h"
#include "report/query/cpus/worst.h"

/* One of the worst windows, and what was in it. Only that of the first has more than one column. */
struct nt_lanes_worst {
	struct nt_worst_window window;
	struct nt_lanes lanes;
	struct nt_selection selection; /* with --each-cpu: of its CPU alone */
	struct nt_lanes_beside beside; /* its part is the window */
	bool is_read; /* the pass that runs now is for it */
};

struct nt_lanes_result {
	struct nt_part part; /* what was asked about; with --worst: what was searched */
	const struct nt_lanes_choice *choice;
	const char *path; /* as given */
	bool is_one_of_many; /* the database has other sessions */
	struct nt_lanes_filter filter;
	struct nt_lanes lanes; /* with --worst: empty, and these: */
	struct nt_lanes_beside beside;
	struct nt_lanes_worst worst[NT_WORST_MAX];
	unsigned int n_worst;
	bool has_payers; /* it is known whose packets were received */
	uint64_t at_most_ns; /* no window can have had more, whosever the uncovered time was */
};

/*
 * Reads what was asked for; `part`, `choice`, `path` and `is_one_of_many` are set. Memory is for the cells and threads;
 * with --worst, as worst.h says.
 * 0, or -1 and a sentence in db->error. To be released in either case.
 */
int nt_lanes_find(struct nt_lanes_result *result, uint32_t columns);
void nt_lanes_result_release(struct nt_lanes_result *result);
/* All CPU time of a worst window: its length, times its CPUs. */
uint64_t nt_lanes_worst_whole(const struct nt_lanes_result *result, const struct nt_lanes_worst *worst);

/* ---- drawing.c: draws lanes with characters ----
 *
 * A line for each CPU with a letter a cell, below it the share of the network stack, and at the bottom an axis of time.
 */

#define NT_LANES_BESIDE 10 /* characters of a line that are no cell */

/* `since_ts` is time 0 of the axis, and not after from_ts. */
void nt_lanes_draw(const struct nt_lanes *lanes, FILE *out, int64_t since_ts, const struct nt_terminal *terminal);

/* ---- all of it; 0, or -1 and a sentence in db->error ---- */

/* `printer` and `terminal` are those of `out`. */
int nt_lanes_text(const struct nt_lanes_result *result, FILE *out, struct nt_printer *printer,
		  const struct nt_terminal *terminal);
/* The members of an object. */
int nt_lanes_json(const struct nt_lanes_result *result, struct nt_json *json);
/* All sessions are one set of rows. */
int nt_lanes_csv_begin(struct nt_printer *printer);
int nt_lanes_csv(const struct nt_lanes_result *result, struct nt_printer *printer);
