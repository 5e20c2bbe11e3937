-- SPDX-License-Identifier: GPL-2.0-only
--
-- The figures that rt_softirqs.sh asks of a recording of a PREEMPT_RT kernel: lines NAME|VALUE. The task on a CPU comes
-- from the context switches (sched_slice), the begin and end of a softirq's handler from softirq_slice, the timeline's
-- result from cpu_slice.
CREATE TEMP TABLE stay AS SELECT cpu, ts, ts + dur AS te, utid FROM sched_slice;
CREATE TEMP TABLE span AS SELECT cpu, ts, ts + dur AS te, utid, vec, context FROM softirq_slice;
CREATE TEMP TABLE own AS SELECT cpu, ts, ts + dur AS te, utid, owner FROM cpu_slice
    WHERE owner IN ('net_rx', 'net_tx', 'softirq', 'hardirq');
CREATE TEMP TABLE rival AS SELECT s.* FROM stay s JOIN thread USING (utid) WHERE name LIKE 'preempter-%';
CREATE INDEX temp.stay_at ON stay (cpu, ts);
CREATE INDEX temp.stay_end ON stay (cpu, te);
CREATE INDEX temp.own_at ON own (cpu, ts);
CREATE INDEX temp.rival_at ON rival (cpu, ts);

-- The spans whose task left the CPU inside of them.
CREATE TEMP TABLE preempted AS SELECT rowid AS id, q.* FROM span q
    WHERE EXISTS (SELECT 1 FROM stay s WHERE s.cpu = q.cpu AND s.te BETWEEN q.ts + 1 AND q.te - 1 AND s.utid = q.utid);
-- Of each: for how long its task was on the CPU, by the switches; how much of the span is its softirq's by the
-- timeline, how much hard interrupts took from the task, and how much the real-time tasks had. The first stay of a
-- span may begin before it; no slice does, as neighbours differ in owner at the handler's begin, unless a softirq went
-- before without a gap.
CREATE TEMP TABLE measured AS SELECT q.*,
    (SELECT sum(min(s.te, q.te) - max(s.ts, q.ts)) FROM stay s
     WHERE s.cpu = q.cpu AND s.utid = q.utid
       AND s.ts BETWEEN (SELECT max(b.ts) FROM stay b WHERE b.cpu = q.cpu AND b.ts <= q.ts) AND q.te - 1) AS on_ns,
    (SELECT ifnull(sum(min(o.te, q.te) - max(o.ts, q.ts)), 0) FROM own o
     WHERE o.cpu = q.cpu AND o.owner <> 'hardirq' AND o.utid = q.utid AND o.te > q.ts
       AND o.ts BETWEEN (SELECT max(b.ts) FROM own b WHERE b.cpu = q.cpu AND b.ts <= q.ts) AND q.te - 1) AS softirq_ns,
    (SELECT ifnull(sum(min(o.te, q.te) - o.ts), 0) FROM own o
     WHERE o.cpu = q.cpu AND o.owner = 'hardirq' AND o.utid = q.utid AND o.ts BETWEEN q.ts AND q.te - 1) AS hardirq_ns,
    (SELECT ifnull(sum(min(r.te, q.te) - r.ts), 0) FROM rival r
     WHERE r.cpu = q.cpu AND r.ts BETWEEN q.ts AND q.te - 1) AS rival_ns
    FROM preempted q;

SELECT 'spans', count(*) FROM span;
SELECT 'preempted', count(*) FROM measured;
SELECT 'in_op', count(*) FROM measured WHERE context = 'op';
SELECT 'by_rival', count(*) FROM measured WHERE rival_ns > 0;
SELECT 'on_ms', sum(on_ns) / 1000000 FROM measured;
SELECT 'away_ms', sum(te - ts - on_ns) / 1000000 FROM measured;
SELECT 'rival_ms', sum(rival_ns) / 1000000 FROM measured;
-- On the CPU, the span is its softirq's or a hard interrupt's, to the nanosecond; away from it, no softirq's.
SELECT 'unequal', count(*) FROM measured WHERE on_ns <> softirq_ns + hardirq_ns;
-- And for all softirq time there is: the task that it is said to be in is the one that was on the CPU, from begin to
-- end.
SELECT 'elsewhere', count(*) FROM own o WHERE o.owner <> 'hardirq' AND NOT EXISTS (
    SELECT 1 FROM stay s WHERE s.cpu = o.cpu AND s.utid = o.utid AND s.te >= o.te
      AND s.ts = (SELECT max(b.ts) FROM stay b WHERE b.cpu = o.cpu AND b.ts <= o.ts));
-- While a real-time task is on the CPU there is no softirq but what it calls itself.
SELECT 'in_rival', count(*) FROM rival r CROSS JOIN own o ON o.cpu = r.cpu AND o.owner <> 'hardirq'
    AND o.ts BETWEEN r.ts AND r.te - 1 AND o.utid <> r.utid;
SELECT 'before_rival', count(*) FROM rival r CROSS JOIN own o ON o.cpu = r.cpu AND o.owner <> 'hardirq'
    AND o.ts = (SELECT max(p.ts) FROM own p WHERE p.cpu = r.cpu AND p.ts < r.ts) AND o.te > r.ts;
SELECT 'no_begin', count(*) FROM span WHERE ts = te;
SELECT 'by_irq', count(*) FROM span WHERE context IN ('irq_exit', 'unknown');
SELECT 'at_once', count(*) FROM (SELECT te, lead(ts) OVER (PARTITION BY cpu ORDER BY ts) AS next FROM span)
    WHERE next < te;
SELECT 'net_rx_ms', sum(dur) / 1000000 FROM cpu_slice WHERE owner = 'net_rx';
-- Each CPU, to be held against another's reading: spans, how many were preempted, time in them without the time away.
SELECT 'cpu' || cpu, count(*), (SELECT count(*) FROM measured m WHERE m.cpu = q.cpu),
    sum(te - ts) - (SELECT sum(te - ts - on_ns) FROM measured m WHERE m.cpu = q.cpu) FROM span q GROUP BY cpu;
SELECT 'uncovered_ns', ifnull(sum(dur), 0) FROM cpu_slice WHERE owner = 'uncovered';
