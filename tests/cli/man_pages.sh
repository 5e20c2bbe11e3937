#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The manual: a page for each program and each command, with the options that its table has and no other, the same
# sections in the same order, and no warning of groff's.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
sections="NAME, SYNOPSIS, DESCRIPTION, OPTIONS, EXAMPLES, EXIT STATUS, SEE ALSO"

# options_of PROGRAM ARGUMENT...: as its help has them: "-o, --output", one a line
options_of() { "$@" --help | grep -oE '^  (-., | {4})--[a-z-]+' | sed 's/^ *//' | sort -u; }
# options_in PAGE: those that have an entry below OPTIONS
options_in() {
    sed -n '/^\.SH OPTIONS/,/^\.SH EXAMPLES/p' "$1" | grep -A 1 '^\.TP' | grep -v '^\.TP\|^--$' |
        sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/"//g' -e 's/ *, */, /g' | grep -oE '(-., )?--[a-z-]+' | sort -u
}
# page PAGE PROGRAM ARGUMENT...
page() {
    local page=$1 common
    shift
    holds "$page is there" test -s "$page" || return 0
    is "$page: options" "$(options_in "$page")" "$(options_of "$@")"
    # It may have more sections, but these come in this order.
    common=$(sed -n 's/^\.SH //p' "$page" | grep -xE "${sections//, /|}" | sed ':a; N; $!ba; s/\n/, /g')
    is "$page: sections" "$common" "$sections"
}
commands=$("$REPORT" --help | sed -n '/^Look:/,/^Help:/p' | grep -oE '^  [a-z]+( [a-z]+)?  ' | sed 's/^ *//; s/ *$//')
is "commands" "$(wc -l <<<"$commands")" 18
overview=$(sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' docs/nettape-report.1)
while read -r command; do
    name=nettape-report-${command// /-}
    # shellcheck disable=SC2086  # a command may be two words
    page "docs/$name.1" "$REPORT" $command
    has "nettape-report(1) names $name(1)" "$overview" "$name(1)"
    # shellcheck disable=SC2086
    report 0 help $command
    has "help $command names the page" "$out" "man $name"
done <<<"$commands"
is "pages of commands" "$(printf '%s\n' docs/nettape-report-*.1)" \
    "$(tr ' ' - <<<"$commands" | sed 's|.*|docs/nettape-report-&.1|' | LC_ALL=C sort)"
for program in nettape-record nettape-serve; do
    if [[ -x build/$program ]]; then page "docs/$program.1" "build/$program"; else
        without "build/$program is not built"; fi
done

# A page that another one names is there.
named=0 missing=0
for page in docs/*.1; do
    for name in $(sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' "$page" | grep -oE 'nettape-[a-z-]+\(1\)' | sort -u); do
        named=$((named + 1))
        [[ -e docs/${name%(1)}.1 ]] || { missing=$((missing + 1)); echo "# $page names $name"; }
    done
done
all "pages that others name" "$named $missing"

# Each page as groff sees it. A line that cannot be filled, as beside a long word, is no mistake.
if ! command -v groff >/dev/null; then without "groff is not installed"; else
    for page in docs/*.1; do
        nothing "warnings in $page" "$(groff -ww -W break -man -Tutf8 -z -rLL=78n "$page" 2>&1)"
    done
fi
finish
