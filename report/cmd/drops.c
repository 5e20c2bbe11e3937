// SPDX-License-Identifier: GPL-2.0-only
/*
 * drops.c - nettape-report drops: the packets that the kernel dropped, by reason and place, socket and process.
 */
#include "report/cmd/session_tables.h"
#include "report/query/self_cost.h"

enum { PACKETS, BYTES, ENDS, LOST };

#define SUMS "count(*) AS packets_count, sum(length) AS dropped_bytes "
#define MOST_FIRST "ORDER BY packets_count DESC, dropped_bytes DESC, "

static const char by_place[] =
	"SELECT d.reason AS reason, d.location AS location, v.name AS device, v.netns AS netns, "
	"sum(d.packets) AS packets_count, sum(d.bytes) AS dropped_bytes FROM (SELECT reason, location, device_id, "
	"count(*) AS packets, sum(length) AS bytes FROM picked GROUP BY 1, 2, 3) AS d "
	"LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = d.device_id GROUP BY 1, 2, 3, 4 " MOST_FIRST
	"1, 2, 3, 4";

/* The most frequent reason of a socket stands in each of its rows before they are summed. */
#define BY_REASON "SELECT socket_id, reason, " SUMS "FROM picked GROUP BY 1, 2"
#define WITH_MOST_FREQUENT                                                                                             \
	"SELECT *, first_value(reason) OVER (PARTITION BY socket_id ORDER BY packets_count DESC, reason) AS first "    \
	"FROM (" BY_REASON ")"
static const char by_socket[] =
	"SELECT " NT_TABLES_SOCKET_SQL ", packets_count, dropped_bytes, reason FROM (SELECT socket_id, "
	"sum(packets_count) AS packets_count, sum(dropped_bytes) AS dropped_bytes, min(first) AS reason "
	"FROM (" WITH_MOST_FREQUENT ") GROUP BY socket_id) AS d " NT_TABLES_PROCESS_OF_SOCKET_SQL MOST_FIRST
	"1, 2, d.socket_id";

static const char by_process[] =
	"SELECT " NT_TABLES_PROCESS_SQL ", count(d.socket_id) AS sockets_count, sum(d.packets) AS packets_count, "
	"sum(d.bytes) AS dropped_bytes FROM (SELECT socket_id, count(*) AS packets, sum(length) AS bytes "
	"FROM picked GROUP BY socket_id) AS d " NT_TABLES_PROCESS_OF_SOCKET_SQL "GROUP BY p.upid " MOST_FIRST
	"1, p.upid";

static const struct nt_tables_section sections[] = {
	{"places", "By reason and place", 10, "netns,device,dropped_bytes", by_place, false},
	{"sockets", "By socket", 5, "proto,dropped_bytes,reason,process", by_socket, false},
	{"processes", "By process", 5, "sockets_count,pid,dropped_bytes", by_process, false},
	{0},
};

static void say_total(FILE *line, const struct nt_tables_total *total)
{
	char count[NT_HUMAN_MAX], bytes[NT_HUMAN_MAX];
	const int64_t n = total->values[PACKETS];

	if (!n) {
		fputs("No packet was dropped.", line);
		return;
	}
	nt_human_bytes(bytes, total->values[BYTES] > 0 ? (uint64_t)total->values[BYTES] : 0);
	fprintf(line, "%s packet%s of %s %s dropped.", nt_human_count(count, n), n == 1 ? "" : "s", bytes,
		n == 1 ? "was" : "were");
}

static void say_rest(FILE *line, const struct nt_tables_total *total)
{
	const int64_t ends = total->values[ENDS];
	char count[NT_HUMAN_MAX];

	if (ends > 0)
		fprintf(line, "%s end%s of TCP connections %s left out%s: they have no bytes. ",
			nt_human_count(count, ends), ends == 1 ? "" : "s", ends == 1 ? "was" : "were",
			total->is_of_part ? " in the whole recording" : "");
	nt_tables_say_lost(line, total, total->values[LOST], "drop record");
}

static int run(const struct nt_options *options)
{
	static const struct nt_session_tables tables = {
		.need = &nt_need_drops,
		.has_probe = "SELECT " NT_HAS_PROBE_SQL("drops"),
		.tables = NT_TABLE_BIT(NT_TABLE_SKB_DROP) | NT_TABLE_BIT(NT_TABLE_SELF_COST) |
			  NT_TABLE_BIT(NT_TABLE_RECORD_COUNT) | NT_TABLES_OF_SOCKETS,
		.rows = "skb_drop",
		.total = "SELECT count(*), ifnull(sum(length), 0), " NT_SELF_ENDS_SQL
			 ", " NT_TABLES_LOST_SQL("drop") " FROM picked",
		.total_names = {[PACKETS] = "packets_count",
				[BYTES] = "dropped_bytes",
				[ENDS] = "ends_left_out_count",
				[LOST] = "lost_count"},
		.sections = sections,
		.say_total = say_total,
		.say_rest = say_rest,
	};

	return nt_session_tables_run(&tables, options);
}

static const struct nt_option options[] = {NT_OPTIONS_TABLES("10 of the first, then 5")};

const struct nt_command nt_cmd_drops = {
	.name = "drops",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [OPTION]... [--json|--csv]",
	.what = "show which packets the kernel dropped, where and why",
	.help = "By reason and place, by socket and by process. CSV has one line for each value. Record with --probes "
		"default,drops.",
	.example = "drops busy.tape",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
