#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is no tape and no database: one clear sentence that names it, exit status 1, nothing on standard output, no file left.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
"$REPORT" import "$work/hand.tape" -o "$work/good.db" >/dev/null

mkdir "$work/empty" "$work/garbage.tape" "$work/other.tape" "$work/headless.tape"
head -c 5000 /dev/urandom >"$work/random"
echo garbage >"$work/garbage.tape/chunk-000000.ntc"
cp tests/golden/bad/other-version.ntc "$work/other.tape/chunk-000000.ntc"
cp tests/golden/bad/empty.ntc "$work/headless.tape/chunk-000000.ntc"
: >"$work/nothing"
head -c 3000 "$work/good.db" >"$work/cut.db"
cp "$work/good.db" "$work/version.db"
printf '\x09' | dd of="$work/version.db" bs=1 seek=63 conv=notrunc status=none # user_version
cp "$work/good.db" "$work/foreign.db"
printf '\x00\x00\x00\x00' | dd of="$work/foreign.db" bs=1 seek=68 conv=notrunc status=none # application_id

# refused PATH PART: by every command
refused() {
    local path=$1 part=$2
    for command in info check summary "query -f /dev/null"; do
        # A database is no tape to info.
        [[ $command != info || $path != *.db ]] || continue
        # shellcheck disable=SC2086
        report 1 $command "$path"
        is "nothing on standard output" "$out" ""
        has "names it" "$err" "$path"
        has "says what" "$err" "$part"
        is "one sentence" "$(wc -l <<<"$err")" 1
        is "ends like one" "${err: -1}" .
    done
    [[ $path == *.db ]] && return
    report 1 import "$path" -o "$work/new.db"
    has "says what" "$err" "$part"
    is "no database is left" "$(cd "$work" && find . -name 'new*' | wc -l)" 0
}
refused "$work/missing.tape" "No such file"
refused "$work/empty" "is not a nettape tape"
refused "$work/random" "is not a nettape tape"
refused "$work/nothing" "is not a nettape tape"
refused "$work/garbage.tape" "is not a nettape tape"
refused "$work/other.tape" "of another version"
refused "$work/headless.tape" "is not a nettape tape"
refused "$work/version.db" "its schema is version"
has "what is to be done" "$err" "import its tapes again, into a new database"
refused "$work/foreign.db" "not one that nettape-report made"
report 1 check "$work/cut.db"
has "a database that was cut" "$err" "import the tape again"
report 1 info "$work/good.db"
has "info wants a tape" "$err" "is not a nettape tape"

# A database of the form that an older program made: no command goes on with what it lacks.
if command -v sqlite3 >/dev/null; then
    sqlite3 "$work/old.db" <tests/golden/schema-1.sql
    cp "$work/old.db" "$work/before.db"
    for command in check "query -f /dev/null" summary latency "export prometheus" "import --append $work/hand.tape -o"; do
        # shellcheck disable=SC2086
        report 1 $command "$work/old.db"
        is "nothing on standard output" "$out" ""
        is "says what it is and what is to be done" "${err#nettape-report: }" \
            "$work/old.db: its schema is version 1 and this program reads version 3: import its tapes again, into a new database."
    done
    holds "it is as it was" cmp "$work/before.db" "$work/old.db"
fi

report 1 import "$work/hand.tape" -o "$work/no/such/dir.db"
has "a place that is not there" "$err" "dir.db.partial cannot be made: No such file or directory"
report 1 import --append "$work/hand.tape" -o "$work/random"
has "no database to add to" "$err" "no database"
report 1 import --append "$work/hand.tape" -o "$work/foreign.db"
has "somebody else's database" "$err" "not one that nettape-report made"
if [[ $(id -u) != 0 ]]; then
    chmod 000 "$work/hand.tape"
    report 1 summary "$work/hand.tape"
    has "no permission" "$err" "Permission denied"
    chmod 700 "$work/hand.tape"
fi

# Every golden tape that must be refused or survived: no crash, whatever it is.
for bad in tests/golden/bad/*; do
    for command in info check summary; do
        status=0
        "$REPORT" $command "$bad" >"$work/out" 2>"$work/err" || status=$?
        holds "$command $bad: exit status $status is 0 or 1" test "$status" -le 1
    done
done
finish
