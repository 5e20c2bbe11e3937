#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# symbolize: functions of a program (one of tests/fuzz/corpus) in a database, names that exist already, and databases
# that somebody changed, which must not make it run for ever. tests/live/user_names.sh has real programs.
source "$(dirname "$0")/lib.sh"

program=tests/fuzz/corpus/program_fuzz/static
id=$(readelf -n "$program" 2>/dev/null | awk '/Build ID/ { print $3 }')
empty=$work/empty symbols=$work/symbols
mkdir "$empty" "$symbols"
cp "$program" "$symbols/server"
export DEBUGINFOD_CACHE_PATH=$empty

make_tape empty
"$PLAIN" import "$work/empty.tape" -o "$work/base.db" >/dev/null
# `inner` of it begins at 0x10c.
sqlite3 "$work/base.db" "INSERT INTO symbol(session_id, id, kind, name, build_id, file_offset, path) VALUES
    (1, 1001, 'user', 'server+0x10d', '$id', $((0x10d)), '/opt/x/server'), (1, 1002, 'user', 'server+0x1', '$id', 1,
        '/opt/x/server'),
    (1, 1003, 'user', '[x]+0x10e', '$id', $((0x10e)), NULL), (1, 1004, 'user', 'y', 'no build id', 5, '/opt/x/server'),
    (1, 1005, 'kernel', 'k', '$id', $((0x10d)), '/opt/x/server'),
    (1, 1006, 'user', 'z', '${id:0:38}xy', 5, '/opt/x/server'),
    (1, 1007, 'user', 'long', '${id}00', 5, '/opt/x/server')"

names() { sqlite3 "$db" "SELECT group_concat(name || '+' || ifnull(offset, '-'), ' ') FROM (SELECT * FROM symbol
    WHERE id > 1000 ORDER BY id)"; }
fresh() {
    db=$work/$1.db
    cp "$work/base.db" "$db"
}
# says WHAT LINES: of symbolize, where programs are in $symbols
says() {
    report 0 symbolize "$db" --symbols "$symbols" --csv
    is "$1" "$(tail -n +2 <<<"$out" | cut -d, -f1,2,4,7 | tr '\n' ' ')" "$2"
}

fresh plain
unnamed="server+0x10d+- server+0x1+- [x]+0x10e+- y+- k+- z+- long+-"
named="inner+1 server+0x1+- inner+2 y+- k+- z+- long+-"
report 0 symbolize "$db" --symbols "$empty" --csv
is "without its file" "$(names)" "$unnamed"
has "and says so" "$out" "2,0,$id,/opt/x/server,,,no file has this build id"
says "with it, also where the path is not known" "2,1,/opt/x/server,named in part 1,1,,named "
is "names" "$(names)" "$named"
rm "$symbols/server"
report 0 symbolize "$db" --symbols "$symbols"
has "what a narrow line leaves out, the least important first" "$(flat "$out")" "80 columns: build_id."
says "without it again: what has a name has one" "2,1,/opt/x/server,no file has this build id 1,1,,named "
is "names stay" "$(names)" "$named"
cp "$program" "$symbols/server"

# ---- what others made of a database ----
# refuses WHAT SQL
refuses() {
    fresh odd
    sqlite3 "$db" "$2"
    report 1 symbolize "$db" --symbols "$symbols"
    has "$1 is refused" "$err" "its table symbol is not as nettape-report made it"
}
refuses "a view that never ends" "DROP TABLE symbol; CREATE VIEW symbol AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
    SELECT i + 1 FROM n)
    SELECT 1 AS session_id, i AS id, 'user' AS kind, 'f' AS name, 0 AS offset, '$id' AS build_id, 269 AS file_offset,
        '/opt/x/server' AS path FROM n"
refuses "a table without its key" "CREATE TABLE other AS SELECT * FROM symbol; DROP TABLE symbol;
    ALTER TABLE other RENAME TO symbol"
endless="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
fresh trigger
sqlite3 "$db" "CREATE TRIGGER named AFTER UPDATE ON symbol BEGIN $endless; END;
    CREATE TRIGGER added AFTER INSERT ON session BEGIN $endless; END"
says "triggers are not run" "2,1,/opt/x/server,named in part 1,1,,named "
make_tape hand
report 0 import "$work/hand.tape" -o "$db" --append
is "nor when a tape is added" "$(sqlite3 "$db" "SELECT count(*) FROM session")" 2

# ---- clear words ----
report 1 symbolize "$work/nowhere.db"
has "no file" "$err" "No such file"
report 1 symbolize "$work/empty.tape"
has "a tape" "$err" "import TAPE -o DB --symbols DIR"
report 1 symbolize "$db" --symbols "$work/nowhere"
has "no directory" "$err" "no such directory"
fresh read_only
chmod 444 "$db"
if [[ $EUID != 0 ]]; then
    report 1 symbolize "$db" --symbols "$symbols"
    has "a database that may only be read" "$err" "it belongs to you, with mode 0444; run"
fi
report 2 symbolize "$db" --no-symbols
report 2 symbolize
fresh plain
report 1 query "$db" "SELECT 1" --symbols "$symbols"
has "a database has its names" "$err" "nettape-report symbolize"
report 0 query "$db" "SELECT 1" --no-symbols
finish
