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

#define NT_PORT_OF_BOTH_SQL                                                                                            \
	"CASE WHEN b.sport IS NULL OR b.dport IS NULL THEN coalesce(b.sport, b.dport) "                                \
	"WHEN min(b.sport, b.dport) < 32768 OR own.n = far.n THEN min(b.sport, b.dport) "                              \
	"WHEN own.n > far.n THEN b.sport ELSE b.dport END"

/* id of a socket that has one, its proto and port, and which side has it: 'local' or 'peer'. ?1 is the session. */
#define NT_PORT_OF_SOCKETS_SQL                                                                                         \
	"(WITH both AS (SELECT id, proto, sport, nullif(dport, 0) AS dport FROM socket WHERE session_id = ?1 "         \
	"AND proto IN ('tcp', 'udp', 'udplite', 'sctp', 'dccp', 'mptcp')), "                                           \
	"used AS (SELECT proto, port, count(*) AS n FROM (SELECT proto, sport AS port FROM both "                      \
	"UNION ALL SELECT proto, dport FROM both) GROUP BY proto, port) "                                              \
	"SELECT id, proto, port, CASE port WHEN sport THEN 'local' ELSE 'peer' END AS side FROM ("                     \
	"SELECT b.id AS id, b.proto AS proto, b.sport AS sport, " NT_PORT_OF_BOTH_SQL " AS port FROM both AS b "       \
	"LEFT JOIN used AS own ON own.proto = b.proto AND own.port = b.sport "                                         \
	"LEFT JOIN used AS far ON far.proto = b.proto AND far.port = b.dport) WHERE port IS NOT NULL) AS s "
