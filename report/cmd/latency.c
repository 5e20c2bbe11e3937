// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.c - nettape-report latency: how late packets were on their way up. Joins the parts: which samples
 * (query/latency/choice.h), reading them (query/latency/scan.h), summing them up (query/latency/series.h,
 * query/latency/heatmap.h), showing that (query/latency/result.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/export/svg/svg.h"
#include "report/out/new_file.h"
#include "report/query/cpus/read.h"
#include "report/query/latency/result.h"
#include "report/query/whole.h"
#include "report/util/histogram.h"

#define TOP 5 /* groups of each hook */
#define BESIDE_MAP 12 /* characters of a line that are no column of the heat map */
#define COLUMNS_PROGRAMS 100 /* of a heat map in JSON and CSV */
#define COLUMNS_PICTURE 120
#define PER_OCTAVE_PICTURE 4

struct command {
	struct nt_sessions sessions;
	struct nt_latency_choice choice;
	struct nt_latency_view view;
	const char *names; /* --names, or NULL */
	/* With --svg: the panels so far. */
	const char *svg_path;
	FILE *svg;
	char *svg_text;
	size_t svg_size;
	unsigned int svg_panels;
};

/* The results of one session's samples. */
struct collecting {
	struct command *command;
	struct nt_latency_result result;
	struct nt_heatmap pictures[NT_HOOK_COUNT]; /* for SVG; without cells where a hook has no sample */
};

/* ---- collecting ---- */

static int collect(void *arg, const struct nt_latency_sample *sample)
{
	struct collecting *collecting = arg;
	struct nt_latency_result *result = &collecting->result;
	const struct nt_latency_view *view = result->view;
	uint32_t columns = view->format == NT_FORMAT_TABLE ? view->terminal.width - BESIDE_MAP : COLUMNS_PROGRAMS;

	if (view->over_time && nt_latency_map(result, &result->maps[sample->hook], columns,
					      view->per_octave ? view->per_octave : 1, sample))
		return -1;
	if (!collecting->command->svg)
		return 0;
	return nt_latency_map(result, &collecting->pictures[sample->hook], COLUMNS_PICTURE,
			      view->per_octave ? view->per_octave : PER_OCTAVE_PICTURE, sample);
}

static void release(struct collecting *collecting)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++)
		nt_heatmap_release(&collecting->pictures[hook]);
	nt_latency_release(&collecting->result);
}

/* ---- showing ---- */

/* The hook with the most packets of those that have a picture and are not drawn yet; NT_HOOK_COUNT: none. */
static unsigned int most_packets(const struct collecting *collecting, unsigned int drawn)
{
	unsigned int most = NT_HOOK_COUNT;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		const struct nt_heatmap *map = &collecting->pictures[hook];

		if (map->cells && !(drawn & 1u << hook) &&
		    (most == NT_HOOK_COUNT || map->all > collecting->pictures[most].all))
			most = hook;
	}
	return most;
}

static int draw_session(struct collecting *collecting)
{
	struct command *command = collecting->command;
	const struct nt_session *session = collecting->result.session;
	char recorded[NT_SVG_SESSION_MAX], line[sizeof(recorded) + 16];
	struct nt_whole whole;
	unsigned int hook, drawn = 0;

	if (!command->svg)
		return 0;
	if (nt_whole_find(command->sessions.db, session, &command->choice.selection, &whole))
		return -1;
	nt_svg_session(session, &command->choice.selection, recorded);
	snprintf(line, sizeof(line), "%s%s", whole.is_whole ? "" : "NOT WHOLE: ", recorded);
	while ((hook = most_packets(collecting, drawn)) < NT_HOOK_COUNT) {
		char name[64], title[100];

		drawn |= 1u << hook;
		snprintf(title, sizeof(title), "%s (session %lld)",
			 nt_latency_hook_text(&command->choice, (enum nt_hook)hook, name), (long long)session->id);
		nt_svg_panel(command->svg, command->svg_panels++, &collecting->pictures[hook], session->start_ts, title,
			     line);
	}
	return 0;
}

static int show_session(struct collecting *collecting)
{
	struct command *command = collecting->command;
	struct nt_sessions *sessions = &command->sessions;
	const struct nt_session *session = collecting->result.session;
	int error;

	if (draw_session(collecting))
		return -1;
	if (command->view.format == NT_FORMAT_CSV)
		return nt_latency_csv(&collecting->result, sessions->printer);
	if (command->view.format == NT_FORMAT_JSON) {
		nt_json_open(&sessions->json, NULL, '{');
		error = nt_sessions_say_whole(sessions, session, &command->choice.selection) ||
			nt_latency_json(&collecting->result, &sessions->json);
		nt_json_close(&sessions->json, '}');
		return error ? -1 : 0;
	}
	if (sessions->shown)
		puts("\n");
	if (nt_sessions_say_whole(sessions, session, &command->choice.selection))
		return -1;
	return nt_latency_text(&collecting->result, sessions->printer);
}

