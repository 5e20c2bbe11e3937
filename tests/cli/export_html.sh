#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# export html: the data in the page is what SQL says, to the nanosecond; nothing on a tape becomes markup; the policy
# names exactly this style and this script; files appear whole; a million events make less than 5 MB.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which compares the page with the database"

# page OPTION...: makes $work/page.html, with its data in $work/data.json
page() {
    report 0 export html "$@" -o "$work/page.html"
    data "$work/page.html" >"$work/data.json"
}
# ask SQL: of the database $db, with the data of the page as text(json), its sessions as one(...), all of its sums as
# cell(session, cpu, owner, from_ts, to_ts, ns), the rows of its tables as line(...). (A table for each level: or SQLite
# parses the whole again for each element.)
ask() {
    sqlite3 "$db" "CREATE TEMP TABLE text AS SELECT CAST(readfile('$work/data.json') AS TEXT) AS json;
        CREATE TEMP TABLE one AS SELECT key AS number, value AS json, json_extract(value,
        '\$.session.session_id') AS session,
            json_extract(value, '\$.costs.step_ns') AS step_ns, json_extract(value, '\$.costs.from_ns')
                + s.start_ts AS from_ts,
            json_extract(value, '\$.costs.to_ns') + s.start_ts AS to_ts, json_extract(value, '\$.costs.steps') AS steps
        FROM text, json_each(text.json, '\$.sessions'), session AS s WHERE s.session_id = json_extract(value,
            '\$.session.session_id');
        CREATE TEMP TABLE cpu AS SELECT one.session, json_extract(c.value, '\$.cpu') AS cpu, json_extract(c.value,
            '\$.ns') AS ns FROM one, json_each(one.json, '\$.costs.cpus') AS c;
        CREATE TEMP TABLE owned AS SELECT session, cpu, o.key AS owner, o.value AS ns FROM cpu, json_each(ns) AS o;
        CREATE TEMP TABLE cell AS SELECT owned.session, cpu, owner, from_ts + step.key * step_ns AS from_ts,
        min(from_ts + (step.key + 1) * step_ns, to_ts) AS to_ts, step.value AS ns
        FROM owned JOIN one USING (session), json_each(owned.ns) AS step;
        CREATE TEMP TABLE line AS SELECT one.session, json_extract(t.value, '\$.name') AS name, r.key AS number,
            r.value AS json
        FROM one, json_each(one.json, '\$.tables') AS t, json_each(t.value, '\$.rows') AS r;
        $1"
}
# How many cells there are, and how many of them are not the sum of the slices in them.
readonly differing="WITH wanted AS (SELECT c.session, c.cpu, c.owner, c.from_ts, c.ns, coalesce((SELECT
        sum(min(s.ts + s.dur, c.to_ts) - max(s.ts, c.from_ts)) FROM slice AS s
        WHERE s.session_id = c.session AND s.cpu = c.cpu AND s.owner = c.owner AND s.ts < c.to_ts
        AND s.ts + s.dur > c.from_ts), 0) AS sum
    FROM cell AS c)
    SELECT count(*), coalesce(sum(ns != sum), 0) FROM wanted"
