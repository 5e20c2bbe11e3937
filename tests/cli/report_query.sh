#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# query: where its SQL comes from, the formats, and that nothing can be written.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
"$PLAIN" import "$work/hand.tape" -o "$work/q.db" >/dev/null
cp "$work/q.db" "$work/before.db"

for source in "$work/hand.tape" "$work/q.db"; do
    report 0 query "$source" "SELECT 1 AS a, 'x,y' AS b, NULL AS c, 2.5 AS d, x'00ff' AS e" --csv
    is "CSV" "$out" 'a,b,c,d,e
1,"x,y",,2.5,00ff'
    report 0 query "$source" --json "SELECT 1 AS a, 'x\"y' AS b, NULL AS c, 2.5 AS d"
    is "JSON" "$out" '[
  {"a": 1, "b": "x\"y", "c": null, "d": 2.5}
]'
    report 0 query "$source" "SELECT cpu, owner FROM cpu_slice LIMIT 2"
    is "table" "$out" 'cpu  owner
  0  idle
  0  task'
    echo "SELECT 7 AS seven; -- a remark
        SELECT 8 AS eight;" >"$work/two.sql"
    report 0 query "$source" -f "$work/two.sql"
    is "several statements" "$out" 'seven
    7

eight
    8'
    is "SQL from standard input" "$("$REPORT" query "$source" --csv <"$work/two.sql")" 'seven
7

eight
8'
    report 0 query "$source" "SELECT (SELECT count(*) FROM thread WHERE utid = 0 OR name = o.name) =
        (SELECT sum(utid = 0 OR name = o.name) FROM thread) AS same FROM thread AS o WHERE utid <> 0 LIMIT 1"
    is "rows that either of two conditions chooses" "$out" 'same
   1'
    report 0 query "$source" ""
    nothing "no SQL, no answer" "$out"
    report 1 query "$source" "SELEC 1"
    has "an error in the SQL" "$err" 'near "SELEC": syntax error'
    report 1 query "$source" "SELECT * FROM no_such"
    is "a table that is not there" "$(head -1 <<<"$err")" "nettape-report: no such table: no_such."
    has "the tables" "$err" "Tables: block_io, cgroup, "
    has "the views" "$err" "Views: block_cost, block_depth, energy, flow_estimate, "
    is "lines over 80 columns" "$(awk 'length > 80' <<<"$err" | wc -l)" 0
    report 1 query "$source" "SELECT * FROM net_cost_proces"
    has "the table that was meant" "$err" "no such table: net_cost_proces; did you mean 'net_cost_process'?"
    report 1 query "$source" "SELECT p.nme FROM net_cost_process AS p"
    has "the column that was meant" "$err" "no such column: p.nme; did you mean 'name'?"
    has "the columns of the view" "$err" "Columns of net_cost_process: session_id, upid, pid, name, "
    report 1 query "$source" "SELECT nme"
    has "a column of no table" "$err" "nettape-report: no such column: nme.
The columns of a table: PRAGMA table_info(NAME)"
    report 1 query "$source" "SELECT 1; SELECT abs(-9223372036854775808)"
    has "a query that fails while it runs" "$err" "integer overflow"

    for statement in "DELETE FROM session" "INSERT INTO problem VALUES (1, 'x')" "UPDATE session SET host = 'x'" \
        "DROP TABLE loss" \
        "CREATE TABLE t(a)" "CREATE TEMP TABLE t(a)" "ATTACH '$work/other.db' AS other" "DETACH main" "VACUUM" \
        "VACUUM INTO '$work/other.db'" \
        "PRAGMA user_version = 9" "PRAGMA journal_mode = WAL" "PRAGMA writable_schema = 1" "BEGIN" "SAVEPOINT s" \
        "ANALYZE" \
        "UPDATE sqlite_master SET sql = ''" "WITH x AS (SELECT 1) DELETE FROM loss" "CREATE VIEW v AS SELECT 1" \
        "PRAGMA table_info = 1; DROP VIEW net_cost_cpu"; do
        report 1 query "$source" "$statement"
    done
done
report 1 query q.db "REINDEX" # a tape has no indexes
holds "no file was made" test ! -e "$work/other.db"
same "the database is as it was" "$work/q.db" "$work/before.db"

report 0 query "$work/q.db" "PRAGMA table_info(loss)"
has "asking for the schema is allowed" "$out" "session_id"
report 1 query "$work/hand.tape" -f "$work/no.sql"
has "a file that is not there is named" "$err" "no.sql cannot be read: No such file"
head -c 2000000 /dev/zero | tr '\0' ' ' >"$work/long.sql"
report 1 query "$work/hand.tape" -f "$work/long.sql"
has "SQL has a bound" "$err" "longer than a megabyte"
report 1 query "$work/hand.tape" -f /dev/zero
has "and must be text" "$err" "is not text"

# Long answers come through whole.
"$REPORT" query "$work/q.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i
    FROM n" >"$work/long"
is "20,000 rows" "$(sed 1d "$work/long" | awk '{ s += $1 } END { print NR, s }')" "20000 200010000"
finish
