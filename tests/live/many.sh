#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# More new flows than a recording tells apart: packets of which each comes from another address. The tape grows little
# more than by a flood of one flow, and who receives them pays for all. Connections that begin meanwhile have their own
# flows.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

count=$(scaled 100000)
requests=$(scaled 2000)
visits=$(scaled 1000)
ip -n "$netns_b" route add 10.0.0.0/8 via "$addr_a"
mkfifo "$work/input"
exec 9<>"$work/input"
# receiver NAME PORT [COUNT]: in b, until it is ready. $receiver is its number.
receiver() {
    "${in_b[@]}" "$tools/payers" "$1" 0.0.0.0 "$2" "${3:-0}" <"$work/input" >"$work/$1" 9>&- &
    receiver=$!
    keep $receiver
    wait_for 20 grep -q ready "$work/$1"
}
# to_b WHAT PORT COUNT
to_b() { "${in_a[@]}" "$tools/payers" "$1" "$addr_b" "$2" "$3"; }
# size TAPE: of its chunks, in bytes
size() { cat "$1"/*.ntc | wc -c; }

receiver hold 9500 && holder=$receiver
drops=
if command -v nft >/dev/null && "${in_b[@]}" nft -f - 2>"$work/refusal" <<<"table ip filter {
    chain in { type filter hook input priority 0; udp dport 9502 ip saddr & 0.0.0.1 == 0.0.0.1 drop; }; }"; then
    drops=yes
    receiver hold 9502
fi
receiver answer 9601 "$requests" && answerer=$receiver
receiver serve 9602 "$visits" && server=$receiver

recording_start "$work/one.tape"
to_b shout 9500 "$count"
recording_stop
recording_start "$work/many.tape"
to_b pose 9500 "$count"
recording_stop
# An emulated guest sends too few: the flows that are told are a fifth of them.
[[ -n ${NT_EMULATED:-} ]] || bar_at_most "tape of many flows, by one of one flow" \
    "$(awk -v many="$(size "$work/many.tape")" -v one="$(size "$work/one.tape")" 'BEGIN { print many / one }')" 1.5

recording_start "$work/mixed.tape"
# A socket gets every second packet of many flows: so none of their time is its own for certain.
if [[ $drops ]]; then
    to_b pose 9502 "$count"
fi
to_b pose 0 "$count"
to_b pose 9500 1000000000 &
flood=$!
keep $flood
sleep 0.2
to_b ask 9601 "$requests"
to_b visit 9602 "$visits"
kill $flood
recording_stop

db=
# paid CONDITION: packets, and what of their time is not exact. Ports of rows of several flows are their socket's.
paid() {
    sql "$db" "SELECT ifnull(sum(packets), 0) || ' ' || ifnull(sum(most_ns - exact_ns), 0) FROM (
            SELECT r.*, p.pid, f.src, ifnull(f.sport, k.dport) AS sport, ifnull(f.dport, k.sport) AS dport
            FROM rx_cost AS r LEFT JOIN process AS p ON p.session_id = r.session_id AND p.upid = r.upid
            LEFT JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
            LEFT JOIN socket AS k ON k.session_id = r.session_id AND k.id = r.socket_id) WHERE $1"
}
packets() { local both=$(paid "$1") && echo "${both% *}"; }
# told_apart WHAT: of new flows no more than a CPU may tell in each of its seconds, which are 2^30 ns
told_apart() {
    local told bound
    told=$(sql "$db" "SELECT count(*) FROM flow WHERE proto = 'udp' AND src IS NOT NULL")
    bound=$(sql "$db" "SELECT (dur / (1 << 30) + 2) * 1024 * (SELECT count(DISTINCT cpu) FROM rx_stretch) FROM session")
    at_most "$1: flows told apart" "$told" "$bound"
    at_least "$1: packets of others" "$(packets "src IS NULL AND payer <> 'unattributed'")" $((count - bound))
    "$report" info "$work/$1.tape" | tr -s ' \n' ' ' >"$work/info"
    is "$1: info says so" "$(grep -c "are of more flows than are told apart" "$work/info")" 1
}

for name in many mixed; do
    db=$work/$name.db
    import_tape "$work/$name.tape" "$db"
    check_whole "$work/$name.tape" "$db"
    told_apart $name
done
db=$work/many.db
come=$(sql "$db" "SELECT sum(packets) FROM rx_stretch AS r JOIN flow AS f ON f.id = r.flow_id WHERE dport = 9500")
at_least "packets to the port" "$come" $((count * 9 / 10))
is "who receives them" "$(paid "pid = $holder")" "$come 0"
db=$work/mixed.db
if [[ $drops ]]; then
    partly=$(sql "$db" "SELECT sum(packets > 0) || ' ' || sum(exact_ns) FROM rx_cost AS r JOIN flow AS f ON
        f.id = r.flow_id WHERE dport = 9502 AND src IS NULL AND payer = 'socket'")
    at_least "a port of which half is dropped: rows of many flows" "${partly% *}" 1
    is "their exact time" "${partly#* }" 0
else
    echo "# no packets dropped on the way: $(head -1 "$work/refusal" 2>/dev/null)"
fi
at_least "to closed ports" "$(packets "payer = 'dropped'")" $((count * 9 / 10))
told=$(paid "pid = $answerer AND src IS NOT NULL")
at_least "a connection that began meanwhile is told apart" "${told% *}" "$requests"
is "exactly" "${told#* }" 0
at_least "so are its answers" "$(packets "sport = 9601 AND src IS NOT NULL")" "$requests"
at_least "a thousand of one request" "$(packets "pid = $server AND src IS NOT NULL")" $((2 * visits))
is "the rest pays the same" "$(packets "pid = $server")" "$(packets "dport = 9602")"
finish
