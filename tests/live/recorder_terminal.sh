#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The recorder's output: the line at the start, the status line on a terminal and nowhere else, and at the end the next
# command, which works as it stands. A terminal that takes nothing does not hold the recording up; Ctrl-C ends it.
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
unset SUDO_UID SUDO_GID PKEXEC_UID
probes='sched, softirq, irq, socket, deliver, nettimers(, busypoll)?'

# says WHAT PATTERN FILE: a line of the file is this extended regular expression
says() { if grep -qxE -- "$2" "$3"; then ok "$1: $(grep -xE -- "$2" "$3" | head -1)"; else bad "$1: not in: $(<"$3")";
    fi; }

# ---- elsewhere than on a terminal ----
cd "$work"
may_lose "$record" -o t.tape -d 200ms 2>log
says "the start, with -d" "recording $probes to t\.tape for 200 ms; Ctrl-C stops" log
says "the totals" "t\.tape: [0-9.]+ s, [0-9,]+ events, [0-9,]+ lost, [0-9.]+ [kM]?B \([0-9.]+ bytes an event\)" log
says "the next command" "next: $(dirname "$record")/nettape-report summary t\.tape" log
is "characters that move the cursor" "$(tr -cd '\r\033' <log | wc -c)" 0
may_lose "$record" -o c.tape -- true 2>log
says "the start, with a command" "recording $probes to c\.tape until true ends; Ctrl-C stops" log
may_lose "$record" -o b.tape -d 2m --probes sched -- true 2>log
says "the start, with both" "recording sched to b\.tape until true ends, for 2 min at most; Ctrl-C stops" log
odd="it's a \$(touch here) tape"
may_lose "$record" -o "$odd" -d 100ms 2>log
next=$(sed -n 's/^next: //p' log)
succeeds "the next command for '$odd': $next" bash -c "$next"
grep -q CPU out || bad "there is no summary: $(<out)"
is "and nothing else was run" "$(find . -name here)" ""
# Called by its name, it names the report by its name.
(PATH=$(dirname "$record"):$PATH && may_lose nettape-record -o n.tape -d 100ms 2>log)
says "the next command, by PATH" "next: nettape-report summary n\.tape" log
# Where the report program does not stand beside it, the shell is to find it.
cp "$record" nettape-record
may_lose ./nettape-record -o p.tape -d 100ms 2>log
says "the next command, away from the report" "next: nettape-report summary p\.tape" log
"$record" -o q.tape -q -d 100ms --ring-size 64M 2>log
is "with -q" "$(<log)" ""

# ---- on a terminal ----
if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo "# script (util-linux) does not work here: no terminal was looked at"
    finish
fi
# on_terminal COLUMNS COMMAND: into `log`, as the terminal got it. Its input is no terminal that it could end with.
on_terminal() {
    rm -rf t.tape
    TERM=${type-xterm} may_lose script -qec "stty cols $1 2>/dev/null; $2" /dev/null </dev/null >log ||
        bad "exit status $? of: $2"
    # The text between the begin of a line and its erasure is a status line.
    tr '\r' '\n' <log | sed -n 's/\x1b\[K.*//p' | grep . >lines || true
}
status_line='[0-9,]+ s(, [0-9,]+ events(, [0-9,]+ lost(, [0-9.]+ [kMG]?B)?)?)?'
for columns in 200 40 20; do
    on_terminal $columns "$record -o t.tape -d 2500ms"
    at_least "$columns columns: status lines" "$(wc -l <lines)" 1
    is "$columns columns: others than that" "$(grep -vxE "$status_line" lines || true)" ""
    is "$columns columns: status lines that are too long" "$(awk -v n=$columns 'length >= n' lines)" ""
    [[ $columns != 200 ]] || is "fields" "$(head -1 lines | tr -cd , | wc -c | awk '{ print ($1 >= 3) }')" 1
    is "$columns columns: the status line is erased before the totals" "$(grep -c $'\r\x1b\\[Kt.tape: ' log)" 1
done
type=dumb on_terminal 80 "$record -o t.tape -d 1500ms"
is "a terminal that cannot erase: status lines" "$(wc -l <lines)" 0
type='' on_terminal 80 "$record -o t.tape -d 1500ms"
is "a terminal of no type: status lines" "$(wc -l <lines)" 0
on_terminal 80 "$record -o t.tape -d 1500ms 2>err"
is "standard error in a file: what moves the cursor" "$(tr -cd '\r\033' <err | wc -c)" 0
on_terminal 80 "$record -o t.tape -q -d 1500ms --ring-size 64M"
is "-q: characters" "$(wc -c <log)" 0
on_terminal 80 "$record -o t.tape -- sh -c 'read -r line; sleep 1.2'"
is "beside a command on the terminal: status lines" "$(wc -l <lines)" 0
on_terminal 80 "$record -o t.tape -- sleep 1.2 </dev/null >/dev/null"
at_least "beside a command that is elsewhere: status lines" "$(wc -l <lines)" 1
on_terminal 80 "bash -mc '$record -o t.tape -d 1500ms & wait'"
is "in the background: status lines" "$(wc -l <lines)" 0

# ---- a terminal with somebody at it ----
python3 -c '' 2>/dev/null || {
    echo "# python3 is not there: Ctrl-C and a terminal that is stopped were not looked at"
    finish
}
# at_terminal MODE TAPE: "interrupt" types Ctrl-C; "stop" types Ctrl-S, and Ctrl-Q when the tape is whole. Prints what
# the terminal got.
at_terminal() {
    TERM=xterm timeout 120 python3 - "$1" "$2" "$record" <<'PYTHON'
import glob, os, pty, sys, time

mode, tape, record = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(record, [record, "-o", tape, "--ring-size", "64M", "-d", "3s" if mode == "stop" else "60s"])

got = b""
def read_until(part):
    global got
    while part not in got:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # the recorder has ended
            return
        got += more

read_until(b"Ctrl-C stops")
if mode == "interrupt":
    read_until(b"\x1b[K")
    os.write(terminal, b"\x03")
else:
    os.write(terminal, b"\x13")  # Ctrl-S
    begin = time.monotonic()
    while not glob.glob(tape + "/*.ntc") and time.monotonic() < begin + 60:
        time.sleep(0.1)
    print("whole while stopped:", bool(glob.glob(tape + "/*.ntc")))
    os.write(terminal, b"\x11")  # Ctrl-Q
read_until(b"\nnext: ")
read_until(b"never printed")
print(got.decode().replace("\r", "\n"))
print("exit status:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
}
for mode in interrupt stop; do
    at_terminal $mode $mode.tape >log 2>&1 || bad "$mode: exit status $?"
    says "$mode: the next command" "next: .*nettape-report summary $mode\.tape" log
    says "$mode: its status" "exit status: [03]" log
    succeeds "$mode: check" "$report" check $mode.tape
done
says "a terminal that is stopped" "whole while stopped: True" log
finish
