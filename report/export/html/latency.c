// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - see parts.h.
 */
#include "report/export/html/parts.h"

#include "report/query/latency/result.h"
#include "report/util/histogram.h"
#include "schema/kind.h"

static int collect(void *arg, const struct nt_latency_sample *sample)
{
	struct nt_latency_result *result = arg;

	return nt_latency_map(result, &result->maps[sample->hook], NT_HTML_HEAT_COLUMNS, NT_HTML_HEAT_PER_OCTAVE,
			      sample);
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

int nt_html_latency(const struct nt_html_scope *scope, struct nt_json *json)
{
	const struct nt_latency_choice choice = {.selection = *scope->selection, .hooks = NT_ALL_HOOKS};
	const struct nt_latency_view view = {.format = NT_FORMAT_JSON};
	struct nt_latency_result result = {
		.db = scope->db, .session = &scope->session, .choice = &choice, .view = &view};
	int error = nt_latency_read(&result, collect, &result);

	if (!error) {
		nt_json_open(json, "latency", '[');
		nt_json_open(json, NULL, '{');
		error = nt_latency_end(&result, nt_latency_json(&result, json));
		nt_json_close(json, '}');
		nt_json_close(json, ']');
	}
	if (!error)
		write_maps(&result, json);
	nt_latency_release(&result);
	return error;
}
