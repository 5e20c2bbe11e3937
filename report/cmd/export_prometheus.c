// SPDX-License-Identifier: GPL-2.0-only
/* export_prometheus.c - nettape-report export prometheus: costs, latency and more, as metrics. */
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/live_prometheus.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/export/export.h"
#include "report/out/new_file.h"
#include "report/query/cpus/read.h"

struct prometheus {
	struct nt_db *db;
	struct nt_latency_choice choice;
	size_t limit;
	uint64_t tables; /* that there are */
};

static int write_prometheus(void *arg, FILE *out)
{
	struct prometheus *export = arg;

	return nt_export_prometheus(export->db, &export->choice, export->limit, out)
		       ? nt_complain("%s", export->db->error)
		       : NT_EXIT_DONE;
}

/* ---- whether there is anything to write ---- */

struct having {
	const struct prometheus *export;
	unsigned int n, n_selected; /* sessions; and those that have of what is selected */
	char why_not[NT_ERROR_MAX]; /* of the last one that has not */
};

static int look(void *arg, const struct nt_session *session)
{
	struct having *having = arg;
	const struct nt_selection *selection = &having->export->choice.selection;
	struct nt_part part = {.db = having->export->db, .session = session, .selection = selection};
	char why_not[NT_ERROR_MAX];

	nt_part_choose(&part, why_not);
	if (!nt_selection_is_given(selection))
		why_not[0] = 0;
	if (!why_not[0] && selection->process && nt_lanes_check_process(&part, why_not))
		return -1;
	if (!why_not[0] && selection->n_cpus && having->export->tables & NT_TABLE_BIT(NT_TABLE_CPU_SLICE) &&
	    nt_lanes_check_cpus(&part, why_not))
		return -1;
	having->n++;
	if (why_not[0])
		memcpy(having->why_not, why_not, sizeof(why_not));
	else
		having->n_selected++;
	return 0;
}

static int write_if_any(struct prometheus *export, const struct nt_options *options)
{
	struct having having = {.export = export};

	if (nt_session_each(export->db, look, &having))
		return nt_complain("%s", export->db->error);
	if (!having.n)
		return nt_complain("%s: there is no session in it: import a tape first.", options->args[0]);
	if (!having.n_selected)
		return nt_complain("%s: %s.", options->args[0], having.why_not);
	return nt_new_file(options->output, "the textfile collector of node_exporter reads it", write_prometheus,
			   export);
}

/* Of a database that was made without some tables, the metrics of these are not known. */
static void tell_left_out(const struct prometheus *export, const char *path)
{
	const uint64_t needs =
		nt_selection_is_given(&export->choice.selection) ? NT_PROMETHEUS_PART_TABLES : NT_PROMETHEUS_TABLES;
	char names[NT_ERROR_MAX / 2] = "";
	size_t at = 0;

	for (unsigned int id = 0; id < NT_TABLE_COUNT; id++) {
		if (needs & ~export->tables & NT_TABLE_BIT(id) && at + 40 < sizeof(names))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "",
					       nt_table((enum nt_table_id)id)->name);
	}
	if (at)
		nt_complain("%s: tables were left out of this import (--tables, --sums), and no metrics of them are "
			    "written: %s.",
			    path, names);
}

/* Of a tape that grows all is told that can be, each time. */
static int run_live(const struct nt_options *options, size_t limit)
{
	const struct nt_selection_args *selection = &options->selection;

	if (selection->from || selection->to || selection->cpus || selection->process || options->samples.by ||
	    options->samples.n_hooks || options->samples.include_hol || options->names)
		return nt_complain_misused(
			"--follow is of the whole tape, and of costs: only -o and --limit go with it");
	if (!options->output)
		return nt_complain_misused("--follow writes a file again and again: name it with -o");
	return nt_live_prometheus(options, limit);
}

static int run(const struct nt_options *options)
{
	struct prometheus export = {.limit = options->limit ? (size_t)options->limit : NT_PROMETHEUS_NAMED,
				    .tables = NT_ALL_TABLES};
	char error[NT_ERROR_MAX];
	size_t told = 0;
	int code;

	if (options->follow_s)
		return run_live(options, export.limit);
	if (nt_latency_choose(&options->samples, &options->selection, &export.choice, error))
		return nt_complain_misused(error);
	if (nt_load_open(&export.db, options->args[0], NULL, options->names, NULL, error))
		return nt_complain("%s", error);
	nt_damage_tell(export.db, options->args[0], &told);
	if (!export.db->source && nt_db_tables(export.db, &export.tables)) {
		code = nt_complain("%s", export.db->error);
	} else {
		tell_left_out(&export, options->args[0]);
		code = write_if_any(&export, options);
	}
	nt_damage_tell(export.db, options->args[0], &told);
	nt_db_close(export.db);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT_OR_NOT,
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_BY_LATENCY,
	NT_OPTION_LIMIT("N programs, cgroups, ports and groups of --by with names, or all (25)"),
	NT_OPTION_HOOK,
	NT_OPTION_INCLUDE_HOL,
	NT_OPTION_NAMES,
	NT_OPTION("follow", 0, "S", "15", NT_TO(nt_set_follow, struct nt_options, follow_s),
		  "write FILE each S seconds while the tape is recorded: costs and records",
		  .wants = "a number of seconds from 1 to 86400"),
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_prometheus = {
	.name = "export prometheus",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB [-o FILE] [OPTION]...",
	.what = "write costs, latency, losses and what other probes saw as metrics",
	.help = "CPU time by owner, costs by program, cgroup and port, losses, and the recorder's own cost are those "
		"of "
		"any recording. For latency (a histogram of each hook, in seconds), drops, retransmits, flows, waits, "
		"disks, memory and energy, record with --probes "
		"default,latency,transmit,drops,retransmits,flows,raise,block,memory,kmem,energy. All but costs and "
		"latency is of all processes, whatever --process says. Recordings of one host are added up. With "
		"--follow no counter falls, and "
		"nettape_complete_until_seconds says up to when the costs are.",
	.example = "export prometheus busy.tape -o busy.prom",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
