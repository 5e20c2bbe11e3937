#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# --from, --to, --cpu and --process: of a tape, only a part is read. A command then shows the same as of a database,
# whose rows are all read. tests/unit/rows/window_test.c shows that other blocks are not opened.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# Without sanitizers: they look on at parts of tapes in window_test, and in each command's own test.
REPORT=$PLAIN

# show FILE COMMAND SELECTION OUTPUT
show() {
    # shellcheck disable=SC2086
    case $2 in
    export*) "$REPORT" $2 "$1" $3 ;;
    *) "$REPORT" ${2%% *} "$1" ${2#* } $3 ;;
    esac >"$4" 2>&1 || echo "exit status $?" >>"$4"
}

# same_as_database TAPE COMMANDS SELECTION...: the commands, one a line
same_as_database() {
    local name=$1 commands=$2 selection command
    shift 2
    [[ -e $work/$name.db ]] || report 0 import "$work/$name.tape" -o "$work/$name.db"
    for selection in "$@"; do
        while read -r command; do
            show "$work/$name.tape" "$command" "$selection" "$work/of_tape"
            show "$work/$name.db" "$command" "$selection" "$work/of_database"
            sed -i "s|$name\.db|$name.tape|g" "$work/of_database"
            same "$name: $command $selection" "$work/of_tape" "$work/of_database"
        done <<<"$commands"
    done
}

timeline="timeline --json
timeline --csv
timeline --worst network --window 1ms --json"
stages="stages --by process --json
stages --by cpu --csv
stages --inclusive --csv
flame --folded"
latency="latency --by process --json
latency --by socket --csv
latency --between udp-socket-enqueued udp-socket-read --json
latency --over-time --histogram --json
export prometheus --by cpu"
html="export html"
summary="summary
summary --json
summary --by socket --csv"
check="check
check --json"

cp -r tests/golden/{demo,v1-stacks,v1-samples,v1-charges}.tape "$work"
make_tape loss 400
same_as_database demo "$timeline" "--from 1 --to 1.1" "--from 300ms --to 302ms --cpu 1" "--to 50ms" "--cpu 0" \
    "--from 1.9 --process bash" "--from 1000"
same_as_database loss "$timeline" "--from 100ms --to 120ms" "--from 20ms --to 21ms" "--from 390ms --cpu 0"
# Operations that began long before, slept, or ended on an edge: a second of the demo has all of them.
same_as_database demo "$html" "--from 1 --to 1.1" "--from 300ms --to 302ms --cpu 1" "--to 50ms" "--cpu 0" \
    "--from 1.9 --process bash" "--from 1000"
same_as_database loss "$html" "--from 100ms --to 120ms" "--from 390ms --cpu 0"
same_as_database demo "$summary" "--from 1 --to 1.1" "--from 300ms --to 302ms --cpu 1" "--to 50ms" "--cpu 0" \
    "--from 1.9 --process bash" "--process iperf3" "--from 1000" "--cpu 7" "--process nobody"
same_as_database loss "$summary" "--from 100ms --to 120ms" "--from 390ms --cpu 0"
same_as_database demo "$check" "--from 1 --to 1.1" "--from 300ms --to 302ms --cpu 1" "--to 50ms" "--cpu 0" \
    "--from 1.9 --process bash" "--process iperf3" "--from 1000" "--cpu 7" "--process nobody"
same_as_database loss "$check" "--from 100ms --to 120ms" "--from 390ms --cpu 0"
same_as_database v1-stacks "$stages" "--from 100us --to 1" "--to 50us" "--cpu 0" "--cpu 7"
same_as_database v1-samples "$latency" "--from 1ms" "--to 1ms" "--cpu 0" "--cpu 1,3-4 --from 1ms" \
    "--process responder" "--process 202 --cpu 0 --to 1.5s" "--process nobody"

# of_view FILE COMMAND: what of a command's output is the same of a window and of an import of it. Times since the start
# are not, nor what is told of all of the recording.
of_view() {
    if [[ $2 == summary* ]]; then
        sqlite3 :memory: "SELECT json_extract(value, '\$.programs', '\$.processes', '\$.cgroups', '\$.sockets',
            '\$.payers'), (SELECT group_concat(json_remove(value, '\$.events', '\$.lost', '\$.lost_samples',
            '\$.stolen_ns')) FROM json_each(value, '\$.cpus')) FROM json_each(readfile('$1'), '\$.sessions')"
    else
        tr '{' '\n' <"$1" | grep -v '^"name":"elsewhere"\|nettape_session' |
            sed -E 's/"(start_ts|start_realtime_ns|since_start_ns|from_ns|to_ns|dur_ns|whole)": ?[a-z0-9]+/"\1": -/g'
    fi
}

