#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The importer against SQLite itself: rows a second of a whole import (reading, checking, timeline, inserting, indexes)
# over the rows a second at which SQLite inserts the same rows from memory, measured right after; and the
# memory it takes for a short tape and for one several times as long.
#
#   BENCH_SECONDS=8   of flood on the long tape
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
seconds=${BENCH_SECONDS:-8}

netns_make
"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 &
keep $!
may_lose "$record" -o "$work/short.tape" -q -d 1
may_lose "$record" -o "$work/long.tape" -q -d "$seconds"
for pid in "${background[@]}"; do kill "$pid"; done
for pid in "${background[@]}"; do wait "$pid" 2>/dev/null || true; done
background=()

for tape in short long; do
    "$tools/rusage" "$work/$tape.usage" "$report" import "$work/$tape.tape" -o "$work/$tape.db" >/dev/null
done
rows=0
for table in $("$report" query --csv "$work/long.db" "SELECT name FROM sqlite_schema WHERE type = 'table'
    AND name NOT LIKE 'sqlite_%'" | sed 1d | tr -d '"\r'); do
    rows=$((rows + $("$report" query --csv "$work/long.db" "SELECT count(*) FROM $table" | tail -1)))
done
read -r wall_ns _ _ long_kib <"$work/long.usage"
read -r _ _ _ short_kib <"$work/short.usage"
read -r inserted insert_ns < <("$tools/insert-rate" "$work/long.db" "$work/insert.db")

result "import, rows a second" "$(calc "$rows / $wall_ns * 1e9") ($rows rows)"
result "SQLite inserting the same rows from memory, rows a second" \
    "$(calc "$inserted / $insert_ns * 1e9") ($inserted rows)"
result "import rate over SQLite's own" "$(calc "($rows / $wall_ns) / ($inserted / $insert_ns)")" ">= 0.85"
result "import, MB of tape a second" "$(calc "$(du -sb "$work/long.tape" | cut -f1) / $wall_ns * 1e3")"
result "import, most memory for the long tape over the short one's" \
    "$(calc "$long_kib / $short_kib") ($long_kib and $short_kib KiB)" "<= 1.2"
[[ -n ${BENCH_RESULTS:-} ]] || bench_table
