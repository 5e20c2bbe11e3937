-- SPDX-License-Identifier: GPL-2.0-only
--
-- The rows that an export to Perfetto must show, from nettape's own tables: the queries of perfetto.sql, by name. Some
-- are from Perfetto's documentation. For databases of one session.
--
-- Threads of which the tape has no number are -1. Names of the kernel's workers are cut by Perfetto.
SELECT 'stays', cpu, coalesce(tid, -1), coalesce(end_state, ''), count(*), sum(dur), sum(ts % 1000003),
    sum(iif(end_state IS NULL, 0, priority))
FROM sched_slice JOIN thread USING (session_id, utid) GROUP BY 2, 3, 4;
SELECT 'uncovered', cpu, sum(dur) FROM cpu_slice WHERE owner IN ('uncovered', 'offline') AND cpu IN (SELECT cpu
    FROM sched_slice) GROUP BY 2;
SELECT 'running', coalesce(tid, -1), count(*), sum(dur) FROM sched_slice JOIN thread USING (session_id, utid)
    WHERE utid <> 0 GROUP BY 2;
-- Perfetto knows the kernel's ten vectors.
SELECT 'softirqs', cpu, vec, count(*), sum(dur), sum(ts % 1000003) FROM softirq_slice WHERE vec <> 'unknown'
    GROUP BY 2, 3;
SELECT 'waits', 'CPU ' || cpu || ': ' || vec || ' waits', vec, count(*), sum(min(ts + dur, end_ts) - max(ts, start_ts)),
    sum(max(ts, start_ts) % 1000003)
FROM (SELECT r.*, s.start_ts, s.end_ts FROM softirq_raise r JOIN session s USING (session_id))
WHERE ts <= end_ts AND ts + dur >= start_ts GROUP BY 2, 3;
SELECT 'disks', dev, op, count(*), sum(min(ts + dur, end_ts) - max(ts, start_ts)), sum(max(ts, start_ts) % 1000003),
    sum(bytes), sum(queue_ns), payer, coalesce(tid, 0), result
FROM (SELECT b.*, s.start_ts, s.end_ts, t.tid, coalesce(b.device, 'no device') AS dev FROM block_io b
    JOIN session s USING (session_id) LEFT JOIN thread t USING (session_id, utid))
WHERE ts <= end_ts AND ts + dur >= start_ts AND flags NOT LIKE '%unissued%' GROUP BY 2, 3, 9, 10, 11;
SELECT 'memory', iif(m.kind = 'swap', 'mem.swap', 'mem.rss.' || m.kind), pid, count(*), sum(m.bytes),
    sum(m.ts % 1000003)
FROM mem_rss m JOIN process USING (session_id, upid) JOIN session s USING (session_id)
WHERE m.ts BETWEEN s.start_ts AND s.end_ts AND pid > 0 AND m.kind IN ('file', 'anon', 'swap', 'shmem') GROUP BY 2, 3;
SELECT 'faults', tid, count(*), sum(f.minor), sum(f.major), sum((f.ts + f.dur) % 1000003) FROM page_fault f
    JOIN session s USING (session_id) JOIN thread t USING (session_id, utid)
WHERE f.ts + f.dur BETWEEN s.start_ts AND s.end_ts AND tid IS NOT NULL GROUP BY 2;
SELECT 'kmem', kind, count(*), sum(k.bytes), sum(weight), sum(k.ts % 1000003) FROM kmem k
    JOIN session s USING (session_id) WHERE k.ts BETWEEN s.start_ts AND s.end_ts GROUP BY 2;
SELECT 'interrupts', cpu, 'IRQ (' || name || ')', count(*), sum(dur), sum(ts % 1000003) FROM irq_slice GROUP BY 2, 3;
SELECT 'owners', 'CPU ' || cpu, owner, count(*), sum(dur), sum(ts % 1000003) FROM cpu_slice GROUP BY 2, 3;
SELECT 'operations', coalesce(tid, -1), op, syscall, result,
    CASE WHEN src IS NULL AND dst IS NULL THEN family || ' ' || type || ' ' || s.proto || ', socket ' || s.id
    ELSE s.proto || ' ' || coalesce(iif(src LIKE '%:%', '[' || src || ']', src) || ':' || sport, '*') || ' to ' ||
        coalesce(iif(dst LIKE '%:%', '[' || dst || ']', dst) || ':' || dport, '*') END,
    flags, count(*), sum(coalesce(dur, 0)), sum(bytes), sum(cpu_ns)
