// SPDX-License-Identifier: GPL-2.0-only
/* export_prometheus.c - nettape-report export prometheus: what is known of packets, as metrics. */
#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/out/new_file.h"
#include "report/query/cpus/read.h"
#include "report/query/energy.h"
#include "report/util/array.h"

struct prometheus {
	struct nt_db *db;
	struct nt_latency_choice choice;
};

static int has_energy(struct nt_db *db, bool *has)
{
	sqlite3_stmt *row =
		nt_db_prepare(db, "SELECT 1 FROM proc_counter WHERE source = '" NT_ENERGY_SOURCE "' LIMIT 1", NULL);

	*has = nt_db_next(row);
	return nt_db_end(db, row, "the readings cannot be read");
}

/* Whether there is anything to export: 1 and 0, or -1 and db->error. */
static int has_any(struct nt_db *db)
{
	/* The view last: it looks at every sample. */
	static const char *const names[] = {"skb_latency", "skb_drop", "tcp_retransmit", "latency_hook"};
	static const enum nt_table_id of_other_probes[] = {NT_TABLE_FLOW_TOTAL, NT_TABLE_SOFTIRQ_RAISE,
							   NT_TABLE_BLOCK_IO,	NT_TABLE_MEM_RSS,
							   NT_TABLE_PAGE_FAULT, NT_TABLE_KMEM};
	uint64_t tables = NT_ALL_TABLES;
	bool has = false;

	if (!db->source && nt_db_tables(db, &tables))
		return -1;
	for (size_t i = 0; i < NT_COUNT(of_other_probes) && !has; i++) {
		const enum nt_table_id id = of_other_probes[i];

		if (tables & NT_TABLE_BIT(id) && nt_db_has_rows(db, nt_table(id)->name, 0, &has))
			return -1;
	}
	if (!has && tables & NT_TABLE_BIT(NT_TABLE_PROC_COUNTER) && has_energy(db, &has))
		return -1;
	for (size_t i = 0; i < NT_COUNT(names) && !has; i++) {
		if (nt_db_has_rows(db, names[i], 0, &has))
			return -1;
	}
	return has;
}

static int write_prometheus(void *arg, FILE *out)
{
	struct prometheus *export = arg;

	return nt_export_prometheus(export->db, &export->choice, out) ? nt_complain("%s", export->db->error)
								      : NT_EXIT_DONE;
}

static int has_process(void *arg, const struct nt_session *session)
{
	const struct prometheus *export = arg;
	const struct nt_part part = {.db = export->db, .session = session, .selection = &export->choice.selection};
	char why_not[NT_ERROR_MAX] = "";

	return nt_lanes_check_process(&part, why_not) ? -1 : !why_not[0];
}

static int write_if_any(struct prometheus *export, const struct nt_options *options)
{
	int has = export->choice.selection.process ? nt_session_each(export->db, has_process, export) : 1;

	if (has < 0)
		return nt_complain("%s", export->db->error);
	if (!has)
		return nt_complain("%s: it has no process %.100s: nettape-report query lists those in the table "
				   "process.",
				   options->args[0], export->choice.selection.process);
	return nt_new_file(options->output, "the textfile collector of node_exporter reads it", write_prometheus,
			   export);
}

static int export_if_any(struct prometheus *export, const struct nt_options *options)
{
	const uint64_t tables = NT_TABLE_BIT(NT_TABLE_SKB_LATENCY) | NT_TABLE_BIT(NT_TABLE_SKB_DROP) |
				NT_TABLE_BIT(NT_TABLE_TCP_RETRANSMIT) | NT_TABLE_BIT(NT_TABLE_SELF_COST);
	int has = nt_db_need(export->db, tables) ? -1 : has_any(export->db);
	char why[NT_NEED_MAX];

	if (!has && nt_load_refuse_part(export->db))
		return nt_complain("%s: it is a part of its recording, and has no %s.", options->args[0],
				   nt_need_packets.samples);
	if (has < 0)
		return nt_complain("%s", export->db->error);
	if (!has)
		return nt_complain("%s: it has %s.", options->args[0], nt_need_text(&nt_need_packets, why));
	return write_if_any(export, options);
}

static int run(const struct nt_options *options)
{
	struct prometheus export;
	char error[NT_ERROR_MAX];
	size_t told = 0;
	int code;

	if (nt_latency_choose(&options->samples, &options->selection, &export.choice, error))
		return nt_complain_misused(error);
	if (nt_load_open(&export.db, options->args[0], NULL, options->names, &nt_need_packets, error))
		return nt_complain("%s", error);
	nt_damage_tell(export.db, options->args[0], &told);
	code = export_if_any(&export, options);
	nt_damage_tell(export.db, options->args[0], &told);
	nt_db_close(export.db);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT_OR_NOT, NT_OPTIONS_TIME, NT_OPTIONS_WHO, NT_OPTION_BY_LATENCY, NT_OPTION_HOOK,
	NT_OPTION_INCLUDE_HOL,	 NT_OPTION_NAMES, NT_OPTION_HELP, NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_prometheus = {
	.name = "export prometheus",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB [-o FILE] [OPTION]...",
	.what = "write latency, drops, flows, waits, disks, memory, energy as metrics",
	.help = "Each hook has a histogram, in seconds. Counters give drops, retransmits, and the packets that are in "
		"no histogram. Drops, retransmits, flows, waits, requests to block devices, memory, and packets "
		"without a latency are those of all processes, whatever --process says. Record with --probes "
		"default,latency,transmit,drops,retransmits,flows,raise,block,memory,kmem,energy.",
	.example = "export prometheus busy.tape -o busy.prom",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
