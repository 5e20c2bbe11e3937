#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe wakeups: threads that sleep, wake each other, and share a CPU with two that never sleep (tests/tools/waiter.c).
# How often each was put on a CPU, and for how long it had been runnable before, by the tape and by /proc/PID/schedstat;
# how often each was woken, by the tape and by perf.
#
# The two sums are of the same waits, and differ by what can be named:
# - The kernel counts from when a task is put into a CPU's queue, the tape from when the wake-up begins. With an
#   interrupt of another CPU between the two, that may be some microseconds. Emulated CPUs run in turns, so that the
#   interrupt waits for its turn.
# - The kernel counts by its queue's clock, which it reads when it begins to choose the next task, a microsecond
#   before the switch.
# - After a wake-up that preempts, the queue's clock stands until the switch (rq_clock_skip_update). So the kernel
#   gives the time between the two to the wait of the thread that is preempted, though that thread is still on the
#   CPU, and takes it off the wait of the thread that comes. Where a wake-up needs an interrupt of another CPU, that
#   is 5 to 20 us, and more on a loaded host. The tape says how much it is at most, switch by switch: since the last
#   wake-up of a thread for that CPU, or the last tick after it, which sets the clock anew.
# One sort of wait, and the stay after it, the kernel does not count at all: that of a thread which was preempted in the
# moment between saying that it will sleep and doing so.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
(($(nproc) > 1)) || skip "needs two CPUs"
cpu=$(($(nproc) - 1))
off_ns=2000 remote_ns=20000
if [[ -n ${NT_EMULATED:-} ]]; then off_ns=100000 remote_ns=5000000; fi

perf_of stat -a "-x," -o "$work/perf" -e sched:sched_waking --filter 'comm ~ "w-*"'

recording_start "$work/w.tape" --bpf-stats --probes default,wakeups
"${perf[@]}" "$tools/waiter" 1.5 "$cpu" "$(scaled 1500)" >"$work/said"
recording_stop
db=$work/w.db
import_tape "$work/w.tape" "$db"
check_whole "$work/w.tape" "$db"
is "programs whose runs do not add up" "$(sql "$db" "SELECT count(*) FROM (
    SELECT program FROM self_cost_last WHERE program IN ('nt_sched_waking', 'nt_sched_wakeup_new')
    GROUP BY 1 HAVING sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) <>
                      sum(CASE WHEN name NOT IN ('runs', 'run_ns', 'misses') THEN value ELSE 0 END))")" 0
is "records and wake-ups lost" "$(sql "$db" "SELECT count(*) FROM loss WHERE why <> 'not run'")" 0

# The threads' own figures, beside the rows of each; a wait that is not known is at most as long as the time between the
# two stays.
#   turn   each switch to a thread, and for how long the clock of its CPU's queue may have stood (stood_ns)
#   wait   each wait of our threads, and how long it may be by that clock: at least least_ns, at most most_ns
sqlite3 -batch "$db" <<SQL
CREATE TABLE said(utid, begin_ns, end_ns, delay_ns, runs);
CREATE TEMP TABLE line(tid, begin_ns, end_ns, delay_ns, runs);
.separator " "
.import $work/said line
INSERT INTO said SELECT utid, CAST(begin_ns AS INT), CAST(end_ns AS INT), CAST(delay_ns AS INT), CAST(runs AS INT)
FROM line JOIN thread USING (tid);
CREATE TABLE runnable AS SELECT r.*, s.ts + s.dur AS end_ts, s.end_state FROM thread_runnable AS r
    JOIN sched_slice AS s ON s.utid = r.utid AND s.ts = r.ts;
CREATE TABLE turn AS SELECT cpu, ts, CASE WHEN woken_ts > switch_ts THEN ts - max(woken_ts, ifnull(tick_ts, 0)) ELSE 0
    END AS stood_ns FROM (
    SELECT what, cpu, ts, max(CASE what WHEN 'woken' THEN ts END) OVER of_cpu AS woken_ts,
        max(CASE what WHEN 'tick' THEN ts END) OVER of_cpu AS tick_ts,
        max(CASE what WHEN 'switch' THEN ts END) OVER (PARTITION BY cpu ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING
            AND 1 PRECEDING) AS switch_ts
    FROM (SELECT 'switch' AS what, cpu, ts FROM runnable UNION ALL SELECT 'switch', cpu, end_ts FROM runnable
          UNION ALL SELECT 'woken', cpu, runnable_ts FROM runnable WHERE why = 'wakeup'
          UNION ALL SELECT 'tick', cpu, ts FROM irq_slice WHERE name = 'local_timer')
    WINDOW of_cpu AS (PARTITION BY cpu ORDER BY ts)) WHERE what = 'switch' GROUP BY cpu, ts;
CREATE INDEX turn_at ON turn(cpu, ts);
CREATE TABLE wait AS SELECT w.*, max(0, runnable_ns - came.stood_ns) AS least_ns,
    ifnull(runnable_ns + CASE why WHEN 'preempted' THEN went.stood_ns ELSE 0 END, w.ts - ifnull(free_ts,
        begin_ns)) AS most_ns
FROM (SELECT r.*, begin_ns, lag(r.end_ts) OVER thread AS free_ts, lag(r.cpu) OVER thread AS free_cpu, lag(r.end_state)
    OVER thread AS left
      FROM runnable AS r JOIN said USING (utid) WHERE r.ts <= end_ns WINDOW thread AS (PARTITION BY r.utid
          ORDER BY r.ts)) AS w
