#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a hook of probe latency costs, by the kernel's own run counts and times, beside one that keeps a histogram in a hash of
# each CPU's own (tests/bench/histogram.bpf.c), on the same traffic, by turns. Printed, for docs/overhead.md: timing fails
# no test. What is judged is that both saw the traffic. A clock read of the kernel's own is in each run.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns
[[ -x build/bench/histogram ]] || skip "build/bench/histogram is not built"

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 "$(scaled 30000)" &
keep $!
"${in_b[@]}" "$tools/flood" tcp-recv "$addr_b" 9001 &
keep $!
sleep 0.5
"${in_a[@]}" "$tools/flood" tcp-send "$addr_b" 9001 1000 &
keep $!
for turn in 1 2 3; do
    if ! build/bench/histogram build/bench/histogram.bpf.o sleep 3 >"$work/ref.$turn" 2>"$work/refused"; then
        skip "$(tail -1 "$work/refused")"
    fi
    "$record" -q -o "$work/$turn.tape" -d 3 --probes latency --bpf-stats --ring-size 64M
    import_tape "$work/$turn.tape" "$work/$turn.db"
    sql "$work/$turn.db" "SELECT replace(program, 'nt_latency_', 'ref_') || ' ' || sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) || ' ' ||
        sum(CASE WHEN name = 'run_ns' THEN value ELSE 0 END) FROM self_cost_last WHERE program LIKE 'nt_latency_%' GROUP BY program" >"$work/own.$turn"
done
# Nanoseconds of each hook, and of all over all runs; the least of the turns, since what interrupts a program counts as its own.
awk '
    function least(table, name, ns) { if (!((name) in table) || ns < table[name]) table[name] = ns }
    $2 > 50 && FILENAME ~ /ref/ { least(ref, $1, $3 / $2) }
    $2 > 50 && FILENAME ~ /own/ { least(own, $1, $3 / $2) }
    END { for (name in ref) if (name in own) printf "%-60s %8.0f ns, histogram %8.0f ns, ratio %.2f\n", substr(name, 5), own[name], ref[name], own[name] / ref[name] }
' "$work"/ref.? "$work"/own.? | sort | tee "$work/costs" | sed 's/^/# /'
at_least "hooks compared" "$(wc -l <"$work/costs")" 4
tape_bytes=$(du -sb "$work/3.tape" | cut -f1)
echo "# $(sql "$work/3.db" "SELECT count(*) || ' samples, of ' || $tape_bytes || ' bytes of tape with all else' FROM skb_latency")"
finish
