#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of each way to record socket operations, by the kernel's own run counts and times: nanoseconds of all the
# socket probe's programs together, over the operations recorded. Printed, for docs/overhead.md. The test judges only
# that each recorded the flood. A clock read of the kernel's own is in each run.
#
# check-all: it measures, for docs/overhead.md
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
needs_recorder
needs_netns

flood_start "$(scaled 50000)"
# As many as are wanted, however long they take: a busy host must not make them few.
cat >"$work/count" <<'SH'
received() { awk '$1 == "Udp:" { print $2 }' /proc/net/snmp | tail -1; }
end=$(($(received) + $1))
until [ "$(received)" -ge $end ]; do sleep 0.1; done
SH
for plan in fentry tracepoints; do
    if ! may_lose "$record" -q -o "$work/$plan.tape" --plan "$plan" --bpf-stats --ring-size 64M -- \
        "${in_b[@]}" timeout 100 sh "$work/count" "$(scaled 100000)" 2>"$work/refused"; then
        echo "# not by $plan: $(cat "$work/refused")"
        continue
    fi
    import_tape "$work/$plan.tape" "$work/$plan.db"
    at_least "operations by $plan" "$(sql "$work/$plan.db" 'SELECT count(*) FROM sock_op')" "$(scaled 50000)"
    sqlite3 -batch -noheader -readonly "$work/$plan.db" <<'SQL' | sed "s/^/# $plan: /"
WITH last AS (SELECT program, name, value FROM self_cost WHERE ts = (SELECT max(ts) FROM self_cost
    WHERE program IS NOT NULL)),
     cost AS (SELECT program, sum(CASE WHEN name = 'runs' THEN value ELSE 0 END) AS runs,
                     sum(CASE WHEN name = 'run_ns' THEN value ELSE 0 END) AS run_ns
              FROM last WHERE program GLOB '*sys_e*' OR program GLOB '*sock_*_length' OR program GLOB '*_inet*'
              GROUP BY program)
SELECT printf('%s: %d runs, %.0f ns each', program, runs, 1.0 * run_ns / runs) FROM cost WHERE runs
UNION ALL SELECT printf('all of them: %.0f ns an operation', 1.0 * sum(run_ns) / (SELECT count(*) FROM sock_op))
    FROM cost;
SQL
done
finish
