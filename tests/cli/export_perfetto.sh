#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# export perfetto: protoc reads all of it, Perfetto's own engine takes it without a defect and finds what nettape's
# tables hold, to the nanosecond; of a tape and of a database, of the whole and of a part.
# check-all: it takes half a minute
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/perfetto/lib.sh
source tests/perfetto/lib.sh

make_tape chunks 100 # parts of it are asked for below
make_tape dropped 100 # in less no block is missing
for scenario in hand samples loss hotplug chunks dropped partial undeclared empty; do
    make_tape $scenario 30
    "$PLAIN" import "$work/$scenario.tape" -o "$work/$scenario.db" >"$work/import" 2>&1
    report 0 export perfetto "$work/$scenario.tape" -o "$work/$scenario.pftrace"
    nothing "nothing on standard output" "$out"
    is_read "$work/$scenario.pftrace" $scenario
    is_same "$work/$scenario.pftrace" "$work/$scenario.db" $scenario
done
holds "nothing else is left" test ! -e "$work/hand.pftrace.partial"
for tape in tests/golden/*.tape; do
    report 0 export perfetto "$tape" -o "$work/golden.pftrace"
    is_read "$work/golden.pftrace" "$tape"
done
make_tape hostile
report 0 export perfetto "$work/hostile.tape" -o "$work/hostile.pftrace"
is_read "$work/hostile.pftrace" hostile

# Of a database, where rows come table by table.
for scenario in hand samples loss; do
    report 0 export perfetto "$work/$scenario.db" -o "$work/database.pftrace"
    is_read "$work/database.pftrace" "$scenario of a database"
    is_same "$work/database.pftrace" "$work/$scenario.db" "$scenario of a database"
done
for scenario in stacks waits disks transmit memory kmem readings; do
    tape=tests/golden/v1-$scenario.tape
    "$PLAIN" import "$tape" -o "$work/$scenario.db" >"$work/import" 2>&1
    for source in "$tape" "$work/$scenario.db"; do
        report 0 export perfetto "$source" -o "$work/$scenario.pftrace"
        is_same "$work/$scenario.pftrace" "$work/$scenario.db" "$scenario of ${source##*/}"
    done
done
"$PLAIN" import tests/golden/v1-charges.tape -o "$work/charges.db" >"$work/import" 2>&1
for source in tests/golden/v1-charges.tape "$work/charges.db"; do
    report 0 export perfetto "$source" -o "$work/charges.pftrace"
    is_read "$work/charges.pftrace" "${source##*/}"
    [[ $engine ]] || continue
    bash tests/perfetto/compare.sh "$work/charges.pftrace" "$work/charges.db" >"$work/compared" 2>&1 || true
    cat "$work/compared" >>"$work/answers"
    has "Perfetto finds the payers of ${source##*/}" "$(cat "$work/compared")" "same payers"
done
# More processes pay than have a counter of their own.
cp "$work/charges.db" "$work/payers.db"
sqlite3 "$work/payers.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
    INSERT INTO process(session_id, upid, pid, name) SELECT 1, 1000 + i, 5000 + i, 'payer' FROM n;
    INSERT INTO rx_cost(session_id, ts, dur, cpu, payer, upid, packets, segments, bytes, spent_ns, exact_ns,
        most_ns)
    SELECT 1, session.start_ts + 1000000000 + upid % 2 * 100000000, 100000000, 0, 'socket', upid, 1, 1, 1, 1000 * upid,
        0, 0 FROM process JOIN session USING (session_id) WHERE upid > 1000"
report 0 export perfetto "$work/payers.db" -o "$work/payers.pftrace"
is_read "$work/payers.pftrace" "many payers"
if [[ $engine ]]; then
    counters="counter c JOIN track t ON t.id = c.track_id JOIN track p ON p.id = t.parent_id
        WHERE p.name = 'Who pays for net_rx'"
    asks "$work/payers.pftrace" <<SQL
-- counters
SELECT count(DISTINCT t.name), sum(DISTINCT t.name GLOB '* other processes') FROM $counters
-- others
SELECT t.name, max(value) > 0, min(value) FROM $counters AND t.name GLOB '* other processes'
SQL
    is "counters of payers" "$(answer counters)" "23|1"
    # Of 30 and 2, those that pay least.
    is "what others pay" "$(answer others)" "12 other processes|1|0"
