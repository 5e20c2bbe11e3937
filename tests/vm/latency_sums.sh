#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The samples of probe `latency` beside histograms that the kernel keeps of the same packets
# (tests/bench/histogram.bpf.c): at each hook as many, and their sums within 1 % and the time of both programs. For the
# one that runs second sees the run of the first, too; in an emulated guest that is as long as packets take otherwise,
# and the host may stop the guest in it, for 10 ms and more. So each packet is made 10 ms late before the first hook
# (tests/bench/delay.bpf.c): the sums are large beside it.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns
[[ -n ${NT_EMULATED:-} ]] || skip "only in a guest: the histograms are of all packets, and nobody else may send any"
[[ -x build/bench/histogram && -e build/bench/delay.bpf.o ]] || skip "build/bench/histogram is not built"

count=100
# exchange KIND PORT PAUSE_US: messages, to a reader that waits before each read
exchange() {
    local receiver
    "${in_b[@]}" "$tools/messages" "$1-recv" "$addr_b" "$2" "$count" 200 "$3" >"$work/read" &
    receiver=$!
    keep "$receiver"
    wait_for 500 grep -q "$(printf ':%04X ' "$2")" "/proc/$receiver/net/$1" || bad "no receiver"
    "${in_a[@]}" "$tools/messages" "$1-send" "$addr_b" "$2" "$count" 200 $((2 * $3 + 5000)) >/dev/null
    wait "$receiver" || bad "the receiver failed"
}

# The neighbours know each other before, so that nothing but the messages is on the way.
"${in_a[@]}" ping -c 1 -W 5 "$addr_b" >/dev/null 2>&1 || true
recording_start "$work/s.tape" --probes latency --bpf-stats
rm -f "$work/off"
# attached NAME RESULT: until there is a file $work/off
attached() {
    # shellcheck disable=SC2016
    build/bench/histogram "build/bench/$1.bpf.o" sh -c ': >"$0/$1.on"; while [ ! -e "$0/off" ]; do sleep 0.1; done' \
        "$work" "$1" >"$2" 2>"$work/why" &
    keep $!
    wait_for 1000 test -e "$work/$1.on" || skip "$1 cannot be attached here: $(tail -1 "$work/why")"
}
attached delay "$work/delayed"
delay=$!
attached histogram "$work/sums"
histogram=$!
# Packets that came while only one of the two was there came before this, or after the messages.
sleep 1
from_ns=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
exchange udp 9001 20000
exchange tcp 9002 20000
sleep 1
: >"$work/off"
wait "$histogram" "$delay"
recording_stop
db=$work/s.db
import_tape "$work/s.tape" "$db"
sql "$db" "SELECT hook, count(*), sum(latency_ns) FROM skb_latency
    WHERE flags NOT LIKE '%ipv6%' AND flags NOT LIKE '%future%' AND ts > $from_ns GROUP BY hook" >"$work/own"
sql "$db" "SELECT program || ' ' || sum(value) FROM self_cost_last WHERE program GLOB 'nt_latency_*' AND name = 'run_ns'
    GROUP BY program" >"$work/runs"
compared=0
while read -r _ hook packets sum_ns; do
    ((packets)) || continue
    IFS='|' read -r _ own_packets own_ns <<<"$(grep "^$hook|" "$work/own" || echo "$hook|0|0")"
    # The run times of the two programs at the same function.
    read -r reference reference_ns <<<"$(awk -v hook="ref_${hook//-/_}__" 'index($1, hook) == 1 && $2 { print $1, $3;
        exit }' "$work/sums")"
    run_ns=$(awk -v program="nt_latency_${reference#ref_}" '$1 == program { print $2 }' "$work/runs")
    is "$hook: packets" "$own_packets" "$packets"
    apart_ns=$((own_ns - sum_ns))
    bar_at_most \
        "$hook: ns that the sums are apart ($own_ns and $sum_ns; the programs ran for $run_ns and $reference_ns)" \
        "${apart_ns#-}" $((sum_ns / 100 + run_ns + reference_ns))
    compared=$((compared + 1))
done < <(grep '^sum ' "$work/sums")
at_least "hooks compared" "$compared" 7
at_least "packets that were made late" "$(awk '/^delay_/ { n += $2 } END { print n }' "$work/delayed")" $((2 * count))
finish
