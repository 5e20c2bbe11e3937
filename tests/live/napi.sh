#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Threaded NAPI and busy polling against softirqs: the same traffic, received in each of the three ways by turns during
# one recording, costs the same net_rx. And `info` says so when a plan does not see busy polling.
#
# The figure that is compared: net_rx of one CPU for each packet, by the owners of its time. Polling by interrupts, by a
# thread and by a task differ in how many packets a poll brings, and so truly in cost. So the device is told to wait
# (napi_defer_hard_irqs, gro_flush_timeout): in every way it is polled about once in a millisecond, for a millisecond's
# packets. A thread's wakeups and a task's calls and fruitless polls remain, some hundred nanoseconds for each
# millisecond. Routing rules, as hosts have them, make packets so costly that these are small. All run on one CPU. The
# machine's speed changes meanwhile, so the ways take turns, and the median of the turns' ratios is told.
#
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
command -v ethtool >/dev/null || skip "no ethtool"

turns=${TURNS:-$([[ -n ${NT_EMULATED:-} ]] && echo 1 || echo 5)}
rate=$([[ -n ${NT_EMULATED:-} ]] && echo 1000 || echo 50000)
cpu=$(($(nproc) - 1))
device=/sys/class/net/veth0
ways="softirq thread busy"

# set_device FILE VALUE: of the receiving device; fails if the kernel has no such file, or refuses
# shellcheck disable=SC2016
set_device() { "${in_b[@]}" sh -c 'echo "$1" >"$0"' "$device/$1" "$2" 2>/dev/null; }

# The receiving end of a veth pair has NAPI with GRO on, and uses it for packets that the other end has cut to size.
prepare_device() {
    local i
    for ((i = 0; i < 100; i++)); do echo "rule add from 10.$i.0.0/16 lookup 100 priority $((1000 + i))"; done |
        ip -n "$netns_b" -batch - || return
    "${in_b[@]}" ethtool -K veth0 gro on && "${in_a[@]}" ethtool -K veth0 tso off || return
    set_device napi_defer_hard_irqs 1000000
} >/dev/null 2>&1

# received: packets, by the receiving device, by the kernel's count
received() { "${in_b[@]}" cat "$device/statistics/rx_packets"; }
has_come() { (($(received) >= wanted)); }

napi_threads() { pgrep '^napi/veth0-' || true; }

# begin WAY: the device is polled in this way from now on
begin() {
    local busy=0 pid
    set_device threaded "$([[ $1 == thread ]] && echo 1 || echo 0)" || return
    # Soon by timer; or so late that the task always comes first.
    set_device gro_flush_timeout "$([[ $1 == busy ]] && echo 50000000 || echo 1000000)"
    [[ $1 != busy ]] || busy=50
    for pid in $(napi_threads); do taskset -pc "$cpu" "$pid" >/dev/null 2>&1 || true; done
    "${in_b[@]}" taskset -c "$cpu" "$work/napi-flood" udp-recv "$addr_b" 9000 $busy nap &
    receiver=$!
    keep "$receiver"
    # Port 9000 in its namespace: then it receives.
    wait_for 20 grep -q ':2328 ' "/proc/$receiver/net/udp" || return
    sleep 0.03
}

end() {
    kill -TERM "$receiver"
    wait "$receiver" 2>/dev/null || true
}

uptime_s() { read -r REPLY _ </proc/uptime && echo "$REPLY"; }

# By names of their own: a recording has the whole host, and others may flood there.
cp "$tools/flood" "$work/napi-flood"
netns=$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)
prepare_device || skip "no veth device with GRO and deferred interrupts"
{ set_device threaded 1 && set_device threaded 0; } || skip "no threaded NAPI"
"${in_a[@]}" taskset -c "$cpu" "$work/napi-flood" udp-send "$addr_b" 9000 200 "$rate" &
keep $!

recording_start "$work/n.tape" --probes all
for ((turn = 0; turn < turns; turn++)); do
    # Every other turn goes backwards.
    for way in $( ((turn % 2)) && echo "$ways" | tac -s ' ' | xargs || echo "$ways"); do
        begin "$way" || bad "the device cannot be polled by $way"
        from=$(uptime_s)
        wanted=$(($(received) + rate / 10))
        sleep 0.12
        # On a busy machine that brings fewer packets than the rate says.
        wait_for 60 has_come || bad "the flood does not come"
        echo "INSERT INTO turn VALUES ($turn, '$way', $from, $(uptime_s));" >>"$work/turns.sql"
        end
    done
done
recording_stop
db=$work/n.db
import_tape "$work/n.tape" "$db"
check_whole "$work/n.tape" "$db"

# Times of /proc/uptime are CLOCK_BOOTTIME in hundredths of a second: the turns are cut by two at each end.
cat >"$work/costs.sql" <<SQL
CREATE TEMP TABLE turn(turn, way, from_s, to_s);
.read $work/turns.sql
CREATE TEMP TABLE stretch AS SELECT turn, way, cast((from_s + 0.02) * 1e9 AS INTEGER) - ahead AS ts,
    cast((to_s - 0.02) * 1e9 AS INTEGER) - ahead AS te
