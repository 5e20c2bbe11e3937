// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.c - nettape-report flame: the kernel's stacks as a flame graph in exact time, as folded stacks, or as the
 * difference of two recordings. Joins the parts: reading (query/stages/read.h, query/stages/frames.h), the tree and its
 * picture (query/stages/flame.h).
 */
#include <libgen.h>
#include <stdio.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/export/svg/svg.h"
#include "report/out/new_file.h"
#include "report/query/stages/flame.h"
#include "report/query/stages/show.h"
#include "report/query/whole.h"

struct command {
	const struct nt_options *options;
	struct nt_stage_choice choice;
	struct nt_sessions sessions; /* of the side that is read */
	struct nt_flame flame;
	unsigned int side;
	/* Of each side: what was recorded, and of how many sessions; and of the first that is not whole, that. */
	char recorded[2][NT_SVG_SESSION_MAX], damage[2][NT_WHOLE_MAX];
	unsigned int n_sessions[2];
};

static int add_session(struct command *command, const struct nt_part *part)
{
	struct nt_stage_data data;
	struct nt_frames frames = {0};
	int error = nt_stage_read(part, &command->choice, true, &data);

	if (!error)
		error = nt_frames_read(part->db, part->session->id, &frames);
	if (!error) {
		error = nt_flame_add(&command->flame, command->side, command->choice.by, &data, &frames);
		if (error)
			error = nt_stage_fail(part, error);
	}
	nt_frames_release(&frames);
	nt_stage_data_release(&data);
	return error;
}

/* After it was read, for what is shown above the picture. */
static int note_session(struct command *command, const struct nt_part *part)
{
	const unsigned int side = command->side;
	struct nt_whole whole;

	if (nt_whole_find(part->db, part->session, part->selection, &whole))
		return -1;
	if (!command->n_sessions[side]++)
		nt_svg_session(part->session, part->selection, command->recorded[side]);
	if (!command->damage[side][0])
		nt_whole_text(&whole, command->damage[side]);
	return 0;
}

static int one_session(void *arg, const struct nt_session *session)
{
	struct command *command = arg;
	struct nt_sessions *sessions = &command->sessions;
	struct nt_part part;

	if (nt_session_limit(sessions->db, session, &command->choice.selection) ||
	    nt_stage_part_of(sessions->db, session, &command->choice.selection, &part, sessions->why_not))
		return -1;
	if (sessions->why_not[0])
		return 0;
	return add_session(command, &part) ? -1 : note_session(command, &part);
}

/* All sessions of one tape or database, to one side of the tree. Gives an exit code. */
static int read_side(struct command *command, unsigned int side)
{
	/* Programs' files are read for programs' stacks alone, or when somebody says where they are. */
	static const struct nt_symbol_args nothing = {.none = true};
	const struct nt_options *options = command->options;
	const bool has_names = options->stages.user || options->symbols.n_dirs;
	const char *path = options->args[side];
	int code = nt_sessions_open(&command->sessions, path, has_names ? &options->symbols : &nothing, options->names,
				    &nt_need_stacks, options->format);

	command->side = side;
	if (!code)
		code = nt_sessions_show(&command->sessions, one_session, command);
	if (!code && !command->flame.nodes[0].ns[side])
		code = nt_complain("%s: these owners have no time in the selection.", path);
	nt_sessions_close(&command->sessions);
	return code;
}

/* A line of its own, that of a file begins with its name if there are two. Gives how long it is. */
static int begin_line(const struct command *command, unsigned int side, struct nt_flame_head *head, char **line)
{
	*line = head->lines[head->n_lines++];
	if (!command->options->stages.diff)
		return 0;
	return snprintf(*line, sizeof(head->lines[0]), "%.60s: ", basename(command->options->args[side]));
}

