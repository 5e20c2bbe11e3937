// SPDX-License-Identifier: GPL-2.0-only
/*
 * progress.c - see progress.h.
 */
#include "report/out/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "report/out/output.h"

#define QUIET_NS 1000000000ull
#define STEP_NS 200000000ull

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void nt_progress_begin(struct nt_progress *progress, const char *what)
{
	*progress = (struct nt_progress){.what = what, .begin_ns = now_ns(), .is_terminal = isatty(STDERR_FILENO)};
}

void nt_progress_show(struct nt_progress *progress, unsigned int permille, uint64_t n)
{
	char count[NT_HUMAN_MAX];
	uint64_t now;

	if (!progress->is_terminal)
		return;
	now = now_ns();
	if (now - progress->begin_ns < QUIET_NS || now - progress->shown_ns < STEP_NS)
		return;
	progress->shown_ns = now;
	fprintf(stderr, "\r%s: %3u %%, %s rows\033[K", progress->what, permille / 10,
		nt_human_count(count, (int64_t)n));
}

void nt_progress_end(struct nt_progress *progress)
{
	if (progress->shown_ns)
		fputs("\r\033[K", stderr);
	progress->shown_ns = 0;
}
