/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.h - what the page of `export html` has beside its charts of CPU time: facts about the session, tables of
 * costs, and events over time. Each is one query, written as JSON; a new one is a line in tables.c and needs nothing in
 * the page. Reads the database, writes to the stream of the JSON writer.
 */
#ifndef NT_REPORT_EXPORT_HTML_TABLES_H
#define NT_REPORT_EXPORT_HTML_TABLES_H

#include "report/export/html/costs.h"
#include "report/out/output.h"

#define NT_HTML_ROWS 40 /* of a table; the others are summed up in one */
#define NT_HTML_TEXTS 200
#define NT_HTML_TEXT_BYTES 1024 /* of a text; the rest is left out */

/* Each writes one member of the object at hand. 0, or -1 and db->error. */

/* "session": {...}, and "recorder": {...}, what its threads cost (query/self_cost.h); empty if that is not on the tape.
 */
int nt_html_facts(const struct nt_html_scope *scope, struct nt_json *json);
/* "tables": [{"name", "by", "title", "note", "columns": [...], "rows": [[...], ...], "rest": [...] or null,
 * "rest_rows"},
 * ...]. The units of columns are the ends of their names: _ns, _bytes, _count, _share. The first ones are the groupings
 * of query/groups.h, whose word is "by". */
int nt_html_tables(const struct nt_html_scope *scope, struct nt_json *json);
/* "uncovered": [...], "problems": [...] */
int nt_html_texts(const struct nt_html_scope *scope, struct nt_json *json);
/* "events": [{"name", "title", "counts": [step, count, step, count, ...]}, ...], of those that there are. */
int nt_html_events(const struct nt_html_scope *scope, const struct nt_html_costs *costs, struct nt_json *json);

#endif
