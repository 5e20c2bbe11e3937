#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The less usual ways into the stack: io_uring, splice and sendfile, without copies, AF_PACKET, AF_XDP, kernel TLS, the
# kernel's own sockets, RPS and the backlog. For each: as many operations and bytes as its program says it made, and
# their time under the owner that docs/limits.md names. (Threaded NAPI and busy polling: napi.sh.) A way that this
# kernel lacks is a line that begins with "skipped".
# alone: its receivers have buffers as small as any
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

skipped() { echo "skipped: $*"; }

# ---- what one process does, by name ----

# owner_ns PROCESS OWNER: in all its threads
owner_ns() {
    sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice c JOIN thread t USING (session_id, utid)
        JOIN process p USING (session_id, upid) WHERE p.name = '$1' AND owner = '$2'"
}

# Fills `found`, for each process of `ways` and op: operations|bytes|with a known begin|by kernel threads or I/O
# workers|ns of the op as owner|ns of task; without the error queue. All at once: an emulated guest takes half a second
# for each program.
declare -A found
find_ways() {
    local way op rest
    while IFS='|' read -r way op rest; do found[$way $op]=$rest; done <<<"$(sql "$db" "
        WITH way AS (SELECT session_id, upid, p.name, utid FROM process p JOIN thread t USING (session_id, upid)
        WHERE p.name LIKE 'w-%'),
        ops AS (SELECT w.name, op, count(*) AS n, sum(CASE WHEN instr(flags, 'peek') THEN 0 ELSE bytes END) AS bytes,
                count(dur) AS timed, sum(instr(flags, 'kernel') > 0) AS by_kernel
            FROM sock_op o JOIN way w USING (session_id, utid) WHERE NOT instr(flags, 'errqueue') GROUP BY 1, 2),
        spent AS (SELECT w.name, owner, sum(dur) AS ns FROM cpu_slice c JOIN way w USING (session_id, utid)
        GROUP BY 1, 2)
        SELECT p.name, d.op, ifnull(n, 0), ifnull(bytes, 0), ifnull(timed, 0), ifnull(by_kernel, 0),
            ifnull((SELECT ns FROM spent s WHERE s.name = p.name AND owner = d.op), 0),
            ifnull((SELECT ns FROM spent s WHERE s.name = p.name AND owner = 'task'), 0)
        FROM (SELECT DISTINCT name FROM way) p, (SELECT 'send' AS op UNION SELECT 'recv') d
        LEFT JOIN ops ON ops.name = p.name AND ops.op = d.op")"
}

# begin_unknown WAY: whether this plan knows no begin of its operations, so that their time is the task's
begin_unknown() { [[ $1 == w-uring-* && $plan == tracepoints ]]; }

# check_way WAY OP OPS BYTES: against what `ways` said; OPS "-": the kernel's affair, BYTES negative: at least so many
check_way() {
    local way=$1 op=$2 ops=$3 bytes=$4 got_ops got_bytes timed by_kernel op_ns task_ns
    IFS='|' read -r got_ops got_bytes timed by_kernel op_ns task_ns <<<"${found[$way $op]:-0|0|0|0|0|0}"
    if [[ $ops != - ]]; then is "$way: operations, $op" "$got_ops" "$ops"; else at_least "$way: operations, $op" \
        "$got_ops" 1; fi
    if ((bytes >= 0)); then is "$way: bytes, $op" "$got_bytes" "$bytes"; else at_least "$way: bytes, $op" "$got_bytes" \
        $((-bytes)); fi
    if [[ $ops == 0 ]]; then
        is "$way: ns of $op, which cannot be told from the task's" "$op_ns" 0
        at_least "$way: ns of task" "$task_ns" 1
    elif begin_unknown "$way"; then
        is "$way: operations of known begin" "$timed" 0
        is "$way: ns of $op: it is the task's" "$op_ns" 0
        at_least "$way: ns of task" "$task_ns" 1
    else
        is "$way: operations of known begin" "$timed" "$got_ops"
        at_least "$way: ns of $op" "$op_ns" 1
    fi
    case $way in
    w-uring-w* | w-uring-q*) is "$way: operations by a worker or SQPOLL thread of the process" "$by_kernel" \
        "$got_ops" ;;
    *) is "$way: operations by a worker or SQPOLL thread" "$by_kernel" 0 ;;
    esac
}

