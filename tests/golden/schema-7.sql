-- A database in the form of version 7 of docs/sql-schema.md, without a session. tests/cli/report_errors.sh makes it
-- with sqlite3. A program of this version must read it; another form is another version.
PRAGMA application_id = 1853124705;
PRAGMA user_version = 7;
CREATE TABLE session(session_id INTEGER NOT NULL, uuid TEXT NOT NULL, host TEXT NOT NULL, kernel TEXT, machine TEXT, os TEXT, virtual TEXT, boot_id TEXT NOT NULL, tool TEXT, stop TEXT, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, dur INTEGER NOT NULL, start_realtime_ns INTEGER, bucket_ns INTEGER NOT NULL, cpus INTEGER NOT NULL, clock_ticks INTEGER, bytes INTEGER NOT NULL, chunks INTEGER NOT NULL, complete INTEGER NOT NULL, events INTEGER NOT NULL, lost INTEGER NOT NULL, outside INTEGER NOT NULL, unknown INTEGER NOT NULL, undeclared INTEGER NOT NULL, clamped INTEGER NOT NULL, clamped_max_ns INTEGER NOT NULL, malformed INTEGER NOT NULL, bad_lines INTEGER NOT NULL, clock_uncertainty_ns INTEGER, clock_steps INTEGER NOT NULL, PRIMARY KEY(session_id)) WITHOUT ROWID;
CREATE TABLE session_meta(session_id INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE problem(session_id INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE process(session_id INTEGER NOT NULL, upid INTEGER NOT NULL, pid INTEGER, ppid INTEGER, name TEXT, cgroup_id INTEGER, start_ts INTEGER, end_ts INTEGER, PRIMARY KEY(session_id, upid)) WITHOUT ROWID;
CREATE TABLE thread(session_id INTEGER NOT NULL, utid INTEGER NOT NULL, tid INTEGER, upid INTEGER, name TEXT, start_ts INTEGER, end_ts INTEGER, is_kernel INTEGER, PRIMARY KEY(session_id, utid)) WITHOUT ROWID;
CREATE TABLE cgroup(session_id INTEGER NOT NULL, id INTEGER NOT NULL, path TEXT NOT NULL, kernel_id INTEGER, runtime TEXT, container TEXT, pod TEXT, unit TEXT, name TEXT, label TEXT NOT NULL, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE socket(session_id INTEGER NOT NULL, id INTEGER NOT NULL, family TEXT NOT NULL, type TEXT NOT NULL, proto TEXT NOT NULL, src TEXT, sport INTEGER, dst TEXT, dport INTEGER, netns INTEGER, cookie INTEGER, upid INTEGER, cgroup_id INTEGER, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE net_device(session_id INTEGER NOT NULL, ifindex INTEGER NOT NULL, name TEXT, netns INTEGER, id INTEGER NOT NULL, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE flow(session_id INTEGER NOT NULL, id INTEGER NOT NULL, family TEXT, proto TEXT, src TEXT, sport INTEGER, dst TEXT, dport INTEGER, ethertype INTEGER NOT NULL, netns INTEGER, device_id INTEGER, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE sched_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, end_state TEXT, priority INTEGER);
CREATE TABLE softirq_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, vec TEXT NOT NULL, context TEXT NOT NULL, utid INTEGER);
CREATE TABLE irq_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, irq INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, utid INTEGER);
CREATE TABLE sock_op(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER, cpu_ns INTEGER, utid INTEGER, op TEXT NOT NULL, syscall TEXT NOT NULL, socket_id INTEGER, bytes INTEGER, result TEXT NOT NULL, flags TEXT NOT NULL, cpu INTEGER NOT NULL);
CREATE TABLE napi_poll(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER, cpu INTEGER NOT NULL, utid INTEGER, context TEXT NOT NULL, device_id INTEGER, napi_id INTEGER, work INTEGER NOT NULL, budget INTEGER NOT NULL);
CREATE TABLE rx_stretch(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, flow_id INTEGER, packets INTEGER NOT NULL, segments INTEGER NOT NULL, bytes INTEGER NOT NULL, is_first INTEGER NOT NULL, is_listed INTEGER NOT NULL, after_loss INTEGER NOT NULL, is_again INTEGER NOT NULL, is_forwarded INTEGER NOT NULL, is_steered INTEGER NOT NULL, dropped INTEGER NOT NULL);
CREATE TABLE net_timer(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, function TEXT NOT NULL, took_ns INTEGER NOT NULL, own_ns INTEGER);
CREATE TABLE skb_latency(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, hook TEXT NOT NULL, latency_ns INTEGER, stamp_ns INTEGER, device_id INTEGER, socket_id INTEGER, utid INTEGER, length INTEGER, queue_len INTEGER NOT NULL, weight INTEGER NOT NULL, flags TEXT NOT NULL);
CREATE TABLE skb_drop(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, reason TEXT NOT NULL, location TEXT NOT NULL, device_id INTEGER, socket_id INTEGER, length INTEGER NOT NULL, protocol INTEGER);
CREATE TABLE tcp_retransmit(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, what TEXT NOT NULL, socket_id INTEGER, length INTEGER NOT NULL, state TEXT);
CREATE TABLE sched_wakeup(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, target_cpu INTEGER NOT NULL, waker_utid INTEGER, priority INTEGER NOT NULL, what TEXT NOT NULL, context TEXT, was_runnable INTEGER NOT NULL);
CREATE TABLE stack_sample(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, owner TEXT, stage TEXT, family TEXT, context TEXT NOT NULL, vec TEXT, in_user INTEGER NOT NULL, stack_id INTEGER, user_stack_id INTEGER, error INTEGER, user_error INTEGER, flags TEXT NOT NULL, flow_id INTEGER, flow_is_exact INTEGER);
CREATE TABLE stack(session_id INTEGER NOT NULL, id INTEGER NOT NULL, depth INTEGER NOT NULL, kind TEXT NOT NULL, parent_id INTEGER, symbol_id INTEGER, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE frame(session_id INTEGER NOT NULL, stack_id INTEGER NOT NULL, pos INTEGER NOT NULL, symbol_id INTEGER);
CREATE TABLE symbol(session_id INTEGER NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, offset INTEGER, module TEXT, build_id TEXT, file_offset INTEGER, path TEXT, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE cpu_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, owner TEXT NOT NULL, utid INTEGER);
CREATE TABLE loss(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, kind TEXT NOT NULL, count INTEGER, why TEXT NOT NULL);
CREATE TABLE clock_snapshot(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, realtime_ns INTEGER, tai_ns INTEGER, boot_ns INTEGER, uncertainty_ns INTEGER);
CREATE TABLE proc_counter(session_id INTEGER NOT NULL, ts_begin INTEGER NOT NULL, ts_end INTEGER NOT NULL, source TEXT NOT NULL, cpu INTEGER, name TEXT NOT NULL, value INTEGER NOT NULL);
CREATE TABLE self_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, program TEXT, name TEXT NOT NULL, value INTEGER NOT NULL);
CREATE TABLE record_count(session_id INTEGER NOT NULL, cpu INTEGER NOT NULL, kind TEXT NOT NULL, records INTEGER NOT NULL, lost INTEGER NOT NULL);
CREATE TABLE cpu_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, owner TEXT NOT NULL, utid INTEGER, spent_ns INTEGER NOT NULL);
CREATE TABLE sock_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, utid INTEGER, op TEXT NOT NULL, socket_id INTEGER, ops INTEGER NOT NULL, failed INTEGER NOT NULL, untimed INTEGER NOT NULL, lower_bound INTEGER NOT NULL, bytes INTEGER NOT NULL, cpu_ns INTEGER NOT NULL);
CREATE TABLE rx_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, payer TEXT NOT NULL, socket_id INTEGER, upid INTEGER, device_id INTEGER, flow_id INTEGER, reason TEXT, packets INTEGER NOT NULL, segments INTEGER NOT NULL, bytes INTEGER NOT NULL, spent_ns INTEGER NOT NULL, exact_ns INTEGER NOT NULL, most_ns INTEGER NOT NULL);
CREATE TABLE elsewhere_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL, device TEXT, irq INTEGER, spent_ns INTEGER NOT NULL);
CREATE VIEW net_cost_cpu AS
SELECT c.session_id, c.cpu, c.owner, sum(c.spent_ns) AS ns, CAST(sum(c.spent_ns) AS REAL) / s.dur AS share
FROM cpu_cost AS c JOIN session AS s ON s.session_id = c.session_id
GROUP BY c.session_id, c.cpu, c.owner;
CREATE VIEW net_cost_over_time AS
WITH RECURSIVE
one(session_id, ts, cpu, owner, spent_ns, rest, bucket_ns) AS (
    SELECT c.session_id, c.ts, c.cpu, c.owner, min(c.spent_ns, s.bucket_ns), c.dur - s.bucket_ns, s.bucket_ns
    FROM cpu_cost AS c JOIN session AS s ON s.session_id = c.session_id
    UNION ALL
    SELECT session_id, ts + bucket_ns, cpu, owner, bucket_ns, rest - bucket_ns, bucket_ns
    FROM one WHERE rest > 0
)
SELECT one.session_id, one.ts, min(s.bucket_ns, s.end_ts - one.ts) AS dur,
       s.start_realtime_ns + one.ts - s.start_ts AS realtime_ns, one.cpu, one.owner, sum(one.spent_ns) AS ns,
       CAST(sum(one.spent_ns) AS REAL) / min(s.bucket_ns, s.end_ts - one.ts) AS share
