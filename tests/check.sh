#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests that this machine can run; `make check` calls it.
#
#   tests/check.sh [--all] [PATTERN]      only the tests whose name (live/stop, unit/rows/rows_test) matches the regular
#                                         expression
#   tests/check.sh --list [PATTERN]       names them
#
# One line a test: passed, FAILED with the end of its log, missed (judged again at the end: judge.sh), or skipped and
# why; the last line is "N passed, N failed, N skipped". Logs are in build/tmp/check. Exit status 0 if none failed, 2 if
# no test has such a name.
#
# A test is a program that exits with 0 (passed), 75 (it missed bars that only a quiet machine can judge), 77 (skipped;
# the last line it prints says why) or anything else. TEST_SECONDS (900) bounds each, so that one that hangs ends. Tests
# that record and have bars run alone, and so do those with a line "# alone: REASON". The others run before them, beside
# each other: one more than there are CPUs, since some of them wait most of the time. Of those with a line
# "# apart WORD: REASON" only one of each word runs at a time. In a guest, all run alone.
#
# A script with a line "# check-all: REASON" is too large for every user: it runs with --all, or where PATTERN names it.
# With --all the tests also fetch what they compare with (NT_FETCH).
#
# check-vm.sh calls it inside each guest, with CHECK_GUEST=NAME and CHECK_LOGS=DIRECTORY: then what is built is taken as
# it is, the guest's name stands before a test's, and what was missed is left to check-vm.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/give_back.sh
source tests/give_back.sh
# shellcheck source=tests/judge.sh
source tests/judge.sh
mode=
if [[ ${1:-} == --* ]]; then
    mode=$1
    shift
fi
pattern=${1:-}
limit=${TEST_SECONDS:-900}
guest=${CHECK_GUEST:-}
logs=${CHECK_LOGS:-build/tmp/check}

