#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Includes go the way that docs/architecture.md states, and no two folders include one another (tests/includes.py). The
# same of copies with one wrong include each, which must be found.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"

all "includes, wrong ones" "$(python3 tests/includes.py | sed -nE '$s/ includes, ([0-9]+) faults/ \1/p')"

# found WHAT FILE INCLUDE: a copy of the tree in which FILE has one include more fails, for this reason
found() {
    local tree=$work/tree
    rm -rf "$tree"
    mkdir -p "$tree/docs" "$tree/$(dirname "$2")"
    cp -r schema bpf record report "$tree"
    cp docs/architecture.md "$tree/docs"
    echo "#include \"$3\"" >>"$tree/$2"
    if python3 tests/includes.py "$tree" >"$work/said"; then
        bad "$2 with $3 passes"
    elif grep -qF "$1" "$work/said"; then
        ok "$2 with $3: $1"
    else
        bad "$2 with $3 fails for another reason: $(head -1 "$work/said")"
    fi
}

found "goes up, from util to out" report/util/arena.h report/out/output.h
found "goes up, from rows to db" report/rows/rows.c report/db/db.h
found "timeline may include schema and util alone" report/timeline/timeline.c report/tape/tape.h
found "record/ may not include it" record/session.c report/out/output.h
found "schema/ may not include it" schema/cli/option.c report/out/output.h
found "schema/ may not include it" schema/kind.c record/ids.h
found "there is no such file" record/ids.c record/nowhere.h
found "a folder that the table does not have" report/new/thing.c report/util/arena.h
found "include one another" report/query/session.h report/query/latency/scan.h
finish
