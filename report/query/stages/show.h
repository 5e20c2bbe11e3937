/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * show.h - the result of `stages` (result.h), shown: tables for people, JSON and CSV for programs. Writes
 * to the stream it is given; write errors stay in it.
 */
#ifndef NT_REPORT_QUERY_STAGES_SHOW_H
#define NT_REPORT_QUERY_STAGES_SHOW_H

#include "report/query/stages/result.h"

/* `out` and `format` are set, the rest is zero-initialised. */
struct nt_stage_show {
	FILE *out;
	enum nt_format format;
	struct nt_printer *printer;
	struct nt_json json;
	unsigned int sessions; /* shown so far */
};

/* What of the session was asked for, into *part. Nothing: `why_not` says so, else it is "". 0, or -1 and a sentence in
 * db->error. */
int nt_stage_part_of(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		     struct nt_part *part, char *why_not, size_t size);

/* Once, before and after all sessions. -1: out of memory. */
int nt_stage_show_begin(struct nt_stage_show *show, const struct nt_stage_choice *choice);
void nt_stage_show_end(struct nt_stage_show *show);
/* One session. 0, or -1 and a sentence in db->error. */
int nt_stage_show(struct nt_stage_show *show, const struct nt_stage_result *result);

/* One session as members of the object at hand, wherever that stands. The same errors. */
int nt_stage_json(const struct nt_stage_result *result, struct nt_json *json);

#endif
