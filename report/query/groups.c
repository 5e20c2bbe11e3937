// SPDX-License-Identifier: GPL-2.0-only
/*
 * groups.c - see groups.h.
 */
#include "report/query/groups.h"

#include "report/query/ports.h"

/*
 * All groupings name these columns: send_ns, recv_ns, charged_ns, charged_least_ns, charged_most_ns, ops, sent,
 * received, untimed, lower_bound.
 */
#define SUMS                                                                                                           \
	"sum(send_ns) AS send_ns, sum(recv_ns) AS recv_ns, sum(ops) AS ops, sum(sent) AS sent, "                       \
	"sum(received) AS received, sum(untimed) AS untimed, sum(lower_bound) AS lower_bound "
/* NULL where nothing is charged, as in a recording that does not tell. */
#define RX_NS "CASE WHEN (SELECT count(*) FROM charged) THEN sum(charged_ns) END "
#define COSTS                                                                                                          \
	"sum(send_ns + recv_ns + charged_ns) AS total_ns, "                                                            \
	"sum(send_ns + recv_ns + charged_least_ns) AS at_least_ns, "                                                   \
	"sum(send_ns + recv_ns + charged_most_ns) AS at_most_ns, "                                                     \
	"CAST(sum(send_ns + recv_ns + charged_ns) AS REAL) / (SELECT nullif(ns, 0) FROM span) AS cpu_share, "          \
	"sum(send_ns) AS send_ns, sum(recv_ns) AS recv_ns, " RX_NS "AS rx_ns, sum(ops) AS ops_count, "                 \
	"sum(sent) AS sent_bytes, sum(received) AS received_bytes, "
#define HOW_SURE "sum(untimed) AS untimed_count, sum(lower_bound) AS lower_bound_count "
#define NOT_NOTHING "HAVING total_ns > 0 OR ops_count > 0 OR at_most_ns > 0 "
#define DEAREST "ORDER BY total_ns DESC, ops_count DESC, "

/* ---- by task: the time is that of slices ---- */

/* A row for each process, and for each socket that it pays for; upid NULL: not known, or no process's. */
#define BY_PROCESS                                                                                                     \
	"(SELECT t.upid AS upid, NULL AS socket_id, sum(p.task_ns) AS task_ns, 0 AS charged_ns, "                      \
	"0 AS charged_least_ns, 0 AS charged_most_ns, " SUMS "FROM ("                                                  \
	"SELECT utid, CASE owner WHEN 'send' THEN ns ELSE 0 END AS send_ns, "                                          \
	"CASE owner WHEN 'recv' THEN ns ELSE 0 END AS recv_ns, CASE owner WHEN 'task' THEN ns ELSE 0 END AS task_ns, " \
	"0 AS ops, 0 AS sent, 0 AS received, 0 AS untimed, 0 AS lower_bound FROM spent "                               \
	"UNION ALL SELECT utid, 0, 0, 0, ops, CASE op WHEN 'send' THEN bytes ELSE 0 END, "                             \
	"CASE op WHEN 'recv' THEN bytes ELSE 0 END, untimed, lower_bound FROM did) AS p "                              \
	"LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = p.utid GROUP BY t.upid "                              \
	"UNION ALL SELECT upid, socket_id, 0, ns, least_ns, most_ns, 0, 0, 0, 0, 0, 0, 0 FROM charged) AS c "          \
	"LEFT JOIN process AS w ON w.session_id = ?1 AND w.upid = c.upid "
/* Of a socket that no process uses or holds, the cgroup that the kernel keeps with it. */
#define CGROUP "CASE WHEN c.upid IS NULL THEN k.cgroup_id ELSE w.cgroup_id END "
/* Processes that did anything on sockets; of those that are not known there is no number. */
#define PROCESSES                                                                                                      \
	"nullif(count(CASE WHEN c.send_ns + c.recv_ns > 0 OR c.ops > 0 THEN c.upid END), 0) AS processes_count, "
