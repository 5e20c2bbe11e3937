#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sockets that nobody uses: those that were there before the recording are known with the process that holds them, those
# that were made meanwhile, too, and these processes pay for what comes: for a flood that nobody reads, for the
# handshakes of a listener that accepts none, and for those of a server with one request a connection.
#
# apart flows: its connections are many, and it asks for sockets by the names of their flows
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

datagrams=$(scaled 5000)
knocks=$(scaled 500)
visits=$(scaled 1000)

# in_the_background NAMESPACE COMMAND...: until it is ready. Its input is held open by descriptor 9; $who is its number.
in_the_background() {
    local -n namespace=$1
    shift
    rm -f "$work/said"
    "${namespace[@]}" "$tools/payers" "$@" <"$work/input" >"$work/said" 9>&- &
    who=$!
    keep $who
    wait_for 20 grep -q ready "$work/said"
}
flood() { "${in_a[@]}" "$tools/messages" udp-send "$addr_b" "$1" "$datagrams" 200 0 >/dev/null; }

mkfifo "$work/input"
exec 9<>"$work/input"
in_the_background in_b hold "$addr_b" 9401
holder=$who
in_the_background in_b listen "$addr_b" 9402
listener=$who
in_the_background in_a stay "$addr_b" 9402
guest=$who
# Once before: the first packets ask for the other's address.
"${in_a[@]}" "$tools/messages" udp-send "$addr_b" 9401 1 200 0 >/dev/null

recording_start "$work/h.tape" --bpf-stats --probes default,deliver
flood 9401
"${in_a[@]}" "$tools/payers" knock "$addr_b" 9402 "$knocks" &
knocker=$!
wait $knocker
in_the_background in_b hold "$addr_b" 9403
late_holder=$who
flood 9403
in_the_background in_b listen "$addr_b" 9404
late_listener=$who
"${in_a[@]}" "$tools/payers" knock "$addr_b" 9404 "$knocks"
in_the_background in_b serve "$addr_b" 9405 "$visits"
server=$who
"${in_a[@]}" "$tools/payers" visit "$addr_b" 9405 "$visits" &
visitor=$!
wait $visitor
recording_stop
exec 9>&-
db=$work/h.db
import_tape "$work/h.tape" "$db"
check_whole "$work/h.tape" "$db"

# ---- who they are ----

# holder_of PORT PEER_PORT: pids of the processes that hold sockets with these ports
holder_of() {
    sql "$db" "SELECT p.pid FROM socket AS k LEFT JOIN process AS p USING (session_id, upid)
        WHERE k.sport = $1 AND ifnull(k.dport, 0) = $2"
}
is "of the socket for datagrams, the holder" "$(holder_of 9401 0)" "$holder"
is "of the listener" "$(holder_of 9402 0)" "$listener"
is "of the one that came later" "$(holder_of 9403 0)" "$late_holder"
is "of the listener that came later" "$(holder_of 9404 0)" "$late_listener"
is "of an idle connection" "$(sql "$db" "SELECT count(*) FROM socket AS k JOIN process AS p USING (session_id, upid)
    WHERE k.dport = 9402 AND p.pid = $guest")" 1
is "of those that knock" "$(sql "$db" "SELECT count(*) FROM socket AS k JOIN process AS p USING (session_id, upid)
    WHERE k.dport = 9402 AND p.pid = $knocker")" "$knocks"
is "operations on these" "$(sql "$db" "SELECT count(*) FROM sock_op AS o JOIN socket AS k ON
    k.session_id = o.session_id AND k.id = o.socket_id WHERE k.sport BETWEEN 9401 AND 9404 OR k.dport = 9402")" 0
# The kernel keeps no cgroup of version 1 with a socket.
theirs=p.cgroup_id
"$report" info "$work/h.tape" >"$work/info"
! grep -q "Cgroups are those of the controller" "$work/info" || theirs=NULL
is "sockets with another cgroup than their process" "$(sql "$db" "SELECT count(*) FROM socket AS k JOIN process AS p
    USING (session_id, upid) WHERE k.sport BETWEEN 9401 AND 9404 AND k.cgroup_id IS NOT $theirs")" 0

# ---- who pays ----

# Of this test's namespaces: others beside it send from any port.
ours=$("${in_a[@]}" stat -Lc %i /proc/self/ns/net),$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)
# paid_by CONDITION ON FLOWS: pid and packets of each payer. Of so many flows in 100 ms those that cost least have no
# row of their own: their socket tells the ports.
paid_by() {
    sql "$db" "SELECT ifnull(p.pid, payer) || ' ' || sum(packets) FROM (SELECT r.*, ifnull(t.proto, k.proto) AS proto,
            ifnull(t.sport, k.dport) AS sport, ifnull(t.dport, k.sport) AS dport,
            ifnull(t.netns, k.netns) AS netns FROM rx_cost AS r
            LEFT JOIN flow AS t ON t.session_id = r.session_id AND t.id = r.flow_id
            LEFT JOIN socket AS k ON k.session_id = r.session_id AND k.id = r.socket_id) AS f
        LEFT JOIN process AS p USING (session_id, upid)
        WHERE netns IN ($ours) AND $1 GROUP BY payer, upid ORDER BY sum(packets) DESC"
}
# packets_of CONDITION ON FLOWS
packets_of() {
    sql "$db" "SELECT sum(packets) FROM rx_stretch AS r JOIN flow AS f ON f.session_id = r.session_id AND
        f.id = r.flow_id WHERE netns IN ($ours) AND $1"
}
is "a flood that nobody reads" "$(paid_by "f.proto = 'udp' AND f.dport = 9401")" "$holder $datagrams"
is "one to a socket that came later" "$(paid_by "f.proto = 'udp' AND f.dport = 9403")" "$late_holder $datagrams"
to_listener="f.proto = 'tcp' AND f.dport = 9402"
from_listener="f.proto = 'tcp' AND f.sport = 9402"
is "handshakes of a listener" "$(paid_by "$to_listener")" "$listener $(packets_of "$to_listener")"
is "of one that came later" "$(paid_by "f.proto = 'tcp' AND f.dport = 9404")" \
    "$late_listener $(packets_of "f.proto = 'tcp' AND f.dport = 9404")"
is "answers to those that knock" "$(paid_by "$from_listener")" \
    "$knocker $(packets_of "$from_listener")"
at_least "packets of handshakes" "$(packets_of "$to_listener")" $((2 * knocks))
is "one request a connection, to the server" "$(paid_by "f.dport = 9405")" "$server $(packets_of 'f.dport = 9405')"
is "and back" "$(paid_by "f.sport = 9405")" "$visitor $(packets_of 'f.sport = 9405')"
sql "$db" "SELECT '# ' || name || ' ' || value FROM self_cost_last WHERE program = 'nt_inet_sock_set_state' AND value"
finish
