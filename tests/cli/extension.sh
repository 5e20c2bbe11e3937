#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nettape_sqlite.so in the sqlite3 shell: what it opens, what it says, and that nothing else of the connection changes.
# The rows are those of the tape: tape_tables.sh.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "no sqlite3"
built build/nettape_sqlite.so
extension=$PWD/build/nettape_sqlite.so
make_tape hand
make_tape loss
make_tape chunks
make_tape traffic 200
report 0 import "$work/hand.tape" -o "$work/hand.db"
root=$PWD
cd "$work"

# shell LINE...: what the shell says to these lines, on user.db and with the extension
shell() { printf '%s\n' ".load $extension" "$@" | sqlite3 user.db 2>&1 || true; }
open_hand="SELECT nettape_open('hand.tape');"
# told WHAT GOT PART: the error has this part; the words before it are the shell's
told() { has "$1" "$2" "rror near line 2: $3"; }

is "symbols that it shows" "$(nm -D --defined-only "$extension" | awk '{ print $3 }')" sqlite3_nettapesqlite_init
lacks "it brings no SQLite" "$(readelf -d "$extension")" libsqlite

is "a tape is opened" "$(shell "$open_hand" "SELECT count(*) FROM cpu_slice;")" "hand.tape
$(sqlite3 hand.db "SELECT count(*) FROM cpu_slice")"
is "with views, in them and percentile" "$(shell "$open_hand" "SELECT percentile(ns, 0.5) FROM net_cost_cpu;" |
    tail -1)" "$("$REPORT" query hand.db --csv "SELECT percentile(ns, 0.5) FROM net_cost_cpu" | tail -1)"
is "percentile by its own name" "$(shell "$open_hand" "SELECT nettape_percentile(ns, 0.5) FROM net_cost_cpu;" |
    tail -1)" "$("$REPORT" query hand.db --csv "SELECT nettape_percentile(ns, 0.5) FROM net_cost_cpu" | tail -1)"
# A program with a percentile of its own.
loads='import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)'
for python in python3 /usr/bin/python3 ""; do if $python -c "$loads" 2>/dev/null; then break; fi; done
[[ -n $python ]] || without "no python3 that loads extensions of SQLite"
[[ -z $python ]] || is "another percentile stays" "$($python - "$extension" <<'END'
import sqlite3
import sys

class Own:
    step = lambda self, *values: None
    finalize = lambda self: "mine"

db = sqlite3.connect(":memory:")
db.create_aggregate("percentile", 2, Own)
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
print(*db.execute("SELECT percentile(1, 50), nettape_percentile(1, 0.5)").fetchone())
END
)" "mine 1"
is "also from another directory, later" "$(shell "SELECT nettape_open('chunks.tape');" ".cd /" \
    "SELECT count(*) > 0 FROM sock_op;" | tail -1)" 1
# A program with the build id of one on this tape, and a function where that was.
id=deadbeef05060708090a00000000000000000014
stacks=$root/tests/golden/v1-stacks.tape
mkdir -p "cache/$id" nothing
cc -x assembler -nostdlib -static -Wl,--build-id=0x$id,-e,found -o "cache/$id/executable" - <<<"
.globl found
.type found, @function
found: .space 0x92000
.size found, 0x92000"
# names ARGUMENTS: of functions of programs, of nettape_open with these
names() {
    DEBUGINFOD_CACHE_PATH=$PWD/cache shell "SELECT nettape_open('$stacks'${1:-});" \
        "SELECT name FROM symbol WHERE file_offset = $((0x91b4f));" | tail -1
}
is "with names" "$(names)" found
is "from a directory" "$(names ", '$work/nothing'")" found
is "without looking for names" "$(names ", NULL")" libc.so.6+0x91b4f

told "no such tape" "$(shell "SELECT nettape_open('no.tape');")" "'no.tape' cannot be read: No such file or directory."
told "a database" "$(shell "SELECT nettape_open('hand.db');")" "hand.db is a database and no tape"
told "no path" "$(shell "SELECT nettape_open(NULL);")" "nettape_open needs the path of a tape."
told "no directory of symbols" "$(shell "SELECT nettape_open('hand.tape', 'nowhere');")" "--symbols nowhere: there is"
told "not from a view, which may be anybody's" "$(shell \
    "CREATE VIEW v AS SELECT nettape_open('hand.tape'); SELECT * FROM v;" "DROP VIEW v;")" \
    "unsafe use of nettape_open()"
