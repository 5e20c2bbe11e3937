#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe stacks under a UDP flood: as many samples as the clock must give, each accounted for; every frame of the
# kernel's with a name, also in a module that was loaded meanwhile; no harm by a program whose file is gone; what a
# sample says that it interrupted, beside what the timeline says; and shares of time by samples beside those by the
# timeline's nanoseconds and by perf's own samples of the same clock.
#
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
hz=999
# Where CPUs are emulated a clock's tick may come late by more than a period (then the kernel leaves out the next), and
# what a program needs between two of its instructions is long beside the traffic.
least=90 agree=85 off=4
if [[ -n ${NT_EMULATED:-} ]]; then least=30 agree=50 off=15; fi
has_veth() { grep -q '^veth ' /proc/modules 2>/dev/null; }
had_veth=0
if has_veth; then had_veth=1; fi

perf=()
if command -v perf >/dev/null && [[ -z ${NT_EMULATED:-} ]]; then
    # Not at our rate: two clocks of one rate keep their distance, and what the first does to the traffic is what the
    # second sees.
    perf=(perf record -q -C 0 -g -k CLOCK_MONOTONIC -e cpu-clock:k -F "$((hz - 2))" -o "$work/perf.data")
    "${perf[@]}" -- true >"$work/perf.log" 2>&1 || perf=()
fi

# apart A B: by how much two numbers differ
apart() { awk -v a="$1" -v b="$2" 'BEGIN { print (a > b ? a - b : b - a) }'; }

# adds_up DB: runs of the program = what became of them
adds_up() {
    is "runs that are not accounted for" \
        "$(sql "$1" "SELECT sum(CASE WHEN name = 'runs' THEN value WHEN name IN ('run_ns', 'misses') THEN 0 ELSE -value
            END)
        FROM self_cost_last WHERE program = 'nt_stack_sample'")" 0
    is "samples on the tape are those recorded" \
        "$(sql "$1" "SELECT (SELECT count(*) FROM stack_sample) - sum(value) FROM self_cost_last
        WHERE program IN ('nt_stack_sample', 'nt_tick_end') AND name = 'recorded'")" 0
}

# per_cpu DB: every tick of the clock ran the program. A virtual CPU that idles is woken late where its host is busy,
# and may miss most; where it missed nearly all (3 of 100 came, on one that idled 65 % of the time), nothing is judged.
uncounted=
per_cpu() {
    local cpu n most idle
    while IFS='|' read -r cpu n most idle; do
        echo "# CPU $cpu: $n samples of $most ticks; idle for $idle % of the time"
        at_most "CPU $cpu: samples" "$n" "$((most + 2))"
        if ((idle > 2 && n > 0 && n < most / 10)); then
            uncounted="CPU $cpu idled $idle % of the time and had $n of $most ticks: its samples were not counted"
        else bar_at_least "CPU $cpu: samples" "$n" "$((most * (idle > 2 ? 10 : least) / 100))"; fi
    done < <(sql "$1" "SELECT s.cpu, count(*), dur * $hz / 1000000000, (SELECT coalesce(sum(spent_ns), 0)
        FROM cpu_cost AS c WHERE c.cpu = s.cpu AND owner = 'idle') * 100 / dur
        FROM stack_sample AS s JOIN session USING (session_id) WHERE ts BETWEEN start_ts AND end_ts GROUP BY s.cpu")
}

# import_stacks TAPE DB: with the frames of all stacks beside their names
import_stacks() {
    import_tape "$1" "$2"
    sqlite3 -batch "$2" "CREATE TABLE named_frame AS SELECT f.stack_id, pos, depth, stack.kind, name FROM frame AS f
        JOIN stack ON stack.session_id = f.session_id AND stack.id = f.stack_id LEFT JOIN symbol ON symbol.session_id
        = f.session_id AND symbol.id = f.symbol_id"
}

# has_ended PID: also one that nobody has waited for yet
has_ended() { [[ ! -e /proc/$1/stat || $(awk '{ print $3 }' "/proc/$1/stat") == Z ]]; }

# has_function DB WHAT PATTERN: some sample has a frame of such a name
has_function() { bar_at_least "$2" "$(sql "$1" "SELECT count(*) FROM named_frame WHERE name GLOB '$3'")" 1; }

# So that one CPU is always at work, and does one thing: its clock ticks when it is due.
pin_flood() { { taskset -pc 0 "$flood_sender" && taskset -pc 1 "$flood_receiver"; } >"$work/taskset.log"; }

# ---- all stacks, of user space too ----
recording_start "$work/a.tape" --bpf-stats --probes default,stacks --stacks all --user-stacks -F "$hz"
needs_netns
flood_start
pin_flood
sleep 2
recording_stop
kill "$flood_sender" "$flood_receiver" 2>/dev/null || true
db=$work/a.db
import_stacks "$work/a.tape" "$db"
check_whole "$work/a.tape" "$db"
adds_up "$db"
per_cpu "$db"
bar_at_most "samples of the kernel's that could not be unwound, of a thousand" \
    "$(sql "$db" "SELECT 1000 * sum(error IS NOT NULL AND error <> 16) / count(*) FROM stack_sample")" 1
