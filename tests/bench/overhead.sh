#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of recording for the recorded traffic. One flood runs between two network namespaces; slices of half a
# second are recorded and unrecorded in turn (the order within a pair turns too), so that other load falls on both.
# Rate: packets that the receiver's namespace received, by the kernel's count.
#
#   BENCH_PAIRS=20   pairs of slices for UDP; TCP and perf get as many and a quarter as many
#   BENCH_SECONDS=5  of the recording that is measured by itself
#   BENCH_PERF=0     leaves perf out
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
pairs=${BENCH_PAIRS:-20}
seconds=${BENCH_SECONDS:-5}

# compare KIND N NAME PREFIX...: N pairs; leaves the ratios in $work/NAME.ratios
compare() {
    local kind=$1 n=$2 name=$3 i
    shift 3
    rm -f "$work/$name".{on,off}
    for ((i = 0; i < n; i++)); do
        ((i % 2)) || slice "$kind" "$work/$name.off"
        tape=$work/$name-$i.tape
        slice "$kind" "$work/$name.on" "${@//TAPE/$tape}"
        ((i % 2 == 0)) || slice "$kind" "$work/$name.off"
    done
    paste "$work/$name.on" "$work/$name.off" | awk '{ print ($1 / $2) / ($3 / $4) }' >"$work/$name.ratios"
}

# both KIND N NAME OPTIONS OTHERS: N pairs of slices of the flood that runs, both recorded, with these options and with
# the others; leaves in $work/NAME.ratios packets kept, and in .sizes bytes of tape a packet
both() {
    local kind=$1 n=$2 name=$3 i which options tape=$work/both.tape
    rm -f "$work/$name".{with,without}{,.bytes}
    for ((i = 0; i < 2 * n; i++)); do
        # with, without, without, with: what drifts falls on both
        which=with options=$4
        (((i + 1) / 2 % 2 == 0)) || which=without options=$5
        rm -rf "$tape"
        # shellcheck disable=SC2086
        slice "$kind" "$work/$name.$which" "$record" -q $options -o "$tape" -- 2>>"$work/$name.log"
        info "$tape" bytes >>"$work/$name.$which.bytes"
    done
    paste "$work/$name".{with,without} | awk '{ print ($1 / $2) / ($3 / $4) }' >"$work/$name.ratios"
    paste "$work/$name".with{,.bytes,out,out.bytes} | awk '{ print ($3 / $1) / ($6 / $4) }' >"$work/$name.sizes"
}

core=sched,softirq,irq,socket

# probe NAME KIND N
probe() {
    both "$2" "$3" "$1" "--probes $core,$1" "--probes $core"
    result "${2^^} rate kept with the probe $1, over that without" "$(quartiles <"$work/$1.ratios")" ">= 0.97"
    result "bytes of tape for the same $2 traffic, with $1 over without" "$(quartiles <"$work/$1.sizes")" "<= 1.25"
}

# mean_rate FILE: per second
mean_rate() { awk '{ n += $1; t += $2 } END { printf "%.0f", n / t * 1e9 }' "$1"; }

# Records that found no room, by the recorder's own words at its end. (Context switches that a kernel does not show to
# the programs, because it hides a process of its own, are on the tape as lost too: no fault of the rings.)
lost_for_room() { sed -n 's/^lost: \([0-9,]*\) records found the rings full.*/\1/p' "$1" |
    awk '{ gsub(",", ""); n += $1 } END { print n + 0 }'; }

# info TAPE KEY
info() { "$report" info --json "$1" | sed -n "s/^.*\"$2\": *\([0-9]*\).*/\1/p" | head -1; }

netns_make

echo "UDP, datagrams of 200 bytes, $pairs pairs"
flood_start udp 200
compare udp "$pairs" udp "$record" -o TAPE -- 2>"$work/udp.log"
events=0
for tape in "$work"/udp-*.tape; do events=$((events + $(info "$tape" events))); done
result "UDP packet rate kept while recording" "$(quartiles <"$work/udp.ratios")" ">= 0.82"
result "UDP packets a second, unrecorded" "$(mean_rate "$work/udp.off")"
result "UDP packets a second, recorded" "$(mean_rate "$work/udp.on")"
result "events lost, default rings" "$(lost_for_room "$work/udp.log") of $events" "<= 0"

echo "UDP, the probe deliver, $pairs pairs"
probe deliver udp "$pairs"

