#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe deliver: packets, segments and bytes of each flow are those that the kernel's own counters of IP have, by
# protocol and by network namespace; each stretch is inside a run of NET_RX, and the first ones are as many as runs that
# have any; flows are those of the sockets that sent and received.
#
# apart flows: it asks for flows by their names, for which there is no room beside a flood of new ones
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

netns_of_b=$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)
messages=$(scaled 3000)

# counter FILE LINE NAME...: the sum of counters of b, by their names in the line of names
counter() {
    # shellcheck disable=SC2016  # awk expands it
    "${in_b[@]}" awk -v line="$2:" -v names=" ${*:3} " '
        $1 == line && !n { for (n = 2; n <= NF; n++) if (index(names, " " $n " ")) at[n]; next }
        $1 == line { for (i in at) sum += $i; print sum + 0 }' "/proc/net/$1"
}
# The counts of b's IP: packets, bytes, segments of the wire (a packet's are counted by its ECN field).
ipv4() {
    local segments=(InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts)
    echo "$(counter snmp Ip InReceives)|$(counter netstat IpExt InOctets)|$(counter netstat IpExt "${segments[@]}")"
}
# less "A|B|C" "A|B|C": the differences
less() { awk -F'|' -v a="$1" 'BEGIN { split(a, x) } { print $1 - x[1] "|" $2 - x[2] "|" $3 - x[3] }' <<<"$2"; }

# transfer PROTOCOL ADDRESS PORT COUNT SIZE: from a to b
transfer() {
    "${in_b[@]}" "$tools/messages" "$1-recv" "$2" "$3" "$4" "$5" 0 >"$work/received" &
    local receiver=$!
    keep $receiver
    sleep 0.3
    "${in_a[@]}" "$tools/messages" "$1-send" "$2" "$3" "$4" "$5" 50 >"$work/sent"
    wait $receiver
}

# The hosts' requests before their first packets (neighbours, routers) are over before counters are read.
transfer udp "$addr_b" 9101 5 100
has_v6=$("${in_a[@]}" "$tools/messages" udp-send "$addr6_b" 9102 5 100 50 >/dev/null 2>&1 && echo 1 || echo 0)
sleep 1
recording_start "$work/f.tape" --bpf-stats --probes default,deliver
before=$(ipv4) tcp=$(counter snmp Tcp InSegs)
fragments=$(counter snmp Ip ReasmReqds)
transfer udp "$addr_b" 9101 "$messages" 100
transfer tcp "$addr_b" 9103 "$messages" 20000
if [[ $has_v6 == 1 ]]; then
    transfer udp "$addr6_b" 9102 "$messages" 1000
    transfer tcp "$addr6_b" 9104 "$messages" 20000
fi
# Fragments, of which each is a packet. Nobody takes them, and the sender ends when it is told so.
"${in_a[@]}" "$tools/messages" udp-send "$addr_b" 9105 20 4000 50 >/dev/null 2>&1 || true
after=$(ipv4) tcp=$(($(counter snmp Tcp InSegs) - tcp))
fragments=$(($(counter snmp Ip ReasmReqds) - fragments))
recording_stop
db=$work/f.db
import_tape "$work/f.tape" "$db"
check_whole "$work/f.tape" "$db"

of_b="FROM rx_stretch AS r JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
    WHERE f.netns = $netns_of_b"
sums="sum(packets) || '|' || sum(bytes) || '|' || sum(segments)"
# A TCP that acknowledges late does so by a timer.
got=$(sql "$db" "SELECT $sums $of_b AND family = 'inet'")
counted=$(less "$before" "$after")
are_seen "packets of IPv4" "$db" "${got%%|*}" "${counted%%|*}"
[[ ${got%%|*} != "${counted%%|*}" ]] || is "IPv4: packets, bytes, segments" "$got" "$counted"
at_least "packets of IPv4" "$(sql "$db" "SELECT sum(packets) $of_b AND family = 'inet'")" "$messages"
is "datagrams to one port" "$(sql "$db" "SELECT sum(packets) $of_b AND proto = 'udp' AND dport = 9101 AND
    src = '$addr_a' AND dst = '$addr_b'")" "$messages"
