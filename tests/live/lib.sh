# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the tests that record. To be sourced first; runs from the project's root, whatever the caller's directory.
#
# A test says what it finds with `ok` and `bad` (or `is` and friends, which call them), and ends with `finish`.
# Exit status: 0 passed, 1 failed, 75 only bars were missed (bar_at_most), 77 skipped (the last line says why).
#
# $work is a directory of the test's own below build/tmp; removed at the end, but kept for a look if the test failed.
# Background processes are ended and namespaces removed in any case.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/netns.sh
source tests/netns.sh
# shellcheck source=tests/may_lose.sh
source tests/may_lose.sh

test_name=$(basename "$0" .sh)
record=$PWD/build/nettape-record
report=$PWD/build/nettape-report
# shellcheck disable=SC2034  # for the tests
tools=$PWD/build/tools
mkdir -p build/tmp
work=$(mktemp -d "$PWD/build/tmp/$test_name.XXXXXX")
background=()
recorder_status=  # of the last recording that was stopped
failures=0 missed=0

# scaled N: an amount of load, or the least of what it must leave behind. An emulated guest is some 20 times slower than
# its host: it gets a tenth. Comparisons are as exact there.
scaled() { if [[ -n ${NT_EMULATED:-} ]]; then echo $(($1 / 10)); else echo "$1"; fi; }

skip() {
    ((failures + missed == 0)) || finish
    echo "SKIP: $*"
    rm -rf --one-file-system "$work"
    exit 77
}

ok() { echo "ok: $*"; }
bad() {
    echo "${verdict:-FAILED}: $*"
    failures=$((failures + 1))
}

# is WHAT GOT WANTED
is() {
    if [[ $2 == "$3" ]]; then ok "$1: $2"; else bad "$1: $2, not $3"; fi
}

# at_least WHAT GOT BOUND, at_most WHAT GOT BOUND: numbers, also with a fraction
at_least() {
    if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && a + 0 >= b + 0) }'; then ok "$1: $2 >= $3"; else
        bad "$1: ${2:-nothing} < $3"; fi
}
at_most() {
    if awk -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && a + 0 <= b + 0) }'; then ok "$1: $2 <= $3"; else
        bad "$1: ${2:-nothing} > $3"; fi
}

# bar_at_most WHAT GOT BOUND, bar_at_least WHAT GOT BOUND: as at_most and at_least, for what only a quiet machine can
# judge: shares of samples, ratios of clocks. A virtual CPU's clock ticks late, and for seconds on end the delay may
# follow the traffic. A test that misses nothing but bars is judged again at the end, alone (tests/judge.sh). Counts,
# losses and `check` are never bars.
bar_at_most() { bar at_most "$@"; }
bar_at_least() { bar at_least "$@"; }
bar() {
    local failed_before=$failures verdict=MISSED
    "$@"
    ((failures == failed_before)) || missed=$((missed + 1))
    failures=$failed_before
}

# succeeds WHAT COMMAND...: its output goes to $work/out and is shown when it fails
succeeds() {
    local what=$1
    shift
    if "$@" >"$work/out" 2>&1; then ok "$what"; else
        bad "$what: exit status $? of: $*"
        sed 's/^/    /' "$work/out" | tail -40
    fi
}

finish() {
    if [[ $failures != 0 ]]; then
        echo "$test_name: $failures failed; what is left is in $work"
        exit 1
    fi
    if [[ $missed != 0 ]]; then
        echo "$test_name: bars missed: $missed"
        exit 75
    fi
    echo "$test_name: passed"
    exit 0
}

