-- The views of a nettape database: the everyday questions. Plain SQL that any sqlite3 (3.30 or later) understands, but
-- for names between two @: each becomes the text of that macro of sql_lists.h. They read the sums in cpu_cost,
-- sock_cost, rx_cost and elsewhere_cost, not the slices, and so are quick on long recordings; `nettape-report check`
-- proves that the sums equal the slices. docs/sql-schema.md says what each column means.

-- Whose the time of each CPU was.
CREATE VIEW net_cost_cpu AS
SELECT c.session_id, c.cpu, c.owner, sum(c.spent_ns) AS ns, CAST(sum(c.spent_ns) AS REAL) / s.dur AS share
FROM cpu_cost AS c JOIN session AS s ON s.session_id = c.session_id
GROUP BY c.session_id, c.cpu, c.owner;

-- The same in steps of session.bucket_ns (100 ms). A sum over several whole buckets in a row is one row of cpu_cost:
-- it is taken apart here.
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

-- What each thread did with CPUs and sockets: what the next two views are made of.
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

-- What each process spent in sending and receiving, and pays of net_rx for its sockets: net_ns is their sum, and may be
-- off by as much as rx_ns. upid NULL: tasks of which nothing is known, and operations made by softirqs; and sockets of
-- the kernel, that no process uses or holds.
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

-- The same by cgroup, so by container or service. A socket without a process counts for the cgroup that the kernel has
-- with it. cgroup_id NULL: not known.
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

-- What each socket cost, and the process that it cost most. Here the time is that of the operations (cpu_ns), which
-- for each process adds up to what cpu_slice says; and net_rx that is charged to the socket. net_ns is their sum.
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

-- What each named flow had in each second, estimated; the bounds hold with a probability of 99 %. Each device that a
-- packet passes counts it.
CREATE VIEW flow_estimate AS
SELECT c.session_id, c.ts, c.dur, c.flow_id, f.src, f.sport, f.dst, f.dport, f.proto, f.direction, f.device_id,
       c.packets, c.packets_low, c.packets_high, c.bytes, c.bytes_low, c.bytes_high
FROM flow_count AS c LEFT JOIN flow AS f ON f.session_id = c.session_id AND f.id = c.flow_id
WHERE c.counted_by = 'flow';

-- What net_rx cost for the packets of each flow, and what became of them. flow_id NULL: no packets are known,
-- or the flows came after many others (rx_cost).
CREATE VIEW net_cost_flow AS
SELECT r.session_id, r.flow_id, r.payer, f.family, f.proto, f.src, f.sport, f.dst, f.dport, f.netns, f.device_id,
       sum(r.spent_ns) AS rx_ns, sum(r.exact_ns) AS rx_least_ns, sum(r.most_ns) AS rx_most_ns,
       CAST(sum(r.spent_ns) AS REAL) / s.dur AS share, sum(r.packets) AS packets, sum(r.segments) AS segments,
       sum(r.bytes) AS bytes
FROM rx_cost AS r
     JOIN session AS s ON s.session_id = r.session_id
     LEFT JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
GROUP BY r.session_id, r.flow_id, r.payer;

-- The same by the device that received them. device_id NULL: not known.
CREATE VIEW net_cost_device AS
SELECT r.session_id, r.device_id, r.payer, d.name, d.netns,
       sum(r.spent_ns) AS rx_ns, sum(r.exact_ns) AS rx_least_ns, sum(r.most_ns) AS rx_most_ns,
       CAST(sum(r.spent_ns) AS REAL) / s.dur AS share, sum(r.packets) AS packets, sum(r.segments) AS segments,
       sum(r.bytes) AS bytes
FROM rx_cost AS r
     JOIN session AS s ON s.session_id = r.session_id
     LEFT JOIN net_device AS d ON d.session_id = r.session_id AND d.id = r.device_id
GROUP BY r.session_id, r.device_id, r.payer;

