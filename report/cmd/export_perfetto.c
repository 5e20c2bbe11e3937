// SPDX-License-Identifier: GPL-2.0-only
/* export_perfetto.c - nettape-report export perfetto: a session as a trace for Perfetto. */
#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/options.h"
#include "report/out/new_file.h"

struct perfetto {
	struct nt_db *db;
	struct nt_session session;
	struct nt_selection selection;
};

static int write_perfetto(void *arg, FILE *out)
{
	const struct perfetto *perfetto = arg;

	return nt_export_perfetto(perfetto->db, &perfetto->session, &perfetto->selection, out)
		       ? nt_complain("%s", perfetto->db->error)
		       : NT_EXIT_DONE;
}

static int export_session(struct perfetto *perfetto, const char *output)
{
	if (nt_session_only(perfetto->db, &perfetto->session))
		return nt_complain("%s", perfetto->db->error);
	return nt_new_file(output, "open it in https://ui.perfetto.dev", write_perfetto, perfetto);
}

static int run(const struct nt_options *options)
{
	const char *path = options->args[0];
	struct perfetto perfetto = {0};
	char error[NT_ERROR_MAX];
	size_t told = 0;
	int code;

	if (nt_select(&options->selection, &perfetto.selection, error))
		return nt_complain_misused(error);
	if (nt_load_open(&perfetto.db, path, &options->symbols, options->names, NULL, error))
		return nt_complain("%s", error);
	nt_damage_tell(perfetto.db, path, &told);
	code = export_session(&perfetto, options->output);
	nt_damage_tell(perfetto.db, path, &told);
	nt_db_close(perfetto.db);
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
