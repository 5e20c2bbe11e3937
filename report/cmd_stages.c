// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_stages.c - nettape-report stages: what the network's time was spent on. Only what holds the parts together: what
 * was asked (stage_choice.h), finding it (stage_result.h), showing it (stage_show.h).
 */
#include <stdio.h>

#include "report/command.h"
#include "report/load.h"
#include "report/stage_show.h"

struct command {
	struct nt_db *db;
	const char *path;
	struct nt_stage_choice choice;
	struct nt_stage_show show;
	int64_t shown;
	char why_not[320]; /* the last session was not shown, "" if it was */
};

static int one_session(void *arg, const struct nt_latency_session *session)
{
	struct command *command = arg;
	struct nt_stage_result result = {.choice = &command->choice};
	int error = nt_stage_part_of(command->db, session, &command->choice.selection, &result.part, command->why_not,
				     sizeof(command->why_not));

	if (!error && !command->why_not[0])
		error = nt_stage_find(&result);
	if (!error && !command->why_not[0]) {
		command->shown++;
		error = nt_stage_show(&command->show, &result);
	}
	nt_stage_result_release(&result);
	return error;
}

/* Of several sessions it is enough that one has what was asked for. */
static int run_command(struct command *command)
{
	int code = NT_EXIT_DONE;

	if (nt_stage_show_begin(&command->show, &command->choice))
		return nt_complain("out of memory.");
	if (nt_latency_each_session(command->db, one_session, command))
		code = nt_complain("%s", command->db->error);
	nt_stage_show_end(&command->show);
	if (!code && !command->shown)
		code = nt_complain("%s: %s.", command->path,
				   command->why_not[0] ? command->why_not : "it holds no recording: import one");
	return code;
}

static int run(const struct nt_options *options)
{
	struct command command = {.path = options->args[0], .show = {.out = stdout, .format = options->format}};
	char error[512];
	int code;

	if (nt_stage_choose(&options->stages, options->samples.by, &options->selection, &command.choice, error,
			    sizeof(error))) {
		nt_complain("%s", error);
		return NT_EXIT_MISUSED;
	}
	if (nt_load_open(&command.db, options->args[0], error, sizeof(error)))
		return nt_complain("%s", error);
	code = run_command(&command);
	nt_db_close(command.db);
	return code;
}

const struct nt_command nt_cmd_stages = {
	.name = "stages",
	.usage = "TAPE|DB [--by WHAT] ... [--json|--csv]",
	.what = "prints what the network's time was spent on",
	.help = "Each owner's exact time, split into stages of the network stack by samples of the kernel's stacks "
		"(recorded with\n"
		"--probes default,stacks). Each stack has one stage, that of its innermost function that has one.\n",
	.takes = NT_TAKES_JSON | NT_TAKES_CSV | NT_TAKES_TIME | NT_TAKES_WHO | NT_TAKES_OWNER | NT_TAKES_BY |
		 NT_TAKES_STAGES,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
