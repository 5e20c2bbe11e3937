#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How fast tapes are read: the steps below the commands, each command, import, SQL on the tape and on the database, and
# SQLite's own insert of the same rows; and the memory that each command takes for two lengths of one tape.
# `make bench-report` calls it; docs/performance.md explains the figures.
#
#   TAPE=DIR                a recorded tape; without it, a flood is recorded for two seconds, which needs root
#   BENCH_EVENTS=10000000   the tape is told again until it has about so many events (tests/tools/lengthen.c)
#   BENCH_RUNS=3            of each; they take turns, and the median counts
#   BENCH_QUICK=1           a smoke run: a fifth of a second of flood, told twice, one run. Such a tape is too short for
#                           the bars of memory
#   BENCH_JSON=FILE         all figures for machines
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
quick=${BENCH_QUICK:-0}
runs=${BENCH_RUNS:-3}
wanted=${BENCH_EVENTS:-10000000}
seconds=2
if [[ $quick == 1 ]]; then
    runs=1
    seconds=0.2
fi
commands=(summary check stages latency timeline flame html prometheus perfetto import)
queries=(group cpu_slice softirq_slice irq_slice sock_op)
short=${TAPE:-$work/short.tape}
long=$work/long.tape
db=$work/long.db
failed=0

# ---- the tapes ----

record_flood() {
    if [[ $(id -u) != 0 ]]; then
        echo "nettape: the bench records, which needs root; or give it a tape: TAPE=DIR" >&2
        exit 1
    fi
    bash tests/setup.sh build load
    make -s -j"$(nproc)" all build/tools/flood
    netns_make
    flood_start udp 200
    may_lose "$record" -o "$short" -q -d "$seconds" --probes default,stacks,latency --latency-sample 0.01
    flood_stop
}

# info KEY: of the tape that $work/info is about
info() { sed -n "s/^.*\"$1\": *\([0-9]*\).*/\1/p" "$work/info" | head -1; }

make_tapes() {
    local times=2
    [[ -n ${TAPE:-} ]] || record_flood
    "$report" info --json "$short" >"$work/info"
    short_events=$(info events)
    [[ $quick == 1 ]] || times=$(((wanted + short_events / 2) / short_events))
    "$tools/lengthen" "$short" $((times > 1 ? times : 1)) "$long" >/dev/null
    "$report" info --json "$long" >"$work/info"
    events=$(info events)
    middle_ns=$(($(info start_ns) + $(info duration_ns) / 2))
    echo "$events events in $(calc "$(info duration_ns) / 1e9") s, $(du -sm "$long" | cut -f1) MB; $runs runs"
}

# ---- one run ----

# timed NAME COMMAND...: adds a line "WALL_NS USER_NS SYSTEM_NS MAX_RSS_KIB" to $work/NAME.usage; the output is in
# $work/said. A command that fails is told, and not measured.
timed() {
    local name=$1 status=0
    shift
    "$tools/rusage" "$work/usage" "$@" >"$work/said" 2>"$work/why" || status=$?
    # `check` gives 1 for what it finds on the tape.
    if ((status > 1)) || { ((status)) && [[ $2 != check ]]; }; then
        echo "nettape: $name failed: $(tail -1 "$work/why")" >&2
        failed=1
    else
        cat "$work/usage" >>"$work/$name.usage"
    fi
}

# run_command NAME TAPE LENGTH
run_command() {
    local name=$2.$1
    case $1 in
    timeline) timed "$name" "$report" timeline "$3" --worst net_rx ;;
    flame) timed "$name" "$report" flame "$3" -o "$work/out" ;;
    html | prometheus | perfetto) timed "$name" "$report" export "$1" "$3" -o "$work/out" ;;
    import)
        rm -f "$work/$2.db"
        timed "$name" "$report" import "$3" -o "$work/$2.db"
        ;;
    *) timed "$name" "$report" "$1" "$3" ;;
    esac
    rm -f "$work/out"
}

sql_of() {
    if [[ $1 == group ]]; then
        echo "SELECT owner, count(*), sum(dur) FROM cpu_slice GROUP BY owner ORDER BY owner"
    else
        echo "SELECT count(*), sum(dur) FROM $1 WHERE cpu = 0 AND ts >= $middle_ns AND ts < $middle_ns + 1000000000"
    fi
}

# On the tape and on the database, which must say the same.
run_query() {
    local sql
    sql=$(sql_of "$1")
    timed "tape.$1" "$report" query --csv "$long" "$sql"
    mv "$work/said" "$work/said.tape"
    timed "db.$1" "$report" query --csv "$db" "$sql"
    if ! cmp -s "$work/said" "$work/said.tape"; then
        echo "nettape: query $1: the tape and the database do not say the same" >&2
        failed=1
    fi
}

run_all() {
    local name
    for name in "${commands[@]}"; do run_command "$name" long "$long"; done
    for name in "${commands[@]}"; do
        [[ $name == import ]] || run_command "$name" db "$db"
    done
    for name in "${queries[@]}"; do run_query "$name"; done
    "$tools/insert-rate" "$db" "$work/insert.db" >>"$work/insert.rates"
    rm -f "$work/insert.db"
}

# ---- figures ----

# figure NAME VALUE: for machines
figure() { printf '%s\t%s\n' "$1" "$2" >>"$work/figures"; }

middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
has() { [[ -s $work/$1.usage ]]; }
ns_of() { cut -d' ' -f1 "$work/$1.usage" | middle; }
kib_of() { cut -d' ' -f4 "$work/$1.usage" | sort -g | tail -1; }
# In millions a second.
rate_of() { calc "$events * 1e3 / $(ns_of "$1")"; }