many_ways() {
    local way op ops bytes
    recording_start "$work/ways.tape" --probes all
    "${in_a[@]}" "$tools/ways" "$addr_a" veth0 >"$work/said"
    recording_stop
    import_tape "$work/ways.tape" "$db"
    check_whole "$work/ways.tape" "$db"
    find_ways
    while read -r way op ops bytes; do
        case $op in
        skip) skipped "$way: $ops $bytes" ;;
        failed) bad "$way: the program failed" ;;
        *) check_way "$way" "$op" "$ops" "$bytes" ;;
        esac
    done <"$work/said"
    is "all ways tried" "$(tail -1 "$work/said" | cut -d' ' -f1)" w-xdp-recv
    is "w-peek: operations that are flagged" \
        "$(sql "$db" "SELECT count(*) FROM sock_op o JOIN thread t USING (session_id, utid)
        WHERE t.name = 'w-peek' AND flags = 'peek'")" 20
}

# ---- what the kernel does by itself ----

# By a name of their own: a recording has the whole host, and others may flood there.
cp "$tools/flood" "$work/ways-flood"

# received DEVICE: packets, in the other namespace, by the kernel's count
received() { "${in_b[@]}" awk -v name="$1:" '$1 == name { print $3 }' /proc/net/dev; }

# record_flood DEVICE ADDRESS ARGUMENT...: UDP to ADDRESS in the other namespace, until enough of it came in by DEVICE
record_flood() {
    local device=$1 receiver sender wanted
    shift
    "${in_b[@]}" "$work/ways-flood" udp-recv "$1" 9000 &
    receiver=$!
    keep $receiver
    "${in_a[@]}" taskset -c 0 "$work/ways-flood" udp-send "$1" 9000 500 "$(scaled 10000)" &
    sender=$!
    keep $sender
    sleep 0.3
    recording_start "$work/flood.tape" "${@:2}"
    wanted=$(($(received "$device") + $(scaled 5000)))
    wait_for 60 eval '(($(received "$device") >= wanted))' || bad "the flood to $1 does not come"
    recording_stop
    kill $receiver $sender
    wait $receiver $sender 2>/dev/null || true
    import_tape "$work/flood.tape" "$db"
    is "records lost for want of room" "$(lost_for_room "$db")" 0
    rm -r "$work/flood.tape"
}

# flood_ops OP: operations, bytes each, and how many carry their begin, of the flood through the address of the tunnel.
# The thread's first is counted among the last whatever it carries: a task that was running when the recording began may
# have been in that call already.
flood_ops() {
    sql "$db" "SELECT count(*), ifnull(max(bytes), 0), count(coalesce(dur, CASE WHEN nth = 1 THEN 0 END)) FROM (
        SELECT bytes, dur, row_number() OVER (PARTITION BY utid ORDER BY ts) AS nth
        FROM sock_op o JOIN thread t USING (session_id, utid)
        WHERE t.name = 'ways-flood' AND op = '$1' AND result = 'ok')"
}

# check_tunnel NAME PORT: the packets inside are the flood's operations; those around them are nobody's operation, since
# the kernel hands them to its socket without a message; and the receiving end is polled as a device
check_tunnel() {
    local op n bytes timed
    [[ $plan == none ]] || for op in send recv; do
        IFS='|' read -r n bytes timed <<<"$(flood_ops $op)"
        at_least "$1: operations of the flood inside, $op" "$n" "$(scaled 3000)"
        is "$1: bytes of each" "$bytes" 500
        is "$1: of known begin" "$timed" "$n"
    done
    is "$1: operations on the tunnel's own sockets" "$(sql "$db" "SELECT count(*) FROM sock_op o JOIN socket s
        ON s.session_id = o.session_id AND s.id = o.socket_id WHERE $2 IN (sport, dport)")" 0
    at_least "$1: ns of net_rx" "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice WHERE owner = 'net_rx'")" 100000
    at_least "$1: packets polled from the tunnel's device" "$(sql "$db" "SELECT ifnull(sum(work), 0) FROM napi_poll p
        JOIN net_device d ON d.session_id = p.session_id AND d.id = p.device_id WHERE d.name = '$1'")" "$(scaled 3000)"
}

vxlan() {
    local side
    for side in "$netns_a $addr_b 198.19.0.1" "$netns_b $addr_a 198.19.0.2"; do
        # shellcheck disable=SC2086
        set -- $side
        if ! ip -n "$1" link add vxlan0 type vxlan id 7 remote "$2" dstport 4789 dev veth0 2>"$work/why"; then
            skipped "VXLAN: $(head -1 "$work/why")"
            return
        fi
        ip -n "$1" address add "$3/24" dev vxlan0
        ip -n "$1" link set vxlan0 up
    done
    record_flood vxlan0 198.19.0.2 --probes all
    check_tunnel vxlan0 4789
    [[ $plan == none ]] || at_least "vxlan0: ns of send, encapsulation in it" "$(owner_ns ways-flood send)" 100000
}

