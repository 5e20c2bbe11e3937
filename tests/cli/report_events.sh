#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# drops, retransmits and wakeups: their figures beside SQL over the tables and views, of all of a recording and of
# parts. Each table adds up to the total. A tape and its database give the same.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
commands=(drops retransmits wakeups)

# ---- what was not recorded, and what did not happen ----

make_tape hand
"$PLAIN" import "$work/hand.tape" tests/golden/v1-samples.tape -o "$work/two.db" >/dev/null 2>&1
"$PLAIN" import "$work/hand.tape" -o "$work/hand.db" >/dev/null 2>&1
for command in "${commands[@]}"; do
    samples=${command/wakeups/wake-ups}
    report 1 $command "$work/hand.tape"
    has "a tape without" "$err" "it has no samples of $samples: record with nettape-record --probes default,$command."
    report 1 $command "$work/hand.db"
    has "a database without" "$err" "session 1 has no samples of $samples"
    nothing "nothing is guessed" "$out"
done
report 0 drops "$work/two.db"
has "of two sessions one" "$err" "1 of 2 sessions is left out: session 1 has no samples of drops"
report 0 drops tests/golden/v1-samples.tape --to 300.5ms
has "one packet" "$out" "1 packet of 60 B was dropped."
has "counts of the whole recording say so" "$out" "No drop record was lost in the whole recording."
report 0 drops tests/golden/v1-samples.tape --to 1ms
has "none" "$out" "No packet was dropped."
lacks "no empty table" "$out" "By reason"
# The first one is 299.999 ms after the start.
report 0 drops tests/golden/v1-samples.tape --to 299999us
has "the end is not in the time" "$out" "No packet was dropped."
report 0 drops tests/golden/v1-samples.tape --from 299999us --to 300ms
has "the begin is" "$out" "1 packet of 60 B was dropped."
report 1 drops tests/golden/v1-samples.tape --from 1h
has "a time that it has not" "$err" "nothing of session 1 is in that time"
report 1 drops tests/golden/v1-samples.tape --cpu 7
has "a CPU that it has not" "$err" "session 1 has none of these CPUs: it had 2"

# ---- figures ----

make_tape samples 2
tape=$work/samples.tape db=$work/samples.db
"$PLAIN" import "$tape" -o "$db" >/dev/null 2>&1

# sum SECTION NAME: of a column of CSV
sum() { awk -F, -v s="$1" -v n="$2" '$2 == s && $4 == n { sum += $5 } END { printf("%d", sum) }' "$work/out"; }
# rows SECTION: of CSV, each on a line, sorted
rows() {
    awk -F, -v s="$1" '$2 != s { next } $3 != last { printf("%s", last ? "\n" : ""); last = $3; bar = "" }
        { printf("%s%s", bar, $5); bar = "|" }' "$work/out" | LC_ALL=C sort
}
# sorted STATEMENT: the same of SQL, whose text is the head, and so must be of one line
sorted() { sql "$db" "$(tr -s '\n' ' ' <<<"$1")" | tr ',' '|' | LC_ALL=C sort; }

