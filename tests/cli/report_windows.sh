#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# --from, --to and --cpu: of a tape, only a part is read. A command then shows the same as of a database, whose rows are
# all read. tests/unit/window_test.c shows that other blocks are not opened.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# show FILE COMMAND SELECTION OUTPUT
show() {
    # shellcheck disable=SC2086
    case $2 in
    export*) "$REPORT" $2 "$1" $3 ;;
    *) "$REPORT" ${2%% *} "$1" ${2#* } $3 ;;
    esac >"$4" 2>&1 || echo "exit status $?" >>"$4"
}

# same_as_database TAPE COMMANDS SELECTION...: the commands, one a line
same_as_database() {
    local name=$1 commands=$2 selection command
    shift 2
    [[ -e $work/$name.db ]] || report 0 import "$work/$name.tape" -o "$work/$name.db"
    for selection in "$@"; do
        while read -r command; do
            show "$work/$name.tape" "$command" "$selection" "$work/of_tape"
            show "$work/$name.db" "$command" "$selection" "$work/of_database"
            sed -i "s|$name\.db|$name.tape|g" "$work/of_database"
            same "$name: $command $selection" "$work/of_tape" "$work/of_database"
        done <<<"$commands"
    done
}

timeline="timeline --json
timeline --csv
timeline --worst network --window 1ms --json"
stages="stages --by process --json
stages --by cpu --csv
stages --inclusive --csv
flame --folded"
latency="latency --by process --json
latency --by socket --csv
latency --between udp-socket-enqueued udp-socket-read --json
latency --over-time --histogram --json
export prometheus --by cpu"
html="export html"

cp -r tests/golden/{demo,v1-stacks,v1-samples}.tape "$work"
make_tape loss 400
same_as_database demo "$timeline" "--from 1 --to 1.1" "--from 300ms --to 302ms --cpu 1" "--to 50ms" "--cpu 0" \
    "--from 1.9 --process bash" "--from 1000"
same_as_database loss "$timeline" "--from 100ms --to 120ms" "--from 20ms --to 21ms" "--from 390ms --cpu 0"
# Operations that began long before, slept, or ended on an edge: a second of the demo has all of them.
same_as_database demo "$html" "--from 1 --to 1.1" "--from 300ms --to 302ms --cpu 1" "--to 50ms" "--cpu 0" \
    "--from 1.9 --process bash" "--from 1000"
same_as_database loss "$html" "--from 100ms --to 120ms" "--from 390ms --cpu 0"
same_as_database v1-stacks "$stages" "--from 100us --to 1" "--to 50us" "--cpu 0" "--cpu 7"
same_as_database v1-samples "$latency" "--from 1ms" "--to 1ms" "--cpu 0" "--cpu 1,3-4 --from 1ms" \
    "--process responder" "--process 202 --cpu 0 --to 1.5s" "--process nobody"
finish