is "stacks that samples refer to, and nobody knows" \
    "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE stack_id NOT IN (SELECT id FROM stack)
    OR user_stack_id NOT IN (SELECT id FROM stack)")" 0
is "frames of the kernel without a name" \
    "$(sql "$db" "SELECT count(*) FROM named_frame WHERE kind = 'kernel' AND (name IS NULL OR name = '[unknown]')")" 0
is "stacks that have not as many frames as they are deep" \
    "$(sql "$db" "SELECT count(*) FROM (SELECT count(*) AS n, max(pos) + 1 AS last, depth FROM named_frame
        GROUP BY stack_id)
    WHERE n <> depth OR last <> depth")" 0
has_function "$db" "frames of the receive path" 'ip_rcv*'
has_function "$db" "frames of UDP's sending" 'udp_sendmsg'
has_function "$db" "frames of UDP's receiving" '*udp*_rcv*'
has_function "$db" "frames of polls" '__napi_poll*'
has_function "$db" "frames of the backlog" 'process_backlog'
bar_at_least "samples of NET_RX that stand in a softirq, of a hundred" \
    "$(sql "$db" "SELECT 100 * sum(is_softirq) / count(*) FROM stack_sample JOIN
    (SELECT stack_id, max(name GLOB 'handle_softirqs*' OR name GLOB '__do_softirq*'
        OR name GLOB '*softirqentry*') AS is_softirq FROM named_frame GROUP BY stack_id) USING (stack_id)
    WHERE context = 'net_rx'")" 95
bar_at_least "samples of the network's whose owner is what they say they interrupted, of a hundred" \
    "$(sql "$db" "SELECT 100 * sum(owner = context) / count(*) FROM stack_sample
    WHERE context IN ('net_rx', 'send', 'recv') AND owner <> 'uncovered'")" "$agree"
is "samples in user space that are of another's time than the task's" \
    "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE in_user AND (stack_id IS NOT NULL OR context <> 'task')")" 0

# The share of an owner's samples is its share of the time, on a CPU that is at work and whose clock ticks when it is
# due. Where a virtual one's is late or left out, it is not at random that it is; and a tick that comes while a receiver
# goes to sleep, with interrupts off, meets the next task: also another's, on a host with other work. The clock cannot
# see the time of a hard interrupt.
at_work=0 is_loaded=0
while IFS='|' read -r cpu due idle others owner samples time; do
    ((others <= 20)) || is_loaded=1
    if ((due < least || idle + others > 20)); then
        echo "# CPU $cpu: $due % of the ticks came, idle for $idle % of the time, others' for $others %;" \
            "$owner has $samples % of the samples, $time % of the time"
    else
        bar_at_most "CPU $cpu, $owner: $samples % of the samples, $time % of the time" \
            "$(apart "$samples" "$time")" "$off"
        at_work=1
    fi
done < <(sql "$db" "SELECT t.cpu, (SELECT 100 * count(*) / (dur * $hz / 1000000000) FROM session CROSS
    JOIN stack_sample AS x WHERE x.cpu = t.cpu AND x.ts BETWEEN start_ts AND end_ts),
    (SELECT coalesce(sum(spent_ns), 0) FROM cpu_cost AS c WHERE c.cpu = t.cpu AND owner = 'idle') * 100 / (SELECT dur
        FROM session),
    (SELECT coalesce(sum(c.dur), 0) FROM cpu_slice AS c JOIN thread USING (utid) WHERE c.cpu = t.cpu AND owner = 'task'
        AND name <> 'flood') * 100 / (SELECT dur FROM session),
    t.owner, round(100.0 * coalesce(n, 0) / sum(n) OVER w, 2), round(100.0 * spent / sum(spent) OVER w, 2)
    FROM (SELECT cpu, owner, sum(dur) AS spent FROM cpu_slice WHERE owner NOT IN ('hardirq', 'uncovered', 'offline',
        'idle') GROUP BY cpu, owner) AS t
    LEFT JOIN (SELECT cpu, owner, count(*) AS n FROM stack_sample GROUP BY cpu, owner) AS s ON s.cpu = t.cpu
    AND s.owner = t.owner
    WINDOW w AS (PARTITION BY t.cpu)")
((is_loaded)) || bar_at_least "CPUs at work whose clock ticked" "$at_work" 1

if ((!had_veth)) && has_veth; then
    has_function "$db" "frames of veth" 'veth_*'
    is "functions of veth's that are said to be elsewhere than in the module, loaded while it was recorded" \
        "$(sql "$db" "SELECT count(*) FROM symbol WHERE name = 'veth_xmit' AND module IS NOT 'veth'")" 0
else
    echo "# no module was loaded meanwhile (veth is built in, or was there): naming those is not tested here"
fi

