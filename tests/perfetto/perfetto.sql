-- stays
SELECT cpu, iif(tid >= 1342177280, -1, tid), iif(end_state = 'PI', '', end_state), count(*), sum(dur),
    sum(ts % 1000003),
    sum(iif(end_state = 'PI', 0, priority))
FROM sched JOIN thread USING (utid) WHERE dur >= 0 AND tid NOT BETWEEN 1073741824 AND 1107296255 GROUP BY 1, 2, 3
-- uncovered
SELECT cpu, sum(dur) FROM sched JOIN thread USING (utid) WHERE dur > 0 AND tid BETWEEN 1073741824 AND 1090519039
    GROUP BY 1
-- running
SELECT iif(tid >= 1342177280, -1, tid), count(*), sum(t.dur) FROM thread_state t JOIN thread USING (utid)
WHERE state = 'Running' AND tid NOT BETWEEN 1073741824 AND 1107296255 GROUP BY 1
-- softirqs
SELECT extract_arg(t.dimension_arg_set_id, 'cpu'), s.name, count(*), sum(dur), sum(ts % 1000003)
FROM slice s JOIN track t ON t.id = s.track_id WHERE t.type = 'cpu_softirq' GROUP BY 1, 2
-- interrupts
SELECT extract_arg(t.dimension_arg_set_id, 'cpu'), s.name, count(*), sum(dur), sum(ts % 1000003)
FROM slice s JOIN track t ON t.id = s.track_id WHERE t.type = 'cpu_irq' GROUP BY 1, 2
-- waits
SELECT t.name, s.name, count(*), sum(dur), sum(ts % 1000003) FROM slice s JOIN track t ON t.id = s.track_id
    JOIN track p ON p.id = t.parent_id
WHERE p.name = 'Softirqs that wait' GROUP BY 1, 2
-- disks
SELECT t.name, s.name, count(*), sum(dur), sum(ts % 1000003), sum(extract_arg(s.arg_set_id, 'debug.bytes')),
    sum(extract_arg(s.arg_set_id, 'debug.queue_ns')), extract_arg(s.arg_set_id, 'debug.payer'),
    coalesce(extract_arg(s.arg_set_id, 'debug.tid'), 0), extract_arg(s.arg_set_id, 'debug.result')
FROM slice s JOIN track t ON t.id = s.track_id JOIN track p ON p.id = t.parent_id
WHERE p.name = 'Block devices' GROUP BY 1, 2, 8, 9, 10
-- memory
SELECT t.name, pid, count(*), sum(cast(value AS INT)), sum(ts % 1000003) FROM counter c
    JOIN process_counter_track t ON t.id = c.track_id JOIN process USING (upid) WHERE t.name GLOB 'mem.*' GROUP BY 1, 2
-- faults
SELECT iif(tid >= 1342177280, -1, tid), count(*), sum(extract_arg(s.arg_set_id, 'debug.minor')),
    sum(extract_arg(s.arg_set_id, 'debug.major')), sum(ts % 1000003)
FROM slice s JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid) WHERE s.name = 'page faults'
    AND tid < 1342177280 GROUP BY 1
-- kmem
SELECT extract_arg(arg_set_id, 'debug.kind'), count(*), sum(extract_arg(arg_set_id, 'debug.bytes')),
    sum(extract_arg(arg_set_id, 'debug.weight')), sum(ts % 1000003)
FROM slice WHERE name = 'kmem' GROUP BY 1
-- owners
SELECT t.name, s.name, count(*), sum(dur), sum(ts % 1000003) FROM slice s JOIN track t ON t.id = s.track_id
    JOIN track p ON p.id = t.parent_id
WHERE p.name = 'Who had each CPU' GROUP BY 1, 2
-- operations
SELECT iif(tid >= 1342177280, -1, tid), s.name, extract_arg(s.arg_set_id, 'debug.syscall'), extract_arg(s.arg_set_id,
    'debug.result'),
    extract_arg(s.arg_set_id, 'debug.socket'), coalesce(extract_arg(s.arg_set_id, 'debug.flags'), ''),
    count(*), sum(dur), sum(extract_arg(s.arg_set_id, 'debug.bytes')), sum(extract_arg(s.arg_set_id, 'debug.cpu_ns'))
FROM slice s JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid) WHERE s.name IN ('send', 'recv')
    GROUP BY 1, 2, 3, 4, 5, 6
-- begins
SELECT s.name, sum(ts % 1000003) FROM slice s JOIN thread_track t ON t.id = s.track_id JOIN thread USING (utid)
    WHERE s.name IN ('send', 'recv') GROUP BY 1
-- packets
SELECT s.name, count(*), sum(dur), sum(ts % 1000003), sum(extract_arg(s.arg_set_id, 'debug.latency_ns')),
    sum(extract_arg(s.arg_set_id, 'debug.length')),
    sum(extract_arg(s.arg_set_id, 'debug.weight')), sum(extract_arg(s.arg_set_id, 'debug.wait_ns'))