fi
# Wakings before a CPU's first switch, as tapes of several CPUs have them.
cp "$work/hand.db" "$work/early.db"
sqlite3 "$work/early.db" "INSERT INTO sched_wakeup (session_id, ts, cpu, utid, target_cpu, waker_utid, priority, what,
    context, was_runnable)
    SELECT session_id, start_ts - 5000 * s.cpu - 1, s.cpu, max(utid), s.cpu, min(utid), 120, 'waking', 'softirq', 0
        FROM sched_slice AS s JOIN session USING (session_id)
    WHERE utid IN (SELECT utid FROM thread WHERE tid > 0) GROUP BY s.cpu"
report 0 export perfetto "$work/early.db" -o "$work/early.pftrace"
is_read "$work/early.pftrace" "early wakings"
is_same "$work/early.pftrace" "$work/early.db" "early wakings"
holds "early wakings were written" test "$(sqlite3 "$work/early.db" 'SELECT count(*) FROM sched_wakeup')" -ge 2
# With packets that are read after their socket took them: flows; and with the kernel's counters of packets.
cp "$work/hand.db" "$work/flows.db"
sqlite3 "$work/flows.db" <tests/cli/latency.sql
sqlite3 "$work/flows.db" "INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value)
    SELECT 1, start_ts + at, start_ts + at + 9, source, cpu, name, at * 3 + i
    FROM session, (SELECT 100 AS at UNION ALL SELECT 900000), (SELECT '/proc/net/softnet_stat' AS source, 0 AS cpu,
        'processed' AS name, 1 AS i UNION ALL
        SELECT '/proc/net/softnet_stat', 1, 'dropped', 2 UNION ALL SELECT '/proc/net/snmp', NULL, 'Udp.InErrors', 3
            UNION ALL SELECT '/proc/net/snmp', NULL, 'Icmp.InMsgs', 4)"
report 0 export perfetto "$work/flows.db" -o "$work/flows.pftrace"
is_same "$work/flows.pftrace" "$work/flows.db" "packets with flows and counters"

is_answered

# part TAPE ARGUMENT...: exports a part of it
part() {
    report 0 export perfetto "$work/$1.tape" -o "$work/part.pftrace" "${@:2}"
    is_read "$work/part.pftrace" "a part of $1: ${*:2}"
}
part chunks --process 1001
part chunks --from 1970-01-01T00:00:00Z --cpu 0-1
if [[ $engine ]]; then
    # The script of the tape `hand` says: web runs, sleeps in its receive, is woken on the other CPU and waits for the
    # disk.
    asks "$work/hand.pftrace" <<'SQL'
-- states
SELECT (ts - 1000000000000) / 1000, dur / 1000, state, cpu FROM thread_state JOIN thread USING (utid)
    WHERE tid IN (100, 200) AND dur > 0 ORDER BY tid, ts
-- last
SELECT tid, state FROM thread_state JOIN thread USING (utid) WHERE dur < 0 ORDER BY 1
-- cgroup
SELECT extract_arg(arg_set_id, 'chrome.process_label[0]') FROM process WHERE pid = 100
-- begin
SELECT start_ts, count(*) FROM process WHERE pid = 200
SQL
    is "states of a thread" "$(answer states | xargs)" \
        "100|400|Running|0 500|100|S| 600|300|Running|1 100|500|Running|1"
    is "states at the end" "$(answer last | xargs)" "100|D 200|R+ 1342177280|PI"
    is "a cgroup" "$(answer cgroup)" "cgroup web.service"
    is "when a process began" "$(answer begin)" "1000000100000|1"

    # Half a recording: everything that lies in it, cut at its ends.
    part chunks --from 20ms --to 60ms
    asks "$work/part.pftrace" <<'SQL'
-- owners
SELECT t.name, s.name, sum(dur) FROM slice s JOIN track t ON t.id = s.track_id JOIN track p ON p.id = t.parent_id
    WHERE p.name = 'Who had each CPU' GROUP BY 1, 2 ORDER BY 1, 2
