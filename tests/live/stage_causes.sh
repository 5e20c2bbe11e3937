#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Stages of the network stack, with known causes: what is switched on beside a UDP flood must show in its own stage,
# against the same flood without, by more than chance (the intervals of both do not touch).
#
#     a --- b              veth0: most of it
#     a --- c --- b        198.18.1.0/24: c bridges
#     a --- c --- b        198.18.2.0/24, 198.18.3.0/24: c routes
#
# check-all: it takes minutes
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/stages_lib.sh
source "$(dirname "$0")/stages_lib.sh"
needs_recorder
netns_c=nettape-$$-c
test_cleanup() {
    if [[ -e /run/netns/$netns_c ]]; then ip netns delete "$netns_c"; fi
}

# raises WHAT STAGE NAME WITHOUT: the stage has more of net_rx in recording NAME than in WITHOUT
raises() {
    echo "# $2: $(of "$4" "$2" share) % without, $(of "$3" "$2" share) % with: $1"
    bar_at_least "$1: at least so much of net_rx is $2, and without it at most" "$(of "$3" "$2" low)" \
        "$(of "$4" "$2" high)"
    bar_at_least "$1: that is" "$(of "$3" "$2" share)" 1
}

needs_netns
record_flood plain "$addr_b"

# ---- netfilter, by hook ----
rules() {
    echo "table ip stages { chain c { type filter hook $1 priority 0;"
    for ((i = 0; i < 2000; i++)); do echo "ip saddr 10.$((i / 250)).1.$((i % 250)) drop"; done
    echo "}"; echo "}"
}
for hook in prerouting input; do
    if rules $hook | "${in_b[@]}" nft -f - 2>"$work/nft.log"; then
        record_flood "nft_$hook" "$addr_b"
        "${in_b[@]}" nft delete table ip stages
        raises "2,000 rules of nftables at $hook" "netfilter_$hook" "nft_$hook" plain
    else
        echo "# no nftables here ($(head -1 "$work/nft.log")): rules at $hook are not tested"
    fi
done
if "${in_b[@]}" nft \
    -f - <<<$'table ip stages {\nchain c {\ntype filter hook input priority 0;\nct state established,new accept\n}\n}' \
    2>"$work/nft.log"; then
    record_flood conntrack "$addr_b"
    "${in_b[@]}" nft delete table ip stages
    raises "connection tracking" conntrack conntrack plain
else
    echo "# no connection tracking here ($(head -1 "$work/nft.log"))"
fi

# ---- XDP and TC ----
programs=build/bench/stage.bpf.o
if "${in_b[@]}" ip link set dev veth0 xdpgeneric obj $programs sec xdp 2>"$work/xdp.log"; then
    record_flood xdp "$addr_b"
    "${in_b[@]}" ip link set dev veth0 xdpgeneric off
    raises "generic XDP" xdp xdp plain
else
    echo "# no generic XDP here: $(head -1 "$work/xdp.log")"
fi
if { "${in_b[@]}" tc qdisc add dev veth0 clsact && "${in_b[@]}" tc filter add dev veth0 ingress bpf da obj $programs \
    sec tc; } 2>"$work/tc.log"; then
    record_flood tc "$addr_b"
    raises "a filter of TC" tc tc plain
else
    echo "# no filters of TC here: $(head -1 "$work/tc.log")"
fi
"${in_b[@]}" tc qdisc del dev veth0 clsact 2>/dev/null || true

# ---- a third namespace between the two ----
ip netns add "$netns_c"
ip -n "$netns_c" link set lo up
# link NAMESPACE NAME: a veth of that name in both it and c, where it is called NAME-NAMESPACE's last letter
link() {
    ip -n "$1" link add "$2" type veth peer name "$2${1##*-}" netns "$netns_c"
    ip -n "$1" link set "$2" up
    ip -n "$netns_c" link set "$2${1##*-}" up
}
if ip -n "$netns_c" link add br0 type bridge 2>"$work/bridge.log"; then
    ip -n "$netns_c" link set br0 up
    for namespace in "$netns_a" "$netns_b"; do
        link "$namespace" bridged
        ip -n "$netns_c" link set "bridged${namespace##*-}" master br0
    done
    ip -n "$netns_a" address add 198.18.1.1/24 dev bridged
    ip -n "$netns_b" address add 198.18.1.2/24 dev bridged
    wait_for 5 "${in_a[@]}" ping -c 1 -W 1 198.18.1.2 || true
    record_flood bridge 198.18.1.2
    raises "a bridge" bridge bridge plain
else
    echo "# no bridges here: $(head -1 "$work/bridge.log")"
fi
link "$netns_a" routed
link "$netns_b" routed
ip -n "$netns_a" address add 198.18.2.1/24 dev routed
ip -n "$netns_c" address add 198.18.2.254/24 dev routeda
ip -n "$netns_c" address add 198.18.3.254/24 dev routedb
ip -n "$netns_b" address add 198.18.3.2/24 dev routed
ip -n "$netns_a" route add 198.18.3.0/24 via 198.18.2.254
ip -n "$netns_b" route add 198.18.2.0/24 via 198.18.3.254
if ip netns exec "$netns_c" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' 2>/dev/null; then
    record_flood forward 198.18.3.2
    raises "forwarding" forward forward plain
else
    echo "# forwarding cannot be switched on here"
fi

# ---- GRO, with TCP ----
# record_tcp NAME on|off
record_tcp() {
    "${in_b[@]}" ethtool -K veth0 gro "$2" >/dev/null 2>&1 || return 1
    "${in_b[@]}" "$tools/flood" tcp-recv "$addr_b" 9001 &
    local receiver=$! sender
    keep "$receiver"
    # 9001, which listens
    wait_for 10 "${in_b[@]}" grep -q ':2329 00000000:0000 0A' /proc/net/tcp || bad "no receiver"
    "${in_a[@]}" "$tools/flood" tcp-send "$addr_b" 9001 8192 &
    sender=$!
    keep "$sender"
    sleep 0.3
    recording_start "$work/$1.tape" --probes default,stacks -F $hz
    sleep "$seconds"
    recording_stop
    kill "$sender" "$receiver" 2>/dev/null || true
    wait "$sender" "$receiver" 2>/dev/null || true
    "$report" stages "$work/$1.tape" --csv >"$work/$1.csv"
}
# Segments are cut by the sender, so that there is something to put together.
if "${in_a[@]}" ethtool -K veth0 tso off gso off >/dev/null 2>&1 && record_tcp gro_on on && record_tcp gro_off off; then
    raises "GRO" gro gro_on gro_off
else
    echo "# no GRO of veth that can be switched here"
fi
finish
