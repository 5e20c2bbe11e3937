#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of a packet in probe flows, by the kernel's own run counts and times, of several options. It is
# compared with an empty program's, and with that of a count sketch as one would write it at first. These programs are
# in tests/bench/flows_naive.bpf.c. All run by turns, at the tracepoint netif_receive_skb, on the same flood of small
# packets. Each run includes a clock read of the kernel's own. The figures are printed: timing fails no test. The test
# fails only if a program saw no packets. TURNS=N, SECONDS_EACH=N: more turns, and longer ones.
#
# In a guest whose clock counts instructions, each ns of the table is one (some ten minutes):
#   bash tests/vm/guest/boot.sh -i -c 1 -t 1800 6.1 OUT -- 'TURNS=1 bash tests/bench/flows.sh'
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns
[[ -x build/bench/flows_naive ]] || skip "build/bench/flows_naive is not built"
turns=${TURNS:-5} seconds=${SECONDS_EACH:-1}

# reference NAME P [WHAT]: runs one of the programs to compare with
reference() {
    build/bench/flows_naive build/bench/flows_naive.bpf.o "$1" "$2" "$work/stretch" >"$work/ref" 2>"$work/refused" ||
        skip "$(tail -1 "$work/refused")"
    awk -v name="${3:-$1}" '{ print name "|" $2 "|" $3 }' "$work/ref" >>"$work/runs"
}

# own NAME OPTION...: runs the probe
own() {
    local name=$1
    shift
    may_lose "$record" -q -o "$work/own.tape" --probes flows "$@" --bpf-stats -- "$work/stretch"
    import_tape "$work/own.tape" "$work/own.db"
    sql "$work/own.db" "
        SELECT 'flows $name' || CASE program WHEN 'nt_flow_sent' THEN ', sent' ELSE '' END,
            sum(CASE WHEN name = 'runs' THEN value ELSE 0 END), sum(CASE WHEN name = 'run_ns' THEN value ELSE 0 END)
        FROM self_cost_last WHERE program IN ('nt_flow_received', 'nt_flow_sent') GROUP BY program" >>"$work/runs"
    rm -r "$work/own.tape"
}

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
receiver=$!
keep $receiver
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 16 &
sender=$!
keep $sender
sleep 0.5
kill -STOP $sender $receiver
# The flood runs only while a program is measured.
printf '#!/bin/sh\nkill -CONT %s\nsleep %s\nkill -STOP %s\n' "$sender $receiver" "$seconds" "$sender $receiver" \
    >"$work/stretch"
chmod 755 "$work/stretch"
for ((turn = 0; turn < turns; turn++)); do
    reference empty 0
    own p=0.01 --flow-sample 0.01
    reference naive 0.01 "naive p=0.01"
    own p=0.1 --flow-sample 0.1
    reference naive_early 0.01 "naive p=0.01, early draw"
    own p=1 --flow-sample 1
    own "p=0.01, four keys" --flows src,dst,port
    own exact --flows exact
    reference naive_all 1 "naive, all packets"
done

# The program, its turns with packets, and its least and median time in ns; the empty one comes first.
awk -F'|' '$2 > 50 { print $1 "|" $3 / $2 }' "$work/runs" | sort -t'|' -k1,1 -k2,2n | awk -F'|' '
    { ns[$1, ++n[$1]] = $2 }
    END { for (name in n) printf "%s|%d|%.1f|%.1f\n", name, n[name], ns[name, 1],
        (ns[name, int((n[name] + 1) / 2)] + ns[name, int(n[name] / 2) + 1]) / 2 }' | sort -t'|' -k4n >"$work/costs"
awk -F'|' -v turns="$turns" '
    NR == FNR { if ($1 == "empty") { least = $3; median = $4 } next }
    FNR == 1 { printf "# ns a packet, of %d turns       least  ratio  median  ratio\n", turns }
    least { printf "# %-28s %7.1f %6.2f %7.1f %6.2f\n", $1, $3, $3 / least, $4, $4 / median }
' "$work/costs" "$work/costs"
is "programs that saw packets in each turn" "$(awk -F'|' -v turns="$turns" '$2 == turns' "$work/costs" | wc -l)" 14
finish
