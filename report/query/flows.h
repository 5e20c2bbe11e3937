/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flows.h - which flows had the most packets, for every command that shows it. Prints nothing.
 *
 * A packet that several devices see is counted once: each flow counts at one device and direction. What devices saw is
 * not added up, but listed.
 */
#pragma once

#include "report/db/older.h"
#include "report/query/groups.h"

/*
 * From now on the table flow_sum has the sums of this part, and no other's: of the times that began in it. 0, or -1 and
 * db->error. Of a part in a database, it needs the tables NT_FLOWS_OF_PART.
 */
int nt_flows_sum(const struct nt_part *part);
/* Whether the session has the probe, and its database the tables for all of this part. 0, or -1 and db->error. */
int nt_flows_are_known(const struct nt_part *part, bool *are_known);
/* Of session ?1: its database is older than flow_sum, so that no sums are known. */
#define NT_FLOWS_IS_OLDER_SQL NT_OLDER_LACKS_SQL("flow_sum")
#define NT_FLOWS_TABLES                                                                                                \
	(NT_TABLE_BIT(NT_TABLE_FLOW_SUM) | NT_TABLE_BIT(NT_TABLE_FLOW) | NT_TABLE_BIT(NT_TABLE_FLOW_TOTAL))
#define NT_FLOWS_OF_PART                                                                                               \
	(NT_TABLE_BIT(NT_TABLE_FLOW_SKETCH) | NT_TABLE_BIT(NT_TABLE_FLOW_CELL) | NT_TABLE_BIT(NT_TABLE_FLOW_COUNT))

/* One flow at several devices. What has no addresses is another flow at each. */
#define NT_FLOWS_SAME_SQL                                                                                              \
	"WINDOW same AS (PARTITION BY proto, src, sport, dst, dport, "                                                 \
	"CASE WHEN family IS NULL AND proto IS NULL THEN flow_id END)), "
#define NT_FLOWS_SEEN_SQL                                                                                              \
	"SELECT f.family, f.proto, f.ethertype, f.src, f.sport, f.dst, f.dport, f.netns, f.device_id, f.direction, "   \
	"v.ifindex, min(s.flow_id) AS flow_id, sum(s.packets) AS packets, sum(s.packets_low) AS packets_low, "         \
	"sum(s.packets_high) AS packets_high, sum(s.bytes) AS bytes, sum(s.bytes_low) AS bytes_low, "                  \
	"sum(s.bytes_high) AS bytes_high, "
#define NT_FLOWS_FROM_SQL                                                                                              \
	"AS device FROM flow_sum AS s LEFT JOIN flow AS f ON f.session_id = ?1 AND f.id = s.flow_id "                  \
	"LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = f.device_id "                                       \
	"WHERE s.session_id = ?1 AND s.counted_by = "
/* A flow that was silent for long may have come again under another id. */
#define NT_FLOWS_GROUP_SQL                                                                                             \
	" GROUP BY f.family, f.proto, f.ethertype, f.src, f.sport, f.dst, f.dport, f.device_id, f.direction, "         \
	"CASE WHEN f.id IS NULL THEN s.flow_id END"
/* By no order that depends on the estimates: the greatest of them would be the one which errs most. */
#define NT_FLOWS_PLACED_SQL                                                                                            \
	"SELECT *, row_number() OVER (same ORDER BY packets_high < least, direction, ifindex, netns, flow_id) "        \
	"AS place FROM least "
/*
 * Common table expressions, of session ?1, of flows by `key`, a text of SQL, where `is_meant`, a condition on a row `v`
 * of net_device, holds:
 *
 *   seen    the flows at each device and direction: columns of flow and of flow_sum, and `device`
 *   flows   of these, for each flow one that may have seen most of it, by its bounds; seen_count: how many there are
 */
#define NT_FLOWS_SQL(key, is_meant)                                                                                    \
	"seen AS (" NT_FLOWS_SEEN_SQL NT_IFACE_SQL("v.") NT_FLOWS_FROM_SQL key                                         \
		" AND " is_meant NT_FLOWS_GROUP_SQL                                                                    \
		"), least AS (SELECT *, max(packets_low) OVER same AS least, count(*) OVER same AS seen_count "        \
		"FROM seen " NT_FLOWS_SAME_SQL "placed AS (" NT_FLOWS_PLACED_SQL NT_FLOWS_SAME_SQL                     \
		"flows AS (SELECT * FROM placed WHERE place = 1) "
#define NT_FLOWS_OF_ALL_SQL NT_FLOWS_SQL("'flow'", "1 ")

/* The figures of rows of `flows` that are summed up. */
#define NT_FLOWS_FIGURES_SQL                                                                                           \
	"sum(packets) AS packets_count, sum(packets_low) AS packets_low_count, "                                       \
	"sum(packets_high) AS packets_high_count, sum(bytes) AS wire_bytes, sum(bytes_low) AS wire_low_bytes, "        \
	"sum(bytes_high) AS wire_high_bytes "
#define NT_FLOWS_PROTO_SQL                                                                                             \
	"CASE WHEN f.family IS NULL AND f.ethertype > 0 THEN printf('0x%04x', f.ethertype) ELSE f.proto END AS "       \
	"proto, "
/* Behind it: a row for each flow, the largest first. */
#define NT_FLOWS_ROWS_SQL                                                                                              \
	"SELECT " NT_FLOWS_PROTO_SQL NT_ENDPOINT_SQL("f.", "src", "sport") "AS source, " NT_ENDPOINT_SQL(              \
		"f.", "dst",                                                                                           \
		"dport") "AS destination, f.device, f.direction, f.seen_count, " NT_FLOWS_FIGURES_SQL                  \
			 "FROM flows AS f GROUP BY f.flow_id ORDER BY packets_count DESC, wire_bytes DESC, f.flow_id "
#define NT_FLOWS_TITLE "Flows by packets"
#define NT_FLOWS_LEAVE_OUT                                                                                             \
	"seen_count,wire_low_bytes&wire_high_bytes,wire_bytes,direction,device,packets_low_count&packets_high_count,"  \
	"proto"
/* What the figures are. */
#define NT_FLOWS_NOTE_OF_PACKETS                                                                                       \
	"Packets are those of the wire, estimated unless low and high are equal; 99 of 100 rows lie between these. "
#define NT_FLOWS_NOTE                                                                                                  \
	NT_FLOWS_NOTE_OF_PACKETS                                                                                       \
	"Of a flow that several devices see, one counts that may have seen most of it."
