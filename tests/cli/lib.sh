# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the tests of nettape-report's command line. To be sourced first; runs from the project's root.
#
# $REPORT is the program: by default the one with sanitizers, if it is built. $PLAIN is the one without, which takes a
# third of the time: for what is only prepared, or compared with. A test says what it finds with `ok` and `bad`, or with
# functions that do, and ends with `finish`. Exit status: 0 passed, 1 failed, 77 skipped, or a part of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# built FILE...: makes those that are not there. tests/check.sh has made all of them anew, and make takes half a second
# to see that.
built() {
    local file
    for file; do [[ -e $file ]] || make -s "$file"; done
}
built build/tools/make_tape build/nettape-report
PLAIN=$PWD/build/nettape-report
REPORT=${REPORT:-$PWD/build/san/nettape-report}
[[ -x $REPORT ]] || REPORT=$PLAIN
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
failures=0
left_out=  # why parts of the test were not run

ok() { echo "ok: $*"; }
bad() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
skip() {
    echo "SKIP: $*"
    exit 77
}
# without WHY: a part of the test cannot be run here. The rest is, and if that passes the test is shown as skipped
without() {
    [[ $left_out == *"$1"* ]] || left_out+="${left_out:+; }$1"
}
finish() {
    [[ $failures == 0 ]] || { echo "$failures failed"; exit 1; }
    [[ -z $left_out ]] || skip "in part: $left_out"
    exit 0
}

# is WHAT GOT WANTED: the same, and not that both are missing
is() {
    if [[ -z $3 ]]; then bad "$1: there is nothing to compare '$2' with: what must be empty is tested with \`nothing\`"
    elif [[ $2 == "$3" ]]; then ok "$1"; else bad "$1: '$2' and not '$3'"; fi
}

# nothing WHAT GOT: it is empty. A search for differences must also say that it had something to compare: see `all`
nothing() {
    if [[ -z $2 ]]; then ok "$1"; else bad "$1: there is '$2'"; fi
}

# all WHAT GOT: of so many, none is wrong: GOT is "NUMBER 0", or these two with , or | between, as SQL gives them
all() {
    if [[ $2 =~ ^[1-9][0-9]*[\ \|,]0$ ]]; then ok "$1: all of ${2%?0}"; else
        bad "$1: of how many how many are wrong: '$2'"; fi
}

# same WHAT FILE FILE: of the same bytes, and there are some
same() {
    if [[ ! -s $2 ]]; then bad "$1: ${2##*/} is empty, or is not there"
    elif cmp "$2" "$3"; then ok "$1"; else bad "$1: ${2##*/} and ${3##*/} differ"; fi
}

# holds WHAT COMMAND...: the command succeeds
holds() {
    local what=$1
    shift
    if "$@"; then ok "$what"; else bad "not so: $what"; fi
}

# python_holds WHAT ARGUMENT...: python3 succeeds with these, if it is installed
python_holds() {
    if command -v python3 >/dev/null; then holds "$1" python3 "${@:2}"; else
        without "python3 is not installed, which looks whether $1"; fi
}

# has WHAT TEXT PART: the text has this part
has() {
    if [[ -z $3 ]]; then bad "$1: everything has a part that is empty"
    elif [[ $2 == *"$3"* ]]; then ok "$1"; else bad "$1: '$3' is not in: $2"; fi
}

# lacks WHAT TEXT PART: there is a text, and it does not have this part
lacks() {
    if [[ -z $2 || -z $3 ]]; then bad "$1: '$2' cannot have '$3'"
    elif [[ $2 != *"$3"* ]]; then ok "$1"; else bad "$1: '$3' is in: $2"; fi
}

# flat TEXT: prose that wraps at words, in one line
flat() { tr -s ' \n' ' ' <<<"$1" | sed 's/ $//'; }

# make_tape SCENARIO [MILLISECONDS [SEED]]: makes $work/SCENARIO.tape, unless it is there
make_tape() {
    [[ -e $work/$1.tape ]] || build/tools/make_tape "$1" "$work/$1.tape" "${@:2}"
}

# report STATUS ARGUMENT...: runs the program, which must exit so; its output is in $out and $err then
report() {
    local wanted=$1 status=0
    shift
    "$REPORT" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    # shellcheck disable=SC2034
    out=$(<"$work/out") err=$(<"$work/err")
    if [[ $status == "$wanted" ]]; then ok "exit status $status: ${*//$work\//}"; else
        bad "exit status $status, not $wanted: $*"
        sed 's/^/    /' "$work/out" "$work/err" | tail -20
    fi
}

# stack_samples DB HZ: gives session 1 of a database other stack samples, of its network time at that rate: of five
# stages (one has markup for a name), two address families, and without a stack; none of net_tx, and of recv a tenth of
# those that are due
stack_samples() {
    sqlite3 "$1" "DELETE FROM stack_sample; DELETE FROM session_meta WHERE key IN ('stacks_hz', 'stacks');
        INSERT INTO session_meta(session_id, key, value) VALUES (1, 'stacks_hz', '$2'), (1, 'stacks', 'network');
        WITH tick AS (SELECT (ts + cpu_slice.dur - 1 - start_ts) * $2 / 1000000000 AS i, ts - start_ts AS since,
        start_ts, cpu, utid, owner
            FROM cpu_slice JOIN session USING (session_id) WHERE session_id = 1 AND owner IN ('net_rx', 'send', 'recv'))
        INSERT INTO stack_sample(session_id, ts, cpu, utid, owner, stage, family, context, in_user, stack_id, flags)
            SELECT 1, start_ts + i * 1000000000 / $2, cpu, utid, owner, CASE i * 7919 % 9 WHEN 0 THEN NULL
            WHEN 1 THEN 'udp_receive' WHEN 2 THEN 'other'
                WHEN 3 THEN '<img src=x onerror=alert(4)>' WHEN 4 THEN 'wakeup' ELSE 'ip_receive' END,
                CASE i % 4 WHEN 0 THEN 'inet6' WHEN 1 THEN NULL ELSE 'inet' END, owner, 0, NULL, ''
            FROM tick WHERE i * 1000000000 / $2 >= since AND (owner <> 'recv' OR i % 10 = 0)"
}

# sql DB-OR-TAPE STATEMENT: the answer as CSV without its header. Commands are compared with it, so it runs without
# sanitizers, which watch queries in other tests.
sql() { { "$PLAIN" query "$1" "$2" --csv || printf 'head\nthe query failed: %s\n' $?; } | tail -n +2; }

# seed: of all that is random, the same in each call (tests/support/rand.h)
seed() {
    built build/tools/seed
    build/tools/seed
}

# any N: in SQLite a number of any size, by $seed, another one for each row and N
any() {
    # shellcheck disable=SC2154  # the test sets it
    echo "((((rowid * 7919 + $seed % 1000003 + $1) % 1000003 * 2654435761) % 4294967296 - 2147483648) * 4294967291)"
}

# data PAGE: the JSON in a page of `export html`
data() { sed -n '/<script type="application\/json"/,/<\/script>/p' "$1" | sed -e 's/.*id="data">//' \
    -e 's/<\/script>.*//'; }
