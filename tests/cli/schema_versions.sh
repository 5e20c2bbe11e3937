#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Databases of every version of the schema that there was, by golden/schema-N.sql: each is read, gives what sqlite3
# finds in the file, and says what it lacks. None is changed, and none of another version is added to.
# UPDATE=1 writes the golden file of a new version (docs/CONTRIBUTING.md, "Raise the schema's version").
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "no sqlite3"
make_tape hand
"$PLAIN" import tests/golden/v1-charges.tape -o "$work/now.db" >"$work/out"
version=$(sqlite3 "$work/now.db" "PRAGMA user_version")
form=tests/golden/schema-$version.sql
[[ -e $form || -z ${UPDATE:-} ]] || {
    echo "-- v1-charges.tape as a program of version $version of docs/sql-schema.md imported it." \
        "tests/cli/schema_versions.sh makes"
    echo "-- the database with sqlite3. Later programs must read it."
    echo "PRAGMA application_id = $(sqlite3 "$work/now.db" "PRAGMA application_id");"
    echo "PRAGMA user_version = $version;"
    sqlite3 "$work/now.db" .dump
} >"$form"


# names DB: its tables and views
names() { sqlite3 "$1" "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"; }
# columns DB: TABLE.COLUMN of its tables
columns() {
    sqlite3 "$1" "SELECT m.name || '.' || c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
        WHERE m.type = 'table' ORDER BY 1"
}
# contents DB: a query for all that its tables hold
contents() {
    sqlite3 "$1" "SELECT group_concat('SELECT ''' || name || ''' AS name, hex(group_concat(line)) FROM (SELECT ' ||
        line || ' AS line FROM ' || name || iif(name = 'session_meta', ' WHERE key <> ''lacks''', '') ||
        ' ORDER BY 1)', ' UNION ALL ')
        FROM (SELECT name, (SELECT group_concat('quote(\"' || name || '\")', '||'',''||')
            FROM pragma_table_info(m.name)) AS line FROM sqlite_master AS m WHERE type = 'table')"
}
# unknown TABLE.COLUMN...: a query for how many values these columns have, that are not known: a cgroup's label is its
# path, and flows were counted by flow
unknown() {
    local column
    for column; do
        if [[ $column == cgroup.label ]]; then echo "SELECT 'label', count(*) AS n FROM cgroup WHERE label IS NOT path"
        elif [[ $column == *.counted_by ]]; then
            echo "SELECT '$column', count(*) AS n FROM ${column%.*} WHERE counted_by IS NOT 'flow'"
        else echo "SELECT '$column', count(${column#*.}) AS n FROM ${column%.*}"; fi
    done | sed '2,$s/^/UNION ALL /'
}

# older VERSION: all of a database of that version
older() {
    local db=$work/$1.db lacks column new=()
    sqlite3 "$db" <"tests/golden/schema-$1.sql"
    cp "$db" "$work/before.db"
    report 0 check "$db"
    has "version $1 is named" "$err" "$db: its schema is version $1, and the present one is $version."
    has "with the remedy" "$err" "in the present form: import its tapes again, into a new database"

    is "all rows of version $1 are read" "$(sql "$db" "$(contents "$db")")" \
        "$(sqlite3 -separator , "$db" "$(contents "$db")")"
    lacks=$(comm -23 <(sqlite3 "$work/now.db" "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") \
        <(names "$db"))
    [[ $(sql "$db" "SELECT DISTINCT value FROM session_meta WHERE key = 'lacks' ORDER BY 1") == "$lacks" ]] ||
        bad "version $1 lacks $lacks, and session_meta does not say so"
    for column in $(comm -23 <(columns "$work/now.db") <(columns "$db")); do
        [[ $err == *" ${column%.*}"* ]] || bad "stderr does not have $column, which version $1 lacks: $err"
        [[ $'\n'$lacks$'\n' == *$'\n'${column%.*}$'\n'* ]] || new+=("$column")
    done
    ((${#new[@]} == 0)) || all "columns that version $1 lacks" \
        "$(sql "$db" "SELECT count(*), sum(n > 0) FROM ($(unknown "${new[@]}"))")"
    is "all of net_rx is charged" "$(sql "$db" "SELECT coalesce(sum(spent_ns), 0) FROM rx_cost")" \
        "$(sqlite3 "$db" "SELECT coalesce(sum(spent_ns), 0) FROM cpu_cost WHERE owner = 'net_rx'")"
    report 0 query "$db" "$(sqlite3 "$work/now.db" "SELECT 'SELECT count(*) FROM ' || name || ';' FROM sqlite_master
        WHERE type = 'view'")"
    for command in summary timeline "export html -o $work/new.html" "export perfetto -o $work/new.pftrace"; do
        # shellcheck disable=SC2086
        report 0 $command "$db"
    done

    for command in symbolize "import --append $work/hand.tape -o"; do
        # shellcheck disable=SC2086
        report 1 $command "$db"
        has "it is not changed" "$err" \
            "is version $1 and this program adds to version $version only: import its tapes again"
    done
    same "version $1 is as it was" "$work/before.db" "$db"
}
for ((i = 1; i < version; i++)); do older $i; done

# The network's interrupts were not told apart before version 6.
report 0 summary --json "$work/5.db"
is "before version 6 nobody knows" "$(sqlite3 :memory: "SELECT json_group_array(json_extract(value, '\$.total_ns'))
    FROM json_each(readfile('$work/out'), '\$.sessions[0].elsewhere')")" "[null,0,null,null]"
report 0 summary "$work/5.db"
has "and it says why" "$out" "unknown, as its schema is older"

# A table that the import left out is not taken for one that its version lacks.
sqlite3 "$work/4.db" "DROP TABLE cpu_slice; DROP TABLE cpu_cost"
report 1 query "$work/4.db" "SELECT * FROM cpu_slice"
has "a table that was left out" "$err" "the table cpu_slice was left out of this import"
report 1 query "$work/4.db" "SELECT * FROM rx_cost"
has "and sums, where their like were" "$err" "the table rx_cost was left out of this import"

# refused TABLE EDIT SQL: one of version 6 with a table that is not as its import made it (see hostile_databases.sh)
refused() {
    sqlite3 "$work/6.db" .dump | sed "$2" | sqlite3 "$work/odd.db"
    sqlite3 "$work/odd.db" "PRAGMA application_id = $(sqlite3 "$work/6.db" "PRAGMA application_id");
        PRAGMA user_version = 6; $3"
    report 1 summary "$work/odd.db"
    has "refused" "$err" "its table $1 is not as nettape-report made it: import the tape again"
    rm "$work/odd.db"
}
refused sched_slice 's/utid INTEGER, end_state TEXT/utid INTEGER DEFAULT 1, end_state TEXT/' ""
refused session 's/uuid TEXT NOT NULL, host/uuid TEXT, host/' ""
refused loss "" "DROP TABLE loss; CREATE VIEW loss AS SELECT 1 AS session_id"
refused problem "" "ALTER TABLE problem ADD COLUMN more"

# One of this version is read as it is: a statement that makes a table or view never changes without the version. A
# later one is refused.
sqlite3 "$work/same.db" <"$form"
report 0 query "$work/same.db" "SELECT 1"
nothing "it lacks nothing" "$err"
is "it has all tables and views" "$(names "$work/same.db")" "$(names "$work/now.db")"
sqlite3 "$work/same.db" "PRAGMA user_version = $((version + 1))"
report 1 summary "$work/same.db"
has "a later version" "$err" "is version $((version + 1)) and this program reads versions 1 to $version: use the"
finish
