-- v1-charges.tape as a program of version 17 of docs/sql-schema.md imported it. tests/cli/schema_versions.sh makes
-- the database with sqlite3. Later programs must read it.
PRAGMA application_id = 1853124705;
PRAGMA user_version = 17;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE session(session_id INTEGER NOT NULL, uuid TEXT NOT NULL, host TEXT NOT NULL, kernel TEXT, machine TEXT, os TEXT, virtual TEXT, boot_id TEXT NOT NULL, tool TEXT, stop TEXT, start_ts INTEGER NOT NULL, end_ts INTEGER NOT NULL, dur INTEGER NOT NULL, start_realtime_ns INTEGER, bucket_ns INTEGER NOT NULL, cpus INTEGER NOT NULL, clock_ticks INTEGER, bytes INTEGER NOT NULL, chunks INTEGER NOT NULL, complete INTEGER NOT NULL, events INTEGER NOT NULL, lost INTEGER NOT NULL, outside INTEGER NOT NULL, unknown INTEGER NOT NULL, undeclared INTEGER NOT NULL, clamped INTEGER NOT NULL, clamped_max_ns INTEGER NOT NULL, malformed INTEGER NOT NULL, bad_lines INTEGER NOT NULL, clock_uncertainty_ns INTEGER, clock_steps INTEGER NOT NULL, PRIMARY KEY(session_id)) WITHOUT ROWID;
INSERT INTO session VALUES(1,'676f6c64656e0102030405060708090a','golden.example','6.1.0-golden','x86_64','Golden OS 1','kvm','6c7d2d9a-2f54-4e7c-9a5e-0123456789ab','nettape-record 0.1.0','duration',10000001000,12000000600,1999999600,1700000000000001000,100000000,2,100,2508,1,1,34,2,0,0,0,0,0,0,0,76,0);
CREATE TABLE session_meta(session_id INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL);
INSERT INTO session_meta VALUES(1,'tool','nettape-record 0.1.0');
INSERT INTO session_meta VALUES(1,'kernel','6.1.0-golden');
INSERT INTO session_meta VALUES(1,'machine','x86_64');
INSERT INTO session_meta VALUES(1,'os','Golden OS 1');
INSERT INTO session_meta VALUES(1,'cpus_possible','0-1');
INSERT INTO session_meta VALUES(1,'cpus_online','0-1');
INSERT INTO session_meta VALUES(1,'start_ns','10000001000');
INSERT INTO session_meta VALUES(1,'start_realtime_ns','1700000000000001000');
INSERT INTO session_meta VALUES(1,'ring_size','4194304');
INSERT INTO session_meta VALUES(1,'probes','sched,softirq,irq,socket,deliver');
INSERT INTO session_meta VALUES(1,'attach','sched sched_switch tp_btf/sched_switch');
INSERT INTO session_meta VALUES(1,'attach','socket sock_send_length tp_btf/sock_send_length');
INSERT INTO session_meta VALUES(1,'uncovered','Splice out of a socket has no length event.');
INSERT INTO session_meta VALUES(1,'command','nettape-record -d 2 -o golden.tape');
INSERT INTO session_meta VALUES(1,'virtual','kvm');
INSERT INTO session_meta VALUES(1,'clock_ticks','100');
INSERT INTO session_meta VALUES(1,'end_ns','12000000600');
INSERT INTO session_meta VALUES(1,'stop','duration');
INSERT INTO session_meta VALUES(1,'events','34');
INSERT INTO session_meta VALUES(1,'lost','2');
INSERT INTO session_meta VALUES(1,'complete','1');
CREATE TABLE problem(session_id INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE process(session_id INTEGER NOT NULL, upid INTEGER NOT NULL, pid INTEGER, ppid INTEGER, name TEXT, cgroup_id INTEGER, start_ts INTEGER, end_ts INTEGER, PRIMARY KEY(session_id, upid)) WITHOUT ROWID;
INSERT INTO process VALUES(1,0,0,0,'swapper',NULL,NULL,NULL);
INSERT INTO process VALUES(1,1,101,1,'server',1,NULL,NULL);
INSERT INTO process VALUES(1,2,202,1,'worker',1,NULL,NULL);
CREATE TABLE thread(session_id INTEGER NOT NULL, utid INTEGER NOT NULL, tid INTEGER, upid INTEGER, name TEXT, start_ts INTEGER, end_ts INTEGER, is_kernel INTEGER, PRIMARY KEY(session_id, utid)) WITHOUT ROWID;
INSERT INTO thread VALUES(1,0,0,0,'swapper',NULL,NULL,1);
INSERT INTO thread VALUES(1,1,101,1,'server',NULL,NULL,0);
INSERT INTO thread VALUES(1,2,202,2,'worker',NULL,NULL,0);
CREATE TABLE cgroup(session_id INTEGER NOT NULL, id INTEGER NOT NULL, path TEXT NOT NULL, kernel_id INTEGER, runtime TEXT, container TEXT, pod TEXT, unit TEXT, name TEXT, label TEXT NOT NULL, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
INSERT INTO cgroup VALUES(1,1,'/',1,NULL,NULL,NULL,NULL,NULL,'/');
CREATE TABLE socket(session_id INTEGER NOT NULL, id INTEGER NOT NULL, family TEXT NOT NULL, type TEXT NOT NULL, proto TEXT NOT NULL, src TEXT, sport INTEGER, dst TEXT, dport INTEGER, netns INTEGER, cookie INTEGER, upid INTEGER, cgroup_id INTEGER, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
INSERT INTO socket VALUES(1,1,'inet','dgram','udp','192.0.2.1',7,NULL,NULL,4026531840,65,NULL,NULL);
INSERT INTO socket VALUES(1,2,'inet6','stream','tcp','2001:db8::1',443,'2001:db8::2',50000,4026531840,66,NULL,NULL);
INSERT INTO socket VALUES(1,3,'inet','dgram','udp','192.0.2.1',53,NULL,NULL,4026531840,67,NULL,NULL);
INSERT INTO socket VALUES(1,4,'inet','dgram','udp','192.0.2.1',53,NULL,NULL,4026531840,68,NULL,NULL);
CREATE TABLE net_device(session_id INTEGER NOT NULL, ifindex INTEGER NOT NULL, name TEXT, netns INTEGER, id INTEGER NOT NULL, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
INSERT INTO net_device VALUES(1,2,'eth0',4026531840,1);
CREATE TABLE flow(session_id INTEGER NOT NULL, id INTEGER NOT NULL, family TEXT, proto TEXT, src TEXT, sport INTEGER, dst TEXT, dport INTEGER, ethertype INTEGER NOT NULL, netns INTEGER, device_id INTEGER, direction TEXT, counted_by TEXT NOT NULL, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
INSERT INTO flow VALUES(1,1,'inet','udp','192.0.2.2',40000,'192.0.2.1',7,2048,4026531840,1,'recv','flow');
INSERT INTO flow VALUES(1,2,'inet6','tcp','2001:db8::2',50000,'2001:db8::1',443,34525,4026531840,1,'recv','flow');
INSERT INTO flow VALUES(1,3,NULL,NULL,NULL,NULL,NULL,NULL,2054,4026531840,1,'recv','flow');
INSERT INTO flow VALUES(1,4,'inet','udp','192.0.2.2',40000,'192.0.2.1',53,2048,4026531840,1,'recv','flow');
INSERT INTO flow VALUES(1,5,'inet','udp','192.0.2.2',40000,'192.0.2.1',9,2048,4026531840,NULL,'recv','flow');
CREATE TABLE sched_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, end_state TEXT, priority INTEGER);
INSERT INTO sched_slice VALUES(1,10000001000,1999999600,0,1,NULL,NULL);
INSERT INTO sched_slice VALUES(1,10000001000,1999999600,1,2,NULL,NULL);
CREATE TABLE softirq_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, vec TEXT NOT NULL, context TEXT NOT NULL, utid INTEGER);
INSERT INTO softirq_slice VALUES(1,10001990000,10000,0,'NET_RX','irq_exit',1);
INSERT INTO softirq_slice VALUES(1,10002940000,60000,0,'NET_RX','irq_exit',1);
INSERT INTO softirq_slice VALUES(1,10003998000,2000,0,'NET_RX','irq_exit',1);
INSERT INTO softirq_slice VALUES(1,10004938000,62000,0,'NET_RX','irq_exit',1);
INSERT INTO softirq_slice VALUES(1,10099929000,101000,0,'NET_RX','irq_exit',1);
INSERT INTO softirq_slice VALUES(1,10001991000,9000,1,'NET_RX','irq_exit',2);
INSERT INTO softirq_slice VALUES(1,10002950000,50000,1,'NET_RX','irq_exit',2);
INSERT INTO softirq_slice VALUES(1,10003997000,3000,1,'NET_RX','irq_exit',2);
INSERT INTO softirq_slice VALUES(1,10099998000,300009000,1,'NET_RX','irq_exit',2);
CREATE TABLE softirq_raise(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, vec TEXT NOT NULL, raised_in TEXT, context TEXT NOT NULL);
CREATE TABLE irq_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, irq INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, utid INTEGER);
INSERT INTO irq_slice VALUES(1,10002970000,10000,0,236,'vector 236','vector',1);
CREATE TABLE sock_op(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER, cpu_ns INTEGER, utid INTEGER, op TEXT NOT NULL, syscall TEXT NOT NULL, socket_id INTEGER, bytes INTEGER, result TEXT NOT NULL, flags TEXT NOT NULL, cpu INTEGER NOT NULL);
INSERT INTO sock_op VALUES(1,10000995000,5000,5000,1,'recv','recvfrom',1,200,'ok','',0);
INSERT INTO sock_op VALUES(1,10001095000,5000,5000,1,'recv','recvfrom',3,100,'ok','',0);
INSERT INTO sock_op VALUES(1,10001195000,5000,5000,1,'send','sendto',2,50,'ok','',0);
INSERT INTO sock_op VALUES(1,10000995000,5000,5000,2,'recv','recvfrom',4,300,'ok','',1);
CREATE TABLE napi_poll(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER, cpu INTEGER NOT NULL, utid INTEGER, context TEXT NOT NULL, device_id INTEGER, napi_id INTEGER, work INTEGER NOT NULL, budget INTEGER NOT NULL);
CREATE TABLE rx_stretch(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, flow_id INTEGER, packets INTEGER NOT NULL, segments INTEGER NOT NULL, bytes INTEGER NOT NULL, is_first INTEGER NOT NULL, is_listed INTEGER NOT NULL, after_loss INTEGER NOT NULL, is_again INTEGER NOT NULL, is_forwarded INTEGER NOT NULL, is_steered INTEGER NOT NULL, dropped INTEGER NOT NULL);
INSERT INTO rx_stretch VALUES(1,10002000000,0,1,1,2,100,1,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10002960000,0,1,3,6,300,1,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10002985000,0,2,1,2,100,0,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10003000000,0,1,2,4,200,0,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10004939000,0,1,2,6,2000,1,1,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10004940000,0,2,1,3,1000,0,1,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10005000000,0,4,4,12,4000,0,1,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10100030000,0,4,1,2,100,1,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10001996000,1,3,1,2,100,1,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10002000000,1,5,1,2,100,0,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10002970000,1,1,1,2,100,0,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10002991000,1,2,1,1,60,0,0,1,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10003000000,1,4,1,2,100,0,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10004000000,1,NULL,1,2,100,1,0,0,0,0,0,0);
INSERT INTO rx_stretch VALUES(1,10400007000,1,2,1,2,100,1,0,0,0,0,0,0);
CREATE TABLE net_timer(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, function TEXT NOT NULL, took_ns INTEGER NOT NULL, own_ns INTEGER);
CREATE TABLE skb_latency(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, hook TEXT NOT NULL, latency_ns INTEGER, stamp_ns INTEGER, device_id INTEGER, socket_id INTEGER, utid INTEGER, length INTEGER, queue_len INTEGER NOT NULL, weight INTEGER NOT NULL, flags TEXT NOT NULL, wait_ns INTEGER);
CREATE TABLE skb_drop(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, reason TEXT NOT NULL, location TEXT NOT NULL, device_id INTEGER, socket_id INTEGER, length INTEGER NOT NULL, protocol INTEGER);
CREATE TABLE tcp_retransmit(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, what TEXT NOT NULL, socket_id INTEGER, length INTEGER NOT NULL, state TEXT);
CREATE TABLE flow_sketch(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, samples INTEGER NOT NULL, unnamed INTEGER NOT NULL, cells INTEGER NOT NULL, flows INTEGER NOT NULL, counted_by TEXT NOT NULL);
CREATE TABLE flow_cell(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cell INTEGER NOT NULL, packets INTEGER NOT NULL, bytes INTEGER NOT NULL, counted_by TEXT NOT NULL);
CREATE TABLE flow_count(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, flow_id INTEGER, packets INTEGER, packets_low INTEGER, packets_high INTEGER, bytes INTEGER, bytes_low INTEGER, bytes_high INTEGER, sampled_packets INTEGER NOT NULL, missed_packets INTEGER NOT NULL, sampled_bytes INTEGER NOT NULL, most_packets INTEGER NOT NULL, most_bytes INTEGER NOT NULL, hash INTEGER NOT NULL, counted_by TEXT NOT NULL);
CREATE TABLE flow_total(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, device_id INTEGER, direction TEXT NOT NULL, buffers INTEGER NOT NULL, packets INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE flow_sum(session_id INTEGER NOT NULL, flow_id INTEGER, packets INTEGER, packets_low INTEGER, packets_high INTEGER, bytes INTEGER, bytes_low INTEGER, bytes_high INTEGER, counted_by TEXT NOT NULL);
CREATE TABLE sched_wakeup(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, target_cpu INTEGER NOT NULL, waker_utid INTEGER, priority INTEGER NOT NULL, what TEXT NOT NULL, context TEXT, was_runnable INTEGER NOT NULL);
CREATE TABLE block_io(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, device TEXT, op TEXT NOT NULL, bytes INTEGER NOT NULL, queue_ns INTEGER, payer TEXT NOT NULL, utid INTEGER, cgroup_id INTEGER, result TEXT NOT NULL, flags TEXT NOT NULL);
CREATE TABLE mem_rss(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, upid INTEGER, kind TEXT NOT NULL, bytes INTEGER NOT NULL, cause TEXT NOT NULL, is_external INTEGER NOT NULL);
CREATE TABLE page_fault(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, minor INTEGER NOT NULL, major INTEGER NOT NULL);
CREATE TABLE kmem(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, kind TEXT NOT NULL, context TEXT, vec TEXT, utid INTEGER, location TEXT, bytes INTEGER NOT NULL, weight INTEGER NOT NULL, is_failed INTEGER NOT NULL);
CREATE TABLE stack_sample(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, cpu INTEGER NOT NULL, utid INTEGER, owner TEXT, stage TEXT, family TEXT, context TEXT NOT NULL, vec TEXT, in_user INTEGER NOT NULL, stack_id INTEGER, user_stack_id INTEGER, error INTEGER, user_error INTEGER, flags TEXT NOT NULL, flow_id INTEGER, flow_is_exact INTEGER);
CREATE TABLE stack(session_id INTEGER NOT NULL, id INTEGER NOT NULL, depth INTEGER NOT NULL, kind TEXT NOT NULL, parent_id INTEGER, symbol_id INTEGER, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE frame(session_id INTEGER NOT NULL, stack_id INTEGER NOT NULL, pos INTEGER NOT NULL, symbol_id INTEGER);
CREATE TABLE symbol(session_id INTEGER NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, offset INTEGER, module TEXT, build_id TEXT, file_offset INTEGER, path TEXT, PRIMARY KEY(session_id, id)) WITHOUT ROWID;
CREATE TABLE cpu_slice(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, owner TEXT NOT NULL, utid INTEGER);
INSERT INTO cpu_slice VALUES(1,10000001000,994000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10000995000,5000,0,'recv',1);
INSERT INTO cpu_slice VALUES(1,10001000000,95000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10001095000,5000,0,'recv',1);
INSERT INTO cpu_slice VALUES(1,10001100000,95000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10001195000,5000,0,'send',1);
INSERT INTO cpu_slice VALUES(1,10001200000,790000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10001990000,10000,0,'net_rx',1);
INSERT INTO cpu_slice VALUES(1,10002000000,940000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10002940000,30000,0,'net_rx',1);
INSERT INTO cpu_slice VALUES(1,10002970000,10000,0,'hardirq',1);
INSERT INTO cpu_slice VALUES(1,10002980000,20000,0,'net_rx',1);
INSERT INTO cpu_slice VALUES(1,10003000000,998000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10003998000,2000,0,'net_rx',1);
INSERT INTO cpu_slice VALUES(1,10004000000,938000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10004938000,62000,0,'net_rx',1);
INSERT INTO cpu_slice VALUES(1,10005000000,94929000,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10099929000,101000,0,'net_rx',1);
INSERT INTO cpu_slice VALUES(1,10000001000,994000,1,'task',2);
INSERT INTO cpu_slice VALUES(1,10000995000,5000,1,'recv',2);
INSERT INTO cpu_slice VALUES(1,10001000000,991000,1,'task',2);
INSERT INTO cpu_slice VALUES(1,10001991000,9000,1,'net_rx',2);
INSERT INTO cpu_slice VALUES(1,10002000000,950000,1,'task',2);
INSERT INTO cpu_slice VALUES(1,10002950000,50000,1,'net_rx',2);
INSERT INTO cpu_slice VALUES(1,10003000000,997000,1,'task',2);
INSERT INTO cpu_slice VALUES(1,10003997000,3000,1,'net_rx',2);
INSERT INTO cpu_slice VALUES(1,10004000000,95998000,1,'task',2);
INSERT INTO cpu_slice VALUES(1,10099998000,300009000,1,'net_rx',2);
INSERT INTO cpu_slice VALUES(1,10100030000,1899970600,0,'task',1);
INSERT INTO cpu_slice VALUES(1,10400007000,1599993600,1,'task',2);
CREATE TABLE loss(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, kind TEXT NOT NULL, count INTEGER, why TEXT NOT NULL);
INSERT INTO loss VALUES(1,10002960000,20000,1,'rx_stretch',2,'ring full');
CREATE TABLE clock_snapshot(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, realtime_ns INTEGER, tai_ns INTEGER, boot_ns INTEGER, uncertainty_ns INTEGER);
INSERT INTO clock_snapshot VALUES(1,10000000000,1700000000000000000,1700000037000000000,10005000000,150);
INSERT INTO clock_snapshot VALUES(1,12000000000,1700000002000000000,1700000039000000000,12005000000,150);
CREATE TABLE proc_counter(session_id INTEGER NOT NULL, ts_begin INTEGER NOT NULL, ts_end INTEGER NOT NULL, source TEXT NOT NULL, cpu INTEGER, name TEXT NOT NULL, value INTEGER NOT NULL);
CREATE TABLE self_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, program TEXT, name TEXT NOT NULL, value INTEGER NOT NULL);
CREATE TABLE record_count(session_id INTEGER NOT NULL, cpu INTEGER NOT NULL, kind TEXT NOT NULL, records INTEGER NOT NULL, lost INTEGER NOT NULL);
INSERT INTO record_count VALUES(1,0,'state',2,0);
INSERT INTO record_count VALUES(1,0,'softirq',5,0);
INSERT INTO record_count VALUES(1,0,'irq',1,0);
INSERT INTO record_count VALUES(1,0,'op',3,0);
INSERT INTO record_count VALUES(1,0,'rx_stretch',8,0);
INSERT INTO record_count VALUES(1,1,'state',2,0);
INSERT INTO record_count VALUES(1,1,'softirq',4,0);
INSERT INTO record_count VALUES(1,1,'op',1,0);
INSERT INTO record_count VALUES(1,1,'loss',1,0);
INSERT INTO record_count VALUES(1,1,'rx_stretch',7,2);
CREATE TABLE cpu_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, owner TEXT NOT NULL, utid INTEGER, spent_ns INTEGER NOT NULL);
INSERT INTO cpu_cost VALUES(1,10100001000,300000000,1,'net_rx',2,300000000);
INSERT INTO cpu_cost VALUES(1,10200001000,1700000000,0,'task',1,1700000000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,0,'task',1,99779000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,0,'recv',1,10000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,0,'send',1,5000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,0,'net_rx',1,196000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,0,'hardirq',1,10000);
INSERT INTO cpu_cost VALUES(1,10100001000,100000000,0,'net_rx',1,29000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,1,'task',2,99930000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,1,'recv',2,5000);
INSERT INTO cpu_cost VALUES(1,10000001000,100000000,1,'net_rx',2,65000);
INSERT INTO cpu_cost VALUES(1,10400001000,100000000,1,'net_rx',2,6000);
INSERT INTO cpu_cost VALUES(1,10100001000,100000000,0,'task',1,99971000);
INSERT INTO cpu_cost VALUES(1,10500001000,1400000000,1,'task',2,1400000000);
INSERT INTO cpu_cost VALUES(1,11900001000,99999600,0,'task',1,99999600);
INSERT INTO cpu_cost VALUES(1,10400001000,100000000,1,'task',2,99994000);
INSERT INTO cpu_cost VALUES(1,11900001000,99999600,1,'task',2,99999600);
CREATE TABLE sock_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, utid INTEGER, op TEXT NOT NULL, socket_id INTEGER, ops INTEGER NOT NULL, failed INTEGER NOT NULL, untimed INTEGER NOT NULL, lower_bound INTEGER NOT NULL, bytes INTEGER NOT NULL, cpu_ns INTEGER NOT NULL);
INSERT INTO sock_cost VALUES(1,10000001000,100000000,1,'recv',1,1,0,0,0,200,5000);
INSERT INTO sock_cost VALUES(1,10000001000,100000000,1,'recv',3,1,0,0,0,100,5000);
INSERT INTO sock_cost VALUES(1,10000001000,100000000,1,'send',2,1,0,0,0,50,5000);
INSERT INTO sock_cost VALUES(1,10000001000,100000000,2,'recv',4,1,0,0,0,300,5000);
CREATE TABLE rx_cost(session_id INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cpu INTEGER NOT NULL, payer TEXT NOT NULL, socket_id INTEGER, upid INTEGER, device_id INTEGER, flow_id INTEGER, reason TEXT, packets INTEGER NOT NULL, segments INTEGER NOT NULL, bytes INTEGER NOT NULL, spent_ns INTEGER NOT NULL, exact_ns INTEGER NOT NULL, most_ns INTEGER NOT NULL);
INSERT INTO rx_cost VALUES(1,10100001000,300000000,1,'socket',2,1,1,2,NULL,0,0,0,300000000,0,300000000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,0,'socket',1,1,1,1,NULL,8,18,2600,60771,0,107000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,0,'socket',2,1,1,2,NULL,2,5,1100,29685,0,77000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,0,'unattributed',NULL,NULL,NULL,NULL,NULL,0,0,0,2000,2000,2000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,0,'socket',3,1,1,4,NULL,1,3,1000,25886,0,134000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,0,'socket',4,2,1,4,NULL,3,9,3000,77658,0,134000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'other',NULL,NULL,1,3,NULL,1,2,100,5000,5000,5000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'other',NULL,NULL,NULL,5,NULL,1,2,100,4000,4000,4000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'unattributed',NULL,NULL,NULL,NULL,NULL,1,2,100,44000,44000,44000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'socket',3,1,1,4,NULL,0,0,25,2250,0,9000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'socket',4,2,1,4,NULL,1,2,75,6750,0,9000);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'socket',1,1,1,1,NULL,1,2,100,0,0,0);
INSERT INTO rx_cost VALUES(1,10000001000,100000000,1,'socket',2,1,1,2,NULL,1,1,60,3000,0,3000);
INSERT INTO rx_cost VALUES(1,10100001000,100000000,0,'socket',3,1,1,4,NULL,0,0,25,7250,0,29000);
INSERT INTO rx_cost VALUES(1,10100001000,100000000,0,'socket',4,2,1,4,NULL,1,2,75,21750,0,29000);
INSERT INTO rx_cost VALUES(1,10400001000,100000000,1,'socket',2,1,1,2,NULL,1,2,100,6000,0,6000);
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
CREATE VIEW flow_estimate AS
SELECT c.session_id, c.ts, c.dur, c.flow_id, f.src, f.sport, f.dst, f.dport, f.proto, f.direction, f.device_id,
       c.packets, c.packets_low, c.packets_high, c.bytes, c.bytes_low, c.bytes_high
