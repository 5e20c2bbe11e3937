// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - the part of result.h that is for programs: JSON, which has everything that was asked
 * for, and CSV, which has one thing: the figures, or with --histogram the buckets, or with --over-time the cells.
 */
#include <string.h>

#include "report/query/latency/result.h"
#include "report/util/histogram.h"
#include "schema/kind.h"

static void put_integer(struct nt_line *record, const char *name, int64_t value)
{
	nt_line_put(record, name, nt_cell_integer(value));
}

/* Null if it is not known. */
static void put_if(struct nt_line *record, const char *name, bool is_known, int64_t value)
{
	nt_line_put(record, name, nt_cell_if(is_known, value));
}

static void put_text(struct nt_line *record, const char *name, const char *value)
{
	nt_line_put(record, name, nt_cell_text(value));
}

static void put_figures(struct nt_line *record, const struct nt_figures *figures)
{
	static const char *const names[NT_FIGURES] = {"packets", "samples", "min_ns",  "mean_ns", "p50_ns",
						      "p90_ns",	 "p99_ns",  "p999_ns", "max_ns"};
	static const char *const low[NT_QUANTILES] = {"p50_low_ns", "p90_low_ns", "p99_low_ns", "p999_low_ns"};
	static const char *const high[NT_QUANTILES] = {"p50_high_ns", "p90_high_ns", "p99_high_ns", "p999_high_ns"};

	nt_latency_put_figures(record, names, figures);
	put_if(record, "packets_error", figures->is_sampled, nt_round(figures->packets_error));
	put_if(record, "mean_error_ns", figures->has_mean_error, nt_round(figures->mean_error));
	for (unsigned int i = 0; i < NT_QUANTILES; i++) {
		const struct nt_interval *interval = &figures->intervals[i];

		put_if(record, low[i], figures->is_sampled && interval->has_low, interval->low);
		put_if(record, high[i], figures->is_sampled && interval->has_high, interval->high);
	}
}

static void put_series(struct nt_line *record, const struct nt_latency_choice *choice, const char *hook,
		       const char *group, const struct nt_series *series, const struct nt_figures *figures)
{
	nt_latency_put_key(record, choice, hook, group);
	put_figures(record, figures);
	put_integer(record, "head_of_line", (int64_t)series->hol);
	put_integer(record, "future_stamp", (int64_t)series->future);
	put_integer(record, "unknown", (int64_t)series->unknown);
}

static void put_found(struct nt_line *record, struct nt_latency_result *result, struct nt_series *series, char hook[64])
{
	struct nt_figures figures;

	nt_series_figures(&result->set, series, &figures);
	put_series(record, result->choice, nt_latency_hook_text(result->choice, series->hook, hook),
		   nt_labels_text(&result->groups, series->group), series, &figures);
}

static void put_bucket(struct nt_line *record, int64_t from_ns, int64_t to_ns, double packets)
{
	put_integer(record, "above_ns", from_ns);
	put_integer(record, "upto_ns", to_ns);
	put_integer(record, "packets", nt_round(packets));
}

static void put_cell(struct nt_line *record, const char *hook, const struct nt_heatmap *map, uint32_t column,
		     uint32_t bucket)
{
	put_text(record, "hook", hook);
	put_integer(record, "from_ts", nt_heatmap_column_ts(map, column));
	put_integer(record, "to_ts", nt_heatmap_column_ts(map, column + 1));
	put_bucket(record, nt_bucket_lower(map->per_octave, bucket), nt_bucket_upper(map->per_octave, bucket),
		   nt_heatmap_cell(map, column, bucket));
}

/* ---- what there is to visit, alike for both formats ---- */

typedef int (*record_fn)(void *arg, const struct nt_line *record);

/* The buckets of a series that hold something. `key`: with hook and group. */
static int each_bucket(const struct nt_latency_result *result, struct nt_series *series, bool key, record_fn visit,
		       void *arg)
{
	uint32_t per_octave = result->view->per_octave ? result->view->per_octave : 1;
	const struct nt_samples *samples = &series->samples;
	int error = 0;
	char hook[64];

	nt_samples_sort(&series->samples);
	for (size_t at = 0; at < samples->n && !error;) {
		uint32_t bucket = nt_bucket_of(per_octave, nt_samples_value(samples, at));
		int64_t upper = nt_bucket_upper(per_octave, bucket);
		struct nt_line record = {0};
		double weight = 0;

		for (; at < samples->n && nt_samples_value(samples, at) <= upper; at++)
			weight += nt_samples_weight(samples, at);
		if (key)
			nt_latency_put_key(&record, result->choice,
					   nt_latency_hook_text(result->choice, series->hook, hook),
					   nt_labels_text(&result->groups, series->group));
		put_bucket(&record, nt_bucket_lower(per_octave, bucket), upper, weight);
		error = visit(arg, &record);
	}
	return error;
}

static int each_series(struct nt_latency_result *result, record_fn visit, void *arg)
{
	int error = 0;

	for (size_t i = 0; i < result->set.n && !error; i++) {
		struct nt_line record = {0};
		char hook[64];

		put_found(&record, result, result->set.all[i], hook);
		error = visit(arg, &record);
	}
	return error;
}

