#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The disk fills up while recording: the recorder ends with an error that names the file and the remedy; the part
# written before is readable.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns

mkdir "$work/small"
mount -t tmpfs -o size=1m none "$work/small" 2>"$work/mount.log" ||
    skip "no tmpfs can be mounted: $(cat "$work/mount.log")"
# shellcheck disable=SC2317  # called by the library
test_cleanup() { umount "$work/small" || true; }

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 100000 &
keep $!
tape=$work/small/full.tape
status=0
timeout 60 "$record" -o "$tape" -d 30 >"$work/full.log" 2>&1 || status=$?
sed 's/^/    the recorder: /' "$work/full.log"
is "exit status" "$status" 1
at_least "lines that say what failed" "$(grep -ciE 'no space|disk.*full|full.*disk' "$work/full.log")" 1
at_least "lines that name the file" "$(grep -c "$tape/chunk-" "$work/full.log")" 1

succeeds "info" "$report" info "$tape"
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
"$record" -o "$work/small/second.tape" -d 1 >"$work/second.log" 2>&1 || status=$?
is "a recording on a disk that is full already: exit status" "$status" 1
at_least "and it says why" "$(grep -ciE 'no space' "$work/second.log")" 1
status=0
"$report" import "$tape" -o "$work/small/full.db" >"$work/import.log" 2>&1 || status=$?
sed 's/^/    the importer: /' "$work/import.log"
is "an import to a disk that is full: exit status" "$status" 1
at_least "and it names the file" "$(grep -c "full.db" "$work/import.log")" 1
finish
