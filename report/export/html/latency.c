// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - see latency.h.
 */
#include "report/export/html/latency.h"

#include <stdio.h>
#include <string.h>

#include "report/query/latency/result.h"
#include "report/util/histogram.h"
#include "schema/kind.h"

#define ALL_HOOKS ((1u << NT_HOOK_COUNT) - 2) /* all but NT_HOOK_NONE */

struct collecting {
	const struct nt_html_scope *scope;
	struct nt_latency_choice choice;
	struct nt_latency_view view;
	struct nt_latency_result result;
};

static int collect(void *arg, const struct nt_latency_sample *sample)
{
	struct collecting *collecting = arg;
	struct nt_latency_result *result = &collecting->result;
	struct nt_heatmap *map = &result->maps[sample->hook];

	if (nt_series_set_add(&result->set, sample))
		return -1;
	if (!nt_series_set_takes(&result->set, sample))
		return 0;
	if (!map->cells && nt_heatmap_init(map, collecting->scope->from_ts, collecting->scope->to_ts,
					   NT_HTML_HEAT_COLUMNS, NT_HTML_HEAT_PER_OCTAVE))
		return -1;
	nt_heatmap_add(map, sample->ts, sample->ns, sample->weight);
	return 0;
}

/* What the errors of counts are reckoned from. */
static void set_counted(struct nt_latency_result *result, const struct nt_html_scope *scope)
{
	result->set.cpus = (unsigned int)scope->session.cpus;
	result->set.is_cut = scope->from_ts > scope->session.start_ts;
	memcpy(result->set.kept, result->accounting.kept, sizeof(result->set.kept));
	memcpy(result->set.programs, result->accounting.programs, sizeof(result->set.programs));
}

static int read_samples(struct collecting *collecting)
{
	struct nt_latency_result *result = &collecting->result;
	struct nt_db *db = result->db;

	if (nt_latency_accounting(db, result->session->id, &result->accounting) ||
	    nt_groups_read(db, result->session->id, NT_BY_NONE, &result->groups))
		return -1;
	if (nt_series_set_init(&result->set, result->groups.texts.n, false))
		return nt_db_no_memory(db);
	set_counted(result, collecting->scope);
	if (nt_latency_scan(db, result->session, &collecting->choice, &result->groups, collect, collecting, NULL))
		return -1;
	if (nt_series_set_order(&result->set, false))
		return nt_db_no_memory(db);
	result->has_probe = result->set.n > 0;
	return result->has_probe ? 0 : nt_db_has_rows(db, "latency_hook", result->session->id, &result->has_probe);
}

/* ---- heat maps ---- */

static void write_axes(struct nt_json *json, const struct nt_heatmap *map, int64_t since_ts)
{
	nt_json_open(json, "columns", '[');
	for (uint32_t column = 0; column <= map->columns; column++)
		nt_json_integer(json, NULL, nt_heatmap_column_ts(map, column) - since_ts);
	nt_json_close(json, ']');
	nt_json_open(json, "bounds", '[');
	nt_json_integer(json, NULL, nt_bucket_lower(map->per_octave, map->low));
	for (uint32_t bucket = map->low; bucket < map->high; bucket++)
		nt_json_integer(json, NULL, nt_bucket_upper(map->per_octave, bucket));
	nt_json_close(json, ']');
}

static void write_map(struct nt_json *json, const struct nt_heatmap *map, int64_t since_ts, const char *hook)
{
	nt_json_open(json, NULL, '{');
	nt_json_text(json, "hook", hook);
	write_axes(json, map, since_ts);
	nt_json_open(json, "cells", '[');
	for (uint32_t column = 0; column < map->columns; column++) {
		for (uint32_t bucket = map->low; bucket < map->high; bucket++) {
			double packets = nt_heatmap_cell(map, column, bucket);

			if (!(packets > 0))
				continue;
			nt_json_integer(json, NULL, column);
			nt_json_integer(json, NULL, bucket - map->low);
			nt_json_real(json, NULL, packets);
		}
	}
	nt_json_close(json, ']');
	nt_json_close(json, '}');
}

static void write_maps(const struct nt_latency_result *result, struct nt_json *json)
{
	nt_json_open(json, "heat", '[');
	for (size_t i = 0; i < result->set.n; i++) {
		const struct nt_heatmap *map = &result->maps[result->set.all[i]->hook];

		if (map->cells)
			write_map(json, map, result->session->start_ts, nt_hook_name(result->set.all[i]->hook));
	}
	nt_json_close(json, ']');
}

static void release(struct nt_latency_result *result)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++)
		nt_heatmap_release(&result->maps[hook]);
	nt_series_set_release(&result->set);
	nt_labels_release(&result->groups);
}

int nt_html_latency(const struct nt_html_scope *scope, struct nt_json *json)
{
	struct collecting collecting = {.scope = scope,
					.choice = {.selection = *scope->selection, .hooks = ALL_HOOKS},
					.view = {.format = NT_FORMAT_JSON}};
	struct nt_latency_result *result = &collecting.result;
	int error;

	result->db = scope->db;
	result->session = &scope->session;
	result->choice = &collecting.choice;
	result->view = &collecting.view;
	error = read_samples(&collecting);
	if (!error) {
		nt_json_open(json, "latency", '[');
		error = nt_latency_json(result, json);
		nt_json_close(json, ']');
	}
	if (!error)
		write_maps(result, json);
	release(result);
	return error;
}
