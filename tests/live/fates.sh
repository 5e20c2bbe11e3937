#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The fates of packets, and the payers then. Those that a third namespace routes or bridges are `forwarded`, by the
# device that received them. Those to a closed port are `dropped`, for the kernel's reason. Those in a tunnel are paid
# by their inner flow. Counts are those of the kernel's own counters.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

count=$(scaled 20000)
netns_r=nettape-$$-r
in_r=(ip netns exec "$netns_r")
test_cleanup() {
    [[ ! -e /run/netns/$netns_r ]] || ip netns delete "$netns_r"
}

# A router: a - r - b, beside the pair that joins a and b.
router() {
    ip netns add "$netns_r" || return
    ip -n "$netns_r" link add to_a type veth peer name to_r netns "$netns_a" || return
    ip -n "$netns_r" link add to_b type veth peer name to_r netns "$netns_b" || return
    ip -n "$netns_a" address add 198.18.1.2/24 dev to_r || return
    ip -n "$netns_b" address add 198.18.2.2/24 dev to_r || return
    ip -n "$netns_r" address add 198.18.1.1/24 dev to_a || return
    ip -n "$netns_r" address add 198.18.2.1/24 dev to_b || return
    ip -n "$netns_a" link set to_r up && ip -n "$netns_b" link set to_r up || return
    ip -n "$netns_r" link set to_a up && ip -n "$netns_r" link set to_b up || return
    ip -n "$netns_a" route add 198.18.2.0/24 via 198.18.1.1 || return
    ip -n "$netns_b" route add 198.18.1.0/24 via 198.18.2.1 || return
    "${in_r[@]}" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}
# The router becomes a bridge: a and b are on one wire, with addresses of one network.
bridge() {
    "${in_r[@]}" sh -c 'echo 0 >/proc/sys/net/ipv4/ip_forward'
    ip -n "$netns_r" address flush dev to_a && ip -n "$netns_r" address flush dev to_b || return
    ip -n "$netns_r" link add br0 type bridge && ip -n "$netns_r" link set br0 up || return
    ip -n "$netns_r" link set to_a master br0 && ip -n "$netns_r" link set to_b master br0 || return
    ip -n "$netns_a" route del 198.18.2.0/24 && ip -n "$netns_b" route del 198.18.1.0/24 || return
    ip -n "$netns_a" address add 198.18.3.1/24 dev to_r && ip -n "$netns_b" address add 198.18.3.2/24 dev to_r
}
tunnel() {
    ip -n "$netns_a" link add tun type vxlan id 7 remote "$addr_b" dstport 4789 dev veth0 || return
    ip -n "$netns_b" link add tun type vxlan id 7 remote "$addr_a" dstport 4789 dev veth0 || return
    ip -n "$netns_a" address add 198.18.4.1/24 dev tun && ip -n "$netns_b" address add 198.18.4.2/24 dev tun || return
    ip -n "$netns_a" link set tun up && ip -n "$netns_b" link set tun up
}
router || skip "no third namespace"

# counter FILE LINE NAME: one counter of IP in the namespace of the command before it
counter() {
    # shellcheck disable=SC2016  # awk expands it
    "${@:4}" awk -v line="$2:" -v name="$3" '
        $1 == line && !at { for (n = 2; n <= NF; n++) if ($n == name) at = n; next }
        $1 == line { print $at }' "/proc/net/$1"
}
netns_of() { "$@" stat -Lc %i /proc/self/ns/net; }
r=$(netns_of "${in_r[@]}") b=$(netns_of "${in_b[@]}")

mkfifo "$work/input"
# shout ADDRESS PORT: to a receiver of b, which reads once all is sent, and descriptor 9 is closed.
shout() {
    : >"$work/held"
    exec 9<>"$work/input"
    "${in_b[@]}" "$tools/payers" hold "$1" "$2" <"$work/input" >"$work/held" 9>&- &
    local receiver=$!
    keep $receiver
    wait_for 10 grep -q ready "$work/held"
    "${in_a[@]}" "$tools/payers" shout "$1" "$2" "$count"
    exec 9>&-
    wait $receiver
}
# The hosts learn each other's neighbours first: a packet that waits for one is not seen to be sent on.
is_known() { ip -n "$1" neigh show to "$2" | grep lladdr; }
# knows NAMESPACE ADDRESS: until it knows the neighbour
knows() { wait_for 20 is_known "$@" || bad "$1 does not learn of $2"; }
"${in_a[@]}" "$tools/payers" shout 198.18.2.2 9401 2
knows "$netns_a" 198.18.1.1
knows "$netns_r" 198.18.2.2

recording_start "$work/f.tape"
forwarded=$(counter snmp Ip ForwDatagrams "${in_r[@]}")
shout 198.18.2.2 9401
forwarded=$(($(counter snmp Ip ForwDatagrams "${in_r[@]}") - forwarded))
refused=$(counter snmp Udp NoPorts "${in_b[@]}")
"${in_a[@]}" "$tools/payers" shout "$addr_b" 9402 "$count"
refused=$(($(counter snmp Udp NoPorts "${in_b[@]}") - refused))
recording_stop
db=$work/f.db
import_tape "$work/f.tape" "$db"
check_whole "$work/f.tape" "$db"

# of DB NETNS COLUMNS [CONDITION]: of what the namespace's devices received
of() {
    sql "$1" "SELECT $3 FROM rx_cost AS r JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
        LEFT JOIN net_device AS d ON d.session_id = r.session_id AND d.id = r.device_id
        LEFT JOIN process AS p ON p.session_id = r.session_id AND p.upid = r.upid
        WHERE f.netns = $2 ${4:+AND $4}"
}
not() { echo "round(1.0 * sum(CASE WHEN $1 THEN 0 ELSE spent_ns END) / sum(spent_ns), 4)"; }

