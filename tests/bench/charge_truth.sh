#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether the rule of docs/charging.md is right: two flows in one recording, and beside it clock reads around the work
# on each packet (charge_truth.c), which use nothing of the probe's. Printed: what each flow costs a packet by both, its
# share by both, and how far the shares are apart. As root.
#
#   tests/bench/charge_truth.sh             all variants
#   tests/bench/charge_truth.sh 'gro.*4'    those whose name matches
#   CHARGE_RUNS=10 CHARGE_SECONDS=1         of each variant; CHARGE_RUNS=1 CHARGE_SECONDS=0.2 for a quick look
#   CHARGE_HOOKS=fentry                     clock reads at functions instead of by netfilter programs (Linux 6.4)
#   JUDGE=1                                 exit status 1 if the median of a variant is off by more than 10 %
#
# A variant is WAY.FLOWS.FAMILY, such as gro.tcp_udp.4. The first flow is behind 200 rules of nft.
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
runs=${CHARGE_RUNS:-10}
seconds=${CHARGE_SECONDS:-1}
hooks=${CHARGE_HOOKS:-netfilter}
wanted=${1:-.}
bash tests/setup.sh build load
if [[ $(id -u) != 0 ]]; then
    echo "nettape: the bench records, which needs root" >&2
    exit 1
fi
make -s all build/bench/charge_truth build/bench/charge_truth.bpf.o build/tools/{flood,payers}
truth=(build/bench/charge_truth build/bench/charge_truth.bpf.o "$hooks")
first=9001 second=9002

# ---- traffic ----

# sysfs FILE VALUE: of the receiving device. `ip` mounts a /sys of the namespace.
sysfs() { "${in_b[@]}" sh -c "echo $2 >/sys/class/net/veth0/$1"; }

# From the driver's queue, one by one.
way_plain() { :; }
# By NAPI and GRO. A veth device receives so only what its peer does not leave whole for it to cut up (TSO).
way_gro() {
    "${in_a[@]}" ethtool -K veth0 tso off gro on
    "${in_b[@]}" ethtool -K veth0 tso off gro on
}
# The same, and as a network card with interrupt moderation does: a poll every 200 us takes all that came.
way_moderated() {
    way_gro
    sysfs napi_defer_hard_irqs 1000000000
    sysfs gro_flush_timeout 200000
}

# Flows: PROTOCOL SIZE RATE of the first, then of the second; no rate: as much as goes.
flows_tcp_udp() { echo tcp 65536 0 udp 200 50000; }
flows_udp_tcp() { echo udp 200 50000 tcp 65536 0; }
flows_udp_udp() { echo udp 200 50000 udp 1400 50000; }
# One sender of both, in turn, three for one of the first. So with moderation neither is ever alone.
flows_turns() { echo udp 200 turns udp 200 turns; }

# Before 200 rules that match nothing, on the way in.
chain() {
    local i
    {
        printf 'table inet t {\nchain long {\n'
        for ((i = 0; i < 200; i++)); do echo "tcp sport $((i + 1)) drop"; done
        printf '}\nchain input {\ntype filter hook input priority 0;\nth dport %s jump long\n}\n}\n' "$first"
    } | "${in_b[@]}" nft -f -
}

receive() { # PROTOCOL PORT
    "${in_b[@]}" "$tools/flood" "$1-recv" "$address" "$2" 2>/dev/null &
    keep $!
}
# Prints the sender's command.
send() { # PROTOCOL SIZE RATE PORT
    local rate=$3
    [[ $1 == udp ]] || rate=
    echo "timeout $seconds $tools/flood $1-send $address $4 $2 $rate 2>/dev/null &"
}
send_in_turns() { echo "timeout $seconds $tools/payers send $address $first 1000000000 &"; }
end_receivers() {
    local pid
    for pid in "${background[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${background[@]}"; do wait "$pid" 2>/dev/null || true; done
    background=()
}

# ---- one run ----

