#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The disk fills up while importing or exporting: one sentence that names the file and the remedy, no file that is not
# whole, and one that was there stays as it was.
if [[ ${1:-} != inside ]]; then
    # A small disk of our own needs a mount namespace; where we may not make one, there is nothing to test.
    map=$([[ $(id -u) == 0 ]] || echo --map-root-user)
    # shellcheck disable=SC2086
    if ! unshare $map --mount true 2>/dev/null; then
        echo "SKIP: no mount namespaces here"
        exit 77
    fi
    # shellcheck disable=SC2086
    exec unshare $map --mount bash "$0" inside
fi
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/../cli/lib.sh"
mkdir "$work/small" "$work/temporary"
mount -t tmpfs -o size=2m none "$work/small" || skip "no tmpfs can be mounted"
make_tape hand
make_tape traffic 200
make_tape samples 200
db=$work/small/a.db

report 1 import "$work/traffic.tape" -o "$db"
has "says what" "$err" "the disk is full"
has "names the file" "$err" "$db"
has "and the remedy" "$err" "give another place with -o"
nothing "nothing is left" "$(find "$work/small" -mindepth 1)"

echo before >"$work/small/x.html"
head -c 3000000 /dev/zero >"$work/small/filler" 2>/dev/null || true
for command in "export perfetto" "export html" "export prometheus" flame; do
    for file in new.html x.html; do
        # shellcheck disable=SC2086
        report 1 $command "$work/samples.tape" -o "$work/small/$file"
        is "$command: what it says" "$err" "nettape-report: $work/small/$file cannot be written: is the disk full?"
    done
done
is "nothing of them is left" "$(ls "$work/small")" "filler"$'\n'"x.html"
is "and a file that was there is as it was" "$(<"$work/small/x.html")" before
rm "$work/small"/*

report 0 import "$work/hand.tape" -o "$db"
"$REPORT" summary "$db" >"$work/before"
report 1 import --append "$work/hand.tape" "$work/traffic.tape" -o "$db"
report 1 import --append "$work/traffic.tape" -o "$db"
has "says what" "$err" "the disk is full"
is "only the database is left" "$(find "$work/small" -mindepth 1)" "$db"
"$REPORT" summary "$db" >"$work/after"
holds "and it is as it was" cmp "$work/before" "$work/after"
report 0 check "$db"

# Rows that a statement sorts, or keeps for a join, go to TMPDIR when they are many.
plain=$PWD/build/nettape-report
if [[ -x $plain ]]; then
    mount -t tmpfs -o size=20m none "$work/temporary"
    build/tools/make_tape traffic "$work/long.tape" 6000
    for sql in "SELECT * FROM cpu_slice ORDER BY dur" \
        "SELECT sum(b.ts + b.dur + b.utid + length(b.owner)) FROM cpu_slice AS a JOIN cpu_slice AS b
            ON b.cpu = a.cpu AND b.ts = a.ts + a.dur"; do
        status=0
        TMPDIR=$work/temporary "$plain" query "$work/long.tape" "$sql" >/dev/null 2>"$work/err" || status=$?
        is "more than TMPDIR holds: exit status" "$status" 1
        has "says what" "$(<"$work/err")" "the disk is full"
        has "for what" "$(<"$work/err")" "$work/long.tape: "
        has "and the remedy" "$(<"$work/err")" "set TMPDIR"
        nothing "nothing is left" "$(find "$work/temporary" -mindepth 1)"
    done
fi
umount "$work/small" "$work/temporary" 2>/dev/null || true
finish