echo "UDP, operations by their ends only, $pairs pairs"
both udp "$pairs" ends "--plan ends" ""
result "UDP rate kept with --plan ends, over that without" "$(quartiles <"$work/ends.ratios")"

echo "one recording of the same flood, $seconds s"
may_lose "$record" -o "$work/long.tape" -d "$seconds" 2>"$work/long.log"
events=$(info "$work/long.tape" events)
result "events a second" "$(calc "$events / $(info "$work/long.tape" duration_ns) * 1e9")"
result "events lost in $seconds s" "$(lost_for_room "$work/long.log") of $events" "<= 0"
result "bytes on disk an event" "$(calc "$(info "$work/long.tape" bytes) / $events")" "<= 4.5"
# The recorder's own threads, from our own timeline, and as the kernel accounts them, both from gate to gate.
"$report" import "$work/long.tape" -o "$work/long.db" >/dev/null
recorder_cpu() {
    "$report" query --csv "$work/long.db" "
        SELECT ifnull(sum(dur), 0) FROM cpu_slice JOIN thread USING (session_id, utid) JOIN process p USING (session_id,
        upid)
        WHERE p.name = 'nettape-record' AND owner $1" | tail -1
}
result "recorder CPU an event (us), net of softirqs and interrupts" \
    "$(calc "$(recorder_cpu "NOT IN ('hardirq', 'net_rx', 'net_tx', 'softirq')") / 1e3 / $events")" "<= 0.3"
result "softirqs and interrupts that landed on it (us an event)" \
    "$(calc "$(recorder_cpu "IN ('hardirq', 'net_rx', 'net_tx', 'softirq')") / 1e3 / $events")"
rusage_ns=$("$report" query --csv "$work/long.db" "
    SELECT sum(change) FROM (SELECT max(value) - min(value) AS change FROM self_cost
    WHERE program IS NULL AND name IN ('user_ns', 'system_ns') GROUP BY name)" | tail -1)
result "recorder CPU an event (us), user and system by the kernel's account" "$(calc "$rusage_ns / 1e3 / $events")"
rm -rf "$work"/long.*

echo "one recording with the kernel's statistics, 2 s (each run is timed, which costs)"
may_lose "$record" -o "$work/stats.tape" -q -d 2 --bpf-stats
"$report" query --csv "$work/stats.tape" "
    SELECT program, max(CASE WHEN name = 'runs' THEN value END) AS runs, max(CASE WHEN name = 'run_ns' THEN value
        END) AS run_ns
    FROM self_cost WHERE program IS NOT NULL GROUP BY program" | sed 1d | tr -d '"\r' |
    while IFS=, read -r program runs run_ns; do
        ((runs < 1000)) || result "ns a run of $program" "$(calc "$run_ns / $runs")"
    done

if [[ ${BENCH_PERF:-1} != 0 ]] && command -v perf >/dev/null && perf record -q -a -e sched:sched_switch \
    -o "$work/perf.data" -- true 2>/dev/null; then
    echo "perf, of fewer tracepoints"
    compare udp $(((pairs + 3) / 4)) perf perf record -q -a -m 2048 -o "$work/perf.data" \
        -e sched:sched_switch,irq:softirq_entry,irq:softirq_exit,sock:sock_send_length,sock:sock_recv_length \
        -- 2>/dev/null
    result "perf record of switches, softirqs, lengths: UDP packet rate kept" "$(quartiles <"$work/perf.ratios")"
    rm -f "$work"/perf.data*
fi
flood_stop

echo "TCP, writes of 64 KiB, $pairs pairs"
flood_start tcp 65536
compare tcp "$pairs" tcp "$record" -o TAPE -- 2>"$work/tcp.log"
result "TCP byte rate kept while recording" "$(quartiles <"$work/tcp.ratios")" ">= 0.97"
result "TCP Gbit/s, unrecorded" "$(calc "$(mean_rate "$work/tcp.off") * 8 / 1e9")"
result "events lost, default rings, TCP" "$(lost_for_room "$work/tcp.log")" "<= 0"
probe deliver tcp "$pairs"
compare tcp "$pairs" floor "$PWD/build/bench/floor" "$PWD/build/bench/floor.bpf.o"
result "TCP byte rate kept by programs that only read the clock, at the same tracepoints" \
    "$(quartiles <"$work/floor.ratios")"
flood_stop

[[ -n ${BENCH_RESULTS:-} ]] || bench_table