FROM one JOIN session AS s ON s.session_id = one.session_id
GROUP BY one.session_id, one.ts, one.cpu, one.owner;
CREATE VIEW net_cost_thread AS
WITH part AS (
    SELECT session_id, utid,
           CASE owner WHEN 'send' THEN spent_ns ELSE 0 END AS send_ns,
           CASE owner WHEN 'recv' THEN spent_ns ELSE 0 END AS recv_ns,
           CASE owner WHEN 'task' THEN spent_ns ELSE 0 END AS task_ns,
           0 AS send_ops, 0 AS recv_ops, 0 AS send_bytes, 0 AS recv_bytes, 0 AS untimed_ops, 0 AS lower_bound_ops
    FROM cpu_cost WHERE owner IN ('send', 'recv', 'task')
    UNION ALL
    SELECT session_id, utid, 0, 0, 0,
           CASE op WHEN 'send' THEN ops ELSE 0 END, CASE op WHEN 'recv' THEN ops ELSE 0 END,
           CASE op WHEN 'send' THEN bytes ELSE 0 END, CASE op WHEN 'recv' THEN bytes ELSE 0 END,
           untimed, lower_bound
    FROM sock_cost
)
SELECT p.session_id, p.utid, t.tid, t.name, t.upid,
       sum(p.send_ns) AS send_ns, sum(p.recv_ns) AS recv_ns, sum(p.send_ns + p.recv_ns) AS net_ns,
           sum(p.task_ns) AS task_ns,
       sum(p.send_ops) AS send_ops, sum(p.recv_ops) AS recv_ops,
       sum(p.send_bytes) AS send_bytes, sum(p.recv_bytes) AS recv_bytes,
       sum(p.untimed_ops) AS untimed_ops, sum(p.lower_bound_ops) AS lower_bound_ops
