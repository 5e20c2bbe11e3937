#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Files that are neither tape nor database: one clear sentence that names the file, exit status 1, nothing on standard
# output, no file left.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
"$PLAIN" import "$work/hand.tape" -o "$work/good.db" >/dev/null

mkdir "$work/empty" "$work/garbage.tape" "$work/other.tape" "$work/headless.tape"
gzip -nc docs/CONTRIBUTING.md | tail -c 2000 >"$work/random"
echo garbage >"$work/garbage.tape/chunk-000000.ntc"
cp tests/golden/bad/other-version.ntc "$work/other.tape/chunk-000000.ntc"
cp tests/golden/bad/empty.ntc "$work/headless.tape/chunk-000000.ntc"
: >"$work/nothing"
head -c 3000 "$work/good.db" >"$work/cut.db"
cp "$work/good.db" "$work/version.db"
printf '\x7f' | dd of="$work/version.db" bs=1 seek=63 conv=notrunc status=none # user_version
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
        nothing "nothing on standard output" "$out"
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
refused "$work/random" "is not a nettape tape"
refused "$work/nothing" "is not a nettape tape"
refused "$work/garbage.tape" "is not a nettape tape"
echo "some notes" >"$work/notes.txt"
"$REPORT" export perfetto "$work/hand.tape" -o "$work/hand.pftrace" 2>/dev/null
"$REPORT" export html "$work/hand.tape" -o "$work/hand.html" 2>/dev/null
gzip -c "$work/notes.txt" >"$work/notes.gz"
tar -C "$work" -cf "$work/hand.tar" hand.tape
{ printf PERFILE2 && head -c 1000 /dev/zero; } >"$work/perf.data"
mkdir "$work/others"
cp "$work/notes.txt" "$work/others"
refused "$work/empty" "is an empty directory: nettape-record was killed before it recorded anything, or did not make it"
lacks "it may be one" "$err" "is not a nettape tape"
mkfifo "$work/fifo"
refused "$work/fifo" "but neither a file nor a directory: give the directory that nettape-record wrote."
refused "$work/nothing" "but an empty file: give the directory that nettape-record wrote."
refused "$work/notes.txt" "but a text file: give the directory that nettape-record wrote."
refused "$work/others" \
    "but a directory without chunk files (chunk-000000.ntc): give the directory that nettape-record wrote."
refused "$work/hand.pftrace" "but a trace for Perfetto: https://ui.perfetto.dev opens it."
refused "$work/hand.html" "but a web page: a browser opens it."
refused "$work/notes.gz" "but a compressed file: unpack it first."
refused "$work/hand.tar" "but an archive: unpack it first."
refused "$work/perf.data" "but a recording of perf: perf report reads it."
refused /dev/null "but neither a file nor a directory"
refused "$work/other.tape" "of another version"
refused "$work/headless.tape" "is not a nettape tape"
refused "$work/version.db" "its schema is version"
has "what is to be done" "$err" "import its tapes again, into a new database"
refused "$work/foreign.db" "not one that nettape-report made"
report 1 check "$work/cut.db"
has "a database that was cut" "$err" "import the tape again"
made_by_import="a database that nettape-report import made: look at it with nettape-report summary or query"
for command in info "import -o $work/new.db"; do
    # shellcheck disable=SC2086
    report 1 $command "$work/good.db"
    is "$command wants a tape" "$err" "nettape-report: '$work/good.db' is not a nettape tape but $made_by_import."
    # shellcheck disable=SC2086
    report 1 $command "$work/foreign.db"
    has "and no other database" "$err" "but an SQLite database of another program: give the directory"
done

report 1 import "$work/hand.tape" -o "$work/no/such/dir.db"
has "a place that is not there" "$err" "dir.db cannot be made: No such file or directory: give another place for it."
report 1 import --append "$work/hand.tape" -o "$work/random"
has "no database to add to" "$err" "or not a database"
report 1 import --append "$work/hand.tape" -o "$work/foreign.db"
has "somebody else's database" "$err" "not one that nettape-report made"
# A file that may not be read or written: the message names its owner and a remedy. Root may read and write everything,
# so as root the test lets another user try.
owner=$(id -un)
mkdir "$work/closed" "$work/open"
cp "$REPORT" "$work/open/report"
cp -r "$work/hand.tape" "$work/open/own.tape"
cp -r "$work/hand.tape" "$work/open/part.tape"
cp "$work/good.db" "$work/open/good.db"
chmod 755 "$work" "$work/open"
chmod 700 "$work/closed"
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chown -R 65534 "$work/open/own.tape"
    chown 65534 "$work/open/part.tape"
    chmod 600 "$work/open/good.db"