# The command that sends the first flow, the second, or both.
load_of() {
    if [[ ${flows[2]} == turns ]]; then
        send_in_turns
        return
    fi
    [[ $1 == second ]] || send "${flows[@]:0:3}" $first
    [[ $1 == first ]] || send "${flows[@]:3:3}" $second
}
# traffic WHICH: records it; leaves $work/run, lines "FLOW packets N gro NS way NS ... charged NS"
traffic() {
    receive "${flows[0]}" $first
    receive "${flows[3]}" $second
    sleep 0.2
    rm -rf "$work/tape" "$work/db"
    may_lose "$record" -q -o "$work/tape" --probes default,deliver --ring-size 64M -- \
        "${truth[@]}" /run/netns/"$netns_a" /run/netns/"$netns_b" $first $second \
        "${in_a[@]}" sh -c "$(load_of "$1") wait" >"$work/truth"
    end_receivers
    "$report" import --tables rx_cost,flow "$work/tape" -o "$work/db" >/dev/null 2>&1
    sqlite3 -readonly -separator ' ' "$work/db" "SELECT CASE f.dport WHEN $first THEN 'first' ELSE 'second' END,
        sum(spent_ns) FROM rx_cost AS r JOIN flow AS f ON f.session_id = r.session_id AND f.id = r.flow_id
        WHERE f.dport IN ($first, $second) GROUP BY 1" >"$work/charged"
    awk 'NR == FNR { charged[$1] = $2; next } $1 in charged { $0 = $0 " charged " charged[$1] } { print }' \
        "$work/charged" "$work/truth" >"$work/run"
}

# Reads a run: v[FLOW, KEY]. clock(FLOW) is the time that clocks say; all(FLOW) adds the time between packets.
# shellcheck disable=SC2016  # awk expands it
read_run='
    function clock(flow) { return v[flow, "gro"] + v[flow, "way"] + v[flow, "chains"] + v[flow, "delivery"] }
    function all(flow) { return clock(flow) + v[flow, "between"] }
    function share(one, two) { return one / (one + two) }
    function abs(x) { return x < 0 ? -x : x }
    # How far a share is off, of the flow for which it is more.
    function off(truth, charged,    a, b) {
        a = abs(charged / truth - 1); b = abs((1 - charged) / (1 - truth) - 1)
        return a > b ? a : b
    }
    { for (i = $1 == "run" ? 1 : 2; i < NF; i += 2) v[$1, $i] = $(i + 1) }'

# Of a run with both: shares of the first by clock, charged, and how far these are off; the same by clock without what
# lies between; which part of the time of runs was shared, which was in interrupts
compare() {
    awk "$read_run"'
        END {
            truth = share(all("first"), all("second"))
            strict = share(clock("first"), clock("second"))
            charged = share(v["first", "charged"], v["second", "charged"])
            printf "%.4f %.4f %.4f %.4f %.4f %.4f\n", truth, charged, off(truth, charged), strict,
                off(strict, charged), v["run", "shared"] / v["run", "run"]
        }' "$work/run"
}
# cost FLOW: ns a packet, by clock and charged, and by part
cost() {
    awk -v flow="$1" "$read_run"'
        function each(key) { return v[flow, key] / v[flow, "packets"] }
        END { if (v[flow, "packets"]) printf "%.0f %.0f   %.0f %.0f %.0f %.0f %.0f\n", all(flow) / v[flow, "packets"],
            each("charged"), each("gro"), each("way"), each("chains"), each("delivery"), each("between") }' "$work/run"
}

# ---- variants ----

# column N: of all runs the median, with quartiles
column() { awk -v n="$1" '{ print $n }' "$work/shares" | quartiles | sed 's/, [0-9]* pairs//'; }

variant() {
    local name=$1 way=$2 family=$4 run
    read -ra flows <<<"$("flows_$3")"
    address=$addr_b
    [[ $family == 4 ]] || address=$addr6_b
    netns_make
    "way_$way"
    chain
    echo "== $name: ns a packet by clock, charged;   of these gro, way, chains, delivery, between"
    if [[ ${flows[2]} != turns ]]; then
        for run in first second; do
            traffic $run
            printf '  %-15s %s\n' "$run alone" "$(cost $run)"
        done
    fi
    rm -f "$work/shares"
    for ((run = 0; run < runs; run++)); do
        traffic both
        compare >>"$work/shares"
    done
    for run in first second; do printf '  %-15s %s\n' "$run, last run" "$(cost $run)"; done
    echo "  share of the first by clock $(column 1), charged $(column 2); known only for several together $(column 6)"
    result "$name: off" "$(column 3)" "<= 0.10"
    result "$name: off, without what lies between packets" "$(column 5)"
    netns_remove
}

for way in plain gro moderated; do
    for mix in tcp_udp udp_tcp udp_udp turns; do
        for family in 4 6; do
            [[ $way.$mix.$family =~ $wanted && $mix.$family != turns.6 ]] || continue
            variant "$way.$mix.$family" "$way" "$mix" "$family"
        done
    done
done
bench_table
[[ ! ${JUDGE:-} ]] || ! grep -q MISSED "$results"
