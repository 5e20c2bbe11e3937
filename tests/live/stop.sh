#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The end of a recording: by SIGINT and SIGTERM under full load, in under a second (a bar: ten in an emulated guest; a
# recorder that takes a minute hangs), whole and without loss; by -d; with its command, whose status is passed on. Also
# the programs that `--probes sched` loads, and the message to a user without rights.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

# As fast as it goes; emulated, no faster than leaves the recorder its share.
flood_start "$([[ -z ${NT_EMULATED:-} ]] && echo 0 || echo 5000)"

now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
info() { "$report" info --json "$1" >"$work/info.json" && sqlite3 -batch -noheader :memory: \
    "SELECT json_extract(readfile('$work/info.json'), '\$.$2')"; }

for signal in INT TERM; do
    tape=$work/$signal.tape
    # SIGINT is ignored in what a script starts in the background, so it is set back. Rings that none of this fills.
    env --default-signal=INT "$record" -o "$tape" --ring-size 64M >"$work/$signal.log" 2>&1 &
    pid=$!
    keep $pid
    wait_for 20 compgen -G "$tape/chunk-*" || bad "no recording began: $(cat "$work/$signal.log")"
    sleep 1
    wait_for 120 have_come $(($(datagrams_in) + $(scaled 10000))) || bad "the flood does not come"
    begin=$(now_ms)
    kill -"$signal" $pid
    status=0
    wait $pid || status=$?
    took=$(($(now_ms) - begin))
    is "SIG$signal: exit status" "$status" 0
    at_most "SIG$signal: milliseconds to the end" "$took" 60000
    bar_at_most "SIG$signal: milliseconds to the end" "$took" "$([[ -z ${NT_EMULATED:-} ]] && echo 1000 || echo 10000)"
    is "SIG$signal: complete" "$(info "$tape" complete)" 1
    is "SIG$signal: records lost for want of room" \
        "$("$report" query --csv "$tape" "SELECT ifnull(sum(count), 0) FROM loss WHERE why = 'ring full'" | tail -1)" 0
    at_least "SIG$signal: events" "$(info "$tape" events)" 10000
    is "SIG$signal: unfinished files" "$(find "$tape" -name '*.partial' | wc -l)" 0
    succeeds "SIG$signal: check" "$report" check "$tape"
done
is "permissions of the directory" "$(stat -c %a "$work/INT.tape")" 700
is "permissions of its files" "$(stat -c %a "$work"/INT.tape/* | sort -u)" 600

"$record" -o "$work/d.tape" -q -d 0.5 --ring-size 64M >"$work/d.log" 2>&1
is "-q prints" "$(cat "$work/d.log")" ""
at_least "-d 0.5: nanoseconds recorded" "$(info "$work/d.tape" duration_ns)" 450000000
# However late the recorder's turn comes.
at_most "-d 0.5: nanoseconds recorded" "$(info "$work/d.tape" duration_ns)" 60000000000
bar_at_most "-d 0.5: nanoseconds recorded" "$(info "$work/d.tape" duration_ns)" 1500000000

status_of() {
    local status=0
    rm -rf "$work/c.tape"
    "$record" -o "$work/c.tape" --ring-size 64M "$@" >"$work/c.log" 2>&1 || status=$?
    echo $status
}
is "status of a command that succeeds" "$(status_of -q -- true)" 0
is "status of a command that fails" "$(status_of -q -- sh -c 'exit 3')" 3
# shellcheck disable=SC2016
is "status of a command that a signal ends" "$(status_of -q -- sh -c 'kill -TERM $$')" 143
is "complete" "$(info "$work/c.tape" complete)" 1

# The recording is over and the command is not: a signal ends it.
rm -rf "$work/c.tape"
# shellcheck disable=SC2016
"$record" -o "$work/c.tape" -d 0.1 -- sh -c 'echo $$ >"$0"; exec sleep 300' "$work/command" 2>"$work/c.log" &
waiting=$!
keep $waiting
wait_for 30 grep -q next: "$work/c.log"
kill -TERM $waiting
status=0
wait $waiting || status=$?
is "status of a signal while the command goes on" "$status" 143
is "and the command" "$(kill -0 "$(<"$work/command")" 2>&1 | grep -c 'No such process')" 1
is "complete" "$(info "$work/c.tape" complete)" 1
is "status of a command that is not there" "$(status_of -q -- /nonexistent/command)" 127
is "status when misused" "$(status_of --no-such-option)" 2
is "status of a probe that is not there" "$(status_of --probes nonsense)" 2
mkdir "$work/full.tape"
touch "$work/full.tape/something"
status=0
"$record" -o "$work/full.tape" -q -d 0.1 >"$work/full.log" 2>&1 || status=$?
is "status when the tape is there already" "$status" 1
is "and it says one sentence that names it" "$(grep -c "full.tape" "$work/full.log")" 1

recording_start "$work/two.tape" --probes sched
status=0
"$record" -o "$work/two.tape" -q -d 0.1 2>"$work/two.log" || status=$?
recording_stop
is "status of a second recorder on one tape" "$status" 1
is "and it says so" "$(grep -c "another nettape-record is writing .*two.tape" "$work/two.log")" 1
is "the first one's is complete" "$(info "$work/two.tape" complete)" 1

# ---- --probes sched loads what switches need, and nothing else ----
bpftool=$(find_bpftool)
if [[ -n $bpftool ]]; then
    recording_start "$work/sched.tape" --probes sched
    programs_of "$recorder" >"$work/ids"
    while read -r id; do
        "$bpftool" prog show id "$id" --json | grep -o '"name":"[^"]*"'
    done <"$work/ids" >"$work/programs"
    recording_stop
    sed 's/^/    loaded: /' "$work/programs"
    at_least "programs that --probes sched loads" "$(wc -l <"$work/programs")" 3
    is "of softirqs, interrupts, sockets" "$(grep -cE 'softirq|irq|vector|sock|sys_' "$work/programs" || true)" 0
    succeeds "check of a tape of --probes sched" "$report" check "$work/sched.tape"
    is "of those, loaded after" "$(while read -r id; do "$bpftool" prog show id "$id" 2>/dev/null || true;
        done <"$work/ids" | wc -l)" 0
else
    echo "# bpftool is not there: which programs --probes sched loads was not looked at"
fi

# ---- without the rights ----
install -d -m 777 "$work/nobody"
install -m 755 "$record" "$work/nobody/nettape-record"
chmod 711 "$work"
status=0
(cd "$work/nobody" && setpriv --reuid=65534 --regid=65534 --clear-groups ./nettape-record -o n.tape \
    -d 1) >"$work/n.log" 2>&1 || status=$?
if grep -q 'No such file or directory\|Permission denied' "$work/n.log" && ! grep -q nettape-record: "$work/n.log"; then
    echo "# the checkout cannot be entered by other users: running without rights was not looked at"
else
    is "without the rights: exit status" "$status" 1
    is "without the rights: one line" "$(wc -l <"$work/n.log")" 1
    at_least "without the rights: it names the remedy" "$(grep -ciE 'root|cap_bpf' "$work/n.log")" 1
    is "without the rights: nothing is left" "$(find "$work/nobody" -name '*.tape' | wc -l)" 0
fi
finish
