#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every tier of tests that this machine can run; `make check` calls it.
#
#   tests/check.sh [PATTERN]      only the tests whose name (live/stop, unit/chunk_test) matches the regular expression
#
# One line a test: passed, FAILED with the end of its log, or skipped and why; the last line is
# "N passed, N failed, N skipped". Logs are in build/tmp/check. Exit status 0 if none failed.
#
# A test is a program that exits with 0 (passed), 77 (skipped; the last line it prints says why) or anything else.
# TEST_SECONDS (300) bounds each. Those that only compute run beside each other, as many as there are CPUs; the others, which record, alone.
#
# check-vm.sh calls it inside each guest, with CHECK_GUEST=NAME and CHECK_LOGS=DIRECTORY: then what is built is taken as it
# is, and the guest's name stands before a test's. CHECK_ONLY=PATTERN must match too.
set -euo pipefail
cd "$(dirname "$0")/.."
pattern=${1:-.}
limit=${TEST_SECONDS:-300}
guest=${CHECK_GUEST:-}
logs=${CHECK_LOGS:-build/tmp/check}

if [[ -z $guest ]]; then
    bash tests/setup.sh
    # A browser, and what reads Perfetto's traces: where they cannot be had, the tests that need them say so.
    bash tests/setup.sh browser perfetto || true
    echo "nettape: building"
    make -s -j"$(nproc)" all unit tools build/san/nettape-report
fi

rm -rf "$logs"
mkdir -p "$logs"
results=$logs/results  # a line for each test: passed, FAILED or skipped, and its name
: >"$results"
# shellcheck disable=SC1091
echo "nettape: $(uname -srm), $(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME"), $(nproc) CPUs, user $(id -un)"

# seconds_since MILLISECONDS-OF-UPTIME
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# result STATUS NAME SECONDS LOG: what there is to say of a test
result() {
    local status=$1 name=$2 took=$3 log=$4 why
    case $status in
    0)
        printf 'passed   %-28s %6s s\n' "$name" "$took"
        ;;
    77)
        why=$(sed -n 's/^SKIP: //p' "$log" | tail -1)
        printf 'skipped  %-28s %s\n' "$name" "${why:-it does not say why}"
        ;;
    *)
        [[ $status != 124 ]] || echo "ran longer than $limit s" >>"$log"
        printf 'FAILED   %-28s %6s s, exit status %s; the whole log: %s\n' "$name" "$took" "$status" "$log"
        grep -E '^(FAILED|DIFFERENT|NOT MADE)|NT_SEED=|ERROR: |runtime error: ' "$log" | head -20 | sed 's/^/         | /' || true
        tail -12 "$log" | sed 's/^/         | /'
        ;;
    esac
}

# run NAME COMMAND...
run() {
    local name=$1 log status=0 begin took text
    shift
    [[ $name =~ $pattern && $name =~ ${CHECK_ONLY:-.} ]] || return 0
    log=$logs/${name//\//-}.log
    name=${guest:+$guest/}$name
    begin=$(now_ms)
    timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
    took=$(awk -v ms=$(($(now_ms) - begin)) 'BEGIN { printf "%.1f", ms / 1000 }')
    # In one piece: others may end at the same time.
    text=$(result $status "$name" "$took" "$log")
    printf '%s\n' "$text"
    printf '%s %s\n' "${text%% *}" "$name" >>"$results"
}

# beside NAME COMMAND...: as run, as soon as a CPU has nothing to do
beside() {
    while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
    run "$@" &
}

# Programs built from tests/unit and tests/fuzz; the fuzz targets run their corpus and some mutations of it.
for source in tests/unit/*_test.c tests/fuzz/*_fuzz.c; do
    [[ -e $source ]] || continue
    tier=$(basename "$(dirname "$source")")
    program=$(basename "$source" .c)
    beside "$tier/$program" "build/tests/$program"
done
for tier in cli live fault vm; do
    for script in tests/"$tier"/*.sh; do
        [[ -e $script && $script != *lib.sh ]] || continue
        if [[ $tier == cli ]]; then beside "$tier/$(basename "$script" .sh)" bash "$script"; else run "$tier/$(basename "$script" .sh)" bash "$script"; fi
    done
    wait
done

count() { grep -c "^$1 " "$results" || true; }
if [[ $(count skipped) != 0 ]]; then
    echo "nettape: skipped, for the reasons above: $(sed -n 's/^skipped //p' "$results" | sort | paste -sd' ')"
fi
echo "$(count passed) passed, $(count FAILED) failed, $(count skipped) skipped"
[[ $(count FAILED) == 0 && -s $results ]]
