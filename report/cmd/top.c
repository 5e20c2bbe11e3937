// SPDX-License-Identifier: GPL-2.0-only
/*
 * top.c - nettape-report top: the flows that had the most packets, estimated with bounds, and what each device had,
 * exactly; and the same by source, destination or port, or else the named flows by these.
 */
#include "report/cmd/session_tables.h"
#include "report/query/flows.h"
#include "report/util/array.h"
#include "schema/meta_keys.h"

enum { TIMES, NAMED, SAMPLES, LOST };

#define KEY_SQL(key) ", " NT_FLOWS_SQL(key, "(?5 IS NULL OR v.name = ?5)")
#define FLOWS_SQL KEY_SQL("'flow'")

/* Of flows that have such an end. Bounds from above are not known: more flows may have it than are named. */
#define SUMS_BY(end, is_there)                                                                                         \
	FLOWS_SQL "SELECT " end ", count(*) AS flows_count, sum(packets) AS packets_count, "                           \
		  "sum(packets_low) AS packets_low_count, sum(bytes) AS wire_bytes, "                                  \
		  "sum(bytes_low) AS wire_low_bytes FROM flows WHERE " is_there                                        \
		  " GROUP BY 1 ORDER BY packets_count DESC, wire_bytes DESC, 1"

static const char by_flow[] = FLOWS_SQL NT_FLOWS_ROWS_SQL;
static const char sums_by_src[] = SUMS_BY("src AS source", "src IS NOT NULL");
static const char sums_by_dst[] = SUMS_BY("dst AS destination", "dst IS NOT NULL");
/* That of the server is mostly the smaller one. */
static const char sums_by_port[] = SUMS_BY("min(sport, dport) || '/' || proto AS port", "sport > 0 AND dport > 0");

/* Where the recording counted by that end. What is not of IP has an ethertype alone. */
#define BY(key, columns, group)                                                                                        \
	KEY_SQL(key)                                                                                                   \
	"SELECT " columns NT_FLOWS_FIGURES_SQL "FROM flows AS f GROUP BY " group                                       \
	" ORDER BY packets_count DESC, wire_bytes DESC, 1"
#define BY_ADDRESS(key, end) BY(key, end ", f.device, f.direction, f.seen_count, ", "f.flow_id")
#define TYPE "printf('0x%04x', f.ethertype)"
#define SRC "coalesce(f.src, " TYPE ")"
#define DST "coalesce(f.dst, " TYPE ")"
/* There are packets to it, and packets from it. */
#define PORT "coalesce(coalesce(f.sport, f.dport) || '/' || f.proto, f.proto, " TYPE ")"

static const char by_src[] = BY_ADDRESS("'src'", SRC " AS source");
static const char by_dst[] = BY_ADDRESS("'dst'", DST " AS destination");
static const char by_port[] = BY("'port'", PORT " AS port, ", "1");

#define BY_DEVICE(key, end, named)                                                                                     \
	KEY_SQL(key)                                                                                                   \
	", named AS (SELECT device_id, direction, count(DISTINCT " end ") AS n, sum(packets) AS packets "              \
	"FROM seen AS f GROUP BY 1, 2), "                                                                              \
	"total AS (SELECT device_id, direction, sum(packets) AS packets, sum(bytes) AS bytes, "                        \
	"sum(buffers) AS buffers FROM picked GROUP BY 1, 2) "                                                          \
	"SELECT " NT_IFACE_SQL(                                                                                        \
		"v.") "AS device, t.direction, t.packets AS packets_count, t.bytes AS wire_bytes, "                    \
		      "t.buffers AS buffers_count, coalesce(n.n, 0) AS " named "_count, "                              \
		      "min(coalesce(n.packets, 0), t.packets) AS named_count, "                                        \
		      "max(t.packets - coalesce(n.packets, 0), 0) AS unnamed_count FROM total AS t "                   \
		      "LEFT JOIN named AS n ON n.device_id IS t.device_id AND n.direction = t.direction "              \
		      "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = t.device_id "                         \
		      "WHERE ?5 IS NULL OR v.name = ?5 ORDER BY packets_count DESC, wire_bytes DESC, 1, 2, "           \
		      "t.device_id"

