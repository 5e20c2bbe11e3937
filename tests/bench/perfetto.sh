#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of exporting to Perfetto: events of the tape a second on one core, bytes of trace an event, and memory for a
# short tape and for one several times as long. If Perfetto's own engine is here, also its cost for five million
# events; as WebAssembly it has 4 GiB, as in a browser.
#
#   BENCH_SECONDS=8   of flood on the long tape
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
seconds=${BENCH_SECONDS:-8}

netns_make
"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 &
keep $!
may_lose "$record" -o "$work/short.tape" -q -d 1
may_lose "$record" -o "$work/long.tape" -q -d "$seconds"
may_lose "$record" -o "$work/packets.tape" -q -d 2 --probes default,latency,drops,retransmits
for pid in "${background[@]}"; do kill "$pid"; done
for pid in "${background[@]}"; do wait "$pid" 2>/dev/null || true; done
background=()

events() { "$report" info --json "$work/$1.tape" 2>/dev/null | sed -n 's/.*"events": *\([0-9]*\),*.*/\1/p' | head -1; }
size() { stat -c %s "$work/$1.pftrace"; }
for tape in short long packets; do
    "$tools/rusage" "$work/$tape.usage" taskset -c 0 "$report" export perfetto "$work/$tape.tape" \
        -o "$work/$tape.pftrace"
done
read -r wall_ns user_ns system_ns long_kib <"$work/long.usage"
read -r _ _ _ short_kib <"$work/short.usage"
n=$(events long)

# On a machine that does other things too, what counts is the time on the core.
result "export perfetto, events a second of CPU time" \
    "$(calc "$n / ($user_ns + $system_ns) * 1e9") ($n events; by the wall clock $(calc "$n / $wall_ns * 1e9"))" \
    ">= 500000"
result "export perfetto, bytes of trace an event" "$(calc "$(size long) / $n")" "<= 15"
result "export perfetto, the same with packets' samples" \
    "$(calc "$(size packets) / $(events packets)") ($(events packets) events)" "<= 15"
result "export perfetto, most memory for the long tape over the short one's" \
    "$(calc "$long_kib / $short_kib") ($long_kib and $short_kib KiB)" "<= 1.2"
if engine=$(bash tests/perfetto/engine.sh 2>"$work/why"); then
    most=5000000
    until=$(awk -v n="$n" -v most=$most -v seconds="$seconds" 'BEGIN { printf "%.6f",
        seconds * (n > most ? most / n : 1) }')
    n=$((n > most ? most : n))
    "$report" export perfetto "$work/long.tape" -o "$work/part.pftrace" --to "$until"
    printf -- '-- defects\nSELECT 1\n-- slices\nSELECT (SELECT count(*) FROM slice), (SELECT count(*)
        FROM sched)\n' >"$work/asked.sql"
    "$tools/rusage" "$work/engine.usage" node tests/perfetto/trace_processor.mjs "$engine" "$work/part.pftrace" \
        "$work/asked.sql" >"$work/said"
    read -r load_ns _ _ load_kib <"$work/engine.usage"
    result "Perfetto's engine, events loaded a second" \
        "$(calc "$n / $load_ns * 1e9") (about $n events, $(calc \
        "$load_ns / 1e9") s, $((load_kib / 1024)) MiB; slices and stays: $(sed -n 's/^slices|//p' "$work/said" |
        tr '|' ' '))"
else
    echo "  Perfetto's engine: $(<"$work/why")"
fi
[[ -n ${BENCH_RESULTS:-} ]] || bench_table
