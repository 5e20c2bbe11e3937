/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sheet.h - the series of all metrics, as they are found, until they are written in Prometheus's text format. A series
 * has a name (metrics.h) and labels; what is added to the same labels becomes one number, as its metric says. Memory is
 * for the series, not for what is added. Pure.
 *
 * Functions give 0, or -ENOMEM.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/export/prometheus/metrics.h"
#include "report/util/labels.h"

#define NT_PROMETHEUS_OCTAVES 34
#define NT_PROMETHEUS_BUCKETS (NT_PROMETHEUS_OCTAVES + 2) /* from up to 1 ns to up to 2^34 ns, and all above */

struct nt_prometheus_counts {
	double n[NT_PROMETHEUS_BUCKETS]; /* packets, waits, ... */
	double sum_ns;
};
void nt_prometheus_count(struct nt_prometheus_counts *counts, uint64_t ns, double weight);
void nt_prometheus_count_all(struct nt_prometheus_counts *to, const struct nt_prometheus_counts *from);

/* A label of a series. An empty value is as none. */
struct nt_label {
	const char *name, *value;
};
#define NT_MAX_LABELS 8
/* A list of them: NT_LABELS({"cpu", "3"}, {"owner", "send"}) */
#define NT_LABELS(...) ((const struct nt_label[]){__VA_ARGS__, {NULL, NULL}})
#define NT_NO_LABELS ((const struct nt_label[]){{NULL, NULL}})

struct nt_metric_series {
	uint32_t host, session;
	double value; /* in the metric's unit */
	struct nt_prometheus_counts *counts; /* of a histogram */
};

/* The recording of a host that began last. */
struct nt_sheet_last {
	uint32_t session;
	int64_t realtime_ns;
};

struct nt_sheet {
	struct {
		struct nt_labels texts; /* with their host, as they are written */
		struct nt_metric_series *series; /* by the numbers of these */
		size_t size;
	} of[NT_METRIC_COUNT];
	struct nt_labels hosts;
	struct nt_sheet_last *last; /* of each host */
	size_t last_size;
	uint32_t host, session; /* that things are added to */
	bool is_bounded; /* a metric gets no further series than these: then a new one's first label is `other` */
};
#define NT_SHEET_SERIES 512
#define NT_SHEET_HISTOGRAMS 64 /* of which each is 38 lines */

/* Zero-initialised is empty. */
void nt_sheet_release(struct nt_sheet *sheet);
/* All that is added from now on is of the next recording, one of this host (""; no label says which), which began then.
 * sheet->host is the host's number: 0, 1, ... */
int nt_sheet_begin(struct nt_sheet *sheet, const char *host, int64_t realtime_ns);
/* Forgets the metric's series: those of figures that are found anew. */
void nt_sheet_forget(struct nt_sheet *sheet, enum nt_metric metric);
/* NAN: it is not known, so that the series is not written. */
int nt_sheet_add(struct nt_sheet *sheet, enum nt_metric metric, double value, const struct nt_label *labels);
/* Counts are added to those of a histogram. */
int nt_sheet_add_counts(struct nt_sheet *sheet, enum nt_metric metric, const struct nt_prometheus_counts *counts,
			const struct nt_label *labels);
/* Nothing of metrics without a series. */
void nt_sheet_write(const struct nt_sheet *sheet, FILE *out);
