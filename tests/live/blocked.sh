#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A blocked receive costs its wake-up, not its wait: begun in the recording, and begun before it. Receives still
# blocked at the end are there as open, and those of a killed process as ended by its exit.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

count=20
max_cpu_ns=$([[ -n ${NT_EMULATED:-} ]] && echo 5000000 || echo 100000)

# blocked_start: `blocked` has all its threads asleep in a receive. It hears on descriptor 6.
blocked_start() {
    rm -f "$work/go" "$work/said"
    mkfifo "$work/go"
    exec 6<>"$work/go"
    "${in_a[@]}" "$tools/blocked" "$count" <"$work/go" >"$work/said" 6<&- &
    blocked=$!
    keep "$blocked"
    heard blocked
}
# A file, and no pipe: bash's `read` with a time limit can take a line and say that there was none.
heard() {
    wait_for 60 grep -qx "$1" "$work/said" && return
    bad "the program 'blocked' did not say '$1'"
    finish
}
blocked_receive() { echo >&6 && heard received; }
blocked_end() {
    echo >&6
    wait "$blocked"
    exec 6<&-
}

# receives DB COLUMNS [AND ...]: of the threads that were blocked
receives() {
    sql "$1" "SELECT $2 FROM sock_op JOIN thread t USING (session_id, utid) WHERE t.name = 'b-recv'
        AND op = 'recv' ${3:-}"
}
# nth_cpu DB N: the CPU time of the Nth cheapest, from 0. On a virtual CPU every other wake-up may take 100 us and more.
nth_cpu() {
    receives "$1" cpu_ns "ORDER BY cpu_ns LIMIT 1 OFFSET $2"
}
# cost_of DB: they waited for more than a second
cost_of() {
    bar_at_most "CPU time of the cheapest quarter (ns)" "$(nth_cpu "$1" $((count / 4)))" "$max_cpu_ns"
    bar_at_most "CPU time of any (ns)" "$(nth_cpu "$1" $((count - 1)))" $((100 * max_cpu_ns))
}

# none_of DB: the threads that sleep in a pipe's read, a Unix socket's receive, an accept, made no operation
none_of() {
    is "operations of what only looks like a receive" "$(sql "$1" "
        SELECT count(*) FROM sock_op JOIN thread t USING (session_id, utid) WHERE t.name = 'b-none'")" 0
    is "time that send or receive own of them" "$(sql "$1" "
        SELECT count(*) FROM cpu_slice JOIN thread t USING (session_id, utid)
        WHERE t.name = 'b-none' AND owner IN ('send', 'recv')")" 0
}

echo "# begun in the recording"
recording_start "$work/in.tape"
blocked_start
sleep 1.5
blocked_receive
blocked_end
recording_stop
import_tape "$work/in.tape" "$work/in.db"
check_whole "$work/in.tape" "$work/in.db"
is "receives" "$(receives "$work/in.db" 'count(*)')" "$count"
is "receives that ended well and are timed" \
    "$(receives "$work/in.db" 'count(*)' "AND result = 'ok' AND dur IS NOT NULL")" "$count"
at_least "shortest duration (s)" "$(receives "$work/in.db" 'min(dur) / 1e9')" 1.5
cost_of "$work/in.db"
at_least "least CPU time (ns)" "$(receives "$work/in.db" 'min(cpu_ns)')" 1
is "receives marked as begun before" "$(receives "$work/in.db" 'count(*)' "AND instr(flags, 'before')")" 0
none_of "$work/in.db"

echo "# begun before the recording"
blocked_start
recording_start "$work/before.tape"
sleep 1.2
blocked_receive
recording_stop
blocked_end
import_tape "$work/before.tape" "$work/before.db"
check_whole "$work/before.tape" "$work/before.db"
is "receives" "$(receives "$work/before.db" 'count(*)')" "$count"
is "receives marked as begun before" "$(receives "$work/before.db" 'count(*)' \
    "AND result = 'ok' AND instr(flags, 'before')")" "$count"
is "receives that begin with the recording" "$(sql "$work/before.db" "
    SELECT count(*) FROM sock_op o JOIN session s USING (session_id) JOIN thread t USING (session_id, utid)
    WHERE t.name = 'b-recv' AND o.ts = s.start_ts")" "$count"
at_least "shortest duration (s)" "$(receives "$work/before.db" 'min(dur) / 1e9')" 1.2
cost_of "$work/before.db"
none_of "$work/before.db"

echo "# still blocked at the end"
recording_start "$work/open.tape"
blocked_start
recording_stop
import_tape "$work/open.tape" "$work/open.db"
check_whole "$work/open.tape" "$work/open.db"
is "receives open at the end" "$(receives "$work/open.db" 'count(*)' "AND result = 'open'")" "$count"
is "other receives" "$(receives "$work/open.db" 'count(*)' "AND result <> 'open'")" 0
none_of "$work/open.db"
blocked_receive
blocked_end

echo "# killed"
recording_start "$work/killed.tape"
blocked_start
kill -KILL "$blocked"
wait "$blocked" 2>/dev/null || true
exec 6<&-
recording_stop
import_tape "$work/killed.tape" "$work/killed.db"
check_whole "$work/killed.tape" "$work/killed.db"
# A fatal signal wakes the receive, which gives up with "restart": the task may or may not get to say so before it dies.
is "receives ended by the kill" "$(receives "$work/killed.db" 'count(*)' "AND result IN ('exit', 'restarted')")" \
    "$count"
is "receives open at the end" "$(receives "$work/killed.db" 'count(*)' "AND result = 'open'")" 0
finish
