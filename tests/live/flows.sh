#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe flows: three flows of known size, beside a flood in which each packet comes from another address. The three are
# named, with their packets and bytes about their bounds; so are their source, and the flood's destination, though
# nobody could name its flows. The totals by device are the kernel's own counters. What a second takes on the tape is
# bounded. Without a flood, each packet is counted, also by a recording of that probe alone.
#
# apart flows: its flood leaves others no room, and another one would be part of its own
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

sizes=("$(scaled 80000)" "$(scaled 40000)" "$(scaled 20000)")
db=$work/flows.db
link_of() { ip -n "$1" -o link show type veth | sed -n '1s/^[0-9]*: \([^@:]*\).*/\1/p'; }
link_a=$(link_of "$netns_a") link_b=$(link_of "$netns_b")
# Nothing is sent but what is asked for: no ARP either, which may come between a counter and another.
ip -n "$netns_a" neigh replace "$addr_b" lladdr "$("${in_b[@]}" cat "/sys/class/net/$link_b/address")" \
    nud permanent dev "$link_a"
ip -n "$netns_b" neigh replace "$addr_a" lladdr "$("${in_a[@]}" cat "/sys/class/net/$link_a/address")" \
    nud permanent dev "$link_b"
"${in_a[@]}" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
"${in_b[@]}" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
# sent WHAT: the kernel's counter of the device in a
sent() { "${in_a[@]}" cat "/sys/class/net/$link_a/statistics/tx_$1"; }

packets=$(sent packets) bytes=$(sent bytes) received=$(net_count in_b Ip InReceives)
recording_start "$work/flows.tape" --probes default,flows --flows src,dst,port
"${in_a[@]}" "$tools/payers" pose "$addr_b" 9500 1000000000 &
flood=$!
keep $flood
shouters=()
for i in 0 1 2; do
    "${in_a[@]}" "$tools/payers" shout "$addr_b" $((9601 + i)) "${sizes[i]}" &
    shouters+=($!)
done
wait "${shouters[@]}"
kill $flood
wait $flood || true
recording_stop
packets=$(($(sent packets) - packets)) bytes=$(($(sent bytes) - bytes))
received=$(($(net_count in_b Ip InReceives) - received))
succeeds "check" "$report" check "$work/flows.tape"
import_tape "$work/flows.tape" "$db"

of_link="device_id = (SELECT d.id FROM net_device AS d WHERE name = '$link_a' AND netns = $("${in_a[@]}" stat -Lc %i \
    /proc/self/ns/net))"
total() { sql "$db" "SELECT total($1) FROM flow_total WHERE $2" | cut -d. -f1; }
is "packets that the device sent" "$(total buffers "$of_link AND direction = 'send'")" "$packets"
is "bytes that the device sent" "$(total bytes "$of_link AND direction = 'send'")" "$bytes"
# Packets of the link to IP; its own, ARP, are a few.
arrived="direction = 'recv' AND device_id IN (SELECT id FROM net_device WHERE netns = $("${in_b[@]}" stat -Lc %i \
    /proc/self/ns/net))"
at_least "packets that b received" "$(total packets "$arrived")" "$received"
at_most "packets that b received" "$(total packets "$arrived")" $((received + 20))

# Bounds hold for 99 of 100: so a miss says something only beyond the same again.
for i in 0 1 2; do
    of_flow="FROM flow_sum JOIN flow ON id = flow_id
        WHERE $of_link AND direction = 'send' AND dport = $((9601 + i)) AND src = '$addr_a'"
    read -r low most high < <(sql "$db" "SELECT packets_low || ' ' || packets || ' ' || packets_high $of_flow")
    echo "# of ${sizes[i]} packets: $most, $low to $high"
    at_least "bounds of flow $i reach down to it" "${sizes[i]}" $((low - (high - low)))
    at_most "bounds of flow $i reach up to it" "${sizes[i]}" $((high + (high - low)))
    read -r low high < <(sql "$db" "SELECT bytes_low || ' ' || bytes_high $of_flow")
    at_least "bounds of its bytes" $((sizes[i] * 242)) $((low - (high - low)))
    at_most "bounds of its bytes" $((sizes[i] * 242)) $((high + (high - low)))
