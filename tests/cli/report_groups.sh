#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Groups of `summary --by`: each sums to the nanosecond to what slices and operations cost, on random tapes, on a real
# one and on databases that lack what groups are made of. Output for people ends in the sums of the rest. 200 processes
# of one name, or 50 connections to one port, are one line.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"

# groups FILE WHAT: the rows of a grouping in JSON, one a line
groups() { "$REPORT" summary "$1" --by "$2" --json | sed -n '/"groups": \[/,/^      \]/p' | grep '^        {'; }
# sum NAME: of a member of those in $work/groups
sum() { grep -o "\"$1\": [0-9]*" "$work/groups" | awk '{ n += $2 } END { print n + 0 }'; }

# sums_of FILE: each grouping of session 1 sums to what it is made of
sums_of() {
    local by name slices operations counts wanted got own paid paid_least paid_most
    slices=$(sql "$1" "SELECT sum(send_ns), sum(recv_ns) FROM net_cost_process WHERE session_id = 1")
    operations=$(sql "$1" "SELECT sum(CASE op WHEN 'send' THEN cpu_ns ELSE 0 END),
        sum(CASE op WHEN 'recv' THEN cpu_ns ELSE 0 END) FROM sock_cost WHERE session_id = 1")
    counts=$(sql "$1" "SELECT sum(ops), sum(CASE op WHEN 'send' THEN bytes ELSE 0 END),
        sum(CASE op WHEN 'recv' THEN bytes ELSE 0 END), sum(untimed), sum(lower_bound) FROM sock_cost
        WHERE session_id = 1")
    IFS=, read -r paid paid_least paid_most < <(sql "$1" "SELECT coalesce(sum(spent_ns), 0) AS a,
        coalesce(sum(exact_ns), 0) AS b, coalesce(sum(most_ns), 0) AS c FROM rx_cost
        WHERE session_id = 1 AND payer = 'socket'")
    for by in program process cgroup port peer socket; do
        name=${1##*/}
        case $by in port | peer | socket) wanted=$operations ;; *) wanted=$slices ;; esac
        groups "$1" $by >"$work/groups"
        is "$name by $by: send and recv" "$(sum send_ns),$(sum recv_ns)" "$wanted"
        own=$((${wanted%,*} + ${wanted#*,}))
        is "$name by $by: in all, and its bounds" "$(sum total_ns) $(sum at_least_ns) $(sum at_most_ns)" \
            "$((own + paid)) $((own + paid_least)) $((own + paid_most))"
        got=
        for name in ops_count sent_bytes received_bytes untimed_count lower_bound_count; do
            got+=,$(sum $name)
        done
        is "${1##*/} by $by: operations, bytes" "${got#,}" "$counts"
    done
    # A socket has the name of a process that it cost most, with what that pays; which of several that it cost the same
    # is open.
    is "${1##*/}: sockets that are not of who they cost most" "$(sql "$1" "WITH cost AS (
        SELECT session_id, socket_id, upid, sum(ns) AS ns FROM (
            SELECT c.session_id, c.socket_id, t.upid, c.cpu_ns AS ns FROM sock_cost AS c
                LEFT JOIN thread AS t USING (session_id, utid)
            UNION ALL SELECT session_id, socket_id, upid, spent_ns FROM rx_cost WHERE payer = 'socket')
        GROUP BY session_id, socket_id, upid)
        SELECT count(*) FROM net_cost_socket AS s WHERE (SELECT max(ns) FROM cost AS c
            WHERE c.session_id = s.session_id AND c.socket_id IS s.socket_id) IS NOT (SELECT ns FROM cost AS c
            WHERE c.session_id = s.session_id AND c.socket_id IS s.socket_id AND c.upid IS s.upid)")" 0
}

for seed in 1 2 3; do
    rm -rf "$work/loss.tape"
    make_tape loss 60 $seed
    "$PLAIN" import "$work/loss.tape" -o "$work/$seed.db" >/dev/null 2>&1
    # Each socket is paid for by some processes, more or less surely, some also by nobody who is known.
    sqlite3 "$work/$seed.db" "WITH payer AS (SELECT upid FROM process UNION ALL SELECT NULL),
        paid AS (SELECT k.id AS socket_id, p.upid,
            abs((k.id * 7919 + ifnull(p.upid, 77) * 104729 + $seed) * 2654435761) AS hash FROM socket AS k, payer AS p)
        INSERT INTO rx_cost SELECT session_id, start_ts, bucket_ns, 0, 'socket', socket_id, upid, NULL, NULL, NULL,
            1, 1, 100, hash % 9999991, hash % 9999991 / 2, hash % 9999991 + hash % 4001 FROM paid, session
            WHERE hash / 10000019 % 4 = 0"
    sums_of "$work/$seed.db"
done
sums_of tests/golden/demo.tape
# Names, sockets, threads and cgroups that nothing is known of.
cp "$work/1.db" "$work/unknown.db"
sqlite3 "$work/unknown.db" "DELETE FROM socket WHERE id % 3 = 0;
    UPDATE sock_cost SET socket_id = NULL WHERE socket_id % 3 = 1;
    UPDATE process SET name = NULL, cgroup_id = NULL WHERE upid % 2; DELETE FROM thread WHERE utid % 3 = 0"
sums_of "$work/unknown.db"
for by in program process cgroup port peer socket; do
    holds "by $by: what is not known is a row" grep -q '"(unknown)"' <(groups "$work/unknown.db" $by)
done

# One name, one port, one peer.
"$PLAIN" import tests/golden/demo.tape -o "$work/many.db" >/dev/null 2>&1
sqlite3 "$work/many.db" "DELETE FROM sock_cost; DELETE FROM cpu_cost; DELETE FROM cpu_slice; DELETE FROM socket;
    DELETE FROM process; DELETE FROM thread;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO process(session_id, upid, pid, name, cgroup_id) SELECT 1, i, 1000 + i, 'curl', 1 FROM n;
    INSERT INTO thread(session_id, utid, tid, upid, name, is_kernel) SELECT 1, upid, pid, upid, name, 0 FROM process;
    INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, utid, spent_ns)
        SELECT 1, session.start_ts, bucket_ns, 0, 'send', upid, 1000 + upid
        FROM process JOIN session USING (session_id);
    INSERT INTO socket(session_id, id, family, type, proto, src, sport, dst, dport)
        SELECT 1, upid, 'inet', 'stream', 'tcp', '10.0.0.1', 40000 + upid, '10.0.0.2',
            CASE WHEN upid <= 50 THEN 6379 WHEN upid <= 100 THEN 61616 ELSE 443 END FROM process;
    INSERT INTO socket(session_id, id, family, type, proto, src, sport, dst, dport)
        VALUES (1, 201, 'inet6', 'stream', 'tcp', '::ffff:10.0.0.1', 6379, '::ffff:10.0.0.2', 45000),
            (1, 202, 'inet', 'dgram', 'udp', '0.0.0.0', 53, NULL, NULL),
            (1, 203, 'packet', 'raw', 'packet', NULL, NULL, NULL, NULL);
    INSERT INTO sock_cost(session_id, ts, dur, utid, socket_id, op, ops, failed, untimed, lower_bound, bytes, cpu_ns)
        SELECT 1, session.start_ts, bucket_ns, min(id, 200), id, 'send', 1, 0, 0, 0, 10, 1000 + min(id, 200)
        FROM socket JOIN session USING (session_id)"
report 0 summary "$work/many.db" --by program
has "200 curls are one line" "$out" "$(printf 'curl           200  220.1 us')"
report 0 summary "$work/many.db" --by process
has "as processes, they end in others" "$out" "175 others        190.4 us"
has "and a total" "$out" "total             220.1 us"
columns='s/.*"proto": ("[^"]*"), "port": ([^,]*), "side": ([^,]*),.*"sockets_count": ([0-9]*).*/\1 \2 \3 \4/'
is "ports" "$(groups "$work/many.db" port | sed -E "$columns" | LC_ALL=C sort)" \
    '"packet" null null 1
"tcp" 443 "peer" 100
"tcp" 61616 "peer" 50
"tcp" 6379 "both" 51
"udp" 53 "local" 1'
columns='s/.*"peer": ("[^"]*").*"sockets_count": ([0-9]*).*/\1 \2/'
is "peers" "$(groups "$work/many.db" peer | sed -E "$columns" | LC_ALL=C sort)" \
    '"(not connected)" 2
"10.0.0.2" 201'
report 0 summary "$work/many.db" --by socket
is "so do sockets" "$(grep -E '^[0-9]+ others|^total' "$work/out" | tr -s ' ' | cut -d ' ' -f 1-4 | tr '\n' ';')" \
    "178 others 193.9 us;total 223.7 us 203;"

misused() {
    report 2 "$@"
    has "says what there is" "$err" "program, process, port, peer, cgroup, socket or iface"
}
misused summary "$work/many.db" --by cpu
misused summary "$work/many.db" --by ""
# Without --by there is no member for it, with it all that was there before is there.
lacks "no groups" "$("$REPORT" summary "$work/1.db" --json)" '"groups"'
is "the same beside" "$("$REPORT" summary "$work/1.db" --json --by port | sed -e '/"by":/,/^      \],/d')" \
    "$("$REPORT" summary "$work/1.db" --json)"
is "CSV has it too" "$("$REPORT" summary "$work/1.db" --csv --by peer | grep -c ',groups,1,peer,')" 1
# The recorder's own cost: what the tape says, from its start, until the first snapshot, from there to the last one of
# the recording, and after that.
demo=tests/golden/demo.tape
"$REPORT" summary $demo --csv >"$work/demo.csv"
value() { awk -F, -v name="$1" '$2 == "recorder" && $4 == name { print $5 }' "$work/demo.csv"; }
is "the recorder's threads" "$(value cpu_ns) $(value user_ns) $(value system_ns)" "198696000 16264000 182432000"
is "loading, recording, ending" "$(value loading_cpu_ns) $(value recording_cpu_ns) $(value ending_cpu_ns)" \
    "193352000 4582000 762000"
is "between snapshots" "$(value recording_ns)" "$(sql $demo "SELECT max(c.ts) - min(c.ts) FROM self_cost AS c
    JOIN session AS s USING (session_id) WHERE program IS NULL AND c.ts <= s.end_ts")"
is "its programs' runs" \
    "$(awk -F, '$2 == "recorder_programs" && $4 == "runs_count" { n += $5 } END { print n }' "$work/demo.csv")" \
    "$(sql $demo "SELECT sum(value) FROM self_cost_last WHERE program IS NOT NULL
        AND name NOT IN ('runs', 'run_ns', 'misses')")"
finish
