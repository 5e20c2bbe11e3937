# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the tests of export perfetto. To be sourced after tests/cli/lib.sh.
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which asks the databases"
built build/tools/perfetto_cat build/tools/rusage
protoc=$(command -v protoc) || without "protoc is not installed, which reads the traces"
engine=$(bash tests/perfetto/engine.sh 2>"$work/why") || { engine=;
    without "not compared with Perfetto's engine: $(<"$work/why")"; }

# is_read TRACE WHAT: it is whole, and protoc, if it is there, knows every field in it; then $work/decoded has its text
is_read() {
    if ! build/tools/perfetto_cat "$1" >"$work/plain" 2>"$work/why"; then
        bad "$2 is no trace: $(<"$work/why")"; return; fi
    [[ $protoc ]] || return 0
    if "$protoc" --decode=nettape.Trace -Itests/perfetto \
        subset.proto <"$work/plain" >"$work/decoded" 2>"$work/why"; then ok "protoc reads $2"; else
        bad "protoc does not read $2: $(<"$work/why")"
    fi
    is "fields of $2 that are not known" "$(grep -cE '^ *[0-9]+[: ]' "$work/decoded")" 0
}

# is_same TRACE DB WHAT: Perfetto's engine finds in it what is in the database
is_same() {
    [[ $engine ]] || return 0
    if bash tests/perfetto/compare.sh "$1" "$2" >"$work/compared" 2>&1; then ok "Perfetto finds the same in $3"; else
        bad "Perfetto does not find the same in $3"
        { grep -v '^same' "$work/compared" || true; } | head -20
    fi
    cat "$work/compared" >>"$work/answers"
}

# is_answered: each question of is_same had rows in some trace so far: where both sides have none, they are the same too
is_answered() {
    [[ $engine ]] || return 0
    all "questions with answers, and those that no trace has one to" "$(awk '$1 == "same" { rows[$2] += $3 }
        END { for (name in rows) { n++; wrong += !rows[name];
            if (!rows[name]) print "no answer: " name >"/dev/stderr" } print n + 0, wrong + 0 }' "$work/answers")"
}

# asks TRACE <QUERIES: its engine answers them, each behind a line "-- name", in one run: half a second each
asks() {
    cat >"$work/asked.sql"
    node tests/perfetto/trace_processor.mjs "$engine" "$1" "$work/asked.sql" >"$work/answered"
}

# answer NAME: what it said to this one, a line a row
answer() { sed -n "s/^$1|//p" "$work/answered"; }

# perfetto TRACE SQL: what it says to one
perfetto() {
    asks "$1" <<<"-- asked"$'\n'"$2"
    answer asked
}
