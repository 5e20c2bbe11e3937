/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * show.h - the result of `stages` (result.h), shown: tables for people, JSON and CSV for programs. Writes
 * to the stream it is given; write errors stay in it.
 */
#pragma once

#include "report/query/stages/result.h"

/* The part of the session that was asked for, into *part. Nothing: `why_not` says so, else it is "". 0, or -1 and a
 * sentence in db->error. */
int nt_stage_part_of(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		     struct nt_part *part, char why_not[NT_ERROR_MAX]);

/* Each 0, or -1 and a sentence in db->error. */

/* Tables of the `limit` rows with the most time; `printer` is of `out`. */
int nt_stage_print(const struct nt_stage_result *result, FILE *out, struct nt_printer *printer, size_t limit);
/* All sessions are one set of rows, which this begins. -1: out of memory. */
int nt_stage_csv_begin(const struct nt_stage_choice *choice, struct nt_printer *printer);
int nt_stage_csv(const struct nt_stage_result *result, struct nt_printer *printer);
/* One session as members of the object at hand, wherever that stands. */
int nt_stage_json(const struct nt_stage_result *result, struct nt_json *json);