-- What the network causes elsewhere: interrupts of network devices, net_tx, functions that softirqs call by timers, and
-- the kernel's threads that have a name of the network's only. Of these, net_tx alone is an owner of the network's. A
-- thread irq/N is the network's where the interrupt N is.
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

-- The recorder's own counters as they stood last.
CREATE VIEW self_cost_last AS
SELECT session_id, program, name, value, max(ts) AS ts
FROM self_cost GROUP BY session_id, program, name;

-- What became of the packets at each hook of the receive path: those that are samples, and those that are not, as the
-- programs at the hook counted them.
CREATE VIEW latency_hook AS
WITH sample AS (
    SELECT session_id, hook, count(*) AS samples, sum(weight) AS packets, sum(instr(flags, 'future') > 0) AS future
    FROM skb_latency GROUP BY session_id, hook
), program AS (
    SELECT session_id, @NT_HOOK_SQL@ AS hook, name, value FROM self_cost_last
), counted AS (
    SELECT session_id, hook@NT_OUTCOME_SUMS_SQL@
    FROM program WHERE hook IS NOT NULL GROUP BY session_id, hook
), either AS (
    SELECT session_id, hook FROM sample UNION SELECT session_id, hook FROM counted
)
SELECT e.session_id, e.hook, coalesce(s.samples, 0) AS samples, coalesce(s.packets, 0) AS packets,
       coalesce(s.future, 0) AS future@NT_OUTCOME_COLUMNS_SQL@
FROM either AS e
     LEFT JOIN sample AS s ON s.session_id = e.session_id AND s.hook = e.hook
     LEFT JOIN counted AS c ON c.session_id = e.session_id AND c.hook = e.hook;

-- Packets that were dropped, by reason and place.
CREATE VIEW skb_drop_total AS
SELECT session_id, reason, location, device_id, count(*) AS packets, sum(length) AS bytes
FROM skb_drop GROUP BY session_id, reason, location, device_id;

-- How long the softirqs of each vector waited on each CPU. A percentile is one of the waits: the least that so many
-- others do not exceed.
CREATE VIEW softirq_wait AS
WITH ranked AS (
    SELECT session_id, cpu, vec, dur, row_number() OVER (PARTITION BY session_id, cpu, vec ORDER BY dur) AS place,
           count(*) OVER (PARTITION BY session_id, cpu, vec) AS waits
    FROM softirq_raise
)
SELECT session_id, cpu, vec, waits, sum(dur) AS wait_ns, min(CASE WHEN place * 2 >= waits THEN dur END) AS p50_ns,
       min(CASE WHEN place * 100 >= waits * 99 THEN dur END) AS p99_ns, max(dur) AS longest_ns
FROM ranked GROUP BY session_id, cpu, vec;

-- Requests of each block device, by who made them. Requests that a loop device makes to its backing device are left
-- out: they are counted once, as what they were made for.
CREATE VIEW block_cost AS
SELECT b.session_id, b.device, b.op, b.payer, t.upid, p.pid, CASE WHEN b.payer = 'task' THEN p.name ELSE t.name
           END AS name, coalesce(b.cgroup_id, CASE WHEN b.payer = 'task' THEN p.cgroup_id END) AS cgroup_id,
       count(*) AS requests, sum(b.bytes) AS bytes, sum(b.dur) AS device_ns, sum(b.queue_ns) AS queue_ns,
       sum(b.result <> 'ok') AS failed
FROM block_io AS b
     LEFT JOIN thread AS t ON t.session_id = b.session_id AND t.utid = b.utid
     LEFT JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid
WHERE b.payer <> 'loop'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

