#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check: proves what is whole, and fails on each kind of break; a loss that was declared does not fail it, and is not
# silent.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# verdict SCENARIO STATUS LINE...: check of that tape exits so and has these findings; of the database too
verdict() {
    local scenario=$1 status=$2
    shift 2
    make_tape "$scenario"
    "$PLAIN" import "$work/$scenario.tape" -o "$work/$scenario.db" >/dev/null 2>&1
    for from in tape db; do
        report "$status" check "$work/$scenario.$from"
        for line in "$@"; do has "$scenario.$from" "$(flat "$out")" "$(flat "$line")"; done
    done
}
verdict traffic 0 "ok      whole" "no overlap, no gap, sum 100,000,000 ns = the session; uncovered 0 ns" \
    "ok      loss          nothing was lost" \
    "ok: it is whole, and it adds up"
lacks "nothing failed" "$out" FAILED
verdict chunks 0 "ok: it is whole, and it adds up"
verdict hotplug 0 "ok: it is whole, and it adds up"
verdict hostile 0 "lines of snapshots that were not understood: 8"
verdict steal 0 "stolen 10.00 ms"
verdict loss 0 "loss    loss          CPU 0: ring full: 680 records of kind switch; uncovered stretches: 1" \
    "its losses = those declared" "ok, WITH LOSS"
lacks "nothing failed" "$out" FAILED
verdict partial 1 "FAILED  whole         chunk-000000.ntc.partial was never finished" "FAILED: "
verdict dropped 1 "FAILED  whole         chunk-000000.ntc: CPU 0: 1 of its blocks are missing" \
    "FAILED  loss          CPU 0: missing block" \
    "FAILED  counters      CPU 0, op: the kernel side wrote"
verdict undeclared 1 "FAILED  loss          CPU 1: undeclared" \
    "FAILED  records       switches from a task that was not on the CPU: 1"
verdict miscounted 1 "FAILED  counters" "FAILED  softirqs      CPU 0, NET_RX: /proc/softirqs changed by 999995051" \
    "loss    misses        the kernel left out 4 runs of nt_sched_switch"
for from in tape db; do
    report 0 summary "$work/miscounted.$from"
    has "summary of the $from says so" "$(flat "$out")" "The kernel left out 4 runs of the recorder's programs in the \
whole recording, 4 of them of nt_sched_switch."
done
verdict empty 1 "FAILED  loss          CPU 0: no state record"

# A tape with a flipped bit, and one that was cut.
make_tape traffic
cp -r "$work/traffic.tape" "$work/flipped.tape"
chunk=$work/flipped.tape/chunk-000000.ntc
printf '\x55' | dd of="$chunk" bs=1 seek=$(($(stat -c %s "$chunk") / 2)) conv=notrunc status=none
report 1 check "$work/flipped.tape"
has "a changed bit is noticed" "$out" "is damaged"
has "and still adds up" "$(flat "$out")" "sum 100,000,000 ns = the session"
# events TAPE: that `info` counts
events() { "$REPORT" info "$1" --json | sed -n 's/^ *"events": \([0-9]*\).*/\1/p'; }
whole=$(events "$work/traffic.tape")
counted=$(events "$work/flipped.tape")
holds "info counts what is behind it" test "$counted" -gt $((whole * 3 / 4)) -a "$counted" -lt "$whole"
cp -r "$work/traffic.tape" "$work/cut.tape"
truncate -s -3000 "$work/cut.tape/chunk-000000.ntc"
report 1 check "$work/cut.tape"
has "a cut is noticed" "$(flat "$out")" "FAILED whole"
lacks "and still adds up" "$out" "FAILED  conservation"

# A part: the window's edges cut slices, stays and operations.
report 0 check "$work/traffic.tape" --from 20ms --to 30ms
has "the part is proven" "$(flat "$out")" "CPU 1: "
has "to the nanosecond" "$(flat "$out")" "no overlap, no gap, sum 10,000,000 ns = the time; uncovered 0 ns"
has "what it cannot answer is said" "$(flat "$out")" "note left out what compares with sums and counters"
has "the verdict is of the part" "$out" "ok: what was chosen of it adds up"
for counted in counters softirqs sums records misses; do
    lacks "$counted are of the whole" "$out" "  $counted "
