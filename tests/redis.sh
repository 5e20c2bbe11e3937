# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Redis and a copy between the two network namespaces of tests/netns.sh: the traffic of the README. To be sourced after
# it; needs $work, a directory, and `keep PID`, which ends a background process with the caller.
#
#   has_redis           whether what it needs is installed
#   redis_start         a server in one namespace, with a value of 3 bytes (small) and one of 16 KiB (large)
#   redis_load VALUE [CLIENTS]  50 clients in the other read that value, until the caller ends
#   redis_measure VALUE REQUESTS [COMMAND...]  the same for so many requests, run by the command: prints requests a
#                       second, and p50 and p99 in ms
#   copy_start DELAY SECONDS  after the delay, iperf3 copies beside them, as fast as it goes
# shellcheck disable=SC2154  # of the sourcing script

# Debian's redis-tools has the server under another name; the package redis-server would also start one on this host.
redis_binary() { command -v redis-server || command -v redis-check-rdb; }
has_redis() { command -v redis-benchmark && command -v redis-cli && redis_binary; } >/dev/null

redis_set() {
    head -c "$2" /dev/zero | tr '\0' x | "${in_a[@]}" redis-cli -h "$addr_b" -x set "$1" 2>&1 | grep -q OK
}

redis_start() {
    local i
    ln -sf "$(redis_binary)" "$work/redis-server"
    "${in_b[@]}" "$work/redis-server" --bind "$addr_b" --save '' --protected-mode no >"$work/redis.log" &
    keep $!
    for ((i = 0; i < 100; i++)); do
        if redis_set small 3; then break; fi
        sleep 0.05
    done
    redis_set large 16384
}

redis_load() {
    "${in_a[@]}" redis-benchmark -h "$addr_b" -c "${2:-50}" -n 1000000000 get "$1" >/dev/null 2>&1 &
    keep $!
}

redis_measure() {
    "${@:3}" "${in_a[@]}" redis-benchmark -h "$addr_b" -c 50 -n "$2" --csv get "$1" |
        awk -F'"' 'NR == 2 { print $4, $10, $14 }'
}

copy_start() {
    "${in_b[@]}" iperf3 -s -B "$addr_b" >"$work/copy.log" 2>&1 &
    keep $!
    until "${in_b[@]}" ss -tln | grep -q ':5201 '; do sleep 0.05; done
    (sleep "$1" && exec "${in_a[@]}" iperf3 -c "$addr_b" -t "$2" >>"$work/copy.log" 2>&1) &
    keep $!
}
