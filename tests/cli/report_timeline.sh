#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# timeline: pictures and sums that can be computed by hand (tests/tools/make_tape.c has the events), SQL of the same
# time, the worst windows, a terminal's colours, and messages when there is nothing to show.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
for scenario in hand loss hotplug traffic hostile empty month; do make_tape $scenario; done
# Tapes are named as on the command line, so that the output is the same wherever they were made.
root=$PWD
cd "$work"

# The picture, by hand: 10 us a cell. CPU 0 is idle until 100 us, sends from 150 with NET_RX in it from 180 to 220, and
# receives from 300 to 500.
lane() { sed -n "s/^ *$1 |\(.*\)|$/\1/p" out; }
report 0 timeline hand.tape --cells 100
is "CPU 0" "$(lane 'CPU 0')" \
    "__________tttttSSSRRRRSSStttttVVVVVVVVVVVVVVVVVVVV__________________________________________________"
is "CPU 1, where an operation and a softirq take 10 and 20 us" "$(lane 'CPU 1')" \
    "__________ttttttttttStttttttttttttttttthqqttttttttttttttttttVVVVVtttttVVtttttttttttttttttttttttttttt"
report 0 timeline hand.tape --cells 10
is "tenths of a cell are seen" "$(sed -n 's/^ *net |\(.*\)|$/\1/p' out | tr '\n' '/')" " 45##     /  1   52  /"
report 0 timeline hand.tape --from 187us --to 197us --cells 10 --cpu 0
is "slices are clipped, cells are nanoseconds" "$(lane 'CPU 0')" "RRRhhhhhRR"
report 0 timeline hand.tape --from 999999ns --to 5
is "one nanosecond; what is behind the end is not there" "$(lane 'CPU 0')$(lane 'CPU 1')" "_t"
has "it says what it shows" "$(flat "$out")" \
    "from 0.000999999 s (2023-11-14T22:13:20.000999999Z) to 0.001 s: 1 ns of a recording of 1.000 ms"
report 0 timeline hand.tape --cpu 0 --to 180us
lacks "a softirq that begins at its end" "$out" NET_RX
report 0 timeline hand.tape --cpu 0 --to 180001ns
has "one of which a nanosecond is in it" "$(tr -s ' ' <<<"$out")" "NET_RX op 1 1 ns 1 ns"
report 0 timeline hand.tape --from 2023-11-14T22:13:20.00015Z --to 2023-11-14T22:13:20.00025Z --json
is "the time of day is as good" "$out" "$("$REPORT" timeline hand.tape --from 150us --to 250us --json)"

# Sums are those of SQL, in any time, for any CPUs and process.
"$PLAIN" import traffic.tape -o t.db >/dev/null
# by_sql FROM-NS TO-NS CONDITION: cpu, owner and ns of what is not 0, from the slices, clipped
by_sql() {
    sql t.db "SELECT cpu || ' ' || owner || ' ' || sum(min(ts + dur, 1000000000000 + $2) - max(ts,
        1000000000000 + $1)) AS line
        FROM cpu_slice WHERE ts < 1000000000000 + $2 AND ts + dur > 1000000000000 + $1 AND $3 GROUP BY cpu, owner" |
            sort
}
# by_rows KIND ARGUMENT...: the same, added up from CSV
by_rows() {
    local kind=$1
    shift
    "$REPORT" timeline t.db --csv "$@" | awk -F, -v kind="$kind" '
        NR == 1 { for (i = 6; i <= NF; i++) name[i] = substr($i, 1, length($i) - 3) }
        NR > 1 && $2 == kind && $3 != "" { for (i = 6; i <= NF; i++) if (name[i] != "other") ns[$3 " " name[i]] += $i }
        END { for (key in ns) if (ns[key]) printf "%s %.0f\n", key, ns[key] }' | sort
}
wanted=$(by_sql 0 100000000 1)
is "totals as by SQL" "$(by_rows total)" "$wanted"
is "cells add up to the totals" "$(by_rows cell --cells 777)" "$wanted"
wanted=$(by_sql 31234567 47654321 1)
is "the same of a part" "$(by_rows cell --from 31234567ns --to 47654321ns)" "$wanted"
is "and of a CPU" "$(by_rows total --from 31234567ns --to 47654321ns --cpu 1)" "$(grep '^1 ' <<<"$wanted")"
is "and of a process" "$(by_rows cell --process web1)" \
    "$(by_sql 0 100000000 "utid IN (SELECT utid FROM thread WHERE upid IN (SELECT upid FROM process
        WHERE name = 'web1'))")"
all "every nanosecond is somebody's" "$("$REPORT" timeline t.db --csv --process 1006 --from 1ms --to 90ms |
    awk -F, 'NR > 1 { sum = 0; for (i = 6; i <= NF; i++) sum += $i; wrong += sum != $5 } END { print NR - 1,
        wrong + 0 }')"