cleanup() {
    local status=$? pid
    trap - EXIT
    for pid in "${background[@]}"; do
        kill -CONT "$pid" 2>/dev/null || true
        kill -TERM "$pid" 2>/dev/null || true
    done
    netns_remove
    for pid in "${background[@]}"; do
        wait "$pid" 2>/dev/null || true
    done
    if [[ $(type -t test_cleanup) == function ]]; then test_cleanup; fi
    [[ -z $tracefs ]] || umount "$tracefs" || true
    # Never what a test has mounted there.
    [[ $failures != 0 || $status == 1 ]] || rm -rf --one-file-system "$work"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Remembers a background process to end it at the test's end: CMD... & keep $!
keep() { background+=("$1"); }

# wait_for SECONDS COMMAND...: until the command succeeds
wait_for() {
    local tries=$(($1 * 50))
    shift
    while ! "$@" >/dev/null 2>&1; do
        ((tries-- > 0)) || return 1
        sleep 0.02
    done
}

# Whether a recorder must work here, as the kernel itself says: it is one that we support (6.1), describes its types, is
# not locked down, and answers what only one who may load programs is told.
must_record() {
    local tool
    tool=$(find_bpftool)
    [[ -r /sys/kernel/btf/vmlinux && $(printf '6.1\n%s\n' "$(uname -r)" | sort -V | head -1) == 6.1 && $tool ]] ||
        return 1
    ! grep -qF '[confidentiality]' /sys/kernel/security/lockdown 2>/dev/null && "$tool" prog show >/dev/null 2>&1
}

needs_recorder() {
    [[ -x $record && -x $report ]] || skip "build/nettape-record or build/nettape-report is not built"
    [[ $(id -u) == 0 ]] || skip "needs root"
    # In a guest of ours it must be able to, and to try takes a quarter of a minute.
    [[ -z ${NT_EMULATED:-} ]] || return 0
    if ! may_lose "$record" -o "$work/trial.tape" -q -d 0.1 >"$work/trial.log" 2>&1; then
        if must_record; then
            bad "this kernel allows BPF, and nettape-record does not run: $(tail -1 "$work/trial.log")"
            finish
        fi
        skip "this kernel does not let nettape-record run: $(tail -1 "$work/trial.log")"
    fi
    rm -rf "$work/trial.tape"
}

needs_netns() {
    netns_make 2>"$work/netns.log" || skip "no network namespaces: $(tail -1 "$work/netns.log")"
}

# flood_start [RATE]: UDP packets of 200 bytes from one namespace to the other, RATE a second (else all that go), until
# the test ends. flood_sender, flood_receiver: who does.
flood_start() {
    "${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
    flood_receiver=$!
    keep $flood_receiver
    "${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 "${1:-0}" &
    flood_sender=$!
    keep $flood_sender
}

# net_count WHERE PROTOCOL NAME: a counter that the kernel keeps in a namespace (in_a, in_b), by its name in the line of
# names
net_count() {
    local -n run=$1
    "${run[@]}" awk -v protocol="$2:" -v name="$3" '
        $1 == protocol && !at { for (i = 2; i <= NF; i++) if ($i == name) at = i; next }
        $1 == protocol { print $at }' /proc/net/snmp /proc/net/netstat
}

# datagrams_in: how many the sockets of the second namespace were given
datagrams_in() { net_count in_b Udp InDatagrams; }
# have_come NUMBER: whether so many have in all
have_come() { (($(datagrams_in) >= $1)); }

# ---- recording ----

# recording_start TAPE ARGUMENT...: returns when the recording is on. The recorder runs a command that ends when
# it is told to; so the recording is on when the command runs. The rings are larger than by default: these tests
# ask whether what is recorded is right, also on a machine where the recorder waits for its turn; whether it keeps up
# with default rings is for the bench.
recording_start() {
    local tape=$1
    shift
    rm -rf "$tape" "$work/begun" "$work/end"
    mkfifo "$work/begun" "$work/end"
    # shellcheck disable=SC2016
    "$record" -o "$tape" --ring-size 64M "$@" -- sh -c 'echo >&7; exec 7>&-; read -r line <"$0/end"' \
        "$work" 7>"$work/begun" >"$work/record.log" 2>&1 &
    recorder=$!
    keep "$recorder"
    # The pipe's end comes with the recorder's. There is no time limit, since with one bash can take a line and say that
    # there was none. A loop that asks again and again takes the recorder's CPU: in a guest, a third of it.
    if ! read -r _ <"$work/begun"; then
        echo "the recording did not begin:"
        cat "$work/record.log"
        exit 1
    fi
}

# Ends it and waits for the recorder; gives its exit status, but 0 if records found the rings full: a test that allows
# none asks check_whole. As it is, it is in $recorder_status.
recording_stop() {
    echo >"$work/end"
    recorder_status=0
    wait "$recorder" || recorder_status=$?
    [[ $recorder_status == 3 ]] || return $recorder_status
}

# Kills the recorder, and ends its command, which would wait for ever.
recorder_kill() {
    local command
    command=$(pgrep -P "$recorder" -x sh)
    kill -KILL "$recorder"
    wait "$recorder" 2>/dev/null || true
    kill -TERM "$command"
}

# A bpftool that works here, or nothing. (Ubuntu's is a script that wants the running kernel's own.)
find_bpftool() {
    local tool
    for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
        if "$tool" version >/dev/null 2>&1; then
            echo "$tool"
            return
        fi
    done
}

# perf_of ARGUMENT...: `perf` is then perf with these arguments, a command that takes another one; empty where perf
# cannot do it here, or a guest is too slow for it. It needs the tracepoints' numbers, by tracefs: mounted until the
# test's end.
tracefs=
perf_of() {
    perf=()
    command -v perf >/dev/null && [[ -z ${NT_EMULATED:-} ]] || return 0
    if [[ ! -d /sys/kernel/tracing/events && ! -d /sys/kernel/debug/tracing/events ]] && mount -t tracefs none \
        /sys/kernel/tracing; then
        tracefs=/sys/kernel/tracing
    fi
    perf=(perf "$@")
    "${perf[@]}" true 2>"$work/perf.log" || perf=()
}

# kernel_config NAME: y, n or, where the configuration cannot be read, ?
kernel_config() {
    local file
    for file in /proc/config.gz "/boot/config-$(uname -r)" "/lib/modules/$(uname -r)/config"; do
        [[ -r $file ]] || continue
        if gzip -cdf "$file" | grep "^$1=y" >/dev/null; then echo y; else echo n; fi
        return
    done
    echo '?'
}

# programs_of PID: the kernel's ids of the BPF programs that a process holds. A recorder opens and closes files of /proc
# all the time; one that is gone when sed comes to it is no failure.
programs_of() { { sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null || true; } | sort -un; }

# ---- reading ----

# import_tape TAPE DB
import_tape() {
    rm -f "$2"
    "$report" import "$1" -o "$2" >"$work/import.log" 2>&1 || {
        echo "import of $1 failed:"
        cat "$work/import.log"
        exit 1
    }
}

# sql DB STATEMENT: one value or row a line, columns with | between; an empty answer is an empty line
sql() { sqlite3 -batch -noheader -readonly "$1" "$2"; }

# How many records a recording lost because a ring was full. (A kernel may also keep switches from the programs, when
# it hides a process of its own from tracing: those are on the tape as lost too, for another reason, and no fault.)
lost_for_room() { sql "$1" "SELECT ifnull(sum(count), 0) FROM loss WHERE why = 'ring full'"; }

# A kernel that hides a process from tracing shows the programs nothing that interrupts it, and that time is uncovered.
# Each test that compares what timers do with a count of the kernel's own allows for one such event in each stretch.
# stretches_uncovered DB [CPU]
stretches_uncovered() { sql "$1" "SELECT count(*) FROM cpu_slice WHERE owner = 'uncovered' ${2:+AND cpu = $2}"; }

# are_seen WHAT DB GOT COUNTED: GOT on the tape are what the kernel counted, but for those that it may have hidden.
are_seen() {
    local hidden
    hidden=$(stretches_uncovered "$2")
    at_most "$1" "$3" "$4"
    at_least "$1, with one for each stretch uncovered ($hidden)" $(($3 + hidden)) "$4"
}

# stolen_ns DB: what the hypervisor stole meanwhile, on the whole machine, by /proc/stat
stolen_ns() {
    sql "$1" "
        SELECT ifnull((max(value) - min(value)) * 1000000000 / (SELECT clock_ticks FROM session), 0) FROM proc_counter
        WHERE source = '/proc/stat' AND name = 'steal' AND cpu IS NULL"
}

# around_undeclared DB: the slices around each undeclared switch, which cannot be had again
around_undeclared() {
    echo "cpu, ns from the stretch's begin, ns, owner, tid, name, upid"
    sql "$1" "
        SELECT s.cpu, s.ts - l.ts, s.dur, owner, tid, name, upid
        FROM loss l JOIN cpu_slice s USING (cpu) LEFT JOIN thread USING (utid)
        WHERE why = 'undeclared' AND s.ts BETWEEN l.ts - 2000000 AND l.ts + l.dur + 200000 LIMIT 60"
}

# The checks that every recording without loss must pass.
check_whole() {
    local tape=$1 db=$2 undeclared
    succeeds "check of the tape" "$report" check "$tape"
    is "records lost for want of room" "$(lost_for_room "$db")" 0
    undeclared=$(sql "$db" 'SELECT undeclared FROM session')
    is "switches from a task that was not on the CPU" "$undeclared" 0
    [[ $undeclared == 0 ]] || around_undeclared "$db"
    # An interrupt between two instructions of a program can make one or two.
    at_most "malformed" "$(sql "$db" 'SELECT malformed FROM session')" 3
    is "complete" "$(sql "$db" 'SELECT complete FROM session')" 1
    is "lines on programs that the kernel refuses" "$("$report" info "$tape" | tr -s ' \n' ' ' |
        grep -c 'kernel refuses')" 0
    is "CPUs whose slices do not sum to the session" "$(sql "$db" '
        SELECT count(*) FROM (SELECT sum(c.dur) AS sum, s.dur AS dur FROM cpu_slice c, session s GROUP BY cpu)
        WHERE sum <> dur')" 0
}
