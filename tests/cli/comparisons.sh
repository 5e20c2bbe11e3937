#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The comparisons of tests/cli/lib.sh can fail: where two things differ, and where there is nothing to compare.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# passes COMMAND..., fails COMMAND...: it says `ok` or `FAIL`, and counts so
judged() { (failures=0; "$@" >"$work/said" 2>&1;
    echo "$failures $(grep -cE '^ok: ' "$work/said") $(grep -cE '^FAIL: ' "$work/said")"); }
passes() { if [[ $(judged "$@") == "0 1 0" ]]; then ok "passes: $*"; else bad "does not pass: $*: $(<"$work/said")";
    fi; }
fails() { if [[ $(judged "$@") == "1 0 1" ]]; then ok "fails: $*"; else bad "does not fail: $*: $(<"$work/said")"; fi; }

passes is "equal" 7 7
fails is "unequal" 7 8
fails is "got nothing" "" 7
fails is "wanted nothing" 7 ""
fails is "nothing and nothing" "" ""
passes nothing "nothing" ""
fails nothing "something" 7
passes all "none of seven" "7 0"
passes all "none of seven, by SQL" "7|0"
passes all "none of seven, as CSV" "7,0"
fails all "one of seven" "7 1"
fails all "none of none" "0 0"
fails all "no answer" ""
passes has "a part" "of a text" "text"
fails has "no part" "of a text" "word"
fails has "no part at all" "of a text" ""
passes lacks "no part" "of a text" "word"
fails lacks "a part" "of a text" "text"
fails lacks "no text" "" "word"
echo one >"$work/one"
echo one >"$work/again"
echo two >"$work/two"
: >"$work/empty"
passes same "equal files" "$work/one" "$work/again"
fails same "other files" "$work/one" "$work/two"
fails same "empty files" "$work/empty" "$work/empty"
fails same "no files" "$work/none" "$work/none"
passes holds "true" true
fails holds "false" false
make_tape hand
passes report 0 info "$work/hand.tape"
fails report 1 info "$work/hand.tape"
is "a query that fails gives no empty answer" "$(sql "$work/hand.tape" "SELECT nothing" 2>/dev/null)" \
    "the query failed: 1"

# A part that cannot be run makes the test a skip, but not if another part failed.
is "a part left out" "$( (left_out=; without "it is not there"; without "nor this"; finish) || echo "status $?")" \
    $'SKIP: in part: it is not there; nor this\nstatus 77'
is "a part left out, and one that failed" "$( (failures=1; without "it is not there"; finish) || echo "status $?")" \
    $'1 failed\nstatus 1'
finish
