#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The payers of net_rx in a part of a recording: exact from a tape, bounds from a database. Both add up to net_rx.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

cp -r tests/golden/v1-charges.tape "$work"
report 0 import "$work/v1-charges.tape" -o "$work/v1-charges.db"
# payers FILE JSON COMMAND SELECTION
payers() {
    # shellcheck disable=SC2086
    "$REPORT" $3 --json "$work/$1" $4 >"$work/$2"
}
one="WITH one AS (SELECT file, value AS session FROM (SELECT 'tape' AS file, readfile('$work/of_tape') AS text UNION ALL
    SELECT 'database', readfile('$work/of_database')), json_each(text, '\$.sessions')),
    net AS (SELECT file, coalesce(value ->> 'net_rx_ns', 0) AS ns FROM one, json_each(session, '\$.cpus')
            WHERE value ->> 'cpu' IS NULL),
    paid AS (SELECT file, value ->> 'payer' AS payer, value ->> 'pid' AS pid, value ->> 'total_ns' AS ns,
                    value ->> 'at_least_ns' AS least, value ->> 'at_most_ns' AS most
             FROM one, json_each(session, '\$.payers')),
    sums AS (SELECT file, sum(ns) AS ns, sum(least) AS least, sum(most) AS most,
                    total(ns * (payer = 'socket')) AS socket, total(ns * (payer = 'forwarded')) AS forwarded,
                    total(ns * (payer = 'dropped')) AS dropped FROM paid GROUP BY file),
    ifaces AS (SELECT file, sum(value ->> 'total_ns') AS ns, sum(value ->> 'at_least_ns') AS least,
                      sum(value ->> 'at_most_ns') AS most, total(value ->> 'socket_ns') AS socket,
                      total(value ->> 'forwarded_ns') AS forwarded, total(value ->> 'dropped_ns') AS dropped,
                      sum(value ->> 'socket_ns' + value ->> 'forwarded_ns' + value ->> 'dropped_ns' +
                          value ->> 'rest_ns') AS of_payers FROM one, json_each(session, '\$.ifaces') GROUP BY file)"
# interfaces_add_up WHAT: to the payers, in both files
interfaces_add_up() {
    nothing "interfaces add up to the payers: $1" "$(sqlite3 :memory: "$one SELECT file, ns, least, most, socket,
        forwarded, dropped FROM sums EXCEPT SELECT file, ns, least, most, socket, forwarded, dropped FROM ifaces
        WHERE of_payers = ns")"
}
cp -r tests/golden/v1-fates.tape "$work"
report 0 import "$work/v1-fates.tape" -o "$work/v1-fates.db"
payers v1-fates.tape of_tape summary ""
payers v1-fates.db of_database summary ""
interfaces_add_up "packets of all fates"
# Bounds of packets that are no process's are shown, too.
sqlite3 "$work/v1-fates.db" "UPDATE rx_cost SET exact_ns = spent_ns, most_ns = spent_ns WHERE payer = 'socket'"
report 0 summary "$work/v1-fates.db"
is "bounds of interfaces" "$(grep -cE '^(program|process|iface) .*at_least' "$work/out")" 1
for selection in "--from 40ms --to 150ms" "--to 99950us" "--from 99950us --to 100ms" "--from 70us --to 90us" \
    "--from 30us --to 1.9 --cpu 0" "--from 101ms --to 121ms" "--from 110ms --to 130ms" "--cpu 1" \
    "--from 500ms --to 501ms"; do
    payers v1-charges.tape of_tape summary "$selection"
    payers v1-charges.db of_database summary "$selection"
    is "payers add up: $selection" "$(sqlite3 :memory: "$one SELECT file, net.ns - coalesce((SELECT sum(paid.ns)
        FROM paid WHERE paid.file = net.file), 0) FROM net ORDER BY file" | tr '\n' ' ')" "database|0 tape|0 "
    interfaces_add_up "$selection"
    nothing "payers are within their bounds: $selection" "$(sqlite3 :memory: "$one SELECT t.*
        FROM paid AS t LEFT JOIN paid AS d ON d.file = 'database' AND d.payer = t.payer AND d.pid IS t.pid
        WHERE t.file = 'tape' AND t.ns > 0 AND (t.ns BETWEEN d.least AND d.most) IS NOT TRUE")"
done
payers v1-charges.tape of_tape summary "--from 1ms --process worker"
is "payers of a process" "$(sqlite3 :memory: "$one SELECT DISTINCT pid FROM paid")" 202
report 0 summary "$work/v1-charges.db" --from 40ms --to 150ms
has "estimates are said" "$(flat "$out")" "is an estimate, between at_least"
report 0 summary "$work/v1-charges.tape" --from 40ms --to 150ms
lacks "a tape needs none" "$(flat "$out")" "is an estimate"
# The same in worst windows, read together: as in a summary of each.
payers v1-charges.tape worst "timeline --worst net_rx --window 30us --top 6" ""
sqlite3 :memory: "SELECT w.value ->> 'since_start_ns', sum(p.value ->> 'total_ns')
    FROM json_each(readfile('$work/worst'), '\$.sessions[0].worst') AS w, json_each(w.value, '\$.payers') AS p
    GROUP BY w.key" >"$work/windows"
is "worst windows" "$(wc -l <"$work/windows")" 6
while IFS='|' read -r since ns; do
    is "payers add up in the window at $since" "$(sqlite3 :memory: "SELECT value ->> 'ns' FROM
        json_each(readfile('$work/worst'), '\$.sessions[0].worst') WHERE value ->> 'since_start_ns' = $since")" "$ns"
    "$REPORT" timeline --json "$work/v1-charges.tape" --from "${since}ns" --to "$((since + 30000))ns" >"$work/alone"
    is "payers of the window at $since alone" "$(sqlite3 :memory: "SELECT sum(value ->> 'total_ns') FROM
        json_each(readfile('$work/alone'), '\$.sessions[0].payers')")" "$ns"
done <"$work/windows"
finish
