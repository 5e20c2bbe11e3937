#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares two commits: the cost of recording for the traffic, and the time to read a tape. `make bench AGAINST=COMMIT`
# calls it. Both record slices of one flood, and both import one tape, in turns. A ratio over 1 means that this tree is
# better.
#
#   BENCH_PAIRS=20   pairs of slices; imports get a quarter
# shellcheck source=tests/bench/lib.sh
source "$(dirname "$0")/lib.sh"
pairs=${BENCH_PAIRS:-20}
commit=$(git rev-parse --verify -q "$1^{commit}") || { echo "nettape: no commit is called $1" >&2; exit 2; }
other=$PWD/build/against/${commit:0:12}

if [[ ! -x $other/build/nettape-record || ! -x $other/build/nettape-report ]]; then
    mkdir -p "$other"
    git archive "$commit" | tar -x -C "$other"
    make -s -C "$other" -j"$(nproc)" all
fi

# in_turns N NAME MEASURE: N times MEASURE with our programs and with the other's, whose order turns; MEASURE is called
# with the build directory and the file that it adds a line "AMOUNT NANOSECONDS" to
in_turns() {
    local i
    rm -f "$work/$2".{ours,theirs}
    for ((i = 0; i < $1; i++)); do
        ((i % 2)) || $3 "$other/build" "$work/$2.theirs"
        $3 "$PWD/build" "$work/$2.ours"
        ((i % 2 == 0)) || $3 "$other/build" "$work/$2.theirs"
    done
    paste "$work/$2.ours" "$work/$2.theirs" | awk '{ print ($1 / $2) / ($3 / $4) }' | quartiles
}

# shellcheck disable=SC2317  # in_turns calls these
record_slice() {
    rm -rf "$work/slice.tape"
    slice "$kind" "$2" "$1/nettape-record" -o "$work/slice.tape" -- 2>>"$work/record.log"
}
# shellcheck disable=SC2317
import_tape() {
    local from
    rm -f "$work/tape.db"
    from=$(date +%s%N)
    "$1/nettape-report" import "$work/long.tape" -o "$work/tape.db" >/dev/null 2>&1
    echo "1 $(($(date +%s%N) - from))" >>"$2"
}

netns_make
echo "nettape: beside ${commit:0:12}, $(uname -srm), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
kind=udp
flood_start udp 200
result "UDP packet rate while recording, over that of ${commit:0:12}" "$(in_turns "$pairs" udp record_slice)"
may_lose "$record" -o "$work/long.tape" -q -d 3
flood_stop
kind=tcp
flood_start tcp 65536
result "TCP byte rate while recording, over that of ${commit:0:12}" "$(in_turns "$pairs" tcp record_slice)"
flood_stop
result "speed of import, over that of ${commit:0:12}" "$(in_turns $(((pairs + 3) / 4)) import import_tape)"
bench_table
