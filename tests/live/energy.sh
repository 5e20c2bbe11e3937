#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe energy, with files in place of /sys/class/powercap, since few test machines have counters. Each value on the
# tape is what the file held when it was read, also where the counter begins anew. The network's part lies between the
# bounds, by the slices of CPUs. Without a counter, `info` says so.

# /sys/class is ours for this test and what it starts, and nobody else's.
if [[ -z ${NT_OWN_SYS:-} && $(id -u) == 0 ]] && unshare -m true 2>/dev/null; then
    NT_OWN_SYS=1 exec unshare -m --propagation private "$0" "$@"
fi
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
[[ -n ${NT_OWN_SYS:-} ]] || skip "no mount namespaces"
type python3 >/dev/null || skip "no python3"
needs_netns
package=$(cat /sys/devices/system/cpu/cpu0/topology/physical_package_id 2>/dev/null) || skip "no packages of CPUs"

zone=$work/class/powercap/intel-rapl:0
mkdir -p "$zone" "$zone:0"
echo "package-$package" >"$zone/name"
echo dram >"$zone:0/name"
for directory in "$zone" "$zone:0"; do
    echo 84000000 >"$directory/energy_uj"
    echo 90000000 >"$directory/max_energy_range_uj"
done
mount --bind "$work/class" /sys/class

# Counts 20 W from when it is told to, soon over the range. Prints each value with the times before and after it was
# written: 8 bytes, so in one piece.
cat >"$work/counter.py" <<'PY'
import os, sys, time
FIRST, RANGE = 84000000, 90000000
now = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC)
files = [os.open(path + "/energy_uj", os.O_WRONLY) for path in sys.argv[3:]]
lines = ["0,0,%d" % FIRST]
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
start = now()
while not os.path.exists(sys.argv[2]):
    before = now()
    value = FIRST + (before - start) // 50
    for file in files:
        os.pwrite(file, b"%08d" % (value % RANGE), 0)
    lines.append("%d,%d,%d" % (before, now(), value))
    time.sleep(0.001)
print("\n".join(lines))
PY
python3 "$work/counter.py" "$work/go" "$work/enough" "$zone" "$zone:0" >"$work/written.csv" &
counter=$!
keep "$counter"
flood_start 20000
recording_start "$work/e.tape" --probes default,energy
touch "$work/go"
has_begun_anew() { ((10#$(<"$zone/energy_uj") < 84000000)); }
wait_for 60 has_begun_anew
sleep 0.5
recording_stop
touch "$work/enough"
wait "$counter"
db=$work/e.db
import_tape "$work/e.tape" "$db"
check_whole "$work/e.tape" "$db"

# Values on the tape count from when the recorder opened the file. So they lack the same number all the time.
sql "$db" "SELECT name, ts_begin, ts_end, value FROM proc_counter WHERE source = '/sys/class/powercap'
    ORDER BY ts_end" >"$work/read"
at_least "readings" "$(wc -l <"$work/read")" 4
at_least "microjoules, behind the end of the range" "$(tail -1 "$work/read" | cut -d'|' -f4)" 6000000
is "zones, and those of them whose values the file did not have when it was read" "$(python3 - "$work" <<'PY'
import sys
written = [tuple(map(int, line.split(","))) for line in open(sys.argv[1] + "/written.csv")]
until = [after for before, after, value in written[1:]] + [1 << 63]
lacks = {}
for line in open(sys.argv[1] + "/read"):
    zone, begin, end, value = line.split("|")
    may_lack = {had - int(value) for (before, after, had), last in zip(written, until)
                if before <= int(end) and last >= int(begin)}
    lacks[zone] = lacks.get(zone, may_lack) & may_lack
print(len(lacks), sum(not lack for lack in lacks.values()))
PY
)" "2 0"

# Of slices: the network's part of busy time between the times when the readings ended.
sql "$db" "CREATE TEMP TABLE span AS SELECT * FROM energy
        WHERE zone = 'package-$package' AND network_uj IS NOT NULL;
    CREATE TEMP TABLE part AS SELECT e.ts, e.energy_uj, e.network_least_uj AS least, e.network_most_uj AS most,
        sum(ns * (owner IN ('net_rx', 'net_tx', 'send', 'recv'))) AS network, sum(ns * (owner = 'uncovered')) AS hidden,
        sum(ns * (owner NOT IN ('idle', 'offline', 'uncovered'))) AS busy
    FROM span e JOIN (SELECT e.ts, owner, min(s.ts + s.dur, e.ts + e.dur) - max(s.ts, e.ts) AS ns
        FROM span e JOIN cpu_slice s ON s.ts < e.ts + e.dur AND s.ts + s.dur > e.ts
        WHERE s.cpu IN (SELECT cpu FROM proc_counter WHERE name = 'package' AND value = $package)) USING (ts)
    GROUP BY e.ts;
    SELECT count(*), sum(least * 1.0 > (network + hidden) * 1.0 / (busy + hidden) * energy_uj
        OR most < network * 1.0 / (busy + hidden) * energy_uj) FROM part" >"$work/parts"
IFS='|' read -r parts wrong <"$work/parts"
at_least "spans whose network's part is told" "$parts" 1
is "of these, outside their bounds" "$wrong" 0
succeeds "the zone is in the summary" grep -F "package-$package.dram " <("$report" summary "$work/e.tape")

umount /sys/class
"$record" -o "$work/none.tape" --probes energy -q -d 0.1 >"$work/log" 2>&1 || true
if [[ ! -e /sys/class/powercap ]]; then
    succeeds "without a counter, info says so" grep -F 'this host has no counter' <("$report" info "$work/none.tape")
fi
finish
