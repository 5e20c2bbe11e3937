// SPDX-License-Identifier: GPL-2.0-only
/*
 * top.c - nettape-report top: the flows that had the most packets, estimated with bounds, and what each device had,
 * exactly; and the named flows by one of their ends.
 */
#include "report/cmd/session_tables.h"
#include "report/query/flows.h"

enum { TIMES, FLOWS, SAMPLES, LOST };

#define FLOWS_SQL ", " NT_FLOWS_SQL("(?5 IS NULL OR v.name = ?5) ")

/* Of flows that have such an end. Bounds from above are not known: more flows may have it than are named. */
#define BY_END(end, is_there)                                                                                          \
	FLOWS_SQL "SELECT " end ", count(*) AS flows_count, sum(packets) AS packets_count, "                           \
		  "sum(packets_low) AS packets_low_count, sum(bytes) AS wire_bytes, "                                  \
		  "sum(bytes_low) AS wire_low_bytes FROM flows WHERE " is_there                                        \
		  " GROUP BY 1 ORDER BY packets_count DESC, wire_bytes DESC, 1"

static const char by_flow[] = FLOWS_SQL NT_FLOWS_ROWS_SQL;
static const char by_src[] = BY_END("src AS source", "src IS NOT NULL");
static const char by_dst[] = BY_END("dst AS destination", "dst IS NOT NULL");
/* That of the server is mostly the smaller one. */
static const char by_port[] = BY_END("min(sport, dport) || '/' || proto AS port", "sport > 0 AND dport > 0");

static const char by_device[] = FLOWS_SQL
	", named AS (SELECT device_id, direction, count(*) AS flows, sum(packets) AS packets FROM seen "
	"GROUP BY 1, 2), "
	"total AS (SELECT device_id, direction, sum(packets) AS packets, sum(bytes) AS bytes, "
	"sum(buffers) AS buffers FROM picked GROUP BY 1, 2) "
	"SELECT " NT_IFACE_SQL(
		"v.") "AS device, t.direction, t.packets AS packets_count, "
		      "t.bytes AS wire_bytes, t.buffers AS buffers_count, coalesce(n.flows, 0) AS flows_count, "
		      "min(coalesce(n.packets, 0), t.packets) AS named_count, "
		      "max(t.packets - coalesce(n.packets, 0), 0) AS unnamed_count FROM total AS t "
		      "LEFT JOIN named AS n ON n.device_id IS t.device_id AND n.direction = t.direction "
		      "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = t.device_id "
		      "WHERE ?5 IS NULL OR v.name = ?5 ORDER BY packets_count DESC, wire_bytes DESC, 1, 2, t.device_id";

#define DEVICES                                                                                                        \
	{                                                                                                              \
		"devices", "All packets by device, exactly", 10, "buffers_count,flows_count,named_count", by_device,   \
			true                                                                                           \
	}
#define ENDS "wire_low_bytes,flows_count"

static const struct nt_tables_section of_flows[] = {
	{"flows", NT_FLOWS_TITLE, 20, NT_FLOWS_LEAVE_OUT, by_flow, false}, DEVICES, {0}};
static const struct nt_tables_section of_sources[] = {
	{"sources", "Sources of the named flows", 20, ENDS, by_src, false}, DEVICES, {0}};
static const struct nt_tables_section of_destinations[] = {
	{"destinations", "Destinations of the named flows", 20, ENDS, by_dst, false}, DEVICES, {0}};
static const struct nt_tables_section of_ports[] = {
	{"ports", "Ports of the named flows", 20, ENDS, by_port, false}, DEVICES, {0}};

