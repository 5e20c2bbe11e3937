#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whose packets net_rx received at each stack sample: payers have samples in proportion to what rx_cost charges
# them, and `stages --by payer` and `--process` split exactly that time. Without GRO, and with its lists.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

requests=$(scaled 60000)
messages=$(scaled 6000)

# traffic PORT: two processes that answer each other over loopback, and a bulk transfer between the namespaces. The two
# have one CPU, so that it never waits for another: a virtual CPU that wakes up takes late ticks in whatever woke it.
traffic() {
    local port=$1
    rm -f "$work/answer"
    taskset -c 0 "${in_b[@]}" "$tools/payers" answer 127.0.0.1 "$port" "$requests" >"$work/answer" &
    local answer=$!
    keep $answer
    "${in_b[@]}" "$tools/messages" tcp-recv "$addr_b" $((port + 1)) "$messages" 20000 0 >"$work/received" &
    local reader=$!
    keep $reader
    # It listens.
    wait_for 60 "${in_b[@]}" grep -q "$(printf ':%04X 00000000:0000 0A' $((port + 1)))" /proc/net/tcp
    wait_for 60 grep -q ready "$work/answer"
    "${in_a[@]}" "$tools/messages" tcp-send "$addr_b" $((port + 1)) "$messages" 20000 0 >"$work/sent" &
    local writer=$!
    taskset -c 0 "${in_b[@]}" "$tools/payers" ask 127.0.0.1 "$port" "$requests"
    wait "$answer" "$writer" "$reader"
}

# The figures of stages for net_rx: sums of spent_ns, or of samples (column 6 or 10), by payer.
by_payer() {
    awk -F, -v at="$2" 'NR > 1 && $3 == "net_rx" { sum[$2] += $at }
        END { for (k in sum) printf "%s|%.0f\n", k, sum[k] }' \
        "$1" | LC_ALL=C sort
}

label="CASE WHEN upid IS NOT NULL THEN coalesce(p.name, '(unknown)') || coalesce(' (' || p.pid || ')', '')
    WHEN payer = 'socket' THEN '[kernel]' ELSE '[' || payer || ']' END"

# compare_samples NAME: payers have samples in proportion to their time, where the clock ticked when it was due. Where a
# virtual CPU's is late or left out, it is not at random that it is. A ten-thousandth of all honest recordings is more
# than four deviations off, per payer.
compared=0
compare_samples() {
    local ticks
    ticks=$(paste -d'|' -s <(by_payer "$work/$1.csv" 6) <(by_payer "$work/$1.csv" 10) |
        awk -F'|' -v hz=999 '{ for (i = 2; i <= NF; i += 2) sum[NR] += $i }
            END { printf "%d", 100 * sum[2] / (sum[1] * hz / 1e9) }')
    if ((ticks < 90 || ticks > 110)); then
        echo "# $1: $ticks % of the ticks came in net_rx: samples and time are not compared"
        return
    fi
    compared=1
    join -t'|' -a 1 -e 0 -o 0,1.2,2.2 <(by_payer "$work/$1.csv" 6) <(by_payer "$work/$1.csv" 10) |
        awk -F'|' '{ ns[NR] = $2; n[NR] = $3
            who[NR] = $1; all_ns += $2; all += $3 } END { for (i = 1; i <= NR; i++) { p = ns[i] / all_ns
            off = n[i] - all * p; if (off * off > 16 * all * p * (1 - p) + 9)
            print who[i], n[i], "of", all * p } }' >"$work/off"
    bar_at_most "$1: payers whose samples are not in proportion: $(paste -d';' -s "$work/off")" \
        "$(wc -l <"$work/off")" 0
}

# check_samples NAME: of a recording
check_samples() {
    local name=$1 tape=$work/$1.tape db=$work/$1.db pid
    import_tape "$tape" "$db"
    check_whole "$tape" "$db"
    succeeds "$name: stages" "$report" stages "$db" --by payer --csv
    cp "$work/out" "$work/$name.csv"
    is "$name: each pays in stages what rx_cost says" "$(by_payer "$work/$name.csv" 6)" \
        "$(sql "$db" "SELECT $label AS who, sum(spent_ns) FROM rx_cost LEFT JOIN process AS p USING (session_id, upid)
            GROUP BY who HAVING sum(spent_ns) > 0" | LC_ALL=C sort)"
    succeeds "$name: stages" "$report" stages "$tape" --by payer --csv
    cp "$work/out" "$work/from_tape.csv"
    succeeds "$name: the same from the tape" cmp "$work/from_tape.csv" "$work/$name.csv"
    by_payer "$work/$name.csv" 6 | sed 's/^/# /'
    by_payer "$work/$name.csv" 10 | sed 's/^/# samples /'
    compare_samples "$name"
    sql "$db" "SELECT '# samples of net_rx: ' || count(*) || ', with a flow ' || count(flow_id) || ', drawn ' ||
        sum(flow_is_exact IS 0) FROM stack_sample WHERE owner = 'net_rx'"
    pid=$(sql "$db" "SELECT pid FROM rx_cost JOIN process USING (session_id, upid) GROUP BY upid
        ORDER BY sum(spent_ns) DESC LIMIT 1")
    succeeds "$name: stages" "$report" stages "$tape" --process "$pid" --owner net_rx --csv
    is "$name: one process" "$(awk -F, 'NR > 1 { sum += $5 } END { printf "%.0f", sum }' "$work/out")" \
        "$(sql "$db" "SELECT sum(spent_ns) FROM rx_cost JOIN process USING (session_id, upid) WHERE pid = $pid")"
    succeeds "$name: flame" "$report" flame "$tape" --process "$pid" --owner net_rx --folded
    is "$name: and its flame graph" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$work/out")" \
        "$(sql "$db" "SELECT sum(spent_ns) FROM rx_cost JOIN process USING (session_id, upid) WHERE pid = $pid")"
}

# record NAME PORT
record() {
    recording_start "$work/$1.tape" --probes default,deliver,stacks
    traffic "$2"
    recording_stop
    check_samples "$1"
}

record plain 9303
if command -v ethtool >/dev/null && "${in_b[@]}" ethtool -K veth0 gro on 2>/dev/null &&
    "${in_a[@]}" ethtool -K veth0 tso off gro on 2>/dev/null; then
    record gro 9305
else
    echo "# no GRO here"
fi
if ((failures == 0 && !compared)); then skip "in part: the clock did not tick when it was due"; fi
finish
