#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The same statements give the same rows on a tape, on the database that is made of it, and on the tape in the sqlite3
# shell and in Python by the extension: each table and view in full, each question of the cookbook, and random
# statements on random traces (tape_tables.py).
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cookbook.sh
source tests/cookbook.sh
command -v python3 >/dev/null || skip "no python3"
command -v sqlite3 >/dev/null || skip "no sqlite3"
built build/nettape_sqlite.so
extension=$PWD/build/nettape_sqlite.so
loads='import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)'
for python in python3 /usr/bin/python3 ""; do if $python -c "$loads" 2>/dev/null; then break; fi; done

mkdir "$work/questions"
cookbook_questions "$work/questions"
for file in "$work"/questions/*.sql; do echo "$(tr '\n' ' ' <"$file");"; done >"$work/cookbook.sql"
is "questions of the cookbook" "$(grep -c ';$' "$work/cookbook.sql")" 29

# results PROGRAM FILE SOURCE: what the statements in FILE give, as JSON
results() { "$1" query "$3" -f "$2" --json || true; }

# shell_results FILE COMMAND SOURCE: the same in the sqlite3 shell, of what the command opens
shell_results() {
    sed "s/^/SELECT '' AS mark;\n/" "$1" | sqlite3 -json -bail -cmd ".load $extension" -cmd "$2" "${@:3}" |
        sed '/^\[{"nettape_open/d'
}

# compared WHAT ARGUMENT...: of tape_tables.py; in no statement they differ
compared() {
    "${python:-python3}" tests/cli/tape_tables.py "${@:2}" >"$work/compared" || echo failed >>"$work/compared"
    head -n -1 "$work/compared"
    all "$1: statements, on the tape with other rows than on the database" "$(tail -1 "$work/compared")"
}

# same_rows TAPE SEED NUMBER: and so many random statements
same_rows() {
    local name=${1##*/} db=$work/${1##*/}.db
    REPORT=$PLAIN report 0 import "$1" -o "$db"
    python3 tests/cli/tape_tables.py statements "$db" "$2" "$3" >"$work/random.sql"
    cat "$work/random.sql" "$work/cookbook.sql" >"$work/all.sql"
    results "$PLAIN" "$work/all.sql" "$db" >"$work/on_db"
    results "$REPORT" "$work/all.sql" "$1" >"$work/on_tape"
    compared "$name" compare "$work/all.sql" "$work/on_tape" "$work/on_db"
}

# same_rows_elsewhere TAPE: the statements of the last same_rows, by the extension
same_rows_elsewhere() {
    local name=${1##*/} db=$work/${1##*/}.db
    if [[ $python ]]; then
        compared "$name in Python" extension "$extension" "$1" "$db" "$work/all.sql"
    else
        without "this python3 loads no extensions of SQLite"
    fi
    shell_results "$work/all.sql" "" "$db" >"$work/on_db"
    shell_results "$work/all.sql" "SELECT nettape_open('$1')" >"$work/on_tape"
    compared "$name in the shell" compare "$work/all.sql" "$work/on_tape" "$work/on_db"
}

for seed in 1 2 3; do
    rm -rf "$work/samples.tape"
    make_tape samples 3 $seed
    mv "$work/samples.tape" "$work/samples$seed.tape"
    same_rows "$work/samples$seed.tape" $seed 150
done
same_rows_elsewhere "$work/samples3.tape"
for scenario in hand loss dropped chunks hostile hotplug empty; do
    make_tape $scenario 3
    same_rows "$work/$scenario.tape" 4 20
done
# Damaged: blocks that hold something else, and an end that is missing.
for at in 3000 9000 20000; do
    cp -r "$work/samples1.tape" "$work/changed$at.tape"
    head -c 40 /dev/zero | dd of="$work/changed$at.tape/chunk-000000.ntc" bs=1 seek=$at conv=notrunc status=none
    same_rows "$work/changed$at.tape" 6 20
done
cp -r "$work/chunks.tape" "$work/cut.tape"
truncate -s -3000 "$work/cut.tape/chunk-000001.ntc"
same_rows "$work/cut.tape" 6 20
for tape in tests/golden/*.tape; do same_rows "$tape" 5 20; done
same_rows_elsewhere "$tape"
same_rows_elsewhere tests/golden/v1-stacks.tape # its symbols are looked for in files
finish
