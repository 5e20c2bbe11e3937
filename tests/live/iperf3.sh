#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# iperf3 over UDP, 20,000 packets or more at a fixed rate: as many sends on its data socket as iperf3 reports, and as
# many receives as the kernel reports (InDatagrams). Over TCP: the bytes that iperf3 reports.
#
# Since 3.16, iperf3 has a thread for each stream. Its sender looks only now and then whether it has sent what it was
# asked for, and sends more: 25,001 here. Its receiver may still read a packet or two that are not counted, since the
# test is over.
#
# Before its data, iperf3's client sends one datagram of 4 bytes on the data socket, and the server answers it.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
command -v iperf3 >/dev/null || skip "iperf3 is not installed"

size=200
"${in_b[@]}" iperf3 -s -B "$addr_b" >"$work/server.log" 2>&1 &
keep $!
# shellcheck disable=SC2317  # called by wait_for
listening() { "${in_b[@]}" ss -tln | grep :5201 >/dev/null; }
wait_for 10 listening || skip "iperf3's server does not listen: $(tail -1 "$work/server.log")"

# record_traffic: the recording, the reports, and how many datagrams came meanwhile
record_traffic() {
    local before failed=0
    before=$(datagrams_in)
    recording_start "$work/i.tape"
    { "${in_a[@]}" iperf3 -c "$addr_b" -u -k 20000 -l $size -b 20M --json >"$work/udp.json" &&
        "${in_a[@]}" iperf3 -c "$addr_b" -n 200M --json >"$work/tcp.json"; } || failed=1
    recording_stop || bad "the recorder's exit status: $recorder_status"
    came=$(($(datagrams_in) - before))
    ((!failed))
}
# On a full host iperf3 was seen to lose its connection to the server. Then the traffic is made and recorded anew: so
# the tape holds what the reports tell of, and nothing else.
record_traffic || {
    echo "# iperf3 failed: $(cat "$work"/{udp,tcp}.json 2>/dev/null | grep '"error"')"
    sleep 2
    record_traffic || bad "iperf3 failed twice: $(cat "$work"/{udp,tcp}.json 2>/dev/null | grep '"error"')"
}
db=$work/i.db
import_tape "$work/i.tape" "$db"
check_whole "$work/i.tape" "$db"

# The sockets of this test alone, by their network namespaces.
ours=$("${in_a[@]}" stat -Lc %i /proc/self/ns/net),$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)
# said FILE PATH: a number of iperf3's report
said() { sqlite3 -batch -noheader :memory: "SELECT json_extract(readfile('$1'), '$2')"; }
packets=$(said "$work/udp.json" '$.end.sum.packets')
# Up to the highest number that the server saw: when told of the end it leaves unread what still waits in its socket.
seen=$(said "$work/udp.json" '$.end.sum_received.packets')
lost=$(said "$work/udp.json" '$.end.sum_received.lost_packets')
at_least "packets that iperf3 sent" "$packets" 20000
ops() {
    sql "$db" "
        SELECT count(*) FROM sock_op o JOIN socket s ON s.session_id = o.session_id AND s.id = o.socket_id
        WHERE s.netns IN ($ours) AND s.proto = 'udp' AND (s.dport = 5201 OR s.sport = 5201) AND $1"
}
is "sends of that size" "$(ops "op = 'send' AND result = 'ok' AND bytes = $size")" "$packets"
receives=$(ops "op = 'recv' AND result = 'ok' AND bytes = $size")
# Of the namespace, which has no other UDP; but for the greeting.
is "receives of that size" "$receives" $((came - 1))
at_least "receives of that size, and those that iperf3 counted" "$receives" $((seen - lost))
is "other sends: the greeting and its answer" "$(ops "op = 'send' AND bytes IS NOT $size")" 2
is "other receives that got something" "$(ops "op = 'recv' AND bytes > 0 AND bytes <> $size")" 2
is "operations without a begin" "$(ops "dur IS NULL")" 0

tcp_bytes=$(said "$work/tcp.json" '$.end.sum_sent.bytes')
received=$(said "$work/tcp.json" '$.end.sum_received.bytes')
# The data connection is the one with the most bytes. Its client also sends a cookie of 37 bytes first.
tcp() {
    sql "$db" "
        SELECT max(bytes) FROM (SELECT sum(o.bytes) AS bytes FROM sock_op o JOIN socket s
        ON s.session_id = o.session_id AND s.id = o.socket_id
        WHERE s.netns IN ($ours) AND s.proto = 'tcp' AND o.op = '$1' AND instr(o.flags, 'peek') = 0
            GROUP BY o.socket_id)"
}
is "bytes sent over TCP, less the cookie" "$(($(tcp send) - 37))" "$tcp_bytes"
is "bytes received over TCP, less the cookie" "$(($(tcp recv) - 37))" "$received"
finish
