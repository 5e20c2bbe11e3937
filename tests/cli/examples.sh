#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples of docs/CONTRIBUTING.md: the patches in tests/examples apply to a copy of the tree, one after the other,
# and touch few files. The copy is built and records; its rows, its output and its file are compared with what the
# kernel and this script counted.
# check-all: it builds both programs once more
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
tree=$work/tree

# ---- the patches ----

# patched NAME MOST: applies a patch, which may touch so many files outside tests/ and docs/
patched() {
    local patch=tests/examples/$1.patch
    if ! patch -d "$tree" -p1 --no-backup-if-mismatch <"$patch" >"$work/patch.log" 2>&1; then
        cat "$work/patch.log"
        bad "$patch no longer applies. To remake it: apply those before it (${applied:-none}) with patch -p1," \
            "and 'git add -A'; apply this one, mend what it rejects, and 'git add -N . && git diff >$patch'"
        finish
    fi
    applied+=${applied:+, }$1
    at_most "files that $patch touches" "$(grep '^+++ ' "$patch" | grep -vcE '^\+\+\+ b/(tests|docs)/')" "$2"
}

mkdir "$tree" "$tree/build"
cp -a Makefile schema bpf record report "$tree"
mkdir "$tree/tests"
cp -a tests/{setup,retry}.sh tests/{unit,support} "$tree/tests"
applied=
patched event 6
patched sample 6
patched span 6
patched command 2
patched export 3

# Only the objects that the patches change are built again. They are many, so they are built fast.
cp -a build/{o,ext,bpf,text} build/needs-* "$tree/build/" 2>/dev/null || true
cc=${CC:-gcc}
! command -v ccache >/dev/null || cc="ccache $cc"
succeeds "the copy is built" env CCACHE_NOHASHDIR=1 make -s -C "$tree" -j"$(nproc)" CC="$cc" CFLAGS=-O0
[[ $failures == 0 ]] || finish
record=$tree/build/nettape-record
report=$tree/build/nettape-report

# ---- windows: each table, the new ones too, is read from the blocks of its window alone ----

# Without sanitizers: `make check` runs them with these, and without the patches.
(cd "$tree" && find report schema -name '*.c' ! -name main.c ! -name extension.c | sed 's|\(.*\)c$|build/o/\1o|' |
    xargs ar -rcs "$work/all.a")
for test in loose window; do
    succeeds "${test}_test is built" "${CC:-gcc}" -D_GNU_SOURCE -O1 -I"$tree" -o "$work/${test}_test" \
        "$tree/tests/unit/rows/${test}_test.c" \
        "$tree"/tests/support/{rand,random_host,scratch,tape_gen,tape_gen_records,traffic}.c \
        "$work/all.a" -lcmocka -llz4 -lsqlite3 -lelf -lz -liberty -lm -lpthread
    succeeds "${test}_test with the new kinds" "$work/${test}_test"
done

# ---- a recording ----

needs_recorder
needs_netns

# Connections that were begun in the namespace.
# shellcheck disable=SC2016  # awk expands it
active_opens() { "${in_a[@]}" awk '/^Tcp:/ { value = $6 } END { print value }' /proc/net/snmp; }
# Of all CPUs; nothing where the kernel does not count them.
timer_interrupts() { awk '$1 == "LOC:" { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i; print sum }' /proc/interrupts; }

runs=40 opens=30
cp "$(type -P true)" "$work/ex-true"
cp "$(type -P sleep)" "$work/ex-sleep"
begin_ns=$(date +%s%N)
timer_all=$(timer_interrupts)
recording_start "$work/x.tape" --probes default,execs,tcp_states,lives
timer_within=$(timer_interrupts)
opened=$(active_opens)
for ((i = 0; i < runs; i++)); do "$work/ex-true"; done
# Nobody listens there: each is a state SYN_SENT, and then CLOSE.
# shellcheck disable=SC2016  # the inner shell expands it
"${in_a[@]}" bash -c 'for ((i = 0; i < $0; i++)); do : <>/dev/tcp/127.0.0.1/9; done' $opens 2>/dev/null || true
opened=$(($(active_opens) - opened))
slept=$(date +%s%N)
"$work/ex-sleep" 1.1
slept=$(($(date +%s%N) - slept))
timer_within=$(($(timer_interrupts) - timer_within))
recording_stop
timer_all=$(($(timer_interrupts) - timer_all))
end_ns=$(date +%s%N)
db=$work/x.db
import_tape "$work/x.tape" "$db"
check_whole "$work/x.tape" "$db"

