#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reports depend on the tape alone: not on the directory, the time zone, the language, the terminal's width or the user.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make_tape loss 40
mkdir "$work/elsewhere"
cp -r "$work/loss.tape" "$work/elsewhere/renamed"

for arguments in "info" "info --json" "check" "check --json" "summary" "summary --json" "summary --csv" "query -f docs/cookbook-none"; do
    if [[ $arguments == query* ]]; then
        echo "SELECT * FROM net_cost_over_time; SELECT * FROM sock_op LIMIT 100" >"$work/q.sql"
        arguments="query -f $work/q.sql"
    fi
    # shellcheck disable=SC2086
    report 0 $arguments "$work/loss.tape"
    cp "$work/out" "$work/first"
    # shellcheck disable=SC2086
    (cd "$work/elsewhere" && env -i TZ=Asia/Kolkata LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 COLUMNS=20 TERM=dumb "$REPORT" $arguments renamed) >"$work/second"
    holds "$arguments: the same" cmp "$work/first" "$work/second"
    lacks "$arguments: without the path" "$out" "$work"
done
finish
