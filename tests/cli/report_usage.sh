#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How nettape-report is called, and what it says when it is called wrongly.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape hand
tape=$work/hand.tape

report 0 --version
has "version" "$out" "nettape-report "
report 0 --help
help=$out
for command in info check import summary timeline stages flame latency export query; do
    has "help names $command" "$help" "  $command "
    report 0 "$command" --help
    has "help of $command" "$out" "usage: nettape-report $command"
done
report 0 query -h
for option in --json --csv --file; do has "help of query has $option" "$out" "$option"; done
report 0 latency -h
for option in --by --hook --from --to --include-hol --between --histogram --buckets --over-time --svg --json --csv; do
    has "help of latency has $option" "$out" "$option"
done
report 0 timeline -h
for option in --from --to --cpu --process --worst --window --top --each-cpu --cells --json --csv; do
    has "help of timeline has $option" "$out" "$option"
done
report 0 stages -h
for option in --by --owner --from --to --cpu --process --inclusive --other --json --csv; do
    has "help of stages has $option" "$out" "$option"
done
report 0 flame -h
for option in --output --owner --from --to --cpu --process --folded --user --diff; do
    has "help of flame has $option" "$out" "$option"
done
report 0 export -h
for option in --output --by --hook --from --to --include-hol; do has "help of export has $option" "$out" "$option"; done
lacks "and no other" "$out" "--histogram"

# The manual has each option that some help has, and no other.
for command in info check import summary timeline stages flame latency "export html" query; do
    # shellcheck disable=SC2086  # a command may be two words
    report 0 $command --help
    cat "$work/out"
done | grep -oE '^ +(-., )?--[a-z-]+( [A-Z]+, --[a-z]+)?' | grep -oE -- '--[a-z-]+' | sort -u >"$work/options"
sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' docs/nettape-report.1 | grep -A 1 '^\.TP' | sed -n 's/\\-/-/g; /^\.B/p' | grep -oE -- '--[a-z-]+' | sort -u >"$work/manual"
is "options in the manual" "$(<"$work/manual")" "$(<"$work/options")"

# misused WHAT ARGUMENT...: exit status 2, nothing on stdout, and a usage line on stderr
misused() {
    local part=$1
    shift
    report 2 "$@"
    is "nothing on standard output" "$out" ""
    has "says what is wrong" "$err" "$part"
    has "says how it goes" "$err" "usage: nettape-report"
}
misused "usage" # no command at all
misused "there is no command 'frobnicate'" frobnicate
misused "something is missing" info
misused "something is missing" summary --json
misused "too many arguments" check "$tape" "$tape"
misused "too many arguments" query "$tape" "SELECT 1" "SELECT 2"
misused "-o DB is missing" import "$tape"
misused "--csv" info "$tape" --csv
misused "--append" summary "$tape" --append
misused "--each-cpu" summary "$tape" --each-cpu
misused "--cells" latency "$tape" --cells=5
misused "--cells" timeline "$tape" --cells
misused "--nonsense" summary "$tape" --nonsense
misused "-o" import "$tape" -o
"$REPORT" import "$tape" -o "$work/read.db" >"$work/import" 2>&1
ln "$work/read.db" "$work/same.db"
before=$(cksum <"$work/read.db")
misused "would be overwritten" export perfetto "$work/read.db" -o "$work/read.db"
misused "would be overwritten" export prometheus "$work/read.db" -o "$work/same.db"
misused "would be overwritten" latency "$work/read.db" --svg "$work/read.db"
is "the database that was read" "$(cksum <"$work/read.db")" "$before"
# What stands where a file is made before it is whole is not written through.
echo precious >"$work/precious"
ln -s precious "$work/out.html.partial"
report 0 export html "$work/read.db" -o "$work/out.html"
is "a file that a link led to" "$(<"$work/precious")" precious
holds "the page is a file" test -f "$work/out.html" -a ! -L "$work/out.html"
# What tells names and addresses is its owner's, unless a file of his that was there is not; of others' files no mode is taken.
mode() { stat -c %a "$work/$1"; }
for umask in 000 022; do
    (umask $umask && "$REPORT" export html "$work/read.db" -o "$work/m$umask.html" && "$REPORT" export perfetto "$work/read.db" -o "$work/m$umask.pftrace" >/dev/null 2>&1 &&
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

# A reader that goes away, and a disk that is full, are failures.
if [[ -e /dev/full ]]; then
    status=0
    "$REPORT" summary "$tape" >/dev/full 2>"$work/err" || status=$?
    is "output that cannot be written: exit status" "$status" 1
    has "says so" "$(<"$work/err")" "the output cannot be written"
fi
finish
