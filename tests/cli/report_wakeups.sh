#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Wake-ups: the rows of a tape (tests/tools/golden_make.c has its records), and the view of waits beside a slow and
# obvious way to find them.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
tape=tests/golden/v1-wakeups.tape

report 0 summary $tape
has "a loss of wake-ups" "$out" "2 samples were lost; no time is uncovered by that."

# By hand, in us: each wait of the tape in time order, and why. Unknown are the one that began before the session, those
# of who was there at its start, the one whose wake-up was lost, and four that reach into uncovered time.
is "waits by hand" "$(sql $tape "SELECT group_concat(us, ' ') FROM (
    SELECT coalesce(why || ':' || (runnable_ns / 1000), '-') AS us FROM thread_runnable ORDER BY ts, cpu)")" \
    "- - wakeup:50 wakeup:1000 preempted:1000 wakeup:30 wakeup:40 - - wakeup:200 preempted:800 - -"
is "who woke the third" "$(sql $tape "SELECT w.name, r.waker_cpu, r.context FROM thread_runnable AS r
    JOIN thread AS w ON w.utid = r.waker_utid
    WHERE runnable_ns = 50000")" "responder,0,task"
is "a wake-up in a CPU of which nothing is known" \
    "$(sql $tape "SELECT context, what FROM sched_wakeup WHERE ts = 10049990000")" ",waking"
all "who was woken has a row" "$(sql $tape "SELECT count(*), sum(t.utid IS NULL) FROM sched_wakeup LEFT
    JOIN thread AS t USING (session_id, utid)")"
is "nothing is uncovered by a loss of wake-ups" \
    "$(sql $tape "SELECT count(*) FROM cpu_slice WHERE owner = 'uncovered' AND cpu = 0")" 0
is "the sums are sums" "$(sql $tape "SELECT sum(stays), sum(known), sum(wakeups + preemptions), sum(runnable_ns),
    max(longest_ns) FROM process_runnable_total")" \
    "$(sql $tape "SELECT count(*), count(runnable_ns), count(why), sum(runnable_ns), max(runnable_ns)
        FROM thread_runnable")"

command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
command -v sqlite3 >/dev/null || finish
"$PLAIN" import $tape -o "$work/w.db" >/dev/null 2>&1
# meddle STATEMENT LINE
meddle() {
    cp "$work/w.db" "$work/meddled.db"
    sqlite3 "$work/meddled.db" "$1"
    report 1 check "$work/meddled.db"
    has "$1" "$out" "$2"
}
meddle "DELETE FROM sched_wakeup WHERE what = 'new'" \
    "FAILED  wakeups       new: the program recorded 1, and the tape has 0"
meddle "UPDATE record_count SET records = 3 WHERE kind = 'wakeup'" "FAILED  counters      CPU 0, wakeup"
meddle "UPDATE record_count SET lost = 0 WHERE kind = 'wakeup'" "FAILED  counters      CPU 0, wakeup"

# Threads that run, wait and sleep at random, with uncovered time here and there, in two sessions: each wait found by
# looking at all that is there, and by the view.
seed=$(seed)
awk -v seed="$seed" '
    function upto(n) { return int(rand() * n) }
    function put(table, values) { print "INSERT INTO " table " VALUES (" session ", 10000000000 + " values ");" }
    BEGIN {
        srand(seed)
        print "BEGIN; DELETE FROM sched_slice; DELETE FROM sched_wakeup; DELETE FROM cpu_slice;"
        for (session = 1; session <= 2; session++) {
            for (i = 0; i < 30; i++) put("cpu_slice",
                1000 + upto(200000) ", " upto(500) ", " upto(2) ", \"uncovered\", NULL")
            for (thread = 0; thread < 20; thread++) {
                now = 900 + upto(2000)
                state = "S"
                for (i = 0; i < 60; i++) {
                    if (!i || state == "S") {
                        early = i && upto(4) == 0
                        woken = early ? now - 1 - upto(5) : now + upto(50)
                        if (!early) now = woken
                        if (upto(10)) put("sched_wakeup", woken ", 0, " thread ", 0, 7, 120, \"waking\", \"task\", 0")
                    }
                    now += upto(100)
                    dur = 10 + upto(4000)
                    if (upto(3) == 0) put("sched_wakeup",
                        now + upto(dur) ", 1, " thread ", 0, 7, 120, \"waking\", \"task\", 1")
                    state = upto(2) ? "S" : upto(2) ? "R" : upto(3) ? "R+" : ""
                    put("sched_slice",
                        now ", " dur ", " upto(2) ", " thread ", " (state == "" ? "NULL" : "\"" state "\"") ", 120")
                    now += dur
                    if (state == "R" || state == "R+") now += upto(3000)
                }
            }
        }
        # A slice that begins with a stay hides nothing before it; the view may take it either way.
        print "DELETE FROM cpu_slice WHERE ts IN (SELECT ts FROM sched_slice); COMMIT;"
    }' >"$work/random.sql"
