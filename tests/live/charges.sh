#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who pays for net_rx (rx_cost): the processes that received, in shares that are known. Two that got packets of one sort
# at 1:3 pay 1:3; requests and answers over loopback are paid by their two processes; a bulk transfer by its ends. With
# GRO the same, and its lists are seen as such.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

rounds=$(scaled 10000)
requests=$(scaled 20000)
messages=$(scaled 4000)

# receiver NAME COMMAND...: in b, until it is ready. Its input is held open by descriptor 9, its number is in $receiver.
receiver() {
    local name=$1
    shift
    rm -f "$work/$name" # what an earlier one said
    "${in_b[@]}" "$tools/payers" "$@" <"$work/input" >"$work/$name" 9>&- &
    receiver=$!
    keep $receiver
    wait_for 10 grep -q ready "$work/$name"
}
# of_net_rx DB CONDITION: which part of all net_rx they pay for
of_net_rx() {
    sql "$1" "SELECT round(1.0 * sum(CASE WHEN $2 THEN spent_ns ELSE 0 END) / sum(spent_ns), 4) FROM rx_cost AS r
        LEFT JOIN process AS p USING (session_id, upid)"
}
# record_it NAME COMMAND...: into $work/NAME.db; what is charged is what was received, and adds up
record_it() {
    local name=$1
    shift
    recording_start "$work/$name.tape" --probes default,deliver
    "$@"
    recording_stop
    import_tape "$work/$name.tape" "$work/$name.db"
    check_whole "$work/$name.tape" "$work/$name.db"
    is "$name: net_rx is charged" "$(sql "$work/$name.db" "SELECT (SELECT sum(spent_ns) FROM rx_cost) -
        (SELECT sum(dur) FROM cpu_slice WHERE owner = 'net_rx')")" 0
    sql "$work/$name.db" "SELECT '# ' || payer || ' ' || ifnull(p.name || ' ' || p.pid, '') || ': ' || sum(spent_ns) ||
        ' ns, ' || sum(exact_ns) || ' to ' || sum(most_ns) || ', ' || sum(packets) || ' packets' FROM rx_cost LEFT JOIN
        process AS p USING (session_id, upid) GROUP BY payer, upid ORDER BY sum(spent_ns) DESC LIMIT 5"
}

# ---- 1:3 ----

# Nobody waits for these packets, so that none wakes a process: they differ in nothing but their port.
rates() {
    mkfifo "$work/input"
    exec 9<>"$work/input"
    receiver few hold "$addr_b" 9301
    few=$receiver
    receiver many hold "$addr_b" 9302
    many=$receiver
    "${in_a[@]}" "$tools/payers" send "$addr_b" 9301 "$rounds"
}
# Descriptor 9 is closed for both at once; then they read.
rates_end() {
    exec 9>&-
    wait "$few" "$many"
    rm "$work/input"
}
# Once before, since the first packets take longer.
rates
rates_end
recording_start "$work/rates.tape" --probes default,deliver
rates
rates_end
recording_stop
db=$work/rates.db
import_tape "$work/rates.tape" "$db"
check_whole "$work/rates.tape" "$db"
paid="FROM rx_cost AS r JOIN process AS p USING (session_id, upid) WHERE payer = 'socket' AND p.pid"
is "packets of the one" "$(sql "$db" "SELECT sum(packets) $paid = $few")" "$(tail -1 "$work/few")"
is "packets of the other" "$(sql "$db" "SELECT sum(packets) $paid = $many")" "$(tail -1 "$work/many")"
is "of the one, all" "$(tail -1 "$work/few")" "$rounds"
ratio=$(sql "$db" "SELECT round((SELECT 1.0 * sum(spent_ns) $paid = $many) / (SELECT sum(spent_ns) $paid = $few), 3)")
if [[ -n ${NT_EMULATED:-} ]]; then
    # What a packet takes there is chance: the emulator translates code as it goes, and its host does other things.
    echo "# 1:3, the other pays $ratio times as much"
else
    bar_at_most "1:3, the other pays $ratio times as much, off by" "$(awk -v r="$ratio" \
        'BEGIN { d = r / 3 - 1; print d < 0 ? -d : d }')" 0.03
fi

# ---- two processes, and a bulk transfer ----

questions() {
    : >"$work/input"
    receiver answer answer 127.0.0.1 9303 "$requests"
    "${in_b[@]}" "$tools/payers" ask 127.0.0.1 9303 "$requests" &
    asker=$!
    wait "$asker" "$receiver"
}
record_it questions questions
bar_at_most "requests and answers: not paid by their processes" \
    "$(of_net_rx "$work/questions.db" "p.pid IS NULL OR p.pid NOT IN ($asker, $receiver)")" 0.03

bulk() {
    "${in_b[@]}" "$tools/messages" tcp-recv "$addr_b" 9304 "$messages" 20000 0 >"$work/received" &
    reader=$!
    keep $reader
    # 9304, which listens
    wait_for 10 "${in_b[@]}" grep -q ':2458 00000000:0000 0A' /proc/net/tcp
    "${in_a[@]}" "$tools/messages" tcp-send "$addr_b" 9304 "$messages" 20000 50 >"$work/sent" &
    writer=$!
    wait "$reader" "$writer"
}
not_paid="p.pid IS NULL OR p.pid NOT IN"
record_it bulk bulk
bar_at_most "bulk: not paid by its ends" "$(of_net_rx "$work/bulk.db" "$not_paid ($reader, $writer)")" 0.1
is "bulk, without GRO: lists" "$(sql "$work/bulk.db" "SELECT count(*) FROM rx_stretch WHERE is_listed")" 0

# ---- GRO ----

if command -v ethtool >/dev/null && "${in_b[@]}" ethtool -K veth0 gro on 2>/dev/null &&
    "${in_a[@]}" ethtool -K veth0 tso off gro on 2>/dev/null; then
    record_it gro bulk
    bar_at_most "bulk with GRO: not paid by its ends" \
        "$(of_net_rx "$work/gro.db" "$not_paid ($reader, $writer)")" 0.1
    # What b receives from the device comes in lists.
    is "with GRO: what came in no list" "$(sql "$work/gro.db" "SELECT count(*) FROM rx_stretch AS r JOIN flow AS f ON
        f.session_id = r.session_id AND f.id = r.flow_id WHERE f.dport = 9304 AND NOT is_listed")" 0
    at_least "with GRO: lists" "$(sql "$work/gro.db" "SELECT count(*) FROM rx_stretch WHERE is_listed")" 1
else
    echo "# no GRO here"
fi
finish
