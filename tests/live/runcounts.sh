#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# With the kernel's statistics on, each program's run count is, to the event, what the program says of its runs:
# recorded + lost + noted + skipped by reason. And bpftool sees the same programs with the same count.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

flood_start "$(scaled 50000)"
recording_start "$work/r.tape" --bpf-stats
sleep 1.2
# Of the kernel itself, by another program: name and run count of each program that this recorder holds.
bpftool=$(find_bpftool)
if [[ -n $bpftool ]]; then
    for id in $(programs_of "$recorder"); do
        "$bpftool" prog show id "$id" --json
    done >"$work/bpftool.jsonl"
fi
"${in_a[@]}" "$tools/sockmatrix" "$(scaled 10)" >/dev/null
sleep 0.5
recording_stop
db=$work/r.db
import_tape "$work/r.tape" "$db"
check_whole "$work/r.tape" "$db"

sqlite3 -batch -noheader -readonly "$db" >"$work/programs" <<'SQL'
CREATE TEMP TABLE last AS SELECT program, name, value FROM self_cost s WHERE program IS NOT NULL
AND ts = (SELECT max(ts) FROM self_cost WHERE program IS NOT NULL);
SELECT program, sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) AS runs,
       sum(CASE WHEN name IN ('recorded', 'lost', 'noted') OR name LIKE 'skipped%' THEN value ELSE 0 END) AS said,
       sum(CASE WHEN name = 'misses' THEN value ELSE 0 END) AS misses,
       sum(CASE WHEN name = 'run_ns' THEN value ELSE 0 END) AS run_ns
FROM last GROUP BY program ORDER BY program;
SQL
while IFS='|' read -r program runs said misses run_ns; do
    is "$program ($((runs ? run_ns / runs : 0)) ns a run, $misses missed): runs, by its own count and the kernel's" \
        "$said" "$runs"
done <"$work/programs"
at_least "programs" "$(wc -l <"$work/programs")" 8
at_least "runs in all" "$(awk -F'|' '{ n += $2 } END { print n }' "$work/programs")" "$(scaled 100000)"

if [[ -n $bpftool ]]; then
    # Names in the kernel are cut to 15 characters. At that moment the count was between the first snapshot and the
    # last.
    sed '1s/^/[/; $!s/$/,/; $s/$/]/' "$work/bpftool.jsonl" >"$work/bpftool.json"
    is "programs that bpftool saw not at all, or with another count" "$(sqlite3 -batch -noheader -readonly "$db" "
        WITH seen AS (SELECT json_extract(value, '\$.name') AS name, ifnull(json_extract(value, '\$.run_cnt'),
            0) AS runs
                      FROM json_each(readfile('$work/bpftool.json'))),
        known AS (SELECT program, min(value) AS first, max(value) AS last FROM self_cost WHERE name = 'runs'
            GROUP BY program)
        SELECT count(*) FROM known WHERE NOT EXISTS (
            SELECT 1 FROM seen WHERE substr(program, 1, 15) = substr(name, 1, 15) AND runs BETWEEN first AND last)")" 0
fi
finish