cp "$work/w.db" "$work/random.db"
sqlite3 "$work/random.db" "INSERT INTO session
    SELECT 2, $(sqlite3 "$work/w.db" "SELECT group_concat(name, ', ') FROM pragma_table_info('session') WHERE cid > 0")
        FROM session"
sqlite3 "$work/random.db" <"$work/random.sql"
cat >"$work/obvious.sql" <<'SQL'
CREATE INDEX stay_of ON sched_slice(session_id, utid, ts);
CREATE INDEX wakeup_of ON sched_wakeup(session_id, utid, ts);
CREATE TEMP TABLE obvious AS
WITH near AS (
    SELECT s.session_id, s.utid, s.ts, s.cpu,
           (SELECT max(p.ts) FROM sched_slice AS p WHERE p.session_id = s.session_id AND p.utid = s.utid
               AND p.ts < s.ts) AS last_ts,
           (SELECT max(w.ts) FROM sched_wakeup AS w WHERE w.session_id = s.session_id AND w.utid = s.utid
               AND w.ts <= s.ts
            AND NOT w.was_runnable) AS woken_ts
    FROM sched_slice AS s WHERE s.utid <> 0
), told AS (
    SELECT n.*, p.ts + p.dur AS end_ts, p.end_state, woken_ts IS NOT NULL AND (last_ts IS NULL
        OR woken_ts > last_ts) AS woken
    FROM near AS n LEFT JOIN sched_slice AS p ON p.session_id = n.session_id AND p.utid = n.utid AND p.ts = n.last_ts
), since AS (
    SELECT *, CASE WHEN woken THEN max(woken_ts, ifnull(end_ts, 0)) WHEN end_state IN ('R', 'R+') THEN end_ts
        END AS since_ts FROM told
)
SELECT session_id, utid, ts, cpu, since_ts AS runnable_ts, CASE WHEN woken THEN 'wakeup' ELSE 'preempted' END AS why
FROM since AS s JOIN session USING (session_id)
WHERE since_ts BETWEEN start_ts AND ts AND NOT EXISTS (
    SELECT 1 FROM cpu_slice AS c WHERE c.session_id = s.session_id AND owner = 'uncovered' AND c.ts <= s.ts
        AND c.ts + c.dur > since_ts);
CREATE TEMP VIEW seen AS SELECT session_id, utid, ts, cpu, runnable_ts, why FROM thread_runnable WHERE why IS NOT NULL;
SELECT (SELECT count(*) FROM (SELECT * FROM seen EXCEPT SELECT * FROM obvious)) || ' and ' ||
       (SELECT count(*) FROM (SELECT * FROM obvious EXCEPT SELECT * FROM seen));
SELECT count(*) || ' ' || sum(why = 'wakeup') FROM obvious;
SELECT count(*) || ' ' || sum(runnable_ns IS NULL) || ' ' || sum(why = 'wakeup' AND waker_utid IS NULL)
    FROM thread_runnable;
SQL
mapfile -t answer < <(sqlite3 "$work/random.db" <"$work/obvious.sql")
is "waits of one way that the other has not" "${answer[0]}" "0 and 0"
read -r known woken <<<"${answer[1]}"
read -r stays unknown nobody <<<"${answer[2]}"
holds "stays: $stays, of which $unknown have no known wait and $woken a wake-up" test $((stays)) -eq 2280 \
    -a $((known + unknown)) -eq $((stays)) -a $((known)) -gt 800 \
    -a $((unknown)) -gt 200 -a $((woken)) -gt 300
is "woken by nobody" "$nobody" 0
finish
