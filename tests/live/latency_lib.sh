# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the tests of probe latency, after lib.sh and needs_netns: two namespaces where a packet stays one, and
# messages from a to b.
# shellcheck disable=SC2154,SC2034  # of the sourcing script, and for it
command -v ethtool >/dev/null || skip "no ethtool"

messages=$tools/messages
count=$(scaled 5000)
late=$(scaled 300)
late_us=5000

# GRO and TSO would make one packet of several.
for where in in_a in_b; do
    declare -n run=$where
    "${run[@]}" ethtool -K veth0 gro off tso off gso off >/dev/null 2>&1 || skip "no veth device without GRO"
    "${run[@]}" ethtool -K lo gro off >/dev/null 2>&1 || true
done
netns=$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)

# tcp_count NAME: a count of TCP's that the kernel keeps in namespace b
tcp_count() { net_count in_b TcpExt "$1"; }

# exchange KIND PORT COUNT SIZE SEND_PAUSE_US RECEIVE_PAUSE_US [ADDRESS]: all messages, from a to b; what the receiver
# counted is in $work/PORT.
exchange() {
    local kind=$1 port=$2 count=$3 size=$4 to=${7:-$addr_b} hex receiver
    hex=$(printf ':%04X ' "$port")
    "${in_b[@]}" "$messages" "$kind-recv" "$to" "$port" "$count" "$size" "$6" >"$work/$port" &
    receiver=$!
    keep "$receiver"
    wait_for 60 grep -q "$hex" "/proc/$receiver/net/$kind" "/proc/$receiver/net/${kind}6" 2>/dev/null ||
        bad "no receiver at $port"
    "${in_a[@]}" "$messages" "$kind-send" "$to" "$port" "$count" "$size" "$5" >/dev/null
    wait "$receiver" || bad "the receiver at $port failed"
}

# samples HOOK PORT: of the receiver's socket; at_socket HOOK PORT EXPRESSION: of these samples
at_socket() {
    sql "$db" "SELECT $3 FROM skb_latency l JOIN socket s ON s.id = l.socket_id
               WHERE hook = '$1' AND sport = $2 AND s.netns = $netns"
}
samples() { at_socket "$1" "$2" 'count(*)'; }
# rejected HOOK: how many for each reason, in all
rejected() { sql "$db" "SELECT $2 FROM latency_hook WHERE hook = '$1'"; }

# adds_up DB: each run of each program ended one way, by the kernel's count; and what it says to have written is on the
# tape
adds_up() {
    local name said runs
    while IFS='|' read -r name said runs; do
        is "$name: samples, rejected and lost, and the kernel's runs" "$said" "$runs"
    done < <(sql "$1" "SELECT substr(program, 12), sum(CASE WHEN name NOT IN ('runs', 'run_ns', 'misses') THEN value
        ELSE 0 END),
        sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) FROM self_cost_last WHERE program LIKE 'nt_latency_%'
            GROUP BY 1")
    is "hooks whose samples on the tape are not those that their programs wrote" \
        "$(sql "$1" "SELECT count(*) FROM latency_hook
        WHERE samples <> recorded")" 0
}