FROM part AS p LEFT JOIN thread AS t ON t.session_id = p.session_id AND t.utid = p.utid
GROUP BY p.session_id, p.utid;
CREATE VIEW net_cost_process AS
WITH part AS (
    SELECT session_id, upid, send_ns, recv_ns, net_ns, 0 AS rx_ns, 0 AS rx_least_ns, 0 AS rx_most_ns, task_ns,
           send_ops, recv_ops, send_bytes, recv_bytes, untimed_ops, lower_bound_ops
    FROM net_cost_thread
    UNION ALL
    SELECT session_id, upid, 0, 0, spent_ns, spent_ns, exact_ns, most_ns, 0, 0, 0, 0, 0, 0, 0
    FROM rx_cost WHERE payer = 'socket'
)
SELECT n.session_id, n.upid, p.pid, p.name, p.cgroup_id,
       sum(n.send_ns) AS send_ns, sum(n.recv_ns) AS recv_ns, sum(n.net_ns) AS net_ns,
       sum(n.rx_ns) AS rx_ns, sum(n.rx_least_ns) AS rx_least_ns, sum(n.rx_most_ns) AS rx_most_ns,
       CAST(sum(n.net_ns) AS REAL) / s.dur AS share, sum(n.task_ns) AS task_ns,
       sum(n.send_ops) AS send_ops, sum(n.recv_ops) AS recv_ops,
       sum(n.send_bytes) AS send_bytes, sum(n.recv_bytes) AS recv_bytes,
       sum(n.untimed_ops) AS untimed_ops, sum(n.lower_bound_ops) AS lower_bound_ops
