/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follower.h - the metrics of a tape while it is recorded (export/prometheus/live.h), then those of the next one: what
 * /metrics answers. The same costs go into a history. Counters begin anew with each tape, as Prometheus expects of a
 * program that was started again. What is wrong with a tape is told on stderr, once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/serve/history.h"

struct nt_follower;

/* What is to be published. The text is the caller's to free; NULL: what was published last still holds. */
struct nt_page {
	unsigned int status; /* of HTTP: 200, or 503 with a sentence on why there are no figures */
	char *text;
	size_t size;
};

/* Of a tape, or of a directory of tapes. `limit`: so many programs, cgroups and ports with names. The history must
 * outlive it. NULL: out of memory. */
struct nt_follower *nt_follower_new(const char *path, size_t limit, struct nt_history *history);
void nt_follower_free(struct nt_follower *follower);
/* Looks for what has come. 0, or -1: out of memory. *is_behind: there is more to be read by now. */
int nt_follower_look(struct nt_follower *follower, struct nt_page *page, bool *is_behind);
/* The tape at hand, until the next look. NULL: there is none. */
const char *nt_follower_tape(const struct nt_follower *follower);
