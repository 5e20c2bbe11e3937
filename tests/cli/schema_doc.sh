#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# docs/sql-schema.md names every table, view and column that a database has, and none that it has not. Its tables that
# follow from the source are those that build/tools/schema_tables prints; UPDATE=1 writes them.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

make_tape hand
report 0 import "$work/hand.tape" -o "$work/s.db"
doc=docs/sql-schema.md

# section TITLE-LINE: the text below a heading, up to the next
section() { awk -v title="$1" '$0 == title { on = 1; next } /^##/ { on = 0 } on' $doc; }

while IFS=, read -r kind name column; do
    if [[ $kind == table ]]; then
        text=$(section "### $name")
    else
        text=$(section "## Views")
        grep -q "^| \`$name\`" $doc || bad "$kind $name is not in $doc"
    fi
    # session_id is said once for all.
    if [[ $column != session_id && $text != *"\`$column\`"* ]]; then
        bad "$kind $name: column $column is not in $doc"; fi
done < <(sql "$work/s.db" 'SELECT m.type, m.name, p.name FROM sqlite_master AS m, pragma_table_info(m.name) AS p
    ORDER BY m.name, p.cid')
while read -r name; do
    is "table $name of the page is in a database" \
        "$(sql "$work/s.db" "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '$name'")" 1
done < <(sed -n 's/^### //p' $doc)
# shellcheck disable=SC2016
while read -r name; do
    is "view $name of the page is in a database" \
        "$(sql "$work/s.db" "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = '$name'")" 1
done < <(sed -n '/^## Views/,/^## Keys/s/^| `\([a-z_]*\)` .*/\1/p' $doc)
built build/tools/schema_tables
[[ ! ${UPDATE:-} ]] || make -s build/tools/schema_tables
for name in rows blocks kinds; do
    build/tools/schema_tables $name >"$work/$name"
    awk -v name="$name" -v file="$work/$name" '/^<!-- end -->$/ { within = 0 }
        !within { print }
        $0 == "<!-- by schema_tables: " name " -->" {
            while ((getline line <file) > 0) print line
            within = ++found
        }
        END { exit !found || within }' $doc >"$work/page" || {
        bad "$doc has no place for the $name of schema_tables, or no end of it"
        continue
    }
    [[ ${UPDATE:-} ]] && cp "$work/page" $doc
    nothing "lines of $doc that are not the $name of schema_tables" "$(diff $doc "$work/page")"
done
version=$(sql "$work/s.db" 'PRAGMA user_version')
is "the last version of the history" "$(sed -n 's/^\([0-9]*\)\. .*/\1/p' $doc | tail -1)" "$version"
has "the page's version" "$(<$doc)" "This page is the contract of the tables and views, version $version."
finish
