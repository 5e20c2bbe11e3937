/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uncovered.h - how much a recording says that it does not cover, in one line: `info` lists it. Prints to `out`.
 */
#pragma once

#include "report/db/db.h"
#include "report/query/session.h"

/*
 * Nothing where there is nothing. `these`: a condition in SQL on `value`, the sentence; NULL: all. `by_what`: "this
 * recording", in the line. 0, or -1 and db->error.
 */
int nt_uncovered_print(FILE *out, struct nt_db *db, int64_t session_id, const char *these, const char *by_what);
