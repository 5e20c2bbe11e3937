#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the network stack costs when NAPI threads or busy-polling tasks receive, of the same traffic through softirqs: it
# is the same work, and must come to the same under `net_rx`. By tests/live/napi.sh, which tells how they are compared.
#
#   BENCH_PAIRS=20   turns of each way
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
TURNS=${BENCH_PAIRS:-20} bash tests/live/napi.sh >"$work/napi.log" 2>&1 || {
    # The test skips where the kernel has no such polls; else it failed, and there is no figure.
    [[ $? == 77 ]] || result "net_rx a packet when polled otherwise than by softirqs" \
        "none: tests/live/napi.sh failed" ">= 0.95"
    tail -3 "$work/napi.log"
    exit 0
}
for way in thread busy; do
    ratio=$(sed -n "s/^# $way: net_rx a packet, of that by softirqs: //p" "$work/napi.log")
    [[ -n $ratio ]] || continue
    result "net_rx a packet when polled by $way, of that by softirqs" "$ratio" ">= 0.95"
    result "the same, from above" "$ratio" "<= 1.05"
done
[[ -n ${BENCH_RESULTS:-} ]] || bench_table
