#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A process that burns 2 s of CPU (or what it gets of a loaded host in 4 s), pinned, moved about, or left alone, beside
# network load: its time on CPUs until it read its own CPU clock for the last time agrees with that to 0.2 % (2 % in an
# emulated guest, NT_EMULATED); two of its slices never overlap.
#
# The time that the clock includes depends on the kernel. With CONFIG_IRQ_TIME_ACCOUNTING it leaves out interrupts and
# softirqs: then it is compared with the time that the task itself owns. With CONFIG_PARAVIRT_TIME_ACCOUNTING it
# leaves out what the hypervisor says it stole, if the hypervisor says so at all. And where a task is woken onto a CPU
# that is to switch, the stay is over, for that clock, at the wake-up: the kernel does not read its clock again before
# the switch. The wake-ups are on the tape (probe wakeups); a tick after the last of them reads the clock, and then the
# switch does, too. Where the configuration cannot be read, anything between is right.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

# An emulated CPU stops anywhere, for as long as the host is busy with other guests, also between the kernel's reading
# of its clock and the switch. No counter has that time. A virtual CPU's host does so for less. So both are bars.
bar_at_most_tolerance() { bar_at_most "$@" "$([[ -n ${NT_EMULATED:-} ]] && echo 0.02 || echo 0.002)"; }

irq_apart=$(kernel_config CONFIG_IRQ_TIME_ACCOUNTING)
steal_apart=$(kernel_config CONFIG_PARAVIRT_TIME_ACCOUNTING)
echo "# CONFIG_IRQ_TIME_ACCOUNTING $irq_apart, CONFIG_PARAVIRT_TIME_ACCOUNTING $steal_apart"

flood_start "$(scaled 20000)"

recording_start "$work/b.tape" --probes default,wakeups
burn() { timeout "$([[ -n ${NT_EMULATED:-} ]] && echo 60 || echo 4)" "$tools/burner" 2 "$@" >"$work/$1" ||
    [[ $? == 124 ]]; }
burn burn-pinned pin 0
burn burn-moved migrate "$([[ -n ${NT_EMULATED:-} ]] && echo 50 || echo 10)"
burn burn-free
recording_stop
db=$work/b.db
import_tape "$work/b.tape" "$db"
check_whole "$work/b.tape" "$db"

# The queries below find wake-ups and ticks within a stay by these.
sqlite3 "$db" "
    CREATE INDEX wakeup_of_cpu ON sched_wakeup (cpu, ts);
    CREATE INDEX wakeup_of_thread ON sched_wakeup (utid, ts);
    CREATE INDEX irq_of_cpu ON irq_slice (cpu, ts);
    CREATE TABLE stay AS
    SELECT cpu, ts, ts + dur AS te, end_state, utid, lead(utid) OVER (PARTITION BY cpu ORDER BY ts) AS next
    FROM sched_slice"
steal_ns=$(stolen_ns "$db")
for name in burn-pinned burn-moved burn-free; do
    read -r clock_ns _ moves end_ts <"$work/$name"
    utid="(SELECT utid FROM thread WHERE name = '$name')"
    sched_ns=$(sql "$db" "SELECT sum(min(dur, $end_ts - ts)) FROM sched_slice WHERE utid = $utid AND ts < $end_ts")
    irq_ns=$(sql "$db" "
        SELECT ifnull(sum(dur), 0) FROM cpu_slice
        WHERE utid = $utid AND ts < $end_ts AND owner IN ('hardirq', 'net_rx', 'net_tx', 'softirq')")
    slices=$(sql "$db" "SELECT count(*) FROM sched_slice WHERE utid = $utid")
    preempted=$(sql "$db" "SELECT count(*) FROM sched_slice WHERE utid = $utid AND end_state LIKE 'R%'
        AND ts + dur < $end_ts")
    # From the last wake-up in a stay that is not followed by a tick, to the stay's end: of this thread's stays, the
    # clock leaves that out; of those just before them, it has it already. The wake-up was done on this CPU, or on any
    # CPU for the thread that comes next.
    IFS='|' read -r preempting_ns preempted_ns < <(sql "$db" "
        WITH last AS (SELECT utid, next, te,
                             -- With OR, SQLite would go over all wake-ups of the CPU for each stay.
                             max(ifnull((SELECT max(w.ts) FROM sched_wakeup w
                                         WHERE w.cpu = s.cpu AND w.ts BETWEEN s.ts AND s.te), 0),
                                 ifnull((SELECT max(w.ts) FROM sched_wakeup w
                                         WHERE w.utid = s.next AND w.ts BETWEEN s.ts AND s.te), 0)) AS woken_ts,
                             (SELECT max(t.ts) FROM irq_slice t WHERE t.name = 'local_timer'
                              AND t.cpu = s.cpu AND t.ts BETWEEN s.ts AND s.te) AS tick_ts
                      FROM stay s WHERE end_state LIKE 'R%' AND te < $end_ts AND $utid IN (utid, next))
        SELECT ifnull(sum(iif(utid = $utid, te - woken_ts, 0)), 0), ifnull(sum(iif(next = $utid, te - woken_ts, 0)), 0)
        FROM last WHERE woken_ts > ifnull(tick_ts, 0)")
    echo "# $name: clock $clock_ns ns, slices $sched_ns ns in $slices ($preempted preempted)," \
        "of that interrupts and softirqs $irq_ns ns," \
        "from a wake-up to the switch that it leads to $preempting_ns ns, and to the switch to it $preempted_ns ns," \
        "moved $moves times; stolen on the whole machine $steal_ns ns"
    # The time that the clock leaves out is between these two.
    least=0 most=$preempting_ns
    [[ $irq_apart == n ]] || most=$((most + irq_ns))
    [[ $irq_apart == y ]] && least=$irq_ns
    [[ $steal_apart == n ]] || most=$((most + steal_ns))
    bar_at_most_tolerance "$name: what slices lack of the clock" \
        "$(awk -v s="$((sched_ns + preempted_ns))" -v c="$clock_ns" -v x="$least" 'BEGIN { print (c - s + x) / c }')"
    bar_at_most_tolerance "$name: what they have beyond it" \
        "$(awk -v s="$sched_ns" -v c="$clock_ns" -v x="$most" 'BEGIN { print (s - x - c) / c }')"
    at_least "$name: slices" "$slices" 2
done
is "slices of a thread that overlap its next" "$(sql "$db" "
    SELECT count(*) FROM (SELECT ts + dur AS te, lead(ts) OVER (PARTITION BY utid ORDER BY ts) AS next
                          FROM sched_slice JOIN thread USING (session_id, utid) WHERE tid <> 0)
    WHERE next < te")" 0
at_least "CPUs that the moved one was on" "$(sql "$db" "
    SELECT count(DISTINCT cpu) FROM sched_slice JOIN thread USING (session_id, utid) WHERE name = 'burn-moved'")" \
    "$(($(nproc) < 2 ? 1 : 2))"
finish
