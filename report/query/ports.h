/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ports.h - the port of the service that a socket belongs to, in SQL, for every command that has --by port.
 *
 * Clients take theirs from 32768 on (net.ipv4.ip_local_port_range, unless it was changed), so it is the lower of both
 * ports; where both are from 32768 on it is the one that more sockets of the session have.
 */
#pragma once

#define NT_PORT_NOTE                                                                                                   \
	"The port is the service's: the lower of a connection's two ports or, where both are 32768 or above, the one " \
	"that more sockets of the recording have."

/*
 * id of a socket that has one, its proto and port, and which side has it: 'local' or 'peer'. ?1 is the session.
 * Sockets are counted, by a window, only for the ports of connections that have no lower one: there are few of these.
 * (For a join of sockets with counts, SQLite may scan the counts for each socket.)
 */
#define NT_PORT_OF_SOCKETS_SQL                                                                                         \
	"(WITH both AS (SELECT id, proto, sport, nullif(dport, 0) AS dport FROM socket WHERE session_id = ?1 "         \
	"AND proto IN ('tcp', 'udp', 'udplite', 'sctp', 'dccp', 'mptcp')), "                                           \
	"high AS (SELECT * FROM both WHERE min(sport, dport) >= 32768), "                                              \
	"used AS (SELECT *, count(*) OVER (PARTITION BY proto, port) AS n FROM ("                                      \
	"SELECT id, proto, sport AS port, 1 AS is_own FROM both UNION ALL SELECT id, proto, dport, 0 FROM both) "      \
	"WHERE port IN (SELECT sport FROM high UNION SELECT dport FROM high)), "                                       \
	"pair AS (SELECT id, proto, max(CASE WHEN is_own THEN port END) AS sport, max(CASE WHEN is_own THEN n END) "   \
	"AS own_n, max(CASE WHEN NOT is_own THEN port END) AS dport, max(CASE WHEN NOT is_own THEN n END) AS far_n "   \
	"FROM used WHERE id IN (SELECT id FROM high) GROUP BY id, proto), "                                            \
	"found AS (SELECT id, proto, sport, CASE WHEN own_n > far_n THEN sport WHEN own_n < far_n THEN dport "         \
	"ELSE min(sport, dport) END AS port FROM pair UNION ALL "                                                      \
	"SELECT id, proto, sport, coalesce(min(sport, dport), sport, dport) FROM both "                                \
	"WHERE ifnull(min(sport, dport) < 32768, 1)) "                                                                 \
	"SELECT id, proto, port, CASE port WHEN sport THEN 'local' ELSE 'peer' END AS side FROM found "                \
	"WHERE port IS NOT NULL) AS s "