# All that there are of slices, by CPU: slices of a CPU are searched by time, or this takes minutes.
slices() { echo "CREATE TEMP TABLE slice AS SELECT session_id, ts, dur, cpu, owner FROM cpu_slice;
    CREATE INDEX temp.of ON slice(session_id, cpu, owner, ts, dur);"; }
# cells_add_up WHAT: to the slices, and each step of a CPU to how long it is
cells_add_up() {
    all "$1: each sum is that of the slices" "$(ask "$(slices) $differing")"
    all "$1: each step of a CPU is as long as its owners" \
        "$(ask "SELECT count(*), sum(wrong) FROM (SELECT sum(ns) != max(to_ts) - from_ts AS wrong FROM cell
            GROUP BY session, cpu, from_ts)")"
    all "$1: steps and CPUs" \
        "$(ask "SELECT count(*), sum(wrong) FROM (SELECT count(DISTINCT cpu) * max(steps) != count(DISTINCT cpu || ' '
            || cell.from_ts) AS wrong
        FROM cell JOIN one USING (session) GROUP BY session)")"
}

# ---- sums ----

for scenario in "hand" "loss 20" "hotplug" "samples 20"; do
    # shellcheck disable=SC2086
    make_tape $scenario
    tape=$work/${scenario% *}.tape
    db=$work/${scenario% *}.db
    "$PLAIN" import "$tape" -o "$db" >/dev/null
    page "$db"
    cells_add_up "$scenario"
    cp "$work/page.html" "$work/of_db.html"
    page "$tape"
    same "$scenario: the same from the tape" "$work/page.html" "$work/of_db.html"
done

db=$work/samples.db
# same_tables: what the tables of the page have is what the views have; so `page` must have been called for all of the
# session
same_tables() {
    is "$1: processes" "$(ask "SELECT json_extract(json, '\$[0]', '\$[1]', '\$[2]', '\$[6]', '\$[7]', '\$[9]', '\$[10]',
        '\$[11]', '\$[12]', '\$[13]', '\$[14]') FROM line WHERE name = 'processes' ORDER BY number")" \
        "$(sqlite3 "$db" "SELECT json_array(coalesce(name, '(unknown)'), pid, net_ns, send_ns, recv_ns,
            send_ops + recv_ops, send_bytes, recv_bytes, task_ns, untimed_ops, lower_bound_ops)
            FROM net_cost_process WHERE net_ns > 0 OR send_ops + recv_ops > 0 ORDER BY net_ns DESC,
            send_ops + recv_ops DESC, upid")"
    is "$1: cgroups" "$(ask "SELECT json_extract(json, '\$[0]', '\$[2]', '\$[9]') FROM line WHERE name = 'cgroups'
        ORDER BY number")" \
        "$(sqlite3 "$db" "SELECT json_array(coalesce(label, '(unknown)'), net_ns, send_ops + recv_ops)
            FROM net_cost_cgroup
            WHERE net_ns > 0 OR send_ops + recv_ops > 0 ORDER BY net_ns DESC, send_ops + recv_ops DESC, cgroup_id")"
    is "$1: sockets" "$(ask "SELECT json_extract(json, '\$[2]', '\$[3]', '\$[4]', '\$[11]', '\$[12]', '\$[13]')
        FROM line WHERE name = 'sockets' ORDER BY number")" \
        "$(sqlite3 "$db" "SELECT json_array(coalesce(proto, '(unknown)'), coalesce(name, '(unknown)'), net_ns,
            send_ops + recv_ops, send_bytes, recv_bytes) FROM net_cost_socket
            ORDER BY net_ns DESC, send_ops + recv_ops DESC, socket_id LIMIT 40")"
    for rows in "programs processes cgroups" "ports peers sockets"; do
        # shellcheck disable=SC2086
        is "$1: ${rows// /, } sum to the same" "$(for name in $rows; do total_of "$name"; done | sort -u | wc -l)" 1
    done
    is "$1: the groupings" "$(ask "SELECT group_concat(json_extract(t.value, '\$.by')) FROM one, json_each(one.json,
        '\$.tables') AS t WHERE json_extract(t.value, '\$.by') IS NOT NULL")" \
        "program,process,port,peer,cgroup,socket,iface"
}
# total_of NAME: nanoseconds and operations of all rows of a table, also of those that are summed up
total_of() {
    ask "CREATE TEMP TABLE t AS SELECT json_extract(t.value, '\$.columns') AS columns, json_extract(t.value,
        '\$.rows') AS rows, json_extract(t.value, '\$.rest') AS rest
            FROM one, json_each(one.json, '\$.tables') AS t WHERE json_extract(t.value, '\$.name') = '$1';
        CREATE TEMP TABLE at AS SELECT c.key AS i, c.value AS name FROM t, json_each(t.columns) AS c
        WHERE c.value IN ('total_ns', 'ops_count');
        SELECT CAST(coalesce((SELECT sum(json_extract(r.value, '\$[' || at.i || ']')) FROM t, json_each(t.rows) AS r),
            0)
            + coalesce((SELECT json_extract(t.rest, '\$[' || at.i || ']') FROM t), 0) AS INTEGER) FROM at
                ORDER BY name" | tr '\n' ' '
    echo
}
page "$db"
same_tables "from the sums"
page "$db" --cpu 0-7
same_tables "from the operations"
is "drops, with those that are summed up" \
    "$(ask "SELECT (SELECT sum(json_extract(json, '\$[4]')) FROM line
        WHERE name = 'drops') + (SELECT total(json_extract(t.value, '\$.rest[4]')) FROM one, json_each(one.json,
            '\$.tables') AS t WHERE json_extract(t.value, '\$.name') = 'drops')" | sed 's/\.0$//')" \
                "$(sqlite3 "$db" "SELECT count(*) FROM skb_drop WHERE ts >= (SELECT start_ts FROM session)
                    AND ts < (SELECT end_ts FROM session)")"