FROM turn, (SELECT boot_ns - ts AS ahead FROM clock_snapshot LIMIT 1);
CREATE TEMP TABLE poll AS SELECT p.ts + ifnull(dur, 0) AS te, context, work, dur FROM napi_poll p
JOIN net_device d ON d.id = p.device_id WHERE cpu = $cpu AND d.name = 'veth0' AND d.netns = $netns;
CREATE TEMP TABLE spent AS SELECT turn, way, owner, sum(min(s.te, c.ts + c.dur) - max(s.ts, c.ts)) AS ns
FROM stretch s JOIN cpu_slice c ON cpu = $cpu AND c.ts < s.te AND c.ts + c.dur > s.ts GROUP BY 1, 2, 3;
CREATE TEMP TABLE polled AS SELECT turn, way, sum(work) AS packets, count(*) AS polls, sum(work > 0) AS fruitful,
    sum(CASE WHEN context = way THEN work END) AS so, sum(dur IS NULL) AS untimed, sum(dur) AS ns
FROM stretch s JOIN poll p ON p.te BETWEEN s.ts AND s.te GROUP BY 1, 2;
SELECT way, turn, packets, ifnull(so, 0), polls, fruitful, untimed, p.ns,
    (SELECT sum(ns) FROM spent s WHERE s.way = p.way AND s.turn = p.turn AND owner = 'net_rx'),
    (SELECT sum(ns) FROM spent s WHERE s.way = p.way AND s.turn = p.turn AND owner IN ('net_rx', 'net_tx', 'send',
        'recv')),
    ifnull((SELECT sum(ns) FROM spent s WHERE s.way = p.way AND s.turn = p.turn AND owner = 'uncovered'), 0)
FROM polled p ORDER BY 1, 2;
SQL
sqlite3 -batch -noheader -readonly "$db" <"$work/costs.sql" >"$work/costs"
columns='way|turn|packets|of these as told|polls|with packets|of unknown begin|ns of polls|net_rx|network|uncovered'
sed "s/^/# $columns: /" "$work/costs"

# of WAY COLUMN: the sum
of() { awk -F'|' -v way="$1" -v column="$2" '$1 == way { n += $column } END { print n + 0 }' "$work/costs"; }
median() { sort -n | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "" }'; }
# per_packet WAY COLUMN: the median over the turns
per_packet() { awk -F'|' -v way="$1" -v column="$2" '$1 == way && $3 { printf "%.3f\n", $column / $3 }' "$work/costs" |
    median; }
# ratio WAY COLUMN: to softirqs, for each packet: the median over the turns
ratio() {
    awk -F'|' -v way="$1" -v column="$2" '
        $3 { cost[$1, $2] = $column / $3; turns[$2] }
        END { for (t in turns) if (cost["softirq", t] && cost[way, t]) printf "%.3f\n", cost[way,
            t] / cost["softirq", t] }' "$work/costs" | median
}

# agrees WHAT RATIO: here only to a factor of two, since a test judges no speed; the bench (tests/bench/napi.sh) prints
# how close they are. In an emulated guest, whose packets are few, it is only said.
agrees() {
    echo "# $1: $2"
    [[ -z ${NT_EMULATED:-} ]] || return 0
    bar_at_least "$1" "$2" 0.5
    bar_at_most "$1" "$2" 2
}

# A busy machine delays the sender, who then sends more at once than one poll takes: the kernel leaves the rest to a
# softirq. Where no program sees system calls or the loop of polls, a task's polls have no begin, and `info` must say
# so.
"$report" info "$work/n.tape" >"$work/info"
sees_begins=$(grep -cE ' nt_(sys_enter|enter_napi_busy_loop) ' "$work/info" || true)
for way in $ways; do
    at_least "packets received by $way" "$(of "$way" 3)" $((rate * turns / 20))
    bar_at_least "of 100 of these, polled by $way" \
        "$(awk -v a="$(of "$way" 4)" -v b="$(of "$way" 3)" 'BEGIN { printf "%.2f", b ? 100 * a / b : 0 }')" 70
    if [[ $way == busy && $sees_begins == 0 ]]; then
        at_least "info says of how many busy polls the begin is not known" \
            "$(tr -s ' \n' ' ' <"$work/info" | grep -c 'polls that tasks made .* have no known begin')" 1
        continue
    fi
    bar_at_most "polls of unknown begin, of 100" \
        "$(awk -v a="$(of "$way" 7)" -v b="$(of "$way" 5)" 'BEGIN { printf "%.2f", b ? 100 * a / b : 100 }')" 2
    if [[ $way != softirq ]]; then
        agrees "$way: net_rx a packet, of that by softirqs" "$(ratio "$way" 9)"
        # Beside it, what else is the network's: who receives in the same call as he polls has it in his cache.
        agrees "$way: net_rx, net_tx, send and recv a packet, of that by softirqs" "$(ratio "$way" 10)"
    fi
    echo "# $way: net_rx $(per_packet "$way" 9) ns a packet, in polls $(per_packet "$way" 8), all network $(per_packet \
        "$way" 10)"
