#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# XDP drops 40 packets before each one that the stack gets. Their time is the driver's. It is not that of the packet
# that comes next, nor of the one before: these cost no more than apart from it. Where a poll gives the stack several
# lists, the driver works in between, and nothing of that is exact.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

count=$(scaled 5000)
cpu=$(($(nproc) - 1)) # that sends, and receives
device=/sys/class/net/veth0
mkfifo "$work/input"
exec 9<>"$work/input"
"${in_b[@]}" "$tools/payers" hold 0.0.0.0 9600 <"$work/input" >"$work/held" 9>&- &
holder=$!
keep $holder
wait_for 20 grep -q ready "$work/held"
"${in_b[@]}" "$tools/sieve" veth0 500 2>"$work/refusal" || skip "$(head -1 "$work/refusal")"
# As with the interrupt moderation of network cards: so a poll has many packets.
# shellcheck disable=SC2016
"${in_b[@]}" sh -c 'echo 1000000 >"$0/napi_defer_hard_irqs" && echo 200000 >"$0/gro_flush_timeout"' "$device" ||
    skip "this kernel does not let interrupts be deferred"

send=("${in_a[@]}" taskset -c "$cpu")
buried() { "${send[@]}" "$tools/payers" bury "$addr_b" 9600 "$count"; }
# No longer frames, and as many as go: polls have far more than a list.
dense() { "${send[@]}" "$tools/payers" shout "$addr_b" 9600 "$((4 * count))"; }
# As many are dropped, and caches are as cold, but each packet that gets through has a poll of its own.
apart() { "${send[@]}" "$tools/payers" apart "$addr_b" 9600 600; }
# charge NAME: the sums of that traffic's charges by payer, as PAYER_ns, PAYER_exact and PAYER_packets
charge() {
    local name=$1 payer
    recording_start "$work/$name.tape"
    "$name"
    recording_stop
    import_tape "$work/$name.tape" "$work/$name.db"
    check_whole "$work/$name.tape" "$work/$name.db"
    for payer in driver socket other unattributed; do
        read -r "${payer}_ns" "${payer}_exact" "${payer}_packets" < <(sql "$work/$name.db" \
            "SELECT ifnull(sum(spent_ns), 0) || ' ' || ifnull(sum(exact_ns), 0) || ' ' || ifnull(sum(packets), 0)
            FROM rx_cost LEFT JOIN flow AS f ON f.id = flow_id
            WHERE payer = '$payer' AND (payer <> 'socket' OR dport = 9600)")
    done
    echo "# $name: driver $driver_ns ns, exactly $driver_exact; $socket_packets packets $socket_ns ns," \
        "exactly $socket_exact; nobody $((other_ns + unattributed_ns)) ns"
}
# percent A B
percent() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", 100 * a / (b + 0.1) }'; }

# The neighbour is learned of first.
is_known() { ip -n "$netns_a" neigh show to "$addr_b" | grep lladdr; }
"${send[@]}" "$tools/payers" shout "$addr_b" 9600 1
wait_for 20 is_known || bad "a does not learn of b"
charge buried
at_least "packets that got through, of $count" "$socket_packets" $((count * 9 / 10))
at_least "the driver's time, in % of theirs" "$(percent "$driver_ns" "$socket_ns")" 100
bar_at_most "what is nobody's, in % of all" \
    "$(percent $((other_ns + unattributed_ns)) $((driver_ns + socket_ns + other_ns + unattributed_ns)))" 5
"$report" summary "$work/buried.tape" >"$work/summary"
is "summary names the driver" "$(grep -c '^driver ' "$work/summary")" 1

# An emulated CPU has other costs, and too few packets in a poll.
if [[ -z ${NT_EMULATED:-} ]]; then
    bar_at_least "exactly known of the driver's time, in %" "$(percent "$driver_exact" "$driver_ns")" 90
    bar_at_least "and of the packets'" "$(percent "$socket_exact" "$socket_ns")" 90
    # Twice more, if need be: others on the host may take a round's time.
    for _ in 1 2 3; do
        buried_ns=$((socket_ns / socket_packets))
        charge apart
        apart_ns=$((socket_ns / socket_packets))
        ((buried_ns * 10 > apart_ns * 11)) || break
        charge buried
    done
    at_least "packets apart" "$socket_packets" 100
    bar_at_most "ns each, where those apart take $apart_ns" "$buried_ns" $((apart_ns * 11 / 10))
    charge dense
    bar_at_most "exactly known of packets' time in many lists, in %" "$(percent "$socket_exact" "$socket_ns")" 20
fi
exec 9>&-
wait "$holder"
finish
