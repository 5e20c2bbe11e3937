#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# stages and flame by those who pay for net_rx, against plain SQL, to the nanosecond; and rows that no recording has.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
command -v sqlite3 >/dev/null || finish
make_tape traffic 1200
"$PLAIN" import "$work/traffic.tape" -o "$work/t.db" >/dev/null
query() { sqlite3 "${2:-$work/t.db}" "$1"; }
# Of each CPU and bucket, net_rx is divided: process one pays half for its flow 1; two and three share flow 2; those
# of flow 3 are forwarded; those of 4 have a socket that nobody is known of; the rest is nobody's. Which stack and
# flow a sample has follows from its number.
query "CREATE TABLE who AS SELECT upid, row_number() OVER (ORDER BY upid) AS n FROM process WHERE pid > 0 LIMIT 3;
    INSERT INTO flow(session_id, id, ethertype, counted_by)
        SELECT 1, value, 2048, 'flow' FROM json_each('[1, 2, 3, 4]');
    DELETE FROM rx_cost;
    CREATE TABLE part(n, flow, payer, who, percent);
    INSERT INTO part VALUES (1, 1, 'socket', 1, 50), (2, 2, 'socket', 2, 14), (3, 2, 'socket', 3, 7),
        (4, 3, 'forwarded', NULL, 9), (5, 4, 'socket', NULL, 3), (6, NULL, 'unattributed', NULL, 17);
    INSERT INTO rx_cost(session_id, ts, dur, cpu, payer, upid, flow_id, packets, segments, bytes, spent_ns, exact_ns,
        most_ns)
        SELECT 1, ts, dur, cpu, payer, upid, flow, 0, 0, 0, spent, 0, spent FROM (
            SELECT c.ts, c.dur, c.cpu, p.payer, w.upid, p.flow, c.ns * sum(percent) OVER upto / 100 -
                c.ns * (sum(percent) OVER upto - percent) / 100 AS spent
            FROM (SELECT ts, dur, cpu, sum(spent_ns) AS ns FROM cpu_cost WHERE owner = 'net_rx' GROUP BY ts, dur, cpu)
                AS c, part AS p LEFT JOIN who AS w ON w.n = p.who
            WINDOW upto AS (PARTITION BY c.ts, c.cpu ORDER BY p.n));
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
    INSERT INTO stack_sample(session_id, ts, cpu, utid, owner, stage, family, context, in_user, stack_id, flags,
        flow_id, flow_is_exact)
        SELECT 1, start_ts + i * i * 333 % (end_ts - start_ts), i % 2, 1 + i % 3, CASE WHEN i % 5 < 4 THEN 'net_rx'
            ELSE 'recv' END, CASE i * 7919 % 11 WHEN 0 THEN NULL WHEN 1 THEN 'udp_receive' WHEN 2 THEN 'other'
                WHEN 3 THEN 'gro' ELSE 'ip_receive' END, CASE i % 3 WHEN 0 THEN 'inet' WHEN 1 THEN 'inet6' END,
            'net_rx', 0, 1 + i % 16, '', CASE WHEN i % 5 < 4 THEN nullif(i * 31 % 7 % 5, 0) END,
            CASE WHEN i % 5 < 4 AND i * 31 % 7 % 5 THEN i % 2 END FROM n, session;"
is "all of net_rx is paid" "$(query "SELECT sum(spent_ns) FROM rx_cost")" \
    "$(query "SELECT sum(dur) FROM cpu_slice WHERE owner = 'net_rx'")"
# sums COLUMNS...: of the CSV in $work/out, spent_ns of net_rx by these
sums() {
    awk -F, -v keys="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(keys, key, " "); next }
        $at["owner"] == "net_rx" { k = ""; for (i = 1; i <= n; i++) k = k $at[key[i]] "|"; sum[k] += $at["spent_ns"] }
        END { for (k in sum) printf "%s%.0f\n", k, sum[k] }' "$work/out" | LC_ALL=C sort
}
name="coalesce(p.name, '(unknown)') || coalesce(' (' || p.pid || ')', '')"
payer="CASE WHEN p.upid IS NOT NULL THEN $name WHEN payer = 'socket' THEN '[kernel]' ELSE '[' || payer || ']' END"
from="FROM rx_cost LEFT JOIN process AS p USING (session_id, upid)"

