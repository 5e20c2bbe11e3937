#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kill -9 to the recorder under load: what reached the disk is readable, says that it is not complete, and still
# accounts for every nanosecond up to where it ends. Nothing stays in the kernel.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 100000 &
keep $!
tape=$work/k.tape
"$record" -o "$tape" -q >"$work/k.log" 2>&1 &
pid=$!
keep $pid
# So much is on the disk.
seconds=4
has_seconds() {
    "$report" info --json "$tape" >"$work/now.json" 2>/dev/null &&
        [[ $(sql :memory: "SELECT json_extract(readfile('$work/now.json'), '\$.duration_ns') > $seconds * 1e9") == 1 ]]
}
wait_for 120 has_seconds || bad "there are no $seconds s on the tape: $(cat "$work/k.log")"
programs=$(programs_of $pid)
kill -KILL $pid
wait $pid 2>/dev/null || true

is "unfinished chunks" "$(find "$tape" -name '*.partial' | wc -l)" 1
succeeds "info" "$report" info "$tape"
at_least "lines of info that say it is not complete" "$(grep -ciE 'complete|partial|unfinished' "$work/out")" 1
status=0
"$report" check "$tape" >"$work/check.txt" 2>&1 || status=$?
sed 's/^/    check: /' "$work/check.txt" | head -40
at_most "exit status of check: 0 or 1, no crash ($status)" "$status" 1
at_least "lines of check that declare it" "$(grep -ciE 'complete|partial|unfinished' "$work/check.txt")" 1
db=$work/k.db
import_tape "$tape" "$db"
is "complete" "$(sql "$db" 'SELECT complete FROM session')" 0
at_least "seconds on the tape" "$(sql "$db" 'SELECT dur / 1e9 FROM session')" $seconds
is "undeclared losses" "$(sql "$db" 'SELECT undeclared FROM session')" 0
is "CPUs whose slices do not sum to the session" "$(sql "$db" '
    SELECT count(*) FROM (SELECT sum(c.dur) AS sum, s.dur AS dur FROM cpu_slice c, session s GROUP BY cpu)
    WHERE sum <> dur')" 0
# The CPUs' last blocks were not written at the same time: what is between is uncovered, a flush interval or so.
at_most "share that is uncovered" "$(sql "$db" "SELECT ifnull(sum(c.dur), 0) * 1.0 / (s.dur * s.cpus)
    FROM session AS s LEFT JOIN cpu_slice AS c ON c.owner = 'uncovered'")" 0.15
# Killed before the first block is on the disk, or shortly after it: there is a message for each.
for moment in "" "/chunk-*"; do
    tape=$work/early.tape
    rm -rf "$tape"
    "$record" -o "$tape" -q >"$work/early.log" 2>&1 &
    pid=$!
    keep $pid
    until compgen -G "$tape$moment" >/dev/null; do
        kill -0 $pid 2>/dev/null || break
    done
    kill -KILL $pid
    wait $pid 2>/dev/null || true
    status=0
    "$report" info "$tape" >"$work/early.txt" 2>&1 || status=$?
    echo "# killed when $tape$moment was there: $(find "$tape" -type f -printf '%f of %s bytes') ($status)"
    if [[ -z $(ls "$tape") ]]; then
        is "of an empty directory: exit status" $status 1
        is "and what is said" "$(grep -c 'is an empty directory: nettape-record was killed before it recorded' \
            "$work/early.txt")" 1
    else
        is "of a chunk: exit status" $status 0
        at_least "lines that say it is not complete" "$(grep -c 'NOT COMPLETE' "$work/early.txt")" 1
    fi
done
bpftool=$(find_bpftool)
if [[ -n $bpftool && -n $programs ]]; then
    # Programs are freed after a grace period.
    left=$programs
    for ((i = 0; i < 600 && ${#left} > 0; i++)); do
        sleep 0.1
        left=$(for id in $programs; do "$bpftool" prog show id "$id" 2>/dev/null || true; done)
    done
    is "its programs that are still in the kernel" "$left" ""
fi
finish
