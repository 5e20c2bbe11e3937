#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flame of databases that no recording makes: a stack of half a million frames, names that would be more than a name in
# a folded line.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"
deepest=127 # NT_STACK_MAX_FRAMES

"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/s.db" >/dev/null 2>&1
cp "$work/s.db" "$work/deep.db"
sqlite3 "$work/deep.db" "DELETE FROM frame;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)
        INSERT INTO frame SELECT 1, (SELECT min(stack_id) FROM stack_sample WHERE owner = 'net_rx'), i, 1 FROM n"
report 0 flame "$work/deep.db" --owner net_rx --folded
is "functions of the deepest stack, and its owner" \
    "$(awk -F ';' '{ if (NF > most) most = NF } END { print most }' <<<"$out")" $((deepest + 1))
report 0 flame "$work/deep.db" --owner net_rx -o "$work/deep.svg"
holds "the picture has an end" test "$(stat -c %s "$work/deep.svg")" -lt 200000
report 0 stages "$work/deep.db" --inclusive

# The picture: how many recordings are in it, and what each colour means, in the light and in the dark.
cp "$work/s.db" "$work/two.db"
for table in $(sqlite3 "$work/two.db" "SELECT name FROM sqlite_master WHERE type = 'table'
    AND name NOT LIKE 'sqlite%'"); do
    columns=$(sqlite3 "$work/two.db" "SELECT group_concat(name) FROM pragma_table_info('$table')
        WHERE name <> 'session_id'")
    sqlite3 "$work/two.db" "INSERT INTO $table (session_id, $columns) SELECT 2, $columns FROM $table"
done
report 0 flame "$work/two.db" -o "$work/two.svg"
is "recordings of a picture of two" "$(grep -o 'and [0-9]* more recording[s]*' "$work/two.svg" | head -1)" \
    "and 1 more recording"
report 0 flame "$work/s.db" -o "$work/s.svg"
nothing "more recordings in a picture of one" "$(grep -o 'and [0-9]* more recording' "$work/s.svg" || true)"
items=$(grep -o '<g class="k".*</text></g>' "$work/s.svg" | sed 's,</text></g>$,,; s,.*>,,')
all "items of the legend, and those without a name" "$(grep -c '^' <<<"$items") $(grep -c '^$' <<<"$items" || true)"
has "one of them" "$items" "ip_receive 50.00 %"
# A database that others made may give a stack the number 0.
cp "$work/s.db" "$work/zero.db"
sqlite3 "$work/zero.db" "UPDATE stack_sample SET stack_id = 0 WHERE stack_id = 3; UPDATE frame SET stack_id = 0
    WHERE stack_id = 3"
report 0 flame "$work/s.db" --owner net_rx --folded
is "numbers of stacks do not matter" "$("$REPORT" flame "$work/zero.db" --owner net_rx --folded)" "$out"

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
