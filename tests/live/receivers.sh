#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sockets that get packets whose addresses say another one, or none: by NAT, by a device in another namespace; of a port
# that several share, or that another process had before; below a socket of MPTCP. The receiver of a packet pays for it,
# exactly. Where no program may see deliveries, addresses tell, and nothing of it is exact.
#
# apart flows: it asks for flows by their names, for which there is no room beside a flood of new ones
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
command -v nft >/dev/null || skip "no nft"

count=$(scaled 10000)
senders=16 # of the shared port
netns_r=nettape-$$-r netns_c=nettape-$$-c
in_r=(ip netns exec "$netns_r") in_c=(ip netns exec "$netns_c")
addr_macvlan=${addr_b%.*}.77 addr_peer=198.18.3.2
test_cleanup() {
    for namespace in "$netns_r" "$netns_c"; do
        [[ ! -e /run/netns/$namespace ]] || ip netns delete "$namespace"
    done
}

# rule NAMESPACE WHAT: for packets that come
rule() {
    local -n namespace=$1
    "${namespace[@]}" nft -f - <<<"table ip nat { chain in { type nat hook prerouting priority -100; $2; }; }"
}
# A router, a - r - b, which sends what comes for one of its ports to b. b sends what comes for a port to another. c has
# a device on b's, and one to which b brings packets.
lay_out() {
    ip netns add "$netns_r" && ip netns add "$netns_c" || return
    ip -n "$netns_r" link add to_a type veth peer name to_r netns "$netns_a" || return
    ip -n "$netns_r" link add to_b type veth peer name to_r netns "$netns_b" || return
    ip -n "$netns_a" address add 198.18.1.2/24 dev to_r && ip -n "$netns_b" address add 198.18.2.2/24 dev to_r || return
    ip -n "$netns_r" address add 198.18.1.1/24 dev to_a && ip -n "$netns_r" address add 198.18.2.1/24 dev to_b || return
    ip -n "$netns_a" link set to_r up && ip -n "$netns_b" link set to_r up || return
    ip -n "$netns_r" link set to_a up && ip -n "$netns_r" link set to_b up || return
    ip -n "$netns_a" route add 198.18.2.0/24 via 198.18.1.1 || return
    ip -n "$netns_b" route add 198.18.1.0/24 via 198.18.2.1 || return
    "${in_r[@]}" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' || return
    rule in_r "udp dport 9502 dnat to 198.18.2.2:9522" || return
    rule in_b "udp dport 9503 redirect to :9523" || return
    ip -n "$netns_b" link add mv link veth0 netns "$netns_c" type macvlan mode bridge || return
    ip -n "$netns_c" address add "$addr_macvlan/24" dev mv && ip -n "$netns_c" link set mv up || return
    ip -n "$netns_b" link add to_c type veth peer name to_b netns "$netns_c" || return
    ip -n "$netns_c" address add "$addr_peer/24" dev to_b || return
    ip -n "$netns_b" link set to_c up && ip -n "$netns_c" link set to_b up || return
    ip -n "$netns_a" route add "$addr_peer" via "$addr_b" || return
    "${in_b[@]}" "$tools/detour" veth0 "$addr_peer" to_c
}
lay_out >"$work/refusal" 2>&1 || skip "$(head -1 "$work/refusal")"

mkfifo "$work/input" "$work/other_input"
exec 9<>"$work/input"
n_holders=0
# hold NAMESPACE ADDRESS PORT [INPUT]: a process that lets datagrams wait until its input ends, by descriptor 9. $holder
# is its number.
hold() {
    local -n namespace=$1
    local said=$work/held.$((++n_holders))
    "${namespace[@]}" "$tools/payers" hold "$2" "$3" <"$work/${4:-input}" >"$said" 8>&- 9>&- &
    holder=$!
    keep $holder
    wait_for 20 grep -q ready "$said"
}
# shout ADDRESS PORT [COUNT]
shout() { "${in_a[@]}" "$tools/payers" shout "$1" "$2" "${3:-$count}"; }

hold in_r 0.0.0.0 9501 && router=$holder
hold in_b 198.18.2.2 9501 && routed=$holder
hold in_r 0.0.0.0 9502 && proxy=$holder
hold in_b 198.18.2.2 9522 && published=$holder
hold in_b 0.0.0.0 9523 && redirected=$holder
hold in_c 0.0.0.0 9504 && macvlan=$holder
hold in_c 0.0.0.0 9505 && peer=$holder
for sharer in 1 2; do hold in_b 0.0.0.0 9507 && sharers[sharer]=$holder && said[sharer]=$work/held.$n_holders; done
# The neighbours are learned of first: a packet that waits for one is not seen to be sent on.
is_known() { ip -n "$1" neigh show to "$2" | grep lladdr; }
for to in 198.18.2.2 "$addr_b" "$addr_macvlan"; do shout $to 9500 1; done
wait_for 20 is_known "$netns_a" "$addr_macvlan" || bad "a does not learn of c"
wait_for 20 is_known "$netns_r" 198.18.2.2 || bad "r does not learn of b"

recording_start "$work/r.tape"
shout 198.18.2.2 9501
shout 198.18.1.1 9502
shout "$addr_b" 9503
shout "$addr_macvlan" 9504
shout "$addr_peer" 9505
for turn in first second; do
    exec 8<>"$work/other_input"
    hold in_b 0.0.0.0 9506 other_input
    shout "$addr_b" 9506
    exec 8>&-
    wait "$holder"
    declare "$turn=$holder"