FROM part AS n
     JOIN session AS s ON s.session_id = n.session_id
     LEFT JOIN process AS p ON p.session_id = n.session_id AND p.upid = n.upid
GROUP BY n.session_id, n.upid;
CREATE VIEW net_cost_cgroup AS
WITH part AS (
    SELECT session_id, cgroup_id, 1 AS processes, send_ns, recv_ns,
           CASE WHEN upid IS NULL THEN 0 ELSE rx_ns END AS rx_ns,
           CASE WHEN upid IS NULL THEN 0 ELSE rx_least_ns END AS rx_least_ns,
           CASE WHEN upid IS NULL THEN 0 ELSE rx_most_ns END AS rx_most_ns,
           task_ns, send_ops, recv_ops, send_bytes, recv_bytes, untimed_ops, lower_bound_ops
    FROM net_cost_process
    WHERE upid IS NOT NULL OR send_ns + recv_ns > 0 OR task_ns > 0 OR send_ops + recv_ops > 0
    UNION ALL
    SELECT r.session_id, k.cgroup_id, 0, 0, 0, r.spent_ns, r.exact_ns, r.most_ns, 0, 0, 0, 0, 0, 0, 0
    FROM rx_cost AS r LEFT JOIN socket AS k ON k.session_id = r.session_id AND k.id = r.socket_id
    WHERE r.payer = 'socket' AND r.upid IS NULL
)
SELECT n.session_id, n.cgroup_id, g.path, g.container, g.name, g.label, sum(n.processes) AS processes,
       sum(n.send_ns) AS send_ns, sum(n.recv_ns) AS recv_ns, sum(n.send_ns + n.recv_ns + n.rx_ns) AS net_ns,
       sum(n.rx_ns) AS rx_ns, sum(n.rx_least_ns) AS rx_least_ns, sum(n.rx_most_ns) AS rx_most_ns,
       CAST(sum(n.send_ns + n.recv_ns + n.rx_ns) AS REAL) / s.dur AS share, sum(n.task_ns) AS task_ns,
       sum(n.send_ops) AS send_ops, sum(n.recv_ops) AS recv_ops,
       sum(n.send_bytes) AS send_bytes, sum(n.recv_bytes) AS recv_bytes,
       sum(n.untimed_ops) AS untimed_ops, sum(n.lower_bound_ops) AS lower_bound_ops
FROM part AS n
     JOIN session AS s ON s.session_id = n.session_id
     LEFT JOIN cgroup AS g ON g.session_id = n.session_id AND g.id = n.cgroup_id
