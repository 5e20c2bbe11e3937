// SPDX-License-Identifier: GPL-2.0-only
/*
 * status.c - see status.h.
 */
#include "record/status.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record/text.h"
#include "schema/cli/arg.h"

#define WIDTH_MAX 256
#define WORD_MAX (4 * PATH_MAX + 4) /* a path of which each byte is written as an escape */

/* ---- the start ---- */

/* The conditions that end the recording, printed after the tape's name. */
static void print_ends(const struct nt_record_options *options)
{
	char duration[64], command[256];

	if (options->command)
		fprintf(stderr, " until %s ends", nt_arg_shell(command, sizeof(command), options->command[0]));
	if (options->duration_ns) {
		nt_duration_text(duration, sizeof(duration), options->duration_ns);
		fprintf(stderr, options->command ? ", for %s at most" : " for %s", duration);
	}
	fprintf(stderr, "; Ctrl-C stops\n");
}

static void print_start(const struct nt_record_options *options)
{
	const struct nt_plan *plan = &options->plan;
	char tape[WORD_MAX];
	int n = 0;

	fprintf(stderr, "recording");
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		if (plan->chosen[probe])
			fprintf(stderr, "%s %s", n++ ? "," : "", nt_probes[probe].name);
	fprintf(stderr, " to %s", nt_arg_shell(tape, sizeof(tape), options->output));
	print_ends(options);
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		if (plan->on[probe] && !plan->chosen[probe])
			fprintf(stderr, "not recorded: %s is not available on this kernel (%s)\n",
				nt_probes[probe].name, plan->refused[probe]);
	for (size_t i = 0; i < plan->n_refused_programs; i++)
		fprintf(stderr, "this kernel refuses the program %s (%s): the rest is recorded\n",
			plan->refused_programs[i].name, plan->refused_programs[i].why);
}

/* ---- the status line ---- */

/*
 * The terminal once more, with a descriptor of our own: whether that waits is then no matter of the shell's. A command
 * has the terminal for itself: a line that is rewritten would stand in the middle of what it prints, or of what is
 * typed for it.
 */
static int open_terminal(const struct nt_record_options *options)
{
	const char *type = getenv("TERM");

	if (!isatty(STDERR_FILENO) || !type || !type[0] || !strcmp(type, "dumb"))
		return -1;
	if (options->command && (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)))
		return -1;
	return open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool is_in_background(int terminal)
{
	pid_t group = tcgetpgrp(terminal);

	return group >= 0 && group != getpgrp();
}

static size_t width_of(int terminal)
{
	struct winsize size = {};

	/* The last column stays free: some terminals go on to the next line when it is written. */
	if (ioctl(terminal, TIOCGWINSZ, &size) || !size.ws_col)
		return 79;
	return size.ws_col > WIDTH_MAX ? WIDTH_MAX - 1 : size.ws_col - 1u;
}

void nt_status_show(struct nt_status *status, const struct nt_totals *totals, uint64_t bytes)
{
	const struct nt_status_figures progress = {
		.duration_ns = totals->duration_ns,
		.events = totals->events,
		.lost = totals->lost + totals->missed,
		.bytes = bytes,
	};
	char line[WIDTH_MAX], text[WIDTH_MAX + 16];
	int size;

	if (status->terminal < 0 || is_in_background(status->terminal))
		return;
	nt_status_text(line, width_of(status->terminal), &progress);
	size = snprintf(text, sizeof(text), "\r%s\033[K", line);
	status->is_shown |= write(status->terminal, text, (size_t)size) > 0;
}

void nt_status_hide(struct nt_status *status)
{
	if (status->is_shown && write(status->terminal, "\r\033[K", 4) < 0)
		return;
	status->is_shown = false;
}

/* ---- the end ---- */

/* The ring size that would have held what was lost at worst between two drains. */
static size_t enough_ring(size_t ring_size, uint64_t lost_bytes_max)
{
	size_t size = ring_size;

	while (size < ring_size + lost_bytes_max)
		size *= 2;
	return size;
}