is "retransmits, over time" "$(ask "SELECT sum(c.value) FROM one, json_each(one.json, '\$.events[1].counts') AS c
    WHERE c.key % 2")" \
    "$(sqlite3 "$db" "SELECT count(*) FROM tcp_retransmit WHERE ts >= (SELECT start_ts FROM session)
        AND ts < (SELECT end_ts FROM session)")"
for hook in ip-start udp-socket-read; do
    is "latency at $hook" "$(ask "SELECT json_extract(h.value, '\$.samples', '\$.p50_ns', '\$.p999_ns')
        FROM one, json_each(one.json, '\$.latency[0].hooks') AS h WHERE json_extract(h.value, '\$.hook') = '$hook'")" \
        "[$("$REPORT" latency "$db" --hook $hook --csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { printf "%s,%s,%s", $at["samples"],
            $at["p50_ns"], $at["p999_ns"] }' | tr -d '"\r')]"
    is "its heat map has all of them" "$(ask "SELECT sum(c.value) FROM one, json_each(one.json, '\$.heat') AS h,
        json_each(h.value, '\$.cells') AS c WHERE json_extract(h.value, '\$.hook') = '$hook' AND c.key % 3 = 2")" \
        "$(ask "SELECT json_extract(h.value, '\$.packets') || '.0' FROM one, json_each(one.json,
            '\$.latency[0].hooks') AS h WHERE json_extract(h.value, '\$.hook') = '$hook'" | sed 's/\.0$//')"
done

# The peak: of all runs of so many steps that of which the network took most.
for db in "$work/hand.db" "$work/samples.db"; do
    page "$db"
    is "the peak of $(basename "$db")" "$(ask "SELECT json_extract(json, '\$.costs.peak.net_ns') FROM one")" \
        "$(ask "WITH net AS (SELECT cpu, from_ts, sum(CASE WHEN owner IN ('net_rx', 'net_tx', 'send', 'recv') THEN ns
            ELSE 0 END) AS ns FROM cell GROUP BY cpu, from_ts)
            SELECT max(run) FROM (SELECT (SELECT sum(m.ns) FROM net AS m WHERE m.cpu = net.cpu
            AND m.from_ts >= net.from_ts
                AND m.from_ts < net.from_ts + (SELECT json_extract(json, '\$.costs.peak.dur_ns') FROM one)) AS run
                    FROM net)")"
done

# The recorder's own cost is what summary says.
page tests/golden/demo.tape
report 0 summary tests/golden/demo.tape --json
for of in recorder.cpu_ns recorder.recording_cpu_ns recorder.recording_ns; do
    is "$of" "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/data.json') AS TEXT),
        '\$.sessions[0].$of')")" \
        "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/out') AS TEXT), '\$.sessions[0].$of')")"
done
is "runs of its programs" "$(sqlite3 :memory: "SELECT sum(json_extract(r.value, '\$[1]'))
    FROM json_each(CAST(readfile('$work/data.json') AS TEXT), '\$.sessions[0].tables') AS t,
        json_each(t.value, '\$.rows') AS r WHERE json_extract(t.value, '\$.name') = 'recorder_programs'")" \
    "$(sqlite3 :memory: "SELECT sum(json_extract(value, '\$.runs_count'))
        FROM json_each(CAST(readfile('$work/out') AS TEXT), '\$.sessions[0].recorder_programs')")"