static int begin(const struct nt_part *part, const char *device, char why_not[NT_ERROR_MAX])
{
	sqlite3_stmt *row = nt_db_query(part->db,
					"SELECT " NT_FLOWS_IS_OLDER_SQL
					", ?2 IS NULL OR ?2 IN (SELECT name FROM net_device WHERE session_id = ?1)",
					part->session->id);

	sqlite3_bind_text(row, 2, device, -1, SQLITE_STATIC);
	if (nt_db_next(row)) {
		if (sqlite3_column_int(row, 0))
			nt_fail(why_not, "it was imported without sums of flows: import its tape again");
		else if (!sqlite3_column_int(row, 1))
			nt_fail(why_not, "it has no network device %.100s", device);
	}
	return nt_db_end(part->db, row, "the devices cannot be read") || nt_flows_sum(part) ? -1 : 0;
}

static void say_total(FILE *line, const struct nt_tables_total *total)
{
	const int64_t flows = total->values[FLOWS], samples = total->values[SAMPLES];
	char n[NT_HUMAN_MAX], of[NT_HUMAN_MAX];

	fprintf(line, "%s flow%s named, by %s sample%s.", nt_human_count(n, flows), flows == 1 ? " is" : "s are",
		nt_human_count(of, samples), samples == 1 ? "" : "s");
}

static void say_rest(FILE *line, const struct nt_tables_total *total)
{
	fputs(NT_FLOWS_NOTE " ", line);
	if (total->is_of_part)
		fputs("Flows are counted about once a second: such times count as began in the part. ", line);
	nt_tables_say_lost(line, total, total->values[LOST], "record of flows");
}

static void say_rest_of_ends(FILE *line, const struct nt_tables_total *total)
{
	fputs("Flows that are not named are in no row but those of devices: each source, destination or port had at "
	      "least as many packets as low says. A flow's port is the smaller one of its two. ",
	      line);
	say_rest(line, total);
}

static int run(const struct nt_options *options)
{
	struct nt_session_tables tables = {
		.need = &nt_need_flows,
		.word = options->iface,
		.begin = begin,
		.has_probe = "SELECT " NT_HAS_PROBE_SQL("flows"),
		.tables = NT_FLOWS_TABLES | NT_TABLE_BIT(NT_TABLE_FLOW_SKETCH) | NT_TABLE_BIT(NT_TABLE_RECORD_COUNT),
		.rows = "flow_total",
		.total =
			FLOWS_SQL "SELECT count(*), (SELECT count(*) FROM flows), "
				  "(SELECT ifnull(sum(samples), 0) FROM flow_sketch WHERE session_id = ?1 AND ts >= ?2 "
				  "AND ts < ?3), "
				  "(SELECT ifnull(sum(lost), 0) FROM record_count WHERE session_id = ?1 "
				  "AND kind IN ('flow_sketch', 'flow_cell', 'flow_count', 'flow_total')) FROM picked",
		.total_names = {"times_count", "flows_count", "samples_count", "lost_count"},
		.sections = of_flows,
		.say_total = say_total,
		.say_rest = say_rest,
	};
	char error[NT_ERROR_MAX];
	enum nt_by by;

	if (nt_by_choose(options->samples.by, NT_BY_OF_FLOWS, &by, error))
		return nt_complain_misused(error);
	if (by == NT_BY_SRC || by == NT_BY_DST || by == NT_BY_PORT) {
		tables.sections = by == NT_BY_SRC ? of_sources : by == NT_BY_DST ? of_destinations : of_ports;
		tables.say_rest = say_rest_of_ends;
	}
	return nt_session_tables_run(&tables, options);
}

static const struct nt_option options[] = {
	NT_OPTION_BY_FLOW,
	NT_OPTION("iface", 'i', "NAME", "eth0", NT_TO(nt_option_set_text, struct nt_options, iface),
		  "only packets that this network device sent or received"),
	NT_OPTIONS_TIME,
	NT_OPTION_LIMIT("N rows of each table, or all (20 of the first, then 10)"),
	NT_OPTION_JSON,
	NT_OPTION_CSV,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_top = {
	.name = "top",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [--by WHAT] [OPTION]... [--json|--csv]",
	.what = "show which flows had the most packets, with bounds",
	.help = "By flow, source, destination or port, and by device. CSV has one line for each value. Record with "
		"--probes default,flows.",
	.example = "top busy.tape --by src",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
