#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On terminals of 60, 80 and 200 columns no line of any command is longer than the terminal is wide. The terminal is
# tmux's: it joins lines that wrapped (capture-pane -J), so one that is too long is seen.
# check-all: it takes half a minute
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip "tmux is not installed, which gives terminals of any width"

socket=$work/tmux
tmux_() { env -u TMUX -u NO_COLOR -u LC_ALL -u LC_CTYPE LANG=C.UTF-8 tmux -u -f /dev/null -S "$socket" "$@"; }
trap 'tmux_ kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
tmux_ new-session -d -x 80 -y 50 -s keep "sleep 3600" 2>"$work/err" || skip "tmux does not start here: $(<"$work/err")"
tmux_ set-option -g history-limit 50000
tmux_ set-option -g status off

# show WIDTH ARGUMENT...: $work/shown is what a terminal that wide shows of a command
show() {
    local width=$1
    shift
    printf '%q ' "$PLAIN" "$@" >"$work/command"
    printf '</dev/tty 2>&1\necho $? >%q\nsleep 3600\n' "$work/status" >>"$work/command"
    rm -f "$work/status"
    tmux_ new-session -d -x "$width" -y 50 -s show "exec bash $work/command"
    for ((i = 0; i < 6000; i++)); do
        [[ -s $work/status ]] && break
        sleep 0.05
    done
    tmux_ capture-pane -p -J -S - -t show | sed -e 's/ *$//' >"$work/shown"
    tmux_ kill-session -t show
    [[ -s $work/status ]]
}

# fits WIDTH ARGUMENT...: it does, and something is shown
fits() {
    local longest
    show "$@" || { bad "no end: ${*:2}"; return; }
    longest=$(LC_ALL=C.UTF-8 wc -L <"$work/shown")
    if [[ -s $work/shown ]] && ((longest <= $1)); then ok "$1 columns: ${*:2} ($longest)"; else
        bad "$1 columns: ${*:2}: the longest line has $longest"
        while IFS= read -r line; do
            (($(LC_ALL=C.UTF-8 wc -L <<<"$line") <= $1)) || echo "    $line"
        done <"$work/shown" | head -5
    fi
}

for scenario in hand loss hostile hotplug wide markup; do make_tape "$scenario"; done
ln -s "$PWD/tests/golden" "$work/golden"
cd "$work"
for name in hand loss hostile hotplug wide markup; do mv "$name.tape" "$name" && mv "$name" "$name.t"; done
"$PLAIN" import golden/demo.tape golden/v1-stacks.tape -o d.db >/dev/null 2>&1
# Names as long as they can be, addresses of IPv6, and a path that no line has room for.
cp d.db long.db
if command -v sqlite3 >/dev/null; then
    sqlite3 long.db "UPDATE process SET name = 'fifteen-bytes-' || (upid % 10);
        UPDATE thread SET name = 'fifteen-bytes-' || (utid % 10);
        UPDATE socket SET family = 'inet6', src = '2001:db8:85a3:8d3:1319:8a2e:370:7348',
            dst = 'fe80:1111:2222:3333:4444:5555:6666:' || id;
        UPDATE cgroup SET label = '/kubepods.slice/kubepods-burstable.slice/'
            || 'kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice/cri-' || id;
        INSERT INTO session_meta(session_id, key, value) VALUES (1, 'uncovered', 'a-word-' || hex(zeroblob(80)));
        UPDATE session SET host = 'a-host-whose-name-is-as-long-as-linux-lets-it-be-sixty-four-char'"
fi
for width in 60 80 200; do
    for file in golden/demo.tape long.db hostile.t hotplug.t; do fits $width summary $file; done
    for by in program process port peer cgroup socket; do fits $width summary long.db --by $by; done
    for file in golden/demo.tape long.db hostile.t; do
        fits $width check $file
        fits $width timeline $file
    done
    for file in golden/demo.tape golden/v1-stacks.tape hostile.t; do fits $width info $file; done
    fits $width timeline golden/demo.tape --worst network
    fits $width timeline long.db --process fifteen-bytes-3
    fits $width stages golden/v1-stacks.tape
    fits $width stages golden/v1-stacks.tape --by process
    fits $width latency golden/v1-samples.tape
    fits $width drops golden/v1-samples.tape
    fits $width retransmits golden/v1-samples.tape
    fits $width wakeups golden/v1-wakeups.tape
    fits $width top golden/v1-sketch.tape
    fits $width top golden/v1-sketch.tape --by port
    fits $width query long.db "SELECT * FROM net_cost_socket"
done
for file in wide.t markup.t loss.t; do
    for command in summary check info timeline; do fits 80 $command $file; done
done
fits 80 stages golden/v1-stacks.tape --other
fits 80 stages golden/v1-stacks.tape --inclusive --by cgroup
fits 80 latency golden/v1-samples.tape --by socket
fits 80 latency golden/v1-samples.tape --histogram
fits 80 latency golden/v1-samples.tape --over-time
fits 80 latency golden/v1-samples.tape --between ip-start udp-socket-read
fits 80 symbolize d.db
fits 80 query long.db "SELECT * FROM session"

# A wider terminal shows more.
show 80 summary golden/demo.tape
lacks "80 columns have no share of a CPU" "$(grep '^program' shown)" "cpu"
show 200 summary golden/demo.tape
has "200 columns have it" "$(grep '^program' shown)" "cpu"
has "and the time of each CPU" "$(<shown)" "and as time"
lacks "nothing is left out" "$(<shown)" "Left out"
show 200 query golden/demo.tape "SELECT 'x' AS a"
has "a query of few columns is whole" "$(<shown)" "x"
finish
