#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# import: new databases, more tapes, and refusals that leave everything unchanged. A database gives the same answers as
# its tape.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
make_tape traffic 30 1
make_tape chunks 30 2
make_tape loss 30 3
db=$work/a.db

# nothing_but NAME...: these files, and no other database, are in the scratch directory
nothing_but() { is "no other file" "$(cd "$work" && echo *.db*)" "$*"; }

report 0 import "$work/hand.tape" -o "$db"
nothing "nothing on standard output" "$out"
rows=0
for table in $(sql "$db" "SELECT name FROM sqlite_master WHERE type = 'table'"); do
    rows=$((rows + $(sql "$db" "SELECT count(*) FROM $table"))); done
has "one line that says what was written" "$err" \
    ": 1 new session, $rows rows; look at it with nettape-report summary $db"
is "the database is its owner's alone" "$(stat -c %a "$db")" 600
nothing_but a.db

for arguments in "summary" "summary --json" "summary --csv" "check" "check --json"; do
    # shellcheck disable=SC2086
    report 0 $arguments "$work/hand.tape"
    first=$out
    # shellcheck disable=SC2086
    report 0 $arguments "$db"
    is "$arguments: the same of tape and database" "$out" "$first"
done

cp "$db" "$work/before"
report 1 import "$work/traffic.tape" -o "$db"
has "an existing database is refused, with the remedy" "$err" "--append"
same "it stays as it was" "$db" "$work/before"
report 1 import --append "$work/traffic.tape" "$work/hand.tape" -o "$db"
has "the same session twice is refused" "$err" "hand.tape is in the database already"
same "it stays as it was" "$db" "$work/before"
report 1 import --append "$work/traffic.tape" "$work/traffic.tape" -o "$db"
has "also within one import" "$err" "traffic.tape is in the database already"
report 1 import --append "$work/traffic.tape" "$work/no.tape" -o "$db"
has "a tape that is not there is named" "$err" "no.tape"
same "it stays as it was" "$db" "$work/before"
report 1 import "$work/traffic.tape" "$work/no.tape" -o "$work/b.db"
nothing_but a.db

report 0 import --append "$work/traffic.tape" "$work/chunks.tape" -o "$db"
is "three sessions" "$(sql "$db" 'SELECT group_concat(session_id) FROM session')" '"1,2,3"'
report 0 import --append "$work/loss.tape" -o "$work/b.db"
is "--append makes a database that is not there" "$(sql "$work/b.db" 'SELECT count(*) FROM session')" 1
report 0 check "$db"
is "each session is checked" "$(grep -c '^session' "$work/out")" 3
report 0 summary "$db"
is "each session is summed up" "$(grep -c '^host' "$work/out")" 3
is "each session has its own slices" "$(sql "$db" 'SELECT count(*) FROM (SELECT session_id, cpu, sum(c.dur) AS sum,
    s.dur AS dur
    FROM cpu_slice AS c JOIN session AS s USING (session_id) GROUP BY session_id, cpu) WHERE sum = dur')" 6
for seed in 1 2; do
    name=$([[ $seed == 1 ]] && echo traffic || echo chunks)
    is "session of $name.tape, whichever it is in" \
        "$(sql "$db" "SELECT count(*), sum(dur * (cpu + 1)), sum(utid) FROM cpu_slice
            WHERE session_id = $((seed + 1))")" \
        "$(sql "$work/$name.tape" "SELECT count(*), sum(dur * (cpu + 1)), sum(utid) FROM cpu_slice")"
done

# A file left by an import that was killed is no hindrance, and neither is a tape of one chunk file.
echo garbage >"$work/c.db.partial"
report 0 import "$work/hand.tape/chunk-000000.ntc" -o "$work/c.db"
is "a chunk file alone" "$(sql "$work/c.db" 'SELECT complete, (SELECT count(*) FROM problem) FROM session')" 1,0
nothing_but a.db b.db c.db

# A chunk from the middle, alone: the session is what it covers.
report 0 import "$work/chunks.tape/chunk-000001.ntc" -o "$work/d.db"
has "which is said" "$err" "opened without the others"
is "a part of the session" "$(sql "$work/d.db" 'SELECT dur > 5000000 AND dur < 29000000 AND complete = 0
    FROM session')" 1
is "mostly covered" "$(sql "$work/d.db" "SELECT sum(share) < 0.2 FROM net_cost_cpu WHERE owner = 'uncovered'")" 1