is "fragments have no port" "$(sql "$db" "SELECT sum(packets) || '|' || count(sport) || '|' || count(dport) $of_b AND
    proto = 'udp' AND family = 'inet' AND dport IS NOT 9101")" "$fragments|0|0"
at_least "fragments, by /proc/net/snmp" "$fragments" 3
are_seen "packets of TCP, of both" "$db" "$(sql "$db" "SELECT sum(packets) $of_b AND proto = 'tcp'")" "$tcp"
if [[ $has_v6 == 1 ]]; then
    is "datagrams of IPv6" "$(sql "$db" "SELECT sum(packets) $of_b AND proto = 'udp' AND dport = 9102 AND
        src = '$addr6_a' AND dst = '$addr6_b'")" "$messages"
fi

# ---- where they are ----

sqlite3 "$db" "CREATE INDEX softirq_of ON softirq_slice(session_id, cpu, vec, ts)"
# Runs do not overlap, so only the last that began before a stretch can have it: to ask for any would go over all of
# them for each stretch. Slices end with the session; a stretch may be later. A busy poll of somebody else's
# delivers outside of runs.
sqlite3 "$db" "
    CREATE TABLE placed AS SELECT r.*, f.netns, (SELECT s.ts FROM softirq_slice AS s
        WHERE s.session_id = r.session_id AND s.cpu = r.cpu AND s.vec = 'NET_RX' AND s.ts < r.ts
        ORDER BY s.ts DESC LIMIT 1) AS run
    FROM rx_stretch AS r JOIN session USING (session_id)
        LEFT JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
    WHERE r.ts BETWEEN session.start_ts AND session.end_ts;
    CREATE TABLE inside AS SELECT p.*, s.ts IS NOT NULL AS is_inside FROM placed AS p
        LEFT JOIN softirq_slice AS s ON s.session_id = p.session_id AND s.cpu = p.cpu AND s.vec = 'NET_RX'
        AND s.ts = p.run AND p.ts <= s.ts + s.dur"
n_of_b() { sql "$db" "SELECT count(*) FROM inside WHERE netns = $netns_of_b AND $1"; }
is "stretches outside of runs" "$(n_of_b "NOT is_inside")" 0
at_least "stretches inside of runs" "$(n_of_b is_inside)" 100
is "runs without exactly one first stretch" "$(sql "$db" "SELECT count(*) FROM (SELECT sum(is_first) AS firsts
    FROM inside WHERE is_inside GROUP BY cpu, run HAVING firsts <> 1)")" 0
is "neighbours of one flow in one run" "$(sql "$db" "SELECT count(*) FROM (SELECT flow_id, is_first,
    lag(flow_id) OVER (PARTITION BY cpu ORDER BY ts) AS before FROM rx_stretch) WHERE NOT is_first AND
    flow_id = before")" 0
is "flows without a name" "$(sql "$db" "SELECT count(*) FROM rx_stretch AS r WHERE packets AND NOT EXISTS (
    SELECT 1 FROM flow AS f WHERE f.session_id = r.session_id AND f.id = r.flow_id)")" 0
at_least "flows of TCP that are a socket's" "$(sql "$db" "SELECT count(*) FROM flow AS f JOIN socket AS s ON
    s.session_id = f.session_id AND s.netns = f.netns AND s.proto = f.proto AND s.src = f.dst AND s.sport = f.dport AND
    s.dst = f.src AND s.dport = f.sport WHERE f.netns = $netns_of_b AND f.proto = 'tcp'")" 1
is "the mark's runs are all counted" "$(sql "$db" "SELECT sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) = sum(CASE
    WHEN name NOT IN ('runs', 'run_ns', 'misses') THEN value ELSE 0 END) FROM self_cost_last WHERE
    program = 'nt_netif_receive_skb'")" 1
sql "$db" "SELECT '# ' || proto || ' ' || ifnull(dst, '') || ': ' || count(*) || ' stretches, ' || sum(packets) ||
    ' packets, ' || sum(segments) || ' segments' $of_b GROUP BY proto, dst"
finish