# wg_side NAMESPACE OWN-KEY PEER-KEY PEER ADDRESS
wg_side() {
    ip -n "$1" link add wg0 type wireguard &&
        ip netns exec "$1" wg set wg0 listen-port 51820 private-key "$2" peer "$3" allowed-ips 0.0.0.0/0 endpoint \
            "$4:51820" &&
        ip -n "$1" address add "$5/24" dev wg0 && ip -n "$1" link set wg0 up
}

wireguard() {
    command -v wg >/dev/null || { skipped "WireGuard: no command wg"; return; }
    (umask 077 && wg genkey >"$work/key-a" && wg genkey >"$work/key-b")
    if ! wg_side "$netns_a" "$work/key-a" "$(wg pubkey <"$work/key-b")" "$addr_b" 198.19.1.1 2>"$work/why" ||
        ! wg_side "$netns_b" "$work/key-b" "$(wg pubkey <"$work/key-a")" "$addr_a" 198.19.1.2 2>"$work/why"; then
        skipped "WireGuard: $(head -1 "$work/why")"
        return
    fi
    record_flood wg0 198.19.1.2 --probes all
    check_tunnel wg0 51820
    # Ciphers, and sending what is ciphered, are work for the kernel's threads, and theirs.
    at_least "wg0: ns of task in kworkers" \
        "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice c JOIN thread t USING (session_id, utid)
        WHERE owner = 'task' AND t.name LIKE 'kworker/%'")" 1000000
}

# Receive packet steering: the sender's CPU puts packets into another's backlog, whose net_rx it is to receive them.
rps() {
    local queue=/sys/class/net/veth0/queues/rx-0/rps_cpus
    (($(nproc) > 1)) || { skipped "RPS: one CPU"; return; }
    # shellcheck disable=SC2016
    "${in_b[@]}" sh -c 'echo 2 >"$0"' $queue 2>"$work/why" || { skipped "RPS: $(head -1 "$work/why")"; return; }
    record_flood veth0 "$addr_b" --probes all
    at_least "RPS: packets from the backlog of CPU 1" "$(backlog_of 1)" "$(scaled 3000)"
    at_most "RPS: packets that the sender took from the backlog himself" "$(backlog_of_sender)" "$(scaled 500)"
    at_least "RPS: ns of net_rx of CPU 1" \
        "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice WHERE owner = 'net_rx' AND cpu = 1")" 100000
    # shellcheck disable=SC2016
    "${in_b[@]}" sh -c 'echo 0 >"$0"' $queue
    record_flood veth0 "$addr_b" --probes all
    at_least "the backlog without RPS: packets that the sender took from it" "$(backlog_of_sender)" "$(scaled 3000)"
    at_least "ns of net_rx of CPU 0 in the sender's time" "$(sql "$db" "SELECT ifnull(sum(dur), 0) FROM cpu_slice c
        JOIN thread t USING (session_id, utid) WHERE owner = 'net_rx' AND cpu = 0 AND t.name = 'ways-flood'")" 100000
}
# By a softirq, or on PREEMPT_RT by a thread.
backlog_of() { sql "$db" "SELECT ifnull(sum(work), 0) FROM napi_poll WHERE device_id IS NULL
    AND context IN ('softirq', 'thread') AND cpu = $1"; }
backlog_of_sender() {
    sql "$db" "SELECT ifnull(sum(work), 0) FROM napi_poll JOIN thread t USING (session_id, utid)
        WHERE device_id IS NULL AND context = 'softirq' AND cpu = 0 AND t.name = 'ways-flood'"
}

# How operations are recorded here: tracepoints, fentry, or not at all.
plan_of() {
    "$record" --list-probes | awk '/^[a-z]/ { here = $1 == "socket" } here && $1 == "by" { sub(":", "", $2); plan = $2 }
        END { print plan ? plan : "none" }'
}

db=$work/w.db
plan=$(plan_of)
echo "# operations by $plan"
if [[ $plan == none ]]; then skipped "all that makes operations: this kernel shows none"; else many_ways; fi
vxlan
wireguard
rps
finish
