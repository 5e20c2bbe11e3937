// SPDX-License-Identifier: GPL-2.0-only
/*
 * prometheus.c - all sessions of a tape or database as metrics. Sessions of one host become one set of series, of which
 * the label `host` tells the sets apart: where node_exporter reads several files, they do not collide.
 */
#include "report/export/export.h"
#include "report/export/prometheus/parts.h"
#include "report/query/cpus/part_costs.h"

struct exporting {
	struct nt_db *db;
	const struct nt_latency_choice *choice;
	uint64_t tables; /* that the database has */
	struct nt_sheet sheet;
	struct nt_prometheus_groups costs[NT_PROMETHEUS_KINDS], latencies;
};

#define OF_LATENCY (NT_TABLE_BIT(NT_TABLE_SKB_LATENCY) | NT_TABLE_BIT(NT_TABLE_SELF_COST))

/* First: from here on a tape is read for this part alone. */
static int add_costs(struct exporting *export, const struct nt_part *part)
{
	uint64_t tables = export->tables;
	bool is_estimate;

	if (nt_selection_is_given(part->selection)) {
		if (NT_PROMETHEUS_PART_TABLES & ~tables)
			return 0;
		if (nt_part_costs(part, false, &is_estimate))
			return -1;
		tables |= NT_PROMETHEUS_COSTS;
	}
	return nt_prometheus_costs(part, tables, export->costs, &export->sheet);
}

static int add_session(void *arg, const struct nt_session *session)
{
	struct exporting *export = arg;
	const struct nt_latency_choice *choice = export->choice;
	struct nt_sheet *sheet = &export->sheet;
	struct nt_part part = {.db = export->db, .session = session, .selection = &choice->selection};
	char why_not[NT_ERROR_MAX];
	int error = 0;

	nt_part_choose(&part, why_not);
	if (why_not[0] && nt_selection_is_given(part.selection))
		return 0;
	if (nt_sheet_begin(sheet, session->host[0] ? session->host : "-", session->start_realtime_ns))
		return nt_db_no_memory(export->db);
	error = add_costs(export, &part);
	if (!error && !(OF_LATENCY & ~export->tables))
		error = nt_prometheus_latency(&part, choice, NULL, &export->latencies, sheet);
	if (!error)
		error = nt_prometheus_probes(&part, export->tables, sheet);
	if (!error && nt_part_is_whole(&part) && !session->recording_ns)
		error = nt_prometheus_records(&part, export->tables, sheet) ||
			nt_prometheus_recorder(&part, export->tables, sheet);
	return error ? error : nt_prometheus_recording(&part, sheet);
}

int nt_export_prometheus(struct nt_db *db, const struct nt_latency_choice *choice, size_t limit, FILE *out)
{
	struct exporting export = {.db = db, .choice = choice, .tables = NT_ALL_TABLES};
	int error = db->source ? 0 : nt_db_tables(db, &export.tables);

	if (!error)
		error = nt_session_each(db, add_session, &export);
	if (!error && (nt_prometheus_name_costs(export.costs, limit, &export.sheet) ||
		       nt_prometheus_name_latencies(&export.latencies, choice->by, limit, &export.sheet)))
		error = nt_db_no_memory(db);
	if (!error)
		nt_sheet_write(&export.sheet, out);
	for (size_t i = 0; i < NT_PROMETHEUS_KINDS; i++)
		nt_prometheus_release_groups(&export.costs[i], NULL);
	nt_prometheus_release_latencies(&export.latencies);
	nt_sheet_release(&export.sheet);
	return error;
}
