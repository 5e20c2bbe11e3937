#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Figures of docs/charging-measured.md: how receive runs divide under different traffic, and what the candidate programs
# cost. Two namespaces on one host, so both ends are in the figures. As root.
#
#   tests/bench/charge.sh               all
#   tests/bench/charge.sh 'udp|tcp'     the kinds of traffic whose name matches; `cost` is one of them
#   CHARGE_SECONDS=1                    of each trace
#   BENCH_PAIRS=10                      pairs of slices, with and without the programs
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/redis.sh
source tests/redis.sh
seconds=${CHARGE_SECONDS:-1}
pairs=${BENCH_PAIRS:-10}
wanted=${1:-.}
make -s build/bench/charge build/tools/flood build/tools/flood-measure
charge=(build/bench/charge build/bench/charge.bpf.o)
netns_c=nettape-$$-c
group=239.1.1.1

# Between two kinds of traffic.
clear_up() {
    local pid
    for pid in "${background[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${background[@]}"; do wait "$pid" 2>/dev/null || true; done
    background=()
    netns_remove
    if [[ -e /run/netns/$netns_c ]]; then ip netns delete "$netns_c"; fi
}
trap 'status=$?; clear_up; (exit $status); cleanup' EXIT

# run NAME TRAFFIC...: traces it, if it is wanted; TRAFFIC is a function that starts it
run() {
    local name=$1
    [[ $name =~ ^($wanted)$ ]] || return 0
    shift
    netns_make
    "$@"
    sleep 0.7
    echo "== $name"
    if [[ -n ${CHARGE_DUMP:-} ]]; then
        # shellcheck disable=SC2086  # runs, and events in each
        "${charge[@]}" dump 0.1 $CHARGE_DUMP
    else
        "${charge[@]}" trace "$seconds"
    fi
    clear_up
}

in_a_bg() { "${in_a[@]}" "$@" >/dev/null 2>&1 & keep $!; }
in_b_bg() { "${in_b[@]}" "$@" >/dev/null 2>&1 & keep $!; }
sysfs() { "${in_b[@]}" sh -c "echo $2 >/sys/class/net/$1"; }
# A veth device receives by NAPI and GRO only what its peer does not leave whole for it to cut up (TSO).
gro() {
    "${in_a[@]}" ethtool -K veth0 tso off gro on
    "${in_b[@]}" ethtool -K veth0 tso off gro on
}
rps() { sysfs veth0/queues/rx-0/rps_cpus 2; }

# udp PORT SIZE [RATE] and tcp PORT: one flow
udp() { in_b_bg "$tools/flood" udp-recv "$addr_b" "$1"; in_a_bg "$tools/flood" udp-send "$addr_b" "$@"; }
tcp() {
    in_b_bg "$tools/flood" tcp-recv "$addr_b" "$1"
    sleep 0.2
    in_a_bg "$tools/flood" tcp-send "$addr_b" "$1" 65536
}
mixed() { udp 9001 200 50000; udp 9002 1000 50000; tcp 9003; }
redis() { redis_start; redis_load small; }
redis_on_loopback() { addr_b=127.0.0.1; in_a=("${in_b[@]}"); redis; }
connections() {
    redis_start
    in_a_bg redis-benchmark -h "$addr_b" -c 500 -n 1000000000 get small
}
handshakes() {
    redis_start
    in_a_bg redis-benchmark -h "$addr_b" -c 50 -k 0 -n 1000000000 get small
}
owned() {
    tcp 9003
    in_b_bg "$tools/flood" tcp-recv "$addr_b" 9004
    sleep 0.2
    in_a_bg "$tools/flood" tcp-send "$addr_b" 9004 200
}
closed() { in_a_bg "$tools/flood" udp-send "$addr_b" 9009 200; }
pings() {
    in_a_bg python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
while True: s.sendto(bytes([8, 0, 0xf7, 0xff, 0, 0, 0, 0]), ('$addr_b', 0))"
}
multicast() {
    local i
    ip -n "$netns_a" route add "$group/32" dev veth0
    ip -n "$netns_b" route add "$group/32" dev veth0
    for ((i = 0; i < 4; i++)); do
        in_b_bg python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('$group', 9000))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton('$group') + socket.inet_aton('$addr_b'))
while True: s.recv(2000)"
    done
    sleep 0.3
    in_a_bg "$tools/flood" udp-send "$group" 9000 200 50000
}
# A third namespace behind the second.
forwarded() {
    ip netns add "$netns_c"
    ip -n "$netns_b" link add veth1 type veth peer name veth0 netns "$netns_c"
    ip -n "$netns_b" address add 198.18.1.1/24 dev veth1
    ip -n "$netns_c" address add 198.18.1.2/24 dev veth0
    ip -n "$netns_b" link set veth1 up
    ip -n "$netns_c" link set veth0 up
    ip -n "$netns_a" route add default via "$addr_b"
    ip -n "$netns_c" route add default via 198.18.1.1
    "${in_b[@]}" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
    ip netns exec "$netns_c" "$tools/flood" udp-recv 198.18.1.2 9000 >/dev/null 2>&1 &
    keep $!
    in_a_bg "$tools/flood" udp-send 198.18.1.2 9000 200
}
# One of two flows is behind a long chain.
chain() {
    {
        printf 'table ip t {\nchain long {\n'
        for ((i = 0; i < 200; i++)); do echo "udp sport $((i + 1)) drop"; done
        printf '}\nchain input {\ntype filter hook input priority 0;\nudp dport 9002 jump long\n}\n}\n'
    } | "${in_b[@]}" nft -f -
    udp 9001 200 50000
    udp 9002 200 50000
}
with_gro() { gro; "$@"; }
with_rps() { rps; "$@"; }
with_both() { gro; rps; "$@"; }

run udp udp 9000 200
run tcp tcp 9000
(run redis_loopback redis_on_loopback) # has its own addresses
run redis redis
run connections connections
run handshakes handshakes
run owned owned
run mixed mixed
run chain chain
run multicast multicast
run forwarded forwarded
run closed closed
run ping pings
for way in gro rps both; do
    run "${way}_udp" with_$way udp 9000 200
    run "${way}_tcp" with_$way tcp 9000
    run "${way}_redis" with_$way redis
    run "${way}_connections" with_$way connections
    run "${way}_mixed" with_$way mixed
    run "${way}_chain" with_$way chain
    run "${way}_forwarded" with_$way forwarded
done

# ---- cost ----

# candidate GROUP KIND: the rate with its programs by the rate without, and the programs' own times
candidate() {
    local i
    rm -f "$work"/{on,off}
    for ((i = 0; i < pairs; i++)); do
        ((i % 2)) || slice "$2" "$work/off"
        slice "$2" "$work/on" "${charge[@]}" cost "$1" >/dev/null
        ((i % 2 == 0)) || slice "$2" "$work/off"
    done
    paste "$work/on" "$work/off" | awk '{ print ($1 / $2) / ($3 / $4) }' >"$work/ratios"
    result "$2: kept with programs $1" "$(quartiles <"$work/ratios")"
    sysctl -q kernel.bpf_stats_enabled=1
    "${charge[@]}" cost "$1" sleep 1
    sysctl -q kernel.bpf_stats_enabled=0
}

[[ cost =~ ^($wanted)$ ]] || exit 0
for kind in udp tcp; do
    netns_make
    flood_start "$kind" "$([[ $kind == udp ]] && echo 200 || echo 65536)"
    for candidate in empty clock flow each deliver; do candidate "$candidate" "$kind"; done
    flood_stop
    clear_up
done
bench_table