done
report 0 check "$work/traffic.tape" --from 20ms --to 30ms --json
is "JSON says which part" "$(sed -n 's/^ *"\(from\|to\)_ts": \([0-9]*\).*/\2/p' <<<"$out" | xargs)" \
    "1000020000000 1000030000000"
report 0 check "$work/traffic.tape" --cpu 1
lacks "one CPU" "$out" "CPU 0:"
has "operations cross CPUs" "$(flat "$out")" "note operations left out"
report 1 check "$work/partial.tape" --to 5ms
has "it is a part of an unfinished tape" "$out" "FAILED  whole         the tape is not complete"
report 0 check "$work/loss.tape" --to 1ms
has "a loss elsewhere is not of the part" "$out" "nothing was lost"
report 1 check "$work/traffic.tape" --process nobody
has "nobody" "$err" "has no process nobody"
report 1 check "$work/traffic.tape" --from 200ms
has "no such time" "$err" "nothing of session 1 is in that time"
report 2 check "$work/traffic.tape" --from 2 --to 1
has "no time" "$err" "--from is not before --to"

# A database that somebody has meddled with. (With sqlite3: nettape-report changes none.)
command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
if command -v sqlite3 >/dev/null; then
    # meddle STATEMENT LINE
    meddle() {
        cp "$work/traffic.db" "$work/meddled.db"
        sqlite3 "$work/meddled.db" "$1"
        report 1 check "$work/meddled.db"
        has "$1" "$(flat "$out")" "$(flat "$2")"
    }
    some="rowid = (SELECT rowid FROM cpu_slice WHERE dur > 10 LIMIT 1 OFFSET 500)"
    meddle "DELETE FROM cpu_slice WHERE $some" "with 0 overlaps and 1 gaps"
    meddle "UPDATE cpu_slice SET dur = dur + 1 WHERE $some" "with 1 overlaps and 0 gaps"
    meddle "UPDATE cpu_slice SET dur = dur + 1 WHERE rowid = (SELECT max(rowid) FROM cpu_slice)" \
        "and they end elsewhere"
    meddle "UPDATE cpu_slice SET owner = 'nobody' WHERE $some" "1 slices have an impossible CPU, owner or time"
    meddle "UPDATE cpu_slice SET dur = 9223372036854775807 WHERE $some" "1 slices have an impossible CPU, owner or time"
    meddle "UPDATE sched_slice SET dur = 9223372036854775807 WHERE rowid % 2" "times a thread was on two CPUs at once"
    meddle "UPDATE cpu_cost SET spent_ns = -9223372036854775807" "sums in cpu_cost are not those of cpu_slice"
    meddle "UPDATE session SET start_ts = -9223372036854775807, end_ts = 9223372036854775807" "FAILED  conservation"
    meddle "UPDATE cpu_slice SET owner = 'task' WHERE owner = 'send' AND cpu = 1" \
        "sums in cpu_cost are not those of cpu_slice"
    meddle "DELETE FROM cpu_slice WHERE cpu = 1" "1 CPUs have slices, but the session has 2"
    meddle "UPDATE sock_op SET cpu_ns = cpu_ns + 1 WHERE rowid = 7 AND cpu_ns NOT NULL" \
        "but the slices of send and recv sum to"
    meddle "UPDATE sock_cost SET ops = ops + 1 WHERE rowid = 3" "sock_cost is not the sum of sock_op"
    meddle "UPDATE sched_slice SET dur = 90000000 WHERE utid = 3 AND ts < 1000001000000" \
        "times a thread was on two CPUs at once"
    meddle "DELETE FROM softirq_slice WHERE vec = 'NET_RX' AND rowid % 7 = 0" "FAILED  softirqs      CPU 0, NET_RX"
    meddle "UPDATE cpu_slice SET owner = 'uncovered' WHERE owner = 'idle'; UPDATE cpu_cost SET owner = 'uncovered'
        WHERE owner = 'idle'" \
        "are uncovered, and no loss explains it"
    # in_part STATEMENT LINE: where the part is that --from and --to choose, check fails; elsewhere it does not
    in_part() {
        cp "$work/traffic.db" "$work/meddled.db"
        sqlite3 "$work/meddled.db" "$1"
        report 1 check "$work/meddled.db" --from 20ms --to 30ms
        has "$1" "$(flat "$out")" "$(flat "$2")"
        report 0 check "$work/meddled.db" --from 40ms --to 50ms
    }
    middle="ts > 1000020100000 AND ts + dur < 1000029900000"
    some="rowid = (SELECT rowid FROM cpu_slice WHERE $middle AND dur > 10 LIMIT 1 OFFSET 50)"
    in_part "DELETE FROM cpu_slice WHERE $some" "with 0 overlaps and 1 gaps"
    in_part "UPDATE cpu_slice SET dur = dur + 1 WHERE $some" "with 1 overlaps and 0 gaps"
    in_part "UPDATE cpu_slice SET owner = 'nobody' WHERE $some" "1 slices have an impossible CPU, owner or time"
    in_part "DELETE FROM cpu_slice WHERE ts >= 1000029000000 AND ts + dur < 1000040000000 AND cpu = 0" \
        "and they end elsewhere"
    in_part "UPDATE cpu_slice SET owner = 'task' WHERE owner = 'send' AND $middle" \
        "FAILED operations the slices of send"
    in_part "UPDATE cpu_slice SET owner = 'send' WHERE owner = 'task' AND $middle" \
        "FAILED operations the slices of send"
    in_part "UPDATE sched_slice SET dur = 5000000 WHERE utid = 3 AND $middle" "times a thread was on two CPUs at once"
    # Numbers that no recorder writes: of one operation inside the part the sum is none; of one at its edge it is, but
    # not with those inside. And a lost sample, where the part begins.
    cp "$work/traffic.db" "$work/meddled.db"
    sqlite3 "$work/meddled.db" "UPDATE sock_op SET cpu_ns = 9223372036854775807 WHERE rowid = (SELECT rowid FROM sock_op
        WHERE ts > 1000020000000 AND ts + dur < 1000030000000 LIMIT 1)"
    report 1 check "$work/meddled.db" --from 20ms --to 30ms
    has "a sum that is no number" "$(flat "$err")" "operations have sums that no recording has"
    cp "$work/traffic.db" "$work/meddled.db"
    sqlite3 "$work/meddled.db" "UPDATE sock_op SET cpu_ns = 9223372036854000000 WHERE rowid = (SELECT rowid FROM sock_op
        WHERE ts < 1000030000000 AND ts + dur > 1000030000000 LIMIT 1)"
    report 0 check "$work/meddled.db" --from 20ms --to 30ms
    has "a bound that is no number" "$(flat "$out")" "at most 9,223,372,036,854,"
    cp "$work/traffic.db" "$work/meddled.db"
    sqlite3 "$work/meddled.db" "INSERT INTO loss VALUES (1, 1000020000000, 0, 0, 'latency', 1, 'ring full')"
    report 0 check "$work/meddled.db" --from 20ms --to 30ms
    has "a sample that was lost as the part begins" "$(flat "$out")" "loss loss CPU 0: ring full: 1 records"
    report 0 check "$work/meddled.db" --from 10ms --to 20ms
    has "and not before" "$out" "nothing was lost"
    cp "$work/traffic.db" "$work/meddled.db"
    sqlite3 "$work/meddled.db" "UPDATE session SET start_ts = -9223372036854775807, end_ts = 9223372036854775807"
    report 1 check "$work/meddled.db" --process web1
    meddle "UPDATE record_count SET records = records - 1 WHERE kind = 'op' AND cpu = 1" \
        "FAILED  counters      CPU 1, op"
fi
finish