GROUP BY n.session_id, n.cgroup_id;
CREATE VIEW net_cost_socket AS
WITH part AS (
    SELECT c.session_id, c.socket_id, t.upid, 1 AS is_used, 0 AS rx_ns, 0 AS rx_least_ns, 0 AS rx_most_ns,
           CASE c.op WHEN 'send' THEN c.cpu_ns ELSE 0 END AS send_ns,
           CASE c.op WHEN 'recv' THEN c.cpu_ns ELSE 0 END AS recv_ns,
           CASE c.op WHEN 'send' THEN c.ops ELSE 0 END AS send_ops,
           CASE c.op WHEN 'recv' THEN c.ops ELSE 0 END AS recv_ops,
           CASE c.op WHEN 'send' THEN c.bytes ELSE 0 END AS send_bytes,
           CASE c.op WHEN 'recv' THEN c.bytes ELSE 0 END AS recv_bytes,
           c.untimed AS untimed_ops, c.lower_bound AS lower_bound_ops
    FROM sock_cost AS c LEFT JOIN thread AS t ON t.session_id = c.session_id AND t.utid = c.utid
    UNION ALL
    SELECT session_id, socket_id, upid, 0, spent_ns, exact_ns, most_ns, 0, 0, 0, 0, 0, 0, 0, 0
    FROM rx_cost WHERE payer = 'socket'
), by_process AS (
    SELECT session_id, socket_id, upid, max(is_used) AS is_used,
           sum(send_ns) AS send_ns, sum(recv_ns) AS recv_ns, sum(send_ns + recv_ns + rx_ns) AS net_ns,
           sum(rx_ns) AS rx_ns, sum(rx_least_ns) AS rx_least_ns, sum(rx_most_ns) AS rx_most_ns,
           sum(send_ops) AS send_ops, sum(recv_ops) AS recv_ops,
           sum(send_bytes) AS send_bytes, sum(recv_bytes) AS recv_bytes,
           sum(untimed_ops) AS untimed_ops, sum(lower_bound_ops) AS lower_bound_ops
    FROM part GROUP BY session_id, socket_id, upid
), by_socket AS (
    SELECT session_id, socket_id, upid, max(net_ns), sum(is_used) AS processes,
           sum(send_ns) AS send_ns, sum(recv_ns) AS recv_ns, sum(net_ns) AS net_ns,
           sum(rx_ns) AS rx_ns, sum(rx_least_ns) AS rx_least_ns, sum(rx_most_ns) AS rx_most_ns,
           sum(send_ops) AS send_ops, sum(recv_ops) AS recv_ops,
           sum(send_bytes) AS send_bytes, sum(recv_bytes) AS recv_bytes,
           sum(untimed_ops) AS untimed_ops, sum(lower_bound_ops) AS lower_bound_ops
    FROM by_process GROUP BY session_id, socket_id
)
SELECT b.session_id, b.socket_id, k.family, k.proto, k.src, k.sport, k.dst, k.dport, k.netns,
       b.upid, p.name, b.processes, b.send_ns, b.recv_ns, b.net_ns, b.rx_ns, b.rx_least_ns, b.rx_most_ns,
       CAST(b.net_ns AS REAL) / s.dur AS share,
       b.send_ops, b.recv_ops, b.send_bytes, b.recv_bytes, b.untimed_ops, b.lower_bound_ops
FROM by_socket AS b
     JOIN session AS s ON s.session_id = b.session_id
     LEFT JOIN socket AS k ON k.session_id = b.session_id AND k.id = b.socket_id
     LEFT JOIN process AS p ON p.session_id = b.session_id AND p.upid = b.upid;
CREATE VIEW net_cost_flow AS
SELECT r.session_id, r.flow_id, r.payer, f.family, f.proto, f.src, f.sport, f.dst, f.dport, f.netns, r.device_id,
       sum(r.spent_ns) AS rx_ns, sum(r.exact_ns) AS rx_least_ns, sum(r.most_ns) AS rx_most_ns,
       CAST(sum(r.spent_ns) AS REAL) / s.dur AS share, sum(r.packets) AS packets, sum(r.segments) AS segments,
       sum(r.bytes) AS bytes
FROM rx_cost AS r
     JOIN session AS s ON s.session_id = r.session_id
     LEFT JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
GROUP BY r.session_id, r.flow_id, r.payer;
CREATE VIEW net_cost_device AS
SELECT r.session_id, r.device_id, r.payer, d.name, d.netns,
       sum(r.spent_ns) AS rx_ns, sum(r.exact_ns) AS rx_least_ns, sum(r.most_ns) AS rx_most_ns,
       CAST(sum(r.spent_ns) AS REAL) / s.dur AS share, sum(r.packets) AS packets, sum(r.segments) AS segments,
       sum(r.bytes) AS bytes
FROM rx_cost AS r
     JOIN session AS s ON s.session_id = r.session_id
     LEFT JOIN net_device AS d ON d.session_id = r.session_id AND d.id = r.device_id
