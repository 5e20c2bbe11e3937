#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Stages of the network stack under plain UDP: hardly anything of net_rx is without a name; what stages sum to is the
# owner's exact time, by the command, the view and the flame graph; and perf's own samples of the same time agree.
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/stages_lib.sh
source "$(dirname "$0")/stages_lib.sh"
needs_recorder
perf=()
if command -v perf >/dev/null && [[ -z ${NT_EMULATED:-} ]]; then
    perf=(perf record -q -C 0 -g -k CLOCK_MONOTONIC -e cpu-clock:k -F $((hz - 2)) -o "$work/perf.data")
    "${perf[@]}" -- true >"$work/perf.log" 2>&1 || perf=()
fi

needs_netns
record_flood plain "$addr_b" "${perf[@]}" sleep "$seconds" 2>>"$work/perf.log"
db=$work/plain.db
import_tape "$work/plain.tape" "$db"
check_whole "$work/plain.tape" "$db"
# Of all net_rx 97 % has a name. A loaded host gives few samples: as many may miss it as chance lets once in a thousand
# times, 3.3 sigma.
n=$(sql "$db" "SELECT count(*) FROM stack_sample WHERE owner = 'net_rx'")
due=$(sql "$db" "SELECT CAST(ifnull(sum(dur), 0) * $hz / 1e9 AS INTEGER) FROM cpu_slice WHERE owner = 'net_rx'")
if ((due < 100 && failures == 0)); then skip \
    "the flood got too little of this loaded host: $due samples of net_rx are due"; fi
bar_at_least "of net_rx under UDP, what has a name, by $n samples" \
    "$(awk -v a="$(of plain other share)" -v b="$(of plain no_stack share)" -v c="$(of plain unsampled share)" \
    'BEGIN { print 100 - a - b - c }')" \
    "$(awk -v n="$n" 'BEGIN { printf "%.2f", 97 - 3.3 * sqrt(97 * 3 / (n ? n : 1)) }')"
bar_at_least "samples of net_rx, of $due that are due" "$n" $((due / 2))
for stage in udp_receive wakeup ip_receive; do bar_at_least "$stage in net_rx" "$(of plain $stage share)" 1; done
# In the sender's time: elsewhere another process of the host may receive IPv6.
is "stages that are of the other family" \
    "$(sql "$db" "SELECT count(*) FROM stack_sample JOIN thread USING (session_id, utid)
        WHERE tid = $flood_sender AND stage IN ('udp_receive', 'ip_receive') AND family <> 'inet'
        AND owner = 'net_rx'")" 0
for owner in net_rx net_tx send recv; do
    is "$owner: stages sum to its exact time" \
        "$(awk -F, -v owner=$owner '$2 == owner { sum += $5 } END { printf "%.0f", sum }' "$work/plain.csv")" \
        "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice WHERE owner = '$owner'")"
done
sql "$db" "SELECT owner || ',' || stage || ',' || ifnull(family, '') || ',' || ns FROM net_cost_stage" |
    LC_ALL=C sort >"$work/view"
awk -F, 'NR > 1 { print $2 "," $3 "," $4 "," $5 }' "$work/plain.csv" | LC_ALL=C sort >"$work/command"
succeeds "the view says the same" diff "$work/view" "$work/command"
"$report" flame "$db" --folded >"$work/folded"
is "the flame graph has as much time" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$work/folded")" \
    "$(sql "$db" "SELECT sum(dur) FROM cpu_slice WHERE owner IN ('net_rx', 'net_tx', 'send', 'recv')")"

# perf's clock is another one, of another rate: those of one rate would keep their distance. On a CPU that idles now and
# then a hypervisor may bring a tick late, for one clock at another place than for the other (where a wake-up is sent to
# another CPU): only the sender's is compared. And only while both sampled: before and after, perf is at work on the
# receiver's CPU, and a receiver that does not sleep need not be woken. For the same reason perf has no clock there: all
# of its clocks have one rate, so that one would always tick just before the other.
# Of the samples in the softirq, those with one of these functions anywhere: by its own count, and as the inclusive view
# has it. The difference of two shares, each with its samples' error: 3.3 sigma is passed by chance once in a thousand
# times; and a point for what is net_rx to the one and not to the other.
idle=$(sql "$db" "SELECT (SELECT ifnull(sum(spent_ns), 0) FROM cpu_cost WHERE cpu = 0 AND owner = 'idle') * 100 / dur
    FROM session")
if [[ ${#perf[@]} == 0 ]]; then
    echo "# no perf that works here: its samples are not compared with"
else
    bar_at_most "of the sender's CPU, idle" "$idle" 20
    perf script --ns -i "$work/perf.data" -F time,ip,sym >"$work/perf.stacks" 2>>"$work/perf.log"
    read -r from to < <(awk -v RS= -v start="$(sql "$db" "SELECT start_ts FROM session")" '{ sub(/[.]/, "", $1)
        to = $1 - start; if (NR == 1) from = to } END { printf "%.0f %.0f\n", from, to }' "$work/perf.stacks")
    "$report" stages "$db" --inclusive --cpu 0 --from "${from}ns" --to "${to}ns" --csv >"$work/inclusive.csv"
    while read -r stage functions; do
        read -r theirs n < <(awk -v RS= -v functions=" ($functions)" '/ net_rx_action/ && !/ bpf_trace_run/ {
            sub(/ net_rx_action.*/, ""); all++; if ($0 ~ functions) some++ } END { printf "%.2f %d\n",
                all ? 100 * some / all : 0, all }' "$work/perf.stacks")
        read -r ours m < <(awk -F, -v stage="$stage" 'NR > 1 && $2 == "net_rx" { if ($3 == "softirq") n = $8;
            if ($3 == "tracing") t = $4; if ($3 == "softirq") all = $4; if ($3 == stage) ns = $4 } END {
                printf "%.2f %d\n", (all > t ? 100 * ns / (all - t) : 0), n }' "$work/inclusive.csv")
        bar_at_most "$stage: $ours % of net_rx by $m samples, $theirs % by $n of perf's: apart" \
            "$(awk -v a="$ours" -v b="$theirs" 'BEGIN { print (a > b ? a - b : b - a) }')" \
            "$(awk -v a="$ours" -v n="$m" -v b="$theirs" -v m="$n" 'BEGIN { printf "%.2f",
            1 + 3.3 * sqrt(a * (100 - a) / (n ? n : 1) + b * (100 - b) / (m ? m : 1)) }')"
    done <<'END'
udp_receive (__udp4_lib_rcv|udp_queue_rcv|udp_unicast_rcv_skb|__udp_enqueue_schedule_skb)
wakeup (sock_def_readable|__wake_up|ep_poll_callback)
local_delivery (ip_local_deliver|ip_protocol_deliver_rcu)
END
fi
finish