has "a second tape" "$(shell "$open_hand" "SELECT nettape_open('loss.tape');")" \
    "this connection has the tape $work/hand"
has "also when it is loaded twice" "$(shell "$open_hand" ".load $extension" "SELECT nettape_open('loss.tape');")" \
    "this connection has the tape $work/hand"
has "in a transaction" "$(shell "BEGIN;" "$open_hand")" "nettape_open cannot run in a transaction"
has "tables are for reading" "$(shell "$open_hand" "DELETE FROM cpu_slice;")" "table cpu_slice may not be modified"

in_the_way=$(shell "CREATE TEMP VIEW loss_total AS SELECT 1;" "$open_hand" \
    "SELECT 'is', name FROM temp.sqlite_master;" "DROP VIEW loss_total;" "$open_hand" \
    "SELECT 'now', count(*) FROM loss_total;")
has "a view that is in the way" "$in_the_way" "view loss_total already exists."
is "then nothing is made" "$(grep ^is <<<"$in_the_way")" "is|loss_total"
has "but when it is gone" "$in_the_way" "now|"

shell "CREATE TABLE thread(mine);" "INSERT INTO thread VALUES (7);" "PRAGMA cache_size = 77;" >/dev/null
before=$(sqlite3 user.db .dump "PRAGMA application_id" "PRAGMA user_version")
states="SELECT * FROM pragma_foreign_keys, pragma_cache_size, pragma_temp_store, pragma_query_only,
    pragma_recursive_triggers, pragma_trusted_schema;"
same_states=$(shell "$states" "$open_hand" "$states" | sed 2d | uniq | wc -l)
is "settings of the connection stay" "$same_states" 1
is "tables of the user are there still" "$(shell "$open_hand" "SELECT mine FROM main.thread;" | tail -1)" 7
is "and the file is as it was" "$(sqlite3 user.db .dump "PRAGMA application_id" "PRAGMA user_version")" "$before"
is "rows may go into a table of the user" "$(shell "$open_hand" \
    "CREATE TABLE mine AS SELECT owner, sum(dur) AS ns FROM cpu_slice GROUP BY 1;" \
    "SELECT ns FROM mine WHERE owner = 'recv';" | tail -1)" 270000

# Ctrl-C in the shell is sqlite3_interrupt. Whether a table is kept or read, the statement ends soon: it reads no more
# of the tape, which it would else read again and again.
[[ -x $OLDPWD/build/tools/lengthen ]] || make -s -C "$OLDPWD" build/tools/lengthen
"$OLDPWD/build/tools/lengthen" traffic.tape 300 long.tape >/dev/null
bytes=$(cat long.tape/* | wc -c)
# bytes_read: by the process $pid so far, or nothing when it is gone
bytes_read() { awk '/^rchar/ { print $2 }' /proc/$pid/io 2>/dev/null || true; }
for table in net_cost_cpu tcp_retransmit; do
    rm -f begun
    printf '%s\n' ".load $extension" "SELECT nettape_open('long.tape');" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
        SELECT i + 1 FROM n) SELECT writefile('begun', 'x') UNION ALL
        SELECT sum((SELECT count(*) FROM $table WHERE session_id <> -i)) FROM n;" >lines
    env --default-signal=INT sqlite3 user.db <lines >said 2>&1 &
    pid=$!
    while [[ ! -e begun ]] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    at_begin=$(bytes_read)
    while now=$(bytes_read) && [[ $now ]] && ((now < at_begin + 1000000)); do sleep 0.02; done
    kill -INT $pid || true
    at_signal=$(bytes_read) last=$at_signal
    while now=$(bytes_read) && [[ $now ]]; do
        last=$now
        ((last < at_signal + bytes / 2)) || kill -KILL $pid || true
        sleep 0.02
    done
    wait $pid || true
    has "interrupted: $table" "$(<said)" "interrupted"
    holds "and soon ($((last - at_signal)) of $bytes bytes were read after that)" \
        test $((last - at_signal)) -lt $((bytes / 4))
done

cp -r chunks.tape cut.tape
truncate -s -3000 cut.tape/chunk-000001.ntc
has "a damaged tape has its problems" "$(shell "SELECT nettape_open('cut.tape');" "SELECT text FROM problem;")" \
    chunk-000001
finish
