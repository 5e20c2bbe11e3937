#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Databases that somebody else made, so that commands hang, take gigabytes or run what is in them. Each command ends
# soon, in little memory, and says which file it was and what to do. A user's own index or view does no harm.
# check-all: it takes most of a minute
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "no sqlite3"
built build/tools/rusage
MOST_S=20 # of CPU time: the program's own bound is 3 s here
MOST_KIB=1600000 # the program's own bound is 1 GiB, and a sanitizer takes more
"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/base.db" >"$work/out"
make_tape hand
endless="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
again="import the tape again"
readers=(summary timeline check stages flame latency "export html -o $work/new" "export perfetto -o $work/new"
    "export prometheus" "query -f /dev/null" "summary --by cgroup" "summary --names $work/names.txt")
writers=(symbolize "import --append $work/hand.tape -o")
echo "5eed5eed5eed a" >"$work/names.txt"
# Names of functions are looked for in no other place.
export DEBUGINFOD_CACHE_PATH=$work/none

# hostile NAME SQL: $db is a database that somebody changed so
hostile() {
    db=$work/$1.db
    cp "$work/base.db" "$db"
    sqlite3 "$db" "PRAGMA writable_schema = ON; $2" >"$work/made" 2>&1 || bad "$1 cannot be made: $(<"$work/made")"
}

# columns TABLE COLUMN: of the table, but i for that one
columns() { sqlite3 "$work/base.db" "SELECT group_concat(CASE name WHEN '$2' THEN 'i' ELSE name END, ', ')
    FROM pragma_table_info('$1')"; }

# run COMMAND: on a copy of $db, within bounds; its exit status is $status then, what it says $err
run() {
    local usage=()
    rm -f "$work"/new*
    cp "$db" "$work/copy.db"
    status=0
    # shellcheck disable=SC2086
    (ulimit -t $MOST_S && exec timeout 800 build/tools/rusage "$work/rusage" "$REPORT" $1 "$work/copy.db") \
        >"$work/out" 2>"$work/err" </dev/null || status=$?
    out=$(head -c 100000 "$work/out" | tr -d '\0') err=$(<"$work/err")
    read -ra usage <"$work/rusage" || usage=(0 0 0 0)
    if ((status == 124 || status > 128)); then bad "$(basename "$db"): $1 does not end"; fi
    if ((usage[3] > MOST_KIB)); then bad "$(basename "$db"): $1 takes ${usage[3]} KiB"; fi
}

# each WHAT HOLDS COMMAND...: after each command HOLDS is true
each() {
    local what=$1 holds=$2 command before=$failures
    shift 2
    for command; do
        run "$command"
        $holds || bad "$(basename "$db"): $command gives $status, and does not $what: $(head -3 "$work/err")"
    done
    ((failures > before)) || ok "$(basename "$db"): $# commands $what"
}

# refused PART COMMAND...: by each command, which says so of the file
refused() { part=$1 each "say: $1" says_part "${@:2}"; }
says_part() { [[ $status == 1 && $err == *"copy.db"*"$part"* ]]; }

# survived COMMAND...: each gives what it can, or says what is wrong
survived() { each "survive it" ends_well "$@"; }
ends_well() { [[ $status == 0 || ($status == 1 && -n $err$out) ]]; }

# harmless COMMAND...: each does what it does without
harmless() { each "leave it out" works "$@"; }
works() { ((status == 0)); }

# ---- what stands in the place of our tables and views ----
not_ours() { refused "its $1 is not as nettape-report made it: $again" "${@:2}"; }
hostile endless "CREATE TABLE kept AS SELECT * FROM session; DROP TABLE session;
    CREATE VIEW session($(columns session none)) AS SELECT $(columns session session_id) FROM kept, ($endless)"
not_ours "table session" "${readers[@]}" "${writers[@]}"
few=(summary "${writers[@]}")
for table in problem thread cgroup symbol cpu_slice; do
    hostile "view-$table" "DROP TABLE $table; CREATE VIEW $table AS $endless"
    not_ours "table $table" "${few[@]}"
done
hostile upper "DROP TABLE session; CREATE VIEW SESSION AS $endless"
not_ours "table session" "${few[@]}"
joined=a
for i in {1..60}; do joined+=", session_meta AS a$i"; done
hostile joined "DROP TABLE session; CREATE VIEW session AS SELECT count(*) FROM session_meta AS $joined"
not_ours "table session" "${few[@]}"
hostile virtual "DELETE FROM sqlite_master WHERE name = 'session'; INSERT INTO sqlite_master VALUES ('table', 'session',
    'session', 0, 'CREATE VIRTUAL TABLE session USING generate_series')"
