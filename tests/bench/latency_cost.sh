#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of a hook of probe latency, by the kernel's own run counts and times. It is compared with one that keeps a
# histogram in a per-CPU hash (tests/bench/histogram.bpf.c), on the same traffic, by turns. The figures are printed,
# for docs/overhead.md: timing fails no test. The test fails only if the two did not see the same traffic. Each run
# includes a clock read of the kernel's own.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns
[[ -x build/bench/histogram ]] || skip "build/bench/histogram is not built"

# measure KIND: by turns, while there is traffic of this kind only
measure() {
    local turn
    for turn in 1 2 3; do
        if ! build/bench/histogram build/bench/histogram.bpf.o sleep 3 >"$work/ref.$1.$turn" 2>"$work/refused"; then
            skip "$(tail -1 "$work/refused")"
        fi
        may_lose "$record" -q -o "$work/$1.$turn.tape" -d 3 --probes latency --bpf-stats --ring-size 64M
        import_tape "$work/$1.$turn.tape" "$work/$1.$turn.db"
        sql "$work/$1.$turn.db" "SELECT replace(program, 'nt_latency_', 'ref_') || ' ' || sum(CASE WHEN name
            = 'runs' THEN value ELSE 0 END) || ' ' ||
            sum(CASE WHEN name = 'run_ns' THEN value ELSE 0 END) FROM self_cost_last WHERE program LIKE 'nt_latency_%'
                GROUP BY program" >"$work/own.$1.$turn"
    done
    # Nanoseconds of each hook; the least of the turns, since what interrupts a program counts as its own.
    awk -v kind="$1" '
        function least(table, name, ns) { if (!((name) in table) || ns < table[name]) table[name] = ns }
        $2 > 50 && FILENAME ~ /ref/ { least(ref, $1, $3 / $2) }
        $2 > 50 && FILENAME ~ /own/ { least(own, $1, $3 / $2) }
        END { for (name in ref) if (name in own) printf "%s: %-60s %8.0f ns, histogram %8.0f ns, ratio %.2f\n", kind,
            substr(name, 5), own[name], ref[name], own[name] / ref[name] }
    ' "$work"/ref."$1".? "$work"/own."$1".? | sort >"$work/costs.$1"
    sed 's/^/# /' "$work/costs.$1"
    grep -h '^nothing__' "$work"/ref."$1".? | awk '$2 > 50 { printf "# %s: %-60s %8.0f ns\n", "'"$1"'", $1, $3 / $2 }' |
        sort | head -1
    at_least "$1: hooks compared" "$(wc -l <"$work/costs.$1")" 2
    echo "# $1: $(sql "$work/$1.3.db" "SELECT count(*) || ' samples, of $(du -sb "$work/$1.3.tape" |
        cut -f1) bytes of tape with all else' FROM skb_latency")"
}

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
receiver=$!
keep $receiver
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 "$(scaled 30000)" &
sender=$!
keep $sender
sleep 0.5
measure udp
kill $sender
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 &
sender=$!
keep $sender
# One of a hundred, in as much traffic as there can be: what of a CPU it takes, and what of that is the kernel's
# counting of it.
may_lose "$record" -q -o "$work/sampled.tape" -d 3 --probes latency --latency-sample 0.01 --bpf-stats
import_tape "$work/sampled.tape" "$work/sampled.db"
empty_ns=$(awk '/^nothing__/ && $2 > 50 { print $3 / $2; exit }' "$work"/ref.udp.3)
sql "$work/sampled.db" \
    "SELECT printf('# sampled: %d runs, %.1f ns each; of a CPU %.2f %%, without the counting %.2f %%', runs,
        1.0 * ns / runs,
        100.0 * ns / dur, 100.0 * (ns - runs * $empty_ns) / dur)
    FROM (SELECT sum(CASE WHEN name = 'runs' THEN value END) AS runs, sum(CASE WHEN name = 'run_ns' THEN value
        END) AS ns
          FROM self_cost_last WHERE program LIKE 'nt_latency_%'), session"
kill $sender $receiver
"${in_b[@]}" "$tools/flood" tcp-recv "$addr_b" 9001 &
keep $!
sleep 0.5
"${in_a[@]}" "$tools/flood" tcp-send "$addr_b" 9001 1000 &
keep $!
measure tcp
finish
