#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Causes of late packets show at the hooks behind them, and not at those before. Many firewall rules show between
# ip-start and tcp-start, against the same traffic without rules; a CPU that others use too shows at tcp-socket-read.
#
# A connection's segments carry, through a veth device, the time of their sending as far as the firewall: at ip-start
# and tcp-start it is those of UDP, and of TCP without a connection, that are looked at.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
PATH=$PATH:/usr/sbin:/sbin
"${in_b[@]}" nft add table ip nettape 2>"$work/why" || skip "no nftables: $(head -1 "$work/why")"

netns=$("${in_b[@]}" stat -Lc %i /proc/self/ns/net)
count=$([[ -n ${NT_EMULATED:-} ]] && echo 50 || echo 200)
rules=$(scaled 25000)
reader_cpu=0 sender_cpu=$(($(nproc) > 1 ? 1 : 0))

# messages_pass KIND: one by one, from one namespace into the other
messages_pass() {
    local receiver
    "${in_b[@]}" taskset -c "$reader_cpu" nice -n 19 "$tools/messages" "$1-recv" "$addr_b" 9001 "$count" 500 \
        0 >"$work/read" &
    receiver=$!
    keep "$receiver"
    # Port 9001 in its namespace, and of TCP's states LISTEN: then it listens.
    wait_for 500 grep -qE ":2329 0*:0* ($([[ $1 == tcp ]] && echo 0A || echo 07))" "/proc/$receiver/net/$1" ||
        bad "no receiver"
    "${in_a[@]}" taskset -c "$sender_cpu" "$tools/messages" "$1-send" "$addr_b" 9001 "$count" 500 "$pause_us" >/dev/null
    wait "$receiver" || bad "the receiver failed"
}

# traffic NAME: a recording in $work/NAME.db
traffic() {
    recording_start "$work/$1.tape" --probes latency
    messages_pass udp
    messages_pass tcp
    "${in_a[@]}" taskset -c "$sender_cpu" "$tools/messages" raw-send "$addr_b" 9001 "$count" 600 "$pause_us" >/dev/null
    recording_stop
    import_tape "$work/$1.tape" "$work/$1.db"
}

# late NAME HOOK FRACTION: ns, of those packets that came into this namespace; 0 if there are none
late() {
    local least=500 value
    [[ $2 != tcp-start ]] || least=600
    value=$("$report" query --csv "$work/$1.db" "SELECT percentile(latency_ns, $3) FROM skb_latency l
        LEFT JOIN socket s ON s.session_id = l.session_id AND s.id = l.socket_id
        LEFT JOIN net_device d ON d.session_id = l.session_id AND d.id = l.device_id
        WHERE hook = '$2' AND coalesce(s.netns, d.netns) = $netns AND (length IS NULL OR length >= $least)" | tail -1)
    echo "${value:-0}"
}

show() { for hook in ip-start tcp-start udp-socket-enqueued tcp-socket-enqueued tcp-socket-read; do
    echo "# $1, $hook: median $(late "$1" "$hook" 0.5) ns, p95 $(late "$1" "$hook" 0.95) ns"; done; }

# The pause leaves room for the packet, and its acknowledgement, to be looked at by all rules.
pause_us=$([[ -n ${NT_EMULATED:-} ]] && echo 50000 || echo 3000)
traffic quiet
show quiet

{
    echo "add chain ip nettape input { type filter hook input priority 0; }"
    for ((i = 0; i < rules; i++)); do
        echo "add rule ip nettape input ip saddr 10.$((i >> 8 & 255)).$((i & 255)).1 counter drop"
    done
} | "${in_b[@]}" nft -f - || bad "nft does not take $rules rules"
traffic rules
show rules
"${in_b[@]}" nft delete table ip nettape
for hook in tcp-start udp-socket-enqueued; do
    [[ $hook == tcp-start && $(late quiet tcp-start 0.5) == 0 ]] ||
        bar_at_least "$rules rules: $hook, median, so many times that without" \
            "$(awk -v a="$(late rules $hook 0.5)" -v b="$(late quiet $hook 0.5)" 'BEGIN { print b ? a / b : 0 }')" 3
done
# more NAME HOOK FRACTION: ns that it is later than without; what the rules add behind ip-start is not added there.
more() { echo $(($(late "$1" "$2" "$3") - $(late quiet "$2" "$3"))); }
bar_at_most "$rules rules: ip-start, median over that without, of half of what they add at udp-socket-enqueued" \
    "$(more rules ip-start 0.5)" \
    $(($(more rules udp-socket-enqueued 0.5) / 2))

# The reader has to wait for its turn; what the sender's CPU does for the packet is as quick as ever.
for ((i = 0; i < 4; i++)); do
    taskset -c "$reader_cpu" "$tools/burner" 600 competitor >/dev/null &
    keep $!
done
traffic busy
show busy
# That is what lies between the two hooks; beside it stands no quiet read, since this machine may be busy by itself.
waited=$(($(late busy tcp-socket-read 0.95) - $(late busy tcp-socket-enqueued 0.95)))
bar_at_least "a busy CPU: tcp-socket-read, p95, over that at tcp-socket-enqueued" "$waited" 200000
((sender_cpu == reader_cpu)) ||
    bar_at_most "a busy CPU: tcp-socket-enqueued, median over that without, of half of that" \
        "$(more busy tcp-socket-enqueued 0.5)" $((waited / 2))
finish
