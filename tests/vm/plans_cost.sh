#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What each way to record socket operations costs, by the kernel's own run counts and times: nanoseconds of all the socket
# probe's programs together, over the operations recorded. Printed, for docs/overhead.md; what is judged is that each of them
# recorded the flood. A clock read of the kernel's own is in each run.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns

"${in_b[@]}" "$tools/flood" udp-recv "$addr_b" 9000 &
keep $!
"${in_a[@]}" "$tools/flood" udp-send "$addr_b" 9000 200 "$(scaled 50000)" &
keep $!
sleep 0.5
for plan in fentry tracepoints; do
    if ! "$record" -q -o "$work/$plan.tape" -d 3 --plan "$plan" --bpf-stats --ring-size 64M 2>"$work/refused"; then
        echo "# not by $plan: $(cat "$work/refused")"
        continue
    fi
    import_tape "$work/$plan.tape" "$work/$plan.db"
    at_least "operations by $plan" "$(sql "$work/$plan.db" 'SELECT count(*) FROM sock_op')" "$(scaled 50000)"
    sql "$work/$plan.db" "
        SELECT printf('# %s: %s, %d runs, %.0f ns each', '$plan', program, runs, 1.0 * run_ns / runs)
        FROM (SELECT program, max(runs) - min(runs) AS runs, max(run_ns) - min(run_ns) AS run_ns FROM bpf_program
              WHERE program LIKE '%sock_%' OR program LIKE '%sys_%' OR program LIKE '%inet%' GROUP BY 1) WHERE runs"
done
finish
