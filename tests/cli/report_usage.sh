#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command line of nettape-report, and its errors.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
tape=$work/hand.tape

commands=(summary timeline info check stages flame latency drops retransmits wakeups top "export html" \
    "export perfetto" "export prometheus" import query mcp symbolize)
report 0 --version
has "version" "$out" "nettape-report "
report 0 --help
help=$out
wide() { awk 'length > 80' <<<"$1" | wc -l; }
is "lines of help over 80 columns" "$(wide "$help")" 0
report 0 help
is "help, the other way" "$out" "$help"
for command in "${commands[@]}"; do
    has "help names $command" "$help" "  $command "
    # shellcheck disable=SC2086  # a command may be two words
    report 0 $command --help
    has "help of $command" "$out" "usage: nettape-report $command "
    has "an example of $command" "$out" "  nettape-report $command "
    is "lines of it over 80 columns" "$(wide "$out")" 0
    text=$out
    # shellcheck disable=SC2086
    report 0 help $command
    is "the same as help $command" "$out" "$text"
done
report 0 export --help
for command in "${commands[@]}"; do [[ $command != export* ]] || has "help of export names $command" "$out" \
    "nettape-report $command "; done
has "and what each does" "$out" "write a trace for https://ui.perfetto.dev"
text=$out
report 0 help export
is "the same as help export" "$out" "$text"
report 0 flame -h
lacks "the old name of --user-stacks" "$out" "--user "

# misused WHAT ARGUMENT...: exit status 2, nothing on stdout; on stderr what is wrong, a line of usage, and where there
# is help
misused() {
    local part=$1
    shift
    report 2 "$@"
    nothing "nothing on standard output" "$out"
    has "says what is wrong" "$err" "$part"
    has "says how it goes" "$err" "usage: nettape-report"
    is "lines" "$(wc -l <<<"$err")" 3
}
report 2
is "no command at all: the help" "$err" "$help"
misused "there is no command 'frobnicate'." frobnicate
misused "there is no command 'sumary'; did you mean 'summary'?" sumary "$tape"
misused "there is no command 'sumary'; did you mean 'summary'?" help sumary
misused "there is no command 'tl'." tl
misused "there is no command 'html'; did you mean 'export html'?" html "$tape"
misused "to record, run nettape-record" record -o x.tape
misused "to see what is in that file: nettape-report summary $tape" "$tape"
misused "unknown option '--json'; the command comes first" --json summary "$tape"
misused "'export' needs a format: html, perfetto or prometheus." export "$tape"
misused "or prometheus; did you mean 'perfetto'?" export perfeto "$tape"
misused "or prometheus; did you mean 'perfetto'?" help export perfeto
misused "'info' needs a tape." info
misused "'summary' needs a tape or a database." summary
misused "'summary' needs a tape or a database." summary --json
misused "'symbolize' needs a database." symbolize
misused "too many arguments for 'check': 'b.tape' is the first surplus one." check "$tape" b.tape c.tape
misused "too many arguments for 'query': '1' is the first surplus one; put the SQL in quotes." query "$tape" SELECT 1
misused "'import' needs -o DB" import "$tape"
misused "'export perfetto' needs -o FILE" export perfetto "$tape"
misused "option '--csv' is not for 'info'; it is for " info "$tape" --csv
misused "option '--append' is not for 'summary'; it is for import." summary "$tape" --append
misused "option '-o' is not for 'summary'; it is for flame, " summary "$tape" -o x
misused "option '--cells' is not for 'latency'; it is for timeline." latency "$tape" --cells=5
misused "option '--cells' needs a value, such as 100." timeline "$tape" --cells
misused "option '--from' needs a value, such as 2.5s." timeline "$tape" --from --to 3
misused "option '--cells' needs a value" timeline "$tape" --cel
misused "option '-o' needs a value, such as busy.db." import "$tape" -o
misused "option '-o' needs a value" import "$tape" -o --append
misused "option '--json' takes no value." summary "$tape" --json=yes
misused "unknown option '--nonsense'." summary "$tape" --nonsense
misused "unknown option '--jsn' (did you mean '--json'?)." summary "$tape" --jsn
misused "unknown option '-x'." summary "$tape" -x
misused "option '--c' is ambiguous: --cpu, --cells, --csv." timeline "$tape" --c 5
hooks=() dirs=()
for _ in {0..16}; do hooks+=(--hook ip-start) dirs+=(--symbols "$work"); done
misused "option '--hook' is given too often." latency "$tape" "${hooks[@]}"
misused "option '--symbols' is given too often." query "$tape" "${dirs[@]}"
"$REPORT" import "$tape" -o "$work/read.db" >"$work/import" 2>&1
ln "$work/read.db" "$work/same.db"
before=$(cksum <"$work/read.db")
misused "would be overwritten" export perfetto "$work/read.db" -o "$work/read.db"
misused "would be overwritten" export prometheus "$work/read.db" -o "$work/same.db"
misused "would be overwritten" latency "$work/read.db" --svg "$work/read.db"
is "the database that was read" "$(cksum <"$work/read.db")" "$before"
# A link at the name of the unfinished file is not followed.
echo precious >"$work/precious"
ln -s precious "$work/out.html.partial"
report 0 export html "$work/read.db" -o "$work/out.html"
is "a file that a link led to" "$(<"$work/precious")" precious
holds "the page is a file" test -f "$work/out.html" -a ! -L "$work/out.html"
# A new file may tell names and addresses, so it is private. It takes the mode of a file of the same owner that it
# replaces, but not of another's.
mode() { stat -c %a "$work/$1"; }
for umask in 000 022; do
    (umask $umask && "$REPORT" export html "$work/read.db" -o "$work/m$umask.html" && "$REPORT" export perfetto \
        "$work/read.db" -o "$work/m$umask.pftrace" >/dev/null 2>&1 &&
        "$REPORT" import "$tape" -o "$work/m$umask.db" >/dev/null 2>&1)
    is "modes with umask $umask" "$(mode m$umask.html) $(mode m$umask.pftrace) $(mode m$umask.db)" "600 600 600"
