#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The realtime clock is set forward, set back and given a leap second while packets arrive at a steady rate: no latency
# jumps by it, none lies in the future, and the tape tells of each step. For guests: other machines keep their time.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ -n ${NT_EMULATED:-} ]] || skip "only in a guest: it sets the clock"
needs_recorder
needs_netns
[[ $("$record" --list-probes) == *latency* ]] || skip "this recorder has no probe of latency"
command -v python3 >/dev/null || skip "needs python3"

# The leap second at the end of a UTC day: the kernel shows its last second twice.
cat >"$work/leap.py" <<'PY'
import ctypes, struct, time
libc = ctypes.CDLL(None, use_errno=True)
ADJ_STATUS, STA_INS = 0x10, 0x10
def status(bits):
    timex = bytearray(208)
    struct.pack_into("i", timex, 0, ADJ_STATUS)
    struct.pack_into("i", timex, 40, bits)
    if libc.adjtimex((ctypes.c_char * 208).from_buffer(timex)) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")
day = 86400
time.clock_settime(time.CLOCK_REALTIME, (int(time.time()) // day + 1) * day - 2)
status(STA_INS)
time.sleep(5)
status(0)
PY

recording_start "$work/c.tape" --probes default,latency
"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
flood=($!)
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 300 &
flood+=($!)
for pid in "${flood[@]}"; do keep "$pid"; done
sleep 3
date -s '+10 seconds' >/dev/null
sleep 3
date -s '-4 seconds' >/dev/null
sleep 3
python3 "$work/leap.py"
sleep 3
kill "${flood[@]}"
recording_stop
[[ -z ${NT_GUEST_OUT:-} ]] || cp -r "$work/c.tape" "$NT_GUEST_OUT/clock_step.tape"
db=$work/c.db
import_tape "$work/c.tape" "$db"
check_whole "$work/c.tape" "$db"
"$report" info "$work/c.tape" | grep -a -e clock | sed 's/^/    /'
sql "$db" "SELECT '    ' || hook, count(*), min(latency_ns), max(latency_ns), sum(flags LIKE '%step%') FROM skb_latency
    GROUP BY hook"

# The two by hand, the one to the day's end, and the leap second.
is "steps of the clock" "$(sql "$db" 'SELECT clock_steps FROM session')" 4
is "the steps' sizes, in seconds; the third is to the end of a day" \
    "$("$report" info --json "$work/c.tape" | python3 -c 'import json, sys
steps = [round(step["change_ns"] / 1e9) for step in json.load(sys.stdin)["first_clock_steps"]]
print(steps[0], steps[1], steps[2] > 0, steps[3])')" "10 -4 True -1"
samples=$(sql "$db" 'SELECT count(*) FROM skb_latency')
at_least "samples" "$samples" "$(scaled 3000)"
is "samples without a latency" "$(sql "$db" 'SELECT count(*) FROM skb_latency WHERE latency_ns IS NULL')" 0
# Less than the smallest step: a sample that was read by the wrong clock would be off by one.
bar_at_most "greatest latency, in ns" "$(sql "$db" 'SELECT max(latency_ns) FROM skb_latency')" 900000000
bar_at_most "clocks agree to, in ns" "$(sql "$db" 'SELECT clock_uncertainty_ns FROM session')" 100000
# In doubt are those near the two steps back and, by less than the time between snapshots, forward.
bar_at_most "samples in doubt" "$(sql "$db" "SELECT count(*) FROM skb_latency WHERE instr(flags, 'step')")" \
    $((samples * 3 / 4))
finish
