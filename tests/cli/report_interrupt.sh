#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ctrl-C, SIGTERM and other ends while a file is written: no half-written file is left, a message says so, and the exit
# status is the signal's. Two programs that write one file. Also the messages about files that were written.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
make_tape traffic 2000

# ---- written ----
# wrote WANTED ARGUMENT...: the command says this on standard error, but for the size
wrote() {
    local wanted=$1
    shift
    report 0 "$@"
    is "what it says" "$(sed 's/([0-9.]* [kM]*B)/(SIZE)/; s/[0-9,]* rows/N rows/' <<<"$err")" "$wanted"
    nothing "nothing on standard output" "$out"
}
cd "$work"
tape=$OLDPWD/tests/golden/v1-stacks.tape
packets=$OLDPWD/tests/golden/v1-samples.tape
wrote "wrote x.html (SIZE): open it in a browser" export html hand.tape -o x.html
wrote "wrote x.pftrace (SIZE): open it in https://ui.perfetto.dev" export perfetto hand.tape -o x.pftrace
wrote "wrote x.prom (SIZE): the textfile collector of node_exporter reads it" export prometheus "$packets" -o x.prom
wrote "wrote x.svg (SIZE): open it in a browser; a click zooms, / searches" flame "$tape" -o x.svg
wrote "wrote x.folded (SIZE): flamegraph.pl and https://www.speedscope.app read it" flame "$tape" --folded -o x.folded
wrote "wrote x.db (SIZE): 1 new session, N rows; look at it with nettape-report summary x.db" import hand.tape -o x.db
wrote "wrote a b.db (SIZE): 2 new sessions, N rows; look at it with nettape-report summary 'a b.db'" import hand.tape \
    "$tape" -o "a b.db"
report 0 latency "$packets" --svg l.svg
is "of a picture beside a table" "$(sed 's/([0-9.]* [kM]*B)/(SIZE)/; s/[0-9,]* rows/N rows/' <<<"$err")" \
    "wrote l.svg (SIZE): open it in a browser"
for arguments in "export html hand.tape" "flame $tape --folded" "flame $tape -o /dev/null" \
    "export perfetto hand.tape -o /dev/null"; do
    # shellcheck disable=SC2086
    report 0 $arguments
    nothing "no file, nothing said: ${arguments##*/}" "$err"
done

# ---- interrupted ----
# A file that the process $pid has open for writing: FILE, or one without a name in this directory.
is_begun() {
    [[ ! -e $1 ]] || return 0
    [[ $(readlink /proc/$pid/fd/* 2>/dev/null) == *"$work/#"*" (deleted)"* ]]
}
# begin FILE ARGUMENT...: runs the program until FILE is begun; its process is $pid
begin() {
    local file=$1
    shift
    rm -f err
    # A shell's children in the background ignore SIGINT and SIGQUIT; env gives them back. Nobody looks at a core.
    (ulimit -c 0 && exec env --default-signal=INT,QUIT "$REPORT" "$@" >out 2>err) &
    pid=$!
    while ! is_begun "$file" && kill -0 $pid 2>/dev/null; do sleep 0.02; done
}
# interrupt SIGNAL FILE ARGUMENT...: runs the program and sends the signal once FILE is begun; the status is in $status,
# what it said in $work/err. A test that has no time to send it is skipped.
interrupt() {
    local signal=$1
    shift
    begin "$@"
    status=0
    kill -"$signal" $pid 2>/dev/null || true
    wait $pid 2>/dev/null || status=$?
    [[ $status != 0 ]] || skip "it ended before it could be interrupted: $*"
}
is_clean() {
    is "what it says" "$(<err)" "nettape-report: interrupted: $1"
    is "no file is left half-written" "$(echo *.partial *-journal)" "*.partial *-journal"
}
before=$(cksum <x.pftrace)
for signal in INT TERM HUP PIPE QUIT; do
    interrupt $signal new.db.partial import traffic.tape -o new.db
    is "status of import after SIG$signal" $status $((128 + $(kill -l $signal)))
    is_clean "new.db was not written."
    holds "no database" test ! -e new.db
    interrupt $signal x.pftrace.partial export perfetto traffic.tape -o x.pftrace
    is "status of export after SIG$signal" $status $((128 + $(kill -l $signal)))
    is_clean "x.pftrace was not written."
    is "what was there before" "$(cksum <x.pftrace)" "$before"
done
# Also while it reads, before there is a file: here it waits for its list of names. The pipe opens once both ends are
# there: so this waits until the program reads it. A descriptor of the pipe seen in /proc is no sign: before it becomes
# the program, the child has those of this shell.
mkfifo names
(exec env --default-signal=INT "$REPORT" export html hand.tape -o new.html --names names >out 2>err) &
pid=$!
exec 9>names
kill -INT $pid 2>/dev/null || true
status=0
wait $pid 2>/dev/null || status=$?
exec 9>&-
is "status of export html after SIGINT" $status 130
is_clean "new.html was not written."
# Nothing can be done about SIGKILL: an export leaves nothing, where the file system has files without names. An import
# leaves what the next one replaces.
interrupt KILL x.pftrace.partial export perfetto traffic.tape -o x.pftrace
is "status of export after SIGKILL" $status 137
if python3 -c 'import os; os.close(os.open(".", os.O_TMPFILE | os.O_RDWR))' 2>/dev/null; then
    is "nothing is left" "$(echo *.partial)" "*.partial"
fi
is "what was there before" "$(cksum <x.pftrace)" "$before"
interrupt KILL new.db.partial import traffic.tape -o new.db
is "status of import after SIGKILL" $status 137
holds "no database" test ! -e new.db
report 0 import hand.tape -o new.db
is "nothing is left then" "$(echo *.partial)" "*.partial"
rm new.db
: >x.prom.partial
report 0 export prometheus "$packets" -o x.prom
is "nor of an export of before" "$(echo *.partial)" "*.partial"

# ---- two at a time ----
begin two.db.partial import traffic.tape -o two.db
while [[ ! -s two.db.partial ]] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -STOP $pid || skip "it ended before it could be stopped"
report 1 import hand.tape -o two.db
is "a second import to the same file" "$err" \
    "nettape-report: two.db is being written by another nettape-report: wait until it ends, or give another place."
kill -CONT $pid
status=0
wait $pid || status=$?
is "status of the first" $status 0
REPORT=$PLAIN report 0 check two.db
begin x.pftrace.partial export perfetto traffic.tape -o x.pftrace
kill -STOP $pid || skip "it ended before it could be stopped"
if [[ ! -e x.pftrace.partial ]]; then report 0 export perfetto hand.tape -o x.pftrace; fi
kill -CONT $pid
status=0
wait $pid || status=$?
is "status of the first of two exports" $status 0
REPORT=$PLAIN report 0 export perfetto traffic.tape -o y.pftrace
same "the one that ended last is there" x.pftrace y.pftrace
is "nothing else is left" "$(echo *.partial)" "*.partial"
cp x.db before.db
interrupt TERM x.db-journal import --append traffic.tape -o x.db
is "status of import --append after SIGTERM" $status 143
is_clean "x.db is unchanged."
holds "it is" cmp x.db before.db
# A signal that is ignored stays ignored.
env --ignore-signal=INT "$REPORT" import traffic.tape -o ignored.db 2>err &
pid=$!
while [[ ! -e ignored.db.partial ]] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid || true
status=0
wait $pid || status=$?
is "status where SIGINT is ignored" $status 0
holds "and the database is there" test -e ignored.db
finish