done
chmod 644 "$work/m022.html"
(umask 077 && "$REPORT" export html "$work/read.db" -o "$work/m022.html")
is "the mode of the file that it replaces" "$(mode m022.html)" 644
ln -s m022.html "$work/link.html"
report 0 export html "$work/read.db" -o "$work/link.html"
is "but not of one that a link leads to" "$(mode link.html)" 600
if [[ $(id -u) == 0 ]]; then
    echo bait >"$work/bait.html"
    chmod 666 "$work/bait.html"
    chown 12345 "$work/bait.html"
    report 0 export html "$work/read.db" -o "$work/bait.html"
    is "nor of somebody else's" "$(stat -c '%a %u' "$work/bait.html")" "600 0"
fi
report 2 query "$tape" "SELECT 1" -f /dev/null
has "query with two sources" "$err" "not both"

# Options may stand anywhere.
report 0 --version
report 0 summary --json "$tape"
first=$out
report 0 summary "$tape" --json
is "the same wherever the option stands" "$out" "$first"
report 0 summary --js "$tape"
is "the same by the begin of its name" "$out" "$first"
report 0 query --csv -- "$tape" "--no option, but a remark
SELECT 7 AS seven"
is "what stands behind -- is no option" "$out" "seven
7"
printf 'SELECT 8 AS eight' >"$work/-eight"
(cd "$work" && "$REPORT" query "$tape" -f-eight --csv >"$work/out")
is "a value in the same word" "$(<"$work/out")" "eight
8"

# A reader that goes away, and a disk that is full, are failures.
if [[ -e /dev/full ]]; then
    status=0
    "$REPORT" summary "$tape" >/dev/full 2>"$work/err" || status=$?
    is "output that cannot be written: exit status" "$status" 1
    has "says so" "$(<"$work/err")" "the output cannot be written"
fi
finish
