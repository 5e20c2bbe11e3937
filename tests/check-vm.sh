#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The live tests, and those of tests/vm, on other kernels: each in a guest under QEMU's software emulation; `make
# check-vm` calls it.
#
#   tests/check-vm.sh [PATTERN]             only the tests whose name (6.12/live/stop) matches the regular expression
#   tests/check-vm.sh --short [PATTERN]     without those that another guest, or this machine, shows: for make check-all
#   tests/check-vm.sh --list [PATTERN]      names them
#
# Lines and last line as of check.sh, with the guest's name before the test's. The kernels are Debian's, downloaded into
# build/vm and not installed. Logs are in build/vm/logs/GUEST. Exit status 0 if none failed, 2 if no test has such a
# name. VM_GUESTS="6.12 6.12-rt": only these guests. VM_SECONDS (3600) bounds each guest, 1,800 s each test in it: only
# one that hangs takes so long, also on a busy machine. VM_JOBS: how many at once (one for each CPU of this machine: the
# emulator keeps one busy). A test that missed bars is judged in a guest of its own, alone, at the end (judge.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/give_back.sh
source tests/give_back.sh
# shellcheck source=tests/judge.sh
source tests/judge.sh
list='' short=''
while [[ ${1:-} == --* ]]; do
    case $1 in
    --list) list=1 ;;
    --short) short=1 ;;
    *) sed -n '7,9p' "$0" >&2; exit 2 ;;
    esac
    shift
done
pattern=${1:-.}
limit=${VM_SECONDS:-3600}
jobs=${VM_JOBS:-$(nproc)}
results=build/vm/results

# guest | kernel | CPUs | MiB | tests | tests that --short leaves out. Every kernel runs what its programs or its
# network stack can make different. One kernel's tests are parted among guests, so that each ends well within its time;
# `-` is none. The longest guest is first, so that those at the end are short. 6.12-clock has a guest of its own, since
# it sets the clock under its neighbours.
guests="
6.12-rt     6.12-rt 2 2048 \
live/wakeups|vm/(identical|rt_softirqs|stage_rules) \
live/(blocked|burner|charges|counts|deliver|elsewhere|holders|loss|perfetto|receivers|sockmatrix)|vm/latency_sums
6.12        6.12    2 2048 \
live/latency|vm/(charge_truth|latency_sums|stage_rules) \
live/(charges|deliver|fates|latency_filters|loopback|receivers|stop)|vm/(identical|stacks_hotplug)
6.1         6.1     2 2048 \
live/(counts|deliver|receivers|sockmatrix)|vm/stage_rules \
live/(blocked|burner|disks|elsewhere|flows|holders|kmem|loss|memory|perfetto|raise|stacks|transmit|xdp)|vm/identical
newest      newest  2 2048 \
live/counts \
live/(blocked|charges|deliver|disks|flows|kmem|loopback|many|memory|raise|receivers|refused|sockmatrix|stacks)|\
live/(transmit|ways|xdp)
newest-rt   newest-rt 2 2048 \
- \
live/(counts|disks|flows|kmem|memory|raise|sockmatrix|transmit|ways)|vm/rt_softirqs
arm64       6.12-arm64 2 2048 \
- \
live/(blocked|charges|counts|deliver|loopback|sockmatrix|stacks|wakeups|ways)
6.12-4cpus  6.12    4 3072 \
vm/hotplug \
live/(counts|loss|perfetto|stages)
6.1-more    6.1     2 2048 \
- \
live/(charges|fates|ways)|vm/(charge_truth|latency_sums|plans_cost)
6.12-more   6.12    2 2048 \
- \
live/(napi|ways)|vm/plans_cost
6.12-clock  6.12    2 2048 \
- \
vm/clock_step
"

skip_all() {
    printf 'skipped  %-34s %s\n' vm "$*"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}

# line RESULT NAME REST, as check.sh prints it; it is counted from the file
line() { printf '%-8s %-34s %s\n' "$@" | tee -a "$results"; }

# has_result RESULT NAME FILE
has_result() { [[ " $(of "$1" "$3" | paste -sd' ') " == *" $2 "* ]]; }

# The guest's tape gives here what it gave there.
compare_reports() {
    local guest=$1 logs=$2 name=$1/vm/identical-here
    rm -rf "$logs/identical/here"
    if ! bash tests/vm/guest/reports.sh "$logs/identical/guest.tape" \
        "$logs/identical/here" >"$logs/identical-here.log" 2>&1 ||
        ! diff -rq "$logs/identical/there" "$logs/identical/here" >>"$logs/identical-here.log"; then
        line FAILED "$name" "the whole log: $logs/identical-here.log"
        sed 's/^/         | /' "$logs/identical-here.log" | tail -5
    else
        line passed "$name" "$(wc -c <"$logs/identical/here/import.sql") bytes of dump, and summary and info"
    fi
}