FROM flow_count AS c LEFT JOIN flow AS f ON f.session_id = c.session_id AND f.id = c.flow_id
WHERE c.counted_by = 'flow';
CREATE VIEW net_cost_flow AS
SELECT r.session_id, r.flow_id, r.payer, f.family, f.proto, f.src, f.sport, f.dst, f.dport, f.netns, f.device_id,
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
        WHEN program GLOB 'nt_latency_udp_socket_read__*' THEN 'udp-socket-read'
        WHEN program GLOB 'nt_latency_tx_queued__*' THEN 'tx-queued'
        WHEN program GLOB 'nt_latency_tx_started__*' THEN 'tx-started' END AS hook, name, value FROM self_cost_last
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
           sum(CASE name WHEN 'recorded' THEN value ELSE 0 END) AS recorded,
           sum(CASE name WHEN 'skipped_unnoted' THEN value ELSE 0 END) AS skipped_unnoted
    FROM program WHERE hook IS NOT NULL GROUP BY session_id, hook
), either AS (
    SELECT session_id, hook FROM sample UNION SELECT session_id, hook FROM counted
)
SELECT e.session_id, e.hook, coalesce(s.samples, 0) AS samples, coalesce(s.packets, 0) AS packets,
       coalesce(s.future, 0) AS future, no_stamp, transmit_stamp, skipped_filter, skipped_sample, lost, skipped_peek, skipped_unqueued, skipped_gate, recorded, skipped_unnoted