refused "$again" "${few[@]}"
hostile misnamed "UPDATE sqlite_master SET sql = 'CREATE VIEW session AS $endless' WHERE name = 'thread'"
refused "$again" "${few[@]}"
long="hex(zeroblob(400000000))"
hostile generated "ALTER TABLE session ADD COLUMN more AS ($long)"
not_ours "table session" "${few[@]}"
hostile check "UPDATE sqlite_master SET sql = replace(sql, 'uuid TEXT', 'uuid TEXT CHECK (length($long))')
    WHERE name = 'session'"
not_ours "table session" "${few[@]}"
hostile default "UPDATE sqlite_master SET sql = replace(sql, 'os TEXT', 'os TEXT DEFAULT ($long)')
    WHERE name = 'session'"
not_ours "table session" "${few[@]}"
hostile collation "UPDATE sqlite_master SET sql = replace(sql, 'text TEXT', 'text TEXT COLLATE other')
    WHERE name = 'problem'"
not_ours "table problem" "${few[@]}"
hostile keyless "CREATE TABLE other AS SELECT * FROM symbol; DROP TABLE symbol; ALTER TABLE other RENAME TO symbol"
not_ours "table symbol" "${few[@]}"
hostile our-view "DROP VIEW net_cost_cpu; CREATE VIEW net_cost_cpu AS $endless"
not_ours "view net_cost_cpu" "${readers[@]}" "${writers[@]}"
hostile our-view-upper "DROP VIEW net_cost_stage; CREATE VIEW NET_COST_STAGE AS $endless"
not_ours "view NET_COST_STAGE" "${few[@]}"
hostile view-longer "UPDATE sqlite_master SET sql = sql || ' UNION ALL SELECT 1, 1, 1, 1, count(*) FROM ($endless)'
    WHERE name = 'net_cost_cpu'"
not_ours "view net_cost_cpu" "${few[@]}"
hostile view-shorter "UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 9) WHERE name = 'net_cost_cpu'"
not_ours "view net_cost_cpu" "${few[@]}"

# ---- what is computed for a row ----
hostile triggers "CREATE TRIGGER named AFTER UPDATE ON symbol BEGIN $endless; END;
    CREATE TRIGGER added AFTER INSERT ON session BEGIN $endless; END;
    CREATE TRIGGER viewed INSTEAD OF INSERT ON net_cost_cpu BEGIN $endless; END"
harmless "${few[@]}"
computes="computes something for each row: drop that index"
hostile computed "CREATE INDEX costly ON session(substr('a', length(uuid)))"
harmless "${readers[@]:0:1}"
refused "its index costly on session $computes" "${writers[@]}"
hostile partial "CREATE INDEX costly ON symbol(id) WHERE name LIKE '%a%a%a%a%a%a%a%a%a%a%b'"
harmless "${readers[@]:0:1}"
refused "its index costly on symbol $computes" "${writers[@]}"

# ---- a user's own ----
hostile own "CREATE INDEX op_of_socket ON sock_op(socket_id); CREATE TABLE mine(a); CREATE VIEW always AS $endless;
    CREATE VIEW ours AS SELECT percentile(ns, 0.5) AS ns FROM net_cost_cpu; CREATE INDEX short ON mine(hex(a))"
harmless "${few[@]}" timeline check stages flame "export html -o $work/new" "export perfetto -o $work/new"
is "a user's view" "$("$REPORT" query "$db" --csv "SELECT ns FROM ours")" \
    "$("$REPORT" query "$work/base.db" --csv "SELECT percentile(ns, 0.5) AS ns FROM net_cost_cpu")"
hostile shadows "CREATE TABLE json_each(value); CREATE TABLE pragma_table_info(name);
    CREATE VIEW pragma_index_list AS $endless"
survived "${few[@]}" check timeline
hostile utf-16 ""
sqlite3 "$work/base.db" .dump | sqlite3 -cmd "PRAGMA encoding = 'UTF-16'" "$work/utf-16.db.new"
sqlite3 "$work/utf-16.db.new" "PRAGMA application_id = $(sqlite3 "$db" "PRAGMA application_id");
    PRAGMA user_version = $(sqlite3 "$db" "PRAGMA user_version")"
mv "$work/utf-16.db.new" "$db"
harmless "${few[@]}" timeline

