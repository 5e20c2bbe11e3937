#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# CPUs go offline and come back during a recording, under a UDP flood, one of them twice, and one that was offline when
# the recording began: `offline` for that time, by the clock of who switched them, and every nanosecond of every CPU is
# accounted for. For guests: a machine that others use has its CPUs taken away by nobody's test.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ -n ${NT_EMULATED:-} ]] || skip "only in a guest: it takes CPUs offline"
[[ $(nproc) -ge 4 ]] || skip "needs 4 CPUs"
needs_recorder
needs_netns
cpus=/sys/devices/system/cpu

# CLOCK_MONOTONIC in ns, to 10 ms: more than that passes between the write and what it does.
now_ns() { awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime; }

# switch CPU 0|1: the write returns when it is done. Lines "CPU 0|1 BEFORE AFTER" in $work/switches.
switch() {
    local before after
    before=$(now_ns)
    echo "$2" >"$cpus/cpu$1/online"
    after=$(now_ns)
    echo "$1 $2 $before $after" >>"$work/switches"
    echo "    CPU $1 $2: $before to $after"
}

# stays CPU: how often tasks have been put on it, by the kernel's count
stays() { awk -v cpu="cpu$1" '$1 == cpu { print $10 }' /proc/schedstat; }
has_gone_on() { (($(stays "$1") >= $2)); }
# back CPU: it comes back, and goes on long enough for what is asked of it below; on a busy machine that takes longer
back() {
    local before
    switch "$1" 1
    before=$(stays "$1")
    sleep 0.3
    wait_for 120 has_gone_on "$1" $((before + 30)) || bad "CPU $1 does not go on"
}

switch 3 0
recording_start "$work/h.tape"
"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
flood=($!)
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 &
flood+=($!)
for pid in "${flood[@]}"; do keep "$pid"; done
sleep 0.3
back 3  # for the first time since the recording began
switch 1 0
sleep 0.3
switch 2 0
sleep 0.3
back 1
switch 1 0  # once more, and shortly
back 1  # CPU 2 stays away to the end
kill "${flood[@]}"
recording_stop
[[ -z ${NT_GUEST_OUT:-} ]] || cp -r "$work/h.tape" "$NT_GUEST_OUT/hotplug.tape"
switch 2 1
db=$work/h.db
import_tape "$work/h.tape" "$db"
check_whole "$work/h.tape" "$db"
sed 's/^/    /' "$work/switches"
sql "$db" "SELECT '    CPU ' || cpu || ': ' || group_concat(owner || ' ' || ms || ' ms', ', ') FROM
    (SELECT cpu, owner, sum(dur) / 1000000 AS ms FROM cpu_slice GROUP BY cpu, owner) GROUP BY cpu"

read -r begin end < <(sql "$db" "SELECT start_ts || ' ' || (start_ts + dur) FROM session")
# The bounds of each time away, by the switches. From the end of the write of 0 to the begin of the write of 1 the CPU
# was certainly away. It was away at most from the first one's begin to the other's end.
awk -v begin="$begin" -v end="$end" '
    function clip(ns) { return ns < begin ? begin : ns > end ? end : ns }
    $2 == 0 { from[$1] = $3; since[$1] = $4; away[$1] = 1 }
    $2 == 1 { if (clip($4) > clip(from[$1])) printf "%d %.0f %.0f %.0f %.0f\n", $1, clip(from[$1]), clip(since[$1]),
        clip($3), clip($4) }
' "$work/switches" >"$work/stretches"
is "times that a CPU was away" "$(sql "$db" "SELECT count(*) FROM cpu_slice WHERE owner = 'offline'")" \
    "$(wc -l <"$work/stretches")"

# The kernel takes a CPU down a while after the write began, and is back from the write a while after it is down: both
# are less than the write. So each end of a slice lies in a write, with 20 ms for the clock of /proc/uptime.
slack=20000000
while read -r cpu from since until to; do
    read -r ts te < <(sql "$db" "SELECT ts || ' ' || (ts + dur) FROM cpu_slice WHERE cpu = $cpu AND owner = 'offline'
        AND ts < $until + $slack AND ts + dur > $since - $slack")
    echo "# CPU $cpu: offline for $((te - ts)) ns;" \
        "between the writes $((until - since)) ns, with them $((to - from)) ns"
    is "CPU $cpu: offline from within the write of 0" "$((ts >= from - slack && ts <= since + slack))" 1
    is "CPU $cpu: to within the write of 1" "$((te >= until - slack && te <= to + slack))" 1
done <"$work/stretches"

is "CPUs" "$(sql "$db" 'SELECT count(DISTINCT cpu) FROM cpu_slice')" 4
is "ns uncovered" "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice WHERE owner = 'uncovered'")" 0
is "losses" "$(sql "$db" 'SELECT count(*) FROM loss')" 0
for what in "task|sched_slice" "softirq|softirq_slice" "interrupt|irq_slice"; do
    is "${what%|*}s on a CPU that is not there" "$(sql "$db" "SELECT count(*) FROM cpu_slice o CROSS JOIN ${what#*|} s
        ON s.cpu = o.cpu AND s.ts < o.ts + o.dur AND s.ts + s.dur > o.ts WHERE o.owner = 'offline'")" 0
done
at_least "ms of net_rx" "$(sql "$db" "SELECT sum(dur) / 1000000 FROM cpu_slice WHERE owner = 'net_rx'")" 100
for cpu in 1 3; do
    at_least "CPU $cpu: switches after it came back" "$(sql "$db" "SELECT count(*) FROM sched_slice WHERE cpu = $cpu
        AND ts > (SELECT max(ts + dur) FROM cpu_slice WHERE cpu = $cpu AND owner = 'offline')")" 20
done
finish