static int one_session(void *arg, const struct nt_session *session)
{
	struct command *command = arg;
	struct collecting collecting = {
		.command = command,
		.result = {.out = stdout,
			   .db = command->sessions.db,
			   .session = session,
			   .choice = &command->choice,
			   .view = &command->view},
	};
	const struct nt_part part = {
		.db = command->sessions.db, .session = session, .selection = &command->choice.selection};
	int error = nt_session_limit(part.db, session, part.selection);

	if (!error)
		error = nt_lanes_check_process(&part, command->sessions.why_not);
	if (error || command->sessions.why_not[0])
		return error;
	error = nt_latency_read(&collecting.result, collect, &collecting);
	if (!error && !collecting.result.has_probe)
		nt_session_lacks(session, &nt_need_latency, command->sessions.why_not);
	else if (!error)
		error = nt_latency_end(&collecting.result, show_session(&collecting));
	release(&collecting);
	return error;
}

static int write_svg(void *arg, FILE *out)
{
	struct command *command = arg;

	if (fflush(command->svg) || ferror(command->svg))
		return nt_complain("out of memory.");
	nt_svg_begin(out, command->svg_panels, "How late packets were, over time");
	fwrite(command->svg_text, 1, command->svg_size, out);
	nt_svg_end(out);
	return NT_EXIT_DONE;
}

static int run_command(struct command *command, const char *path)
{
	const struct nt_latency_view *view = &command->view;
	int code = nt_sessions_open(&command->sessions, path, NULL, command->names, &nt_need_latency, view->format);
	bool failed = !code && view->format == NT_FORMAT_CSV &&
		      nt_latency_csv_begin(&command->choice, view, command->sessions.printer);

	if (command->svg_path) {
		command->svg = open_memstream(&command->svg_text, &command->svg_size);
		failed |= !command->svg;
	}
	if (!code && failed)
		code = nt_complain("out of memory.");
	if (!code)
		code = nt_sessions_show(&command->sessions, one_session, command);
	if (!code && command->svg)
		code = nt_new_file(command->svg_path, "open it in a browser", write_svg, command);
	if (command->svg)
		fclose(command->svg);
	free(command->svg_text);
	nt_sessions_close(&command->sessions);
	return code;
}

/* ---- options ---- */

static int read_view(const struct nt_options *options, struct nt_latency_view *view)
{
	char *end;

	*view = (struct nt_latency_view){
		.format = options->format, .histogram = options->histogram, .over_time = options->over_time};
	if (options->buckets) {
		unsigned long n = strtoul(options->buckets, &end, 10);

		if (*end || n < 1 || n > NT_MAX_PER_OCTAVE)
			return nt_complain_misused(
				"--buckets takes the number of buckets in each doubling, from 1 to 64.");
		view->per_octave = (uint32_t)n;
	}
	if ((options->over_time || options->svg) && options->samples.by)
		return nt_complain_misused("heat maps show all of a hook: leave --by out, or --over-time and --svg.");
	if (options->limit && !options->samples.by)
		return nt_complain_misused("--limit is the number of groups: it needs --by.");
	if (options->format == NT_FORMAT_CSV && options->histogram && options->over_time)
		return nt_complain_misused("CSV has one kind of line: leave --histogram or --over-time out.");
	if (options->buckets && !options->histogram && !options->over_time && !options->svg)
		return nt_complain_misused("--buckets needs --histogram, --over-time or --svg.");
	if (view->format == NT_FORMAT_TABLE)
		view->most = options->limit ? (size_t)options->limit : TOP;
	view->terminal = nt_terminal_find(stdout, view->format);
	return NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	struct command command = {.names = options->names, .svg_path = options->svg};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_latency_choose(&options->samples, &options->selection, &command.choice, error))
		return nt_complain_misused(error);
	code = read_view(options, &command.view);
	return code ? code : run_command(&command, options->args[0]);
}

static const struct nt_option options[] = {
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_BY_LATENCY,
	NT_OPTION_LIMIT("with --by: N groups of each hook, or all (5)"),
	NT_OPTION_HOOK,
	NT_OPTION_INCLUDE_HOL,
	NT_OPTION("between", 0, "HOOK HOOK", "udp-socket-enqueued udp-socket-read",
		  NT_TO(nt_option_set_both, struct nt_options, samples.between),
		  "the time that packets took from the first hook to the second", .choice = nt_choose_hook),
	NT_FLAG("histogram", histogram, "show a histogram of the latencies"),
	NT_FLAG("over-time", over_time, "show latency over time as a heat map of characters"),
	NT_TEXT("buckets", "N", "4", buckets, "N buckets in each doubling of the latency (1)"),
	NT_TEXT("svg", "FILE", "busy.svg", svg, "write the heat map as a picture", .is_written = true),
	NT_OPTION_NAMES,
	NT_OPTION_JSON,
	NT_OPTION_CSV,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_latency = {
	.name = "latency",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [OPTION]... [--json|--csv]",
	.what = "show how late packets were on their way up or down",
	.help = "A hook is a place on that way: ip-start, tcp-start, udp-start, tcp-socket-enqueued, "
		"udp-socket-enqueued, tcp-socket-read, udp-socket-read. The latency is the time since the host "
		"received the packet. Record with --probes default,latency. On the way down, with the probe transmit: "
		"tx-queued, tx-started. There it is the time since the send began.",
	.example = "latency busy.tape --by process",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
