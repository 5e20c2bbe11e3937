-- Samples for the tape `hand` (tests/tools/make_tape.c), whose session is 1 ms long from ts 1000000000000, realtime
-- 1700000000000000000: what tests/cli/report_latency.sh knows the figures of.
INSERT INTO net_device VALUES (1, 1, 'eth0', 4026531840, 1), (1, 7, 'eth0', 4026532001, 2), (1, 2, 'br"0\', 4026531840,
    3);

-- 100 packets of UDP, one each 10 us, packet i (0 to 99) stamped at 10 i us: at ip-start after 1000 + i ns, at
-- udp-start after 2000, in the socket after 3000, read after 4000 + 100 i by curl; each fourth came in by the other
-- eth0.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99),
hook(name, ns, step) AS (VALUES ('ip-start', 1000, 1), ('udp-start', 2000, 0), ('udp-socket-enqueued', 3000, 0),
    ('udp-socket-read', 4000, 100))
INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, device_id, socket_id, utid, length, queue_len,
    weight, flags)
SELECT 1, 1000000000000 + 10000 * i + ns + i * step, i % 2, name, ns + i * step, 1700000000000000000 + 10000 * i,
    1 + (i % 4 = 3),
       CASE WHEN name LIKE '%socket%' THEN 2 END, CASE WHEN name LIKE '%read' THEN 3 END, 100, 1, 1,
           CASE WHEN i % 2 THEN 'ipv6' ELSE '' END
FROM n, hook;

-- TCP by the bridge, read by web: three reads, one that was behind a segment that came late; a stamp of the future, and
-- one of no time.
INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, device_id, socket_id, utid, length, queue_len,
    weight, flags) VALUES
    (1, 1000000500000, 0, 'tcp-socket-read', 8000, 1700000000000492000, 3, 1, 1, NULL, 0, 1, ''),
    (1, 1000000600000, 0, 'tcp-socket-read', 16384, 1700000000000583616, 3, 1, 1, NULL, 0, 1, ''),
    (1, 1000000700000, 0, 'tcp-socket-read', 400000, 1700000000000300000, 3, 1, 1, NULL, 0, 1, 'hol,ipv6'),
    (1, 1000000800000, 0, 'tcp-socket-read', NULL, 1700000099000300000, 3, 1, 1, NULL, 0, 1, 'hol,future'),
    (1, 1000000900000, 0, 'tcp-socket-read', NULL, 1700000000000300000, 3, 1, 1, NULL, 0, 1, 'step');

-- tcp-start was sampled: weights 1 to 8, in turn.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 79)
INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, device_id, socket_id, utid, length, queue_len,
    weight, flags)
SELECT 1, 1000000000000 + 12500 * i, 1, 'tcp-start', 500 + 10 * i, 1700000000000000000 + 12500 * i - 500 - 10 * i,
    3, NULL, NULL, 60, 0,
       1 + i % 8, ''
FROM n;

INSERT INTO self_cost(session_id, ts, program, name, value) VALUES
    (1, 1000001000000, 'nt_latency_ip_start__ip_rcv_core', 'no_stamp', 11), (1, 1000001000000,
        'nt_latency_ip_start__ip6_rcv_core', 'no_stamp', 3),
    (1, 1000001000000, 'nt_latency_ip_start__ip_rcv_core', 'transmit_stamp', 5), (1, 1000001000000,
        'nt_latency_tcp_start__tcp_v4_rcv', 'skipped_sample', 283),
    (1, 1000001000000, 'nt_latency_tcp_start__tcp_v4_rcv', 'recorded', 80),
    (1, 1000001000000, 'nt_latency_tcp_start__tcp_v4_rcv', 'lost', 2), (1, 1000001000000,
        'nt_latency_udp_start__udp_rcv', 'skipped_filter', 9);
INSERT INTO session_meta(session_id, key, value) VALUES (1, 'latency_sample', '0.25'), (1, 'latency_filter',
    'interface eth0'),
    (1, 'attach', 'latency nt_latency_ip_start__ip_rcv_core fentry:ip_rcv_core'),
    (1, 'attach', 'latency nt_latency_udp_socket_enqueued____udp_enqueue_schedule_skb ' ||
        'fexit:__udp_enqueue_schedule_skb'),
    (1, 'uncovered', 'Latency at ip-start is that of a test.'),
    (1, 'attach', 'sched nt_sched_switch tp_btf:sched_switch');
INSERT INTO skb_drop(session_id, ts, cpu, reason, location, length) VALUES (1, 1000000100000, 0, 'NO_SOCKET',
    'tcp_v4_rcv+0x1a', 60),
    (1, 1000000200000, 0, 'NO_SOCKET', 'tcp_v4_rcv+0x1a', 60), (1, 1000000300000, 1, 'QUEUE "FULL"', 'x+0x1', 60);
INSERT INTO tcp_retransmit(session_id, ts, cpu, what, length) VALUES (1, 1000000100000, 0, 'data', 1448),
    (1, 1000000100000, 0, 'synack', 0);
