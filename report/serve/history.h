/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * history.h - the costs of the last minutes of a tape while it is recorded, for the live page: what each CPU did, step
 * by step, and what programs, cgroups and ports cost. One thread adds, another one writes.
 *
 * Memory: that of the windows, whose steps are longer where there are more CPUs (NT_HISTORY_CELLS), and of names
 * (recent.h).
 */
#pragma once

#include <stdio.h>

#include "report/export/prometheus/live.h"

#define NT_HISTORY_CELLS 10000 /* CPUs times steps of a window, but 60 steps at least */

struct nt_history;

/* NULL: out of memory. */
struct nt_history *nt_history_new(void);
/* Safe on NULL. */
void nt_history_free(struct nt_history *history);
/*
 * What comes on top; where a tape is read from its begin, all begins anew. A watcher of
 * nt_prometheus_choice: 0, or -1 and a sentence in the database's error.
 */
int nt_history_add(void *history, const struct nt_prometheus_news *news);
/* No more comes: the recording has its end. */
void nt_history_end(struct nt_history *history);

/* The window of the last "60", "300" or "3600" seconds. False: it is none of them. */
bool nt_history_window(const char *seconds, size_t *window);
/*
 * Writes the window as the page's script reads it: {"facts": {...}, "live": {...}} with the members of
 * export/html/parts.h. Of a table, "rest_has_more" says that some groups of the rest are not counted. 1; 0: nothing was
 * added yet, or the host has more than NT_HTML_MAX_CPUS CPUs; -ENOMEM.
 */
int nt_history_write(struct nt_history *history, size_t window, FILE *out);
