#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# docs/monitoring.md, played to the first panel with data, and on: each query of the dashboard has data then, Prometheus
# takes the alerts, and the server has no metric that the dashboard does not know. All that listens is in a network
# namespace, so that the page's ports are free.
#
# check-all: it needs Prometheus, which is fetched
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
[[ -x build/nettape-serve ]] || skip "nettape-serve is not made here: bash tests/setup.sh serve"
for tool in curl nsenter python3; do type $tool >/dev/null || skip "no $tool"; done
prometheus=$(bash tests/prometheus.sh prometheus 2>"$work/why") || skip "$(<"$work/why")"
root=$PWD
page=$root/docs/monitoring.md
make -s build/tools/metrics
# Not ip: it would hide the cgroups from the recorder.
in_own=(nsenter --net="/run/netns/$netns_a")

mkdir "$work/bin" "$work/home"
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod 755 "$work/bin/sudo"
PATH=$work/bin:$root/build:$(dirname "$prometheus"):$PATH
flood_start "$(scaled 2000)"
probes=latency,transmit,drops,retransmits,flows,raise,block,memory,kmem
# Nobody has this address: TCP sends again.
"${in_own[@]}" ip neigh add 198.18.0.9 lladdr 02:00:00:00:00:09 dev veth0

# Gives each of these probes something to see.
stir() {
    while "${in_own[@]}" sleep 0.5; do
        "${in_own[@]}" timeout 2 bash -c 'echo >/dev/udp/127.0.0.1/9; : >/dev/tcp/198.18.0.9/9' 2>/dev/null || true
        dd if=/dev/zero of="$work/written" bs=64k count=1 conv=fsync status=none
    done
}
stir &
keep $!

# play COMMAND: those that go on get what makes this short, and its panels full
play() {
    case $1 in
    cp\ *) eval "$1" && sed -i 's/_interval: 15s/_interval: 1s/' ./*/prometheus.yml ;;
    "sudo nettape-record "*) goes_on "$1 --bpf-stats --probes default,$probes" ;;
    "nettape-serve "*)
        wait_for 120 test -d now.tape  # a person would see that it records
        goes_on "$1"
        ;;
    "prometheus "*) goes_on "$1" ;;
    "promtool "*) command=$1 wait_for 120 tells_owners || give_up "no answer: $1" ;;
    *) eval "$1" ;;
    esac
}
goes_on() {
    eval "exec ${in_own[*]} $1" >>said.log 2>&1 &
    keep $!
}
give_up() {
    bad "$1"
    tail -20 "$work"/home/*/said.log
    finish
}
tells_owners() { eval "${in_own[*]} $command" 2>&1 | grep -F '{owner="net_rx"} => ' >"$work/told"; }
cd "$work/home"
while read -r command; do
    echo "+ $command"
    play "${command//\/usr\/share\/doc\/nettape/$root/docs}"
done < <(python3 -B "$root/tests/readme.py" commands "$page")
cd "$root"
at_least "the page's commands end with the time of net_rx" "$(wc -l <"$work/told")" 1

# ask PATH [ARGUMENT...]: an answer of Prometheus
ask() { "${in_own[@]}" curl -sG "http://127.0.0.1:9090/api/v1/$1" "${@:2}"; }
has_data() {
    ask query --data-urlencode "query=$query" >"$work/answer"
    case $query in
    # Of a histogram to which nothing came there is no quantile.
    histogram_quantile*) grep -q '"value":\[[0-9.]*,"[0-9]' "$work/answer" ;;
    *) grep -q '"result":\[{' "$work/answer" && ! grep -q '"NaN"' "$work/answer" ;;
    esac
}
panels=0
while IFS=$'\t' read -r title query; do
    panels=$((panels + 1))
    wait_for 120 has_data || give_up "no data for '$title': $query: $(head -c 300 "$work/answer")"
done < <(python3 -B tests/dashboard.py queries docs/monitoring/dashboard.json)
at_least "queries" "$panels" 50

ask rules >"$work/rules"
is "alerts" "$(grep -o '"name":"Nettape[A-Za-z]*"' "$work/rules" | wc -l)" \
    "$(grep -c 'alert: ' docs/monitoring/alerts.yml)"
is "rules that cannot be asked" "$(grep -o '"health":"err"' "$work/rules" | wc -l)" 0
ask label/__name__/values | grep -o 'nettape_[a-z_]*' >"$work/names"
build/tools/metrics >"$work/metrics"
unknown=$(python3 -B tests/dashboard.py names "$work/metrics" "$work/names")
is "metrics, and of these such that the dashboard does not know" "$unknown" "$(wc -l <"$work/names") 0"
at_least "metrics" "$(wc -l <"$work/names")" 30
finish
