#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An import is killed: no half database has the final name, an existing one loses nothing, and the next import works.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/../cli/lib.sh"
make_tape hand
make_tape traffic 4000

# kill_import ARGUMENT...: kills the import when it has written so many bytes; true if that was before its end
kill_import() {
    "$PLAIN" import "$@" >/dev/null 2>&1 &
    local pid=$! status=0
    while kill -0 $pid 2>/dev/null && ! awk -v n="$after" '/^wchar/ { exit $2 < n }' /proc/$pid/io 2>/dev/null; do
        sleep 0.01
    done
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || status=$?
    [[ $status == 137 ]]
}
killed=0
for after in 0 1000000 20000000; do
    rm -f "$work"/*.db*
    if kill_import "$work/traffic.tape" -o "$work/n.db"; then
        killed=$((killed + 1))
        holds "killed after $after bytes: no database has the name" test ! -e "$work/n.db"
        report 0 import "$work/hand.tape" -o "$work/n.db"
        is "and nothing else is left then" "$(cd "$work" && echo *.db*)" n.db
    fi

    "$PLAIN" import "$work/hand.tape" -o "$work/a.db" >/dev/null
    "$PLAIN" summary "$work/a.db" >"$work/before"
    if kill_import --append "$work/traffic.tape" -o "$work/a.db"; then
        killed=$((killed + 1))
        report 0 summary "$work/a.db"
        holds "killed after $after bytes: the database is as it was" cmp "$work/before" "$work/out"
        report 0 check "$work/a.db"
    fi
done
holds "at least one import was killed in time ($killed of 6)" test "$killed" -ge 1
finish