#define DEVICES(key, end, named)                                                                                       \
	{                                                                                                              \
		"devices", "All packets by device, exactly", 10, "buffers_count," named "_count,named_count",          \
			BY_DEVICE(key, end, named), true                                                               \
	}
#define DEVICES_OF_FLOWS DEVICES("'flow'", "f.flow_id", "flows")
#define OF_SUMS "wire_low_bytes,flows_count"
#define OF_KEYS                                                                                                        \
	"seen_count,wire_low_bytes&wire_high_bytes,wire_bytes,direction,device,packets_low_count&packets_high_count"

static const struct nt_tables_section flows[] = {
	{"flows", NT_FLOWS_TITLE, 20, NT_FLOWS_LEAVE_OUT, by_flow, false}, DEVICES_OF_FLOWS, {0}};
static const struct nt_tables_section source_sums[] = {
	{"sources", "Sources of the named flows", 20, OF_SUMS, sums_by_src, false}, DEVICES_OF_FLOWS, {0}};
static const struct nt_tables_section destination_sums[] = {
	{"destinations", "Destinations of the named flows", 20, OF_SUMS, sums_by_dst, false}, DEVICES_OF_FLOWS, {0}};
static const struct nt_tables_section port_sums[] = {
	{"ports", "Ports of the named flows", 20, OF_SUMS, sums_by_port, false}, DEVICES_OF_FLOWS, {0}};
static const struct nt_tables_section sources[] = {
	{"sources", "Sources by packets", 20, OF_KEYS, by_src, false}, DEVICES("'src'", SRC, "sources"), {0}};
static const struct nt_tables_section destinations[] = {
	{"destinations", "Destinations by packets", 20, OF_KEYS, by_dst, false},
	DEVICES("'dst'", DST, "destinations"),
	{0}};
static const struct nt_tables_section ports[] = {
	{"ports", "Ports by packets", 20, OF_KEYS, by_port, false}, DEVICES("'port'", PORT, "ports"), {0}};

#define TOTAL(key, end)                                                                                                \
	KEY_SQL(key)                                                                                                   \
	"SELECT count(*), (SELECT count(DISTINCT " end                                                                 \
	") FROM flows AS f), (SELECT ifnull(sum(samples), 0) FROM flow_sketch "                                        \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 AND counted_by = " key "), "                                   \
	"(SELECT ifnull(sum(lost), 0) FROM record_count WHERE session_id = ?1 "                                        \
	"AND kind IN ('flow_sketch', 'flow_cell', 'flow_count', 'flow_total')) FROM picked"

static void say_total(FILE *line, const struct nt_tables_total *total, const char *named)
{
	const int64_t n = total->values[NAMED], samples = total->values[SAMPLES];
	char count[NT_HUMAN_MAX], of[NT_HUMAN_MAX];

	fprintf(line, "%s %s%s named, by %s sample%s.", nt_human_count(count, n), named, n == 1 ? " is" : "s are",
		nt_human_count(of, samples), samples == 1 ? "" : "s");
}

static void say_flows(FILE *line, const struct nt_tables_total *total)
{
	say_total(line, total, "flow");
}

static void say_sources(FILE *line, const struct nt_tables_total *total)
{
	say_total(line, total, "source");
}

static void say_destinations(FILE *line, const struct nt_tables_total *total)
{
	say_total(line, total, "destination");
}

static void say_ports(FILE *line, const struct nt_tables_total *total)
{
	say_total(line, total, "port");
}

static void say_times(FILE *line, const struct nt_tables_total *total)
{
	if (total->is_of_part)
		fputs("Flows are counted about once a second: such times count as began in the part. ", line);
	nt_tables_say_lost(line, total, total->values[LOST], "record of flows");
}

static void say_rest_of_flows(FILE *line, const struct nt_tables_total *total)
{
	fputs(NT_FLOWS_NOTE " ", line);
	say_times(line, total);
}