static int each_cell(const struct nt_latency_result *result, record_fn visit, void *arg)
{
	int error = 0;
	char hook_text[64];

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		const struct nt_heatmap *map = &result->maps[hook];

		for (uint32_t column = 0; map->cells && column < map->columns; column++) {
			for (uint32_t bucket = map->low; bucket < map->high && !error; bucket++) {
				struct nt_line record = {0};

				if (!(nt_heatmap_cell(map, column, bucket) > 0))
					continue;
				put_cell(&record, nt_latency_hook_text(result->choice, (enum nt_hook)hook, hook_text),
					 map, column, bucket);
				error = visit(arg, &record);
			}
		}
	}
	return error;
}

/* ---- CSV ---- */

/* The columns are those of a record made of nothing. */
int nt_latency_csv_begin(const struct nt_latency_choice *choice, const struct nt_latency_view *view,
			 struct nt_printer *printer)
{
	const struct nt_series series = {0};
	const struct nt_figures figures = {0};
	struct nt_line record = {0};

	put_integer(&record, "session_id", 0);
	if (view->over_time) {
		struct nt_heatmap map = {.columns = 1, .per_octave = 1, .rows = 1, .cells = (double[]){0}};

		put_cell(&record, "", &map, 0, 0);
	} else if (view->histogram) {
		nt_latency_put_key(&record, choice, "", "");
		put_bucket(&record, 0, 0, 0);
	} else {
		put_series(&record, choice, "", "", &series, &figures);
	}
	return nt_printer_begin(printer, record.n, record.names);
}

struct csv {
	struct nt_printer *printer;
	int64_t session_id;
};

static int csv_record(void *arg, const struct nt_line *record)
{
	const struct csv *csv = arg;
	struct nt_line line = {0};

	put_integer(&line, "session_id", csv->session_id);
	for (size_t i = 0; i < record->n; i++)
		nt_line_put(&line, record->names[i], record->cells[i]);
	return nt_printer_row(csv->printer, line.cells);
}

int nt_latency_csv(struct nt_latency_result *result, struct nt_printer *printer)
{
	struct csv csv = {printer, result->session->id};
	int error = 0;

	if (result->view->over_time)
		error = each_cell(result, csv_record, &csv);
	else if (!result->view->histogram)
		error = each_series(result, csv_record, &csv);
	for (size_t i = 0; !result->view->over_time && result->view->histogram && i < result->set.n && !error; i++)
		error = each_bucket(result, result->set.all[i], true, csv_record, &csv);
	return error;
}

/* ---- JSON ---- */

static int json_record(void *arg, const struct nt_line *record)
{
	nt_json_record(arg, record);
	return 0;
}

static void json_series(struct nt_latency_result *result, struct nt_json *json, struct nt_series *series)
{
	struct nt_line record = {0};
	char hook[64];

	put_found(&record, result, series, hook);
	nt_json_open(json, NULL, '{');
	nt_json_line(json, &record);
	if (result->view->histogram) {
		nt_json_open(json, "histogram", '[');
		each_bucket(result, series, false, json_record, json);
		nt_json_close(json, ']');
	}
	nt_json_close(json, '}');
}

/* The recording's own counts at each hook, whatever was chosen. */
static void json_accounting(const struct nt_latency_result *result, struct nt_json *json)
{
	static const char *const reasons[NT_REASON_COUNT] = {
#define X(constant, outcome) #outcome,
		NT_LATENCY_REASONS(X)
#undef X
	};
	const struct nt_latency_accounting *accounting = &result->accounting;

	nt_json_open(json, "left_out", '[');
	for (unsigned int hook = NT_HOOK_NONE + 1; hook < NT_HOOK_COUNT; hook++) {
		struct nt_line record = {0};

		if (!accounting->is_there[hook])
			continue;
		put_text(&record, "hook", nt_hook_name(hook));
		for (unsigned int i = 0; i < NT_REASON_COUNT; i++)
			put_integer(&record, reasons[i], accounting->counts[hook][i]);
		nt_json_record(json, &record);
	}
	nt_json_close(json, ']');
}

static void json_pairs(const struct nt_latency_result *result, struct nt_json *json)
{
	nt_json_open(json, "unpaired", '{');
	nt_json_integer(json, nt_hook_name(result->choice->first), (int64_t)result->alone.first);
	nt_json_integer(json, nt_hook_name(result->choice->second), (int64_t)result->alone.second);
	nt_json_close(json, '}');
}

int nt_latency_json(struct nt_latency_result *result, struct nt_json *json)
{
	nt_json_integer(json, "session_id", result->session->id);
	nt_json_bool(json, "recorded", result->has_probe);
	nt_json_text(json, "by", nt_by_name(result->choice->by));
	nt_json_open(json, "hooks", '[');
	for (size_t i = 0; i < result->set.n; i++)
		json_series(result, json, result->set.all[i]);
	nt_json_close(json, ']');
	if (result->choice->first)
		json_pairs(result, json);
	json_accounting(result, json);
	if (result->view->over_time) {
		nt_json_open(json, "over_time", '[');
		each_cell(result, json_record, json);
		nt_json_close(json, ']');
	}
	return 0;
}