-- How many requests each block device had at hand (depth), and how many waited to be issued to it (queued), until the
-- next change.
CREATE VIEW block_depth AS
WITH change AS (
    SELECT session_id, device, ts, 1 AS issued, -(queue_ns IS NOT NULL) AS waits FROM block_io
    UNION ALL
    SELECT session_id, device, ts + dur, -1, 0 FROM block_io
    UNION ALL
    SELECT session_id, device, ts - queue_ns, 0, 1 FROM block_io WHERE queue_ns IS NOT NULL
), step AS (
    SELECT session_id, device, ts, sum(issued) AS issued, sum(waits) AS waits FROM change GROUP BY 1, 2, 3
)
SELECT session_id, device, ts, lead(ts) OVER w - ts AS dur, sum(issued) OVER w AS depth, sum(waits) OVER w AS queued
FROM step WINDOW w AS (PARTITION BY session_id, device ORDER BY ts);

-- Resident memory of each process, of all kinds together, from each change on. Swapped pages are not resident. All of a
-- time come at once: a process that runs another program loses its pages and gets new ones.
CREATE VIEW mem_resident AS
WITH change AS (
    SELECT session_id, upid, ts, bytes - lag(bytes, 1, 0) OVER (PARTITION BY session_id, upid, kind ORDER BY ts)
           AS delta
    FROM mem_rss WHERE kind <> 'swap'
), step AS (
    SELECT session_id, upid, ts, sum(delta) AS delta FROM change GROUP BY 1, 2, 3
)
SELECT session_id, upid, ts, sum(delta) OVER (PARTITION BY session_id, upid ORDER BY ts) AS bytes FROM step;

-- Memory of each process: what was resident first, last and at most, what is swapped out last, what others took of it
-- (reclaim), and the page faults of its threads.
CREATE VIEW mem_cost AS
WITH resident AS (
    SELECT session_id, upid, bytes, row_number() OVER (PARTITION BY session_id, upid ORDER BY ts) AS nth,
           row_number() OVER (PARTITION BY session_id, upid ORDER BY ts DESC) AS back
    FROM mem_resident
), change AS (
    SELECT session_id, upid, kind, bytes, is_external,
           bytes - lag(bytes) OVER (PARTITION BY session_id, upid, kind ORDER BY ts) AS delta,
           row_number() OVER (PARTITION BY session_id, upid, kind ORDER BY ts DESC) AS back
    FROM mem_rss
), part AS (
    SELECT session_id, upid, max(CASE nth WHEN 1 THEN bytes END) AS first_bytes,
           max(CASE back WHEN 1 THEN bytes END) AS last_bytes, max(bytes) AS peak_bytes, 0 AS swapped_bytes,
           0 AS taken_bytes, 0 AS minor, 0 AS major
    FROM resident GROUP BY 1, 2
    UNION ALL
    SELECT session_id, upid, NULL, NULL, NULL, sum(CASE WHEN kind = 'swap' AND back = 1 THEN bytes ELSE 0 END),
           sum(CASE WHEN is_external AND kind <> 'swap' AND delta < 0 THEN -delta ELSE 0 END), 0, 0
    FROM change GROUP BY 1, 2
    UNION ALL
    SELECT f.session_id, t.upid, NULL, NULL, NULL, 0, 0, sum(f.minor), sum(f.major)
    FROM page_fault AS f LEFT JOIN thread AS t ON t.session_id = f.session_id AND t.utid = f.utid GROUP BY 1, 2
)
SELECT c.session_id, c.upid, p.pid, p.name, p.cgroup_id, max(first_bytes) AS first_bytes, max(last_bytes) AS last_bytes,
       max(peak_bytes) AS peak_bytes, sum(swapped_bytes) AS swapped_bytes, sum(taken_bytes) AS taken_bytes,
       sum(minor) AS minor, sum(major) AS major
FROM part AS c LEFT JOIN process AS p ON p.session_id = c.session_id AND p.upid = c.upid
GROUP BY c.session_id, c.upid;

