#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# export prometheus --follow, while the tape is recorded under traffic. No counter ever falls. Each file has, up to
# nettape_complete_until_seconds, what the tape has up to then when it is whole: each owner's time on each CPU, payers
# that add up to net_rx, and what other probes recorded. The last file, at the tape's end, is what the whole tape gives.
# A recorder that is killed ends the following too, and so does a signal.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
type python3 >/dev/null || skip "no python3"

# follow_start TAPE FILE: the process is $follower
follow_start() {
    "$report" export prometheus "$1" --follow 1 -o "$2" 2>"$work/follow.log" &
    follower=$!
    keep "$follower"
}
# follow_end: waits for it; its exit status is $followed
follow_end() {
    followed=0
    wait "$follower" || followed=$?
}

flood_start "$(scaled 20000)"
probes=latency,transmit,drops,flows,raise,block,memory,kmem
recording_start "$work/f.tape" --probes default,$probes
follow_start "$work/f.tape" "$work/f.prom"
# Each file that appears is kept: a name in the file system is whole from its begin.
seen=0
until_of() { sed -n 's/^nettape_complete_until_seconds{.*} //p' "$1" 2>/dev/null; }
has_more() {
    [[ $(until_of "$work/f.prom") != "$(until_of "$work/seen.$seen")" ]] || return
    seen=$((seen + 1))
    cp "$work/f.prom" "$work/seen.$seen"
}
touch "$work/seen.0"
wait_for 120 has_more
wait_for 120 has_more
wait_for 120 has_more
recording_stop
follow_end
is "the end of the tape ends it" "$followed" 0
"$report" export prometheus "$work/f.tape" -o "$work/whole.prom" 2>/dev/null

# probes_until TS: each metric of other probes, and its sum over all labels
probes_until() {
    ended_of() { echo "(SELECT r.* FROM $1 AS r, session AS s WHERE r.ts + $2 < $3)"; }
    # The whole tape, too, has no waits and requests that began before it.
    begun="WHERE ts >= (SELECT start_ts FROM session)"
    "$report" query "$work/f.tape" "
        SELECT 'skb_latency', count(*) FROM $(ended_of skb_latency 0 "$1")
        UNION ALL SELECT 'skb_drops_total', count(*) FROM $(ended_of skb_drop 0 "$1")
        UNION ALL SELECT 'softirq_wait_seconds_count', count(*) FROM $(ended_of softirq_raise r.dur "$1") $begun
        UNION ALL SELECT 'softirq_wait_seconds_sum', total(dur) / 1e9 FROM $(ended_of softirq_raise r.dur "$1") $begun
        UNION ALL SELECT 'block_device_seconds_count', count(*) FROM $(ended_of block_io r.dur "$1")
            $begun AND instr(flags, 'unissued') = 0
        UNION ALL SELECT 'device_packets_total', total(packets) FROM $(ended_of flow_total r.dur "$1")
        UNION ALL SELECT 'page_faults_total', total(minor + major) FROM $(ended_of page_fault r.dur "$1")
        UNION ALL SELECT 'kernel_allocations_total', total(weight) FROM $(ended_of kmem 0 "$1")
        " --csv | tail -n +2 >"$work/probes"
}
start=$("$report" query "$work/f.tape" "SELECT start_realtime_ns FROM session" --csv | tail -1)
for i in $(seq "$seen"); do
    # Sums end at the edge of a bucket of 100 ms.
    buckets=$(python3 -c "print(round(($(until_of "$work/seen.$i") * 10**9 - $start) / 10**8))")
    "$report" export prometheus "$work/f.tape" --to "${buckets}00ms" -o "$work/part.$i" 2>/dev/null
done
# All that lasts counts when it ends: in parts of a tape, when it begins.
probes_until "s.start_ts + ${buckets}00000000"
cat >"$work/compare.py" <<'PY'
import re, sys
def read(path):
    with open(path) as file:
        lines = [line.rsplit(" ", 1) for line in file if not line.startswith("#")]
    return {name: float(value) for name, value in lines}
def of(values, metric):
    return {name: value for name, value in values.items() if name.startswith(metric + "{")}
def total(values, metric, label=""):
    return round(sum(value for name, value in of(values, metric).items() if label in name) * 1e9)
