#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PREEMPT_RT: real-time tasks preempt softirqs, a thousand times and more. The time while a softirq's task is away is
# not the softirq's; what it does when it is back is. By the context switches on the tape (rt_softirqs.sql) to the
# nanosecond; by ftrace, which saw the same events in its own way (rt_softirqs.awk); and by the clocks of the preempting
# tasks. To be run on such a kernel, elsewhere it is skipped.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ $(uname -v) == *PREEMPT_RT* ]] || skip "not a PREEMPT_RT kernel"
needs_recorder
needs_netns
# One wake of fifteen preempts a softirq. How many come in a second depends on the host, so they are counted.
enough_wakes=18000 seconds=7 rounds=9
trace=/sys/kernel/tracing/instances/nettape-test

# shellcheck disable=SC2317  # lib.sh calls it
test_cleanup() { [[ ! -d $trace ]] || rmdir "$trace"; }

# ftrace, in a buffer of its own.
trace_start() {
    local event
    mkdir "$trace" || skip "no ftrace"
    echo mono >"$trace/trace_clock"
    echo 70000 >"$trace/buffer_size_kb"
    for event in sched/sched_switch irq/softirq_entry irq/softirq_exit; do echo 1 >"$trace/events/$event/enable"; done
}

# sum_of_wakes FILE...: of what preempters said
sum_of_wakes() { awk '{ n += $2 } END { print n + 0 }' "$@"; }

load() {
    local cpu round
    # A veth pair hands a datagram over in the sender's own softirq: so the sender is in softirqs often, inside of
    # `send`.
    "${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
    flood=($!)
    "${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 &
    flood+=($!)
    for pid in "${flood[@]}"; do keep "$pid"; done
    for ((round = 0; round < rounds; round++)); do
        preempters=()
        for cpu in 0 1; do
            "$tools/preempter" "$seconds" "preempter-$cpu" "$cpu" 500 50 >>"$work/preempter-$cpu" &
            preempters+=($!)
            keep $!
        done
        wait "${preempters[@]}"
        (($(sum_of_wakes "$work"/preempter-[01]) < enough_wakes)) || break
    done
    kill "${flood[@]}"
}

# The load begins after, and ends before, the kernel patches its code to switch tracepoints on and off: boot.sh says
# why.
trace_start
recording_start "$work/p.tape"
load
recording_stop
echo 0 >"$trace/tracing_on"
cp "$trace/trace" "$work/trace"
[[ -z ${NT_GUEST_OUT:-} ]] || { cp -r "$work/p.tape" "$NT_GUEST_OUT/rt.tape";
    head -300000 "$work/trace" >"$NT_GUEST_OUT/rt.trace"; }
db=$work/p.db
import_tape "$work/p.tape" "$db"
check_whole "$work/p.tape" "$db"

sqlite3 -batch -noheader "$db" <"$(dirname "$0")/rt_softirqs.sql" >"$work/figures"
figure() { sed -n "s/^$1|//p" "$work/figures"; }
sed 's/^/    /' "$work/figures"
sql "$db" "
    SELECT '    ran ' || count(*) || ' ' || context || ' in ' || who || ' (' || group_concat(DISTINCT vec) || ')'
    FROM (SELECT context, vec, CASE WHEN name LIKE '%/%' THEN substr(name, 1, instr(name, '/')) ELSE name END AS who
          FROM softirq_slice JOIN thread USING (session_id, utid)) GROUP BY context, who ORDER BY count(*) DESC
          LIMIT 12"

at_least "softirqs preempted" "$(figure preempted)" 1000
at_least "of those, while a real-time task ran" "$(figure by_rival)" 1000
at_least "of those preempted, inside an operation" "$(figure in_op)" 100
at_least "ms of net_rx" "$(figure net_rx_ms)" 100
is "preempted softirqs that have not exactly the time that their task was on the CPU" "$(figure unequal)" 0
is "softirq time of a task that was not on the CPU" "$(figure elsewhere)" 0
is "softirqs of others while a real-time task was on the CPU" "$(figure in_rival)" 0
is "the same, begun before it came" "$(figure before_rival)" 0
is "softirqs whose begin was not seen" "$(figure no_begin)" 0
is "softirqs said to be called by an interrupt" "$(figure by_irq)" 0
# Since 6.18 a kernel may be built without the lock that lets one softirq at a time be open on a CPU.
if ! grep -q '^# CONFIG_PREEMPT_RT_NEEDS_BH_LOCK is not set' "/lib/modules/$(uname -r)/config" 2>/dev/null; then
    is "softirqs begun on a CPU before another's end" "$(figure at_once)" 0
fi
is "ns uncovered" "$(figure uncovered_ns)" 0

# The figures of ftrace for the same time. Where programs at tracepoints may be preempted, a switch may come between
# ftrace's program and ours: it did so at 3 to 20 of a thousand.
between=$("$report" info "$work/p.tape" | grep -c ' tp:softirq_exit') || true
is "events that ftrace lost" "$(cat "$trace"/per_cpu/cpu*/stats | awk '/overrun|dropped/ { n += $NF } END {
    print n }')" 0
read -r from to < <(sql "$db" "SELECT (start_ts / 1e9) || ' ' || ((start_ts + dur) / 1e9) FROM session")
awk -v from="$from" -v to="$to" -f "$(dirname "$0")/rt_softirqs.awk" "$work/trace" | sort -n >"$work/ftrace"
is "CPUs with softirqs, by ftrace" "$(wc -l <"$work/ftrace")" 2
while read -r cpu spans preempted on_ns; do
    read -r our_spans our_preempted our_ns < <(tr '|' ' ' < <(sed -n "s/^cpu$cpu|//p" "$work/figures"))
    at_most "CPU $cpu: softirqs, beside ftrace's $spans (the ends of the recording)" \
        $((our_spans > spans ? our_spans - spans : spans - our_spans)) 2
    at_most "CPU $cpu: preempted, beside ftrace's $preempted" \
        $((our_preempted > preempted ? our_preempted - preempted : preempted - our_preempted)) \
        $((2 + between * preempted / 20))
    share=$(awk -v a="$our_ns" -v b="$on_ns" 'BEGIN { print a / b }')
    bar_at_least "CPU $cpu: time in softirqs over ftrace's $on_ns ns" "$share" 0.95
    bar_at_most "CPU $cpu: the same" "$share" 1.05
done <"$work/ftrace"

for cpu in 0 1; do
    clock_ns=$(awk '{ ns += $1 } END { printf "%.0f", ns }' "$work/preempter-$cpu")
    wakes=$(sum_of_wakes "$work/preempter-$cpu")
    # The kernel begins a task's time at its wake-up when that is what switches to it (it saves itself a look at the
    # clock), we when it is switched to: some 20 us of an emulated machine, at each wake.
    slices_ns=$(sql "$db" "SELECT sum(dur) FROM sched_slice JOIN thread USING (session_id, utid)
        WHERE name = 'preempter-$cpu'")
    share=$(awk -v s="$slices_ns" -v c="$clock_ns" 'BEGIN { print s / c }')
    at_least "preempter-$cpu: wakes" "$wakes" 1000
    bar_at_least "preempter-$cpu: slices over its own clock, $clock_ns ns" "$share" 0.8
    bar_at_most "preempter-$cpu: the same" "$share" 1.02
done
finish