#define TASK "sum(task_ns) AS task_ns, "

/* ---- by socket: the time is that of operations ---- */

/* A row for each socket and process that used it. */
#define BY_SOCKET                                                                                                      \
	"(SELECT d.socket_id AS socket_id, t.upid AS upid, 0 AS charged_ns, 0 AS charged_least_ns, "                   \
	"0 AS charged_most_ns, "                                                                                       \
	"sum(CASE d.op WHEN 'send' THEN d.cpu_ns ELSE 0 END) AS send_ns, "                                             \
	"sum(CASE d.op WHEN 'recv' THEN d.cpu_ns ELSE 0 END) AS recv_ns, sum(d.ops) AS ops, "                          \
	"sum(CASE d.op WHEN 'send' THEN d.bytes ELSE 0 END) AS sent, "                                                 \
	"sum(CASE d.op WHEN 'recv' THEN d.bytes ELSE 0 END) AS received, "                                             \
	"sum(d.untimed) AS untimed, sum(d.lower_bound) AS lower_bound FROM did AS d "                                  \
	"LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = d.utid GROUP BY d.socket_id, t.upid "                 \
	"UNION ALL SELECT socket_id, upid, ns, least_ns, most_ns, 0, 0, 0, 0, 0, 0, 0 FROM charged) AS c "             \
	"LEFT JOIN process AS w ON w.session_id = ?1 AND w.upid = c.upid "
#define JOIN_SOCKET "LEFT JOIN socket AS k ON k.session_id = ?1 AND k.id = c.socket_id "
#define PROTO "CASE WHEN k.id IS NULL THEN '(unknown)' ELSE coalesce(k.proto, k.family, '(unknown)') END AS proto, "
#define FIGURES                                                                                                        \
	"c.send_ns, c.recv_ns, c.charged_ns, c.charged_least_ns, c.charged_most_ns, c.ops, c.sent, c.received, "       \
	"c.untimed, c.lower_bound "

/*
 * Rows of `figures` (keys, name, upid, socket_id, FIGURES) by their keys, and the program (`who` is name) or process
 * (upid) that pays most on each group: beside a max(), SQLite takes other columns from the row that has it.
 */
#define GROUPED(keys, shown, who, as_who, members, figures)                                                            \
	"SELECT " shown "coalesce(name, '(unknown)') AS " as_who ", " members                                          \
	"total_ns, at_least_ns, at_most_ns, cpu_share, send_ns, recv_ns, rx_ns, ops_count, sent_bytes, "               \
	"received_bytes, untimed_count, lower_bound_count "                                                            \
	"FROM (SELECT " shown "name, max(of_who_ns) AS of_who_ns, "                                                    \
	"nullif(count(DISTINCT socket_id), 0) AS sockets_count, socket_id, " COSTS HOW_SURE "FROM ("                   \
	"SELECT *, sum(send_ns + recv_ns + charged_ns) OVER (PARTITION BY " keys ", " who                              \
	") AS of_who_ns FROM (" figures ")) GROUP BY " keys ") " DEAREST

/* An IPv4 address as such, also where a socket of IPv6 has it. */
#define ADDRESS "CASE WHEN k.dst LIKE '::ffff:%.%' THEN substr(k.dst, 8) ELSE k.dst END"
#define PEER "CASE WHEN k.id IS NULL THEN '(unknown)' WHEN k.dst IS NULL THEN '(not connected)' ELSE " ADDRESS " END"

/* ---- by interface: the time is that of packets ---- */

#define IF_PAYER(condition) "sum(CASE WHEN r.payer " condition " THEN r.spent_ns ELSE 0 END) AS "
#define BY_PAYER                                                                                                       \
	IF_PAYER("= 'socket'")                                                                                         \
	"socket_ns, " IF_PAYER("= 'forwarded'") "forwarded_ns, " IF_PAYER("= 'dropped'") "dropped_ns, " IF_PAYER(      \
		"NOT IN ('socket', 'forwarded', 'dropped')") "rest_ns "