# step NAME CORES [BAR]: of read_bench, by the file of the cores that it ran on
step() {
    local rate
    rate=$(sed -n "s/^$1 \([0-9.]*\) million.*/\1/p" "$work/steps.$2")
    figure "step.$1.${2// /_}.million_a_second" "$rate"
    result "$1, million $([[ $1 == rows ]] && echo rows || echo events) a second on $2" "$rate" "${3:-}"
}

steps() {
    taskset -c 0 "$tools/read_bench" -n "$runs" "$long" >"$work/steps.one core"
    "$tools/read_bench" -n "$runs" "$long" rows >"$work/steps.all cores"
    rows=$(sed -n 's/^rows .*second: \([0-9]*\) rows.*/\1/p' "$work/steps.all cores")
    step load "one core"
    step decode "one core" ">= 30"
    step merge "one core"
    step timeline "one core"
    step rows "one core"
    step rows "all cores" ">= 20"
}

bar_of() {
    case $1 in
    summary) echo ">= $goal" ;;
    check | stages | latency | html) echo ">= $(calc "$goal / 3")" ;;
    perfetto) echo ">= 2" ;;
    esac
}

# The goal for `summary`: 10 million events a second, or 15 times import's rate if that is less.
command_rates() {
    local name rate import
    import=$(rate_of long.import)
    goal=$(awk -v import="$import" 'BEGIN { goal = 15 * import; print goal < 10 ? goal : 10 }')
    for name in "${commands[@]}"; do
        if ! has "long.$name"; then continue; fi
        rate=$(rate_of "long.$name")
        figure "tape.$name.million_events_a_second" "$rate"
        result "$name, million events a second" \
            "$rate ($(calc "$rate / $import") of import, $(calc "$(ns_of "long.$name") / 1e9") s)" "$(bar_of "$name")"
        if ! has "db.$name"; then continue; fi
        figure "db.$name.seconds" "$(calc "$(ns_of "db.$name") / 1e9")"
        result "$name on the database, s" "$(calc "$(ns_of "db.$name") / 1e9")"
    done
}

import_rates() {
    local import own
    import=$(calc "$rows * 1e3 / $(ns_of long.import)")
    own=$(awk '{ print $1 * 1e3 / $2 }' "$work/insert.rates" | middle)
    figure import.million_rows_a_second "$import"
    figure sqlite.million_rows_a_second "$own"
    result "import, million rows a second" "$import"
    result "SQLite inserting the same rows from memory, million rows a second" "$(calc "$own")"
    result "import, of SQLite's own rate" "$(calc "$import / $own")" ">= 0.85"
}

query_times() {
    local name tape_ms db_ms
    for name in "${queries[@]}"; do
        if ! has "tape.$name" || ! has "db.$name"; then continue; fi
        tape_ms=$(calc "$(ns_of "tape.$name") / 1e6")
        db_ms=$(calc "$(ns_of "db.$name") / 1e6")
        figure "query.$name.tape_ms" "$tape_ms"
        figure "query.$name.db_ms" "$db_ms"
        case $name in
        group) result "SQL, GROUP BY owner over cpu_slice, tape over database" \
            "$(calc "$tape_ms / $db_ms") ($tape_ms and $db_ms ms)" "<= 1.2" ;;
        sock_op) result "SQL, a second of one CPU of $name, ms" "$tape_ms (database $db_ms)" ;;
        *) result "SQL, a second of one CPU of $name, ms" "$tape_ms (database $db_ms)" "<= 200" ;;
        esac
    done
}

memory() {
    local name long_kib short_kib most=0
    for name in "${commands[@]}"; do
        run_command "$name" short "$short"
        if ! has "long.$name" || ! has "short.$name"; then continue; fi
        long_kib=$(kib_of "long.$name")
        short_kib=$(kib_of "short.$name")
        if ((long_kib > most)); then most=$long_kib; fi
        figure "memory.$name.long_kib" "$long_kib"
        figure "memory.$name.short_kib" "$short_kib"
        result "$name, memory for the long tape over the short one's" \
            "$(calc "$long_kib / $short_kib") ($((long_kib / 1024)) and $((short_kib / 1024)) MiB)" "<= 1.2"
    done
    result "most memory of any command, MiB" "$((most / 1024))" "<= 200"
}

write_json() {
    awk -F'\t' -v events="$events" -v short="$short_events" -v rows="$rows" -v runs="$runs" -v cpus="$(nproc)" \
        -v kernel="$(uname -r)" -v commit="$(git rev-parse --short HEAD 2>/dev/null)" '
        BEGIN { printf "{\n  \"commit\": \"%s\",\n  \"kernel\": \"%s\",\n  \"cpus\": %d,\n", commit, kernel, cpus
                printf "  \"events\": %d,\n  \"events_short\": %d,\n  \"rows\": %d,\n  \"runs\": %d,\n",
                    events, short, rows, runs
                printf "  \"figures\": {" }
        FNR == 1 && NR != 1 { printf "\n  },\n  \"results\": ["; comma = "" }
        NR == FNR { printf "%s\n    \"%s\": %s", comma, $1, $2 }
        NR != FNR { printf "%s\n    {\"what\": \"%s\", \"measured\": \"%s\", \"bar\": \"%s\", \"verdict\": \"%s\"}",
            comma, $1, $2, $3, $4 }
        { comma = "," }
        END { print "\n  ]\n}" }' "$work/figures" "$results" >"$1"
}

make -s -j"$(nproc)" build/nettape-report build/tools/{rusage,insert-rate,lengthen,read_bench}
make_tapes
steps
for ((run = 0; run < runs; run++)); do run_all; done
command_rates
import_rates
query_times
memory
bench_table
[[ -z ${BENCH_JSON:-} ]] || write_json "$BENCH_JSON"
exit "$failed"