done
# Other tests' devices may have the same name.
is "the flows in their order" "$("$report" top "$work/flows.tape" -i "$link_a" --csv |
    awk -F, '$2 == "flows" && $4 == "destination" && $5 ~ /:960[123]$/ { print $5 }' | xargs)" \
    "$addr_b:9601 $addr_b:9602 $addr_b:9603"
# sum_of KEY CONDITION: packets_low packets_high, of what a sends
sum_of() {
    sql "$db" "SELECT packets_low || ' ' || packets_high FROM flow_sum AS s JOIN flow ON id = flow_id
        WHERE s.counted_by = '$1' AND $of_link AND direction = 'send' AND $2"
}
# has_bounds WHAT COUNT LOW HIGH
has_bounds() {
    echo "# $1: $2 packets, $3 to $4"
    at_least "bounds of $1 reach down to it" "$2" $(($3 - ($4 - $3)))
    at_most "bounds of $1 reach up to it" "$2" $(($4 + ($4 - $3)))
}
flows=$((sizes[0] + sizes[1] + sizes[2]))
read -r low high < <(sum_of src "src = '$addr_a'")
has_bounds "their source" "$flows" "$low" "$high"
read -r low high < <(sum_of port "dport = 9602")
has_bounds "their port" "${sizes[1]}" "$low" "$high"
read -r low high < <(sum_of dst "dst = '$addr_b'")
has_bounds "the destination of the flood" "$packets" "$low" "$high"
at_least "ports in top, with bounds" "$("$report" top "$work/flows.tape" --by port --csv |
    awk -F, '$4 == "port" { port = $5 } $4 == "packets_high_count" && port ~ /^960[123]\/udp$/' | wc -l)" 3
# However fast the traffic was.
half=$(sql "$db" "SELECT dur / 2 FROM session")ns
"$report" top "$work/flows.tape" --by port --from "$half" --json >"$work/of_tape"
"$report" top "$db" --by port --from "$half" --json >"$work/of_db"
succeeds "a part of the tape shows what one of its database does" cmp "$work/of_tape" "$work/of_db"
at_least "their receivers pay by the same flows" "$(sql "$db" "SELECT count(DISTINCT flow_id) FROM flow_estimate
    WHERE flow_id IN (SELECT flow_id FROM rx_cost) AND dport BETWEEN 9601 AND 9603")" 1

read -r seconds samples < <(sql "$db" "SELECT count(*) || ' ' || sum(samples) FROM flow_sketch
    WHERE counted_by = 'flow'")
at_least "samples of the flood" "$samples" $((packets / 50))
at_most "flows named in a second" "$(sql "$db" "SELECT max(flows) FROM flow_sketch")" 256
at_most "cells in a second" "$(sql "$db" "SELECT max(cells) FROM flow_sketch")" 2048
is "flows and cells of all seconds" "$(sql "$db" "SELECT sum(flows) || ' ' || sum(cells) FROM flow_sketch")" \
    "$(sql "$db" "SELECT (SELECT count(*) FROM flow_count) || ' ' || (SELECT count(*) FROM flow_cell)")"
echo "# $packets packets sent in $seconds seconds, $samples samples"

recording_start "$work/exact.tape" --probes flows --flows exact,port
for i in 0 1 2; do
    "${in_a[@]}" "$tools/payers" shout "$addr_b" $((9601 + i)) $((1000 + i))
done
recording_stop
exact() { "$report" query "$work/exact.tape" --csv "$1" | sed 1d | xargs; }
of_ports="FROM flow_sum JOIN flow ON id = flow_id WHERE $of_link AND direction = 'send' AND dport BETWEEN 9601 AND 9603"
is "bounds that do not have their flow's packets" "$(exact "SELECT count(*) $of_ports
    AND dport - 9601 + 1000 NOT BETWEEN packets_low AND packets_high")" 0
# The flows of a test beside this one may fill the places.
if [[ $(exact "SELECT max(unnamed) FROM flow_sketch") == 0 ]]; then
    is "each packet" "$(exact "SELECT flow.counted_by, dport, packets, packets_low, packets_high $of_ports
        ORDER BY 1, 2")" \
        "flow,9601,1000,1000,1000 flow,9602,1001,1001,1001 flow,9603,1002,1002,1002 $(
            )port,9601,1000,1000,1000 port,9602,1001,1001,1001 port,9603,1002,1002,1002"
fi
finish
