// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - nettape-report check: proves that a recording is whole and adds up, or that a part of it does. Declared
 * loss does not fail the check.
 */
#include <stdio.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/out/prose.h"
#include "report/out/terminal.h"
#include "report/query/check/check.h"

struct command {
	struct nt_db *db;
	const char *path; /* as given */
	struct nt_selection selection;
	enum nt_format format;
	struct nt_json json; /* with NT_FORMAT_JSON */
	uint64_t shown; /* sessions, so far */
	uint64_t failed, losses; /* findings of them */
};

/* ---- findings ---- */

static const struct {
	const char *name, *colour;
} verdicts[] = {
	[NT_FOUND_OK] = {"ok", "\033[32m"},
	[NT_FOUND_NOTE] = {"note", "\033[36m"},
	[NT_FOUND_LOSS] = {"loss", "\033[33m"},
	[NT_FOUND_FAILED] = {"FAILED", "\033[1;31m"},
};

/* A verdict as it begins a line, in its colour on a terminal; `width`: of the word and the blanks behind it. */
static void write_verdict(char *text, size_t size, enum nt_verdict verdict, size_t width)
{
	const char *name = verdicts[verdict].name;
	bool colour = nt_terminal_find(stdout, NT_FORMAT_TABLE).colour;
	size_t length = strlen(name);

	snprintf(text, size, "%s%s%s%*s", colour ? verdicts[verdict].colour : "", name, colour ? "\033[0m" : "",
		 (int)(width > length ? width - length : 0), "");
}

static void show_finding(void *arg, const struct nt_finding *finding)
{
	struct command *command = arg;
	const char *name = verdicts[finding->verdict].name;
	char lead[64], word[32];

	if (command->format == NT_FORMAT_JSON) {
		nt_json_open(&command->json, NULL, '{');
		nt_json_text(&command->json, "verdict", finding->verdict == NT_FOUND_FAILED ? "failed" : name);
		nt_json_text(&command->json, "check", finding->check);
		nt_json_text(&command->json, "text", finding->text);
		nt_json_close(&command->json, '}');
		return;
	}
	write_verdict(word, sizeof(word), finding->verdict, 7);
	snprintf(lead, sizeof(lead), "  %s %-13s ", word, finding->check);
	nt_print_prose(stdout, lead, "%s", finding->text);
}

/* ---- sessions ---- */

static void begin_json(struct nt_json *json, const struct nt_session *session, const struct nt_part *part)
{
	nt_json_open(json, NULL, '{');
	nt_json_integer(json, "session_id", session->id);
	nt_json_text(json, "host", session->host);
	if (part) {
		nt_json_open(json, "part", '{');
		nt_json_integer(json, "from_ts", part->from_ts);
		nt_json_integer(json, "to_ts", part->to_ts);
		nt_json_close(json, '}');
	}
	nt_json_open(json, "findings", '[');
}

static void begin_session(struct command *command, const struct nt_session *session, const struct nt_part *part)
{
	char duration[NT_HUMAN_MAX], selected[NT_SELECTED_MAX] = "";

	if (command->format == NT_FORMAT_JSON) {
		begin_json(&command->json, session, part);
		return;
	}
	if (part)
		nt_session_selected(session, part->selection, selected, sizeof(selected));
	nt_print_prose(stdout, "", "session %lld: host %s, %lld CPUs, %s%s", (long long)session->id,
		       session->host[0] ? session->host : "(unknown)", (long long)session->cpus,
		       nt_human_ns(duration, (uint64_t)(session->end_ts - session->start_ts)), selected);
}

static int check_session(struct command *command, const struct nt_session *session, const struct nt_part *part)
{
	struct nt_check check = {
		.db = command->db, .session = *session, .part = part, .on_finding = show_finding, .arg = command};
	int error;

	begin_session(command, session, part);
	error = nt_check_make(&check);
	if (command->format == NT_FORMAT_JSON) {
		nt_json_close(&command->json, ']');
		nt_json_close(&command->json, '}');
	}
	command->shown++;
	command->failed += check.found[NT_FOUND_FAILED];
	command->losses += check.found[NT_FOUND_LOSS];
	return error;
}

