#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A recorder that is stopped for two seconds under a flood loses events, and says so exactly: each CPU's own
# counters are what is on the tape and what the loss records say; the stretches are uncovered; `check` reports
# them and still proves that every nanosecond has an owner.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

flood_start "$(scaled 50000)"
# An emulated CPU makes a tenth of the events, so its ring is smaller: the two seconds are more than it holds.
ring=$([[ -n ${NT_EMULATED:-} ]] && echo 64k || echo 512k)
recording_start "$work/l.tape" --ring-size "$ring"
sleep 0.7
uptime_s() { read -r REPLY _ </proc/uptime && echo "$REPLY"; }
stopped=$(uptime_s)
kill -STOP "$recorder"
sleep 2
kill -CONT "$recorder"
# On a busy machine that took longer than two seconds.
stopped=$(awk -v from="$stopped" -v to="$(uptime_s)" 'BEGIN { print to - from }')
sleep 0.7
recording_stop || bad "the recorder's exit status was $?"
is "the recorder's exit status" "$recorder_status" 3
db=$work/l.db
import_tape "$work/l.tape" "$db"

succeeds "check" "$report" check "$work/l.tape"
cp "$work/out" "$work/check.txt"
at_least "lines of check about what is uncovered or lost" "$(grep -ciE 'uncovered|lost' "$work/check.txt")" 1
at_least "records lost for want of room" "$(lost_for_room "$db")" "$(scaled 10000)"
is "undeclared losses" "$(sql "$db" 'SELECT undeclared FROM session')" 0
at_most "malformed" "$(sql "$db" 'SELECT malformed FROM session')" 3
is "complete" "$(sql "$db" 'SELECT complete FROM session')" 1
is "CPUs whose slices do not sum to the session" "$(sql "$db" '
    SELECT count(*) FROM (SELECT sum(c.dur) AS sum, s.dur AS dur FROM cpu_slice c, session s GROUP BY cpu)
    WHERE sum <> dur')" 0
is "slices that do not begin where the one before ends" "$(sql "$db" '
    SELECT count(*) FROM (SELECT ts, lag(ts + dur) OVER (PARTITION BY cpu ORDER BY ts) AS before FROM cpu_slice)
    WHERE before <> ts')" 0

# The counters of the kernel side, from gate to gate, by CPU and kind of event.
sqlite3 -batch -noheader -readonly "$db" >"$work/counts" <<'SQL'
CREATE TEMP TABLE said AS SELECT cpu, replace(replace(name, '.written', ''), '.lost', '') AS kind,
       sum(CASE WHEN name LIKE '%.written' THEN value ELSE 0 END) AS written,
       sum(CASE WHEN name LIKE '%.lost' THEN value ELSE 0 END) AS lost
FROM proc_counter WHERE source = 'nettape/cpus'
AND ts_begin = (SELECT max(ts_begin) FROM proc_counter WHERE source = 'nettape/cpus') GROUP BY 1, 2;
CREATE TEMP TABLE declared AS SELECT cpu, kind, sum(count) AS lost FROM loss GROUP BY 1, 2;
SELECT s.cpu, s.kind, s.written, ifnull(r.records, 0), s.lost, ifnull(r.lost, 0), ifnull(d.lost, 0)
FROM said s LEFT JOIN record_count r USING (cpu, kind) LEFT JOIN declared d USING (cpu, kind)
WHERE s.kind NOT IN ('task', 'socket', 'cgroup', 'irq_name');
SQL
sed 's/^/    CPU|kind|written|on tape|lost|said lost|in loss rows: /' "$work/counts"
is "counters that are not what is on the tape" "$(awk -F'|' '
    ($3 != $4 && $2 != "flow" && $2 != "device") || $5 != $6 || $5 != $7' "$work/counts" |
    wc -l)" 0
at_least "CPUs and kinds compared" "$(wc -l <"$work/counts")" 6

uncovered=$(sql "$db" "SELECT sum(dur) / 1e9 FROM cpu_slice WHERE owner = 'uncovered'")
at_least "uncovered (s, over all CPUs)" "$uncovered" 0.5
at_most "uncovered (s, over all CPUs)" "$uncovered" \
    "$(awk -v s="$stopped" -v cpus="$(nproc)" 'BEGIN { print (s + 1) * cpus }')"
is "time that is uncovered and yet has a task" \
    "$(sql "$db" "SELECT count(*) FROM cpu_slice WHERE owner = 'uncovered' AND utid IS NOT NULL")" 0
at_least "longest stretch uncovered (s)" \
    "$(sql "$db" "SELECT max(dur) / 1e9 FROM cpu_slice WHERE owner = 'uncovered'")" 0.5
grep -iE 'ring' "$work/record.log" | sed 's/^/    the recorder: /' || true
at_least "lines of the recorder that name a ring size" "$(grep -ciE 'ring-size' "$work/record.log")" 1

# A small ring that is full and given room again hundreds of times, by a recorder that is kept from running for a moment
# each time: what was lost is told before anything that was written after it.
recording_start "$work/m.tape" --ring-size 64k --no-realtime
rounds=60 pause=0.02
if [[ -n ${NT_EMULATED:-} ]]; then rounds=15 pause=0.3; fi
for ((i = 0; i < rounds; i++)); do
    kill -STOP "$recorder"
    sleep $pause
    kill -CONT "$recorder"
    sleep 0.01
done
recording_stop || bad "the recorder's exit status was $?"
is "the recorder's exit status" "$recorder_status" 3
import_tape "$work/m.tape" "$work/m.db"
at_least "stretches that are uncovered since a ring was full" \
    "$(sql "$work/m.db" "SELECT count(DISTINCT cpu || ' ' || ts) FROM loss WHERE why = 'ring full'")" 10
is "undeclared losses among them" "$(sql "$work/m.db" 'SELECT undeclared FROM session')" 0
finish
