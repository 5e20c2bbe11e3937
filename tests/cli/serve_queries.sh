#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# /api/query of nettape-serve: it answers as `nettape-report query` does, only if it was asked to, within its bounds;
# and clients that it must withstand (tests/cli/serve_queries.py).
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/serve_lib.sh
source tests/cli/serve_lib.sh

# start_queries PROGRAM TIME: $url is that of queries
start_queries() {
    start "$1" "$work/loss.tape" -l 0 --queries "$2"
    url=${url/metrics/api\/query} token=${url#*token=} port=${url##*:} port=${port%%/*}
    for _ in $(seq 1000); do
        [[ $(curl -s "$url" --data-binary "SELECT 1") != *"no tape yet"* ]] && return
        sleep 0.02
    done
}
# ended: it has been told to end, unless something failed before
ended() {
    local status=0
    [[ $failures == 0 ]] || { stop; return; }
    wait "$server" || status=$?
    server=
    is "exit status of the server" "$status" 0
}
# query STATUS TEXT SQL: the answer has the text
query() {
    asks "$1" "$url" --data-binary "$3"
    has "its answer" "$(head -c 2000 "$work/answer")" "$2"
}
clients() { python3 -B tests/cli/serve_queries.py "$port" "$token" "$@" 2>&1; }

# It has problems that an answer must tell.
make_tape loss
chunk=$(find "$work/loss.tape" -name 'chunk-*' | tail -1)
truncate -s "$(($(stat -c %s "$chunk") * 9 / 10))" "$chunk"
start build/san/nettape-serve "$work/loss.tape" -l 0
asks 404 "${url/metrics/api/query}&sql=SELECT+1"
has "which is told" "$(<"$work/answer")" "--queries"
stop

# No query takes so long, on any machine.
start_queries build/san/nettape-serve 1h
lacks "an address without its token" "$(curl -s "${url%\?*}" --data-binary "SELECT 'it is told'")" "it is told"
asks 403 -H "Host: evil.example" "$url" --data-binary "SELECT 1"
# Some tables and views; the one with problems is among them.
mapfile -t names < <(sql "$work/loss.tape" "SELECT name FROM sqlite_master
    ORDER BY name = 'problem' DESC, random() LIMIT 9")
mkdir "$work/got" "$work/wanted"
for name in "${names[@]}"; do
    curl -s -G "$url" --data-urlencode "sql=SELECT * FROM $name LIMIT 100" >"$work/got/$name"
    "$PLAIN" query "$work/loss.tape" "SELECT * FROM $name LIMIT 100" --json >"$work/wanted/$name" 2>/dev/null
done
is "tables as nettape-report shows them" "$(python3 -B tests/cli/serve_rows.py "$work/got" "$work/wanted")" "all of 9"
query 400 "did you mean 'process'?" "SELECT * FROM proces"
query 400 "did you mean 'name'?" "SELECT nam FROM process"
query 400 "more than one SQL statement" "SELECT 1; SELECT 2"
query 400 "no SQL statement" "-- nothing"
query 400 "syntax error" "SELECT 1; SELEC"
query 400 "may not be modified" "DELETE FROM process"
query 400 "only statements that read" "ATTACH '/etc/passwd' AS it"
query 400 "not authorized" "SELECT fts3_tokenizer('simple')"
query 400 "is missing" ""
asks 200 -X GET "$url&sql=SELECT+1" --data-binary ", 2"
has "its SQL" "$(<"$work/answer")" '"rows":[[1]]'
query 200 '"is_cut":false' "SELECT 1; -- no more"
query 200 '"columns":["a","a"],"rows":[[1,null]]' "SELECT 1 AS a, NULL AS a"
asks 405 -I "$url"
asks 405 -X PUT "$url"
all_rows="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) SELECT i"
query 200 '"rows":[[1],[2],' "$all_rows FROM n"
has "its rows have a bound" "$(tail -c 400 "$work/answer")" '[10000]],"is_cut":true'
query 200 '"rows":[[1],[2],' "$all_rows FROM n LIMIT 10000"
has "which all keep" "$(tail -c 400 "$work/answer")" '[10000]],"is_cut":false'
query 200 '"rows":[[1,"00' "$all_rows, hex(zeroblob(500)) FROM n"
has "its bytes have one" "$(tail -c 400 "$work/answer")" '"is_cut":true'
zeros="hex(zeroblob(30000000))"
query 400 "a row is longer than" "SELECT $zeros, $zeros, $zeros"
query 400 "longer than 8 MiB" "SELECT replace(hex(zeroblob(2000000)), '0', char(1))"
head -c 16385 /dev/zero | tr '\0' ' ' >"$work/long"
asks 413 "$url" --data-binary "@$work/long"
is "clients" "$(clients "$server")" "done"
ended
nothing "complaints of more than the tape" "$(grep -vE 'loss.tape: (chunk-|The session.s end)' "$work/complained")"

start_queries build/nettape-serve 1h
query 400 "a query may take 512 MiB" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    SELECT $(seq -s, -f 'length(group_concat(z, %.0f))' 20) FROM (SELECT hex(zeroblob(500000)) AS z FROM n)"
is "clients, and memory" "$(clients "$server" memory)" "done"
ended

start_queries build/nettape-serve 20ms
query 503 "more than 0.02 s" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
stop
status=0
build/san/nettape-serve "$work/loss.tape" --queries 0 2>"$work/err" || status=$?
is "a query that may take no time" "$status" 2
has "what it says" "$(<"$work/err")" "from 1ms to 1h"
finish