# A part: of time, CPUs and tasks.
db=$work/samples.db
page "$db" --from 3.0001ms --to 7777777ns --cpu 1
cells_add_up "a part"
is "its time" "$(ask "SELECT json_extract(json, '\$.selection.from_ns', '\$.selection.to_ns', '\$.selection.whole')
    FROM one")" "[3000100,7777777,false]"
is "its CPUs" "$(ask "SELECT DISTINCT cpu FROM cell")" 1
is "its processes" "$(ask "SELECT sum(json_extract(json, '\$[2]')), sum(json_extract(json, '\$[12]')) FROM line
    WHERE name = 'processes'")" \
    "$(sqlite3 "$db" "SELECT sum(CASE WHEN owner = 'task' THEN 0 ELSE d END), sum(CASE WHEN owner = 'task' THEN d ELSE 0
        END) FROM (SELECT owner, utid, min(ts + dur, z) - max(ts, a) AS d
        FROM cpu_slice, (SELECT start_ts + 3000100 AS a, start_ts + 7777777 AS z FROM session) WHERE cpu = 1
        AND owner IN ('send', 'recv', 'task') AND ts < z AND ts + dur > a)
        WHERE utid IN (SELECT t.utid FROM thread AS t WHERE t.upid IN (SELECT upid FROM process))")"
# Operations count where they ended, also those that end on an edge: each part ends where one did.
sqlite3 "$db" "CREATE VIEW ended AS SELECT o.op, o.dur IS NULL AS untimed, o.ts + coalesce(o.dur, 0) - s.start_ts AS at,
    ',' || o.flags || ',' LIKE '%,lower_bound,%' AS lower, CASE WHEN ',' || o.flags || ',' LIKE '%,peek,%'
    OR ',' || o.flags || ',' LIKE '%,errqueue,%' THEN 0 ELSE coalesce(o.bytes, 0) END AS bytes
    FROM sock_op AS o, session AS s WHERE o.cpu = 1"
# operations_of WHERE, and what the page has of them
operations_of() { sqlite3 "$db" "SELECT count(*), sum(bytes * (op = 'send')), sum(bytes * (op = 'recv')), sum(untimed),
    sum(lower) FROM ended WHERE $1"; }
operations_shown() { ask "SELECT sum(json_extract(json, '\$[9]')), sum(json_extract(json, '\$[10]')),
    sum(json_extract(json, '\$[11]')), sum(json_extract(json, '\$[13]')), sum(json_extract(json, '\$[14]')) FROM line
    WHERE name = 'processes'"; }
ends=$(sqlite3 "$db" "SELECT DISTINCT at FROM ended WHERE at BETWEEN 1000000 AND 15000000 ORDER BY at" |
    awk 'NR % 40 == 1' | head -4)
is "ends of operations" "$(wc -w <<<"$ends")" 4
from=0
for to in $ends; do
    page "$db" --from "${from}ns" --to "${to}ns" --cpu 1
    is "operations from $from to $to" "$(operations_shown)" "$(operations_of "at < $to AND ($from = 0 OR at >= $from)")"
    from=$to
done
page "$db" --from "${from}ns" --cpu 1
is "operations from $from to the end" "$(operations_shown)" "$(operations_of "at >= $from")"
db=$work/hand.db
page "$db" --process web
is "time of a process" "$(ask "SELECT owner, sum(ns) FROM cell GROUP BY owner" | tr '\n' ' ')" \
    "$(sqlite3 "$db" "SELECT CASE WHEN utid IN (1, 2) THEN owner ELSE 'other' END AS o, sum(dur) FROM cpu_slice
        GROUP BY o" | tr '\n' ' ')"
is "only its row" "$(ask "SELECT json_extract(json, '\$[0]') FROM line WHERE name = 'processes'")" web
page "$db" --process 200
is "by its pid" "$(ask "SELECT json_extract(json, '\$[0]') FROM line WHERE name = 'processes'")" curl

# A long recording, whose steps are whole buckets of cpu_cost: 150 s of slices of 70 ms, and an idle one of 5 s that
# fills many.
db=$work/long.db
cp "$work/hand.db" "$db"
sqlite3 "$db" "UPDATE session SET end_ts = start_ts + 150000000000, dur = 150000000000; DELETE FROM cpu_slice;
    DELETE FROM cpu_cost;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2142)
    INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner, utid) SELECT 1, start_ts + i * 70000000, min(70000000,
    145000000000 - i * 70000000), cpu,
        CASE (i * 7 + cpu) % 5 WHEN 0 THEN 'net_rx' WHEN 1 THEN 'task' WHEN 2 THEN 'send' WHEN 3 THEN 'idle'
            ELSE 'hardirq' END, 1
    FROM n, session, (SELECT 0 AS cpu UNION SELECT 1) WHERE i * 70000000 < 145000000000;
    INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner, utid) SELECT 1, start_ts + 145000000000, 5000000000, cpu,
    'idle', 0 FROM session, (SELECT 0 AS cpu UNION SELECT 1);
    WITH RECURSIVE b(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM b WHERE i < 1449)
    INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, utid, spent_ns) SELECT 1, t, 100000000, cpu, owner, utid,
    sum(min(s.ts + s.dur, t + 100000000) - max(s.ts, t))
    FROM (SELECT start_ts + i * 100000000 AS t FROM b, session) JOIN cpu_slice AS s ON s.ts < t + 100000000
    AND s.ts + s.dur > t GROUP BY t, cpu, owner;
    INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, utid, spent_ns) SELECT 1, ts, dur, cpu, owner, utid, dur
    FROM cpu_slice WHERE dur = 5000000000"