CPU, RX = "nettape_cpu_seconds_total", "nettape_net_rx_seconds_total"
work, n, own_netns = sys.argv[1], int(sys.argv[2]), 'netns="%s"' % sys.argv[3]
seen = [read("%s/seen.%d" % (work, i + 1)) for i in range(n)] + [read(work + "/f.prom")]
whole = read(work + "/whole.prom")
fell = [name for before, now in zip(seen, seen[1:]) for name in before
        if re.search("_(total|bucket|sum|count){", name) and now.get(name, -1) < before[name]]
print("fell:", *fell)
# Which bucket a packet is in on its way up, or none, is decided by the readings of the clock so far.
def packets(values):
    return sum(value for name, value in values.items()
               if re.match('nettape_skb_latency_(seconds_count|rejected.*"(future|unknown|head_of_line)")', name))
def sent(values):
    buckets = of(values, "nettape_skb_latency_seconds_bucket")
    return {name: value for name, value in buckets.items() if 'hook="tx-' in name}
for i in range(n):
    part = read("%s/part.%d" % (work, i + 1))
    print("owners:", len(of(part, CPU)) > 5, *[name for name in of(part, CPU) if part[name] != seen[i].get(name)])
    print("payers:", abs(total(seen[i], RX) - total(seen[i], CPU, 'owner="net_rx"')) < 1000)
# The sums of the last but one.
seen[n - 1]["nettape_skb_latency{}"] = packets(seen[n - 1])
with open(work + "/probes") as file:
    counted = [line.split(",") for line in file]
print("probes:", len(counted), *[name for name, value in counted
                                 if abs(float(value) - sum(of(seen[n - 1], "nettape_" + name).values())) > 1e-6])
for metric in (CPU, "nettape_records_total", "nettape_socket_operations_total", "nettape_complete_until_seconds",
               "nettape_recording_whole", "nettape_recorder_cpu_seconds_total"):
    print("last:", metric, *[name for name in of(whole, metric) if whole[name] != seen[-1].get(name)])
print("last: latency:", packets(whole) == packets(seen[-1]) > 0, sent(whole) == sent(seen[-1]) != {})
# Devices of others may be renamed meanwhile: such a one counts by its new name from then on.
def ours(values):
    return {name: value for name, value in of(values, "nettape_device_bytes_total").items() if own_netns in name}
print("last: devices:", ours(whole) == ours(seen[-1]) != {})
for metric in ("nettape_softirq_wait_seconds_bucket", "nettape_kernel_allocated_bytes_total"):
    print("last:", metric, of(whole, metric) == of(seen[-1], metric) != {})
for group in ("program", "cgroup", "port"):
    metric = "nettape_%s_operations_total" % group
    print("last:", metric, *[] if total(whole, metric) == total(seen[-1], metric) else ["differs"])
PY
own_netns=$(stat -Lc %i "/run/netns/$netns_a")
is "what was seen" "$(python3 "$work/compare.py" "$work" "$seen" "$own_netns" | LC_ALL=C sort | uniq -c)" "$(cat <<TEXT
      1 fell:
      1 last: devices: True
      1 last: latency: True True
      1 last: nettape_cgroup_operations_total
      1 last: nettape_complete_until_seconds
      1 last: nettape_cpu_seconds_total
      1 last: nettape_kernel_allocated_bytes_total True
      1 last: nettape_port_operations_total
      1 last: nettape_program_operations_total
      1 last: nettape_recorder_cpu_seconds_total
      1 last: nettape_recording_whole
      1 last: nettape_records_total
      1 last: nettape_socket_operations_total
      1 last: nettape_softirq_wait_seconds_bucket True
      $seen owners: True
      $seen payers: True
      1 probes: 8
TEXT
)"

# Killed, the recorder leaves a tape without its end.
recording_start "$work/k.tape"
follow_start "$work/k.tape" "$work/k.prom"
is_there() { [[ -s $work/k.prom ]]; }
wait_for 120 is_there
recorder_kill
follow_end
is "a killed recorder ends it" "$followed" 0
is "which is told" "$(sed -n 's/^nettape_recording_whole{.*} //p' "$work/k.prom")" 0
at_least "with its problems" "$(grep -c 'k.tape: ' "$work/follow.log")" 1

recording_start "$work/c.tape"
follow_start "$work/c.tape" "$work/c.prom"
is_there() { [[ -s $work/c.prom ]]; }
wait_for 120 is_there
# As Ctrl-C, which a shell keeps from what it runs in the background.
kill -TERM "$follower"
follow_end
is "a signal ends it" "$followed" 0
is "and nothing is left" "$(ls "$work"/c.prom*)" "$work/c.prom"
recording_stop
finish