at_least "routed packets, by /proc/net/snmp" "$forwarded" "$count"
is "packets that are forwarded" "$(of "$db" "$r" "sum(packets)" "payer = 'forwarded' AND dport = 9401")" "$count"
# Of IPv4: what IPv6 sends to set itself up is no matter of the router, and in an emulated guest one packet takes 3 ms.
bar_at_most "what the router received and is not forwarded from the device to_a" \
    "$(of "$db" "$r" "$(not "payer = 'forwarded' AND d.name = 'to_a'")" "f.ethertype = 2048")" 0.05
is "packets that reach their socket" "$(of "$db" "$b" "sum(packets)" "dport = 9401 AND payer = 'socket' AND
    p.name = 'payers'")" "$count"
is "refused packets, by /proc/net/snmp" "$refused" "$count"
is "packets to a closed port" "$(of "$db" "$b" "sum(packets) || ' ' || payer || ' ' || reason" "dport = 9402
    GROUP BY payer, reason")" "$count dropped NO_SOCKET"
is "their stretches say so" "$(sql "$db" "SELECT sum(dropped) FROM rx_stretch AS r JOIN flow AS f ON
    f.session_id = r.session_id AND f.id = r.flow_id WHERE f.netns = $b AND dport = 9402")" "$count"

# ---- a bridge, and a tunnel ----

if bridge 2>"$work/refusal"; then
    "${in_a[@]}" "$tools/payers" shout 198.18.3.2 9403 2
    knows "$netns_a" 198.18.3.2
    recording_start "$work/bridge.tape"
    shout 198.18.3.2 9403
    recording_stop
    import_tape "$work/bridge.tape" "$work/bridge.db"
    check_whole "$work/bridge.tape" "$work/bridge.db"
    is "packets that are bridged" "$(of "$work/bridge.db" "$r" "sum(packets)" "payer = 'forwarded' AND
        d.name = 'to_a' AND dport = 9403")" "$count"
    bar_at_most "what the bridge received and is not forwarded from the device to_a" \
        "$(of "$work/bridge.db" "$r" "$(not "payer = 'forwarded' AND d.name = 'to_a'")" "f.ethertype = 2048")" 0.05
else
    echo "# no bridge here: $(head -1 "$work/refusal")"
fi
if tunnel 2>"$work/refusal"; then
    "${in_a[@]}" "$tools/payers" shout 198.18.4.2 9404 2
    knows "$netns_a" 198.18.4.2
    recording_start "$work/tunnel.tape"
    shout 198.18.4.2 9404
    recording_stop
    import_tape "$work/tunnel.tape" "$work/tunnel.db"
    check_whole "$work/tunnel.tape" "$work/tunnel.db"
    is "packets out of the tunnel" "$(of "$work/tunnel.db" "$b" "sum(packets)" "dport = 9404 AND payer = 'socket'")" \
        "$count"
    # Before 6.7 a packet leaves the tunnel in another run than it came in: then each flow pays for its own.
    if [[ $(sql "$work/tunnel.db" "SELECT sum(is_again) FROM rx_stretch") != 0 ]]; then
        bar_at_most "what the tunnel's end received and no inner flow pays" \
            "$(of "$work/tunnel.db" "$b" "$(not "dport = 9404 AND payer = 'socket' AND p.name = 'payers'")")" 0.05
    else
        echo "# no packet leaves the tunnel in the run that it came in"
    fi
else
    echo "# no tunnel here: $(head -1 "$work/refusal")"
fi

# ---- packets that one CPU takes from a device for another ----

# By the recorder in b's namespace, which sees that the device steers.
steer() {
    "${in_b[@]}" ethtool -K veth0 gro on && "${in_a[@]}" ethtool -K veth0 tso off || return
    # shellcheck disable=SC2016
    "${in_b[@]}" sh -c 'printf "%x\n" $(((1 << $(nproc)) - 1)) >/sys/class/net/veth0/queues/rx-0/rps_cpus'
}
if command -v ethtool >/dev/null && steer >/dev/null 2>"$work/refusal"; then
    # debugfs is not mounted there. It tells whether the kernel preempts itself, and so how operations are recorded.
    cat >"$work/record-in-b" <<SH
#!/bin/sh
exec ${in_b[*]} sh -c 'mount -t debugfs none /sys/kernel/debug 2>/dev/null; exec "\$0" "\$@"' $record "\$@"
SH
    chmod +x "$work/record-in-b"
    record=$work/record-in-b
    recording_start "$work/steered.tape"
    shout "$addr_b" 9405
    recording_stop
    import_tape "$work/steered.tape" "$work/steered.db"
    check_whole "$work/steered.tape" "$work/steered.db"
    stretches="FROM rx_stretch AS r JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
        WHERE f.netns = $b AND dport = 9405"
    is "packets that come from the device" "$(sql "$work/steered.db" "SELECT sum(packets) $stretches AND is_steered")" \
        "$count"
    # The other CPU may have no room for some. Of those that interrupt a process that the kernel hides, none is seen.
    received=$(sql "$work/steered.db" "SELECT sum(packets) $stretches AND NOT is_steered")
    at_least "packets that are received" "$received" $(($(tail -1 "$work/held") / 2))
    of "$work/steered.db" "$b" "'# ' || payer || ' ' || ifnull(reason, '') || ': ' || sum(packets)" \
        "dport = 9405 GROUP BY payer, reason"
    is "packets that are paid for" "$(of "$work/steered.db" "$b" "sum(packets)" "dport = 9405 AND payer = 'socket'")" \
        "$received"
else
    echo "# no steering here: $(head -1 "$work/refusal" 2>/dev/null)"
fi
finish