GROUP BY r.session_id, r.device_id, r.payer;
CREATE VIEW net_cost_elsewhere AS
WITH part AS (
    SELECT session_id, what, name, device, cpu, spent_ns FROM elsewhere_cost
    UNION ALL
    SELECT session_id, 'net_tx', 'net_tx', NULL, cpu, spent_ns FROM cpu_cost WHERE owner = 'net_tx'
    UNION ALL
    SELECT c.session_id, 'thread', t.name, NULL, c.cpu, c.spent_ns
    FROM cpu_cost AS c JOIN thread AS t ON t.session_id = c.session_id AND t.utid = c.utid
    WHERE c.owner = 'task' AND t.is_kernel = 1 AND (t.name GLOB 'ipvs-*' OR t.name GLOB 'kpktgend_[0-9]*'
        OR t.name GLOB 'krxrpcio/*' OR (t.name GLOB 'irq/[0-9]*' AND (t.session_id, CAST(substr(t.name, 5) AS INTEGER))
            IN (SELECT session_id, irq FROM elsewhere_cost WHERE irq IS NOT NULL)))
)
SELECT p.session_id, p.what, p.name, p.device, p.cpu, sum(p.spent_ns) AS ns,
       CAST(sum(p.spent_ns) AS REAL) / s.dur AS share
FROM part AS p JOIN session AS s ON s.session_id = p.session_id
GROUP BY p.session_id, p.what, p.name, p.device, p.cpu;
CREATE VIEW self_cost_last AS
SELECT session_id, program, name, value, max(ts) AS ts
FROM self_cost GROUP BY session_id, program, name;
CREATE VIEW latency_hook AS
WITH sample AS (
    SELECT session_id, hook, count(*) AS samples, sum(weight) AS packets, sum(instr(flags, 'future') > 0) AS future
    FROM skb_latency GROUP BY session_id, hook
), program AS (
    SELECT session_id, CASE
        WHEN program GLOB 'nt_latency_ip_start__*' THEN 'ip-start'
        WHEN program GLOB 'nt_latency_tcp_start__*' THEN 'tcp-start'
        WHEN program GLOB 'nt_latency_udp_start__*' THEN 'udp-start'
        WHEN program GLOB 'nt_latency_tcp_socket_enqueued__*' THEN 'tcp-socket-enqueued'
        WHEN program GLOB 'nt_latency_udp_socket_enqueued__*' THEN 'udp-socket-enqueued'
        WHEN program GLOB 'nt_latency_tcp_socket_read__*' THEN 'tcp-socket-read'
        WHEN program GLOB 'nt_latency_udp_socket_read__*' THEN 'udp-socket-read' END AS hook, name, value FROM self_cost_last
), counted AS (
    SELECT session_id, hook,
           sum(CASE name WHEN 'no_stamp' THEN value ELSE 0 END) AS no_stamp,
           sum(CASE name WHEN 'transmit_stamp' THEN value ELSE 0 END) AS transmit_stamp,
           sum(CASE name WHEN 'skipped_filter' THEN value ELSE 0 END) AS skipped_filter,
           sum(CASE name WHEN 'skipped_sample' THEN value ELSE 0 END) AS skipped_sample,
           sum(CASE name WHEN 'lost' THEN value ELSE 0 END) AS lost,
           sum(CASE name WHEN 'skipped_peek' THEN value ELSE 0 END) AS skipped_peek,
           sum(CASE name WHEN 'skipped_unqueued' THEN value ELSE 0 END) AS skipped_unqueued,
           sum(CASE name WHEN 'skipped_gate' THEN value ELSE 0 END) AS skipped_gate,
           sum(CASE name WHEN 'recorded' THEN value ELSE 0 END) AS recorded
    FROM program WHERE hook IS NOT NULL GROUP BY session_id, hook
), either AS (
    SELECT session_id, hook FROM sample UNION SELECT session_id, hook FROM counted
)
SELECT e.session_id, e.hook, coalesce(s.samples, 0) AS samples, coalesce(s.packets, 0) AS packets,
       coalesce(s.future, 0) AS future, no_stamp, transmit_stamp, skipped_filter, skipped_sample, lost, skipped_peek, skipped_unqueued, skipped_gate, recorded
