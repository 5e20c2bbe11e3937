#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Threads that execute a program, while their main threads are on a CPU (tests/tools/takeover.c). Each takes its main
# thread's tid; the main thread, which has yet to leave its CPU, is still told to be itself: no switch is undeclared.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder

processes=6 times=$(scaled 300)
recording_start "$work/t.tape"
pids=()
for ((i = 0; i < processes; i++)); do
    "$tools/takeover" "$times" &
    pids+=($!)
done
for pid in "${pids[@]}"; do succeeds "a process whose threads execute a program" wait "$pid"; done
recording_stop
db=$work/t.db
import_tape "$work/t.tape" "$db"
check_whole "$work/t.tape" "$db"
is "processes with a thread for each program executed, and one more" "$(sql "$db" "SELECT count(*) FROM (
    SELECT count(*) AS threads FROM thread JOIN process USING (upid)
    WHERE process.pid IN ($(IFS=,; echo "${pids[*]}")) GROUP BY upid) WHERE threads = $times + 1")" "$processes"
finish
