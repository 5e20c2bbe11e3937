#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The same statements give the same rows on a tape and on the database that is made of it: each table and view in full,
# each question of the cookbook, and random statements on random traces (tape_tables.py).
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"

awk '/^```sql/ { on = 1; next } /^```/ { if (on) print ";"; on = 0 } on { gsub(/;$/, ""); printf "%s ", $0 }' \
    docs/cookbook.md >"$work/cookbook.sql"
is "questions of the cookbook" "$(grep -c ';$' "$work/cookbook.sql")" 26

# results FILE SOURCE: what the statements in FILE give, as JSON
results() { "$REPORT" query "$2" -f "$1" --json || true; }

# same_rows TAPE SEED NUMBER: and so many random statements
same_rows() {
    local name=${1##*/} db=$work/${1##*/}.db
    report 0 import "$1" -o "$db"
    python3 tests/cli/tape_tables.py statements "$db" "$2" "$3" >"$work/random.sql"
    cat "$work/random.sql" "$work/cookbook.sql" >"$work/all.sql"
    results "$work/all.sql" "$db" >"$work/on_db"
    results "$work/all.sql" "$1" >"$work/on_tape"
    python3 tests/cli/tape_tables.py compare "$work/all.sql" "$work/on_tape" "$work/on_db" >"$work/compared"
    head -n -1 "$work/compared"
    all "$name: statements, on the tape with other rows than on the database" "$(tail -1 "$work/compared")"
}

for seed in 1 2 3; do
    rm -rf "$work/samples.tape"
    make_tape samples 3 $seed
    mv "$work/samples.tape" "$work/samples$seed.tape"
    same_rows "$work/samples$seed.tape" $seed 200
done
for scenario in hand loss dropped chunks hostile hotplug empty; do
    make_tape $scenario 3
    same_rows "$work/$scenario.tape" 4 20
done
for tape in tests/golden/*.tape; do same_rows "$tape" 5 20; done
finish