static void say_rest_of_sums(FILE *line, const struct nt_tables_total *total)
{
	fputs("Flows that are not named are in no row but those of devices: each source, destination or port had at "
	      "least as many packets as low says. A flow's port is the smaller one of its two. A recording with "
	      "--flows src,dst,port tells more. ",
	      line);
	say_rest_of_flows(line, total);
}

static void say_rest_of_keys(FILE *line, const struct nt_tables_total *total)
{
	fputs(NT_FLOWS_NOTE_OF_PACKETS
	      "Of devices that see the same source, destination or port, one counts that may have seen "
	      "most of it; packets that took other ways come on top, and -i chooses a device. A packet's port is the "
	      "smaller one of its two. ",
	      line);
	say_times(line, total);
}

/* Each of --by, as a session shows it that has counted by that key; and as another one does. */
static const struct view {
	enum nt_by by;
	const char *key; /* as in flow_keys */
	const char *named_count;
	const char *total; /* SQL */
	const struct nt_tables_section *sections, *sums;
	void (*say_total)(FILE *line, const struct nt_tables_total *total);
} views[] = {
	{NT_BY_FLOW, "flow", "flows_count", TOTAL("'flow'", "f.flow_id"), flows, flows, say_flows},
	{NT_BY_SRC, "src", "sources_count", TOTAL("'src'", SRC), sources, source_sums, say_sources},
	{NT_BY_DST, "dst", "destinations_count", TOTAL("'dst'", DST), destinations, destination_sums, say_destinations},
	{NT_BY_PORT, "port", "ports_count", TOTAL("'port'", PORT), ports, port_sums, say_ports},
};

static void show(struct nt_session_tables *tables, const struct view *view)
{
	tables->total = view->total;
	tables->total_names[NAMED] = view->named_count;
	tables->sections = view->sections;
	tables->say_total = view->say_total;
	tables->say_rest = view->by == NT_BY_FLOW ? say_rest_of_flows : say_rest_of_keys;
}

static void show_sums(struct nt_session_tables *tables, const struct view *view)
{
	show(tables, &views[0]);
	tables->sections = view->sums;
	tables->say_rest = say_rest_of_sums;
}

/* An earlier recording has no list of keys. */
static const char about_session[] =
	"SELECT " NT_FLOWS_IS_OLDER_SQL ", ?2 IS NULL OR ?2 IN (SELECT name FROM net_device WHERE session_id = ?1), "
	"instr(',' || ifnull((" NT_META_SQL(NT_META_FLOW_KEYS) "), 'flow') || ',', ',' || ?3 || ',')";

static int begin(const struct nt_part *part, struct nt_session_tables *own, char why_not[NT_ERROR_MAX])
{
	const struct view *view = &views[NT_FIRST(NT_COUNT(views), i, views[i].sections == own->sections)];
	sqlite3_stmt *row = nt_db_query(part->db, about_session, part->session->id);

	sqlite3_bind_text(row, 2, own->word, -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 3, view->key, -1, SQLITE_STATIC);
	if (nt_db_next(row)) {
		if (sqlite3_column_int(row, 0))
			nt_fail(why_not, "it was imported without sums of flows: import its tape again");
		else if (!sqlite3_column_int(row, 1))
			nt_fail(why_not, "it has no network device %.100s", own->word);
		if (!sqlite3_column_int(row, 2))
			show_sums(own, view);
	}
	return nt_db_end(part->db, row, "the devices cannot be read") || nt_flows_sum(part) ? -1 : 0;
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
		.total_names = {"times_count", NULL, "samples_count", "lost_count"},
	};
	char error[NT_ERROR_MAX];
	enum nt_by by;

	if (nt_by_choose(options->samples.by, NT_BY_OF_FLOWS, &by, error))
		return nt_complain_misused(error);
	show(&tables, &views[by == NT_BY_NONE ? 0 : NT_FIRST(NT_COUNT(views), i, views[i].by == by)]);
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