# ---- --tables ----
whole=$work/a.db part=$work/part.db
report 0 import "$work/hand.tape" -o "$part" --tables cpu_slice,sock_op
is "these tables, and those that say who is who" "$(sql "$part" "SELECT group_concat(name, ' ') FROM (SELECT name
    FROM sqlite_master WHERE type = 'table' ORDER BY name)")" \
    "cgroup cpu_slice flow net_device problem process session session_meta sock_op socket thread"
for table in cgroup cpu_slice flow net_device problem process session session_meta sock_op socket thread; do
    is "rows of $table" "$(sql "$part" "SELECT * FROM $table; SELECT 'end'")" \
        "$(sql "$whole" "SELECT * FROM $table WHERE session_id = 1; SELECT 'end'")"
done
# left_out TABLE ARGUMENT...: the command says that this table is not there, and what to do
left_out() {
    local table=$1
    shift
    report 1 "$@"
    has "it names the table, and what to do" "$err" "$part: the table $table was left out of this import (--tables, \
--sums): give the tape instead, or import it with that table."
}
left_out flow_sketch summary "$part"
left_out proc_counter check "$part"
left_out stack_sample stages "$part"
left_out stack_sample flame "$part"
left_out skb_latency latency "$part"
left_out softirq_slice timeline "$part"
left_out cpu_cost export html "$part" -o "$work/part.html"
left_out stack export perfetto "$part" -o "$work/part.pftrace"
left_out cpu_cost query "$part" "SELECT * FROM net_cost_cpu"
left_out loss query "$part" "SELECT count(*) FROM loss"
left_out symbol symbolize "$part"
report 1 query "$part" "SELECT * FROM sock_operation"
has "another name is another mistake" "$err" "no such table: sock_operation"
report 0 import --append "$work/traffic.tape" -o "$part"
is "another session has the same tables" "$(sql "$part" 'SELECT count(DISTINCT session_id) FROM cpu_slice')" 2
report 1 import --append "$work/loss.tape" -o "$part" --tables loss
has "and no others" "$err" "leave --tables out"
report 0 import --append "$work/loss.tape" -o "$part" --tables sock_op,cpu_slice
report 2 import "$work/hand.tape" -o "$work/e.db" --tables cpu_slice,slices
has "a table that there is not" "$err" "--tables slices: there is no such table; choose from session, session_meta,"
has "up to the last" "$err" "rx_cost, elsewhere_cost."
holds "no database" test ! -e "$work/e.db"

# ---- --from, --to ----
long=$work/long.tape all=$work/all.db part=$work/window.db
build/tools/make_tape traffic "$long" 350 4
report 0 import "$long" -o "$all"
report 0 import "$long" -o "$part" --from 120ms --to 0.19
# Which rows that is, tests/unit/rows/window_test.c shows.
window="start_ts + 120000000 AS from_ts, start_ts + 190000000 AS to_ts FROM session"
for table in sched_slice softirq_slice irq_slice proc_counter; do
    in_time="t.ts < to_ts AND t.ts + ifnull(t.dur, 0) > from_ts"
    [[ $table != proc_counter ]] || in_time=1
    is "$table: rows that overlap, whole" "$(sql "$part" "SELECT * FROM $table; SELECT 'end'")" \
        "$(sql "$all" "SELECT t.* FROM $table AS t, (SELECT $window) WHERE $in_time ORDER BY t.rowid; SELECT 'end'")"
done
is "the session is the window" "$(sql "$part" "SELECT start_ts, end_ts, dur, start_realtime_ns FROM session")" \
    "$(sql "$all" "SELECT start_ts + 120000000, start_ts + 190000000, 70000000, start_realtime_ns + 120000000
        FROM session")"
is "the recording's times are said" "$(sql "$part" "SELECT group_concat(value) FROM session_meta
    WHERE key LIKE 'recording_%'")" "$(sql "$all" "SELECT start_ts || ',' || end_ts FROM session")"
is "sums are of the window" "$(sql "$part" 'SELECT cpu, sum(ns), sum(share) FROM net_cost_cpu GROUP BY cpu')" \
    $'0,70000000,1\n1,70000000,1'