# The guest's tape of live/perfetto as a trace, which is whole, and which Perfetto's engine takes here: there is none in
# a guest.
compare_traces() {
    local guest=$1 dir=$2/perfetto name=$1/live/perfetto-here log=$2/perfetto-here.log
    rm -f "$dir/p.db"
    if ! build/nettape-report import "$dir/p.tape" -o "$dir/p.db" >"$log" 2>&1 ||
        ! build/nettape-report export perfetto "$dir/p.tape" -o "$dir/p.pftrace" >>"$log" 2>&1 ||
        ! bash tests/perfetto/whole.sh "$dir/p.pftrace" >>"$log" 2>&1; then
        line FAILED "$name" "the whole log: $log"
        tail -10 "$log" | sed 's/^/         | /'
    elif ! bash tests/perfetto/engine.sh >>"$log" 2>&1; then
        line skipped "$name" "$(tail -1 "$log")"
    elif bash tests/perfetto/compare.sh "$dir/p.pftrace" "$dir/p.db" >>"$log" 2>&1; then
        line passed "$name" "$(grep -c '^same' "$log") questions"
    else
        line FAILED "$name" "the whole log: $log"
        { grep -v '^same' "$log" || true; } | sed 's/^/         | /' | tail -10
    fi
}

# A rule of stages.txt fits a function of some kernel of the table: by what vm/stage_rules left in the guests.
compare_stage_rules() {
    local guest kernel name=vm/stage_rules-here log=build/vm/stage_rules.log kernels
    local -A functions=()
    while read -r guest kernel _; do
        [[ ! -s build/vm/logs/$guest/functions ]] || functions[$kernel]=$kernel=build/vm/logs/$guest/functions
    done <<<"$selected"
    kernels=$(awk '/vm\/.*stage_rules/ { print $2 }' <<<"$guests" | sort -u | wc -l)
    if ((${#functions[@]} == 0)); then
        return
    elif ((${#functions[@]} < kernels)); then
        line skipped "$name" "only ${#functions[@]} of the kernels' functions are here: what fits none cannot be told"
    elif bash tests/vm/guest/stage_rules.sh "${functions[@]}" >"$log" 2>&1; then
        line passed "$name" "$(tail -1 "$log")"
    else
        line FAILED "$name" "the whole log: $log"
        sed 's/^/         | /' "$log" | tail -10
    fi
}

# An empty directory for the logs of a guest, whose output can be read as it comes.
make_logs() {
    rm -rf "$1"
    mkdir -p "$1"
    : >"$1/output"
}

# start_guest GUEST KERNEL CPUS MEMORY TESTS LOGS SECONDS [SEED]: boots it, and runs the tests in it; gives its status
start_guest() {
    local guest=$1 kernel=$2 cpus=$3 memory=$4 tests=$5 logs=$6 seconds=$7 seed=${8:-}
    # No pages are cleared ahead: with it, all takes a tenth longer.
    bash tests/vm/guest/boot.sh -c "$cpus" -m "$memory" -t "$seconds" -a init_on_alloc=0 "$kernel" "$logs" -- \
        "hostname $guest; ${seed:+NT_SEED=$seed} CHECK_GUEST=$guest CHECK_LOGS=/mnt/tests TEST_SECONDS=1800" \
        "bash tests/check.sh '^($tests)\$'" >"$logs/boot" 2>&1
}

# Boots the guest and prints the lines of its tests as they come, what they said below their guest's name; gives its
# status.
boot_guest() {
    local guest=$1 logs=$6 boot
    make_logs "$logs"
    start_guest "$@" "$limit" &
    boot=$!
    # Those of several guests' ends and sums are for the end.
    tail --pid=$boot --sleep-interval=0.5 -n +1 -f "$logs/output" 2>/dev/null |
        { grep --line-buffered -vE '^[0-9]+ passed, |^nettape: skipped|^un(judged|steady): ' || true; } |
        sed -u -e "s|: /mnt/|: $logs/|" -e "s/^         | /         $guest | /" | tee -a "$results"
    wait $boot
}

# is_unknown KERNEL: it is newer than those that the tree knows. An upload to Debian must not fail a tree that has not
# changed (cli/kernel_types.sh).
is_unknown() {
    local known here
    [[ $1 == newest* ]] && here=$(cut -d. -f1,2 "build/vm/kernel-$1/release" 2>/dev/null) || return 1
    known=$(sed -n '1s/^# Linux //p' tests/golden/kernel_types.txt)
    [[ $known ]] || return 1
    [[ $here != "$known" && $(printf '%s\n' "$known" "$here" | sort -V | tail -1) == "$here" ]]
}

# For the guests of arm64, against the files that they have. $no_arm64 says why, if it cannot be built.
no_arm64=
build_arm64() {
    local root
    no_arm64=$(bash tests/setup.sh arm64 2>&1 | tee >(cat >&2) | tail -1) || return 0
    root=$(bash tests/vm/guest/root.sh) || {
        no_arm64=$root
        return
    }
    no_arm64=
    make -s -j"$(nproc)" BUILD=build/arm64 CC="aarch64-linux-gnu-gcc --sysroot=$root" all tools
}

run_guest() {
    local guest=$1 logs=build/vm/logs/$1 status=0 why
    if [[ $2 == *-arm64 && $no_arm64 ]]; then
        line skipped "$guest" "$no_arm64"
        return
    fi
    if is_unknown "$2"; then
        line skipped "$guest" "Linux $(<"build/vm/kernel-$2/release") is newer than the tree knows"
        return
    fi
    boot_guest "$@" "$logs" || status=$?
    if [[ $status == 77 ]]; then
        line skipped "$guest" "$(tail -1 "$logs/boot")"
    elif [[ $status == 125 ]]; then
        line FAILED "$guest" "the guest did not come to its end: $(head -1 "$logs/boot"); its console: $logs/console"
        tail -5 "$logs/console" | tr -d '\r' | sed 's/^/         | /'
    elif [[ ! -s $logs/output ]]; then
        line FAILED "$guest" "the guest said nothing (exit status $status)"
    fi
    why=$({ grep -aE 'BUG:|Oops|WARNING: CPU|general protection' "$logs/dmesg" 2>/dev/null || true; } | head -1)
    [[ -z $why ]] || line FAILED "$guest/kernel" "its log says: $why; the whole: $logs/dmesg"
    [[ ! -d $logs/identical/there ]] || compare_reports "$guest" "$logs"
    [[ ! -d $logs/perfetto/p.tape ]] || compare_traces "$guest" "$logs"
}

# run_again GUEST/TEST TRY SECONDS: for judge.sh
run_again() {
    local guest=${1%%/*} test=${1#*/} kernel cpus memory name logs seed status=0
    logs=build/vm/logs/$guest
    seed=$(seed_of "$logs/tests/${test//\//-}.log")
    while read -r name kernel cpus memory _; do [[ $name != "$guest" ]] || break; done <<<"$selected"
    logs+=-${test//\//-}-again-$2
    make_logs "$logs"
    start_guest "$guest" "$kernel" "$cpus" "$memory" "$test" "$logs" "$3" "$seed" </dev/null || status=$?
    if has_result passed "$1" "$logs/output"; then status=0
    elif has_result missed "$1" "$logs/output"; then status=75
    elif [[ $status == 0 ]]; then status=1; fi
    return $status
}

# tests_of GUEST TESTS: those that the pattern names, as the expression that it has of check.sh
tests_of() {
    local name names=()
    for name in $(bash tests/check.sh --list "^($2)\$" | cut -d' ' -f1); do
        [[ ! $1/$name =~ $pattern ]] || names+=("$name")
    done
    (IFS='|' && echo "${names[*]}")
}

selected=
while read -r guest kernel cpus memory tests more; do
    [[ $guest && ( -z ${VM_GUESTS:-} || " $VM_GUESTS " == *" $guest "* ) ]] || continue
    [[ $short ]] || tests=$(sed 's/^-|//; s/|-$//' <<<"$tests|$more")
    [[ $tests != - ]] || continue
    tests=$(tests_of "$guest" "$tests")
    [[ -z $tests ]] || selected+="$guest $kernel $cpus $memory $tests"$'\n'
done <<<"$guests"
if [[ -z $selected ]]; then
    echo "nettape: no test's name in a guest matches '$pattern'${VM_GUESTS:+ (VM_GUESTS is $VM_GUESTS)}:" \
        "make check-list names them" >&2
    exit 2
fi
if [[ $list ]]; then
    while read -r guest _ _ _ tests; do [[ -z $guest ]] ||
        sed "s,^,$guest/," <<<"${tests//|/$'\n'}"; done <<<"$selected"
    exit
fi
[[ $(id -u) == 0 ]] ||
    skip_all "needs root: the guests' root is this machine's, and they must be able to read all of it"
[[ $(uname -m) == x86_64 ]] || skip_all "the guests are x86-64, this machine is $(uname -m)"
[[ $PWD != *[[:space:]]* ]] || skip_all "the project's path has a blank, which the guests' command line does not take"
trap 'give_back build' EXIT
export NT_FETCH=1
why=$(bash tests/setup.sh build load test vm 2>&1 | tee >(cat >&2) | tail -1) || skip_all "$why"
echo "nettape: building"
make -s -j"$(nproc)" all tools
mkdir -p build/vm
: >"$results"
# Here, since two guests of one kernel must not both fetch it. Whether it is there, each guest says.
echo "nettape: kernels"
for kernel in $(awk '{ print $2 }' <<<"$selected" | sort -u); do
    bash tests/vm/guest/kernel.sh "$kernel" || true
done
if grep -q -- -arm64 <<<"$selected"; then build_arm64; fi
running=0
while read -r guest kernel cpus memory tests; do
    [[ $guest ]] || continue
    if ((running == jobs)); then
        wait -n || true
        running=$((running - 1))
    fi
    # Its input is the table: no command of the guest's may read it.
    run_guest "$guest" "$kernel" "$cpus" "$memory" "$tests" </dev/null &
    running=$((running + 1))
done <<<"$selected"
wait
compare_stage_rules
unsteady=
judge_missed check-vm "$results" run_again
close_results check-vm "$results" "$([[ $pattern == . && -z ${VM_GUESTS:-} ]] && echo 1)"