done

# Each way's packets are in receive runs (probe deliver), so that somebody pays for them.
cat >"$work/paid.sql" <<SQL
SELECT way, sum(r.packets) FROM stretch s JOIN rx_stretch r ON r.cpu = $cpu AND r.ts BETWEEN s.ts AND s.te
JOIN flow f ON f.session_id = r.session_id AND f.id = r.flow_id WHERE f.dport = 9000 AND f.netns = $netns GROUP BY way;
SQL
sed '/^SELECT way, turn/,$d' "$work/costs.sql" | cat - "$work/paid.sql" |
    sqlite3 -batch -noheader -readonly "$db" >"$work/paid"
for way in $ways; do
    [[ $way != busy || $sees_begins != 0 ]] || continue
    bar_at_least "of 100 packets polled by $way, in receive runs" "$(awk -F'|' -v way="$way" -v n="$(of "$way" 3)" '
        $1 == way { print 100 * $2 / n }' "$work/paid")" 95
done

# ---- what a plan without the probes misses, and says ----

# short WAY ARGUMENT...: a short recording of the device polled in that way, as $db
short() {
    begin "$1"
    shift
    may_lose "$record" -o "$work/s.tape" -q --ring-size 64M -d 0.3 "$@" >/dev/null 2>"$work/record.log" ||
        bad "recording $*"
    end
    import_tape "$work/s.tape" "$db"
    "$report" info --json "$work/s.tape" >"$work/info.json"
    rm -r "$work/s.tape"
}
uncovered() { sqlite3 -batch :memory: "SELECT value FROM json_each(readfile('$work/info.json'), '\$.uncovered')
    WHERE value LIKE '%$1%'"; }
net_rx_of() { sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice c JOIN thread t USING (session_id, utid)
    WHERE owner = 'net_rx' AND t.name LIKE '$1'"; }
says() { if [[ $(uncovered "$2") ]]; then ok "$1: $(uncovered "$2")"; else bad "$1"; fi; }

short busy --probes sched,softirq,irq,socket
says "without busypoll, info says" "Busy polling is not recorded"
short busy --probes sched,softirq,irq,socket,busypoll
is "with it, what info says of busy polling not being recorded" "$(uncovered "Busy polling is not recorded")" ""
busy_ns=$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM napi_poll WHERE context = 'busy'")
if [[ $sees_begins != 0 ]]; then
    bar_at_least "with it, ns of polls by the receiver" "$busy_ns" 10000
    # Interrupts come during polls too, and have their own owners; nothing else has.
    sql "$db" "SELECT ifnull(sum(CASE WHEN owner = 'net_rx' THEN ns END), 0), ifnull(sum(CASE WHEN owner IN ('task',
        'send', 'recv') THEN ns END), 0),
            ifnull(sum(ns), 0)
        FROM (SELECT c.owner, min(c.ts + c.dur, p.ts + p.dur) - max(c.ts, p.ts) AS ns
              FROM napi_poll p JOIN cpu_slice c ON c.cpu = p.cpu AND c.ts < p.ts + p.dur AND c.ts + c.dur > p.ts
              WHERE p.context = 'busy' AND p.dur IS NOT NULL)" >"$work/in_polls"
    IFS='|' read -r polling_ns other_ns in_polls_ns <"$work/in_polls"
    is "ns of all owners in these polls" "$in_polls_ns" "$busy_ns"
    is "of that the task's and its operations'" "$other_ns" 0
    bar_at_least "of that net_rx" "$polling_ns" $((busy_ns / 2))
fi
is "rows of other polls without the probe napi" \
    "$(sql "$db" "SELECT count(*) FROM napi_poll WHERE context <> 'busy'")" 0

# A thread is known by its name, whatever is recorded.
short thread --probes sched
bar_at_least "by sched alone, ns of net_rx of the NAPI thread" "$(net_rx_of 'napi/veth0-%')" $((rate * 3 / 10 * 20))
is "by sched alone, ns of it that are task" \
    "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice c JOIN thread t USING (session_id, utid)
    WHERE owner = 'task' AND t.name LIKE 'napi/veth0-%'")" 0

# Asked of all sockets of the host, for as long as a recording takes to read it: the least that can be asked.
busy_read=$(cat /proc/sys/net/core/busy_read)
test_cleanup() { echo "$busy_read" >/proc/sys/net/core/busy_read; }
echo 1 >/proc/sys/net/core/busy_read
short softirq --probes sched,softirq,irq,socket
echo "$busy_read" >/proc/sys/net/core/busy_read
says "with net.core.busy_read on, info says" "Busy polling is on"
finish