else
    as=()
fi
# denied WANTED ARGUMENT...: exit status 1, and what is said behind the program's name
denied() {
    local wanted=$1 status=0
    shift
    (cd "$work/open" && "${as[@]}" ./report "$@" >"$work/out" 2>"$work/err") || status=$?
    is "exit status of $*" $status 1
    is "what it says" "$(<"$work/err")" "nettape-report: $wanted"
}
unread="cannot be read: permission denied"
read_it="or read it with sudo."
elsewhere="write to a directory of yours."
mode="it belongs to you, with mode 0000; run \`chmod -R u+rwX own.tape\`."
if ((${#as[@]})) && "${as[@]}" "$work/open/report" --version >/dev/null; then
    denied "'../hand.tape' $unread: it belongs to $owner; run \`sudo chown -R \$USER ../hand.tape\`, $read_it" \
        info ../hand.tape
    denied "'part.tape' $unread: chunk-000000.ntc belongs to $owner; run \`sudo chown -R \$USER part.tape\`, $read_it" \
        info part.tape
    denied "'good.db' $unread: it belongs to $owner; run \`sudo chown \$USER good.db\`, $read_it" summary good.db
    closed="the directory $work/closed belongs to $owner"
    denied "'$work/closed/x.tape' $unread: $closed; read it with sudo, or copy it to a directory of yours." \
        check "$work/closed/x.tape"
    denied "x.html cannot be made: permission denied: the directory . belongs to $owner; $elsewhere" \
        export html own.tape -o x.html
    denied "x.db cannot be made: permission denied: the directory . belongs to $owner; $elsewhere" \
        import own.tape -o x.db
    opened="good.db: it cannot be opened: permission denied"
    denied "$opened: it belongs to $owner; run \`sudo chown \$USER good.db\`, or change a copy of it." \
        import --append own.tape -o good.db
    chmod 000 "$work/open/own.tape"
    denied "'own.tape' $unread: $mode" stages own.tape
elif [[ $(id -u) != 0 ]]; then
    chmod 000 "$work/open/own.tape"
    denied "'own.tape' $unread: $mode" stages own.tape
fi
chmod -R u+rwX "$work/open"

# Every golden tape that must be refused or survived: no crash, whatever it is.
for bad in tests/golden/bad/*; do
    for command in info check summary; do
        status=0
        "$REPORT" $command "$bad" >"$work/out" 2>"$work/err" || status=$?
        holds "$command $bad: exit status $status is 0 or 1" test "$status" -le 1
    done
done

# A path may hold anything, and a query give anything: neither acts on a terminal, nor turns what stands around it.
odd=$work/$'a\033[31mb\xe2\x80\xaec\xc2\x9bd'
report 1 info "$odd"
has "the path, as bytes" "$err" 'a\x1b[31mb\xe2\x80\xaec\xc2\x9bd'
lacks "no escape sequence" "$err" $'\033'
report 2 "$odd"
lacks "nor here" "$err" $'\033'
odd="SELECT char(27) || '[31m\"' || char(0x202e) AS text"
report 0 query --json "$work/hand.tape" "$odd"
has "JSON has all of it" "$out" '"\u001b[31m\"\u202e"'
report 0 query --csv "$work/hand.tape" "$odd"
is "CSV in a file, too" "$out" $'text\n"\033[31m""\xe2\x80\xae"'
if script -qec true /dev/null >/dev/null 2>&1; then
    out=$(script -qec "'$REPORT' query --csv '$work/hand.tape' \"${odd//\"/\\\"}\"" /dev/null </dev/null | tr -d '\r')
    is "CSV on a terminal" "$out" 'text
"\x1b[31m""\xe2\x80\xae"'
else
    without "script(1) is not installed: what a terminal shows is not tested"
fi
finish
