#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Figures of tapes that were computed by hand (tests/tools/make_tape.c and golden_make.c), and a summary of many CPUs.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

make_tape hand
# Polls: net_rx is 150 us of polls by a task and 300 of a thread; the one without begin stays the receive's.
polls=tests/golden/v1-polls.tape
is "owners of the polls' CPU" "$(sql $polls "SELECT owner, name, sum(dur) FROM cpu_slice JOIN thread USING (session_id,
    utid)
    WHERE cpu = 0 AND owner <> 'task' GROUP BY 1, 2 ORDER BY 1, 2")" 'net_rx,napi/eth1-8193,300000
net_rx,poller,150000
recv,poller,50000'

# However many CPUs there are, the answer stands on the first screen.
if ! command -v sqlite3 >/dev/null; then without "sqlite3 is not installed, which makes a database of 64 CPUs"; else
    report 0 import "$work/hand.tape" -o "$work/wide.db"
    sqlite3 "$work/wide.db" "UPDATE session SET cpus = 64;
        INSERT INTO cpu_cost SELECT session_id, ts, dur, cpus.value, owner, utid, spent_ns
            FROM cpu_cost, generate_series(2, 63) AS cpus WHERE cpu = 1"
    report 0 summary "$work/wide.db"
    is "CPUs that summary lists" "$(grep -cE '^[0-9]+ +1?[0-9.]+ ' "$work/out")" 64
    is "the answer, and who cost most" \
        "$(head -24 "$work/out" | grep -oE '^(Network stack|Programs by|web )' | head -3)" \
        "Network stack
Programs by
web "
fi

# By hand, in us; see make_tape.c.
wanted='0,hardirq,5000
0,idle,600000
0,net_rx,35000
0,recv,200000
0,send,60000
0,task,100000
1,hardirq,10000
1,idle,100000
1,recv,70000
1,send,10000
1,softirq,20000
1,task,790000'
is "owners by hand" "$(sql "$work/hand.tape" 'SELECT cpu, owner, sum(dur) FROM cpu_slice GROUP BY 1, 2
    ORDER BY 1, 2')" "$wanted"
is "a receive that slept and migrated, by hand" \
    "$(sql "$work/hand.tape" "SELECT dur, cpu_ns, bytes, cpu FROM sock_op WHERE syscall = 'recvfrom'")" \
    350000,250000,500,1
finish
