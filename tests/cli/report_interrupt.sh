#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ctrl-C and SIGTERM while a file is written: no half-written file is left, a message says so, and the exit status is
# the signal's. Also the messages about files that were written.
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
# interrupt SIGNAL FILE ARGUMENT...: runs the program and sends the signal once FILE is there; the status is in $status,
# what it said in $work/err. A test that has no time to send it is skipped.
interrupt() {
    local signal=$1 file=$2 pid
    shift 2
    rm -f err
    # A shell's children in the background ignore SIGINT; env gives it back.
    env --default-signal=INT "$REPORT" "$@" >out 2>err &
    pid=$!
    while [[ ! -e $file ]] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    status=0
    kill -"$signal" $pid 2>/dev/null || true
    wait $pid || status=$?
    [[ $status != 0 ]] || skip "it ended before it could be interrupted: $*"
}
is_clean() {
    is "what it says" "$(<err)" "nettape-report: interrupted: $1"
    is "no file is left half-written" "$(echo *.partial *-journal)" "*.partial *-journal"
}
for signal in INT TERM HUP; do
    interrupt $signal new.db.partial import traffic.tape -o new.db
    is "status of import after SIG$signal" $status $((128 + $(kill -l $signal)))
    is_clean "new.db was not written."
    holds "no database" test ! -e new.db
done
interrupt INT x.pftrace.partial export perfetto traffic.tape -o x.pftrace
is "status of export after SIGINT" $status 130
is_clean "x.pftrace was not written."
cp x.db before.db
interrupt TERM x.db-journal import --append traffic.tape -o x.db
is "status of import --append after SIGTERM" $status 143
is_clean "x.db is unchanged."
holds "it is" cmp x.db before.db
# What is ignored stays ignored.
env --ignore-signal=INT "$REPORT" import traffic.tape -o ignored.db 2>err &
pid=$!
while [[ ! -e ignored.db.partial ]] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -INT $pid || true
status=0
wait $pid || status=$?
is "status where SIGINT is ignored" $status 0
holds "and the database is there" test -e ignored.db
finish