/* Of a flight recorder, which has dropped what is older. */
static void print_kept(const struct nt_totals *totals, uint64_t bytes)
{
	char events[NT_TEXT_MAX], size[NT_TEXT_MAX], chunks[NT_TEXT_MAX];

	if (totals->dropped_chunks)
		fprintf(stderr, "kept: the last %.3f s, %s events, %s; %s older chunk%s dropped\n",
			totals->kept_ns / 1e9, nt_count_text(events, totals->events - totals->dropped_events),
			nt_bytes_text(size, bytes - totals->dropped_bytes),
			nt_count_text(chunks, totals->dropped_chunks), totals->dropped_chunks == 1 ? " was" : "s were");
}

static void print_lost(const struct nt_record_options *options, const struct nt_totals *totals)
{
	char lost[NT_TEXT_MAX];

	if (totals->lost)
		fprintf(stderr, "lost: %s records found the rings full; --ring-size %zuk would have held them\n",
			nt_count_text(lost, totals->lost),
			enough_ring(options->ring_size, totals->lost_bytes_max) >> 10);
}

static void print_left_out(const struct nt_totals *totals)
{
	char count[NT_TEXT_MAX], most[NT_TEXT_MAX];

	if (totals->left_out)
		fprintf(stderr,
			"lost: %s runs of programs that the kernel left out, %s of them of %s: what they would have "
			"recorded is missing\n",
			nt_count_text(count, totals->left_out), nt_count_text(most, totals->left_out_most),
			totals->most_left_out);
}

/* summary says the same. */
static void print_own_cost(const struct nt_own_cost *own)
{
	fprintf(stderr, "own CPU time: ");
	if (own->recorded_ns)
		fprintf(stderr, "%.3f s while recording (%.2f %% of one CPU), ", own->recording_ns / 1e9,
			own->recording_ns * 1e2 / own->recorded_ns);
	fprintf(stderr, "%.3f s to load, %.3f s to end\n", own->loading_ns / 1e9, own->ending_ns / 1e9);
}

static void print_totals(const struct nt_record_options *options, const char *tape, const struct nt_totals *totals,
			 uint64_t bytes)
{
	char events[NT_TEXT_MAX], lost[NT_TEXT_MAX], size[NT_TEXT_MAX];

	fprintf(stderr, "%s: %.3f s, %s events, %s lost, %s (%.2f bytes an event)\n", tape, totals->duration_ns / 1e9,
		nt_count_text(events, totals->events), nt_count_text(lost, totals->lost + totals->missed),
		nt_bytes_text(size, bytes), totals->events ? (double)bytes / totals->events : 0.0);
	print_kept(totals, bytes);
	print_own_cost(&totals->own);
	print_lost(options, totals);
	if (totals->missed)
		fprintf(stderr, "lost: %s context switches that this kernel does not show to the programs\n",
			nt_count_text(lost, totals->missed));
	print_left_out(totals);
	if (totals->many)
		fprintf(stderr, "not told apart: the flows of %s packets, for too many were new; info says more\n",
			nt_count_text(lost, totals->many));
}

/* The report program stands beside a recorder that was called by its path; else the shell finds both. */
static void find_report(char *path, size_t size, const char *recorder)
{
	const char *slash = strrchr(recorder, '/');

	snprintf(path, size, "%.*snettape-report", slash ? (int)(slash + 1 - recorder) : 0, recorder);
	if (slash && access(path, X_OK))
		snprintf(path, size, "nettape-report");
}

void nt_status_end(struct nt_status *status, const struct nt_totals *totals, uint64_t bytes)
{
	const struct nt_record_options *options = status->options;
	char path[PATH_MAX], report[WORD_MAX], tape[WORD_MAX];

	nt_status_hide(status);
	/* The program's exit status says it, too. */
	if (options->quiet) {
		print_lost(options, totals);
		print_left_out(totals);
		return;
	}
	nt_arg_shell(tape, sizeof(tape), options->output);
	print_totals(options, tape, totals, bytes);
	find_report(path, sizeof(path), options->program);
	fprintf(stderr, "next: %s summary %s\n", nt_arg_shell(report, sizeof(report), path), tape);
}

void nt_status_begin(struct nt_status *status, const struct nt_record_options *options)
{
	status->options = options;
	if (options->quiet)
		return;
	print_start(options);
	status->terminal = open_terminal(options);
}

void nt_status_release(struct nt_status *status)
{
	if (status->terminal >= 0)
		close(status->terminal);
	status->terminal = -1;
}
