# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # variables of tests/live/lib.sh
#
# Sourced, after tests/live/lib.sh, by the tests of stages: records a UDP flood, and splits its net_rx into stages.

hz=999 seconds=2
if [[ -n ${NT_EMULATED:-} ]]; then seconds=6; fi

# record_flood NAME ADDRESS [COMMAND...]: a flood to b by that address, recorded; the command runs meanwhile. The stages
# of net_rx go to $work/NAME.csv. One CPU sends and takes in, and is always at work: its clock ticks when it is due.
# flood_sender: the sender's PID.
record_flood() {
    local name=$1 address=$2 receiver sender
    shift 2
    [[ $# != 0 ]] || set -- sleep "$seconds"
    "${in_b[@]}" "$tools/flood" udp-recv "$address" 9000 &
    receiver=$!
    keep "$receiver"
    "${in_a[@]}" "$tools/flood" udp-send "$address" 9000 200 0 &
    sender=$!
    # shellcheck disable=SC2034 # for the tests
    flood_sender=$sender
    keep "$sender"
    { taskset -pc 0 "$sender" && taskset -pc 1 "$receiver"; } >"$work/taskset.log"
    sleep 0.3
    recording_start "$work/$name.tape" --probes default,stacks -F $hz
    "$@"
    recording_stop
    kill "$sender" "$receiver"
    wait "$sender" "$receiver" 2>/dev/null || true
    "$report" stages "$work/$name.tape" --csv >"$work/$name.csv"
}

# of NAME STAGE COLUMN: the sum of a column (share, low, high; of a hundred) over address families, in net_rx
of() {
    awk -F, -v stage="$2" -v what="$3" 'NR > 1 && $2 == "net_rx" { whole += $5; if ($3 == stage) { share += $5;
        low += $7; high += $8 } }
        END { printf "%.2f", 100 * (what == "share" ? share : what == "low" ? low : high) / (whole ? whole : 1) }' \
            "$work/$1.csv"
}
