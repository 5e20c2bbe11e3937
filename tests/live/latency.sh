#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe latency on a known number of messages: each packet is at each hook once, by our programs, by the kernel's own
# count of their runs, and by /proc/net/snmp; a reader that is late shows at socket-read and nowhere before; a filter on
# the reader leaves it; the network's own delay and disorder are told from this host's.
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
# shellcheck source=tests/live/latency_lib.sh
source "$(dirname "$0")/latency_lib.sh"

# ---- a known number, and a known delay ----

before=$(datagrams_in)
joined=$(($(tcp_count TCPBacklogCoalesce) + $(tcp_count TCPOFOQueue) + $(tcp_count DelayedACKLost)))
recording_start "$work/k.tape" --bpf-stats --probes default,latency
exchange udp 9001 "$count" 100 200 0
exchange udp 9002 "$late" 100 $((2 * late_us)) "$late_us"
exchange tcp 9003 "$count" 100 200 0
exchange tcp 9004 "$late" 100 $((2 * late_us)) "$late_us"
exchange udp 9005 "$late" 100 200 0 "$addr6_b"
recording_stop
delivered=$(($(datagrams_in) - before))
db=$work/k.db
import_tape "$work/k.tape" "$db"
check_whole "$work/k.tape" "$db"
"$report" info "$work/k.tape" >"$work/info"

# hooks_of: which this kernel has, by the programs on the tape; plan: fentry or tracepoints
hooks=" $(sql "$db" 'SELECT DISTINCT hook FROM latency_hook' | xargs) "
echo "# hooks of this kernel:$hooks"
at_least "hooks" "$(wc -w <<<"$hooks")" 5
for hook in ip-start tcp-start udp-start tcp-socket-enqueued udp-socket-enqueued tcp-socket-read udp-socket-read; do
    [[ $hooks == *" $hook "* ]] ||
        at_least "info says that $hook is missing" "$(tr -s ' \n' ' ' <"$work/info" | grep -c "hook $hook" || true)" 1
done

is "datagrams that were delivered, by /proc/net/snmp" "$delivered" $((count + late))
is "messages that udp receivers took" "$(cat "$work"/9001 "$work"/9002 | awk '{ n += $1 } END { print n }')" \
    $((count + late))
