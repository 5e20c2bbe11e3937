#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe transmit: of a known number of datagrams each passes both hooks, with the begin of its own send; and what a
# device's queue (netem, where the kernel has it) adds lies between the hooks. A packet with bytes of an earlier send is
# of none that is known, and one that the kernel cuts makes no sample where the driver gets it. One that is drawn makes
# both.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
# shellcheck source=tests/live/latency_lib.sh
source "$(dirname "$0")/latency_lib.sh"
type python3 >/dev/null || skip "no python3"
netns_a=$("${in_a[@]}" stat -Lc %i /proc/self/ns/net)
sent=$(scaled 2000)
delay_us=5000
exchange udp 9001 1 100 0 0 # so that no neighbour's address is waited for
if "${in_a[@]}" tc qdisc add dev veth0 root netem delay ${delay_us}us limit 10000 2>"$work/netem.log"; then
    delayed=1
else
    delayed='' && echo "# no netem here: $(tail -1 "$work/netem.log")"
fi

# parts PORT: a datagram in two parts, and two sends on TCP of which the first waits for the second
parts() {
    "${in_b[@]}" python3 - "$addr_b" "$1" "$work/listens" <<'PY' &
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
open(sys.argv[3], "w").close()
peer, _ = server.accept()
while peer.recv(4096):
    pass
PY
    keep $!
    wait_for 60 test -e "$work/listens"
    "${in_a[@]}" python3 - "$addr_b" "$1" <<'PY'
import socket, sys
to = (sys.argv[1], int(sys.argv[2]))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.connect(to)
    udp.send(b"a" * 30, socket.MSG_MORE)
    udp.send(b"b" * 31)
with socket.create_connection(to) as tcp:
    tcp.send(b"a" * 50, socket.MSG_MORE)
    tcp.send(b"b" * 51)
PY
}

recording_start "$work/t.tape" --bpf-stats --probes default,transmit
exchange udp 9002 "$sent" 100 200 0
parts 9003
"${in_a[@]}" ethtool -K veth0 gso on
exchange tcp 9004 20 60000 0 0
recording_stop
db=$work/t.db
import_tape "$work/t.tape" "$db"
check_whole "$work/t.tape" "$db"
adds_up "$db"

# at HOOK EXPRESSION CONDITION: of the samples at the sender's device
at() {
    sql "$db" "SELECT $2 FROM skb_latency l JOIN net_device d ON d.id = l.device_id WHERE hook = '$1'
        AND d.netns = $netns_a AND d.name = 'veth0' AND $3"
}
# Both headers, and the link's.
udp=$((100 + 28 + 14))
# Where a process that the host hides ran in the middle of a send, who sends is not known.
hidden=$(stretches_uncovered "$db")
for hook in tx-queued tx-started; do
    known=$(at $hook 'count(DISTINCT stamp_ns)' "length = $udp")
    at_most "sends with a datagram at $hook, $sent in all" "$known" "$sent"
    at_least "the same, with one for each stretch uncovered ($hidden)" $((known + hidden)) "$sent"
    is "datagrams with a known send there" "$(at $hook 'count(stamp_ns)' "length = $udp")" "$known"
    is "datagrams there" "$(at $hook 'count(*)' "length = $udp")" "$sent"
done
begins="NOT EXISTS (SELECT 1 FROM sock_op AS o WHERE o.utid = l.utid AND o.op = 'send' AND o.ts = stamp_ns"
at_most "packets queued outside of the send that they are said to be of" \
    "$(at tx-queued 'count(*)' "stamp_ns IS NOT NULL AND $begins AND l.ts BETWEEN o.ts AND o.ts + o.dur)")" "$hidden"
at_most "packets with another begin where the driver gets them" \
    "$(at tx-started 'count(*)' "stamp_ns IS NOT NULL AND $begins)")" "$hidden"
is "datagrams in parts, of the send that completed them" "$(sql "$db" "SELECT count(*) FROM skb_latency AS l
    JOIN sock_op AS o ON o.utid = l.utid AND o.op = 'send' AND o.ts = l.stamp_ns
    WHERE hook = 'tx-queued' AND length = $((30 + 31 + 28 + 14)) AND o.bytes = 31")" 1
# Over IPv4, with or without timestamps.
whole="length BETWEEN $((50 + 51 + 40 + 14)) AND $((50 + 51 + 60 + 14)) AND length NOT IN ($udp)"
is "segments of two sends" "$(at tx-queued 'count(*)' "$whole")" 1
is "segments of two sends, of which one is known" "$(at tx-queued 'count(latency_ns)' "$whole")" 0
at_least "packets cut from others after they were queued" \
    "$(sql "$db" "SELECT skipped_unnoted FROM latency_hook WHERE hook = 'tx-started'")" 1

# pairs WHAT DB: each packet that a driver got is one that its device had queued, just so long before
pairs() {
    is "$1 that were not queued as they say" "$(sql "$2" "CREATE TEMP TABLE q AS SELECT * FROM skb_latency
        WHERE hook = 'tx-queued'; CREATE INDEX q_ts ON q(ts);
        SELECT count(*) FROM skb_latency AS l WHERE hook = 'tx-started' AND NOT EXISTS (SELECT 1 FROM q
            WHERE q.ts = l.ts - l.wait_ns AND q.device_id = l.device_id AND q.length = l.length
            AND q.weight = l.weight AND q.stamp_ns IS l.stamp_ns)")" 0
}
pairs "packets" "$db"
if [[ $delayed ]]; then
    at_least "the least wait for the driver, in ns" "$(at tx-started 'min(wait_ns)' 1)" $((delay_us * 1000))
    [[ -n ${NT_EMULATED:-} ]] || bar_at_most "the middle one, in us, of a delay of $delay_us" \
        "$("$report" latency "$db" --between tx-queued tx-started --json | grep -o '"p50_ns": *[0-9]*' |
            grep -o '[0-9]*$' | awk '{ print $1 / 1000 }')" $((delay_us * 2))
fi

# ---- drawn packets of one network namespace ----

recording_start "$work/s.tape" --bpf-stats --probes default,transmit --netns "$netns_a" --latency-sample 0.1
exchange udp 9005 "$sent" 100 0 0
recording_stop
import_tape "$work/s.tape" "$work/s.db"
adds_up "$work/s.db"
at_least "packets drawn" "$(sql "$work/s.db" "SELECT count(*) FROM skb_latency WHERE hook = 'tx-started'")" 10
pairs "drawn packets" "$work/s.db"
is "packets of other network namespaces" "$(sql "$work/s.db" "SELECT count(*) FROM skb_latency AS l
    JOIN net_device AS d ON d.id = l.device_id WHERE d.netns <> $netns_a")" 0
finish