page "$db"
is "steps, and where they come from" "$(ask "SELECT step_ns, json_extract(json, '\$.costs.source') FROM one")" \
    "100000000|cpu_cost"
cells_add_up "from the sums"

# ---- stages ----

# same_stages OPTION...: the page has what `stages` has of the same
same_stages() {
    page "$db" "$@"
    report 0 stages "$db" "$@" --json
    python_holds "stages of the page${*:+, }$*" \
        -c 'import json, sys
page, out = [json.load(open(name))["sessions"] for name in sys.argv[1:]]
whole = {name: page[0][name] for name in ("whole", "damage")}
sys.exit(len(out) != 1 or {**whole, **page[0]["stages"]} != out[0])' \
        "$work/data.json" "$work/out"
}
# stages SQL: of the page's data, as stages.value
stages() { sqlite3 :memory: "SELECT $1 FROM json_each(CAST(readfile('$work/data.json') AS TEXT),
    '\$.sessions[0].stages.stages') AS stages"; }
db=$work/stacks.db
cp "$work/samples.db" "$db"
is "none without samples" "$(page "$work/hand.db" >/dev/null; sqlite3 :memory: \
    "SELECT json_type(CAST(readfile('$work/data.json') AS TEXT), '\$.sessions[0].stages') IS NULL")" 1
stack_samples "$db" 100000
same_stages
holds "there are some" test "$(stages 'count(*)')" -gt 30
is "they sum to the owners' time" "$(stages "sum(json_extract(value, '\$.spent_ns'))")" \
    "$(sqlite3 "$db" "SELECT sum(dur) FROM cpu_slice WHERE owner IN ('net_rx', 'net_tx', 'send', 'recv')")"
is "that has too few is said" "$(ask "SELECT json_extract(o.value, '\$.owner') FROM one, json_each(one.json,
    '\$.stages.owners') AS o WHERE json_extract(o.value, '\$.too_few')")" recv
same_stages --cpu 1
same_stages --from 3.0001ms --to 7777777ns
same_stages --process "$(sqlite3 "$db" "SELECT name FROM net_cost_process ORDER BY net_ns DESC LIMIT 1")" --to 9ms
# The families of a stage together: what \`stages\` says of samples that have none.
page "$db"
cp "$db" "$work/merged.db"
sqlite3 "$work/merged.db" "UPDATE stack_sample SET family = NULL"
report 0 stages "$work/merged.db" --json
holds "families of a stage together" python3 -c '
import json, sys
page, out = [json.load(open(name))["sessions"][0] for name in sys.argv[1:]]
key = lambda row: (row["owner"], row["stage"])
got, wanted = {key(row): row for row in page["merged_stages"]}, {key(row): row for row in out["stages"]}
near = lambda a, b: abs(a - b) <= 100 + 1e-4 * b  # each run of samples is rounded to nanoseconds
sys.exit(got.keys() != wanted.keys() or len(got) == len(page["stages"]["stages"]) or not all(
    got[k]["samples"] == wanted[k]["samples"] and
    all(near(got[k][f], wanted[k][f]) for f in ("spent_ns", "low_ns", "high_ns")) for k in got))' \
    "$work/data.json" "$work/out"