# ---- time ----
report 0 stages "$work/t.db" --by payer --csv
is "by payer" "$(sums payer)" "$(query "SELECT $payer, sum(spent_ns) $from GROUP BY 1" | LC_ALL=C sort)"
report 0 stages "$work/t.db" --by process --csv
is "by process" "$(sums process)" \
    "$(query "SELECT CASE WHEN p.upid IS NULL THEN '-' ELSE $name END, sum(spent_ns) $from GROUP BY 1" | LC_ALL=C sort)"
report 0 stages "$work/t.db" --by cgroup --csv
is "by cgroup" "$(sums cgroup)" "$(query "SELECT coalesce(label, '-'), sum(spent_ns) $from LEFT JOIN cgroup AS g
    ON g.session_id = p.session_id AND g.id = p.cgroup_id GROUP BY 1" | LC_ALL=C sort)"
report 0 flame "$work/t.db" --folded --by payer --owner net_rx
is "flame by payer" "$(sed -E 's/^([^;]*);.* ([0-9]+)$/\1|\2/' "$work/out" |
    awk -F'|' '{ n[$1] += $2 } END { for (i in n) printf "%s|%.0f\n", i, n[i] }' | LC_ALL=C sort)" \
    "$(query "SELECT $payer, sum(spent_ns) $from GROUP BY 1" | LC_ALL=C sort)"
# A part that cuts buckets: all time of the slices, and of each bucket the same shares.
report 0 stages "$work/t.db" --by payer --csv --from 0.1234567 --to 0.95 --cpu 1
is "of a part" "$(sums owner)" "net_rx|$(query "WITH t AS (SELECT start_ts + 123456700 AS a, start_ts + 950000000 AS z
    FROM session) SELECT sum(min(ts + dur, z) - max(ts, a)) FROM cpu_slice, t WHERE cpu = 1 AND owner = 'net_rx'
    AND ts < z AND ts + dur > a")"
all "shares of a part that are off" "$(sums payer | awk -F'|' '{ ns[$1] = $2; all += $2 } END {
    for (who in ns) { p = 7
        if (who ~ /forw/) p = 9; else if (who ~ /kernel/) p = 3; else if (who ~ /unatt/) p = 17
        else if (ns[who] > all / 3) p = 50; else if (ns[who] > all / 10) p = 14
        n++; d = ns[who] - all * p / 100; bad += d > 20 || d < -20 } print n, 0 + bad }')"

# ---- stages ----
# Sanitizers look on before this and after it, at the same commands.
checked=$REPORT
REPORT=$PLAIN
# The payments of one process are split as the view splits net_rx in a database with nothing else.
for n in 1 2 3; do
    pid=$(query "SELECT pid FROM process JOIN who USING (upid) WHERE n = $n")
    cp "$work/t.db" "$work/u.db"
    query "DELETE FROM cpu_cost WHERE owner = 'net_rx';
        INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, spent_ns) SELECT 1, ts, dur, cpu, 'net_rx', sum(spent_ns)
            FROM rx_cost JOIN who USING (upid) WHERE n = $n GROUP BY ts, cpu;
        DELETE FROM stack_sample WHERE owner = 'net_rx' AND flow_id IS NOT 1" "$work/u.db"
    report 0 stages "$work/t.db" --process "$pid" --csv
    is "process $n pays" "$(sums owner)" \
        "net_rx|$(query "SELECT sum(spent_ns) FROM rx_cost JOIN who USING (upid) WHERE n = $n")"
    [[ $n == 1 ]] && is "and its stages" "$(sums stage family)" \
        "$(query "SELECT stage, ifnull(family, ''), ns FROM net_cost_stage WHERE owner = 'net_rx'" "$work/u.db" |
            LC_ALL=C sort)"
    [[ $n == 1 ]] && is "and samples" "$(awk -F, '$2 == "net_rx" { n += $9 } END { print n }' "$work/out")" \
        "$(query "SELECT count(*) FROM stack_sample WHERE flow_id = 1")"
    report 0 stages "$work/t.db" --process "$pid" --by time --owner net_rx --csv
    is "the same by time" "$(sums owner)" \
        "net_rx|$(query "SELECT sum(spent_ns) FROM rx_cost JOIN who USING (upid) WHERE n = $n")"
done
# Two pay for one flow at 2:1: its samples are drawn for them.
report 0 stages "$work/t.db" --by payer --csv
drawn=$(query "SELECT count(*) FROM stack_sample WHERE flow_id = 2")
two=$(query "SELECT $name FROM process AS p JOIN who USING (upid) WHERE n = 2")
three=$(query "SELECT $name FROM process AS p JOIN who USING (upid) WHERE n = 3")
samples_of() { awk -F, -v who="$1" '$2 == who && $3 == "net_rx" { n += $10 } END { print 0 + n }' "$work/out"; }
is "all of its samples" $(($(samples_of "$two") + $(samples_of "$three"))) "$drawn"
holds "two of three" awk -v n="$(samples_of "$two")" -v all="$drawn" \
    'BEGIN { exit !(n > all * 0.58 && n < all * 0.75) }'