done
shout "$addr_b" 9506
# The kernel puts TCP sockets below those of MPTCP, which processes use.
if [[ -e /proc/sys/net/mptcp/enabled ]]; then
    "${in_b[@]}" "$tools/payers" answer "$addr_b" 9508 100 mptcp >"$work/answer" 8>&- 9>&- &
    answer=$!
    keep $answer
    wait_for 20 grep -q ready "$work/answer"
    "${in_a[@]}" "$tools/payers" ask "$addr_b" 9508 100 mptcp &
    ask=$!
    wait "$answer" "$ask"
fi
for ((sender = 0; sender < senders; sender++)); do shout "$addr_b" 9507 $((count / senders)); done
recording_stop
db=$work/r.db
import_tape "$work/r.tape" "$db"
check_whole "$work/r.tape" "$db"
"$report" info "$work/r.tape" >"$work/info"
! grep -q "to which sockets packets went" "$work/info" || skip "$(grep -A1 "at the root cgroup" "$work/info")"

# paid CONDITION [DB]: packets, and what of their time is not exact
paid() {
    sql "${2:-$db}" "SELECT ifnull(sum(packets), 0) || ' ' || ifnull(sum(most_ns - exact_ns), 0) FROM rx_cost AS r
        LEFT JOIN process AS p ON p.session_id = r.session_id AND p.upid = r.upid
        LEFT JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id WHERE $1"
}
is "routed: who has the port on the router" "$(paid "pid = $router")" "0 0"
is "routed: who gets them" "$(paid "pid = $routed")" "$count 0"
is "a published port: who has it on the router" "$(paid "pid = $proxy")" "0 0"
is "a published port: who gets them" "$(paid "pid = $published")" "$count 0"
is "sent on by the router" "$(paid "payer = 'forwarded' AND dport IN (9501, 9502)")" "$((2 * count)) 0"
is "redirected" "$(paid "pid = $redirected")" "$count 0"
is "macvlan" "$(paid "pid = $macvlan")" "$count 0"
is "to another device's end" "$(paid "pid = $peer")" "$count 0"
is "a port: its first holder" "$(paid "pid = $first")" "$count 0"
is "its second" "$(paid "pid = $second")" "$count 0"
is "and then nobody" "$(paid "payer = 'dropped' AND reason = 'NO_SOCKET' AND dport = 9506")" "$count 0"
is "nobody else pays for it" "$(paid "dport = 9506")" "$((3 * count)) 0"
if [[ ! ${ask:-} ]]; then
    echo "# no MPTCP here"
else
    of_mptcp=$(sql "$db" "SELECT sum(packets) FROM rx_cost AS r JOIN flow AS f ON f.session_id = r.session_id
        AND f.id = r.flow_id WHERE 9508 IN (sport, dport)")
    at_least "MPTCP: packets" "$of_mptcp" 200
    is "MPTCP: the two ends" "$(paid "pid IN ($answer, $ask) AND proto = 'tcp'")" "$of_mptcp 0"
    is "MPTCP: to each" "$(paid "pid = $answer AND proto = 'tcp'")" "$(paid "dport = 9508")"
    is "MPTCP: the sockets" "$(sql "$db" "SELECT DISTINCT k.proto FROM rx_cost AS r JOIN socket AS k
        ON k.session_id = r.session_id AND k.id = r.socket_id WHERE 9508 IN (k.sport, k.dport)")" mptcp
fi

# ---- without the right to see deliveries ----

cat >"$work/record-less" <<SH
#!/bin/sh
exec setpriv --bounding-set=-net_admin,-sys_admin $record "\$@"
SH
chmod +x "$work/record-less"
# Without CAP_SYS_ADMIN libbpf cannot look for functions in modules, which it does on kernels that lack one.
guesses() { "$report" info "$1" | tr -s ' \n' ' ' | grep -c "guessed by their addresses and ports"; }
if ! "$work/record-less" -q -d 0.1 -o "$work/try.tape" 2>"$work/refusal"; then
    echo "# not recorded with less: $(head -1 "$work/refusal")"
elif ! guesses "$work/try.tape" >/dev/null; then
    echo "# deliveries are seen all the same: before the function that filters"
else
    record=$work/record-less
    recording_start "$work/less.tape"
    shout 198.18.2.2 9501
    shout "$addr_b" 9503
    recording_stop
    import_tape "$work/less.tape" "$work/less.db"
    is "info says that it is a guess" "$(guesses "$work/less.tape")" 1
    guess=$(paid "pid = $routed" "$work/less.db")
    is "by address: the receiver" "${guess% *}" "$count"
    is "and none of its time is exact" \
        "$(sql "$work/less.db" "SELECT sum(exact_ns) FROM rx_cost WHERE payer = 'socket'")" 0
    is "redirected: nobody" "$(paid "payer = 'other' AND dport = 9503" "$work/less.db")" "$count 0"
fi

exec 9>&-
wait "${sharers[@]}"
for sharer in 1 2; do
    is "a shared port: the one" "$(paid "pid = ${sharers[sharer]}")" "$(tail -1 "${said[sharer]}") 0"
done
is "together" "$(paid "dport = 9507 AND payer = 'socket'")" "$((count / senders * senders)) 0"
finish