# Names that are no recording's: long ones are cut, many are none.
sqlite3 "$db" "UPDATE stack_sample SET stage = replace(hex(zeroblob(500000)), '0', '<') WHERE rowid % 20 = 0"
page "$db"
holds "a long stage is cut" test "$(stages "max(length(json_extract(value, '\$.stage')))")" = 1024
sqlite3 "$db" "UPDATE stack_sample SET stage = 'stage ' || rowid"
report 1 export html "$db" -o "$work/none.html"
has "too many stages" "$err" "more than a recording has: see nettape-report check"
holds "make no file" test ! -e "$work/none.html"

# ---- several sessions ----

db=$work/two.db
cp "$work/hand.db" "$db"
"$PLAIN" import --append "$work/loss.tape" -o "$db" >/dev/null
page "$db"
cells_add_up "two sessions"
is "a section each" "$(ask "SELECT count(*), sum(session) FROM one")" "2|3"
page "$db" --from 5ms
is "one of which ends before that" "$(ask "SELECT json_type(json, '\$.costs') IS NULL FROM one" | tr '\n' ' ')" "1 0 "

# ---- markup ----

make_tape markup
page "$work/markup.tape"
holds "no markup in the data" bash -c '! grep -q "[<>&]" "$1"' - "$work/data.json"
is "the elements that the page is made of" "$(sed -e '/^<script type="application/,/^<script>/d' "$work/page.html" |
    grep -c 'alert\|onerror')" 0
is "but the names are there" "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/data.json') AS TEXT),
    '\$.sessions[0].session.host')")" "</title></script><img src=x onerror=alert(1)>"
is "also what looks like a part of the template" \
    "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/data.json') AS TEXT),
        '\$.sessions[0].tables[4].rows[0][0]')")" "/</script><script>alert(2)</script>\"'><svg onload=alert(3)>@SCRIPT@"
make_tape hostile
page "$work/hostile.tape"
is "what is no text is JSON" "$(sqlite3 :memory: "SELECT json_valid(CAST(readfile('$work/data.json') AS TEXT))")" 1

# The policy: nothing but the style and the script that are in the page.
sum() { printf '%s' "sha256-$(sha256sum "$1" | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64)"; }
awk '/^<script>/ { on = 1; sub(/^<script>/, "") } /^<\/script>/ { on = 0 } on' "$work/page.html" >"$work/script"
awk '/^<style>/ { on = 1; sub(/^<style>/, "") } /^<\/style>/ { on = 0 } on' "$work/page.html" >"$work/style"
is "the policy" "$(grep -o 'content="default-src[^"]*"' "$work/page.html")" \
    "content=\"default-src 'none'; style-src '$(sum "$work/style")'; script-src '$(sum \
    "$work/script")'; base-uri 'none'; form-action 'none'\""
is "no address of the network" "$(grep -c '\(src\|href\)="\?http\|@import\|url(http' "$work/page.html")" 0

# ---- files ----

page "$work/hand.tape"
holds "nothing else is left" test ! -e "$work/page.html.partial"
report 0 export html "$work/hand.tape"
same "the same on standard output" "$work/out" "$work/page.html"
echo old >"$work/old.html"
report 1 export html "$work/nothing.tape" -o "$work/old.html"
is "what was there stays after a failure" "$(<"$work/old.html")" old
report 0 export html "$work/hand.tape" -o "$work/old.html"
same "and is replaced" "$work/old.html" "$work/page.html"
report 1 export html "$work/hand.tape" -o "$work/no/such.html"
has "a file that cannot be made" "$err" "cannot be made: No such file"
if [[ -e /dev/full ]]; then
    report 1 export html "$work/hand.tape" -o /dev/full
    has "a disk that is full" "$err" "/dev/full cannot be written"
fi

# ---- nothing there ----

report 1 export html "$work/hand.tape" --from 2 -o "$work/none.html"
has "no time" "$err" "nothing was recorded in the time of --from and --to"
report 1 export html "$work/hand.tape" --cpu 7 -o "$work/none.html"
has "no CPU" "$err" "none of these CPUs was recorded"
report 1 export html "$work/hand.tape" --process nobody -o "$work/none.html"
has "no process" "$err" "no process of this pid or name was recorded"
holds "no file of these" test ! -e "$work/none.html"
report 2 export html "$work/hand.tape" --by cpu -o "$work/none.html"
has "no grouping" "$err" "--by cpu: choose program, process, port, peer, cgroup, socket or iface"
report 2 export html "$work/hand.tape" --hook ip-start -o "$work/none.html"
has "what is for another format" "$err" \
    "option '--hook' is not for 'export html'; it is for latency, export prometheus."
report 2 export perfetto "$work/hand.tape" --by process -o "$work/none.pftrace"
has "and for another" "$err" "option '--by' is not for 'export perfetto'"
for by in "" "--by peer"; do
    # shellcheck disable=SC2086
    page "$work/hand.tape" $by
    is "the grouping of ${by:-no --by}" \
        "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/data.json') AS TEXT), '\$.by')")" \
        "$([[ $by ]] && echo peer || echo program)"
done
make_tape empty
page "$work/empty.tape"
is "a tape without events" "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/data.json') AS TEXT),
    '\$.sessions[0].session.events_count')")" 0