-- Memory that the kernel took, by kind, by whose time and where in its code: sums by weight, how far off they may be,
-- and of how many rows.
CREATE VIEW kmem_cost AS
SELECT k.session_id, k.kind, k.context, k.vec, t.upid, p.pid, p.name, k.location,
       sum(k.weight) AS allocations,
       CAST(total(@NT_KMEM_BYTES_SQL@) AS INTEGER) AS bytes,
       sum(@NT_KMEM_FAILED_SQL@) AS failed,
       total(k.weight * (k.weight - 1)) AS allocations_variance,
       total(@NT_KMEM_VARIANCE_SQL@) AS bytes_variance, count(*) AS samples
FROM kmem AS k LEFT JOIN thread AS t ON t.session_id = k.session_id AND t.utid = k.utid
LEFT JOIN process AS p ON p.session_id = k.session_id AND p.upid = t.upid
GROUP BY k.session_id, k.kind, k.context, k.vec, t.upid, k.location;

-- How long tasks stood still for want of CPU, I/O or memory, or for interrupts, from one reading to the next.
CREATE VIEW pressure AS
WITH reading AS (
    SELECT session_id, replace(source, '/proc/pressure/', '') AS resource, name, ts_end, lag(ts_end) OVER w AS ts,
           value - lag(value) OVER w AS us
    FROM proc_counter WHERE source GLOB '/proc/pressure/*'
    WINDOW w AS (PARTITION BY session_id, source, name ORDER BY ts_end)
)
SELECT session_id, ts, ts_end - ts AS dur, resource, max(CASE name WHEN 'some_us' THEN us * 1000 END) AS some_ns,
       max(CASE name WHEN 'full_us' THEN us * 1000 END) AS full_ns
FROM reading WHERE ts IS NOT NULL GROUP BY session_id, resource, ts, ts_end;

