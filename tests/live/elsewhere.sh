#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The network's costs elsewhere. Probe nettimers: runs of TCP's keepalive timer are as many as the probes that the
# kernel counted sent, each inside a softirq that calls timers. Interrupts of network devices are those whose numbers
# sysfs has, and took as long as their slices.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
command -v python3 >/dev/null || skip "python3 is not installed, which holds the connections"

connections=50
cat >"$work/hold.py" <<'PY'
import socket, sys, time
def probes():
    names, values = [line.split() for line in open("/proc/net/netstat") if line.startswith("TcpExt:")]
    return int(values[names.index("TCPKeepAlive")])
before = probes()
listener = socket.socket()
listener.bind((sys.argv[1], 0))
listener.listen(200)
held = []
for _ in range(int(sys.argv[2])):
    held.append(socket.create_connection(listener.getsockname()))
    held.append(listener.accept()[0])
    held[-2].setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    held[-2].setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    held[-2].setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    # One softirq runs a few of their timers then, not all.
    time.sleep(0.02)
# Two probes on each connection: after two seconds, and later on a busy machine.
for _ in range(600):
    if probes() >= before + 2 * int(sys.argv[2]):
        break
    time.sleep(0.1)
PY

# The numbers of network devices' interrupts: a virtio device's are those of the PCI device above it.
irqs=0
for device in /sys/class/net/*/device; do
    [[ $(readlink "$device/subsystem") == */virtio ]] && device+=/..
    for number in "$device"/msi_irqs/*; do
        [[ -e $number ]] && irqs+=,${number##*/}
    done
done

gateway=$(ip route show default 2>/dev/null | awk '{ print $3; exit }')
recording_start "$work/e.tape" --bpf-stats
before=$(net_count in_b TcpExt TCPKeepAlive)
if [[ -n $gateway ]]; then
    ping -c 10 -i 0.2 -W 1 "$gateway" >/dev/null 2>&1 &
    keep $!
fi
"${in_b[@]}" python3 "$work/hold.py" "$addr_b" $connections
probes=$(($(net_count in_b TcpExt TCPKeepAlive) - before))
recording_stop
db=$work/e.db
import_tape "$work/e.tape" "$db"
check_whole "$work/e.tape" "$db"

runs=$(sql "$db" "SELECT count(*) FROM net_timer WHERE function = 'tcp_keepalive_timer'")
at_least "keepalive probes that the kernel counted" "$probes" $((2 * connections))
# A softirq in the time of a task that the kernel hides is not seen, nor what it calls: some five timers at most, and
# one more for each 20 ms.
hidden=$(sql "$db" "SELECT ifnull(sum(5 + dur / 20000000), 0) FROM cpu_slice WHERE owner = 'uncovered'
    AND ts > (SELECT min(ts) FROM net_timer WHERE function = 'tcp_keepalive_timer')")
at_least "runs of the keepalive timer, with those that may be hidden ($hidden)" $((runs + hidden)) "$probes"
at_most "runs of the keepalive timer" "$runs" $((probes + connections))
is "runs without a time of their own, or of more than they took" "$(sql "$db" "SELECT count(*) FROM net_timer
    WHERE own_ns > took_ns OR (own_ns IS NULL AND (SELECT kernel FROM session) NOT LIKE '%rt%')")" 0
is "runs outside of softirqs that call timers" "$(sql "$db" "SELECT count(*) FROM net_timer AS t
    WHERE NOT EXISTS (SELECT 1 FROM softirq_slice AS s WHERE s.cpu = t.cpu AND t.ts - t.took_ns >= s.ts
        AND t.ts <= s.ts + s.dur AND s.vec IN ('TIMER', 'HRTIMER', 'TASKLET', 'HI'))
    AND NOT EXISTS (SELECT 1 FROM cpu_slice AS u WHERE u.owner = 'uncovered' AND u.cpu = t.cpu
        AND t.ts > u.ts AND t.ts - t.took_ns < u.ts + u.dur)
    AND t.ts - t.took_ns >= (SELECT start_ts FROM session) AND t.ts <= (SELECT end_ts FROM session)")" 0
is "timers, less their own time" "$(sql "$db" "SELECT
    (SELECT total(spent_ns) FROM elsewhere_cost WHERE what = 'timer') -
    (SELECT total(own_ns) FROM net_timer WHERE ts - took_ns >= (SELECT start_ts FROM session)
        AND ts <= (SELECT end_ts FROM session))")" 0.0

echo "# interrupts of network devices: $irqs"
at_most "time of network devices' interrupts, less their slices'" "$(sql "$db" "SELECT
    (SELECT total(spent_ns) FROM elsewhere_cost WHERE what = 'hardirq') -
    (SELECT total(dur) FROM irq_slice WHERE type = 'device' AND irq IN ($irqs))")" 0
is "interrupts of network devices under other numbers" "$(sql "$db" "SELECT count(*) FROM elsewhere_cost
    WHERE what = 'hardirq' AND device IN (SELECT substr(value, 1) FROM json_each('$(ls /sys/class/net |
        sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/')')) AND irq NOT IN ($irqs)")" 0
sql "$db" "SELECT '# ' || what || ' ' || name || ': ' || sum(ns) || ' ns' FROM net_cost_elsewhere GROUP BY what, name"
finish
