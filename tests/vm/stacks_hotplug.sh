#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The clocks of probe stacks follow CPUs: one that goes offline takes its clock with it, and gets one again when it
# comes back, also when that was so short that the recorder saw it online both times. For guests: a machine that others
# use has its CPUs taken away by nobody's test.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ -n ${NT_EMULATED:-} ]] || skip "only in a guest: it takes CPUs offline"
(($(nproc) > 1)) || skip "needs 2 CPUs"
needs_recorder
online=/sys/devices/system/cpu/cpu1/online
now_ns() { awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime; }

recording_start "$work/h.tape" --probes default,stacks --stacks all -F 99
sleep 2
echo 0 >$online
sleep 2
echo 1 >$online
back=$(now_ns)
sleep 4
echo 0 >$online
echo 1 >$online
again=$(now_ns)
sleep 4
recording_stop
db=$work/h.db
import_tape "$work/h.tape" "$db"
check_whole "$work/h.tape" "$db"
sql "$db" "SELECT '# CPU ' || cpu || ', second ' || ((ts - start_ts) / 1000000000) || ': ' || count(*) FROM stack_sample
    JOIN session USING (session_id) GROUP BY cpu, (ts - start_ts) / 1000000000"
is "times that the CPU was away" "$(sql "$db" "SELECT count(*) FROM cpu_slice WHERE owner = 'offline' AND cpu = 1")" 2
is "samples of a CPU that is not there" "$(sql "$db" "SELECT count(*) FROM stack_sample AS s
    JOIN cpu_slice AS c ON c.cpu = s.cpu AND s.ts >= c.ts AND s.ts < c.ts + c.dur
    WHERE c.owner = 'offline'")" 0
# How often a clock of an emulated CPU ticks is the host's affair.
bar_at_least "samples before it went" "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE cpu = 1
    AND ts < (SELECT min(ts) FROM cpu_slice WHERE owner = 'offline')")" 20
bar_at_least "samples after it came back" "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE cpu = 1
    AND ts BETWEEN $back AND $again - 100000000")" 20
bar_at_least "samples after it had been away shortly" \
    "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE cpu = 1 AND ts > $again")" 20
finish