FROM sock_op o JOIN thread USING (session_id, utid) LEFT JOIN socket s ON s.session_id = o.session_id
    AND s.id = o.socket_id GROUP BY 2, 3, 4, 5, 6, 7;
SELECT 'begins', op, sum(ts % 1000003) FROM sock_op WHERE utid IS NOT NULL GROUP BY 2;
SELECT 'packets', hook, count(*), 0, sum(ts % 1000003), sum(latency_ns), sum(length), sum(weight), sum(wait_ns)
    FROM skb_latency GROUP BY 2;
SELECT 'packets', 'drop', count(*), 0, sum(ts % 1000003), NULL, sum(length), NULL, NULL FROM skb_drop
    HAVING count(*) > 0;
SELECT 'packets', 'retransmit', count(*), 0, sum(ts % 1000003), NULL, sum(length), NULL, NULL FROM tcp_retransmit
    HAVING count(*) > 0;
-- Segments of TCP may share a stamp: then each is tied to the one before it, up to the read.
SELECT 'flows', count(*), sum(ts - before_ts) FROM (
    SELECT ts, lag(ts) OVER way AS before_ts, lag(hook) OVER way AS before FROM skb_latency
    WHERE (hook LIKE '%-socket-enqueued' OR hook LIKE '%-socket-read') AND socket_id IS NOT NULL
        AND stamp_ns IS NOT NULL
    WINDOW way AS (PARTITION BY socket_id, stamp_ns ORDER BY ts)) WHERE before LIKE '%-socket-enqueued';
SELECT 'losses', 'CPU ' || cpu || ': ' || kind, 'lost: ' || kind, count(*), sum(dur), sum(count) FROM loss GROUP BY 2,
    3;
-- Of what is not whole: stretches in which records are missing from the tape, and what is said of the recording.
SELECT 'missing', 'CPU ' || cpu || ': missing', count(*), sum(dur) FROM (SELECT DISTINCT cpu, ts, dur FROM loss
    WHERE dur > 0 AND why IN ('missing block', 'damaged block', 'no state record', 'no last state record'))
WHERE EXISTS (SELECT 1 FROM problem) GROUP BY 2;
SELECT 'not_whole', count(*), (SELECT text FROM problem ORDER BY rowid LIMIT 1), (SELECT coalesce(sum(dur), 0)
    FROM (SELECT DISTINCT cpu, ts, dur FROM loss
    WHERE why IN ('missing block', 'damaged block', 'no state record', 'no last state record'))),
    (SELECT dur FROM session) FROM problem HAVING count(*) > 0;
SELECT 'counters', CASE WHEN cpu IS NOT NULL THEN 'softnet ' || name || ', CPU ' || cpu
    WHEN source LIKE '%/pressure/%' THEN replace(source, '/proc/pressure/', 'pressure ') || ' ' || name
    WHEN source LIKE '%/powercap' THEN 'energy uJ ' || name WHEN source LIKE '%/sockstat' THEN 'pages of ' || name
    ELSE name END, count(*), sum(value)
    FROM proc_counter
WHERE source GLOB '/proc/pressure/*' OR source = '/sys/class/powercap'
    OR (source = '/proc/net/sockstat' AND name IN ('TCP.mem', 'UDP.mem'))
    OR (source = '/proc/net/softnet_stat' AND name IN ('processed', 'dropped', 'time_squeeze'))
    OR (source = '/proc/net/snmp' AND name IN
    ('Ip.InReceives', 'Ip.OutRequests', 'Udp.InDatagrams', 'Udp.OutDatagrams', 'Udp.InErrors', 'Udp.RcvbufErrors',
        'Tcp.InSegs', 'Tcp.OutSegs',
    'Tcp.RetransSegs')) GROUP BY 2;
SELECT 'shares', 'CPU ' || cpu, printf('%.3f', sum(100.0 * net / known * dur) / 1e9 + 1e-6) FROM (
    SELECT cpu, ts, dur, sum(iif(owner IN ('net_rx', 'net_tx', 'send', 'recv'), ns, 0)) AS net,
        sum(iif(owner IN ('uncovered', 'offline'), 0, ns)) AS known
    FROM net_cost_over_time GROUP BY cpu, ts) WHERE known > 0 GROUP BY 2;
