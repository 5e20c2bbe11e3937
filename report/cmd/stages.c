// SPDX-License-Identifier: GPL-2.0-only
/*
 * stages.c - nettape-report stages: the network's time by stage of the stack. Joins the parts: the options
 * (query/stages/choice.h), the result (query/stages/result.h), its output (query/stages/show.h).
 */
#include <stdio.h>

#include "report/cmd/command.h"
#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/query/stages/show.h"

#define TOP 25 /* rows */

struct command {
	struct nt_sessions sessions;
	size_t limit; /* rows to people */
	struct nt_stage_choice choice;
};

static int show(struct command *command, const struct nt_stage_result *result)
{
	struct nt_sessions *sessions = &command->sessions;
	const struct nt_part *part = &result->part;
	int error;

	if (sessions->format == NT_FORMAT_CSV)
		return nt_stage_csv(result, sessions->printer);
	if (sessions->format == NT_FORMAT_JSON) {
		nt_json_open(&sessions->json, NULL, '{');
		error = nt_sessions_say_whole(sessions, part->session, part->selection) ||
			nt_stage_json(result, &sessions->json);
		nt_json_close(&sessions->json, '}');
		return error ? -1 : 0;
	}
	if (sessions->shown)
		puts("\n");
	if (nt_sessions_say_whole(sessions, part->session, part->selection))
		return -1;
	return nt_stage_print(result, stdout, sessions->printer, command->limit);
}

static int one_session(void *arg, const struct nt_session *session)
{
	struct command *command = arg;
	struct nt_sessions *sessions = &command->sessions;
	struct nt_stage_result result = {.choice = &command->choice};
	const struct nt_selection *selection = &command->choice.selection;
	int error = nt_session_limit(sessions->db, session, selection);

	if (!error)
		error = nt_stage_part_of(sessions->db, session, selection, &result.part, sessions->why_not);
	if (!error && !sessions->why_not[0])
		error = nt_stage_find(&result) ? -1 : show(command, &result);
	nt_stage_result_release(&result);
	return error;
}

static int run(const struct nt_options *options)
{
	struct command command = {.limit = options->limit ? (size_t)options->limit : TOP};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_stage_choose(&options->stages, NT_BY_OF_STAGES, options->samples.by, &options->selection,
			    &command.choice, error))
		return nt_complain_misused(error);
	code = nt_sessions_open(&command.sessions, options->args[0], NULL, options->names, &nt_need_stacks,
				options->format);
	if (!code && options->format == NT_FORMAT_CSV && nt_stage_csv_begin(&command.choice, command.sessions.printer))
		code = nt_complain("out of memory.");
	if (!code)
		code = nt_sessions_show(&command.sessions, one_session, &command);
	nt_sessions_close(&command.sessions);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_OWNER,
	NT_OPTION_BY_STAGE,
	NT_OPTION_LIMIT("the N rows with the most time, or all (25)"),
	NT_FLAG("inclusive", stages.inclusive, "count a stage with everything done inside it"),
	NT_FLAG("other", stages.other, "list the stacks that belong to no stage, the most expensive first"),
	NT_OPTION_NAMES,
	NT_OPTION_JSON,
	NT_OPTION_CSV,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_stages = {
	.name = "stages",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [OPTION]... [--json|--csv]",
	.what = "split the network's time into stages of the stack",
	.help = "Each owner's exact time is split by samples of the kernel's stacks: record with --probes "
		"default,stacks. A stack has one stage, that of its innermost function with a stage.",
	.example = "stages busy.tape --by cpu --owner net_rx",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
