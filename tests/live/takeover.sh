#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Threads that execute a program, while their main threads are on a CPU (tests/tools/takeover.c). Each takes its main
# thread's tid; the main thread, which has yet to leave its CPU, is still told to be itself: no switch is undeclared.
# Recordings that begin meanwhile know each thread, also one that came just before.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder

for ((i = 0; i < 3; i++)); do
    "$tools/takeover" 1000000000 &
    keep $!
done
for ((i = 0; i < 5; i++)); do
    recording_start "$work/$i.tape"
    "$tools/takeover" "$(scaled 100)"
    recording_stop
    import_tape "$work/$i.tape" "$work/$i.db"
    check_whole "$work/$i.tape" "$work/$i.db"
    # Each stretch uncovered may be one of a thread that the kernel hides.
    strangers=$(sql "$work/$i.db" "SELECT count(*) FROM thread WHERE utid <> 0 AND upid IS NULL")
    at_most "threads of no process" "$strangers" "$(stretches_uncovered "$work/$i.db")"
done
finish