-- The energy of each zone from one reading to the next, and the network's estimated part of a package's: by its share
-- of the busy time of the package's CPUs. It is not known when within the uncertainty the counter had its value, nor
-- where in a bucket of 100 ms an owner had its time, nor who had uncovered time. The bounds allow for all of these.
-- Some sorts and no joins of ranges, so that ten minutes of 8 CPUs take two seconds:
--   reading  A counter is up to a millisecond old, and read between two times: from least_ts to ts it had its value.
--   place    the zone of each CPU: its package, or that one's die
--   piece    of a CPU's time: a bucket, or several that one owner fills. They follow one another.
--   moment   On each CPU, pieces, and the two edges of each reading within the session.
--   begun    the same in order of time, with the sums of all pieces that have begun, and the last of these
--   counted  the time up to each reading: `_by` at least up to its first edge, `_till` at most up to its second
--   step     from reading to reading, on a CPU
--   share    the same on all CPUs of a zone
CREATE VIEW energy AS
WITH reading AS (
    SELECT session_id, name AS zone, ts_begin - 1000000 AS least_ts, ts_end AS ts, value FROM proc_counter
    WHERE source = '/sys/class/powercap'
), number AS (
    SELECT session_id, cpu, 'package-' || max(CASE name WHEN 'package' THEN value END) AS package,
           '-die-' || max(CASE name WHEN 'die' THEN value END) AS die
    FROM proc_counter WHERE source = '/sys/devices/system/cpu' GROUP BY 1, 2
), place AS (
    SELECT session_id, cpu, package AS zone FROM number UNION ALL SELECT session_id, cpu, package || die FROM number
), piece AS (
    SELECT session_id, cpu, ts, max(ts + dur) AS end_ts,
           sum(CASE WHEN owner IN @NT_NETWORK_OWNERS_SQL@ THEN spent_ns ELSE 0 END) AS network,
           sum(CASE WHEN owner IN ('hardirq', 'softirq', 'task') THEN spent_ns ELSE 0 END) AS other,
           sum(CASE owner WHEN 'uncovered' THEN spent_ns ELSE 0 END) AS uncovered
    FROM cpu_cost WHERE (session_id, cpu) IN (SELECT session_id, cpu FROM number) GROUP BY session_id, cpu, ts
), moment AS (
    SELECT r.session_id, p.cpu, r.zone, r.ts, e.is_end, CASE e.is_end WHEN 0 THEN r.least_ts ELSE r.ts END AS at,
           NULL AS piece_ts, 0 AS network, 0 AS other, 0 AS uncovered
    FROM reading AS r JOIN session AS s ON s.session_id = r.session_id
         JOIN place AS p ON p.session_id = r.session_id AND p.zone = r.zone
         JOIN (SELECT 0 AS is_end UNION ALL SELECT 1) AS e
    WHERE r.least_ts >= s.start_ts AND r.ts <= s.end_ts
    UNION ALL
    SELECT session_id, cpu, NULL, NULL, NULL, ts, ts, network, other, uncovered FROM piece
), begun AS (
    SELECT session_id, cpu, zone, ts, is_end, at, CAST(max(piece_ts) OVER w AS INTEGER) AS piece_ts,
           sum(network) OVER w AS network, sum(other) OVER w AS other, sum(uncovered) OVER w AS uncovered
    FROM moment WINDOW w AS (PARTITION BY session_id, cpu ORDER BY at, zone ROWS UNBOUNDED PRECEDING)
), edge AS (
    SELECT b.session_id, b.cpu, b.zone, b.ts, b.is_end, b.at, b.network, b.other, b.uncovered, q.network AS of_network,
           q.other AS of_other, q.uncovered AS of_uncovered, b.at - q.ts AS gone, max(q.end_ts - b.at, 0) AS to_go,
           CAST(max(q.end_ts - b.at, 0) AS REAL) / (q.end_ts - q.ts) AS part_to_go
    FROM begun AS b JOIN piece AS q ON q.session_id = b.session_id AND q.cpu = b.cpu AND q.ts = b.piece_ts
    WHERE b.zone IS NOT NULL
), counted AS (
    SELECT a.session_id, a.zone, a.cpu, a.ts, a.at AS least_ts,
           a.network - min(a.of_network, a.to_go) AS network_by, a.other - min(a.of_other, a.to_go) AS other_by,
           a.network + a.uncovered - min(a.of_network + a.of_uncovered, a.to_go) AS network_or_uncovered_by,
           a.other + a.uncovered - min(a.of_other + a.of_uncovered, a.to_go) AS other_or_uncovered_by,
           b.network - max(b.of_network - b.gone, 0) AS network_till, b.other - max(b.of_other - b.gone, 0)
               AS other_till,
           b.network + b.uncovered - max(b.of_network + b.of_uncovered - b.gone, 0) AS network_or_uncovered_till,
           b.other + b.uncovered - max(b.of_other + b.of_uncovered - b.gone, 0) AS other_or_uncovered_till,
           b.network - b.of_network * b.part_to_go AS network, b.other - b.of_other * b.part_to_go AS other
    FROM edge AS a JOIN edge AS b ON b.session_id = a.session_id AND b.cpu = a.cpu AND b.zone = a.zone AND b.ts = a.ts
    WHERE a.is_end = 0 AND b.is_end = 1
), step AS (
    SELECT session_id, zone, ts, network - lag(network) OVER w AS network, other - lag(other) OVER w AS other,
           max(network_by - lag(network_till) OVER w, 0) AS network_least,
           max(other_by - lag(other_till) OVER w, 0) AS other_least,
           min(network_or_uncovered_till - lag(network_or_uncovered_by) OVER w, ts - lag(least_ts) OVER w)
               AS network_most,
           min(other_or_uncovered_till - lag(other_or_uncovered_by) OVER w, ts - lag(least_ts) OVER w) AS other_most
    FROM counted WINDOW w AS (PARTITION BY session_id, zone, cpu ORDER BY ts)
), share AS (
    SELECT session_id, zone, ts, sum(network) AS network, sum(other) AS other, sum(network_least) AS network_least,
           sum(other_least) AS other_least, sum(network_most) AS network_most, sum(other_most) AS other_most
    FROM step GROUP BY session_id, zone, ts
), span AS (
    SELECT session_id, zone, lag(ts) OVER w AS ts, ts AS end_ts, value - lag(value) OVER w AS energy_uj,
           max(ts - least_ts, lag(ts - least_ts) OVER w) AS uncertainty_ns
    FROM reading WINDOW w AS (PARTITION BY session_id, zone ORDER BY ts)
)
SELECT p.session_id, p.ts, p.end_ts - p.ts AS dur, p.zone, p.energy_uj, p.uncertainty_ns,
       CAST(round(p.energy_uj * h.network / max(h.network + h.other, 1)) AS INTEGER) AS network_uj,
       CAST(p.energy_uj * CAST(h.network_least AS REAL) / max(h.network_least + h.other_most, 1) AS INTEGER)
           AS network_least_uj,
       min(CAST(p.energy_uj * CAST(h.network_most AS REAL) / max(h.network_most + h.other_least, 1) + 1 AS INTEGER),
           p.energy_uj) AS network_most_uj