# ---- only the network's; with programs at perf events, inside which the kernel takes no stacks ----
events=(--plan events)
if ! may_lose "$record" -q -o "$work/try.tape" -d 0.01 "${events[@]}" 2>"$work/refused"; then
    events=()
    succeeds "the kernel has no such events" grep -q "cannot serve the probe socket by --plan events" "$work/refused"
fi
flood_start
pin_flood
recording_start "$work/n.tape" --bpf-stats --probes default,stacks "${events[@]}"
"${perf[@]}" sleep 2 >>"$work/perf.log" 2>&1
recording_stop
kill "$flood_sender" "$flood_receiver" 2>/dev/null || true
db=$work/n.db
import_stacks "$work/n.tape" "$db"
check_whole "$work/n.tape" "$db"
adds_up "$db"
is "samples of others than the network" "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE context NOT IN ('net_rx',
    'net_tx', 'send', 'recv', 'napi')")" 0
at_least "samples that were left out" "$(sql "$db" "SELECT value FROM self_cost_last WHERE program = 'nt_stack_sample'
    AND name = 'skipped_owner'")" 1
if ((${#events[@]})); then
    bar_at_least "ticks inside the recorder's programs" "$(sql "$db" "SELECT count(*) FROM stack_sample WHERE error = 16
        AND stage = 'tracing' AND stack_id IS NULL")" 1
fi
sql "$db" "SELECT '# ' || (sum(CASE name WHEN 'run_ns' THEN value END) / sum(CASE name WHEN 'runs' THEN value END))
    || ' ns a run'
    FROM self_cost_last WHERE program = 'nt_stack_sample'"

# Of the samples in which udp_sendmsg is at work, how many in the softirq that runs inside it? perf's clock is another
# one. The sender's CPU alone: where a CPU rests, a hypervisor may bring the ticks of one clock later than those of the
# other. And only while both sampled: the traffic is not the same all the time. They may differ by what chance does to
# so few samples, three standard deviations, and 4 points more.
if [[ ${#perf[@]} != 0 ]]; then
    perf script --ns -i "$work/perf.data" -F time,ip,sym 2>>"$work/perf.log" |
        awk -v RS= '{ sub(/:/, "", $1); sub(/[.]/, "", $1); to = $1; if (!from) from = $1 }
            / udp_sendmsg/ { all++; if (/ __napi_poll/) some++ } END {
                print all ? 100 * some / all : 0, all + 0, from + 0, to + 0 }' >"$work/share"
    read -r theirs n from to <"$work/share"
    ours=$(sql "$db" "SELECT round(100.0 * sum(polls) / count(*), 2) FROM stack_sample JOIN (SELECT stack_id,
        max(name = 'udp_sendmsg') AS sends, max(name GLOB '__napi_poll*') AS polls FROM named_frame GROUP BY stack_id)
        USING (stack_id) WHERE sends AND cpu = 0 AND ts BETWEEN $from AND $to")
    bar_at_most "of sending, in the softirq inside it: $ours % of our samples, $theirs % of perf's $n" \
        "$(apart "$ours" "$theirs")" "$(awk -v n="$n" 'BEGIN { print 4 + 300 * sqrt(2 * 0.25 / (n ? n : 1)) }')"
else
    echo "# no perf that works here: its samples are not compared with"
fi

# ---- two programs that compute: one whose file is gone, with a pipe that nobody writes to where it was ----
cp "$tools/burner" "$work/gone"
"$work/gone" 600 gone >"$work/burnt" &
gone=$!
keep $gone
wait_for 500 grep -q "$work/gone" "/proc/$gone/maps"
rm "$work/gone"
mkfifo "$work/gone (deleted)"
"$tools/caller" 600 >"$work/called" &
caller=$!
keep $caller
recording_start "$work/u.tape" --probes default,stacks --stacks all --user-stacks -F "$hz"
sleep 2
echo >"$work/end"
# Its name in /proc/PID/maps is now the pipe's: an open of that to read would never return.
if wait_for 2000 has_ended "$recorder"; then wait "$recorder"; else bad "the recorder has not ended"; fi
kill $gone $caller
db=$work/u.db
import_stacks "$work/u.tape" "$db"
at_least "samples of the program whose file is gone" \
    "$(sql "$db" "SELECT count(*) FROM stack_sample JOIN thread USING (utid) WHERE name = 'gone'
        AND user_stack_id IS NOT NULL")" 1
# (PREEMPT_RT looks no build id up in an interrupt: the recorder does.)
build_id=$(readelf -n "$tools/caller" 2>/dev/null | awk '/Build ID/ { print $3 }')
if [[ -n $build_id ]]; then
    at_least "frames in the other program's own file, by its build id" \
        "$(sql "$db" "SELECT count(*) FROM symbol WHERE build_id = '$build_id'")" 1
fi
if ((failures == 0 && !at_work)); then skip \
    "in part: other work had more than 20 % of a CPU, so samples and time were not compared"; fi
if ((failures == 0)) && [[ $uncounted ]]; then skip "in part: $uncounted"; fi
finish