FROM slice s JOIN track t ON t.id = s.track_id
WHERE (s.name GLOB '*-start' OR s.name GLOB '*-socket-*' OR s.name GLOB 'tx-*'
    OR s.name IN ('drop', 'retransmit', 'unknown'))
    AND coalesce(t.name, '') NOT GLOB '* waits' GROUP BY 1
-- flows
SELECT count(*), sum(i.ts - o.ts) FROM flow JOIN slice o ON o.id = slice_out JOIN slice i ON i.id = slice_in
-- losses
SELECT t.name, s.name, count(*), sum(dur), sum(extract_arg(s.arg_set_id, 'debug.count')) FROM slice s
    JOIN track t ON t.id = s.track_id
WHERE s.name GLOB 'lost: *' GROUP BY 1, 2
-- missing
SELECT t.name, count(*), sum(dur) FROM slice s JOIN track t ON t.id = s.track_id JOIN track p ON p.id = t.parent_id
WHERE p.name = 'Missing from the tape' AND t.name <> 'the recording' GROUP BY 1
-- not_whole
SELECT extract_arg(s.arg_set_id, 'debug.problems'), extract_arg(s.arg_set_id, 'debug.first'),
    extract_arg(s.arg_set_id, 'debug.touched_ns'), dur
FROM slice s JOIN track t ON t.id = s.track_id JOIN track p ON p.id = t.parent_id
WHERE p.name = 'Missing from the tape' AND t.name = 'the recording' AND s.name GLOB 'NOT WHOLE: *'
-- counters
SELECT t.name, count(*), sum(cast(value AS INT)) FROM counter c JOIN track t ON t.id = c.track_id
    JOIN track p ON p.id = t.parent_id
WHERE p.name = 'Counters of the host' GROUP BY 1
-- shares
SELECT name, printf('%.3f', sum(value * (until - ts)) / 1e9 + 1e-6) FROM (
    SELECT t.name, value, ts, lead(ts, 1, (SELECT max(s.ts + s.dur) FROM sched s)) OVER (PARTITION BY t.name
        ORDER BY ts) AS until
    FROM counter c JOIN track t ON t.id = c.track_id JOIN track p ON p.id = t.parent_id WHERE p.name GLOB 'Network*')
        GROUP BY 1
-- payers
SELECT name, printf('%.0f', sum(value * (until - ts)) / 100 / 1e3) FROM (
    SELECT t.name, value, ts, lead(ts, 1, (SELECT max(s.ts + s.dur) FROM sched s)) OVER (PARTITION BY t.name
        ORDER BY ts) AS until
    FROM counter c JOIN track t ON t.id = c.track_id JOIN track p ON p.id = t.parent_id
    WHERE p.name = 'Who pays for net_rx') GROUP BY 1
-- bounds
SELECT start_ts, end_ts FROM trace_bounds
-- tid_of_process
SELECT DISTINCT pid, tid FROM thread JOIN process USING (upid) WHERE tid BETWEEN 1 AND 4194304
    AND thread.name IS NOT NULL
-- cpu_time_by_process
SELECT iif(process.name GLOB 'kworker*', 'kworker', process.name), SUM(sched.dur), COUNT(DISTINCT utid)
FROM sched INNER JOIN thread USING (utid) INNER JOIN process USING (upid) WHERE pid BETWEEN 1 AND 4194304 GROUP BY 1
-- cpu_time_by_thread
SELECT tid, SUM(sched.dur) FROM sched INNER JOIN thread USING (utid) WHERE tid BETWEEN 1 AND 4194304 GROUP BY tid
-- events_by_cpu
SELECT cpu, COUNT(*) FROM sched_slice JOIN thread USING (utid) JOIN process USING (upid) WHERE pid BETWEEN 1 AND 4194304
    GROUP BY cpu
-- utilisation
SELECT cpu, SUM(dur) FROM sched JOIN thread USING (utid) WHERE NOT is_idle GROUP BY cpu
-- softirqs_of_linux
INCLUDE PERFETTO MODULE linux.irqs; SELECT name, count(*), sum(dur) FROM linux_soft_irqs GROUP BY name
-- interrupts_of_linux
INCLUDE PERFETTO MODULE linux.irqs; SELECT name, count(*), sum(dur) FROM linux_hard_irqs GROUP BY name
-- stacks
SELECT cpu, cpu_mode, count(*) FROM perf_sample GROUP BY 1, 2
-- innermost_frames
SELECT f.name, ltrim(p.name, '/'), count(*) FROM perf_sample s JOIN stack_profile_callsite c ON c.id = s.callsite_id
    JOIN stack_profile_frame f ON f.id = c.frame_id
JOIN stack_profile_mapping p ON p.id = f.mapping GROUP BY 1, 2
-- depths_of_stacks
SELECT depth + 1, count(*) FROM perf_sample s JOIN stack_profile_callsite c ON c.id = s.callsite_id GROUP BY 1
