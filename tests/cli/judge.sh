#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The rule for tests that miss bars (tests/judge.sh), by a tree of small tests: a test that misses once is unsteady, one
# that misses always fails. A wrong count, a sanitizer's word or a fourth test that misses fails at once.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

tree=$work/tree
mkdir -p "$tree"/{tests/{unit,fuzz,cli,live,fault,vm},build/tests}
cp tests/{check,judge,give_back,netns,may_lose}.sh "$tree/tests"
cp tests/live/lib.sh "$tree/tests/live"
# Nothing is built or installed there, and how busy this machine is does not matter.
printf 'all unit tools san: ;\n.PHONY: all unit tools san\n' >"$tree/Makefile"
echo 'exit 0' >"$tree/tests/setup.sh"
quiet() { echo "exit $1" >"$tree/tests/quiet.sh"; }

# make_test NAME: a test of that tree, from standard input
make_test() {
    { echo "source \"\$(dirname \"\$0\")/lib.sh\"" && cat && echo finish; } >"$tree/tests/live/$1.sh"
}
# Runs counted from 1, and the seed that each has.
# shellcheck disable=SC2016  # for the small tests
count_runs='echo "${NT_SEED:-none}" >>"build/$test_name.runs"; run=$(wc -l <"build/$test_name.runs")'
make_test steady <<<"$count_runs; ok fine"
make_test once <<<"$count_runs; echo NT_SEED=\${NT_SEED:-7}; bar_at_most share \$((run == 1 ? 9 : 1)) 5"
make_test always <<<"$count_runs; bar_at_least share 1 5"
make_test second <<<"$count_runs; bar_at_most share \$((run == 2 ? 1 : 9)) 5"
make_test count <<<"$count_runs; bar_at_most share 9 5; is packets 1 2"
make_test later <<<"$count_runs; bar_at_most share 9 5; ((run == 1)) || bad 'a wrong count'"
make_test sanitizer <<<"$count_runs; bar_at_most share 9 5; echo '==1==ERROR: AddressSanitizer: heap-use-after-free'"
make_test crash <<<"$count_runs; bar_at_most share 9 5; kill -SEGV \$\$"

# judged NAMES PATTERN STATUS LINES: runs these tests anew; the last lines that check.sh prints
judged() {
    local status=0
    rm -f "$tree"/build/*.runs
    bash "$tree/tests/check.sh" "^live/($2)\$" >"$work/out" 2>&1 || status=$?
    same_text "$1" "$(tail -n "$(wc -l <<<"$4")" "$work/out")" "$4"
    is "$1: exit status" "$status" "$3"
}
runs() { wc -l <"$tree/build/$1.runs"; }
same_text() { is "$1" "$(paste -sd';' <<<"$2")" "$(paste -sd';' <<<"$3")"; }

quiet 0
judged "missed once" 'steady|once' 0 "unsteady: live/once
2 passed, 0 failed, 0 skipped"
is "runs of it" "$(runs once)" 3
is "their seeds" "$(paste -sd' ' "$tree/build/once.runs")" "none 7 7"
is "runs of the other" "$(runs steady)" 1
is "the first log is kept" "$(grep -c MISSED "$tree/build/tmp/check/live-once.log")" 1
judged "missed always" 'always' 1 "0 passed, 1 failed, 0 skipped"
is "runs of it" "$(runs always)" 2
judged "missed the first and the third time" second 1 "0 passed, 1 failed, 0 skipped"
judged "a wrong count beside" count 1 "0 passed, 1 failed, 0 skipped"
is "runs of it" "$(runs count)" 1
judged "a wrong count later" later 1 "0 passed, 1 failed, 0 skipped"
judged "a sanitizer's word" sanitizer 1 "0 passed, 1 failed, 0 skipped"
is "runs of it" "$(runs sanitizer)" 1
judged "a crash" crash 1 "0 passed, 1 failed, 0 skipped"
is "runs of it" "$(runs crash)" 1
judged "four that missed" 'once|always|second|later' 1 "0 passed, 4 failed, 0 skipped"
is "runs of the first" "$(runs once)" 1

quiet 1
judged "missed on a busy machine" 'steady|once' 0 "unjudged: live/once
1 passed, 0 failed, 1 skipped"
is "runs of it" "$(runs once)" 1

# Only whole runs are remembered: of a tree that has these two tests.
quiet 0
rm "$tree"/tests/live/{always,second,count,later,sanitizer,crash}.sh
for run in 1 2 3; do
    rm -f "$tree"/build/*.runs
    bash "$tree/tests/check.sh" >"$work/whole-$run" 2>&1 || true
done
is "unsteady in two whole runs" "$(grep -c 'unsteady: live/once' "$work/whole-1" "$work/whole-2" | cut -d: -f2 |
    paste -sd' ')" "1 1"
is "it fails in the third" "$(tail -1 "$work/whole-3")" "1 passed, 1 failed, 0 skipped"
is "and is not run again" "$(runs once)" 1
finish
