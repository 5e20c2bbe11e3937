// SPDX-License-Identifier: GPL-2.0-only
/* export_perfetto.c - nettape-report export perfetto: a session as a trace for Perfetto. */
#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/options.h"
#include "report/out/new_file.h"

struct perfetto {
	struct nt_feed *feed;
	struct nt_selection selection;
	const char *path;
	size_t told; /* problems that have been said */
};

static int write_perfetto(void *arg, FILE *out)
{
	struct perfetto *export = arg;
	struct nt_progress progress;
	char error[NT_ERROR_MAX];
	int result;

	nt_progress_begin(&progress, export->path);
	result = nt_export_perfetto(export->feed, &export->selection, out, &progress, error);
	nt_progress_end(&progress);
	if (!result)
		return NT_EXIT_DONE;
	/* What is wrong with the file names it. */
	return nt_feed_error(export->feed)[0] ? nt_complain("%s", nt_feed_error(export->feed))
					      : nt_complain("%s: %s", export->path, error);
}

static void tell(struct perfetto *export)
{
	char text[NT_ERROR_MAX];
	const size_t n = nt_feed_problem_at(export->feed, export->told, text);

	nt_damage_say(export->path, n, text, &export->told);
}

static int run(const struct nt_options *options)
{
	struct perfetto export = {.path = options->args[0]};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_select(&options->selection, &export.selection, error))
		return nt_complain_misused(error);
	if (nt_feed_open(&export.feed, export.path, &options->symbols, options->names, error))
		return nt_complain("%s", error);
	tell(&export);
	code = nt_new_file(options->output, "open it in https://ui.perfetto.dev", write_perfetto, &export);
	tell(&export);
	nt_feed_close(export.feed);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT("FILE", "busy.pftrace", "the file to write", .is_needed = true),
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_NAMES,
	NT_OPTION_SYMBOLS,
	NT_OPTION_NO_SYMBOLS,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_perfetto = {
	.name = "export perfetto",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB -o FILE [OPTION]...",
	.what = "write a trace for https://ui.perfetto.dev",
	.help = "It has threads, softirqs, interrupts, the owners of each CPU, socket operations, packets and losses.",
	.example = "export perfetto busy.tape -o busy.pftrace --from 2.5 --to 4",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
