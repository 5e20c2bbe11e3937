#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Remakes the README's examples and picture from one recording, and its table of costs. `make readme` calls it, as
# root. It records this host, so nothing else should run. It takes about five minutes.
#
#   README_BUSY=1       even if something else runs: to see whether this works
#   README_ROUNDS=9     of the table of costs; 0 leaves the table as it is
#
# It runs each command of the README in order, and puts the output below it (tests/readme.py says which part). The
# traffic: 50 clients read values of 16 KiB from redis, and for four of the ten seconds iperf3 copies beside them.
# README.md and the pictures are replaced at the end, when all went well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tests/netns.sh
source tests/netns.sh
# shellcheck source=tests/may_lose.sh
source tests/may_lose.sh
# shellcheck source=tests/redis.sh
source tests/redis.sh
# shellcheck source=tests/give_back.sh
source tests/give_back.sh
rounds=${README_ROUNDS:-9}
requests=300000 # about three seconds of them

bash tests/setup.sh build load readme
make -s -j"$(nproc)" all
[[ $(id -u) == 0 ]] || { echo "readme: this records, which needs root" >&2; exit 1; }
mkdir -p build/tmp
work=$(mktemp -d "$PWD/build/tmp/readme.XXXXXX")
project=$PWD
PATH=$PWD/build:$PATH
background=()
keep() { background+=("$1"); }

cleanup() {
    local status=$? pid
    trap - EXIT
    for pid in "${background[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    wait
    netns_remove
    rm -rf "$work"
    give_back build README.md docs/page-*.png
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The share of the time of all CPUs that was idle in two seconds, in %.
idle_share() {
    { grep '^cpu ' /proc/stat; sleep 2; grep '^cpu ' /proc/stat; } | awk '
        { all = 0; for (i = 2; i <= 9; i++) all += $i; idle = $5 + $6 }
        NR == 1 { all0 = all; idle0 = idle }
        END { printf "%d", 100 * (idle - idle0) / (all - all0) }'
}

# ---- the table of costs ----

# self_share TAPE: the CPU time of the recorder's threads while it recorded, in % of one CPU
self_share() {
    nettape-report query --csv "$1" "
        SELECT sum(100.0 * change / span) FROM (SELECT max(value) - min(value) AS change, max(ts) - min(ts) AS span
        FROM self_cost WHERE program IS NULL AND name IN ('user_ns', 'system_ns') GROUP BY name)" | tail -1
}

# measure NAME: one round of it; adds "requests/s p50 p99 share-of-a-CPU" to its file
measure() {
    local tape=$work/cost.tape figures perf ticks
    case $1 in
    nothing) figures="$(redis_measure small $requests) 0" ;;
    perf)
        perf record -q -a -m 2048 -o "$work/perf.data" \
            -e sched:sched_switch,irq:softirq_entry,irq:softirq_exit,sock:sock_send_length,sock:sock_recv_length \
            2>/dev/null &
        perf=$!
        sleep 1
        ticks=$(awk '{ print $14 + $15 }' /proc/$perf/stat)
        figures=$(redis_measure small $requests)
        ticks=$(($(awk '{ print $14 + $15 }' /proc/$perf/stat) - ticks))
        kill -INT $perf
        wait $perf || true
        figures+=" $(awk -v n=$requests -v rate="${figures%% *}" -v ticks=$ticks -v hz="$(getconf CLK_TCK)" \
            'BEGIN { print 100 * ticks / hz / (n / rate) }')"
        ;;
    *)
        figures=$(redis_measure small $requests may_lose nettape-record -q -o "$tape" --probes "$1" --)
        figures+=" $(self_share "$tape")"
        ;;
    esac
    echo "$figures" >>"$work/$1.cost"
    rm -rf "$tape" "$work"/perf.data*
}

measure_costs() {
    local names=(nothing default 'default,stacks,latency' perf) name i
    for ((i = 0; i < rounds; i++)); do
        echo "costs, round $((i + 1)) of $rounds"
        for name in "${names[@]}"; do measure "$name"; done
        # So that each comes after each.
        names=("${names[@]:1}" "${names[0]}")
    done
    python3 tests/readme.py costs "$work/README.md" "$work"
}

# ---- the examples ----

# For the README's commands: sudo is not needed here.
sudo() { "$@"; }

run_commands() {
    local number=0 line status
    while IFS= read -r line; do
        number=$((number + 1))
        status=0
        echo "\$ $line"
        (cd "$work" && eval "$line") >"$work/printed" 2>&1 </dev/null || status=$?
        # 3: recorded, with losses.
        if [[ $status != 0 && $status != 3 ]]; then
            tail -5 "$work/printed" >&2
            echo "readme: exit status $status of: $line" >&2
            exit 1
        fi
        python3 tests/readme.py remake "$work/README.md" "$number" "$work/printed"
    done < <(python3 tests/readme.py commands README.md)
}

# picture NAME SCHEME: what a reader of the page sees first; scheme 0 is dark, 1 is light
picture() {
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/chromium" \
        --blink-settings=preferredColorScheme="$2" --force-device-scale-factor=1 --window-size=1120,785 \
        --screenshot="$work/page.png" "$work/busy.html" >"$work/chromium.log" 2>&1
    pngquant --speed 1 --output "$work/page-$1.png" 128 "$work/page.png"
}

idle=$(idle_share)
if ((idle < 95)) && [[ ${README_BUSY:-0} != 1 ]]; then
    echo "readme: something else runs here (idle: $idle %), and would be in the examples; README_BUSY=1 goes on" >&2
    exit 1
fi
cp README.md "$work/"
netns_make
# Nothing but that traffic: with IPv6 a namespace looks for routers, and rows of packets that nobody wants would come.
for run in in_a in_b; do
    declare -n of=$run
    "${of[@]}" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
redis_start
[[ $rounds == 0 ]] || measure_costs
redis_load large
sleep 1
copy_start 4 4
run_commands
picture dark 0
picture light 1
cp "$work"/page-{light,dark}.png "$project/docs/"
cp "$work/README.md" "$project/README.md"
ls -l README.md docs/page-*.png
