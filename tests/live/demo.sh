#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demo: leaves a tape and a database that add up, and a page of them; replaces only its own; cleans up when
# interrupted; and where nothing can be recorded reads the tape that comes with the project.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
command -v iperf3 >/dev/null || skip "iperf3 is not installed"
demo=$PWD/tests/demo.sh
export DEMO_SECONDS=1 DEMO_RATE=10M
namespaces() { ip netns list | grep -c "^nettape-$1-" || true; }

mkdir "$work/here"
cd "$work/here"
succeeds "the demo" bash "$demo"
at_least "lines of what it prints" "$(wc -l <"$work/out")" 30
is "what it leaves" "$(ls)" "demo.db
demo.html
demo.tape"
first=$(sql demo.db 'SELECT uuid FROM session')
at_least "lines of the page that name its recording" "$(grep -c "$first" demo.html)" 1
is "the last line" "$(tail -1 "$work/out" | grep -c 'demo.html')" 1
is "complete" "$(sql demo.db 'SELECT complete FROM session')" 1
at_least "sends that it recorded" "$(sql demo.db "SELECT count(*) FROM sock_op JOIN thread USING (session_id, utid)
    WHERE name = 'iperf3' AND op = 'send'")" 100
# Each command that it names to try next, but for the one that records this host.
sed -n 's/^  \(\/.*nettape-report.*\)/\1/p' "$work/out" >"$work/commands"
is "commands that it names" "$(wc -l <"$work/commands")" 2
while read -r line; do succeeds "$line" bash -c "$line"; done <"$work/commands"
succeeds "the demo again" bash "$demo"
at_least "sessions that differ from the first" "$(sql demo.db "SELECT count(*) FROM session WHERE uuid <> '$first'")" 1

# theirs FILE: somebody's, that has a name of the demo's
theirs() {
    local status=0
    echo mine >"$1"
    bash "$demo" >"$work/out" 2>&1 || status=$?
    is "with somebody's $1 there: exit status" "$status" 1
    is "and what was there" "$(cat "$1")" mine
}
rm -rf demo.tape demo.db
succeeds "the demo where only its page is left" bash "$demo"
theirs demo.html
rm -rf demo.tape demo.db demo.html
mkdir demo.tape
theirs demo.tape/notes
rm -rf demo.tape

# A script's background process ignores SIGINT, and a shell that began so cannot change it.
env --default-signal=INT setsid bash "$demo" >"$work/interrupted" 2>&1 &
pid=$!
keep $pid
wait_for 30 grep -q '== recording' "$work/interrupted" || bad "it did not come to recording"
sleep 1
# To the whole group, as a terminal does.
kill -INT -- "-$pid"
status=0
wait $pid || status=$?
is "interrupted: exit status" "$status" 130
is "interrupted: what it leaves" "$(ls)" ""
is "interrupted: its namespaces" "$(namespaces "$pid")" 0
is "interrupted: its directories" "$(find "$OLDPWD/build/tmp" -maxdepth 1 -name 'demo.*' -newer "$work/interrupted" |
    wc -l)" 0

if [[ -d $OLDPWD/tests/golden/demo.tape ]]; then
    succeeds "without the right to load BPF" setpriv --bounding-set -bpf,-perfmon,-sys_admin bash "$demo"
    at_least "and it says so" "$(grep -c 'nothing can be recorded here' "$work/out")" 1
    at_least "sends on the tape that comes with the project" \
        "$(sql demo.db "SELECT count(*) FROM sock_op WHERE op = 'send'")" 100
fi
cd "$OLDPWD"
finish