FROM span AS p LEFT JOIN share AS h ON h.session_id = p.session_id AND h.zone = p.zone AND h.ts = p.end_ts
               AND p.end_ts - p.ts >= 50000000
WHERE p.ts IS NOT NULL;

-- How long each thread had waited for a CPU when it got one: since it was woken, or since its last stay ended while it
-- would have gone on. Two sorts and no joins of ranges, so that a million stays take seconds:
--   stay    each slice on a CPU, and covered_ts: the end of the last uncovered time, of any CPU, that began before it.
--           Before that the thread may have been anywhere.
--   moment  these slices, and wake-ups of sleeping threads, with the time from which the thread is runnable: at once
--           after a wake-up, from its end on after a slice that it did not leave to sleep.
--   ready   the moment before. A wake-up may be recorded before its thread has quite left its CPU: it is runnable once
--           it has.
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

-- The sums of that for threads, and for processes. Of `stays`, `known` are those whose time is known.
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

-- What each owner's time on each CPU was spent on: the exact time of each bucket, split by stack samples. Buckets of an
-- owner on a CPU are put together until there are some 30 samples (`run`), and each bucket's time is split by the
-- samples of its run. Where an owner has no sample on a CPU, by those of all CPUs; where it has none at all, its time
-- is `unsampled`. No nanosecond gets lost: a part is what lies between two shares of the bucket's time, both rounded
-- down. `nettape-report stages` reckons in the same way (report/query/stages/split.h) and says how sure it is.
--   cell    owner, CPU and bucket, with its time and its samples; `upto`: samples up to its end
--   lent    what a cell's time is split by: its run (`run`), or all samples of the owner (`lender` -1)
--   lender  each sample, as it lends itself: to its run, and to who has none
--   pool    samples by stage of each of these; `after`: with those of the stages before it
-- SQLite takes what sums over groups give for a handful of rows, too few for it to make an index of: it would go
-- through all of `pool` for each cell, which takes hours where there are an hour's. So both end with the rows of a
-- table, of which none is taken.
--
-- Rows of time, and behind them a row for each sample, with ns NULL: so who counts samples beside the time does not
-- read them twice.
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

-- The sums of that, for the owners that are the network's.
CREATE VIEW net_cost_stage AS
SELECT session_id, owner, stage, family, sum(ns) AS ns,
       CAST(sum(ns) AS REAL) / sum(sum(ns)) OVER (PARTITION BY session_id, owner) AS share, sum(samples) AS samples
FROM net_cost_stage_row WHERE owner IN @NT_NETWORK_OWNERS_SQL@
GROUP BY session_id, owner, stage, family HAVING sum(ns) IS NOT NULL;

-- How many records of each kind each CPU lost.
CREATE VIEW loss_total AS
SELECT session_id, cpu, kind, sum(count) AS count, sum(count IS NULL) AS of_unknown_count, count(*) AS stretches
FROM loss GROUP BY session_id, cpu, kind;
