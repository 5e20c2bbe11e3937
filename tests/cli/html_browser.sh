#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of export html in a browser, with a real pointer and real keys: tests/browser/html_page.js. The figures that
# it shows are compared with the database here. Screenshots go to build/screenshots.
#
# check-all: it needs a browser
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/browser/needs.sh
source tests/browser/needs.sh
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"
pictures=build/screenshots
mkdir -p $pictures

make_tape samples 20
"$PLAIN" import "$work/samples.tape" -o "$work/samples.db" >/dev/null
for scenario in hand loss hotplug empty markup hostile partial dropped wide; do make_tape $scenario; done
for tape in "$work"/*.tape; do
    report 0 export html "$tape" -o "${tape%.tape}.html"
done
cp "$work/samples.db" "$work/stacks.db"
stack_samples "$work/stacks.db" 100000
report 0 export html "$work/stacks.db" -o "$work/stacks.html"
cp "$work/stacks.db" "$work/slight.db"
sqlite3 "$work/slight.db" "DELETE FROM stack_sample WHERE owner = 'recv';
    DELETE FROM skb_latency WHERE hook = 'udp-start' AND rowid NOT IN (SELECT rowid FROM skb_latency
        WHERE hook = 'udp-start' AND latency_ns IS NOT NULL LIMIT 4)"
report 0 export html "$work/slight.db" -o "$work/slight.html"
cp "$work/samples.db" "$work/several.db"
"$PLAIN" import --append "$work/hand.tape" -o "$work/several.db" >/dev/null
report 0 export html "$work/several.db" -o "$work/several.html"
report 0 export html "$work/several.db" --from 5ms -o "$work/one_not_selected.html"
report 0 export html "$work/samples.db" --from 3ms --to 3.5ms --cpu 1 --process \
    "$(sqlite3 "$work/samples.db" "SELECT name FROM net_cost_process ORDER BY net_ns DESC LIMIT 1")" \
    -o "$work/part.html"

status=0
: >"$work/readouts"
timeout 800 node tests/browser/html_page.js "$chromium" "$work" $pictures >"$work/log" 2>&1 || status=$?
cat "$work/log"
is "the browser's test ends well" "$status" 0
failures=$((failures + $(grep -c '^FAIL' "$work/log" || true)))

# The tables of stages show the figures of `stages`.
report 0 stages "$work/stacks.db" --csv
is "stages, as they are shown" "$(LC_ALL=C sort "$work/stages")" \
    "$(awk -F, 'NR > 1 { printf "%s|%s|%s|%s|%.2f|%.2f|%.2f|%s\n", $2, $3, $4 == "" ? "-" : $4, $5, 100 * $6,
    100 * $7 / ($5 / $6), 100 * $8 / ($5 / $6), $9 }' "$work/out" | tr -d '"' | LC_ALL=C sort)"
report 0 stages "$work/stacks.db" --json
is "samples that were due, as they are shown" "$(<"$work/due")" \
    "$(sqlite3 :memory: "SELECT json_extract(o.value, '\$.owner'), json_extract(o.value, '\$.samples'),
        json_extract(o.value, '\$.samples_due') FROM json_each(CAST(readfile('$work/out') AS TEXT),
            '\$.sessions[0].owners') AS o")"

# The readout at the pointer agrees with SQL.
wrong=0 n=0
while IFS='|' read -r cpu from to owner ns; do
    case $owner in
    network) owners="'net_rx', 'net_tx', 'send', 'recv'" ;;
    *) owners="'$owner'" ;;
    esac
    n=$((n + 1))
    sum=$(sqlite3 "$work/samples.db" "WITH t AS (SELECT start_ts + $from AS a, start_ts + $to AS z FROM session)
        SELECT coalesce(sum(min(ts + dur, z) - max(ts, a)), 0) FROM cpu_slice, t WHERE owner IN ($owners) AND ts < z
        AND ts + dur > a AND '$cpu' IN ('all CPUs', CAST(cpu AS TEXT))")
    [[ $sum == "$ns" ]] || { bad "shown: CPU $cpu, $from to $to ns, $owner: $ns and not $sum"; wrong=$((wrong + 1)); }
done <"$work/readouts"
holds "$n figures that were shown are those of SQL" test $((n > 100 && wrong == 0)) = 1
finish