is "threads add up to the totals, but for what is of nobody" \
    "$("$REPORT" query t.db --csv "SELECT sum(dur) FROM cpu_slice WHERE utid IS NOT NULL" | tail -1)" \
    "$("$REPORT" timeline t.db --json | sed -n '/"threads"/,/\]/p' | grep -o '_ns": [0-9]*' |
    awk '{ n += $2 } END { printf "%d", n }')"
"$REPORT" timeline t.db --json --worst network --window 1ms >w.json
python_holds "JSON" -c 'import json; json.load(open("w.json"))'

# The worst, by hand. Receives: CPU 0 from 300 to 500 us, CPU 1 from 600 to 650 and 700 to 720.
# worst ARGUMENT...: CPU, begin in us and length of each window
worst() { "$REPORT" timeline hand.tape --csv --worst "$@" | awk -F, 'NR > 1 { print ($3 == "" ? "all" : $3),
    ($4 - 1e12) / 1000, $5 / 1000, $11 / 1000 }'; }
is "all CPUs together" "$(worst recv --window 100us | grep all | tr '\n' ';')" \
    "all 300 200 100;all 400 200 100;all 550 200 50;all 650 200 20;"
is "each CPU by itself" "$(worst recv --window 220us --each-cpu | grep -v all | tr '\n' ';')" \
    "0 280 220 200;1 500 220 70;"
is "the most that is asked for" "$(worst recv --window 100us --top 1 | grep all)" "all 300 200 100"
is "as many as may be asked for" "$(worst task --window 5us --top 100 | grep -c all)" 100
is "of one CPU" "$(worst recv --window 100us --cpu 1 | grep all | tr '\n' ';')" "all 550 100 50;all 650 100 20;"
is "within a time" "$(worst recv --window 100us --from 350us --to 480us | grep all | tr '\n' ';')" "all 350 200 100;"
is "of one process, which alone received" "$(worst recv --window 100us --process web)" "$(worst recv --window 100us)"
report 0 timeline hand.tape --csv --worst recv --window 100us --process curl
is "of a process that did not: a head and no line" "$(grep -c '^session_id,row,' out) of $(wc -l <out)" "1 of 1"
report 0 timeline hand.tape --worst net_tx --window 1ms
has "nothing of it" "$out" "None of this time was net_tx."
# No window is worse than the first, by SQL, wherever it begins: at each tenth of a millisecond.
first=$("$REPORT" timeline t.db --csv --worst network --window 5ms |
    awk -F, '$2 == "worst" && $3 == "" { print $7 + $8 + $10 + $11; exit }')
holds "none is worse by SQL" test "$first" -ge "$(sql t.db "WITH RECURSIVE at(begin) AS (SELECT 1000000000000 UNION ALL
    SELECT begin + 100000 FROM at WHERE begin < 1000095000000), network AS MATERIALIZED (SELECT ts, dur FROM cpu_slice
        WHERE owner IN ('net_rx', 'net_tx', 'send', 'recv'))
    SELECT max((SELECT sum(min(ts + dur, begin + 5000000) - max(ts, begin)) FROM network WHERE ts < begin + 5000000
        AND ts + dur > begin)) AS n FROM at")"
# The commands that it gives show the windows.
mkdir "it's a dir"
cp -r hand.tape "it's a dir/hand.tape"
report 0 timeline "it's a dir/hand.tape" --worst network --window 200us --top 2 --process web --cpu 0-1
commands=0
while read -r _ command; do
    eval "set -- $command"
    report 0 "$@"
    has "only the process" "$out" "only process web"
    commands=$((commands + 1))
done < <(sed -n '/^To look/,/^$/p' out | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep nettape-report)
is "commands" "$commands" 2
has "with the window that was found" "$(flat "$out")" ": 200.0 us of a recording"

# Uncovered time and CPUs that are away are seen, however little they are.
report 0 timeline loss.tape --cells 1
is "a fifth of a cell" "$(lane lost)" 2
has "how uncertain" "$out" "if all uncovered time was the network's"
has "what was lost" "$out" "ring full"
report 0 timeline loss.tape --worst uncovered --window 20ms --top 1
has "the worst of it" "$(lane 'CPU 0')" "????"
# 20 ms of CPU 0 are uncovered: no window of 10 ms can have had more than 10 ms of it, and what CPU 1 had then.
report 0 timeline loss.tape --worst net_rx --window 10ms
has "how far off the worst may be" "$(flat "$out")" \
    "Some of the time is uncovered: if all of that was net_rx, the worst window has up to 11.86 ms."