static int check_part(struct command *command, struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	nt_part_choose(part, why_not);
	if (why_not[0])
		return 0;
	if (nt_session_limit(part->db, part->session, part->selection) || nt_lanes_check_process(part, why_not) ||
	    (!why_not[0] && nt_lanes_check_cpus(part, why_not)))
		return -1;
	return why_not[0] ? 0 : check_session(command, part->session, part);
}

static int check_selected(void *arg, const struct nt_session *session)
{
	struct command *command = arg;
	struct nt_part part = {.db = command->db, .session = session, .selection = &command->selection};
	char why_not[NT_ERROR_MAX] = "";
	int error;

	if (!nt_selection_is_given(&command->selection))
		return check_session(command, session, NULL);
	error = check_part(command, &part, why_not);
	if (!error && why_not[0])
		nt_complain("%s: %s.", command->path, why_not);
	return error;
}

/* ---- the result ---- */

static void json_result(struct command *command)
{
	nt_json_close(&command->json, ']');
	nt_json_bool(&command->json, "ok", command->shown && !command->failed);
	nt_json_integer(&command->json, "failed", (int64_t)command->failed);
	nt_json_integer(&command->json, "losses", (int64_t)command->losses);
	nt_json_close(&command->json, '}');
}

static void print_result(const struct command *command)
{
	char word[32], lead[40];

	write_verdict(word, sizeof(word), command->failed ? NT_FOUND_FAILED : NT_FOUND_OK, 0);
	snprintf(lead, sizeof(lead), "%s%s", word, command->losses && !command->failed ? ", " : ": ");
	if (command->failed)
		nt_print_prose(stdout, lead, "it is not whole, or does not add up, as the lines marked `FAILED` say");
	else if (command->losses)
		nt_print_prose(stdout, lead, "WITH LOSS: it adds up, but what the lines marked `loss` name is missing");
	else
		nt_print_prose(stdout, lead,
			       nt_selection_is_given(&command->selection) ? "what was chosen of it adds up"
									  : "it is whole, and it adds up");
}

static int check_all(struct command *command)
{
	int error;

	if (nt_load_refuse_part(command->db))
		return nt_complain("%s", command->db->error);
	if (command->format == NT_FORMAT_JSON) {
		nt_json_open(&command->json, NULL, '{');
		nt_json_open(&command->json, "sessions", '[');
	}
	error = nt_session_each(command->db, check_selected, command);
	if (error)
		return nt_complain("%s", command->db->error);
	if (command->format == NT_FORMAT_JSON)
		json_result(command);
	else if (command->shown)
		print_result(command);
	else if (!nt_selection_is_given(&command->selection))
		nt_complain("%s: it holds no recording: import one.", command->path);
	return !command->shown || command->failed ? NT_EXIT_FAILED : NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	struct command command = {
		.path = options->args[0], .format = options->format, .json = {.out = stdout, .lines = 4}};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_select(&options->selection, &command.selection, error))
		return nt_complain_misused(error);
	if (nt_load_open(&command.db, command.path, NULL, NULL, NULL, error))
		return nt_complain("%s", error);
	code = check_all(&command);
	nt_db_close(command.db);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTIONS_TIME, NT_OPTIONS_WHO, NT_OPTION_JSON, NT_OPTION_HELP, NT_OPTIONS_END,
};

const struct nt_command nt_cmd_check = {
	.name = "check",
	.group = NT_GROUP_LOOK,
	.usage = "TAPE|DB [OPTION]... [--json]",
	.what = "prove that a recording is whole and adds up",
	.help = "A line marked FAILED makes the exit status 1. A line marked loss names data that is missing and was "
		"declared as lost. Loss alone does not fail the check.",
	.example = "check busy.tape",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