SELECT 'payers', CASE WHEN payer <> 'socket' THEN payer WHEN upid IS NULL THEN 'sockets of no known process'
    ELSE p.name || ' (' || p.pid || ')' END, printf('%.0f', sum(spent_ns) / 1e3)
FROM rx_cost LEFT JOIN process AS p USING (session_id, upid)
WHERE spent_ns > 0 AND EXISTS (SELECT 1 FROM rx_cost WHERE payer <> 'unattributed') GROUP BY 2;
SELECT 'bounds', min(start_ts, coalesce((SELECT min(ts) FROM skb_latency), start_ts), coalesce((SELECT min(ts)
    FROM skb_drop), start_ts),
        coalesce((SELECT min(ts) FROM loss), start_ts), coalesce((SELECT min(ts) FROM stack_sample), start_ts),
            coalesce((SELECT min(ts) FROM sched_wakeup), start_ts)),
    max(end_ts, coalesce((SELECT max(ts) FROM skb_latency), end_ts), coalesce((SELECT max(ts + dur) FROM loss), end_ts),
        coalesce((SELECT max(ts) FROM skb_drop), end_ts), coalesce((SELECT max(ts) FROM stack_sample), end_ts),
            coalesce((SELECT max(ts) FROM sched_wakeup), end_ts),
        coalesce((SELECT max(ts_end) FROM proc_counter WHERE source LIKE '/proc/net/s%'), end_ts))
FROM session;
SELECT DISTINCT 'tid_of_process', p.pid, t.tid FROM thread t JOIN process p USING (session_id, upid) WHERE t.tid > 0
    AND p.pid > 0;
SELECT 'cpu_time_by_process', iif(p.name GLOB 'kworker*', 'kworker', p.name), sum(s.dur), count(DISTINCT utid)
FROM sched_slice s JOIN thread t USING (session_id, utid) JOIN process p USING (session_id, upid) WHERE p.pid > 0
    GROUP BY 2;
SELECT 'cpu_time_by_thread', tid, sum(dur) FROM sched_slice JOIN thread USING (session_id, utid) WHERE tid > 0
    GROUP BY tid;
SELECT 'events_by_cpu', cpu, count(*) FROM sched_slice JOIN thread USING (session_id, utid)
    JOIN process p USING (session_id, upid) WHERE p.pid > 0 GROUP BY cpu;
SELECT 'utilisation', cpu, sum(dur) FROM (SELECT cpu, dur FROM sched_slice WHERE utid <> 0 UNION ALL
    SELECT cpu, dur FROM cpu_slice WHERE owner IN ('uncovered', 'offline') AND cpu IN (SELECT cpu FROM sched_slice))
        GROUP BY cpu;
SELECT 'softirqs_of_linux', vec, count(*), sum(dur) FROM softirq_slice WHERE vec <> 'unknown' GROUP BY vec;
SELECT 'interrupts_of_linux', 'IRQ (' || name || ')', count(*), sum(dur) FROM irq_slice GROUP BY name;
SELECT 'stacks', cpu, iif(in_user, 'user', 'kernel'), count(*) FROM stack_sample WHERE coalesce(stack_id,
    user_stack_id) IS NOT NULL AND utid IS NOT NULL GROUP BY 2, 3;
SELECT 'innermost_frames', coalesce(y.name, '[unknown]'), ltrim(coalesce(y.path, y.module, iif(y.kind = 'kernel',
    '[kernel]', '[unknown]')), '/'), count(*)
FROM stack_sample s JOIN stack k ON k.session_id = s.session_id AND k.id = coalesce(s.stack_id, s.user_stack_id)
LEFT JOIN symbol y ON y.session_id = k.session_id AND y.id = k.symbol_id WHERE s.utid IS NOT NULL GROUP BY 2, 3;
SELECT 'depths_of_stacks', coalesce(a.depth, 0) + coalesce(b.depth, 0) AS depth, count(*) FROM stack_sample s
LEFT JOIN stack a ON a.session_id = s.session_id AND a.id = s.stack_id LEFT JOIN stack b ON b.session_id = s.session_id
    AND b.id = s.user_stack_id
WHERE (a.id IS NOT NULL OR b.id IS NOT NULL) AND s.utid IS NOT NULL GROUP BY 2;
