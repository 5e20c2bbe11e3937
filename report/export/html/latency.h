/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency.h - latencies for `export html`: the figures of each hook as in `latency --json`, and heat maps; of all CPUs
 * and processes, whatever was selected.
 */
#ifndef NT_REPORT_EXPORT_HTML_LATENCY_H
#define NT_REPORT_EXPORT_HTML_LATENCY_H

#include "report/export/html/costs.h"
#include "report/out/output.h"

#define NT_HTML_HEAT_COLUMNS 120
#define NT_HTML_HEAT_PER_OCTAVE 4

/*
 * Writes "latency": [the object of nt_latency_json], and "heat": [{"hook", "columns": [ns since
 * the start where each begins, and the end], "bounds": [ns; bucket i holds what is above bounds[i] and up to bounds[i +
 * 1]], "cells": [column, bucket, packets, ...]}, ...]. 0, or -1 and db->error.
 */
int nt_html_latency(const struct nt_html_scope *scope, struct nt_json *json);

#endif
