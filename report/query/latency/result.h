/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - what `latency` found in one session, and the ways it is shown: to people (text.c), to
 * programs (json.c), as a picture (export/svg/heatmap.c). They write to the stream they are given; write errors
 * stay in it.
 */
#pragma once

#include "report/out/terminal.h"
#include "report/query/latency/heatmap.h"
#include "report/query/latency/series.h"

/* How it is to be shown. */
struct nt_latency_view {
	enum nt_format format;
	bool histogram, over_time;
	uint32_t per_octave; /* of histograms; 0: the usual */
	size_t most; /* groups of a hook, the others together; 0: all */
	struct nt_terminal terminal;
};

/* Why the recording has no latency of a packet, as its programs counted. X(CONSTANT, outcome of NT_HOOK_OUTCOMES). */
#define NT_LATENCY_REASONS(X)                                                                                          \
	X(NO_STAMP, no_stamp)                                                                                          \
	X(TRANSMIT_STAMP, transmit_stamp)                                                                              \
	X(FILTER, skipped_filter)                                                                                      \
	X(SAMPLE, skipped_sample)                                                                                      \
	X(LOST, lost)

enum nt_latency_reason {
#define X(constant, outcome) NT_REASON_##constant,
	NT_LATENCY_REASONS(X)
#undef X
		NT_REASON_COUNT
};
struct nt_latency_accounting {
	bool is_there[NT_HOOK_COUNT]; /* the recording had a program at this hook, and has its counts */
	int64_t counts[NT_HOOK_COUNT][NT_REASON_COUNT];
	/* Of the packets that were looked at, so many became samples; sampling draws first, the rest is judged
	 * afterwards. */
	double kept[NT_HOOK_COUNT]; /* 1 where it is not known */
	unsigned int programs[NT_HOOK_COUNT]; /* that sampling left packets out at, of IPv4 and of IPv6; 1 at least */
};

struct nt_latency_result {
	FILE *out;
	struct nt_db *db;
	const struct nt_session *session;
	const struct nt_latency_choice *choice;
	const struct nt_latency_view *view;
	struct nt_labels groups;
	struct nt_series_set set;
	struct nt_latency_accounting accounting;
	struct nt_latency_alone alone; /* with choice->first */
	int64_t begin_ts, end_ts; /* the time that was chosen, for heat maps: a nanosecond at least */
	struct nt_heatmap maps[NT_HOOK_COUNT]; /* with over_time; without cells where a hook has no sample */
	bool has_probe; /* the recording was made with the probe `latency` */
};

/* "ip-start", or "ip-start to udp-socket-read". */
const char *nt_latency_hook_text(const struct nt_latency_choice *choice, enum nt_hook hook, char text[64]);

/* Columns of JSON, CSV and text: the hook and, where there are groups, the group. */
void nt_latency_put_key(struct nt_line *line, const struct nt_latency_choice *choice, const char *hook,
			const char *group);
/* The figures that all formats have: packets, samples, least, mean, quantiles, greatest. */
#define NT_FIGURES (NT_QUANTILES + 5)
void nt_latency_put_figures(struct nt_line *line, const char *const names[NT_FIGURES],
			    const struct nt_figures *figures);

/* 0, or -1 and db->error. */

/*
 * Finds all but the maps, of what db, session and choice say. visit is given each sample that has a latency, and gives
 * non-zero when memory ran out. To be released even on failure.
 */
int nt_latency_read(struct nt_latency_result *result, int (*visit)(void *arg, const struct nt_latency_sample *sample),
		    void *arg);
/* After showing it. 0, or -1 and db->error: that gave `error`, or samples could not be read again. */
int nt_latency_end(struct nt_latency_result *result, int error);
void nt_latency_release(struct nt_latency_result *result);
/* Adds a sample to a map of the chosen time, which this makes if it has no cells yet. -1: out of memory. */
int nt_latency_map(const struct nt_latency_result *result, struct nt_heatmap *map, uint32_t columns,
		   uint32_t per_octave, const struct nt_latency_sample *sample);
int nt_latency_accounting(struct nt_db *db, int64_t session_id, struct nt_latency_accounting *accounting);

/* `printer` is of result->out. */
int nt_latency_text(struct nt_latency_result *result, struct nt_printer *printer);
/* The columns of CSV, by view. */
int nt_latency_csv_begin(const struct nt_latency_choice *choice, const struct nt_latency_view *view,
			 struct nt_printer *printer);
int nt_latency_csv(struct nt_latency_result *result, struct nt_printer *printer);
/* The members of an object. */
int nt_latency_json(struct nt_latency_result *result, struct nt_json *json);
