/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page.h - a recording as one page that needs nothing else: no network, no library, no other file. The page
 * itself is report/export/html/page/, built into the program; here its data is put in. Writes to the stream it is given
 * and nowhere else; write errors stay in it.
 *
 * A tape may hold anything, and this goes to browsers. Data stands in the page as JSON without < > &, which the page's
 * script turns into text nodes, never into markup; and the page's own policy lets a browser run that script and no
 * other.
 */
#ifndef NT_REPORT_EXPORT_HTML_PAGE_H
#define NT_REPORT_EXPORT_HTML_PAGE_H

#include <stdio.h>

#include "report/db/db.h"
#include "report/query/groups.h"
#include "report/query/selection.h"

#define NT_HTML_DATA_VERSION 2

/* Whether anything of the database is selected: 1; 0: a sentence in `why` says why not; -1: db->error. */
int nt_export_html_has(struct nt_db *db, const struct nt_selection *selection, char *why, size_t why_size);
/* All sessions, each in a section. `by`: how costs are grouped first; the reader may choose another grouping. 0, or -1
 * and db->error. */
int nt_export_html(struct nt_db *db, const struct nt_selection *selection, enum nt_group by, FILE *out);

#endif
