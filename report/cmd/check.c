// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - nettape-report check: proves that a recording is whole and adds up, or that a part of it does. Declared
 * loss does not fail the check.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/out/prose.h"
#include "report/out/terminal.h"
#include "report/query/check/check.h"
#include "report/query/whole.h"
#include "report/util/array.h"

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

void nt_check_say(struct nt_check *check, enum nt_verdict verdict, const char *format, ...)
{
	char text[1024], lead[64], word[32];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	check->found[verdict]++;
	if (check->format == NT_FORMAT_JSON) {
		nt_json_open(&check->json, NULL, '{');
		nt_json_text(&check->json, "verdict", verdict == NT_FOUND_FAILED ? "failed" : verdicts[verdict].name);
		nt_json_text(&check->json, "check", check->name);
		nt_json_text(&check->json, "text", text);
		nt_json_close(&check->json, '}');
		return;
	}
	write_verdict(word, sizeof(word), verdict, 7);
	snprintf(lead, sizeof(lead), "  %s %-13s ", word, check->name);
	nt_print_prose(stdout, lead, "%s", text);
}

sqlite3_stmt *nt_check_query(struct nt_check *check, const char *sql)
{
	sqlite3_stmt *statement = nt_db_query(check->db, sql, check->session.id);

	if (sqlite3_bind_parameter_count(statement) == 3) {
		sqlite3_bind_int64(statement, 2, check->from_ts);
		sqlite3_bind_int64(statement, 3, check->to_ts);
	}
	return statement;
}

int nt_check_end(struct nt_check *check, sqlite3_stmt *statement)
{
	return nt_db_end(check->db, statement, "the check cannot be made");
}

int nt_check_rows(struct nt_check *check, const char *name, const char *sql,
		  void (*judge)(struct nt_check *check, sqlite3_stmt *row))
{
	sqlite3_stmt *row = nt_check_query(check, sql);

	check->name = name;
	for (check->rows = 0; nt_db_next(row); check->rows++)
		judge(check, row);
	return nt_check_end(check, row);
}

/* ---- is it whole ---- */

static void judge_problem(struct nt_check *check, sqlite3_stmt *row)
{
	nt_check_say(check, NT_FOUND_FAILED, "%s", nt_db_text(row, 0));
}

static int check_whole(struct nt_check *check)
{
	/* Of a part, nobody looks for damage elsewhere; what of it is lost in the part is a loss. */
	if (check->part) {
		check->name = "whole";
		nt_check_say(check, check->session.is_complete ? NT_FOUND_OK : NT_FOUND_FAILED,
			     "the tape is %scomplete", check->session.is_complete ? "" : "not ");
		return 0;
	}
	if (nt_check_rows(check, "whole", "SELECT text FROM problem WHERE session_id = ?1 ORDER BY rowid",
			  judge_problem))
		return -1;
	if (!check->rows && !check->session.is_complete)
		nt_check_say(check, NT_FOUND_FAILED, "the tape is not complete");
	else if (!check->rows)
		nt_check_say(check, NT_FOUND_OK, "the tape is complete, and nothing of it is damaged");
	return 0;
}

/* ---- what is lost ---- */

/* Losses that nobody declared: they were found out only here. The recording itself tells of all others. */
#define UNDECLARED "why IN ('undeclared', 'segment too long') OR why IN " NT_MISSING_SQL

static void judge_loss(struct nt_check *check, sqlite3_stmt *row)
{
	char count[NT_HUMAN_MAX];

	if (sqlite3_column_int(row, 6))
		snprintf(count, sizeof(count), "an unknown number of");
	else
		nt_human_count(count, sqlite3_column_int64(row, 3));
	nt_check_say(check, sqlite3_column_int(row, 5) ? NT_FOUND_LOSS : NT_FOUND_FAILED,
		     "CPU %d: %s: %s records of kind %s; %s: %d", sqlite3_column_int(row, 0), nt_db_text(row, 1), count,
		     nt_db_text(row, 2),
		     sqlite3_column_int(row, 7) ? "no time is uncovered by that; stretches" : "uncovered stretches",
		     sqlite3_column_int(row, 4));
}

#define LOSSES(which)                                                                                                  \
	"SELECT cpu, why, kind, sum(count), count(DISTINCT ts), NOT (" UNDECLARED                                      \
	"), sum(count IS NULL), kind IN " NT_LOOSE_KINDS_SQL " FROM loss WHERE session_id = ?1 " which                 \
	"GROUP BY cpu, why, kind ORDER BY cpu, why, kind"

static int check_losses(struct nt_check *check)
{
	char cpus[NT_CPUS_SQL_MAX], of_part[sizeof(cpus) + 1000];

	if (check->part)
		snprintf(of_part, sizeof(of_part), LOSSES("AND ts < ?3 AND (ts >= ?2 OR ts + dur > ?2) AND %s "),
			 nt_selection_cpus_sql(check->part->selection, cpus));
	if (nt_check_rows(check, "loss", check->part ? of_part : LOSSES(""), judge_loss))
		return -1;
	if (!check->rows)
		nt_check_say(check, NT_FOUND_OK, "nothing was lost");
	return 0;
}