-- stays
SELECT cpu, tid, sum(dur) FROM sched JOIN thread USING (utid) WHERE dur >= 0 GROUP BY 1, 2 ORDER BY 1, 2
-- operations
SELECT s.name, sum(dur) FROM slice s JOIN thread_track t ON t.id = track_id GROUP BY 1 ORDER BY 1
-- length
SELECT end_ts - start_ts FROM trace_bounds
SQL
    # clipped TABLE: its durations, cut
    clipped() { echo "sum(min(o.ts + o.dur, session.start_ts + 60000000) - max(o.ts, session.start_ts + 20000000))
        FROM $1 o JOIN session USING (session_id)
        LEFT JOIN thread USING (session_id, utid) WHERE o.ts < session.start_ts + 60000000
        AND o.ts + o.dur > session.start_ts + 20000000"; }
    is "owners in a part" "$(answer owners)" \
        "$(sqlite3 "$work/chunks.db" "SELECT 'CPU ' || cpu, owner, $(clipped cpu_slice) GROUP BY 1, 2 ORDER BY 1, 2")"
    is "stays in a part" "$(answer stays)" \
        "$(sqlite3 "$work/chunks.db" "SELECT cpu, tid, $(clipped sched_slice) GROUP BY 1, 2 ORDER BY 1, 2")"
    is "operations in a part" "$(answer operations)" \
        "$(sqlite3 "$work/chunks.db" "SELECT op, $(clipped sock_op) AND utid IS NOT NULL GROUP BY 1 ORDER BY 1")"
    is "length of a part" "$(answer length)" 40000000

    part chunks --cpu 1
    asks "$work/part.pftrace" <<'SQL'
-- cpus
SELECT DISTINCT cpu FROM sched
-- softirqs
SELECT count(*) FROM slice JOIN track t ON t.id = track_id WHERE t.type = 'cpu_softirq'
SQL
    is "one CPU" "$(answer cpus)" 1
    is "its softirqs" "$(answer softirqs)" \
        "$(sqlite3 "$work/chunks.db" "SELECT count(*) FROM softirq_slice WHERE cpu = 1")"

    pid=$(sqlite3 "$work/chunks.db" "SELECT pid FROM sock_op JOIN thread USING (session_id, utid)
        JOIN process USING (session_id, upid) GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
    part chunks --process "$pid"
    asks "$work/part.pftrace" <<'SQL'
-- stays
SELECT tid, count(*), sum(dur) FROM sched JOIN thread USING (utid) WHERE tid BETWEEN 1 AND 4194304 GROUP BY 1 ORDER BY 1
-- time
SELECT cpu, sum(dur) FROM sched WHERE dur > 0 GROUP BY 1
-- operations
SELECT count(*), sum(dur) FROM slice s JOIN thread_track t ON t.id = track_id WHERE s.name IN ('send', 'recv')
-- defects
SELECT 1
-- end
SELECT 2
SQL
    is "stays of one process" "$(answer stays)" \
        "$(sqlite3 "$work/chunks.db" "SELECT tid, count(*), sum(dur) FROM sched_slice JOIN thread USING (session_id,
            utid) JOIN process USING (session_id, upid)
            WHERE pid = $pid GROUP BY 1 ORDER BY 1")"
    is "all of each CPU's time" "$(answer time)" \
        "$(sqlite3 "$work/chunks.db" "SELECT cpu, sum(dur) FROM cpu_slice GROUP BY 1")"
    is "its operations" "$(answer operations)" \
        "$(sqlite3 "$work/chunks.db" "SELECT count(*), sum(coalesce(dur, 0)) FROM sock_op JOIN thread USING (session_id,
            utid) JOIN process USING (session_id, upid) WHERE pid = $pid")"
    is "defects of a part" "$(answer defects; answer end)" 2
fi

# Memory is for the CPUs and for who is who.
for ms in 500 2500; do
    build/tools/make_tape chunks "$work/$ms.tape" $ms
    build/tools/rusage "$work/$ms.rusage" build/nettape-report export perfetto "$work/$ms.tape" -o "$work/$ms.pftrace"
done
read -r _ _ _ short <"$work/500.rusage"
read -r _ _ _ long <"$work/2500.rusage"
echo "peak memory: $short KiB, and $long KiB for five times the tape; $(stat -c %s "$work/500.pftrace" \
    "$work/2500.pftrace" | xargs) bytes"
holds "memory does not grow with the tape" test "$long" -lt $((short + 1024))
finish
