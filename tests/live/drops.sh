#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probes drops and retransmits: as many datagrams without a socket as /proc/net/snmp counts, with the kernel's reason
# and a place in its code; as many segments sent again as it counts, for a connection that nobody answers.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

nobody=198.18.0.77
netns_of_a=$("${in_a[@]}" stat -Lc %i /proc/self/ns/net)
netns_of_b=$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)

# snmp WHERE PROTOCOL NAME: a counter of a namespace, by its name in the line of names
snmp() {
    local -n run=$1
    "${run[@]}" awk -v protocol="$2:" -v name="$3" '
        $1 == protocol && !at { for (i = 2; i <= NF; i++) if ($i == name) at = i; next }
        $1 == protocol { print $at }' /proc/net/snmp
}

# A neighbour that is told of and not there: what is sent to it arrives in b, and is nobody's.
ip -n "$netns_a" neigh add "$nobody" lladdr 02:00:00:00:00:77 dev veth0
no_ports=$(snmp in_b Udp NoPorts)
again=$(snmp in_a Tcp RetransSegs)
recording_start "$work/d.tape" --bpf-stats --probes drops,retransmits
"${in_a[@]}" "$tools/messages" udp-send "$addr_b" 9099 200 100 1000 >/dev/null || true
# shellcheck disable=SC2016
"${in_a[@]}" timeout 4 bash -c 'exec 3<>/dev/tcp/$0/9' "$nobody" 2>/dev/null || true
recording_stop
no_ports=$(($(snmp in_b Udp NoPorts) - no_ports))
again=$(($(snmp in_a Tcp RetransSegs) - again))
db=$work/d.db
import_tape "$work/d.tape" "$db"
check_whole "$work/d.tape" "$db"

at_least "datagrams without a socket, by /proc/net/snmp" "$no_ports" 10
is "drops for that reason, of IPv4, at that device" \
    "$(sql "$db" "SELECT count(*) FROM skb_drop s JOIN net_device d ON d.id = s.device_id
    WHERE reason = 'NO_SOCKET' AND d.netns = $netns_of_b AND d.name = 'veth0' AND protocol = 2048")" "$no_ports"
is "of these, in a function that is about UDP" \
    "$(sql "$db" "SELECT count(*) FROM skb_drop s JOIN net_device d ON d.id = s.device_id
    WHERE reason = 'NO_SOCKET' AND d.netns = $netns_of_b AND location GLOB '*udp*+0x*'")" "$no_ports"
of_ours="FROM skb_drop s JOIN net_device d ON d.id = s.device_id WHERE d.netns IN ($netns_of_a, $netns_of_b)"
is "drops here without a place" "$(sql "$db" "SELECT count(*) $of_ours AND location NOT GLOB '?*+0x*'")" 0
is "drops here whose reason has no name" "$(sql "$db" "SELECT count(*) $of_ours AND reason NOT GLOB '[A-Z]*'")" 0
at_least "segments sent again, by /proc/net/snmp" "$again" 1
is "segments sent again" "$(sql "$db" "SELECT count(*) FROM tcp_retransmit r JOIN socket s ON s.id = r.socket_id
    WHERE s.netns = $netns_of_a AND s.dport = 9 AND what = 'data'")" "$again"
is "programs whose runs do not add up" "$(sql "$db" "SELECT count(*) FROM (
    SELECT program FROM self_cost_last WHERE program IN ('nt_kfree_skb', 'nt_tcp_retransmit_skb',
        'nt_tcp_retransmit_synack')
    GROUP BY 1 HAVING sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) <>
                      sum(CASE WHEN name NOT IN ('runs', 'run_ns', 'misses') THEN value ELSE 0 END))")" 0
sql "$db" "SELECT '# ' || count(*) || ' ' || reason || ' at ' || location FROM skb_drop GROUP BY reason, location"
sql "$db" "SELECT '# ' || what || ', ' || state || ', ' || length FROM tcp_retransmit"
finish