/* ---- what the timeline met ---- */

/* Says how many there are, if there are any. */
static void note(struct nt_check *check, const char *what, int64_t n)
{
	if (n)
		nt_check_say(check, NT_FOUND_NOTE, "%s: %lld", what, (long long)n);
}

static void judge_oddities(struct nt_check *check, sqlite3_stmt *row)
{
	const int64_t undeclared = sqlite3_column_int64(row, 0), clamped = sqlite3_column_int64(row, 2);

	if (undeclared)
		nt_check_say(check, NT_FOUND_FAILED,
			     "switches from a task that was not on the CPU: %lld; records are missing that were not "
			     "declared lost",
			     (long long)undeclared);
	else
		nt_check_say(check, NT_FOUND_OK, "every switch came from the task that was on the CPU");
	note(check, "records that contradicted others, and were left out or cut", sqlite3_column_int64(row, 1));
	if (clamped)
		nt_check_say(check, NT_FOUND_NOTE, "times out of order, corrected: %lld, by %lld ns at most",
			     (long long)clamped, sqlite3_column_int64(row, 3));
	note(check, "records of kinds that this program does not know", sqlite3_column_int64(row, 4));
	note(check, "lines of snapshots that were not understood", sqlite3_column_int64(row, 5));
}

static int check_oddities(struct nt_check *check)
{
	return nt_check_rows(check, "records",
			     "SELECT undeclared, malformed, clamped, clamped_max_ns, unknown, bad_lines FROM session "
			     "WHERE session_id = ?1",
			     judge_oddities);
}

/* ---- the clocks that samples' stamps are read by ---- */

static void judge_latencies(struct nt_check *check, int64_t samples, int64_t known, int64_t uncertainty_ns)
{
	char count[NT_HUMAN_MAX];

	nt_check_say(check, NT_FOUND_OK, "%s latencies are accurate to %lld ns", nt_human_count(count, known),
		     (long long)uncertainty_ns);
	if (known < samples)
		nt_check_say(check, NT_FOUND_NOTE,
			     "samples without a latency, because their timestamps lie in the future or at a time that "
			     "the clock never showed: %s",
			     nt_human_count(count, samples - known));
}

static void judge_clocks(struct nt_check *check, sqlite3_stmt *row)
{
	const struct nt_check_latencies *latencies = &check->events.latencies;
	char count[NT_HUMAN_MAX];

	if (!latencies->n)
		return;
	if (sqlite3_column_type(row, 1) == SQLITE_NULL)
		nt_check_say(check, NT_FOUND_FAILED,
			     "%s latencies are not known: the tape has no snapshot of the clocks",
			     nt_human_count(count, latencies->n));
	else
		judge_latencies(check, latencies->n, latencies->known, sqlite3_column_int64(row, 1));
	if (sqlite3_column_int64(row, 0))
		nt_check_say(check, NT_FOUND_NOTE,
			     "the realtime clock was stepped %lld times; latencies that are in doubt because of it: "
			     "%s",
			     sqlite3_column_int64(row, 0), nt_human_count(count, latencies->stepped));
}

static int check_clocks(struct nt_check *check)
{
	return nt_check_rows(check, "clocks",
			     "SELECT clock_steps, clock_uncertainty_ns FROM session WHERE session_id = ?1",
			     judge_clocks);
}

/* ---- all of it ---- */

static int tell_left_out(struct nt_check *check)
{
	check->name = "left out";
	nt_check_say(check, NT_FOUND_NOTE,
		     "what compares with sums and counters, which are of the whole recording: check it without a "
		     "selection");
	return 0;
}

/* What a part can answer. */
static int (*const checks_of_part[])(struct nt_check *check) = {
	check_whole, nt_check_conservation, nt_check_threads, nt_check_operations, check_losses, tell_left_out,
};
static int (*const checks[])(struct nt_check *check) = {
	check_whole,	  nt_check_conservation, nt_check_threads, nt_check_operations,
	nt_check_charges, nt_check_elsewhere,	 check_losses,	   check_oddities,
	check_clocks,	  nt_check_written,	 nt_check_hooks,   nt_check_wakeups,
	nt_check_stacks,  nt_check_softirqs,	 nt_check_misses,  nt_check_stat,
};

static void begin_json(struct nt_check *check)
{
	nt_json_open(&check->json, NULL, '{');
	nt_json_integer(&check->json, "session_id", check->session.id);
	nt_json_text(&check->json, "host", check->session.host);
	if (check->part) {
		nt_json_open(&check->json, "part", '{');
		nt_json_integer(&check->json, "from_ts", check->part->from_ts);
		nt_json_integer(&check->json, "to_ts", check->part->to_ts);
		nt_json_close(&check->json, '}');
	}
	nt_json_open(&check->json, "findings", '[');
}