FROM either AS e
     LEFT JOIN sample AS s ON s.session_id = e.session_id AND s.hook = e.hook
     LEFT JOIN counted AS c ON c.session_id = e.session_id AND c.hook = e.hook;
CREATE VIEW skb_drop_total AS
SELECT session_id, reason, location, device_id, count(*) AS packets, sum(length) AS bytes
FROM skb_drop GROUP BY session_id, reason, location, device_id;
CREATE VIEW thread_runnable AS
WITH stay AS (
    SELECT session_id, utid, ts, cpu, end_ts, end_state,
           max(hole_end) OVER (PARTITION BY session_id ORDER BY ts ROWS UNBOUNDED PRECEDING) AS covered_ts
    FROM (SELECT session_id, utid, ts, cpu, ts + dur AS end_ts, end_state, NULL AS hole_end FROM sched_slice
        WHERE utid <> 0
          UNION ALL
          SELECT session_id, NULL, ts, NULL, NULL, NULL, ts + dur FROM cpu_slice WHERE owner = 'uncovered'
          UNION ALL
          SELECT session_id, NULL, start_ts, NULL, NULL, NULL, start_ts FROM session)
), moment AS (
    SELECT session_id, utid, ts, cpu, end_ts, covered_ts, CASE WHEN end_state IN ('R', 'R+') THEN end_ts
        END AS ready_ts,
           NULL AS wakeup
    FROM stay WHERE utid IS NOT NULL
    UNION ALL
    SELECT session_id, utid, ts, NULL, NULL, NULL, ts, rowid FROM sched_wakeup WHERE was_runnable = 0
), ready AS (
    SELECT session_id, utid, ts, cpu, end_ts, covered_ts, lag(wakeup) OVER thread AS wakeup,
           max(lag(ready_ts) OVER thread, ifnull(lag(end_ts, 2) OVER thread, 0)) AS ready_ts
    FROM moment WINDOW thread AS (PARTITION BY session_id, utid ORDER BY ts, end_ts IS NOT NULL)
), known AS (
    SELECT session_id, utid, ts, cpu, ready_ts BETWEEN covered_ts AND ts AS is_known, ready_ts, wakeup
    FROM ready WHERE end_ts IS NOT NULL
)
SELECT k.session_id, k.utid, k.ts, k.cpu, CASE WHEN k.is_known THEN k.ready_ts END AS runnable_ts,
       CASE WHEN k.is_known THEN k.ts - k.ready_ts END AS runnable_ns,
       CASE WHEN k.is_known THEN CASE WHEN k.wakeup IS NULL THEN 'preempted' ELSE 'wakeup' END END AS why,
       w.waker_utid, w.cpu AS waker_cpu, w.context
FROM known AS k LEFT JOIN sched_wakeup AS w ON k.is_known AND w.rowid = k.wakeup;
CREATE VIEW thread_runnable_total AS
SELECT r.session_id, r.utid, t.tid, t.name, t.upid, count(*) AS stays, count(r.runnable_ns) AS known,
       sum(r.why IS 'wakeup') AS wakeups, sum(r.why IS 'preempted') AS preemptions,
       sum(ifnull(r.runnable_ns, 0)) AS runnable_ns, max(r.runnable_ns) AS longest_ns
FROM thread_runnable AS r LEFT JOIN thread AS t ON t.session_id = r.session_id AND t.utid = r.utid
GROUP BY r.session_id, r.utid;
CREATE VIEW process_runnable_total AS
SELECT r.session_id, r.upid, p.pid, p.name, sum(r.stays) AS stays, sum(r.known) AS known, sum(r.wakeups) AS wakeups,
       sum(r.preemptions) AS preemptions, sum(r.runnable_ns) AS runnable_ns, max(r.longest_ns) AS longest_ns
