#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe raise: CPUs are held in timer interrupts that raised a softirq, for a known time each (tests/bench/hold.bpf.c).
# So it waits until after that. And each wait is the one that perf sees, which records the kernel's tracepoints of raise
# and run by itself.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
hold=build/bench/hold
[[ -x $hold ]] || skip "$hold is not built"

perf_of record -q -a -k CLOCK_MONOTONIC -m 32M -o "$work/perf.data" -e irq:softirq_raise -e irq:softirq_entry

flood_start "$(scaled 20000)"
recording_start "$work/r.tape" --probes default,raise
"${perf[@]}" "$hold" "$hold.bpf.o" "$(scaled 100)" >"$work/holds" 2>"$work/hold.log" ||
    { recording_stop || true; skip "$(tail -1 "$work/hold.log")"; }
recording_stop
db=$work/r.db
import_tape "$work/r.tape" "$db"
check_whole "$work/r.tape" "$db"

sqlite3 -batch "$db" <<SQL
CREATE TABLE hold(cpu INT, begin_ns INT, end_ns INT);
.separator " "
.import $work/holds hold
CREATE INDEX raise_of_cpu ON softirq_raise(cpu, ts);
CREATE INDEX softirq_of_cpu ON softirq_slice(cpu, ts);
CREATE TABLE held AS
SELECT h.*, r.rowid AS wait, r.ts + r.dur AS run_ns, r.dur FROM hold AS h CROSS JOIN softirq_raise AS r
    ON r.cpu = h.cpu AND r.ts <= h.begin_ns AND r.ts > h.begin_ns - 1000000000 AND r.ts + r.dur > h.begin_ns;
SQL
hidden=$(stretches_uncovered "$db")
holds=$(sql "$db" "SELECT count(*) FROM hold")
at_least "holds that a softirq waited for, with one for each stretch uncovered ($hidden)" \
    $(($(sql "$db" "SELECT count(DISTINCT begin_ns) FROM held") + hidden)) "$holds"
is "waits that end while their CPU is held" "$(sql "$db" "SELECT count(*) FROM held WHERE run_ns < end_ns")" 0
[[ -n ${NT_EMULATED:-} ]] || bar_at_most "the middle one of the waits, in % of its holds" "$(sql "$db" "WITH share AS (
    SELECT 1.0 * dur / sum(end_ns - begin_ns) AS share FROM held GROUP BY wait)
    SELECT 100 * share FROM share ORDER BY 1 LIMIT 1 OFFSET (SELECT count(*) / 2 FROM share)")" 120
is "waits that do not end with the begin of a run" "$(sql "$db" "
    SELECT count(*) FROM softirq_raise AS r, session AS s
    WHERE r.ts + r.dur BETWEEN s.start_ts AND s.end_ts - 100000000 AND NOT EXISTS (
        SELECT 1 FROM softirq_slice AS q WHERE q.cpu = r.cpu AND q.ts = r.ts + r.dur AND q.vec = r.vec)")" 0
is "waits that go on over a run of their vector" "$(sql "$db" "
    SELECT count(*) FROM softirq_raise AS r CROSS JOIN softirq_slice AS q
    ON q.cpu = r.cpu AND q.ts >= r.ts AND q.ts < r.ts + r.dur WHERE q.vec = r.vec")" 0
[[ ${#perf[@]} != 0 ]] || finish

# What perf saw: of each CPU and vector, the first raise since the last run, and the run. On some hosts it does not see
# what comes in the time of an idle task: such are left out.
perf script -i "$work/perf.data" --ns -F pid,cpu,time,event,trace 2>/dev/null | tr -d '[]:=.' | awk '
    { vec = $6; sub(/^action/, "", vec); key = $2 + 0 " " vec; ns = $3 }
    /softirq_raise/ && !(key in raised) { raised[key] = ns }
    /softirq_entry/ && key in raised { if ($1) print key, raised[key], ns; delete raised[key] }' >"$work/pairs"
# It says so where it lost any; then there is nothing to compare with.
if perf report -i "$work/perf.data" --stats 2>/dev/null | awk '/LOST/ { found = 1 } END { exit !found }'; then
    echo "# perf lost events"
    finish
fi
at_least "waits that perf saw" "$(wc -l <"$work/pairs")" 200

# A CPU that is held does nothing. So from the middle of its first hold to that of its last, both saw the same waits.
sqlite3 -batch "$db" <<SQL
CREATE TABLE pair(cpu INT, vec TEXT, raise_ns INT, run_ns INT);
.separator " "
.import $work/pairs pair
CREATE TABLE span AS SELECT cpu, min(begin_ns + end_ns) / 2 AS from_ns, max(begin_ns + end_ns) / 2 AS to_ns FROM hold
    GROUP BY cpu;
CREATE TABLE both AS
SELECT 'perf' AS who, cpu, vec, run_ns, run_ns - raise_ns AS dur FROM pair JOIN span USING (cpu)
    WHERE run_ns BETWEEN from_ns AND to_ns
UNION ALL SELECT 'tape', r.cpu, r.vec, s.ts, r.dur FROM span JOIN softirq_raise AS r USING (cpu)
    CROSS JOIN softirq_slice AS s ON s.cpu = r.cpu AND s.ts = r.ts + r.dur AND s.vec = r.vec
    WHERE r.ts + r.dur BETWEEN from_ns AND to_ns AND s.utid <> 0;
CREATE TABLE counted AS SELECT cpu, vec, sum(who = 'perf') AS perf, sum(who = 'tape') AS tape FROM both GROUP BY 1, 2;
SQL
at_most "waits that only one of the two has, where $hidden stretches are uncovered" \
    "$(sql "$db" "SELECT ifnull(sum(abs(perf - tape)), 0) FROM counted")" $((3 * hidden))
bar_at_most "waits that differ by more than 20 us, in %" "$(sql "$db" "WITH n AS (
    SELECT who, cpu, vec, dur, row_number() OVER (PARTITION BY who, cpu, vec ORDER BY run_ns) AS place
    FROM both JOIN counted USING (cpu, vec) WHERE perf = tape)
    SELECT 100 * avg(abs(p.dur - t.dur) > 20000) FROM n AS p JOIN n AS t USING (cpu, vec, place)
    WHERE p.who = 'perf' AND t.who = 'tape'")" 1
echo "# $holds holds, $(sql "$db" 'SELECT sum(perf) FROM counted') waits compared"
finish