is "it is all of CPU 0 alone" "$("$REPORT" timeline loss.tape --worst net_rx --window 10ms --cpu 0 --json |
    sed 's/"payers": [^]]*//' | grep -o '"at_most_ns": [0-9]*')" '"at_most_ns": 10000000'
is "nothing else is uncertain" "$("$REPORT" timeline loss.tape --worst net_rx --window 10ms --cpu 1 --json |
    sed 's/"payers": [^]]*//' | grep -oE '"(at_most_ns|ns)": [0-9]*' | sort -u -t: -k2 | wc -l)" 5
report 0 timeline empty.tape --worst send --window 1us
has "nobody knows" "$(flat "$out")" "if all of that was send, the worst window has up to 2.000 us"
report 0 timeline empty.tape
is "nothing at all" "$(lane 'CPU 0' | tr -s '?')" "?"
report 0 timeline hotplug.tape --cells 2
is "a CPU that was away for less than half of each cell" "$(lane 'CPU 1')$(lane offline)" "__24"
report 0 timeline hotplug.tape --cpu 1 --from 450us --to 500us --cells 5
is "one that was away has one line" "$(grep -c ' |.*|$' out)$(lane 'CPU 1')" "1xxxxx"
report 0 timeline hostile.tape
holds "names do nothing to a terminal" test -z "$(tr -d '[:print:]\n\200-\377' <out)"

# A terminal: colours and blocks, unless it is told otherwise.
if script -qec true /dev/null >/dev/null 2>&1; then
    # on_terminal VARIABLE...: what a terminal shows with these
    on_terminal() { env -u NO_COLOR -u LC_ALL -u LC_CTYPE -u LANG "$@" script -qec "'$REPORT' timeline hand.tape" \
        /dev/null | tr -d '\r'; }
    out=$(on_terminal TERM=xterm-256color LANG=C.UTF-8)
    has "colours" "$out" $'\e[48;5;34;38;5;16mSSS'
    has "blocks" "$out" "▅██▆███▆"
    has "heads of tables stand out" "$out" $'\e[1mvec '
    out=$(on_terminal TERM=xterm-256color LANG=C.UTF-8 NO_COLOR=1)
    lacks "no colours" "$out" $'\e'
    has "but blocks" "$out" "▅██▆███▆"
    out=$(on_terminal TERM=xterm-256color LANG=C.UTF-8 LC_ALL=C)
    has "colours in a plain locale" "$out" $'\e[38;5;39m          4##6###5'
    width=$(TERM=xterm NO_COLOR=1 script -qec "stty cols 100; '$REPORT' timeline hand.tape" /dev/null | tr -d '\r' |
        awk '/CPU 0 / { print length }')
    is "as wide as the terminal" "$width" 100
    is "a dumb terminal has what a file has" "$(on_terminal TERM=dumb LANG=C.UTF-8)" "$("$REPORT" timeline hand.tape)"
else
    without "script(1) is not installed: what a terminal shows is not tested"
fi