if [[ $hooks == *" udp-socket-read "* ]]; then
    is "udp-socket-enqueued, of a known number" "$(samples udp-socket-enqueued 9001)" "$count"
    is "udp-socket-read, of a known number" "$(samples udp-socket-read 9001)" "$count"
    is "udp-socket-read of IPv6" "$(at_socket udp-socket-read 9005 "count(*) FILTER (WHERE flags = 'ipv6')")" "$late"
    is "udp-start by this device" \
        "$(sql "$db" "SELECT count(*) FROM skb_latency l JOIN net_device d ON d.id = l.device_id
        WHERE hook = 'udp-start' AND d.netns = $netns AND d.name = 'veth0'")" $((count + 2 * late))
    is "readers other than the receiver" \
        "$(sql "$db" "SELECT count(*) FROM skb_latency l JOIN socket s ON s.id = l.socket_id
        JOIN thread t USING (utid) WHERE hook = 'udp-socket-read' AND s.netns = $netns AND t.name <> 'messages'")" 0
    # How many segments came in, the receiver's kernel says: a sender that waits for its turn may join messages.
    # Segments that come while the reader has the socket may become one, as TCPBacklogCoalesce counts; those that
    # overtook another wait elsewhere (TCPOFOQueue); one that had come and is sent again is dropped (DelayedACKLost);
    # and a kernel that preempts the program leaves out some runs. The last may end the connection, with nothing in it.
    came=$(awk '{ print $3 }' "$work/9003")
    bar_at_least "segments with data that came in, of $count messages" "$came" $((count / 2))
    joined=$(($(tcp_count TCPBacklogCoalesce) + $(tcp_count TCPOFOQueue) + $(tcp_count DelayedACKLost) - joined +
        $(sql "$db" "SELECT ifnull(sum(value), 0) FROM self_cost_last
            WHERE program LIKE 'nt_latency_tcp_socket_enqueued%' AND name = 'misses'")))
    segments=$(at_socket tcp-socket-enqueued 9003 'count(*) FILTER (WHERE length > 0)')
    at_least "tcp-socket-enqueued, of a known number ($segments seen), with those joined, dropped or left out" \
        $((segments + joined)) "$came"
    at_most "tcp-socket-enqueued, of a known number" "$segments" "$came"
    is "calls that read, by the receiver and at tcp-socket-read" "$(samples tcp-socket-read 9003)" \
        "$(awk '{ print $1 }' "$work/9003")"
else
    # A packet that its reader took before it could be looked at is counted as no more queued.
    gone=$(rejected udp-socket-enqueued skipped_unqueued)
    at_least "udp-socket-enqueued, of a known number" "$(($(samples udp-socket-enqueued 9001) + gone))" "$count"
    at_most "udp-socket-enqueued, of a known number" "$(samples udp-socket-enqueued 9001)" "$count"
    at_least "tcp-socket-read, of the receiver's calls" "$(samples tcp-socket-read 9003)" \
        "$(awk '{ print $1 }' "$work/9003")"
fi
at_least "ip-start by this device" \
    "$(sql "$db" "SELECT count(*) FROM skb_latency l JOIN net_device d ON d.id = l.device_id
    WHERE hook = 'ip-start' AND d.netns = $netns AND d.name = 'veth0'")" $((count + 2 * late))
is "packets without a time while they are noted" \
    "$(sql "$db" "SELECT count(*) FROM latency_hook WHERE no_stamp > samples / 10 + 10")" 0
is "samples of this namespace without a device" \
    "$(sql "$db" "SELECT count(*) FROM skb_latency l JOIN socket s ON s.id = l.socket_id
    WHERE s.netns = $netns AND device_id IS NULL")" 0

# median_us HOOK PORT: of the receiver's socket
median_us() {
    sql "$db" "SELECT latency_ns / 1000 FROM skb_latency l JOIN socket s ON s.id = l.socket_id WHERE hook = '$1'
        AND sport = $2
        AND s.netns = $netns ORDER BY latency_ns LIMIT 1 OFFSET (SELECT count(*) / 2 FROM skb_latency l
        JOIN socket s ON s.id = l.socket_id WHERE hook = '$1' AND sport = $2 AND s.netns = $netns)"
}

# The reader waits until there is something, then for 5 ms. A message that comes meanwhile is its own datagram. In a
# stream it joins the segment before it, and the last one's time is kept: there most wait so long, but not all. Where
# they are queued, none has waited yet.
for way in udp:9002 tcp:9004; do
    kind=${way%:*} port=${way#*:}
    if [[ $hooks == *" $kind-socket-read "* ]]; then
        waited=$(median_us "$kind-socket-read" "$port")
        bar_at_least "$kind-socket-read of a reader that waits 5 ms: median (us)" "$waited" "$late_us"
        [[ $kind == tcp ]] || at_least "least (us)" \
            "$(at_socket "$kind-socket-read" "$port" 'min(latency_ns) / 1000')" "$late_us"
    else
        waited=$(median_us tcp-socket-read 9004)
    fi
    bar_at_most "$kind-socket-enqueued, of packets that are read so late: median (us)" \
        "$(median_us "$kind-socket-enqueued" "$port")" \
        $((waited - late_us / 2))
done

adds_up "$db"

# ---- filters that ask for the reader ----

"${in_b[@]}" "$messages" udp-recv "$addr_b" 9021 "$count" 100 0 >"$work/9021" &
receiver=$!
keep "$receiver"
recording_start "$work/p.tape" --bpf-stats --probes latency -p "$receiver"
"${in_a[@]}" "$messages" udp-send "$addr_b" 9021 "$count" 100 100 >/dev/null
wait "$receiver"
exchange udp 9022 "$late" 100 100 0
exchange tcp 9023 "$late" 100 100 0
recording_stop
db=$work/p.db
import_tape "$work/p.tape" "$db"
adds_up "$db"
is "hooks where no reader is known" "$(sql "$db" "SELECT count(*) FROM latency_hook WHERE hook NOT LIKE '%-read'")" 0
is "samples of other readers" "$(sql "$db" "SELECT count(*) FROM skb_latency JOIN thread USING (utid)
    JOIN process USING (upid)
    WHERE pid <> $receiver")" 0
if [[ $hooks == *" udp-socket-read "* ]]; then
    is "samples of this one" "$(samples udp-socket-read 9021)" "$count"
    at_least "of others, passed by" "$(rejected udp-socket-read skipped_filter)" "$late"
fi
at_least "of TCP's readers, passed by" "$(rejected tcp-socket-read skipped_filter)" 1

# ---- the network's delay, and its disorder ----

# Before this host stamps a packet, it may be as late as it likes. Where one overtakes another, those behind it wait in
# the socket for it, which is no fault of this host's: such reads are told, and none where all comes in order.
if "${in_a[@]}" tc qdisc add dev veth0 root netem delay 20ms 2>"$work/netem.log"; then
    recording_start "$work/n.tape" --bpf-stats --probes latency
    exchange udp 9031 "$late" 100 1000 0
    disordered=$(tcp_count TCPOFOQueue)
    exchange tcp 9033 "$late" 100 1000 0
    disordered=$(($(tcp_count TCPOFOQueue) - disordered))
    "${in_a[@]}" tc qdisc change dev veth0 root netem delay 20ms reorder 20%
    exchange tcp 9034 "$count" 100 1000 0
    recording_stop
    db=$work/n.db
    import_tape "$work/n.tape" "$db"
    adds_up "$db"
    # Half of these 20 ms would be too much, over what it was without.
    of_device="FROM skb_latency l JOIN net_device d ON d.id = l.device_id WHERE hook = 'ip-start' AND d.netns = $netns"
    median_of_device="SELECT latency_ns / 1000 $of_device ORDER BY latency_ns
        LIMIT 1 OFFSET (SELECT count(*) / 2 $of_device)"
    bar_at_most "ip-start of packets that the network had for 20 ms: median (us)" "$(sql "$db" "$median_of_device")" \
        $(($(sql "$work/k.db" "$median_of_device") + 10000))
    # On a machine that is slow enough, one CPU overtakes the other even so: the kernel knows.
    waited=$(at_socket tcp-socket-read 9033 "sum(flags LIKE '%hol%')")
    if ((disordered)); then
        echo "# $disordered segments came out of order without being told to, $waited reads waited"
    else
        is "reads that waited for an earlier segment, where all came in order" "$waited" 0
    fi
    waited=$(at_socket tcp-socket-read 9034 "sum(flags LIKE '%hol%')")
    at_least "reads that waited for an earlier segment, where one of five overtakes" "$waited" 1
    unseen=$(at_socket tcp-socket-read 9034 "ifnull(sum(latency_ns > 10000000 AND flags NOT LIKE '%hol%'), 0)")
    echo "# of $(samples tcp-socket-read 9034) reads $waited waited; others that were 10 ms late: $unseen"
    bar_at_most "others that were 10 ms late, of half of those that waited" "$unseen" $((waited / 2))
    "${in_a[@]}" tc qdisc del dev veth0 root
else
    echo "# no netem here: $(tail -1 "$work/netem.log")"
fi

finish