FROM either AS e
     LEFT JOIN sample AS s ON s.session_id = e.session_id AND s.hook = e.hook
     LEFT JOIN counted AS c ON c.session_id = e.session_id AND c.hook = e.hook;
CREATE VIEW skb_drop_total AS
SELECT session_id, reason, location, device_id, count(*) AS packets, sum(length) AS bytes
FROM skb_drop GROUP BY session_id, reason, location, device_id;
CREATE VIEW softirq_wait AS
WITH ranked AS (
    SELECT session_id, cpu, vec, dur, row_number() OVER (PARTITION BY session_id, cpu, vec ORDER BY dur) AS place,
           count(*) OVER (PARTITION BY session_id, cpu, vec) AS waits
    FROM softirq_raise
)
SELECT session_id, cpu, vec, waits, sum(dur) AS wait_ns, min(CASE WHEN place * 2 >= waits THEN dur END) AS p50_ns,
       min(CASE WHEN place * 100 >= waits * 99 THEN dur END) AS p99_ns, max(dur) AS longest_ns
FROM ranked GROUP BY session_id, cpu, vec;
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
CREATE VIEW mem_resident AS
WITH change AS (
    SELECT session_id, upid, ts, bytes - lag(bytes, 1, 0) OVER (PARTITION BY session_id, upid, kind ORDER BY ts)
           AS delta
    FROM mem_rss WHERE kind <> 'swap'
), step AS (
    SELECT session_id, upid, ts, sum(delta) AS delta FROM change GROUP BY 1, 2, 3
)
SELECT session_id, upid, ts, sum(delta) OVER (PARTITION BY session_id, upid ORDER BY ts) AS bytes FROM step;
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
CREATE VIEW kmem_cost AS
SELECT k.session_id, k.kind, k.context, k.vec, t.upid, p.pid, p.name, k.location,
       sum(k.weight) AS allocations,
       CAST(total(CASE WHEN is_failed THEN 0 ELSE weight * bytes END) AS INTEGER) AS bytes,
       sum(CASE WHEN is_failed THEN weight ELSE 0 END) AS failed,
       total(k.weight * (k.weight - 1)) AS allocations_variance,
       total(CASE WHEN is_failed THEN 0 ELSE bytes * bytes * weight * (weight - 1) END) AS bytes_variance, count(*) AS samples
FROM kmem AS k LEFT JOIN thread AS t ON t.session_id = k.session_id AND t.utid = k.utid
LEFT JOIN process AS p ON p.session_id = k.session_id AND p.upid = t.upid
GROUP BY k.session_id, k.kind, k.context, k.vec, t.upid, k.location;
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
           sum(CASE WHEN owner IN ('', 'net_rx', 'net_tx', 'send', 'recv') THEN spent_ns ELSE 0 END) AS network,
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
COMMIT;