# Each test's name. The programs are built from tests/unit and tests/fuzz; the fuzz targets run their corpus and some
# mutations of it. The longest of those that use a CPU stand before those that wait.
all_tests() {
    local source
    shopt -s nullglob
    for source in tests/unit/*/*_test.c tests/fuzz/*_fuzz.c tests/{fault,cli,live,vm}/*.sh; do
        source=${source#tests/}
        [[ $source == *lib.sh ]] || echo "${source%.*}"
    done
    shopt -u nullglob
}

# only_in_all NAME: prints why it is not for every user, or fails
only_in_all() { sed -n 's/^# check-all: //p' "tests/$1.sh" 2>/dev/null | grep .; }

runs_alone() {
    local file=tests/$1.sh
    [[ -f $file ]] || return
    if [[ $guest ]]; then grep -q '^needs_recorder' "$file"; else
        grep -q '^# alone: ' "$file" || { grep -q '^needs_recorder' "$file" && grep -q bar_at_ "$file"; }
    fi
}

tests=()
left_out=()
for name in $(all_tests); do
    if [[ $pattern ]]; then
        [[ ! $name =~ $pattern ]] || tests+=("$name")
    elif [[ $mode ]] || ! only_in_all "$name" >/dev/null; then
        tests+=("$name")
    else
        left_out+=("$name")
    fi
done
if [[ ${#tests[@]} == 0 ]]; then
    echo "nettape: no test's name matches '$pattern': make check-list names them" >&2
    exit 2
fi
if [[ $mode == --list ]]; then
    for name in "${tests[@]}"; do
        why=$(only_in_all "$name") || why=
        printf '%s%s\n' "$name" "${why:+    (make check-all: $why)}"
    done
    exit
fi

if [[ -z $guest ]]; then
    trap 'give_back build' EXIT
    if [[ $mode == --all ]]; then export NT_FETCH=1; else
        [[ $pattern ]] || echo "nettape: ${#tests[@]} tests, about five minutes on two CPUs" \
            "(make check-all has ${#left_out[@]} more, and guests)"
        bash tests/setup.sh build serve load test
    fi
    echo "nettape: building"
    make -s -j"$(nproc)" all unit tools san
fi

rm -rf "$logs"
mkdir -p "$logs"
results=$logs/results  # a line for each test: passed, FAILED, missed, skipped or unjudged, and its name
: >"$results"
# shellcheck disable=SC1091
echo "nettape: $(uname -srm), $(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME"), $(nproc) CPUs, user $(id -un)"

# Milliseconds of uptime.
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# result STATUS NAME SECONDS LOG: what there is to say of a test
result() {
    local status=$1 name=$2 took=$3 log=$4 why
    case $status in
    0)
        printf 'passed   %-34s %6s s\n' "$name" "$took"
        ;;
    77)
        why=$(sed -n 's/^SKIP: //p' "$log" | tail -1)
        printf 'skipped  %-34s %s\n' "$name" "${why:-it does not say why}"
        ;;
    75)
        printf 'missed   %-34s %6s s, to be judged again at the end; the whole log: %s\n' "$name" "$took" "$log"
        sed -n 's/^MISSED/         | &/p' "$log" | head -20
        ;;
    *)
        [[ $status != 124 ]] || echo "ran longer than $limit s" >>"$log"
        printf 'FAILED   %-34s %6s s, exit status %s; the whole log: %s\n' "$name" "$took" "$status" "$log"
        grep -E '^(FAILED|DIFFERENT|NOT MADE)|NT_SEED=|ERROR: |runtime error: ' "$log" | head -20 |
            sed 's/^/         | /' || true
        tail -12 "$log" | sed 's/^/         | /'
        ;;
    esac
}

# apart_by NAME: the word of its line "# apart WORD: REASON", or nothing
apart_by() { sed -nE 's/^# apart ([a-z]+): .*/\1/p' "tests/$1.sh" 2>/dev/null; }

# execute NAME LOG SECONDS: its exit status, with what it means that cmocka or a sanitizer said something
execute() {
    local name=$1 log=$2 status=0 word
    local command=(timeout --kill-after=10 "$3" bash "tests/$name.sh")
    [[ $name != @(unit|fuzz)/* ]] || command=(timeout --kill-after=10 "$3" "build/tests/${name#*/}")
    word=$(apart_by "$name") || true
    # Its time limit begins with its turn.
    [[ -z $word ]] || command=(flock -o "$logs/$word.turn" "${command[@]}")
    "${command[@]}" >"$log" 2>&1 </dev/null || status=$?
    # cmocka calls a program with tests that were skipped passed.
    [[ $status != 0 ]] || ! grep -q '^\[  SKIPPED \]' "$log" || status=77
    [[ $status != 75 ]] || ! grep -qE 'ERROR: [A-Za-z]*Sanitizer|runtime error: ' "$log" || status=1
    return $status
}

# run NAME
run() {
    local name=$1 log=$logs/${1//\//-}.log status=0 begin took text
    begin=$(now_ms)
    execute "$name" "$log" "$limit" || status=$?
    name=${guest:+$guest/}$name
    took=$(awk -v ms=$(($(now_ms) - begin)) 'BEGIN { printf "%.1f", ms / 1000 }')
    # In one piece: others may end at the same time.
    text=$(result $status "$name" "$took" "$log")
    printf '%s\n' "$text"
    printf '%s %s\n' "${text%% *}" "$name" >>"$results"
}

# run_again NAME TRY SECONDS: for judge.sh
run_again() {
    local log=$logs/${1//\//-} seed
    seed=$(seed_of "$log.log")
    (
        [[ -z $seed ]] || export NT_SEED=$seed
        execute "$1" "$log.again-$2.log" "$3"
    )
}

# beside NAME: as run, as soon as there is room
beside() {
    while (($(jobs -rp | wc -l) > $(nproc))); do wait -n || true; done
    run "$1" &
}

alone=()
for name in "${tests[@]}"; do
    if runs_alone "$name"; then alone+=("$name"); else beside "$name"; fi
done
wait
for name in "${alone[@]}"; do run "$name"; done

unsteady=
[[ $guest ]] || judge_missed check "$results" run_again
close_results check "$results" "$([[ $pattern || $guest ]] || echo 1)"
