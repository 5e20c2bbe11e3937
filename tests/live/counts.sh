#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# One recording of a flood, of every call and of lost packets, held against the kernel's own counts:
#
# - Programs: with the kernel's statistics on, each one's run count is, to the event, what the program says of its runs:
#   recorded + lost + noted + skipped by reason. And bpftool sees the same programs with the same count.
# - Softirqs: per CPU and vector, the change of /proc/softirqs between two snapshots lies between the records in the
#   snapshots' inner and outer window. Asked of `check`, and worked out again in SQL.
# - Probes drops and retransmits: as many datagrams without a socket as /proc/net/snmp counts, with the kernel's reason
#   and a place in its code; as many segments sent again as it counts, for a connection that nobody answers.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

nobody=198.18.0.77
netns_of_a=$("${in_a[@]}" stat -Lc %i /proc/self/ns/net)
netns_of_b=$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)

# A neighbour that is told of and not there: what b sends to it arrives in a, and is nobody's.
ip -n "$netns_b" neigh add "$nobody" lladdr 02:00:00:00:00:77 dev veth0
flood_start "$([[ -n ${NT_EMULATED:-} ]] && echo 500 || echo 20000)"
# Port 9000 in its namespace: from then on the flood has a socket.
wait_for 20 grep -q ':2328 ' "/proc/$flood_receiver/net/udp" || bad "no receiver"
no_ports=$(net_count in_b Udp NoPorts)
recording_start "$work/c.tape" --bpf-stats --probes default,drops,retransmits
"${in_a[@]}" "$tools/messages" udp-send "$addr_b" 9099 200 100 1000 >/dev/null || true
# In a alone, so that in b nothing else is sent again.
"${in_a[@]}" "$tools/sockmatrix" "$(scaled 10)" >/dev/null
# Of the kernel itself, by another program: name and run count of each program that this recorder holds. Not where some
# are at perf events (type 5): bpftool changes maps of its own, and the kernel runs none of those meanwhile.
bpftool=
grep -qs $'^prog_type:\t5$' "/proc/$recorder"/fdinfo/* || bpftool=$(find_bpftool)
if [[ -n $bpftool ]]; then
    for id in $(programs_of "$recorder"); do
        "$bpftool" prog show id "$id" --json
    done >"$work/bpftool.jsonl"
fi
again=$(net_count in_b Tcp RetransSegs)
# sent_again: whether a segment has been since then
sent_again() { (($(net_count in_b Tcp RetransSegs) > again)); }
# The time that this takes is the softirqs', too: in it lie some snapshots.
# shellcheck disable=SC2016
"${in_b[@]}" bash -c 'exec 3<>/dev/tcp/$0/9' "$nobody" 2>/dev/null &
caller=$!
keep $caller
wait_for 120 sent_again || bad "no segment is sent again"
kill $caller && wait $caller || true
again=$(($(net_count in_b Tcp RetransSegs) - again))
no_ports=$(($(net_count in_b Udp NoPorts) - no_ports))
recording_stop
db=$work/c.db
import_tape "$work/c.tape" "$db"
check_whole "$work/c.tape" "$db"

# ---- programs ----

sqlite3 -batch -noheader -readonly "$db" >"$work/programs" <<'SQL'
CREATE TEMP TABLE last AS SELECT program, name, value FROM self_cost s WHERE program IS NOT NULL
AND ts = (SELECT max(ts) FROM self_cost WHERE program IS NOT NULL);
SELECT program, sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) AS runs,
       sum(CASE WHEN name IN ('recorded', 'lost') OR name LIKE 'noted%' OR name LIKE 'skipped%' THEN value
           ELSE 0 END) AS said,
       sum(CASE WHEN name = 'misses' THEN value ELSE 0 END) AS misses,
       sum(CASE WHEN name = 'run_ns' THEN value ELSE 0 END) AS run_ns
FROM last GROUP BY program ORDER BY program;
SQL
while IFS='|' read -r program runs said misses run_ns; do
    is "$program ($((runs ? run_ns / runs : 0)) ns a run, $misses missed): runs, by its own count and the kernel's" \
        "$said" "$runs"
done <"$work/programs"
# These see each event, also where the kernel may preempt them.
is "runs that the kernel left out at system calls, ends of operations, switches and softirqs" "$(awk -F'|' '
    $1 ~ /^nt_(sys_enter|sock_(send|recv)_length|sched_switch|softirq_(entry|exit))$/ { n += $4 }
    END { print n + 0 }' "$work/programs")" 0
at_least "programs" "$(wc -l <"$work/programs")" 8
is "of these, programs of drops and retransmits" \
    "$(grep -cE '^nt_(kfree_skb|tcp_retransmit_skb|tcp_retransmit_synack)\|' "$work/programs")" 3
at_least "runs in all" "$(awk -F'|' '{ n += $2 } END { print n }' "$work/programs")" "$(scaled 100000)"

if [[ -n $bpftool ]]; then
    # Names in the kernel are cut to 15 characters. At that moment the count was between the first snapshot and the
    # last.
    sed '1s/^/[/; $!s/$/,/; $s/$/]/' "$work/bpftool.jsonl" >"$work/bpftool.json"
    is "programs that bpftool saw not at all, or with another count" "$(sqlite3 -batch -noheader -readonly "$db" "
        WITH seen AS (SELECT json_extract(value, '\$.name') AS name, ifnull(json_extract(value, '\$.run_cnt'),
            0) AS runs
                      FROM json_each(readfile('$work/bpftool.json'))),
        known AS (SELECT program, min(value) AS first, max(value) AS last FROM self_cost WHERE name = 'runs'
            GROUP BY program)
        SELECT count(*) FROM known WHERE NOT EXISTS (
            SELECT 1 FROM seen WHERE substr(program, 1, 15) = substr(name, 1, 15) AND runs BETWEEN first AND last)")" 0
fi

# ---- softirqs ----

is "interrupts without a name" "$(sql "$db" "SELECT count(*) FROM irq_slice WHERE name GLOB 'irq [0-9]*'")" 0

sqlite3 -batch -noheader -readonly "$db" >"$work/windows" <<'SQL'
CREATE TEMP TABLE snapshot AS SELECT cpu, name, ts_begin, ts_end, value FROM proc_counter
WHERE source = '/proc/softirqs' AND cpu IS NOT NULL;
CREATE TEMP TABLE window AS SELECT * FROM (
    SELECT cpu, name, ts_begin AS outer_begin, ts_end AS inner_begin, value,
           lead(ts_begin) OVER w AS inner_end, lead(ts_end) OVER w AS outer_end, lead(value) OVER w - value AS delta
    FROM snapshot WINDOW w AS (PARTITION BY cpu, name ORDER BY ts_begin))
WHERE delta IS NOT NULL AND outer_begin >= (SELECT start_ts FROM session) AND outer_end <= (SELECT end_ts FROM session);
CREATE TEMP TABLE run AS SELECT cpu, vec, ts FROM softirq_slice;
CREATE TEMP TABLE hole AS SELECT cpu, ts, ts + dur AS te FROM cpu_slice WHERE owner = 'uncovered';
CREATE INDEX run_at ON run (cpu, vec, ts);
SELECT cpu, name, delta,
       (SELECT count(*) FROM run r WHERE r.cpu = w.cpu AND vec = name AND ts BETWEEN inner_begin AND inner_end)
           AS least,
       (SELECT count(*) FROM run r WHERE r.cpu = w.cpu AND vec = name AND ts BETWEEN outer_begin AND outer_end) AS most,
       (SELECT count(*) || '|' || ifnull(sum(min(h.te, outer_end) - max(h.ts, outer_begin)), 0) FROM hole h
           WHERE h.cpu = w.cpu AND h.ts < outer_end AND h.te > outer_begin) AS holes_and_their_ns
FROM window w ORDER BY cpu, name, outer_begin;
SQL
at_least "windows compared" "$(wc -l <"$work/windows")" 20
at_least "softirqs in them" "$(awk -F'|' '{ n += $3 } END { print n }' "$work/windows")" "$(scaled 10000)"
# The kernel counts a softirq a moment before its handler begins: one may be counted before a snapshot and begin after
# it. That one is missing from the next change: `possible` is how many may be ahead, 0 or 1, at the last snapshot.
# Where a stretch is uncovered (a kernel may hide a process of its own from tracing), the kernel may have counted more.
cat >"$work/otherwise.awk" <<'AWK'
$1 "|" $2 != of { of = $1 "|" $2; possible[0] = possible[1] = 1 }
{
    next_possible[0] = next_possible[1] = 0
    for (before = 0; before < 2; before++)
        for (after = 0; after < 2; after++) {
            begun = $3 + before - after
            if (possible[before] && begun >= $4 && ($6 || begun <= $5)) next_possible[after] = 1
        }
    unknown = !next_possible[0] && !next_possible[1]
    if (unknown) print
    for (after = 0; after < 2; after++) possible[after] = unknown || $6 || next_possible[after]
}
AWK
is "windows where the kernel counted otherwise" "$(awk -F'|' -f "$work/otherwise.awk" "$work/windows" |
    tee "$work/otherwise" | wc -l)" 0
sed 's/^/    CPU|vector|counted|least|most|uncovered stretches|ns: /' "$work/otherwise" | head -20
# One in 10 us of it: the most that was seen, beside programs that sync their files, is one in 66 us.
is "windows where it counted more than can have been in the time uncovered" \
    "$(awk -F'|' '$3 > $5 + 1 + $6 + $7 / 10000' "$work/windows" | wc -l)" 0
echo "# windows without an uncovered stretch: $(awk -F'|' '$6 == 0' "$work/windows" | wc -l)"
# As wide as a snapshot takes.
bar_at_most "widest window, in softirqs" \
    "$(awk -F'|' '$5 - $4 > m { m = $5 - $4 } END { print m + 0 }' "$work/windows")" 20000

# ---- drops and retransmits ----

at_least "datagrams without a socket, by /proc/net/snmp" "$no_ports" 10
is "drops for that reason, of IPv4, at that device" \
    "$(sql "$db" "SELECT count(*) FROM skb_drop s JOIN net_device d ON d.id = s.device_id
    WHERE reason = 'NO_SOCKET' AND d.netns = $netns_of_b AND d.name = 'veth0' AND protocol = 2048")" "$no_ports"
is "of these, in a function that is about UDP" \
    "$(sql "$db" "SELECT count(*) FROM skb_drop s JOIN net_device d ON d.id = s.device_id
    WHERE reason = 'NO_SOCKET' AND d.netns = $netns_of_b AND location GLOB '*udp*+0x*'")" "$no_ports"
of_ours="FROM skb_drop s JOIN net_device d ON d.id = s.device_id WHERE d.netns IN ($netns_of_a, $netns_of_b)"
is "drops here without a place" "$(sql "$db" "SELECT count(*) $of_ours AND location NOT GLOB '?*+0x*'")" 0
is "drops here whose reason has no name" "$(sql "$db" "SELECT count(*) $of_ours AND reason NOT GLOB '[A-Z]*'")" 0
at_least "segments sent again, by /proc/net/snmp" "$again" 1
are_seen "segments sent again" "$db" "$(sql "$db" "SELECT count(*) FROM tcp_retransmit r
    JOIN socket s ON s.id = r.socket_id WHERE s.netns = $netns_of_b AND s.dport = 9 AND what = 'data'")" "$again"
sql "$db" "SELECT '# ' || count(*) || ' ' || reason || ' at ' || location FROM skb_drop GROUP BY reason, location"
sql "$db" "SELECT '# ' || what || ', ' || state || ', ' || length FROM tcp_retransmit"
finish
