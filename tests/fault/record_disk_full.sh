#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The disk fills up while recording: the recorder ends with an error that names the file and the remedy; the part
# written before is readable. Where it may leave room for others, it ends before that, in order.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns

mkdir "$work/small" "$work/large"
mount -t tmpfs -o size=1m none "$work/small" 2>"$work/mount.log" ||
    skip "no tmpfs can be mounted: $(cat "$work/mount.log")"
mount -t tmpfs -o size=64m none "$work/large"
# shellcheck disable=SC2317  # called by the library
test_cleanup() { umount "$work/small" "$work/large" || true; }

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 100000 &
keep $!
tape=$work/small/full.tape
status=0
timeout 300 "$record" -o "$tape" -d 30 --min-free 0 >"$work/full.log" 2>&1 || status=$?
sed 's/^/    the recorder: /' "$work/full.log"
is "exit status" "$status" 1
at_least "lines that say what failed" "$(grep -ciE 'no space|disk.*full|full.*disk' "$work/full.log")" 1
at_least "lines that name the file" "$(grep -c "$tape/chunk-" "$work/full.log")" 1

# Its figures are those of the tape: of its events, its losses, and its files' sizes.
succeeds "info" "$report" info "$tape"
"$report" info --json "$tape" >"$work/info.json"
said() { sed -nE "s|^$tape: $1|\\1|p" "$work/full.log" | tr -d ,; }
of_tape() { sqlite3 -batch -noheader :memory: "SELECT $1 FROM (SELECT readfile('$work/info.json') AS info)"; }
is "events that it says" "$(said '.* s, ([0-9,]+) events, .*')" "$(of_tape "json_extract(info, '\$.events')")"
is "lost records that it says" "$(said '.* events, ([0-9,]+) lost, .*')" "$(of_tape "json_extract(info, '\$.lost')")"
bytes=$(stat -c %s "$tape"/* | awk '{ sum += $1 } END { print sum }')
is "bytes that info says" "$(of_tape "json_extract(info, '\$.bytes')")" "$bytes"
is "bytes that it says" "$(said '.* lost, ([0-9.]+ [kM]?B) .*')" "$(awk -v n="$bytes" 'BEGIN {
    if (n < 999500) printf "%.0f kB", n / 1e3; else printf "%.1f MB", n / 1e6 }')"
is "seconds that it says" "$(said '([0-9.]+) s, .*')" "$(of_tape "printf('%.3f', json_extract(info,
    '\$.duration_ns') / 1e9)")"
db=$work/full.db
import_tape "$tape" "$db"
is "CPUs whose slices do not sum to the session" "$(sql "$db" '
    SELECT count(*) FROM (SELECT sum(c.dur) AS sum, s.dur AS dur FROM cpu_slice c, session s GROUP BY cpu)
    WHERE sum <> dur')" 0
is "undeclared losses" "$(sql "$db" 'SELECT undeclared FROM session')" 0
at_least "events" "$(sql "$db" 'SELECT events FROM session')" 10000
at_least "bytes" "$(sql "$db" 'SELECT bytes FROM session')" 500000
status=0
"$report" check "$tape" >"$work/check.txt" 2>&1 || status=$?
sed 's/^/    check: /' "$work/check.txt" | head -30
at_most "exit status of check: 0 or 1, no crash ($status)" "$status" 1

status=0
"$record" -o "$work/small/second.tape" -d 1 --min-free 0 >"$work/second.log" 2>&1 || status=$?
is "a recording on a disk that is full already: exit status" "$status" 1
at_least "and it says why" "$(grep -ciE 'no space' "$work/second.log")" 1
status=0
"$record" -o "$work/small/third.tape" -d 1 >"$work/third.log" 2>&1 || status=$?
is "one that leaves room for others: exit status" "$status" 1
at_least "and it says why" "$(grep -c 'only .* are free on the disk of .*less with --min-free' "$work/third.log")" 1
is "what is left of it" "$(find "$work/small" -name third.tape)" ""
if grep -q 'nothing was recorded' "$work/second.log"; then
    is "what is left of one of which nothing was written" "$(find "$work/small" -name second.tape)" ""
fi

tape=$work/large/ends.tape
status=0
timeout 300 "$record" -o "$tape" --min-free 62M >"$work/large.log" 2>&1 || status=$?
is "a recording that leaves 62 MiB of 64 free: exit status" "$status" 1
at_least "and it says why" "$(grep -c "less than 65.0 MB are free on the disk of $tape:" "$work/large.log")" 1
"$report" info --json "$tape" >"$work/info.json"
is "its tape is whole" "$(of_tape "json_extract(info, '\$.whole')")" 1
is "and says what ended it" "$(of_tape "json_extract(info, '\$.stop')")" "disk nearly full"

tape=$work/small/full.tape
status=0
"$report" import "$tape" -o "$work/small/full.db" >"$work/import.log" 2>&1 || status=$?
sed 's/^/    the importer: /' "$work/import.log"
is "an import to a disk that is full: exit status" "$status" 1
at_least "and it names the file" "$(grep -c "full.db" "$work/import.log")" 1
finish
