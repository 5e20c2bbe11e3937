#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# SQL on a tape against the same SQL on its database: each view of the database, and each question of the cookbook. On
# the tape it may take three times as long as on the database, and two passes over the tape more. A pass is
# `SELECT count(*)` of the table that has most rows. Both must give the same rows. `make bench-sql` calls this;
# docs/performance.md explains the figures.
#
#   TAPE=DIR          a recorded tape; without it, a load is recorded with all probes, which needs root
#   BENCH_SECONDS=4   of that
#   BENCH_RUNS=3      of each statement; they take turns, and the median counts
#   BENCH_QUICK=1     a smoke run: half a second of load, one run. Such a tape is too short for the bars
#
# Times are CPU time, of all threads: it depends less on what else the machine does. A statement that takes twenty times
# as long as it may is ended.
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cookbook.sh
source tests/cookbook.sh
runs=${BENCH_RUNS:-3}
seconds=${BENCH_SECONDS:-4}
if [[ ${BENCH_QUICK:-0} == 1 ]]; then
    runs=1
    seconds=0.5
fi
tape=${TAPE:-$work/load.tape}
db=$work/load.db
failed=0

# ---- the tape ----

# Short messages by every call over TCP and UDP, so that threads wake each other; and 20,000 datagrams a second.
load_start() {
    "${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 2>/dev/null &
    keep $!
    "${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 20000 2>/dev/null &
    keep $!
    "${in_a[@]}" "$tools/caller" 600 >/dev/null &
    keep $!
    (while "${in_b[@]}" "$tools/sockmatrix" 100 >/dev/null 2>&1; do :; done) &
    keep $!
    sleep 0.5
}

load_stop() {
    local pid
    for pid in "${background[@]}"; do kill "$pid" 2>/dev/null || true; done
    netns_remove
    for pid in "${background[@]}"; do wait "$pid" 2>/dev/null || true; done
    background=()
}

record_load() {
    if [[ $(id -u) != 0 ]]; then
        echo "nettape: the bench records, which needs root; or give it a tape: TAPE=DIR" >&2
        exit 1
    fi
    bash tests/setup.sh build load
    make -s -j"$(nproc)" all build/tools/{flood,caller,sockmatrix}
    netns_make
    load_start
    may_lose "$record" -o "$tape" -q -d "$seconds" --probes all --user-stacks
    load_stop
}

# values SQL: of the database, one a line
values() { "$report" query --csv "$db" "$1" | sed 1d | tr -d '"\r'; }

# heaviest_table: the one with most rows, and their number
heaviest_table() {
    local name
    for name in $(values "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"); do
        echo "$name $(values "SELECT count(*) FROM $name")"
    done | sort -n -k2 | tail -1
}

make_database() {
    "$report" import "$tape" -o "$db" >/dev/null
    read -r table rows < <(heaviest_table)
    echo "$rows rows in $table, $(values "SELECT count(*) FROM sock_op") operations," \
        "$(values "SELECT count(*) FROM sched_wakeup") wake-ups; $runs runs"
}

# ---- statements ----

# list_statements: the names of all, "view.NAME" and "question.N"; the SQL is in $work/sql/NAME.sql
list_statements() {
    local name file
    mkdir "$work/sql" "$work/questions"
    echo "SELECT count(*) FROM $table" >"$work/sql/pass.sql"
    for name in $(values "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY rowid"); do
        echo "SELECT * FROM $name" >"$work/sql/view.$name.sql"
        statements+=("view.$name")
    done
    cookbook_questions "$work/questions"
    for file in $(printf '%s\n' "$work"/questions/*.sql | sort -V); do
        name=$(basename "$file" .sql)
        mv "$file" "$work/sql/question.$name.sql"
        statements+=("question.$name")
    done
}

# timed SOURCE NAME PATH SECONDS: runs a statement for at most so much CPU time, and adds a line of its nanoseconds to
# $work/SOURCE.NAME. The rows are in $work/rows.SOURCE. False: it was ended, or failed, which is told.
timed() {
    local status=0 user system
    (
        ulimit -t "$4"
        exec "$tools/rusage" "$work/usage" "$report" query --csv "$3" -f "$work/sql/$2.sql"
    ) >"$work/rows.$1" 2>"$work/why" || status=$?
    if ((status == 0)); then
        read -r _ user system _ <"$work/usage"
        echo $((user + system)) >>"$work/$1.$2"
        return
    fi
    if ((status > 128)); then
        touch "$work/$2.ended"
    else
        echo "nettape: $2 failed: $(tail -1 "$work/why")" >&2
        failed=1
    fi
    return 1
}

compare_rows() {
    if ! cmp -s <(sort "$work/rows.db") <(sort "$work/rows.tape"); then
        echo "nettape: $1: the tape and the database do not give the same rows" >&2
        failed=1
    fi
}

middle() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# bound_ns NAME: for the tape
bound_ns() { echo $((3 * $(middle <"$work/db.$1") + 2 * $(middle <"$work/tape.pass"))); }

# Once one was ended, it is not run again.
run_statement() {
    if [[ -e $work/$1.ended ]] || ! timed db "$1" "$db" unlimited; then return; fi
    if timed tape "$1" "$tape" $((20 * $(bound_ns "$1") / 1000000000 + 1)); then compare_rows "$1"; fi
}

run_all() {
    local name
    timed tape pass "$tape" unlimited
    for name in "${statements[@]}"; do run_statement "$name"; done
}

# ---- figures ----

seconds_of() { calc "$(middle <"$work/$1") / 1e9"; }

# Of the time that it may take.
statement_result() {
    local name=${1/./ } database share
    if [[ ! -s $work/db.$1 ]]; then return; fi
    database="database $(seconds_of "db.$1") s"
    if [[ -e $work/$1.ended ]]; then
        result "$name" "20 (ended; $database)" "<= 1"
    elif [[ -s $work/tape.$1 ]]; then
        share=$(calc "$(middle <"$work/tape.$1") / $(bound_ns "$1")")
        result "$name" "$share ($(seconds_of "tape.$1") s; $database)" "<= 1"
    fi
}

statements=()
make -s -j"$(nproc)" build/nettape-report build/tools/rusage
[[ -n ${TAPE:-} ]] || record_load
make_database
list_statements
for ((run = 0; run < runs; run++)); do run_all; done
result "a pass over the tape, s" "$(seconds_of tape.pass)"
echo "  each statement on the tape, of the time that it may take:"
for name in "${statements[@]}"; do statement_result "$name"; done
[[ -n ${BENCH_RESULTS:-} ]] || bench_table
exit "$failed"
