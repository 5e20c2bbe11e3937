#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Stacks: the rows of a tape of samples (tests/tools/golden_make.c has its records), with damaged stacks among them.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
tape=tests/golden/v1-stacks.tape

report 0 summary $tape
has "a loss of stacks" "$out" "3 samples were lost; no time is uncovered by that."

# By hand: what the clock interrupted on CPU 0, though by the timeline all but the last came in a hard interrupt.
is "owners by hand" "$(sql $tape "SELECT group_concat(owner, ' ') FROM (SELECT owner FROM stack_sample WHERE cpu = 0
    ORDER BY ts)")" \
    "net_rx send task hardirq task"
is "owners of their nanosecond" "$(sql $tape "SELECT group_concat(owner, ' ') FROM (SELECT c.owner
    FROM stack_sample AS s JOIN cpu_slice AS c
    ON c.cpu = s.cpu AND s.ts >= c.ts AND s.ts < c.ts + c.dur WHERE s.cpu = 0 ORDER BY s.ts)")" \
        "hardirq hardirq hardirq hardirq task"
is "a stack, innermost first" "$(sql $tape "SELECT group_concat(name, ' ') FROM (SELECT name FROM frame
    JOIN symbol ON id = symbol_id WHERE stack_id = 3 ORDER BY pos)")" \
    "nft_do_chain ip_rcv entry_SYSCALL_64_after_hwframe"
all "frames are as many as their stack is deep" \
    "$(sql $tape "SELECT count(*), sum(depth <> (SELECT count(*) FROM frame WHERE stack_id = id)) FROM stack
    WHERE id IN (SELECT stack_id FROM frame)")"
is "frames of a stack that goes round in a circle" \
    "$(sql $tape "SELECT count(*), max(pos) FROM frame WHERE stack_id = 7")" 127,126
is "a loss of samples uncovers nothing" "$(sql $tape "SELECT count(*) FROM cpu_slice WHERE owner = 'uncovered'")" 0
all "who was on the CPU has a row" "$(sql $tape "SELECT count(*), sum(t.utid IS NULL) FROM stack_sample LEFT
    JOIN thread AS t USING (session_id, utid)")"

command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
command -v sqlite3 >/dev/null || finish
"$PLAIN" import $tape -o "$work/s.db" >/dev/null 2>&1
# meddle STATEMENT LINE
meddle() {
    cp "$work/s.db" "$work/meddled.db"
    sqlite3 "$work/meddled.db" "$1"
    report 1 check "$work/meddled.db"
    has "$1" "$out" "$2"
}
meddle "DELETE FROM stack_sample WHERE cpu = 0" \
    "FAILED  stacks        the program recorded 10 samples, and the tape has 5"
meddle "UPDATE record_count SET lost = 0 WHERE kind = 'stack_sample'" "FAILED  counters      CPU 1, stack_sample"
finish