#define RECEIVED NT_PAID_FIGURES_SQL("total_ns")
#define PAID_WITH_IFACE                                                                                                \
	"paid AS r LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = r.device_id " NT_IF_PAYERS_ARE_KNOWN_SQL

static const struct nt_group_info groups[NT_BY_COUNT] = {
	[NT_BY_PROGRAM] = {"programs", "Programs by network CPU time", "Processes of the same name are one program.",
			   "SELECT coalesce(w.name, '(unknown)') AS program, " PROCESSES COSTS TASK HOW_SURE
			   "FROM " BY_PROCESS "GROUP BY w.name " NOT_NOTHING DEAREST "w.name"},
	[NT_BY_PROCESS] = {"processes", "Processes by network CPU time", "",
			   "SELECT coalesce(w.name, '(unknown)') AS process, w.pid AS pid, " COSTS TASK HOW_SURE
			   "FROM " BY_PROCESS "GROUP BY c.upid " NOT_NOTHING DEAREST "c.upid"},
	[NT_BY_PORT] = {"ports", "Ports by network CPU time",
			NT_PORT_NOTE " Side says which end of the sockets has it. The program is the one that pays "
				     "most.",
			GROUPED("proto, port", "proto, port, side, ", "name", "program", "sockets_count, ",
				"SELECT " PROTO
				"s.port, CASE count(*) OVER (PARTITION BY s.port, k.proto, s.side) WHEN "
				"count(*) OVER (PARTITION BY s.port, k.proto) THEN s.side ELSE 'both' END AS side, "
				"w.name AS name, c.upid AS upid, c.socket_id, " FIGURES "FROM " BY_SOCKET JOIN_SOCKET
				"LEFT JOIN " NT_PORT_OF_SOCKETS_SQL "ON s.id = c.socket_id") "proto, port"},
	[NT_BY_PEER] = {"peers", "Peers by network CPU time",
			"A peer is an address that sockets are connected to, whatever the port. The program is the "
			"one that pays most.",
			GROUPED("peer", "peer, ", "name", "program", "sockets_count, ",
				"SELECT " PEER " AS peer, w.name AS name, c.upid AS upid, c.socket_id, " FIGURES
				"FROM " BY_SOCKET JOIN_SOCKET) "peer"},
	[NT_BY_CGROUP] = {"cgroups", "Control groups by network CPU time", "",
			  "SELECT coalesce(g.label, '(unknown)') AS cgroup, " PROCESSES COSTS TASK HOW_SURE
			  "FROM " BY_PROCESS JOIN_SOCKET "LEFT JOIN cgroup AS g ON g.session_id = ?1 AND g.id = " CGROUP
			  "GROUP BY " CGROUP NOT_NOTHING DEAREST CGROUP},
	[NT_BY_SOCKET] = {"sockets", "Sockets by network CPU time",
			  "The process is the one that pays most for the socket.",
			  GROUPED("socket_id", "local, peer, proto, ", "upid", "process", "",
				  "SELECT " PROTO NT_SOCKET_ENDS_SQL
				  ", w.name AS name, c.upid AS upid, c.socket_id, " FIGURES
				  "FROM " BY_SOCKET JOIN_SOCKET) "socket_id"},
	[NT_BY_IFACE] = {"ifaces", "Interfaces by time of net_rx",
			 "An interface has the time of the packets that it received. `rest` is the payers other, "
			 "driver and unattributed; the last two have no interface.",
			 "SELECT coalesce(" NT_IFACE_SQL(
				 "v.") ", '(unknown)') AS iface, " RECEIVED ", " BY_PAYER "FROM " PAID_WITH_IFACE
				       "GROUP BY r.device_id ORDER BY total_ns DESC, packets_count DESC, iface"},
};

const struct nt_group_info *nt_group(enum nt_by by)
{
	return &groups[by];
}
