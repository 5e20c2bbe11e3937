#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flame of databases that no recording makes: a stack of half a million frames, names that would be more than a name in a folded line.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"
deepest=127 # NT_STACK_MAX_FRAMES

"$REPORT" import tests/golden/v1-stacks.tape -o "$work/s.db" >/dev/null 2>&1
cp "$work/s.db" "$work/deep.db"
sqlite3 "$work/deep.db" "DELETE FROM frame;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
        INSERT INTO frame SELECT 1, (SELECT min(stack_id) FROM stack_sample WHERE owner = 'net_rx'), i, 1 FROM n"
report 0 flame "$work/deep.db" --owner net_rx --folded
is "functions of the deepest stack, and its owner" "$(awk -F ';' '{ if (NF > most) most = NF } END { print most }' <<<"$out")" $((deepest + 1))
report 0 flame "$work/deep.db" --owner net_rx -o "$work/deep.svg"
holds "the picture has an end" test "$(stat -c %s "$work/deep.svg")" -lt 200000
report 0 stages "$work/deep.db" --inclusive

# A folded line is names with ; between them, a blank and a number, whatever the names are.
sqlite3 "$work/s.db" "UPDATE symbol SET name = 'a;b 7' || char(10) || char(27) || '[31m' || char(9) || char(127)"
report 0 flame "$work/s.db" --folded --user-stacks
is "lines that are no stack" "$(grep -c -v -E '^[^;]+(;[^;]+)+ [0-9]+$' <<<"$out")" 0
is "lines with a control character" "$(grep -c '[[:cntrl:]]' <<<"$out")" 0
has "the name" "$out" ";a,b 7??[31m?? "
folded=$out
report 0 flame "$work/s.db" --folded --user
is "the old name of --user-stacks" "$out" "$folded"
finish
