// SPDX-License-Identifier: GPL-2.0-only
/*
 * retransmits.c - nettape-report retransmits: the segments that TCP sent again, by state, socket and process.
 */
#include "report/cmd/session_tables.h"

enum { SEGMENTS, BYTES, LOST };

#define SUMS "count(*) AS segments_count, sum(length) AS payload_bytes "
#define MOST_FIRST "ORDER BY segments_count DESC, payload_bytes DESC, "

static const char by_state[] =
	"SELECT what, coalesce(state, '(unknown)') AS state, " SUMS "FROM picked GROUP BY 1, 2 " MOST_FIRST "1, 2";

static const char by_socket[] =
	"SELECT " NT_TABLES_SOCKET_SQL ", segments_count, payload_bytes FROM (SELECT "
	"socket_id, " SUMS "FROM picked GROUP BY socket_id) AS d " NT_TABLES_PROCESS_OF_SOCKET_SQL MOST_FIRST
	"1, 2, d.socket_id";

static const char by_process[] =
	"SELECT " NT_TABLES_PROCESS_SQL ", count(d.socket_id) AS sockets_count, sum(d.segments) AS segments_count, "
	"sum(d.bytes) AS payload_bytes FROM (SELECT socket_id, count(*) AS segments, sum(length) AS bytes FROM picked "
	"GROUP BY socket_id) AS d " NT_TABLES_PROCESS_OF_SOCKET_SQL "GROUP BY p.upid " MOST_FIRST "1, p.upid";

static const struct nt_tables_section sections[] = {
	{"states", "By what was sent again, and state", 10, NULL, by_state, false},
	{"sockets", "By socket", 5, "proto,payload_bytes,process", by_socket, false},
	{"processes", "By process", 5, "sockets_count,pid,payload_bytes", by_process, false},
	{0},
};

static void say_total(FILE *line, const struct nt_tables_total *total)
{
	char count[NT_HUMAN_MAX], bytes[NT_HUMAN_MAX];
	const int64_t n = total->values[SEGMENTS];

	if (!n) {
		fputs("TCP sent no segment again.", line);
		return;
	}
	nt_human_bytes(bytes, total->values[BYTES] > 0 ? (uint64_t)total->values[BYTES] : 0);
	fprintf(line, "TCP sent %s segment%s with %s of payload again.", nt_human_count(count, n), n == 1 ? "" : "s",
		bytes);
}

static void say_rest(FILE *line, const struct nt_tables_total *total)
{
	nt_tables_say_lost(line, total, total->values[LOST], "retransmit record");
}

static int run(const struct nt_options *options)
{
	static const struct nt_session_tables tables = {
		.need = &nt_need_retransmits,
		.has_probe = "SELECT " NT_HAS_PROBE_SQL("retransmits"),
		.tables = NT_TABLE_BIT(NT_TABLE_TCP_RETRANSMIT) | NT_TABLE_BIT(NT_TABLE_RECORD_COUNT) |
			  NT_TABLES_OF_SOCKETS,
		.rows = "tcp_retransmit",
		.total = "SELECT count(*), ifnull(sum(length), 0), " NT_TABLES_LOST_SQL("retransmit") " FROM picked",
		.total_names = {[SEGMENTS] = "segments_count", [BYTES] = "payload_bytes", [LOST] = "lost_count"},
		.sections = sections,
		.say_total = say_total,
		.say_rest = say_rest,
	};

	return nt_session_tables_run(&tables, options);
}

static const struct nt_option options[] = {NT_OPTIONS_TABLES("10 of the first, then 5")};

const struct nt_command nt_cmd_retransmits = {
	.name = "retransmits",
	.group = NT_GROUP_DEEPER,
	.usage = "TAPE|DB [OPTION]... [--json|--csv]",
	.what = "show which segments TCP sent again",
	.help = "By state, by socket and by process. A `synack` belongs to the listening socket. "
		"CSV has one line for each value. Record with --probes default,retransmits.",
	.example = "retransmits busy.tape",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
