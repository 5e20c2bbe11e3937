#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of the network stack when NAPI threads or busy-polling tasks receive, against softirqs with the same
# traffic. It is the same work, so it must cost the same under `net_rx`. Uses tests/live/napi.sh, which explains the
# comparison.
#
#   BENCH_PAIRS=20   turns of each way
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
status=0
TURNS=${BENCH_PAIRS:-20} bash tests/live/napi.sh >"$work/napi.log" 2>&1 || status=$?
# The test skips (77) where the kernel has no such polls. A bar that is missed (75) is told by the figures here.
if [[ $status != @(0|75) ]]; then
    [[ $status == 77 ]] || result "net_rx a packet when polled otherwise than by softirqs" \
        "none: tests/live/napi.sh failed" ">= 0.95"
    tail -3 "$work/napi.log"
    exit 0
fi
for way in thread busy; do
    ratio=$(sed -n "s/^# $way: net_rx a packet, of that by softirqs: //p" "$work/napi.log")
    [[ -n $ratio ]] || continue
    result "net_rx a packet when polled by $way, of that by softirqs" "$ratio" ">= 0.95"
    result "the same, from above" "$ratio" "<= 1.05"
done
[[ -n ${BENCH_RESULTS:-} ]] || bench_table
