/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stages.h - stages for `export html`: the same as `stages --json` of the same time, CPUs and process, found and
 * written by the same functions.
 */
#ifndef NT_REPORT_EXPORT_HTML_STAGES_H
#define NT_REPORT_EXPORT_HTML_STAGES_H

#include "report/export/html/costs.h"
#include "report/out/output.h"

#define NT_HTML_STAGES 1024 /* rows: no recording has as many stages and families, even of all owners together */

/*
 * Writes "stages": {a session as in `stages --json`}, and "merged_stages": [{"owner", "stage", "spent_ns", "low_ns",
 * "high_ns", "samples"}, ...], the same rows with the address families of a stage together; both only if the session
 * has samples of stacks. 0, or -1 and db->error.
 */
int nt_html_stages(const struct nt_html_scope *scope, struct nt_json *json);

#endif