"$REPORT" timeline "$part" --json | grep -v '"start_' >"$work/of_part"
"$REPORT" timeline "$long" --from 0.12 --to 0.19 --json | grep -v '"start_' >"$work/of_tape"
same "timeline: as of that time of the tape" "$work/of_part" "$work/of_tape"
report 1 check "$part"
has "a part cannot be checked" "$err" "session 1 is a part of its recording (import --from, --to): give the tape, or"
report 1 import "$long" -o "$work/e.db" --from 1
has "no such time" "$err" "nothing of $long is in that time: it began at"
report 2 import "$long" -o "$work/e.db" --from 0.2 --to 0.1
has "no time between" "$err" "--from is not before --to"
holds "no database" test ! -e "$work/e.db"
report 0 import "$long" -o "$work/end.db" --from 310ms
is "up to the end" "$(sql "$work/end.db" 'SELECT dur FROM session')" 40000000
is "sums of it" "$(sql "$work/end.db" 'SELECT cpu, sum(ns) FROM net_cost_cpu GROUP BY cpu')" $'0,40000000\n1,40000000'

# ---- refused before anything is printed; and what a part lacks ----
report 0 import "$work/hand.tape" -o "$work/few.db" --tables cpu_slice,cpu_cost,skb_latency
for command in "summary" "summary --json" "summary --csv"; do
    # shellcheck disable=SC2086
    report 1 $command "$work/few.db"
    nothing "$command prints nothing of it" "$out"
    has "and says why" "$err" "was left out of this import"
done
report 1 export perfetto "$work/few.db" -o "$work/x.pftrace"
is "the file is named once" "$(grep -o "$work/few.db" <<<"$err" | wc -l)" 1
report 0 import tests/golden/v1-stacks.tape -o "$work/quiet.db" --from 1.9s
for command in stages latency; do
    # shellcheck disable=SC2086
    report 1 $command "$work/quiet.db"
    has "$command of a part" "$err" "a part of its recording, and has no"
    lacks "no other recording is asked for" "$err" "record with"
done
report 0 timeline "$work/quiet.db"
has "timeline of a part" "$(tr "\n" " " <<<"$out")" "of a part of a recording of"
lacks "timeline of a part" "$out" "all of the recording"

# ---- --sums ----
# figures DB: sums for each CPU and owner, of operations, of losses, and the last counters
figures() {
    sql "$1" "SELECT cpu, owner, sum(spent_ns) FROM cpu_cost GROUP BY 1, 2; SELECT op, sum(ops), sum(failed),
        sum(untimed), sum(lower_bound), sum(bytes), sum(cpu_ns) FROM sock_cost GROUP BY 1; SELECT * FROM record_count;
        SELECT source, cpu, name, max(value) FROM proc_counter GROUP BY 1, 2, 3;
        SELECT program, name, max(value) FROM self_cost GROUP BY 1, 2"
}
make_tape month
make_tape hostile
for tape in "$work/chunks.tape" "$work/loss.tape" "$work/month.tape" "$work/hostile.tape" tests/golden/v1.tape \
    tests/golden/v1-samples.tape; do
    rm -f "$all" "$part"
    report 0 import "$tape" -o "$all"
    report 0 import "$tape" -o "$part" --sums
    is "sums of ${tape##*/}" "$(figures "$part")" "$(figures "$all")"
    "$REPORT" summary "$part" --json | sed -n '1,/"programs"/p' >"$work/of_part"
    "$REPORT" summary "$all" --json | sed -n '1,/"programs"/p' >"$work/of_all"
    same "and its summary" "$work/of_part" "$work/of_all"
done
is "buckets of a minute" "$(sql "$part" "SELECT bucket_ns FROM session")" 60000000000
report 0 import "$work/hand.tape" -o "$work/sums.db" --sums
"$REPORT" summary "$work/sums.db" >"$work/of_part"
"$REPORT" summary "$work/hand.tape" >"$work/of_all"
same "with few threads nothing is left out of a summary" "$work/of_part" "$work/of_all"
part=$work/sums.db
left_out stack check "$part"
left_out softirq_slice timeline "$part"
report 0 import --append "$work/loss.tape" -o "$part" --sums --from 1ms --to 2ms
report 1 import --append "$work/hand.tape" -o "$work/a.db" --sums
has "a database of all tables gets all tables" "$err" "was made without --sums, and has finer sums: leave --sums out"
before=$(cksum <"$part")
report 1 import --append "$work/hand.tape" -o "$part"
has "a database of sums gets sums" "$err" "was made with --sums, and has sums of minutes: add --sums"
# These are the tables of --sums.
report 1 import --append "$work/hand.tape" -o "$part" --tables cpu_cost,sock_cost,record_count,proc_counter,self_cost
has "also of the same tables" "$err" "add --sums, or make a new database."
is "and it is as it was" "$(cksum <"$part")" "$before"
report 2 import "$work/hand.tape" -o "$work/e.db" --sums --tables loss
has "one or the other" "$err" "--sums has tables of its own: leave --tables out."
finish
