// SPDX-License-Identifier: GPL-2.0-only
/* live_prometheus.c - see live_prometheus.h. */
#include "report/cmd/live_prometheus.h"

#include <signal.h>
#include <stdlib.h>

#include "report/export/prometheus/live.h"
#include "report/out/interrupt.h"
#include "report/out/new_file.h"
#include "report/util/now.h"

#define MOST_S 86400

bool nt_set_follow(void *seconds, const struct nt_option_values *values)
{
	char *end;
	const unsigned long long n = strtoull(values->text, &end, 10);

	*(int64_t *)seconds = (int64_t)n;
	return values->text[0] >= '0' && values->text[0] <= '9' && !*end && n && n <= MOST_S;
}

struct following {
	const struct nt_options *options;
	struct nt_prometheus_live *live;
	bool is_stopped; /* a signal has come */
	bool has_written;
};

static int write_live(void *arg, FILE *out)
{
	nt_prometheus_live_write(arg, out);
	return NT_EXIT_DONE;
}

static void tell_problems(const struct following *following)
{
	char text[NT_ERROR_MAX];

	while (nt_prometheus_live_problem(following->live, text))
		nt_complain("%s: %s", following->options->args[0], text);
}

static int write_file(struct following *following)
{
	char error[NT_ERROR_MAX];
	const int has_figures = nt_prometheus_live_sum(following->live, error);
	sigset_t all, before;
	int code;

	if (has_figures < 0)
		return nt_complain("%s", error);
	if (!has_figures)
		return NT_EXIT_DONE;
	/* A signal waits until the file is whole; then it is only noted again. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	code = nt_new_file(following->options->output, NULL, write_live, following->live);
	following->has_written = !code;
	following->is_stopped |= nt_interrupted();
	nt_interrupt_waits();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}

static int follow(struct following *following)
{
	const uint64_t every_ms = (uint64_t)following->options->follow_s * 1000;
	uint64_t next_ms = nt_now_ms();
	char error[NT_ERROR_MAX];
	bool is_last = false, is_behind;
	int code = NT_EXIT_DONE;

	while (!is_last && !following->is_stopped && !code) {
		const int result = nt_prometheus_live_look(following->live, error);

		if (result < 0)
			return nt_complain("%s", error);
		tell_problems(following);
		is_last = result == 1 || nt_interrupted();
		is_behind = nt_prometheus_live_is_behind(following->live);
		if (is_last || (!is_behind && nt_now_ms() >= next_ms)) {
			code = write_file(following);
			next_ms = nt_now_ms() + every_ms;
		}
		if (!is_last && !following->is_stopped && !code && !is_behind)
			nt_interrupt_sleep();
	}
	return code;
}

static bool is_interrupted(void *arg)
{
	(void)arg;
	return nt_interrupted();
}

int nt_live_prometheus(const struct nt_options *options, size_t limit)
{
	const struct nt_prometheus_choice choice = {.limit = limit, .names_host = true, .is_stopped = is_interrupted};
	struct following following = {.options = options, .live = nt_prometheus_live_new(options->args[0], &choice)};
	int code;

	if (!following.live)
		return nt_complain("%s: out of memory.", options->args[0]);
	nt_interrupt_waits();
	code = follow(&following);
	nt_prometheus_live_free(following.live);
	if (!code && !following.has_written)
		code = nt_complain("%s was not written: nothing of %s was complete yet.", options->output,
				   options->args[0]);
	return code;
}
