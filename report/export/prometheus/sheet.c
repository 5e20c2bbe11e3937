// SPDX-License-Identifier: GPL-2.0-only
/*
 * sheet.c - see sheet.h.
 */
#include "report/export/prometheus/sheet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/text.h"
#include "report/util/array.h"
#include "report/util/histogram.h"

#define INFO(constant, name, type, join, unit, help)                                                                   \
	[NT_METRIC_##constant] = {name, help, NT_METRIC_##type, NT_JOIN_##join, NT_UNIT_##unit},
static const struct nt_metric_info metrics[NT_METRIC_COUNT] = {NT_METRICS(INFO)};
#undef INFO

const struct nt_metric_info *nt_metric(enum nt_metric metric)
{
	return &metrics[metric];
}

/* ---- counts ---- */

void nt_prometheus_count(struct nt_prometheus_counts *counts, uint64_t ns, double weight)
{
	const uint32_t bucket = nt_bucket_of(1, ns);

	counts->n[bucket < NT_PROMETHEUS_BUCKETS ? bucket : NT_PROMETHEUS_BUCKETS - 1] += weight;
	counts->sum_ns += (double)ns * weight;
}

void nt_prometheus_count_all(struct nt_prometheus_counts *to, const struct nt_prometheus_counts *from)
{
	for (unsigned int bucket = 0; bucket < NT_PROMETHEUS_BUCKETS; bucket++)
		to->n[bucket] += from->n[bucket];
	to->sum_ns += from->sum_ns;
}

/* ---- what is added ---- */

void nt_sheet_forget(struct nt_sheet *sheet, enum nt_metric metric)
{
	for (uint32_t i = 0; i < sheet->of[metric].texts.texts.n; i++)
		free(sheet->of[metric].series[i].counts);
	free(sheet->of[metric].series);
	nt_labels_release(&sheet->of[metric].texts);
	memset(&sheet->of[metric], 0, sizeof(sheet->of[metric]));
}

void nt_sheet_release(struct nt_sheet *sheet)
{
	for (unsigned int metric = 0; metric < NT_METRIC_COUNT; metric++)
		nt_sheet_forget(sheet, (enum nt_metric)metric);
	nt_labels_release(&sheet->hosts);
	free(sheet->last);
	*sheet = (struct nt_sheet){0};
}

int nt_sheet_begin(struct nt_sheet *sheet, const char *host, int64_t realtime_ns)
{
	const uint32_t n = sheet->hosts.texts.n;

	if (NT_ROOM(sheet->last, sheet->last_size, (size_t)n + 1) ||
	    nt_labels_number(&sheet->hosts, host, &sheet->host))
		return -ENOMEM;
	sheet->session++;
	if (sheet->host == n || realtime_ns >= sheet->last[sheet->host].realtime_ns)
		sheet->last[sheet->host] = (struct nt_sheet_last){sheet->session, realtime_ns};
	return 0;
}

static void write_label(FILE *out, const char *name, const char *value, bool *has)
{
	if (!value || !value[0])
		return;
	fprintf(out, "%s%s=\"", *has ? "," : "", name);
	nt_prometheus_escape(out, value);
	fputc('"', out);
	*has = true;
}

/* The labels as they are written, without braces; the caller's to free. NULL: out of memory. */
static char *label_text(const struct nt_sheet *sheet, const struct nt_label *labels)
{
	bool has = false;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	write_label(out, "host", nt_labels_text(&sheet->hosts, sheet->host), &has);
	for (; labels->name; labels++)
		write_label(out, labels->name, labels->value, &has);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_full(const struct nt_sheet *sheet, enum nt_metric metric)
{
	const size_t most = metrics[metric].type == NT_METRIC_HISTOGRAM ? NT_SHEET_HISTOGRAMS : NT_SHEET_SERIES;

	return sheet->is_bounded && sheet->of[metric].texts.texts.n >= most;
}

/* The labels of the series that takes the place of a new one where the metric has no room for it. */
static char *other_text(const struct nt_sheet *sheet, const struct nt_label *labels)
{
	struct nt_label others[NT_MAX_LABELS + 1] = {0};

	for (size_t i = 0; i < NT_MAX_LABELS && labels[i].name; i++)
		others[i] = labels[i];
	others[0].value = "other";
	return label_text(sheet, others);
}

static int number_of(struct nt_sheet *sheet, enum nt_metric metric, const struct nt_label *labels, uint32_t *number)
{
	struct nt_labels *texts = &sheet->of[metric].texts;
	char *text = label_text(sheet, labels);
	int error;

	if (text && labels->name && is_full(sheet, metric) && !nt_texts_find(&texts->texts, text)) {
		free(text);
		text = other_text(sheet, labels);
	}
	error = text ? nt_labels_number(texts, text, number) : -ENOMEM;
	free(text);
	return error;
}

/* NULL: out of memory. *is_new: nothing has been added to it. */
static struct nt_metric_series *find_series(struct nt_sheet *sheet, enum nt_metric metric,
					    const struct nt_label *labels, bool *is_new)
{
	const uint32_t n = sheet->of[metric].texts.texts.n;
	struct nt_metric_series *series;
	uint32_t number;

	/* Room first: every text has its series. */
	if (NT_ROOM(sheet->of[metric].series, sheet->of[metric].size, (size_t)n + 1) ||
	    number_of(sheet, metric, labels, &number))
		return NULL;
	*is_new = number == n;
	series = &sheet->of[metric].series[number];
	if (*is_new)
		*series = (struct nt_metric_series){.host = sheet->host};
	return series;
}

/* `series` has a value already. */
static double join(enum nt_metric_join join, const struct nt_metric_series *series, double value, uint32_t session)
{
	const double before = series->value;

	switch (join) {
	case NT_JOIN_LEAST:
		return value < before ? value : before;
	case NT_JOIN_MOST:
		return value > before ? value : before;
	case NT_JOIN_LAST:
		return series->session == session ? before + value : value;
	case NT_JOIN_SUM:
	default:
		return before + value;
	}
}

int nt_sheet_add(struct nt_sheet *sheet, enum nt_metric metric, double value, const struct nt_label *labels)
{
	struct nt_metric_series *series;
	bool is_new;

	if (metrics[metric].join == NT_JOIN_LAST && sheet->last[sheet->host].session != sheet->session)
		return 0;
	series = find_series(sheet, metric, labels, &is_new);
	if (!series)
		return -ENOMEM;
	series->value = is_new ? value : join(metrics[metric].join, series, value, sheet->session);
	series->session = sheet->session;
	return 0;
}

int nt_sheet_add_counts(struct nt_sheet *sheet, enum nt_metric metric, const struct nt_prometheus_counts *counts,
			const struct nt_label *labels)
{
	bool is_new;
	struct nt_metric_series *series = find_series(sheet, metric, labels, &is_new);

	if (!series)
		return -ENOMEM;
	if (!series->counts)
		series->counts = calloc(1, sizeof(*series->counts));
	if (!series->counts)
		return -ENOMEM;
	nt_prometheus_count_all(series->counts, counts);
	series->session = sheet->session;
	return 0;
}

/* ---- how it is written ---- */

static void write_name(FILE *out, const char *name, const char *labels)
{
	fprintf(out, labels[0] ? "%s{%s} " : "%s ", name, labels);
}

static void write_histogram(FILE *out, const char *name, const char *labels, const struct nt_prometheus_counts *counts)
{
	const char *comma = labels[0] ? "," : "", *open = labels[0] ? "{" : "", *close = labels[0] ? "}" : "";
	double upto = 0;
	char text[32];

	for (unsigned int bucket = 0; bucket < NT_PROMETHEUS_BUCKETS; bucket++) {
		const bool is_last = bucket == NT_PROMETHEUS_BUCKETS - 1;

		upto += counts->n[bucket];
		fprintf(out, "%s_bucket{%s%sle=\"%s\"} %.0f\n", name, labels, comma,
			is_last ? "+Inf" : nt_prometheus_seconds(text, (double)(1ull << bucket)), upto);
	}
	fprintf(out, "%s_sum%s%s%s %s\n", name, open, labels, close, nt_prometheus_seconds(text, counts->sum_ns));
	fprintf(out, "%s_count%s%s%s %.0f\n", name, open, labels, close, upto);
}

static void write_series(FILE *out, const struct nt_metric_info *info, const char *labels,
			 const struct nt_metric_series *series)
{
	char text[32];

	if (info->type == NT_METRIC_HISTOGRAM) {
		if (series->counts)
			write_histogram(out, info->name, labels, series->counts);
		return;
	}
	write_name(out, info->name, labels);
	fprintf(out, "%s\n",
		info->unit == NT_UNIT_NS ? nt_prometheus_seconds(text, series->value)
					 : nt_prometheus_number(text, series->value));
}

static void write_metric(const struct nt_sheet *sheet, enum nt_metric metric, FILE *out)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};
	const struct nt_metric_info *info = &metrics[metric];
	bool has_head = false;

	for (uint32_t i = 0; i < sheet->of[metric].texts.texts.n; i++) {
		const struct nt_metric_series *series = &sheet->of[metric].series[i];

		if (isnan(series->value) ||
		    (info->join == NT_JOIN_LAST && series->session != sheet->last[series->host].session))
			continue;
		if (!has_head)
			fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", info->name, info->help, info->name,
				types[info->type]);
		has_head = true;
		write_series(out, info, nt_labels_text(&sheet->of[metric].texts, i), series);
	}
}

void nt_sheet_write(const struct nt_sheet *sheet, FILE *out)
{
	for (unsigned int metric = 0; metric < NT_METRIC_COUNT; metric++)
		write_metric(sheet, (enum nt_metric)metric, out);
}
