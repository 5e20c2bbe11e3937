/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - the metrics of a tape while it is recorded (tape/follow.h). Sums are kept as they grow: writing them reads
 * nothing. Counters never fall, and what is named keeps its name (groups.h). All of them are up to the same time, which
 * nettape_complete_until_seconds tells, but for records and the recorder's own cost and counts, which are the latest.
 *
 * Costs, what probes recorded row by row (live_probes.h), records, and the recorder's own cost. Memory: that of a
 * reader (rows/rows.h), some hundred bytes for each identity that the last 30 seconds and their chunks speak of, the
 * rows of the time that is not complete, and some bytes for each chunk. Rows of probes are in a temporary file where
 * there is a place for one: a million at most and what comes in the time that is not complete, a hundred bytes each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/export/prometheus/groups.h"
#include "report/query/session.h"
#include "report/util/fail.h"

struct nt_prometheus_live;

/* What comes on top of the sums. Good while it is told. */
struct nt_prometheus_news {
	/* From the session's begin to when the figures are complete, which may be as before. Its tables cpu_cost,
	 * sock_cost, rx_cost and record_count have what is new, and no others. */
	const struct nt_part *part;
	const struct nt_prometheus_groups *groups; /* of each kind (parts.h), the same costs */
	bool is_first; /* the tape is read from its begin: nothing of it was told, or all of it comes again */
};

struct nt_prometheus_choice {
	size_t limit; /* so many programs, cgroups and ports with names */
	bool names_host; /* by a label: for files, which nothing else tells apart */
	bool (*is_stopped)(void *arg); /* true: a look ends early */
	/* Is told each time something is added up, or NULL. 0, or -1 and a sentence in part->db->error. */
	int (*add)(void *arg, const struct nt_prometheus_news *news);
	void *arg; /* of both */
};
/* NULL: out of memory. Nothing is read yet. */
struct nt_prometheus_live *nt_prometheus_live_new(const char *path, const struct nt_prometheus_choice *choice);
void nt_prometheus_live_free(struct nt_prometheus_live *live);
/*
 * Reads what has come. 0: more may come, also where nothing has been recorded yet; 1: the tape has its end; -1 and a
 * sentence in `error`. Of a tape that was recorded for long it reads a part, and adds up what is complete of it. It
 * begins anew where the host has got a CPU.
 */
int nt_prometheus_live_look(struct nt_prometheus_live *live, char error[NT_ERROR_MAX]);
/*
 * Whether there is more to be read by now: look again at once. Figures that were written before are not to be followed
 * by those of such a part: counters would fall.
 */
bool nt_prometheus_live_is_behind(const struct nt_prometheus_live *live);
/* A problem of the tape that was not told yet, as a sentence. False: there is none. */
bool nt_prometheus_live_problem(struct nt_prometheus_live *live, char text[NT_ERROR_MAX]);
/* Adds what is complete by now. 1; 0: nothing is, and there are no figures yet; -1 and a sentence in `error`. */
int nt_prometheus_live_sum(struct nt_prometheus_live *live, char error[NT_ERROR_MAX]);
/* Writes the sums so far. */
void nt_prometheus_live_write(const struct nt_prometheus_live *live, FILE *out);
