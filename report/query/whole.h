/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * whole.h - whether a recording is whole: it has its end and all its chunks, and nothing of it is damaged. Where it is
 * not, what is wrong, and how much CPU time that touches. Each output says this in the words and members made here.
 *
 * Functions give 0, or -1 and a sentence in db->error.
 */
#pragma once

#include <stdio.h>

#include "report/out/output.h"
#include "report/query/session.h"

/*
 * X(WHY): those values of loss.why that blocks leave which are not on the tape. All others were declared by the
 * recorder, or are contradictions among the records that are there.
 */
#define NT_MISSING_WHYS(X)                                                                                             \
	X("missing block")                                                                                             \
	X("damaged block")                                                                                             \
	X("no state record")                                                                                           \
	X("no last state record")
#define NT_MISSING_WHY_SQL(why) ", '" why "'"
/* The same as a list in SQL. */
#define NT_MISSING_SQL "(''" NT_MISSING_WHYS(NT_MISSING_WHY_SQL) ")"

struct nt_whole {
	bool is_whole;
	int64_t n_problems; /* that are known by now: of a tape, only what was read can be found damaged */
	char first[NT_ERROR_MAX]; /* problem; "" if there is none */
	/*
	 * The uncovered time in which records are missing from the tape, of the selected time and CPUs together.
	 * Nothing of it is known, so whatever came in it is in no figure.
	 */
	bool has_touched; /* it is known */
	int64_t touched_ns, of_ns; /* of_ns: all time of these CPUs; 0: not known */
	bool open_end; /* the recording went on behind the last record, which touched_ns does not count */
};

/*
 * As far as that is known without reading a tape for it: whoever has read the losses (the table `loss`, beside what is
 * shown) knows the time. `selection`: what is shown.
 */
int nt_whole_find(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		  struct nt_whole *whole);
/* Whether a row of `loss` with this `why` is such a stretch. */
bool nt_whole_is_missing(const char *why);

/* "NOT WHOLE: 2 problems touch 1.300 s of CPU time (0.40 %). The first: ..."; "" of what is whole. Gives text. */
#define NT_WHOLE_MAX (NT_ERROR_MAX + 256)
const char *nt_whole_text(const struct nt_whole *whole, char text[NT_WHOLE_MAX]);
/* The same on lines of its own, with an empty one behind; nothing of what is whole. */
void nt_whole_print(const struct nt_whole *whole, FILE *out);
/* "whole": true, "damage": null; or false and {"problems", "first", "touched_ns", "open_end"}. */
void nt_whole_json(const struct nt_whole *whole, struct nt_json *json);