is "nobody's samples" "$(samples_of "[unattributed]")" \
    "$(query "SELECT count(*) FROM stack_sample WHERE owner = 'net_rx' AND flow_id IS NULL")"

REPORT=$checked

# ---- several buckets in one row, as of one long run ----
cp "$work/t.db" "$work/long.db"
query "DELETE FROM cpu_slice; DELETE FROM rx_cost; DELETE FROM stack_sample;
    INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner, utid) SELECT 1, start_ts + 50000000, 500000000, 0,
        'net_rx', 0 FROM session;
    INSERT INTO stack_sample(session_id, ts, cpu, owner, context, in_user, flags, flow_id) SELECT 1,
        start_ts + 60000000, 0, 'net_rx', 'net_rx', 0, '', 1 FROM session;
    INSERT INTO rx_cost(session_id, ts, dur, cpu, payer, upid, flow_id, packets, segments, bytes, spent_ns, exact_ns,
        most_ns) SELECT 1, start_ts + at, long.dur, 0, 'socket', upid, n, 0, 0, 0, of / 4 *
        CASE n WHEN 1 THEN 3 ELSE 1 END, 0, of FROM session, who,
        (SELECT 0 AS at, 100000000 AS dur, 50000000 AS of UNION ALL SELECT 100000000, 400000000,
            400000000 UNION ALL SELECT 500000000, 100000000, 50000000) AS long WHERE n < 3" "$work/long.db"
report 0 stages "$work/long.db" --by payer --csv
is "a long run" "$(sums payer | cut -d'|' -f2 | sort -n)" "$(printf '%s\n' 125000000 375000000)"
report 0 stages "$work/long.db" --by payer --csv --from 0.2 --to 0.45
is "and a part of it" "$(sums payer | cut -d'|' -f2 | sort -n)" "$(printf '%s\n' 62500000 187500000)"

# ---- without flows, nobody is told to pay ----
cp "$work/t.db" "$work/none.db"
query "DELETE FROM flow; UPDATE rx_cost SET payer = 'unattributed', upid = NULL, flow_id = NULL;
    UPDATE stack_sample SET flow_id = NULL, flow_is_exact = NULL" "$work/none.db"
report 0 stages "$work/none.db" --by payer --csv
is "by payer" "$(sums payer | cut -d'|' -f1)" "[unattributed]"
pid=$(query "SELECT pid FROM process JOIN who USING (upid) WHERE n = 1")
report 0 stages "$work/none.db" --process "$pid" --csv
is "a process has what ran in its time" "$(sums owner)" "net_rx|$(query "SELECT sum(dur) FROM cpu_slice JOIN thread
    USING (session_id, utid) JOIN process USING (session_id, upid) WHERE pid = $pid AND owner = 'net_rx'")"

# ---- rows that no recording has ----
for change in "dur = 0" "dur = -5" "dur = 9223372036854775807" \
    "ts = -9223372036854775807, dur = 9223372036854775807"; do
    cp "$work/t.db" "$work/spoilt.db"
    query "UPDATE rx_cost SET $change WHERE rowid = 7" "$work/spoilt.db"
    "$REPORT" stages "$work/spoilt.db" --by payer --csv >"$work/out" 2>"$work/err" || true
    holds "$change: all time, or none" test "$(sums owner)" = "$(if [[ -s $work/err ]]; then echo; else
        echo "net_rx|$(query "SELECT sum(dur) FROM cpu_slice WHERE owner = 'net_rx'")"; fi)"
done
seed=$(seed)
query "UPDATE rx_cost SET payer = x'ff00', cpu = $(any 1) % 3, upid = $(any 2), flow_id = $(any 3) % 7,
    spent_ns = abs($(any 4) / 2), ts = ts + $(any 5) % 1000000000" "$work/spoilt.db"
for command in "stages --by payer" "stages --by cgroup" "stages --process $pid" "flame --folded --by payer"; do
    # shellcheck disable=SC2086
    "$REPORT" ${command%% *} "$work/spoilt.db" ${command#* } >"$work/out" 2>&1 || status=$?
    holds "$command on anything" test "${status:-0}" -le 1
done
finish
