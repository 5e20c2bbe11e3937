#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Real traffic, exported to Perfetto: its own engine takes the trace without a defect, finds what nettape's tables hold,
# and knows what a few programs with a script did: when they ran, waited for a CPU, and slept. Where there is no engine
# the trace must still be whole. An emulated guest is too slow for all this: its tape is kept for check-vm.sh, which
# makes the trace of it on the host.
#
# check-all: it compares with Perfetto's engine
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
[[ -x $tools/perfetto_cat ]] || skip "build/tools/perfetto_cat is not built"

probes=default,latency,drops,retransmits,stacks
"$record" --list-probes | grep '^wakeups' >/dev/null && probes+=,wakeups
flood_start "$([[ -n ${NT_EMULATED:-} ]] && echo 500 || echo 20000)"
# They sleep when the recording begins, and wake up once, to end: each has a wait of which all is known.
mkfifo "$work/silence"
exec 9<>"$work/silence"
sleepers=()
for ((i = 0; i < 20; i++)); do
    cat <&9 >/dev/null &
    keep $!
    sleepers+=($!)
done
recording_start "$work/p.tape" --probes "$probes" --user-stacks
"${in_a[@]}" "$tools/sockmatrix" "$(scaled 20)" >/dev/null
"$tools/burner" 0.5 burn-one pin 0 >"$work/burn-one" &
one=$!
"$tools/burner" 0.5 burn-two pin 0 >"$work/burn-two"
wait $one
for sleeper in "${sleepers[@]}"; do
    kill "$sleeper"
    sleep 0.02
done
sleep 0.4
recording_stop
events=$("$report" info --json "$work/p.tape" | sed -n 's/^  "events": \([0-9]*\),$/\1/p')
at_least "events" "$events" "$(scaled 50000)"
if [[ -n ${NT_GUEST_OUT:-} ]]; then
    rm -rf "$NT_GUEST_OUT/perfetto"
    mkdir "$NT_GUEST_OUT/perfetto"
    cp -r "$work/p.tape" "$NT_GUEST_OUT/perfetto/"
    finish
fi
db=$work/p.db
import_tape "$work/p.tape" "$db"
succeeds "export" "$report" export perfetto "$work/p.tape" -o "$work/p.pftrace"
echo "$events events, $(stat -c %s "$work/p.pftrace") bytes of trace"
succeeds "the trace is whole, with known fields only" bash tests/perfetto/whole.sh "$work/p.pftrace"
if ! engine=$(bash tests/perfetto/engine.sh 2>"$work/why"); then
    [[ $failures == 0 ]] || finish
    skip "the trace is whole, but Perfetto's engine is not there to take it: $(<"$work/why")"
fi

if bash tests/perfetto/compare.sh "$work/p.pftrace" "$db" >"$work/compared" 2>&1; then
    ok "Perfetto finds the same: $(grep -c '^same' "$work/compared") questions"; else
    bad "Perfetto does not find the same"
    { grep -v '^same' "$work/compared" || true; } | head -40
fi

cat >"$work/asked.sql" <<'SQL'
-- state
SELECT thread.name, iif(state GLOB 'R*' AND state <> 'Running', 'runnable', state), sum(dur) FROM thread_state
    JOIN thread USING (utid)
WHERE thread.name IN ('burn-one', 'burn-two') AND dur > 0 GROUP BY 1, 2
-- gap
SELECT thread.name, sum(dur) - (max(ts + dur) - min(ts)) FROM thread_state JOIN thread USING (utid)
WHERE thread.name IN ('burn-one', 'burn-two') AND dur >= 0 GROUP BY 1
-- longest
SELECT max(dur) FROM thread_state JOIN thread USING (utid) WHERE thread.name = 'sleep' AND state = 'S'
-- wait
SELECT tid, sum(dur) FROM thread_state JOIN thread USING (utid) WHERE state IN ('R', 'R+') AND dur >= 0
    AND tid BETWEEN 1 AND 4194304 GROUP BY 1
SQL
node tests/perfetto/trace_processor.mjs "$engine" "$work/p.pftrace" "$work/asked.sql" >"$work/states"
grep -v '^wait' "$work/states" | sed 's/^/    /'
# The kernel may take off a CPU clock what the hypervisor stole, and interrupts and softirqs (burner.sh compares to
# 0.2 %). Of the first the tape knows the sum over all CPUs.
stolen_ns=0
[[ $(kernel_config CONFIG_PARAVIRT_TIME_ACCOUNTING) == n ]] || stolen_ns=$(stolen_ns "$db")
echo "# stolen on the whole machine $stolen_ns ns"
state() { awk -F'|' -v name="$1" -v state="$2" '$1 == "state" && $2 == name && $3 == state { print $4 }' \
    "$work/states"; }
