// SPDX-License-Identifier: GPL-2.0-only
/*
 * stages.c - see parts.h.
 */
#include "report/export/html/parts.h"

#include <stdlib.h>
#include <string.h>

#include "report/query/stages/show.h"
#include "report/query/stages/tracing.h"
#include "report/util/array.h"

/* Names of stages are our own, and few; in a database, which may be anybody's, they are neither. */
static int check_names(struct nt_stage_result *result)
{
	struct nt_db *db = result->part.db;

	if (result->n_parts > NT_HTML_STAGES)
		return nt_db_refuse(db,
				    "%s: session %lld: its samples name %zu stages, more than a recording has: see "
				    "nettape-report check.",
				    db->path[0] ? db->path : "the tape", (long long)result->part.session->id,
				    result->n_parts);
	for (size_t i = 0; i < result->data.n_categories; i++) {
		struct nt_stage_category *category = &result->data.categories[i];

		if (strlen(category->stage) > NT_HTML_TEXT_BYTES)
			category->stage[NT_HTML_TEXT_BYTES] = 0;
		if (strlen(category->family) > NT_HTML_TEXT_BYTES)
			category->family[NT_HTML_TEXT_BYTES] = 0;
	}
	return 0;
}

/* ---- stages of all address families together ---- */

struct merged {
	const char *stage;
	struct nt_stage_part part; /* the sum; its category is that of one of them */
	bool has_several;
};

/* A stage of the same owner that is there already, or NULL. */
static struct merged *find_merged(struct merged *all, size_t n, uint32_t whole, const char *stage)
{
	size_t found = NT_FIRST(n, i, all[i].part.whole == whole && !strcmp(all[i].stage, stage));

	return found < n ? &all[found] : NULL;
}

static size_t merge_families(const struct nt_stage_result *result, struct merged *all)
{
	size_t n = 0;

	for (size_t i = 0; i < result->n_parts; i++) {
		const struct nt_stage_part *part = &result->parts[i];
		const char *family, *stage = nt_stage_part_name(result, part, &family);
		struct merged *into = find_merged(all, n, part->whole, stage);

		if (!into) {
			all[n++] = (struct merged){.stage = stage, .part = *part};
			continue;
		}
		into->part.ns += part->ns;
		into->part.samples += part->samples;
		into->has_several = true;
	}
	return n;
}

static int compare_merged(const void *a, const void *b)
{
	const struct merged *one = a, *other = b;

	if (one->part.whole != other->part.whole)
		return one->part.whole < other->part.whole ? -1 : 1;
	if (one->part.ns != other->part.ns)
		return one->part.ns > other->part.ns ? -1 : 1;
	return strcmp(one->stage, other->stage);
}

static int write_merged(struct nt_stage_result *result, struct nt_json *json)
{
	struct merged *all = calloc(result->n_parts + 1, sizeof(*all));
	size_t n;

	if (!all)
		return nt_db_no_memory(result->part.db);
	n = merge_families(result, all);
	qsort(all, n, sizeof(*all), compare_merged);
	nt_json_open(json, "merged_stages", '[');
	for (size_t i = 0; i < n; i++) {
		const struct nt_stage_whole *whole = &result->wholes[all[i].part.whole];

		if (all[i].has_several)
			nt_stage_bounds(&all[i].part, whole);
		nt_json_open(json, NULL, '{');
		nt_json_text(json, "owner", nt_owner_name((enum nt_owner)whole->owner));
		nt_json_text(json, "stage", all[i].stage);
		nt_json_integer(json, "spent_ns", (int64_t)all[i].part.ns);
		nt_json_integer(json, "low_ns", (int64_t)all[i].part.low_ns);
		nt_json_integer(json, "high_ns", (int64_t)all[i].part.high_ns);
		nt_json_integer(json, "samples", (int64_t)all[i].part.samples);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	free(all);
	return 0;
}

int nt_html_stages_begin(const struct nt_html_scope *scope, struct nt_html_stages *stages)
{
	char why_not[NT_ERROR_MAX];

	*stages = (struct nt_html_stages){.choice = {.selection = *scope->selection, .owners = NT_NETWORK_OWNERS}};
	stages->result.choice = &stages->choice;
	if (nt_stage_part_of(scope->db, &scope->session, &stages->choice.selection, &stages->result.part, why_not))
		return -1;
	stages->has = !why_not[0];
	return stages->has ? nt_stage_find_begin(&stages->result) : 0;
}

int nt_html_stages(struct nt_html_stages *stages, struct nt_json *json)
{
	struct nt_stage_result *result = &stages->result;
	struct nt_tracing tracing;
	int error;

	if (!stages->has)
		return 0;
	if (check_names(result))
		return -1;
	nt_json_open(json, "stages", '{');
	error = nt_stage_json(result, json);
	nt_json_close(json, '}');
	if (error || write_merged(result, json))
		return -1;
	tracing = nt_tracing_of(result);
	nt_tracing_json(&tracing, json);
	return 0;
}

void nt_html_stages_release(struct nt_html_stages *stages)
{
	nt_stage_result_release(&stages->result);
}