FROM thread_runnable_total AS r LEFT JOIN process AS p ON p.session_id = r.session_id AND p.upid = r.upid
GROUP BY r.session_id, r.upid;
CREATE VIEW net_cost_stage_row AS
WITH sample AS (
    SELECT t.session_id, t.owner, t.cpu, s.start_ts + (t.ts - s.start_ts) / s.bucket_ns * s.bucket_ns AS ts,
           coalesce(t.stage, 'no_stack') AS stage, coalesce(t.family, '') AS family
    FROM stack_sample AS t JOIN session AS s ON s.session_id = t.session_id
    WHERE t.owner IS NOT NULL AND t.ts >= s.start_ts AND t.ts < s.end_ts
), cell AS (
    SELECT session_id, owner, cpu, ts, sum(ns) AS ns, sum(dur) AS dur,
           sum(sum(samples)) OVER (PARTITION BY session_id, owner, cpu ORDER BY ts) AS upto,
           sum(sum(samples)) OVER (PARTITION BY session_id, owner, cpu) AS of_cpu
    FROM (SELECT session_id, owner, cpu, ts, ns, dur, 0 AS samples FROM net_cost_over_time WHERE owner NOT IN ('idle',
        'offline', 'uncovered')
          UNION ALL
          SELECT session_id, owner, cpu, ts, 0, 0, count(*) FROM sample GROUP BY session_id, owner, cpu, ts)
    GROUP BY session_id, owner, cpu, ts
), lent AS (
    SELECT session_id, owner, cpu, ts, ns, dur, CASE WHEN of_cpu > 0 THEN cpu ELSE -1 END AS lender,
           CASE WHEN of_cpu = 0 THEN 0
                WHEN upto = 0 THEN (min(nullif(upto, 0)) OVER (PARTITION BY session_id, owner, cpu) - 1) / 30
                ELSE (upto - 1) / 30 END AS run
    FROM cell
    UNION ALL
    SELECT session_id, owner, cpu, ts, 0, 0, 0, 0 FROM cpu_cost WHERE 0
), lender AS (
    SELECT session_id, owner, cpu AS lender, (count(*) OVER (PARTITION BY session_id, owner, cpu
        ORDER BY ts) - 1) / 30 AS run, stage, family
    FROM sample
    UNION ALL
    SELECT session_id, owner, -1, 0, stage, family FROM sample
), pool AS (
    SELECT session_id, owner, lender, run, stage, family, count(*) AS samples,
           sum(count(*)) OVER (PARTITION BY session_id, owner, lender, run ORDER BY stage, family) AS after,
           sum(count(*)) OVER (PARTITION BY session_id, owner, lender, run) AS n
    FROM lender GROUP BY session_id, owner, lender, run, stage, family
    UNION ALL
    SELECT session_id, owner, cpu, 0, stage, family, 0, 0, 0 FROM stack_sample WHERE 0
)
SELECT l.session_id, l.ts, l.dur, l.cpu, l.owner, coalesce(p.stage, 'unsampled') AS stage,
       nullif(p.family, '') AS family,
       CASE WHEN p.n IS NULL THEN l.ns ELSE l.ns * p.after / p.n - l.ns * (p.after - p.samples) / p.n END AS ns,
       0 AS samples
FROM lent AS l LEFT JOIN pool AS p ON p.session_id = l.session_id AND p.owner = l.owner AND p.lender = l.lender
    AND p.run = l.run
WHERE l.ns > 0
UNION ALL
SELECT session_id, ts, NULL, cpu, owner, stage, nullif(family, ''), NULL, 1 FROM sample;
CREATE VIEW net_cost_stage_over_time AS
SELECT session_id, ts, dur, cpu, owner, stage, family, ns FROM net_cost_stage_row WHERE ns IS NOT NULL;
CREATE VIEW net_cost_stage AS
SELECT session_id, owner, stage, family, sum(ns) AS ns,
       CAST(sum(ns) AS REAL) / sum(sum(ns)) OVER (PARTITION BY session_id, owner) AS share, sum(samples) AS samples
FROM net_cost_stage_row WHERE owner IN ('', 'net_rx', 'net_tx', 'send', 'recv')
GROUP BY session_id, owner, stage, family HAVING sum(ns) IS NOT NULL;
CREATE VIEW loss_total AS
SELECT session_id, cpu, kind, sum(count) AS count, sum(count IS NULL) AS of_unknown_count, count(*) AS stretches
FROM loss GROUP BY session_id, cpu, kind;
