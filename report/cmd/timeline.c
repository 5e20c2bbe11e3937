// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline.c - nettape-report timeline: CPUs over time, and their worst moments. Joins the parts: the options
 * (query/cpus/choice.h), the result (query/cpus/result.h, query/cpus/lanes.h, query/cpus/worst.h), the picture
 * (query/cpus/drawing.c).
 */
#include <stdio.h>

#include "report/cmd/command.h"
#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/query/cpus/result.h"

#define CELLS_PROGRAMS 100 /* in JSON and CSV */

struct command {
	struct nt_sessions sessions;
	struct nt_lanes_choice choice;
	struct nt_terminal terminal;
};

static uint32_t columns(const struct command *command)
{
	if (command->choice.cells)
		return command->choice.cells;
	return command->sessions.format == NT_FORMAT_TABLE ? command->terminal.width - NT_LANES_BESIDE : CELLS_PROGRAMS;
}

/* The part of the session that was asked for. False: nothing, and command->sessions.why_not says why. */
static bool choose_part(struct command *command, struct nt_part *part)
{
	struct nt_sessions *sessions = &command->sessions;
	char length[NT_HUMAN_MAX], wanted[NT_HUMAN_MAX];
	uint64_t span;

	nt_part_choose(part, sessions->why_not);
	span = (uint64_t)part->to_ts - (uint64_t)part->from_ts;
	if (!sessions->why_not[0] && command->choice.worst && command->choice.window_ns > span)
		snprintf(sessions->why_not, sizeof(sessions->why_not),
			 "a window of %s is longer than the %s of session %lld that are searched: give a shorter "
			 "--window",
			 nt_human_ns(wanted, command->choice.window_ns), nt_human_ns(length, span),
			 (long long)part->session->id);
	return !sessions->why_not[0];
}

static int show(struct command *command, const struct nt_lanes_result *result)
{
	struct nt_sessions *sessions = &command->sessions;
	const struct nt_part *part = &result->part;
	int error;

	if (sessions->format == NT_FORMAT_CSV)
		return nt_lanes_csv(result, sessions->printer);
	if (sessions->format == NT_FORMAT_JSON) {
		nt_json_open(&sessions->json, NULL, '{');
		error = nt_sessions_say_whole(sessions, part->session, part->selection) ||
			nt_lanes_json(result, &sessions->json);
		nt_json_close(&sessions->json, '}');
		return error ? -1 : 0;
	}
	if (sessions->shown)
		puts("\n");
	if (nt_sessions_say_whole(sessions, part->session, part->selection))
		return -1;
	return nt_lanes_text(result, stdout, sessions->printer, &command->terminal);
}

static int find_and_show(struct command *command, struct nt_lanes_result *result)
{
	char *why_not = command->sessions.why_not;

	if (nt_lanes_check_process(&result->part, why_not))
		return -1;
	if (why_not[0])
		return 0;
	if (nt_lanes_find(result, columns(command)))
		return -1;
	/* Only if the search found nothing: to find no slice takes another pass. */
	if (!result->lanes.n && !result->n_worst && nt_lanes_check_cpus(&result->part, why_not))
		return -1;
	return why_not[0] ? 0 : show(command, result);
}

static int one_session(void *arg, const struct nt_session *session)
{
	struct command *command = arg;
	struct nt_lanes_result result = {
		.part = {.db = command->sessions.db, .session = session, .selection = &command->choice.selection},
		.choice = &command->choice,
		.path = command->sessions.path,
		.is_one_of_many = command->sessions.n > 1,
	};
	int error = 0;

	/* The search for the worst counts CPUs that are not selected, too. */
	if (!command->choice.worst)
		error = nt_session_limit(command->sessions.db, session, &command->choice.selection);
	if (!error && choose_part(command, &result.part))
		error = find_and_show(command, &result);
	nt_lanes_result_release(&result);
	return error;
}

static int run(const struct nt_options *options)
{
	struct command command = {.terminal = nt_terminal_find(stdout, options->format)};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_lanes_choose(&options->lanes, &options->selection, &command.choice, error))
		return nt_complain_misused(error);
	code = nt_sessions_open(&command.sessions, options->args[0], NULL, NULL, NULL, options->format);
	if (!code && options->format == NT_FORMAT_CSV && nt_lanes_csv_begin(command.sessions.printer))
		code = nt_complain("out of memory.");
	if (!code)
		code = nt_sessions_show(&command.sessions, one_session, &command);
	nt_sessions_close(&command.sessions);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_TEXT("worst", "OWNER", "net_rx", lanes.worst,
		"find the windows with the most time of this owner, or of network", .choice = nt_choose_owner),
	NT_TEXT("window", "T", "10ms", lanes.window, "the length of these windows (10ms)"),
	NT_TEXT("top", "N", "5", lanes.top, "how many windows to show (5); they never overlap"),
	NT_FLAG("each-cpu", lanes.each_cpu, "windows of single CPUs, not of all CPUs together"),
	NT_TEXT("cells", "N", "100", lanes.cells, "cut the time into N cells (as many as fit on a line)"),
	NT_OPTION_JSON,
	NT_OPTION_CSV,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_timeline = {
	.name = "timeline",
	.group = NT_GROUP_LOOK,
	.usage = "TAPE|DB [OPTION]... [--json|--csv]",
	.what = "draw the owners of each CPU over time, and find the worst moments",
	.help = "An owner is hardirq, net_rx, net_tx, softirq, send, recv, task, idle, offline or uncovered. "
		"network is net_rx, net_tx, send and recv together.",
	.example = "timeline busy.tape --worst network --window 10ms",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
