#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Samples: the rows of a tape of latencies, drops and retransmits (tests/tools/golden_make.c has its records), and that
# no step of the realtime clock moves one.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
tape=tests/golden/v1-samples.tape

# Of two samples of four packets, a bound below the median is not known.
report 0 latency --json $tape
has "bounds that are not known" "$out" \
    '"mean_error_ns": 433, "p50_low_ns": null, "p50_high_ns": null, "p90_low_ns": 3000, "p90_high_ns": null'
# Steps of the clock: twenty are told one by one.
for steps in 20 21 25; do
    build/tools/make_tape steps "$work/$steps.tape" $steps
    report 0 info "$work/$steps.tape"
    is "of $steps steps so many are told" "$(grep -c '^warning: the realtime clock was set forward by 1.000 s' \
        "$work/out")" 20
    is "and the others counted" "$(grep '^warning: and' "$work/out" || echo none)" \
        "$([[ $steps == 20 ]] && echo none || echo "warning: and $((steps - 20)) times more")"
    report 0 info --json "$work/$steps.tape"
    has "to programs as well" "$out" "\"clock_steps\": $steps"
    is "the same twenty" "$(grep -o '"change_ns": 1000000000' "$work/out" | wc -l)" 20
done
report 0 summary $tape
has "a loss of samples" "$out" "5 samples were lost; no time is uncovered by that."
lacks "no time is uncovered" "$out" "the time about them is uncovered"

# By hand. The clock was set forward by 3 s after 700 ms and back by one after 1750, between snapshots: each packet's
# latency is what it was, but for the one whose stamp lies in the future and the one of a time that the clock never
# showed.
is "latencies by hand, in ns" "$(sql $tape "SELECT coalesce(latency_ns, flags) FROM skb_latency
    WHERE hook = 'ip-start'" | tr '\n' ' ')" \
    "500 1000 1000 5000 future step 10000 "
is "received before the step, read after it" \
    "$(sql $tape "SELECT latency_ns FROM skb_latency WHERE hook = 'udp-socket-read' AND ts = 11200000000")" 600000000
is "the readers have names" "$(sql $tape "SELECT DISTINCT name FROM skb_latency JOIN thread USING (session_id, utid)
    ORDER BY 1")" \
    "reader/2
responder"
is "nothing is uncovered by a loss of samples" \
    "$(sql $tape "SELECT count(*) FROM cpu_slice WHERE owner = 'uncovered'")" 0

# The counters that samples are held against.
"$PLAIN" import $tape -o "$work/s.db" >/dev/null 2>&1
command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
if command -v sqlite3 >/dev/null; then
    # meddle STATEMENT LINE
    meddle() {
        cp "$work/s.db" "$work/meddled.db"
        sqlite3 "$work/meddled.db" "$1"
        report 1 check "$work/meddled.db"
        has "$1" "$(flat "$out")" "$(flat "$2")"
    }
    meddle "DELETE FROM skb_latency WHERE hook = 'udp-start'" \
        "FAILED  hooks         udp-start: its programs recorded 1 packets, and the tape has 0 samples"
    meddle "UPDATE record_count SET records = 3 WHERE kind = 'drop'" "FAILED  counters      CPU 1, drop"
    meddle "UPDATE record_count SET lost = 0 WHERE kind = 'latency'" "FAILED  counters      CPU 1, latency"
    meddle "UPDATE cpu_slice SET owner = 'uncovered'; UPDATE cpu_cost SET owner = 'uncovered'" \
        "are uncovered, and no loss explains it"
fi

# A tape without a snapshot of the clocks knows no latency, and says so.
make_tape unclocked
report 1 check "$work/unclocked.tape"
has "no clock" "$(flat "$out")" "FAILED clocks 1 latencies are not known: the tape has no snapshot of the clocks"
report 0 info "$work/unclocked.tape"
has "no clock" "$(flat "$out")" "warning: the tape has no snapshot of the clocks: latencies are not known"
is "no clock" "$(sql "$work/unclocked.tape" "SELECT latency_ns, flags, clock_uncertainty_ns FROM skb_latency
    JOIN session USING (session_id)")" ",,"
finish
