#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A flight recorder: it drops its oldest chunks while it records, and others read its tape. Nothing is lost by that: the
# kernel side's counts are those of the tape and of what was dropped. Killed at any moment, it leaves the last seconds.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
flood_start 20000

# ---- while it records, and at its end ----

tape=$work/flight.tape
recording_start "$tape" --keep 2s
# problems TAPE: of what is there, but for what every recording has that goes on or was killed
problems() {
    "$report" query --csv "$1" "SELECT text FROM problem WHERE text NOT LIKE '%.partial was never finished%'
        AND text NOT LIKE '%.partial holds no block%' AND text NOT LIKE '%session''s end is not on the tape%'" \
        2>"$work/problems.err"
}
# first_of TAPE: the number of the first chunk that is there
first_of() { (cd "$1" && printf '%s\n' chunk-*) | sed -n '1s/chunk-0*\([0-9][0-9]*\).*/\1/p'; }
readings=0
: >"$work/problems.txt"
until (($(first_of "$tape") >= 3)); do
    kill -0 "$recorder" || break
    problems "$tape" | sed 1d >>"$work/problems.txt"
    readings=$((readings + 1))
    sleep 0.2
done
# A snapshot becomes a tape of its own, and the recording goes on.
kill -USR1 "$recorder"
has_snapshot() { grep -q '^snapshot: ' "$work/record.log"; }
wait_for 60 has_snapshot || bad "no snapshot: $(cat "$work/record.log")"
recording_stop || bad "the recorder ends with $recorder_status"
is "problems of the tape in $readings readings while it dropped chunks" "$(cat "$work/problems.txt")" ""

db=$work/flight.db
import_tape "$tape" "$db"
check_whole "$tape" "$db"
"$report" check "$tape" | tr -s ' \n' ' ' >"$work/check.txt"
is "check compares the kernel side's counters, with what was dropped" \
    "$(grep -c 'counters = records on the tape' "$work/check.txt")" 1
# chunk_begin FILE: when the chunk was begun
chunk_begin() { od -An -tu8 -j40 -N8 "$1" | tr -d ' '; }
mapfile -t chunks < <(find "$tape" -name 'chunk-*.ntc' | sort)
is "the session begins with the first chunk" "$(sql "$db" 'SELECT start_ts FROM session')" \
    "$(chunk_begin "${chunks[0]}")"
at_least "ns that are kept without the first chunk, and that are fewer than 2 s" \
    $(($(chunk_begin "${chunks[1]}") + 2000000000)) "$(sql "$db" 'SELECT end_ts FROM session')"
at_least "of the recording, s before that" "$(sql "$db" "SELECT (start_ts - (SELECT value FROM session_meta
    WHERE key = 'start_ns')) / 1e9 FROM session")" 2
is "lines of summary that say so" "$("$report" summary "$tape" | grep -c 'kept of a recording of')" 1

snapshot=$(sed -n 's/^snapshot: //p' "$work/record.log")
import_tape "$snapshot" "$work/snapshot.db"
check_whole "$snapshot" "$work/snapshot.db"
is "what ended the snapshot" "$(sql "$work/snapshot.db" 'SELECT stop FROM session')" snapshot
is "what ended the recording" "$(sql "$db" 'SELECT stop FROM session')" command
at_least "ns that it is older than the end" "$(($(sql "$db" 'SELECT end_ts FROM session') -
    $(sql "$work/snapshot.db" 'SELECT end_ts FROM session')))" 1
at_least "files that both have" "$(find "$snapshot" -type f -links 2 | wc -l)" 1

# ---- killed ----

# Ten at a time, at any moment of a second.
killed=0 at_a_time=$(scaled 10)
: >"$work/killed.txt"
has_dropped_one() { (($(first_of "$1") > 0)); }
for round in 1 2; do
    pids=()
    for ((i = 1; i <= at_a_time; i++)); do
        "$record" -o "$work/$round-$i.tape" -q --keep 1s 2>>"$work/killed.log" &
        pids+=($!)
        keep $!
    done
    for ((i = 1; i <= at_a_time; i++)); do
        wait_for 60 has_dropped_one "$work/$round-$i.tape" ||
            bad "nothing is dropped: $(cat "$work/killed.log")"
        sleep 0.1
        kill -KILL "${pids[i - 1]}"
        wait "${pids[i - 1]}" 2>/dev/null || true
    done
done
for tape in "$work"/[12]-*.tape; do
    problems "$tape" | sed 1d >>"$work/killed.txt" || echo "$tape: $(cat "$work/problems.err")" >>"$work/killed.txt"
    "$report" query --csv "$tape" "SELECT DISTINCT why FROM loss WHERE why IN
        ('missing block', 'damaged block', 'undeclared', 'segment too long')" 2>/dev/null |
        sed 1d >>"$work/killed.txt"
    killed=$((killed + 1))
done
is "tapes of recorders that were killed" $killed $((2 * at_a_time))
is "their problems" "$(cat "$work/killed.txt")" ""
finish