endpoint() { echo "CASE WHEN k.id IS NULL THEN '(unknown)' WHEN family = 'inet6' THEN '[' || $1 || ']:' || $2
    ELSE $1 || ':' || $2 END"; }
# The process that the socket cost most, or its holder.
process_of="LEFT JOIN socket AS k ON k.id = socket_id LEFT JOIN process AS p ON p.upid =
    coalesce((SELECT n.upid FROM net_cost_socket AS n WHERE n.socket_id = k.id), k.upid)"
wait="thread_runnable AS r LEFT JOIN thread AS t ON t.utid = r.utid LEFT JOIN process AS p ON p.upid = t.upid"

# drops WHERE: the last report is right
drops() {
    is "total of drops" "$(sum total packets_count),$(sum total dropped_bytes)" \
        "$(sql "$db" "SELECT count(*), coalesce(sum(length), 0) FROM skb_drop WHERE $1")"
    is "places" "$(rows places)" "$(sorted "SELECT reason, location, name, netns, count(*), sum(length) FROM skb_drop
        LEFT JOIN net_device ON id = device_id WHERE $1 GROUP BY reason, location, name, netns")"
    is "sockets" "$(rows sockets)" "$(sorted "SELECT $(endpoint src sport), nullif($(endpoint dst dport), '(unknown)'),
        proto, name, count(*), sum(length), (SELECT reason FROM skb_drop AS o WHERE o.socket_id IS skb_drop.socket_id
        AND $1 GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 1) FROM skb_drop $process_of WHERE $1
        GROUP BY socket_id")"
    is "processes" "$(rows processes)" "$(sorted "SELECT coalesce(name, '(unknown)'), pid, count(DISTINCT socket_id),
        count(*), sum(length) FROM skb_drop $process_of WHERE $1 GROUP BY p.upid")"
    for section in places sockets processes; do
        is "$section add up" "$(sum $section packets_count),$(sum $section dropped_bytes)" \
            "$(sum total packets_count),$(sum total dropped_bytes)"
    done
}
retransmits() {
    is "total of retransmits" "$(sum total segments_count),$(sum total payload_bytes)" \
        "$(sql "$db" "SELECT count(*), coalesce(sum(length), 0) FROM tcp_retransmit WHERE $1")"
    is "states" "$(rows states)" "$(sorted "SELECT what, coalesce(state, '(unknown)'), count(*), sum(length)
        FROM tcp_retransmit WHERE $1 GROUP BY what, state")"
    for section in states sockets processes; do
        is "$section add up" "$(sum $section segments_count),$(sum $section payload_bytes)" \
            "$(sum total segments_count),$(sum total payload_bytes)"
    done
    is "sockets" "$(rows sockets)" "$(sorted "SELECT $(endpoint src sport), nullif($(endpoint dst dport), '(unknown)'),
        proto, name, count(*), sum(length) FROM tcp_retransmit $process_of WHERE $1 GROUP BY socket_id")"
}
wakeups() {
    is "total of wakeups" "$(rows total)" "$(sorted "SELECT count(*), count(runnable_ns), sum(runnable_ns IS NULL),
        sum(why IS 'wakeup'), sum(why IS 'preempted'), coalesce(sum(runnable_ns), 0), max(runnable_ns),
        (SELECT sum(lost) FROM record_count WHERE kind = 'wakeup') FROM thread_runnable WHERE $1")"
    is "whys" "$(rows whys)" "$(sorted "SELECT why, CASE why WHEN 'wakeup' THEN coalesce(context, '(unknown)') END,
        count(*), sum(runnable_ns), sum(runnable_ns) / count(*), min(runnable_ns) FILTER (WHERE part >= 0.5),
        min(runnable_ns) FILTER (WHERE part >= 0.99), max(runnable_ns) FROM (SELECT *, cume_dist() OVER
        (PARTITION BY why, context ORDER BY runnable_ns) AS part FROM thread_runnable WHERE why IS NOT NULL AND $1)
        GROUP BY why, context")"
    is "processes" "$(rows processes)" "$(sorted "SELECT coalesce(p.name, '(unknown)'), pid, count(*),
        sum(why = 'wakeup'), sum(why = 'preempted'), sum(runnable_ns), max(runnable_ns) FROM $wait
        WHERE why IS NOT NULL AND ${1//ts/r.ts} GROUP BY t.upid")"
    is "wakers" "$(rows wakers)" "$(sorted "SELECT CASE WHEN context = 'task' THEN coalesce(a.name, '(unknown)')
        ELSE coalesce(context, '(unknown)') END AS waker, CASE context WHEN 'task' THEN a.pid END AS by, context,
        coalesce(p.name, '(unknown)'), p.pid, count(*) FROM $wait LEFT JOIN thread AS w ON w.utid = waker_utid
        LEFT JOIN process AS a ON a.upid = w.upid WHERE why = 'wakeup' AND ${1//ts/r.ts}
        GROUP BY context, CASE context WHEN 'task' THEN w.upid END, t.upid")"
    for section in whys processes; do
        is "$section add up" "$(sum $section waits_count),$(sum $section runnable_ns)" \
            "$(sum total waits_count),$(sum total runnable_ns)"
    done
    is "wakers add up" "$(sum wakers wakeups_count)" "$(sum total wakeups_count)"
}

parts=("" "--from 500us --to 1500us" "--cpu 1" "--cpu 0 --from 1ms")
conditions=("1" "ts BETWEEN 1000000500000 AND 1000001499999" "cpu = 1" "cpu = 0 AND ts >= 1000001000000")
look() {
    for i in "${!parts[@]}"; do
        for command in "${commands[@]}"; do
            # shellcheck disable=SC2086  # options, of which there may be none
            report 0 $command "$1" ${parts[i]} --csv
            holds "there is something" test "$(wc -l <"$work/out")" -gt 20
            $command "${conditions[i]}"
        done
    done
}
look "$tape"
for command in "${commands[@]}"; do
    for options in "${parts[@]}" "--json" "--json --cpu 1 --to 1ms" "--limit 2"; do
        # shellcheck disable=SC2086
        report 0 $command "$tape" $options
        mv "$work/out" "$work/of_tape"
        # shellcheck disable=SC2086
        report 0 $command "$db" $options
        same "the same of a database" "$work/out" "$work/of_tape"
    done
    report 0 $command "$tape" --csv
    mv "$work/out" "$work/csv"
    report 0 $command "$tape" --json
    python_holds "JSON and CSV of $command have the same" -c '
import csv, json, sys
lines = []
for session in json.load(open(sys.argv[1]))["sessions"]:
    for section, rows in session.items():
        for n, row in enumerate([rows] if section == "total" else rows if isinstance(rows, list) else [], 1):
            lines += [[str(session["session_id"]), section, str(n), name, "" if value is None else str(value)]
                      for name, value in row.items()]
sys.exit(len(lines) < 20 or lines != list(csv.reader(open(sys.argv[2])))[1:])' "$work/out" "$work/csv"
done

# ---- sockets that others hold, names that are hostile, ends of connections ----

command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
command -v sqlite3 >/dev/null || finish
sqlite3 "$db" "UPDATE socket SET upid = (SELECT min(upid) FROM process WHERE upid > 0) + id % 3;
    DELETE FROM sock_cost WHERE socket_id % 2 = 0;
    UPDATE skb_drop SET socket_id = NULL WHERE ts % 5 = 0;
    INSERT INTO self_cost(session_id, ts, program, name, value)
    VALUES (1, 1000000000000, 'nt_kfree_skb', 'skipped_empty', 7),
        (1, 1000002000000, 'nt_kfree_skb', 'skipped_empty', 61)"
all "drops without a socket, and with one" "$(sql "$db" "SELECT sum(socket_id IS NULL), count(socket_id) = 0
    FROM skb_drop")"
look "$db"
report 0 drops "$db"
has "ends of connections" "$(flat "$out")" "61 ends of TCP connections were left out: they have no bytes."
report 0 drops "$db" --to 1ms
has "they are the recording's" "$(flat "$out")" "61 ends of TCP connections were left out in the whole recording:"
report 0 export html "$db" -o "$work/it.html"
has "the page has the same count" "$(data "$work/it.html")" \
    "61 ends of TCP connections without bytes were left out in the whole recording."
report 0 export html "$tape" -o "$work/it.html"
lacks "what was not counted" "$(data "$work/it.html")" "ends of TCP connections without"
sqlite3 "$db" "UPDATE process SET name = char(27) || '[31m' || upid; UPDATE skb_drop SET reason = char(27) || 'x'"
for command in drops retransmits wakeups; do
    report 0 $command "$db"
    lacks "no escape reaches a terminal" "$out" $'\e'
    has "it is shown" "$out" '\x1b'
done
finish