JOIN turn AS came ON came.cpu = w.cpu AND came.ts = w.ts LEFT JOIN turn AS went ON went.cpu = free_cpu
    AND went.ts = free_ts;
SQL
is "threads" "$(sql "$db" 'SELECT count(*) FROM said')" 5
holes=$(stretches_uncovered "$db")
while IFS='|' read -r name stays runs known ours_ns least_ns most_ns theirs_ns remote preempted preempted_ns; do
    # Where this kernel shows a task to nobody, a stay may be cut in two, or two be one.
    at_least "$name: stays on a CPU, and stretches uncovered, with what the kernel counted" $((stays + holes)) "$runs"
    at_most "$name: stays on a CPU, without stretches uncovered and those after a preemption in the kernel" \
        $((stays - holes - preempted)) "$runs"
    echo "# $name: $known waits known of $stays, $ours_ns ns," \
        "by the queue's clock $least_ns to $most_ns, by schedstat $theirs_ns:" \
        "a wait, $(((most_ns - theirs_ns) / stays)) ns less than the most," \
        "$(((theirs_ns - least_ns) / stays)) more than the least"
    bar_at_least "$name: runnable, at most, and by schedstat" \
        $((most_ns + theirs_ns / 2000 + stays * off_ns)) "$theirs_ns"
    bar_at_most "$name: runnable, at least, and by schedstat" "$least_ns" \
        $((theirs_ns + theirs_ns / 2000 + stays * off_ns + remote * remote_ns + preempted_ns))
done < <(sql "$db" "SELECT name, count(*), runs, count(runnable_ns), sum(ifnull(runnable_ns, 0)), sum(ifnull(least_ns,
    0)), sum(most_ns), delay_ns,
    sum(why IS 'wakeup' AND waker_cpu <> cpu), sum(left IS 'R+'), sum(CASE WHEN left = 'R+' THEN ifnull(runnable_ns,
        0) ELSE 0 END)
    FROM wait JOIN said USING (utid) JOIN thread USING (utid) GROUP BY utid ORDER BY name")
# A wake-up may come in the microsecond in which its thread leaves the CPU, and be taken for one that came too early.
bar_at_most "waits that are not known, where nothing was uncovered, of a thousand" \
    "$(sql "$db" "SELECT 1000.0 * count(*) / (SELECT count(*) FROM wait) FROM wait WHERE runnable_ns IS NULL
        AND NOT EXISTS (
    SELECT 1 FROM cpu_slice AS c WHERE owner = 'uncovered' AND c.ts <= wait.ts AND c.ts + c.dur >= ifnull(free_ts,
        0))")" 5

# The waker of each, and its context.
bar_at_least "naps that an interrupt or its softirq ended, of a hundred" \
    "$(sql "$db" "SELECT 100 * sum(context <> 'task') / count(*)
    FROM wait JOIN thread USING (utid) WHERE name = 'w-sleep' AND why = 'wakeup'")" 95
bar_at_least "answers that the other called for, of a hundred" \
    "$(sql "$db" "SELECT 100 * sum(k.name = 'w-ping' AND context = 'task') / count(*)
    FROM wait JOIN thread AS t USING (utid) JOIN thread AS k ON k.utid = waker_utid WHERE t.name = 'w-pong'
        AND why = 'wakeup'")" 95
bar_at_least "waits of those that never sleep that began with their preemption, of a hundred" \
    "$(sql "$db" "SELECT 100 * sum(why = 'preempted') / count(*)
    FROM wait JOIN thread USING (utid) WHERE name = 'w-burn' AND why IS NOT NULL")" 95
is "CPUs, of those that woken threads which stay on one were on" \
    "$(sql "$db" "SELECT DISTINCT target_cpu FROM sched_wakeup AS w JOIN thread USING (utid)
    JOIN said USING (utid) WHERE name = 'w-sleep' AND what = 'waking' AND w.ts > begin_ns + 100000000")" "$cpu"
woken=$(sql "$db" "SELECT count(*) FROM sched_wakeup AS w JOIN said USING (utid) WHERE what = 'waking'
    AND ts >= begin_ns")
at_least "wake-ups" "$woken" "$(scaled 3000)"
if [[ ${#perf[@]} != 0 ]]; then
    # perf stat also counts a timer's wake-up that interrupts a process which the kernel hides from the programs. There
    # is at most one in each such stretch: w-sleep naps again only once it was on this CPU. Now and then one of the two
    # has one more at the begin or end.
    by_perf=$(awk -F, '/sched_waking/ { print $1 }' "$work/perf")
    hidden=$(stretches_uncovered "$db" "$cpu")
    at_most "wake-ups by the tape, and those by perf" "$woken" $((by_perf + 3))
    at_least "wake-ups by the tape, with one for each stretch uncovered of CPU $cpu ($hidden), and those by perf" \
        $((woken + hidden)) $((by_perf - 3))
else
    echo "# no perf that works here: wake-ups are not counted by another"
fi
sql "$db" "SELECT '# ' || program || ': ' || (sum(CASE name WHEN 'run_ns' THEN value END) / sum(CASE name
    WHEN 'runs' THEN value END)) || ' ns a run'
    FROM self_cost_last WHERE program LIKE 'nt_sched_w%' GROUP BY program"
finish
