// SPDX-License-Identifier: GPL-2.0-only
/*
 * html_stages.c - see html_stages.h.
 */
#include "report/html_stages.h"

#include <stdio.h>
#include <string.h>

#include "report/html_tables.h"
#include "report/stage_show.h"

/* Names of stages are our own, and few; in a database, which may be anybody's, they are neither. */
static int check_names(struct nt_stage_result *result)
{
	struct nt_db *db = result->part.db;

	if (result->n_parts > NT_HTML_STAGES) {
		snprintf(db->error, sizeof(db->error),
			 "%s: session %lld: its samples are of %zu stages, which are no recording's: see "
			 "nettape-report check.",
			 db->path[0] ? db->path : "the tape", (long long)result->part.session->id, result->n_parts);
		return -1;
	}
	for (size_t i = 0; i < result->data.n_categories; i++) {
		struct nt_stage_category *category = &result->data.categories[i];

		if (strlen(category->stage) > NT_HTML_TEXT_BYTES)
			category->stage[NT_HTML_TEXT_BYTES] = 0;
		if (strlen(category->family) > NT_HTML_TEXT_BYTES)
			category->family[NT_HTML_TEXT_BYTES] = 0;
	}
	return 0;
}

int nt_html_stages(const struct nt_html_scope *scope, struct nt_json *json)
{
	const struct nt_stage_choice choice = {.selection = *scope->selection, .owners = NT_LANE_NETWORK};
	struct nt_stage_result result = {.choice = &choice};
	char why_not[320];
	int error =
		nt_stage_part_of(scope->db, &scope->session, &choice.selection, &result.part, why_not, sizeof(why_not));

	if (!error && !why_not[0]) {
		error = nt_stage_find(&result);
		if (!error)
			error = check_names(&result);
		if (!error) {
			nt_json_open(json, "stages", '{');
			error = nt_stage_json(&result, json);
			nt_json_close(json, '}');
		}
	}
	nt_stage_result_release(&result);
	return error;
}