# A database that is no recording's: numbers that overflow, CPUs that are none, a text of a megabyte.
db=$work/odd.db
cp "$work/hand.db" "$db"
sqlite3 "$db" "UPDATE process SET name = replace(hex(zeroblob(500000)), '0', '<') WHERE upid = 1;
    INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner, utid) VALUES (1, 9223372036854775807, 9223372036854775807, 0,
    'send', 1),
        (1, -9223372036854775807, 9223372036854775807, 0, 'send', 1), (1, 1000000000000, -5, 0, 'send', 1), (1,
            1000000000000, 9223372036854775807, 0, 'nobody', 1),
        (1, 1000000000000, 5, -1, 'send', 1), (1, 1000000000000, 5, 99999999999, 'send', 1), (1, 'x', 'y', 'z',
            'send', NULL), (1, 1000000000000, 1000000, 1, 'send', 1), (1, 1000000000000, 1000000, 1, 'send', 1)"
page "$db"
is "no owner has more of a step than it is long" "$(ask "SELECT count(*) > 0, max(ns - (to_ts - from_ts)) FROM cell")" \
    "1|0"
holds "a text is cut" test "$(wc -c <"$work/page.html")" -lt 1000000
sqlite3 "$db" "UPDATE session SET end_ts = 9223372036854775807, dur = 9223372036854775807"
report 1 export html "$db" -o "$work/none.html"
has "a time that cannot be added up" "$err" "choose a part of it with --from and --to"

# ---- size: a million events, of 2 CPUs and of 64 ----

REPORT=$PLAIN

# Of the owners the page has only labels and colours of its own.
owners=$(sed -n '/^#define NT_OWNERS/,/^$/s/^\tX([0-9]*, [A-Z_]*, \([a-z_]*\), .*/\1/p' report/timeline/timeline.h)
is "owners that there are" "$(wc -w <<<"$owners")" 10
for owner in $owners; do
    holds "$owner has a label in the page" grep -q "^  \['$owner', '" report/export/html/page/costs.js
    holds "$owner has a colour in the page" grep -Eq "(^|[ }])\.$owner( |,)" report/export/html/page/page.css
done

for scenario in "traffic 2400" "wide 360"; do
    # shellcheck disable=SC2086
    make_tape $scenario
    tape=$work/${scenario% *}.tape
    page "$tape"
    events=$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/data.json') AS TEXT),
        '\$.sessions[0].session.events_count')")
    size=$(wc -c <"$work/page.html")
    holds "$scenario: $events events are a million" test "$events" -gt 1000000
    holds "$scenario: $size bytes are less than 5 MB" test "$size" -lt 5000000
done
finish
