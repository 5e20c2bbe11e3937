#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A database that cannot be read to the end, and SQL on a tape: one call of SQLite after the other fails
# (sqlite_fails.c). Every command says so in a sentence and exits 1; none ends well with a part of the answer.
# check-all: it takes a minute
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/../cli/lib.sh"
make -s build/nettape-report build/tests/sqlite_fails.so
report=$PWD/build/nettape-report

for name in v1-samples v1-stacks; do "$report" import "tests/golden/$name.tape" -o "$work/$name.db" >/dev/null; done

# run FAIL ARGUMENT...: the command with one failing call. Its exit status; what it says is in $work/said
run() {
    timeout 60 env NT_FAIL="$1" NT_FAIL_COUNTS="$work/counts" LD_PRELOAD="$PWD/build/tests/sqlite_fails.so" \
        "$report" "${@:2}" >"$work/out" 2>"$work/said"
}

# calls SORT: which to try of as many as $work/all counts: the first ones, then some between them and the last
calls() {
    awk -v sort="$1" '$1 == sort { for (i = 1; i <= $2; i += i < 25 ? 1 : 1 + int($2 / 25)) print i }' "$work/all"
}

# tried WHAT ARGUMENT...
tried() {
    local sort i status n=0 wrong=0
    run none:0 "${@:2}" || bad "$1 fails by itself: $(head -1 "$work/said")"
    cp "$work/counts" "$work/all"
    for sort in prepare begin go_on; do
        for i in $(calls $sort); do
            n=$((n + 1)) status=0
            run "$sort:$i" "${@:2}" || status=$?
            [[ $status == 1 ]] && grep -q '^nettape-report: ' "$work/said" && continue
            wrong=$((wrong + 1))
            ((wrong > 3)) || echo "$1, $sort:$i: exit status $status, $(head -1 "$work/said")"
        done
    done
    all "$1: calls that failed, and that it did not notice" "$n $wrong"
}

for name in v1-samples v1-stacks; do
    db=$work/$name.db
    tried "$name: summary" summary "$db"
    tried "$name: summary --json" summary "$db" --json
    tried "$name: check" check "$db"
    tried "$name: timeline" timeline "$db"
    tried "$name: timeline --worst" timeline "$db" --worst network --json
    tried "$name: export html" export html "$db" -o "$work/a.html"
    tried "$name: export perfetto" export perfetto "$db" -o "$work/a.pftrace"
    tried "$name: query" query "$db" "SELECT * FROM cpu_slice"
    tried "$name: query of a tape" query "tests/golden/$name.tape" \
        "SELECT a.ts, b.name FROM cpu_slice AS a JOIN thread AS b USING (session_id, utid);
        SELECT count(*) FROM sched_slice AS a JOIN cpu_slice AS b ON b.ts = a.ts AND b.cpu = a.cpu;
        SELECT * FROM net_cost_process"
done
tried latency latency "$work/v1-samples.db" --by process --histogram
tried "latency --json" latency "$work/v1-samples.db" --json
tried "export prometheus" export prometheus "$work/v1-samples.db"
tried stages stages "$work/v1-stacks.db" --by process
tried flame flame "$work/v1-stacks.db" -o "$work/a.svg"
finish