for name in burn-one burn-two; do
    read -r cpu_ns wall_ns _ <"$work/$name"
    running=$(state $name Running) waiting=$(state $name runnable)
    irq_ns=0
    [[ $(kernel_config CONFIG_IRQ_TIME_ACCOUNTING) == n ]] || irq_ns=$(sql "$db" "
        SELECT ifnull(sum(dur), 0) FROM cpu_slice JOIN thread USING (session_id, utid)
        WHERE name = '$name' AND owner IN ('hardirq', 'net_rx', 'net_tx', 'softirq')")
    bar_at_least "$name: running, over its CPU clock" "$(awk "BEGIN { print $running / $cpu_ns }")" 0.98
    bar_at_most "$name: running, over its CPU clock and what that leaves out" \
        "$(awk "BEGIN { print $running / ($cpu_ns + $stolen_ns + $irq_ns) }")" 1.05
    bar_at_least "$name: running or runnable, over its own wall clock" \
        "$(awk "BEGIN { print ($running + ${waiting:-0}) / $wall_ns }")" 0.98
    is "$name: time between states (ns)" \
        "$(awk -F'|' -v name=$name '$1 == "gap" && $2 == name { print $3 }' "$work/states")" 0
done
at_least "the sleeper slept (ns)" "$(sed -n 's/^longest|//p' "$work/states")" 400000000
# How long each waited for a CPU, if the tape tells who woke it: of threads in whose time nothing is uncovered, for
# there nobody knows; nor a wait but the first unknown; and that were not forked meanwhile, for Perfetto lets them wait
# from their fork on and not from when they were put on a CPU. A thread that is woken in the moment that it leaves its
# CPU is awake to Perfetto, and so its wait from there on is none.
if [[ $probes == *wakeups* ]]; then
    sql "$db" "
        CREATE TEMP TABLE stay_end AS SELECT utid, ts + dur AS ts FROM sched_slice;
        CREATE INDEX temp.end_of_thread ON stay_end (utid, ts);
        CREATE TEMP TABLE wait AS SELECT utid, ts, runnable_ts, runnable_ns, why FROM thread_runnable;
        CREATE TEMP TABLE total AS SELECT utid, tid, known, runnable_ns FROM thread_runnable_total;
        CREATE TEMP TABLE uncovered AS SELECT ts, dur FROM cpu_slice WHERE owner = 'uncovered';
        WITH seen AS (SELECT utid, ts, ts + dur AS te FROM sched_slice UNION ALL SELECT utid, ts, ts FROM sched_wakeup),
        life AS (SELECT utid, tid, min(s.ts) AS ts, max(s.te) AS te FROM seen s JOIN thread USING (utid)
                 WHERE tid > 0 AND start_ts IS NULL GROUP BY utid),
        unknown AS MATERIALIZED (SELECT utid, max(ts) AS ts FROM wait WHERE runnable_ns IS NULL GROUP BY utid),
        early AS MATERIALIZED (SELECT r.utid, sum(runnable_ns) AS ns FROM wait r JOIN stay_end s ON s.utid = r.utid
        AND s.ts = runnable_ts
                               WHERE why = 'wakeup' GROUP BY r.utid)
        SELECT tid, runnable_ns - ifnull((SELECT ns FROM early WHERE early.utid = life.utid), 0) FROM life
        JOIN total USING (utid, tid) WHERE known > 0
        AND ifnull((SELECT ts FROM unknown WHERE unknown.utid = life.utid), 0) <= (SELECT min(ts) FROM sched_slice s
        WHERE s.utid = life.utid)
        AND NOT EXISTS
            (SELECT 1 FROM uncovered u WHERE u.ts < life.te AND u.ts + u.dur > life.ts)" | sort >"$work/waits"
    # Of the sleepers, half at least: what is uncovered, and how often, is chance.
    bar_at_least "threads whose waits are compared" "$(wc -l <"$work/waits")" 10
    is "threads that waited otherwise than thread_runnable says, of $(wc -l <"$work/waits")" \
        "$(sed -n 's/^wait|//p' "$work/states" | sort | comm -13 - "$work/waits" | xargs)" ""
fi
finish