# ---- the event: a row for each time that a program was started ----

# Whose time it was is not known where this kernel shows a task to nobody.
started=$(sql "$db" "SELECT count(*) FROM exec JOIN thread USING (utid) WHERE name = 'ex-true'")
at_most "rows of exec, of $runs programs started" "$started" $runs
unknown=$(sql "$db" "SELECT count(*) FROM exec WHERE utid IS NULL")
at_least "the same, and rows of exec without a task" $((started + unknown)) $runs

# ---- the sample: a row for each connection that was begun ----

is "connections begun, by the kernel" "$opened" $opens
is "rows of tcp_state that say so" "$(sql "$db" "SELECT count(*) FROM tcp_state JOIN socket ON id = socket_id
    WHERE new_state = 'SYN_SENT' AND netns = $(stat -Lc %i "/run/netns/$netns_a")")" "$opened"

# ---- the loose span: a row for each task that ended, which no CPU's timeline is about ----

lives="SELECT count(*) FROM task_life JOIN thread USING (utid) WHERE name ="
is "programs that ended" "$(sql "$db" "$lives 'ex-true'")" $runs
# It takes more than a second, so its record is in a block of long spans.
is "the sleep, in its time" "$(sql "$db" "$lives 'ex-sleep' AND dur BETWEEN 1100000000 AND $slept")" 1
rows="SELECT ts, dur, cpu FROM task_life WHERE"
read -r from to < <(sql "$db" "SELECT (SELECT ts FROM task_life ORDER BY ts DESC LIMIT 1 OFFSET 30) || ' ' || max(ts)
    FROM task_life")
of_tape=$("$report" query "$work/x.tape" --csv "$rows ts >= $from AND ts < $to ORDER BY ts, cpu")
is "tasks that began in a window, of the tape" "$of_tape" \
    "$("$report" query "$db" --csv "$rows ts >= $from AND ts < $to ORDER BY ts, cpu")"
is "of them" "$(grep -c '^[0-9]' <<<"$of_tape")" 30
succeeds "a window is imported" "$report" import "$work/x.tape" -o "$work/part.db" --from 100ms --to 300ms
read -r from to < <(sql "$work/part.db" "SELECT start_ts || ' ' || end_ts FROM session")
at_least "tasks that were there in it" "$(sql "$work/part.db" "SELECT count(*) FROM task_life")" 1
is "which these are" "$("$report" query "$work/part.db" --csv "$rows true ORDER BY ts, cpu")" \
    "$("$report" query "$db" --csv "$rows ts < $to AND ts + dur > $from ORDER BY ts, cpu")"

# ---- the command: the interrupts of each CPU's timer, as /proc/interrupts counted them ----

succeeds "the command runs" "$report" interrupts "$work/x.tape"
timers=$("$report" interrupts "$db" --csv | awk -F, '$2 == "local_timer" { print $4 }')
if [[ $timers ]]; then
    # A kernel may hide a process of its own from tracing. While it is on a CPU, nothing sees that CPU's timer: it ticks
    # each millisecond at most, and some timers may end.
    unseen=$(sql "$db" "SELECT ifnull(sum(20 + dur / 1000000), 0) FROM cpu_slice WHERE owner = 'uncovered'")
    at_least "interrupts of the timers, by the command and within the recording, but for $unseen" $((timers + unseen)) \
        "$timer_within"
    at_most "the same, around the recording" "$timers" "$timer_all"
else
    echo "# no interrupts of timers by name on this kernel"
fi

# ---- the export: a point for each owner of each CPU, which together are all of the CPUs' time ----

succeeds "the export writes" "$report" export influx "$work/x.tape" -o "$work/x.lp"
point='^cpu_cost,host=[^ ]+,cpu=[0-9]+,owner=[a-z_]+ spent_ns=[0-9]+i [0-9]{19}$'
is "lines that are no points" "$(grep -vcE "$point" "$work/x.lp")" 0
is "time of all points" "$(awk -F'[= ]' '{ sum += $(NF - 1) } END { printf "%.0f", sum }' "$work/x.lp")" \
    "$(sql "$db" 'SELECT dur * cpus FROM session')"
at_least "the first point's time" "$(head -1 "$work/x.lp" | cut -d' ' -f3)" "$begin_ns"
at_most "the last point's time" "$(tail -1 "$work/x.lp" | cut -d' ' -f3)" "$end_ns"
finish