# Sessions, each in turn; of several it is enough that one has what is asked for.
"$PLAIN" import hand.tape hotplug.tape -o two.db >/dev/null
report 0 timeline two.db
is "sessions" "$(grep -c '^session' out)" 2
report 0 timeline two.db --process web --json
is "one has it" "$(grep -c '"from_ts"' out)" 1
has "who is left out" "$err" "1 of 2 sessions is left out: session 2 has no process web"
has "in JSON too" "$out" '"why": "session 2 has no process web'
report 0 timeline two.db --worst send --window 100us
has "the time of day tells which" "$(flat "${out//\\/}")" \
    "timeline two.db --from 2023-11-14T22:13:20.00015Z --to 2023-11-14T22:13:20.00025Z"
"$PLAIN" import traffic.tape -o two.db --append >/dev/null
report 0 timeline two.db --worst network --window 10ms
is "those that are shorter than the window are left out" "$(grep -c '^session' out)" 1

# fails PART ARGUMENT...: exit status 1, and the sentence names the file
fails() {
    local part=$1
    shift
    report 1 timeline hand.tape "$@"
    nothing "nothing on standard output" "$out"
    has "says what is wrong" "$err" "hand.tape: "
    has "says what is wrong" "$err" "$part"
}
fails "nothing of session 1 is in that time: it began at 2023-11-14 22:13:20 UTC and lasted 1.000 ms" --from 1
fails "nothing of session 1" --to 2020-01-01T00:00:00Z
fails "nothing of session 1" --from 500us --to 2023-11-14T22:13:20.0002Z
fails "a window of 10.00 ms is longer than the 1.000 ms of session 1 that are searched" --worst net_rx
fails "has none of these CPUs: it had 2" --cpu 2-9
fails "has none of these CPUs: it had 2" --cpu 2-9 --worst send --window 1us
fails "has no process nobody" --process nobody
report 1 timeline nothing.tape
has "names the file" "$err" "nothing.tape"

# misused PART ARGUMENT...
misused() {
    local part=$1
    shift
    report 2 timeline hand.tape "$@"
    nothing "nothing on standard output" "$out"
    has "says what is wrong" "$err" "$part"
}
misused "--window 0: give a length of time" --worst net_rx --window 0
misused "--window -1ms: give a length of time" --worst net_rx --window -1ms
misused "--window 2023-11-14T22:13:20Z: give a length" --worst net_rx --window 2023-11-14T22:13:20Z
misused "--worst netrx: choose hardirq, net_rx" --worst netrx
misused "--worst other: choose hardirq" --worst other
misused "need --worst" --window 1ms
misused "--from is not before --to" --from 2 --to 1
misused "--from is not before --to" --from 1ms --to 0.001
misused "--from x: give a time" --from x
misused "--cpu 1-: give a list" --cpu 1-
misused "--cells 0: give a number from 1 to 10000" --cells 0
misused "--cells 10001: give a number" --cells 10001
misused "--top 5x: give a number from 1 to 100" --worst send --top 5x

# A month: all of it, and a minute of its last day.
"$PLAIN" import month.tape -o month.db >/dev/null
totals() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $2 == "total" && $3 == "" {
    printf "%.0f %.0f %.0f\n", $at["net_rx_ns"], $at["task_ns"], $at["idle_ns"] }' out; }
report 0 timeline month.db --csv
is "a month's time" "$(totals)" \
    "3100000000 $((24 * 86400 * 1000000000)) $(((2 * 31 - 24) * 86400 * 1000000000 - 3100000000))"
report 0 timeline month.db --from $((30 * 86400 + 3600)) --to $((30 * 86400 + 3660)) --csv
is "a minute's" "$(totals)" "100000000 0 119900000000"
report 0 timeline month.db --worst net_rx --window 1 --top 31 --csv
is "the worst second of each day" "$(awk -F, '$2 == "worst" && $3 == "" { print $7 }' out | sort | uniq -c |
    tr -s ' ')" " 31 100000000"

# A database may be anybody's.
command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
if command -v sqlite3 >/dev/null; then
    # spoilt SQL: makes spoilt.db, to which this was done
    spoilt() {
        cp t.db spoilt.db
        sqlite3 spoilt.db "$1"
    }
    for change in "dur = -5" "owner = 'nobody'" "cpu = -1" "cpu = 5000000000" "ts = 9223372036854775807, dur = 2"; do
        spoilt "UPDATE session SET end_ts = 9223372036854775807; UPDATE cpu_slice SET $change WHERE rowid = 100"
        status=0
        timeout 600 "$REPORT" timeline spoilt.db >out 2>err || status=$?
        has "$change (exit status $status)" "$(<err)$(<out)" \
            "$([[ $status == 0 ]] && echo "have an owner, and this time is" ||
            echo "spoilt.db: session 1: its slices are not those of a recording")"
    done
    spoilt "UPDATE cpu_slice SET cpu = rowid"
    report 1 timeline spoilt.db
    has "too many CPUs" "$err" "its slices are not those of a recording"
    spoilt "UPDATE session SET cpus = 1; DELETE FROM cpu_slice WHERE cpu = 1 AND ts < (SELECT start_ts + dur / 2
        FROM session)"
    report 1 timeline spoilt.db --worst network --window 1ms
    is "a CPU that comes late and is one more than the session has" "$err" \
        "nettape-report: spoilt.db: session 1: its slices are not those of a recording: see nettape-report check."
    report 1 check spoilt.db
    has "which check explains" "$(flat "$out")" "2 CPUs have slices, but the session has 1"
    spoilt "DELETE FROM cpu_slice WHERE rowid = 100"
    report 0 timeline spoilt.db
    has "a gap" "$(flat "$out")" "ns have an owner, and this time is 100,000,000 ns: see nettape-report check."
    spoilt "UPDATE session SET start_ts = 0, end_ts = 9223372036854775807; UPDATE cpu_slice SET ts = rowid * 1000,
        dur = 9000000000000000000"
    report 1 timeline spoilt.db --worst network --window 10 --csv
    has "slices of one CPU that overlap" "$err" "its slices are not those of a recording"
    for options in "" --json "--cells 7 --csv" "--from 8999999999.5"; do
        # shellcheck disable=SC2086
        report 0 timeline spoilt.db $options
    done
    spoilt "DELETE FROM session"
    report 1 timeline spoilt.db
    has "no session" "$err" "spoilt.db: it holds no recording"
    spoilt "UPDATE session SET end_ts = start_ts"
    report 1 timeline spoilt.db
    has "no time" "$err" "nothing of session 1 is in that time"
fi
finish