static void begin_session(struct nt_check *check)
{
	const struct nt_session *session = &check->session;
	char duration[NT_HUMAN_MAX], selected[NT_SELECTED_MAX] = "";

	if (check->format == NT_FORMAT_JSON) {
		begin_json(check);
		return;
	}
	if (check->part)
		nt_session_selected(session, check->part->selection, selected, sizeof(selected));
	nt_print_prose(stdout, "", "session %lld: host %s, %lld CPUs, %s%s", (long long)session->id,
		       session->host[0] ? session->host : "(unknown)", (long long)session->cpus,
		       nt_human_ns(duration, (uint64_t)(session->end_ts - session->start_ts)), selected);
}

static int make_checks(struct nt_check *check)
{
	const size_t n = check->part ? NT_COUNT(checks_of_part) : NT_COUNT(checks);
	int error = nt_check_read(check);

	for (size_t i = 0; i < n && !error; i++)
		error = (check->part ? checks_of_part : checks)[i](check);
	nt_check_release(check);
	return error;
}

static int check_session(struct nt_check *check, const struct nt_session *session)
{
	int error;

	check->session = *session;
	begin_session(check);
	error = make_checks(check);
	if (check->format == NT_FORMAT_JSON) {
		nt_json_close(&check->json, ']');
		nt_json_close(&check->json, '}');
	}
	check->shown++;
	return error;
}

static int check_part(struct nt_check *check, struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	int error;

	nt_part_choose(part, why_not);
	if (why_not[0])
		return 0;
	if (nt_session_limit(check->db, part->session, part->selection) || nt_lanes_check_process(part, why_not) ||
	    (!why_not[0] && nt_lanes_check_cpus(part, why_not)))
		return -1;
	if (why_not[0])
		return 0;
	check->part = part;
	error = nt_lanes_filter_init(&check->filter, part) ? -1 : check_session(check, part->session);
	nt_lanes_filter_release(&check->filter);
	check->part = NULL;
	return error;
}

static int check_selected(void *arg, const struct nt_session *session)
{
	struct nt_check *check = arg;
	struct nt_part part = {.db = check->db, .session = session, .selection = &check->selection};
	char why_not[NT_ERROR_MAX] = "";
	int error;

	if (!nt_selection_is_given(&check->selection))
		return check_session(check, session);
	error = check_part(check, &part, why_not);
	if (!error && why_not[0])
		nt_complain("%s: %s.", check->path, why_not);
	return error;
}

static void json_result(struct nt_check *check)
{
	nt_json_close(&check->json, ']');
	nt_json_bool(&check->json, "ok", check->shown && !check->found[NT_FOUND_FAILED]);
	nt_json_integer(&check->json, "failed", (int64_t)check->found[NT_FOUND_FAILED]);
	nt_json_integer(&check->json, "losses", (int64_t)check->found[NT_FOUND_LOSS]);
	nt_json_close(&check->json, '}');
}

static void print_result(const struct nt_check *check)
{
	bool failed = check->found[NT_FOUND_FAILED], lossy = check->found[NT_FOUND_LOSS];
	char word[32], lead[40];

	write_verdict(word, sizeof(word), failed ? NT_FOUND_FAILED : NT_FOUND_OK, 0);
	snprintf(lead, sizeof(lead), "%s%s", word, lossy && !failed ? ", " : ": ");
	if (failed)
		nt_print_prose(stdout, lead, "it is not whole, or does not add up, as the lines marked `FAILED` say");
	else if (lossy)
		nt_print_prose(stdout, lead, "WITH LOSS: it adds up, but what the lines marked `loss` name is missing");
	else
		nt_print_prose(stdout, lead,
			       nt_selection_is_given(&check->selection) ? "what was chosen of it adds up"
									: "it is whole, and it adds up");
}

static int run(const struct nt_options *options)
{
	struct nt_check check = {
		.format = options->format, .json = {.out = stdout, .lines = 4}, .path = options->args[0]};
	char text[NT_ERROR_MAX];
	int error;

	if (nt_select(&options->selection, &check.selection, text))
		return nt_complain_misused(text);
	if (nt_load_open(&check.db, options->args[0], NULL, NULL, NULL, text))
		return nt_complain("%s", text);
	if (nt_load_refuse_part(check.db)) {
		nt_complain("%s", check.db->error);
		nt_db_close(check.db);
		return NT_EXIT_FAILED;
	}
	if (check.format == NT_FORMAT_JSON) {
		nt_json_open(&check.json, NULL, '{');
		nt_json_open(&check.json, "sessions", '[');
	}
	error = nt_session_each(check.db, check_selected, &check);
	if (error)
		nt_complain("%s", check.db->error);
	else if (check.format == NT_FORMAT_JSON)
		json_result(&check);
	else if (check.shown)
		print_result(&check);
	else if (!nt_selection_is_given(&check.selection))
		nt_complain("%s: it holds no recording: import one.", check.path);
	nt_db_close(check.db);
	return error || !check.shown || check.found[NT_FOUND_FAILED] ? NT_EXIT_FAILED : NT_EXIT_DONE;
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