# A user's query takes what it takes: as long as all other commands together may, and Ctrl-C ends it.
env --default-signal=INT "$REPORT" query "$work/own.db" "SELECT count(*) FROM always" >"$work/out" 2>&1 &
pid=$!
sleep 4.5
holds "a user's own query is not refused" kill -INT $pid
status=0
wait $pid || status=$?
holds "and Ctrl-C ends it" test $status -gt 128

# ---- texts that nobody wrote ----
too_long="a value in it is longer than any that nettape-report writes: $again"
text="replace(hex(zeroblob(10000000)), '0', 'x')"
hostile long-host "UPDATE session SET host = $text"
refused "$too_long" summary timeline check stages "export html -o $work/new" "export perfetto -o $work/new"
hostile long-problem "INSERT INTO problem VALUES (1, $text)"
survived "${readers[@]}"
run "query -f /dev/null"
has "that problems are not known is one" "$err" "its table problem cannot be read"
hostile long-names "UPDATE thread SET name = $text WHERE utid < 3; UPDATE cgroup SET path = $text, label = $text;
    UPDATE symbol SET name = $text WHERE id = 2; UPDATE session_meta SET value = $text
    WHERE key IN ('probes', 'uncovered', 'command', 'stacks')"
survived "${readers[@]}" "${writers[@]}"
hostile long-schema "CREATE VIEW v AS SELECT '$(head -c 100000 /dev/zero | tr '\0' a)' AS a;
    UPDATE sqlite_master SET sql = replace(sql, 'aaaaaaaaaa', hex(zeroblob(1000))) WHERE name = 'v'"
refused "$too_long" "${few[@]}"

# ---- numbers that no host has ----
most=9223372036854775807
hostile numbers "UPDATE cpu_cost SET dur = $most, spent_ns = $most; UPDATE session SET bucket_ns = 1"
survived "${readers[@]}" "${writers[@]}"
sums=(timeline check "export html -o $work/new" "export perfetto -o $work/new")
hostile times "UPDATE session SET start_ts = -$most, end_ts = $most, dur = $most, cpus = $most, bucket_ns = -1"
survived "${sums[@]}"
hostile slices "UPDATE cpu_slice SET dur = $most; UPDATE sock_op SET ts = -$most, dur = $most;
    UPDATE session SET end_ts = $most"
survived "${sums[@]}"
hostile cpus "UPDATE cpu_slice SET cpu = $most - rowid; UPDATE session SET cpus = $most"
survived "${sums[@]}"

# ---- tables whose pages have many parents: rows without end in a small file ----
if ! command -v python3 >/dev/null; then
    without "python3 is not installed, which makes endless tables"
    finish
fi
# endless_table TABLE SQL: the SQL gives it enough rows
endless_table() {
    hostile "endless-$1" "$2; PRAGMA page_size = 512; VACUUM"
    python3 tests/cli/endless_table.py "$db" "$1" || bad "$1 cannot be made endless"
}
many="WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
spent="reading it takes more time than a database of its size needs, so it is not as nettape-report made it: $again"
endless_table sqlite_master "BEGIN; $(for i in {1..2000}; do echo "CREATE TABLE t$i(a);"; done) COMMIT"
refused "$spent" summary
sqlite3 "$db" "PRAGMA user_version = 6" # of which a copy is read
refused "$spent" summary
endless_table session "$many INSERT INTO session SELECT $(columns session session_id) FROM n, session"
refused "$spent" summary symbolize
endless_table problem "$many INSERT INTO problem SELECT 1, 'bad' FROM n"
refused "$spent" "query -f /dev/null"
endless_table cpu_slice "$many INSERT INTO cpu_slice SELECT $(columns cpu_slice ts) FROM n, (SELECT * FROM cpu_slice
    LIMIT 1)"
refused "$spent" check "export perfetto -o $work/new"
sqlite3 "$db" "PRAGMA user_version = 6"
refused "${spent/time/space}" summary
endless_table symbol "$many INSERT INTO symbol(session_id, id, kind, name, build_id, file_offset) SELECT 1, 10000 + i,
    'user', 'f', '$(printf %040d 7)', 5 FROM n"
refused "$spent" symbolize
hostile endless-stat "$many INSERT INTO problem SELECT 1, 'bad' FROM n; CREATE INDEX i ON problem(text); ANALYZE;
    $many INSERT INTO sqlite_stat1 SELECT 'problem', 'i', '5000 1' FROM n; PRAGMA page_size = 512; VACUUM"
python3 tests/cli/endless_table.py "$db" sqlite_stat1 || bad "sqlite_stat1 cannot be made endless"
survived summary
finish
