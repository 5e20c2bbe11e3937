#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tool that makes long tapes for the bench (tests/tools/lengthen.c): told once a tape is the same, told five times
# it is five times as much and still adds up.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
built build/tools/lengthen

for scenario in hand samples loss wide; do
    tape=$work/$scenario
    ms=30
    # 64 CPUs
    [[ $scenario != wide ]] || ms=3
    build/tools/make_tape "$scenario" "$tape.1" $ms
    build/tools/lengthen "$tape.1" 1 "$tape.same" >/dev/null
    build/tools/lengthen "$tape.1" 5 "$tape.5" >/dev/null
    for by in program process socket; do
        "$REPORT" summary --csv --by $by "$tape.1" >"$work/wanted"
        "$REPORT" summary --csv --by $by "$tape.same" >"$work/got"
        same "$scenario, told once: summary by $by" "$work/got" "$work/wanted"
    done
    "$REPORT" check "$tape.1" | grep -A 2 '^  FAILED' >"$work/wanted" || true
    "$REPORT" check "$tape.5" | grep -A 2 '^  FAILED' >"$work/got" || true
    nothing "$scenario: what check says of the tape" "$(<"$work/wanted")"
    nothing "$scenario, told five times: what check says of it" "$(<"$work/got")"
    for what in "count(*) FROM skb_latency" "count(*) FROM stack_sample" "count(*) FROM sched_wakeup" \
        "ifnull(sum(count), 0) FROM loss"; do
        is "$scenario: $what" "$(sql "$tape.5" "SELECT $what")" \
            "$((5 * $(sql "$tape.1" "SELECT $what")))"
    done
    is "$scenario: threads" "$(sql "$tape.5" "SELECT count(*) FROM thread")" \
        "$(sql "$tape.1" "SELECT count(*) FROM thread")"
done

# A tape that cannot be repeated is refused.
for scenario in hotplug partial; do
    build/tools/make_tape $scenario "$work/$scenario" 30
    if build/tools/lengthen "$work/$scenario" 2 "$work/$scenario.2" 2>"$work/why"; then
        bad "$scenario: it was told again"
    else
        has "$scenario: it is refused" "$(<"$work/why")" "lengthen: $work/$scenario: "
    fi
done
finish
