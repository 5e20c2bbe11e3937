#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reports depend on the tape alone: not on the directory, the time zone, the language, the terminal's width or the user.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape loss 40
mkdir "$work/elsewhere"
cp -r "$work/loss.tape" "$work/elsewhere/renamed"

# A language that writes numbers and months otherwise; the name of one that is not installed would change nothing.
if localedef -i de_DE -f ISO-8859-1 "$work/decimal_comma" 2>"$work/why"; then
    is "the language is there" "$(env LOCPATH="$work" LC_ALL=decimal_comma printf '%.1f' 1,5)" "1,5"
else
    without "the language cannot be made: is the package locales installed? $(tail -1 "$work/why")"
fi

for arguments in "info" "info --json" "check" "check --json" "summary" "summary --json" "summary --csv" \
    "query -f docs/cookbook-none"; do
    if [[ $arguments == query* ]]; then
        echo "SELECT * FROM net_cost_over_time; SELECT * FROM sock_op LIMIT 100" >"$work/q.sql"
        arguments="query -f $work/q.sql"
    fi
    # shellcheck disable=SC2086
    report 0 $arguments "$work/loss.tape"
    cp "$work/out" "$work/first"
    # shellcheck disable=SC2086
    (cd "$work/elsewhere" && env -i TZ=IST-5:30 LOCPATH="$work" LANG=decimal_comma LC_ALL=decimal_comma COLUMNS=20 \
        TERM=dumb "$REPORT" $arguments renamed) >"$work/second"
    same "$arguments: the same" "$work/first" "$work/second"
    lacks "$arguments: without the path" "$out" "$work"
done
finish