# same_as_import TAPE FIRST LAST COMMANDS: a window is a session, so a command says the same of it and of an import of
# it. Windows begin before FIRST us and end after LAST us, at random.
RANDOM=$((${SEED:-1}))
same_as_import() {
    local name=$1 first=$2 last us from to command
    us=$(sqlite3 "$work/$name.db" "SELECT dur / 1000 FROM session")
    for _ in 1 2 3; do
        last=$3
        from=$(((RANDOM * 32768 + RANDOM) % first))
        [[ $last -gt $from ]] || last=$((from + 1))
        to=$((us - (RANDOM * 32768 + RANDOM) % (us - last + 1)))
        rm -f "$work/part.db"
        report 0 import "$work/$name.tape" -o "$work/part.db" --from "${from}us" --to "${to}us"
        while read -r command; do
            show "$work/$name.tape" "$command" "--from ${from}us --to ${to}us" "$work/of_tape"
            show "$work/part.db" "$command" "" "$work/of_database"
            of_view "$work/of_tape" "$command" >"$work/view_of_tape"
            of_view "$work/of_database" "$command" >"$work/view_of_database"
            holds "$name: $command says something" test -s "$work/view_of_tape"
            same "$name: $command from $from to $to us, and of an import" "$work/view_of_tape" "$work/view_of_database"
        done <<<"$4"
    done
}
of_owners="timeline --json
summary --json
export html"
make_tape hand
for name in hand v1-charges; do
    report 0 import "$work/$name.tape" -o "$work/$name.db"
done
same_as_import hand 900 0 "$of_owners"
same_as_import loss 390000 0 "$of_owners"
same_as_import v1-charges 110000 0 "$of_owners"
same_as_import demo 2000000 0 "$of_owners"
same_as_import v1-stacks 60 100 "stages --by process --json
flame --folded"
same_as_import v1-samples 1000 1000000 "latency --by process --json
export prometheus --by cpu"

# An operation counts in the window that it ended in, whichever command tells of it: these two windows meet where a send
# ended.
for selection in "--from 100us --to 250us" "--from 250us --to 400us"; do
    show "$work/hand.tape" "timeline --json" "$selection" "$work/of_timeline"
    show "$work/hand.tape" "summary --json" "$selection" "$work/of_summary"
    is "operations: $selection" "$(sqlite3 :memory: "WITH one AS (SELECT value AS t FROM
        json_each(readfile('$work/of_timeline'), '\$.sessions')), two AS (SELECT value AS s FROM
        json_each(readfile('$work/of_summary'), '\$.sessions'))
        SELECT (SELECT sum(value ->> 'ops_count') FROM one, json_each(t, '\$.operations')),
               (SELECT sum(value ->> 'ops_count') FROM two, json_each(s, '\$.programs')),
               (SELECT sum(value ->> 'ops_count') FROM two, json_each(s, '\$.sockets'))")" \
        "1|1|1"
done

# summary_is_sql SELECTION CONDITION FROM TO: the times of owners, and who spent them, added up from the slices that
# overlap that time, in ns since the start
summary_is_sql() {
    # shellcheck disable=SC2086
    "$REPORT" summary --json "$work/demo.tape" $1 >"$work/summary.json"
    sqlite3 "$work/demo.db" "
        WITH edge AS (SELECT start_ts + $3 AS from_ts, min(start_ts + $4, end_ts) AS to_ts FROM session),
             part AS (SELECT c.*, min(c.ts + c.dur, to_ts) - max(c.ts, from_ts) AS ns, t.upid AS upid
                      FROM edge, cpu_slice AS c LEFT JOIN thread AS t USING (session_id, utid)
                      WHERE c.ts < to_ts AND c.ts + c.dur > from_ts AND $2)
        SELECT cpu, owner, sum(ns) FROM part GROUP BY cpu, owner UNION ALL
        SELECT 'process ' || (SELECT coalesce(pid, '') FROM process AS p WHERE p.upid = part.upid), owner, sum(ns)
        FROM part WHERE owner IN ('send', 'recv') GROUP BY upid, owner ORDER BY 1, 2" >"$work/by_sql"
    sqlite3 :memory: "
        WITH one AS (SELECT value AS session FROM json_each(readfile('$work/summary.json'), '\$.sessions'))
        SELECT c.value ->> 'cpu', replace(o.key, '_ns', ''), o.value FROM one, json_each(session, '\$.cpus') AS c,
               json_each(c.value) AS o
        WHERE c.value ->> 'cpu' IS NOT NULL AND o.key LIKE '%\_ns' ESCAPE '\' AND o.value > 0 AND
              o.key NOT IN ('all_ns', 'net_ns', 'stolen_ns') UNION ALL
        SELECT 'process ' || coalesce(p.value ->> 'pid', ''), replace(o.key, '_ns', ''), o.value
        FROM one, json_each(session, '\$.processes') AS p, json_each(p.value) AS o
        WHERE o.key IN ('send_ns', 'recv_ns') AND o.value > 0 ORDER BY 1, 2" >"$work/by_summary"
    has "summary $1: something" "$(cat "$work/by_sql")" "task"
    same "summary $1: as SQL adds it up" "$work/by_summary" "$work/by_sql"
}
read -r edge_ns _ < <(sqlite3 "$work/demo.db" "
    SELECT ts + c.dur - start_ts FROM cpu_slice AS c JOIN session USING (session_id)
    WHERE owner = 'send' AND ts - start_ts > 500000000 ORDER BY ts LIMIT 1")
summary_is_sql "--from 1 --to 1.1" 1 1000000000 1100000000
summary_is_sql "--to ${edge_ns}ns --cpu 1" "c.cpu = 1" 0 "$edge_ns"
summary_is_sql "--from ${edge_ns}ns" 1 "$edge_ns" 9000000000
summary_is_sql "--process iperf3" "t.upid IN (SELECT upid FROM process WHERE name = 'iperf3')" 0 9000000000
finish
