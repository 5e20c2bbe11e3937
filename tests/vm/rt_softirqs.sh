#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PREEMPT_RT: real-time tasks preempt softirqs, a thousand times and more. The time while a softirq's task is away is
# not the softirq's; what it does when it is back is. The kernel's own counts of softirqs still agree, and the clocks of
# the preempting tasks. To be run on such a kernel, elsewhere it is skipped.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ $(uname -v) == *PREEMPT_RT* ]] || skip "not a PREEMPT_RT kernel"
needs_recorder
needs_netns

recording_start "$work/p.tape"
# A veth pair hands a datagram over in the sender's own softirq: so the sender is in softirqs often, inside of `send`.
"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
receiver=$!
keep "$receiver"
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 &
sender=$!
keep "$sender"
preempters=()
for cpu in 0 1; do
    "$tools/preempter" 4 "preempter-$cpu" "$cpu" 1000 100 >"$work/preempter-$cpu" &
    keep $!
    preempters+=($!)
done
wait "${preempters[@]}"
# Before the programs are detached: emulated, a kernel may not survive its code being patched while it runs it.
kill "$sender" "$receiver"
recording_stop
db=$work/p.db
import_tape "$work/p.tape" "$db"
check_whole "$work/p.tape" "$db"

# Where the timeline gives a CPU's time to a softirq, and when the real-time tasks were on it.
sqlite3 -batch -noheader "$db" >"$work/figures" <<'SQL'
CREATE TEMP TABLE softirq AS SELECT cpu, ts, ts + dur AS te, utid, vec, context FROM softirq_slice;
CREATE TEMP TABLE own AS SELECT cpu, ts, ts + dur AS te, utid FROM cpu_slice WHERE owner IN ('net_rx', 'net_tx', 'softirq');
CREATE TEMP TABLE stay AS SELECT cpu, ts, ts + dur AS te, utid, end_state FROM sched_slice;
CREATE TEMP TABLE rival AS SELECT s.* FROM stay s JOIN thread USING (utid) WHERE name LIKE 'preempter-%';
CREATE INDEX temp.softirq_at ON softirq (cpu, ts);
CREATE INDEX temp.own_at ON own (cpu, ts);
CREATE INDEX temp.stay_at ON stay (cpu, te);
CREATE INDEX temp.rival_at ON rival (cpu, ts);
-- A softirq whose task left inside it, how often, and for how long real-time tasks then had the CPU.
CREATE TEMP TABLE preempted AS SELECT * FROM (
    SELECT q.*, (SELECT count(*) FROM stay s WHERE s.cpu = q.cpu AND s.te > q.ts AND s.te < q.te AND s.utid = q.utid) AS left,
           (SELECT ifnull(sum(r.te - r.ts), 0) FROM rival r WHERE r.cpu = q.cpu AND r.ts >= q.ts AND r.ts < q.te) AS rival_ns,
           (SELECT ifnull(sum(min(o.te, q.te) - max(o.ts, q.ts)), 0) FROM own o
            WHERE o.cpu = q.cpu AND o.ts >= q.ts AND o.ts < q.te AND o.utid = q.utid) AS own_ns
    FROM softirq q) WHERE left > 0;
SELECT 'spans', count(*) FROM preempted;
SELECT 'spans_in_op', count(*) FROM preempted WHERE context = 'op';
SELECT 'spans_by_rival', count(*) FROM preempted WHERE rival_ns > 0;
SELECT 'away_ms', sum(te - ts - own_ns) / 1000000 FROM preempted;
SELECT 'own_ms', sum(own_ns) / 1000000 FROM preempted;
SELECT 'too_long', count(*) FROM preempted WHERE own_ns + rival_ns > te - ts;
SELECT 'none', count(*) FROM preempted WHERE own_ns = 0;
-- Softirqs of others while a real-time task is on the CPU, and of its own.
SELECT 'overlaps', count(*) FROM rival r JOIN own o ON o.cpu = r.cpu AND o.ts >= r.ts AND o.ts < r.te WHERE o.utid <> r.utid;
SELECT 'overlaps_before', count(*) FROM rival r JOIN own o
    ON o.cpu = r.cpu AND o.ts = (SELECT max(ts) FROM own p WHERE p.cpu = r.cpu AND p.ts < r.ts) WHERE o.te > r.ts;
-- The task of a span is the task of its time.
SELECT 'unknown_begin', count(*) FROM softirq WHERE ts = te;
SELECT 'two_at_once', count(*) FROM (SELECT te, lead(ts) OVER (PARTITION BY cpu ORDER BY ts) AS next FROM softirq) WHERE next < te;
SELECT 'irq_exit', count(*) FROM softirq WHERE context IN ('irq_exit', 'unknown');
SQL
figure() { sed -n "s/^$1|//p" "$work/figures"; }
sed 's/^/    /' "$work/figures"
sql "$db" "
    SELECT '    ran ' || count(*) || ' ' || context || ' in ' || CASE WHEN name LIKE 'irq/%' THEN 'irq/' WHEN name LIKE '%/%'
           THEN substr(name, 1, instr(name, '/')) ELSE name END || ' (' || group_concat(DISTINCT vec) || ')'
    FROM softirq_slice JOIN thread USING (session_id, utid) GROUP BY context, CASE WHEN name LIKE 'irq/%' THEN 'irq/' WHEN name LIKE '%/%'
           THEN substr(name, 1, instr(name, '/')) ELSE name END ORDER BY count(*) DESC LIMIT 12"

at_least "softirqs preempted" "$(figure spans)" 1000
at_least "of those, by the real-time tasks" "$(figure spans_by_rival)" 1000
at_least "of those preempted, inside an operation" "$(figure spans_in_op)" 100
is "softirq time of others while a real-time task is on the CPU" "$(figure overlaps)" 0
is "the same, begun before it came" "$(figure overlaps_before)" 0
is "preempted softirqs with more time than there was" "$(figure too_long)" 0
is "preempted softirqs without time of their own" "$(figure none)" 0
is "softirqs whose begin was not seen" "$(figure unknown_begin)" 0
is "softirqs said to be called by an interrupt" "$(figure irq_exit)" 0
echo "# softirqs begun on a CPU before another's end: $(figure two_at_once)"

for cpu in 0 1; do
    read -r clock_ns wakes <"$work/preempter-$cpu"
    utid="(SELECT utid FROM thread WHERE name = 'preempter-$cpu')"
    slices_ns=$(sql "$db" "SELECT sum(dur) FROM sched_slice WHERE utid = $utid AND priority = 39")
    at_least "preempter-$cpu: wakes" "$wakes" 1000
    # Its first moments, before it was pinned and in real time, are in the clock too: a few ms.
    all_ns=$(sql "$db" "SELECT sum(dur) FROM sched_slice WHERE utid = $utid")
    echo "# preempter-$cpu: clock $clock_ns ns, slices $all_ns ns, of that in real time $slices_ns ns"
    at_least "preempter-$cpu: slices over its own clock" "$(awk -v s="$all_ns" -v c="$clock_ns" 'BEGIN { print s / c }')" 0.98
    at_most "preempter-$cpu: the same" "$(awk -v s="$all_ns" -v c="$clock_ns" 'BEGIN { print s / c }')" 1.02
done
finish