/* "vm, 2026-11-21 10:40:51 UTC, 2.014 s, and 2 more recordings", and what is wrong with them. */
static void add_lines(const struct command *command, unsigned int side, struct nt_flame_head *head)
{
	char *line;
	int at = begin_line(command, side, head, &line);

	at += snprintf(line + at, sizeof(head->lines[0]) - (size_t)at, "%s", command->recorded[side]);
	if (command->n_sessions[side] > 1)
		snprintf(line + at, sizeof(head->lines[0]) - (size_t)at, ", and %u more recording%s",
			 command->n_sessions[side] - 1, command->n_sessions[side] > 2 ? "s" : "");
	if (!command->damage[side][0])
		return;
	at = begin_line(command, side, head, &line);
	snprintf(line + at, sizeof(head->lines[0]) - (size_t)at, "%s", command->damage[side]);
}

static int write_out(void *arg, FILE *out)
{
	struct command *command = arg;
	const struct nt_options *options = command->options;
	bool is_diff = options->stages.diff;
	struct nt_flame_head head = {0};
	char time[NT_HUMAN_MAX];

	if (options->stages.folded) {
		nt_flame_folded(&command->flame, out);
		return NT_EXIT_DONE;
	}
	if (is_diff)
		snprintf(head.title, sizeof(head.title), "%.150s compared with %.150s", basename(options->args[1]),
			 basename(options->args[0]));
	else
		snprintf(head.title, sizeof(head.title), "%.300s: %s of CPU", basename(options->args[0]),
			 nt_human_ns(time, command->flame.nodes[0].ns[0]));
	for (unsigned int side = 0; side < (is_diff ? 2u : 1u); side++)
		add_lines(command, side, &head);
	return nt_flame_svg(&command->flame, is_diff, &head, out) ? nt_complain("out of memory.") : NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	struct command command = {.options = options};
	bool is_diff = options->stages.diff;
	char error[NT_ERROR_MAX];
	int code = NT_EXIT_DONE;

	if (nt_stage_choose(&options->stages, NT_BY_OF_FLAMES, options->samples.by, &options->selection,
			    &command.choice, error))
		return nt_complain_misused(error);
	if (is_diff && options->stages.folded)
		return nt_complain_misused("--folded has one number a stack: leave --diff out, and compare two files.");
	if (options->n_args != (is_diff ? 2 : 1))
		return nt_complain_misused(is_diff ? "--diff takes two tapes or databases."
						   : "flame takes one tape or database, or two with --diff.");
	for (unsigned int side = 0; side < (is_diff ? 2u : 1u) && !code; side++)
		code = read_side(&command, side);
	if (!code)
		code = nt_new_file(options->output,
				   options->stages.folded ? "flamegraph.pl and https://www.speedscope.app read it"
							  : "open it in a browser; a click zooms, / searches",
				   write_out, &command);
	nt_flame_release(&command.flame);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT_OR_NOT,
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_OWNER,
	NT_OPTION_BY_FLAME,
	NT_FLAG("folded", stages.folded, "one line for each stack: functions with ; between them, and nanoseconds"),
	NT_FLAG("user-stacks", stages.user, "stacks of programs too, where they were recorded"),
	NT_FLAG("user", stages.user, NULL),
	NT_FLAG("diff", stages.diff, "compare two recordings: red grew in the second, blue shrank"),
	NT_OPTION_NAMES,
	NT_OPTION_SYMBOLS,
	NT_OPTION_NO_SYMBOLS,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_flame = {
	.name = "flame",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [-o FILE] [OPTION]...  (with --diff: two)",
	.what = "draw the kernel's stacks as a flame graph in exact time",
	.help = "The picture is an SVG for browsers. A click zooms, / searches. Widths are time: each owner's exact "
		"time, split by samples of the kernel's stacks. Record with --probes default,stacks.",
	.example = "flame busy.tape -o busy.svg",
	.wants = "a tape or a database, or two with --diff",
	.options = options,
	.min_args = 1,
	.max_args = 2,
	.run = run,
};
