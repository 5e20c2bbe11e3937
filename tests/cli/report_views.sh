#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Views of stages on a large database: 24,000 buckets of owners' time and 200,000 samples, of two sessions. Time is what
# it was, each part of it as its samples say; and none of it takes a look at everything for each of everything, which
# here would be minutes.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"

"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/v.db" >/dev/null 2>&1
# Samples of net_rx are of gro, gro, copy by turns; CPU 3 has none of them, and nobody any of recv.
sqlite3 "$work/v.db" "DELETE FROM cpu_cost; DELETE FROM stack_sample;
    UPDATE session SET end_ts = start_ts + 1000 * bucket_ns, dur = 1000 * bucket_ns, cpus = 4;
    CREATE TEMP TABLE second AS SELECT * FROM session;
    UPDATE second SET session_id = 2, uuid = 'another', start_ts = start_ts + 12345, end_ts = end_ts + 12345;
    INSERT INTO session SELECT * FROM second;
    WITH RECURSIVE bucket(b) AS (SELECT 0 UNION ALL SELECT b + 1 FROM bucket WHERE b < 999),
        cpu(c) AS (VALUES (0), (1), (2), (3)), who(o) AS (VALUES ('net_rx'), ('send'), ('recv'))
    INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, utid, spent_ns)
        SELECT session_id, start_ts + b * bucket_ns, bucket_ns, c, o, 1, 1000000 + b * 37 + c FROM session, bucket, cpu,
        who;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
    INSERT INTO stack_sample(session_id, ts, cpu, utid, owner, stage, family, context, in_user, flags)
        SELECT session_id, start_ts + i * 1000000, i % 3, 1, CASE i / 3 % 2 WHEN 0 THEN 'net_rx' ELSE 'send' END,
            CASE i / 6 % 3 WHEN 2 THEN 'copy' ELSE 'gro' END, CASE session_id WHEN 1 THEN 'inet' END, 'net_rx', 0, ''
                FROM n, session"
# Seconds of CPU time: how long it waits for a CPU does not matter.
query() { (ulimit -t 30 && exec sqlite3 "$work/v.db" "$1") || echo "it takes too long"; }
query "SELECT session_id, cpu, owner, stage, family, sum(ns) AS ns FROM net_cost_stage_over_time GROUP BY 1, 2, 3, 4,
    5" >"$work/parts"
is "rows: two stages, but of recv" "$(wc -l <"$work/parts")" $((2 * 4 * (2 + 2 + 1)))
is "owners' time" "$(awk -F'|' '{ ns[$1 "|" $2 "|" $3] += $6 } END { for (k in ns) print k "|" ns[k] }' "$work/parts" |
    sort)" \
    "$(query "SELECT session_id, cpu, owner, sum(spent_ns) FROM cpu_cost GROUP BY 1, 2, 3" | sort)"
is "what has no sample anywhere" "$(awk -F'|' '$4 == "unsampled" { print $3 }' "$work/parts" | sort -u)" recv
holds "two of three samples are of gro" awk -F'|' '$4 == "gro" { gro += $6 } $4 == "copy" { copy += $6 } END {
    exit !(gro > 1.98 * copy && gro < 2.02 * copy) }' "$work/parts"
is "CPU 3 is lent samples" "$(awk -F'|' '$2 == 3 { print $3, $4 }' "$work/parts" | sort -u | tr '\n' ,)" \
    "net_rx copy,net_rx gro,recv unsampled,send copy,send gro,"
is "families are the session's" "$(awk -F'|' '$3 != "recv" { print $1, $5 }' "$work/parts" | sort -u | tr '\n' ,)" \
    "1 inet,2 ,"
sums=$(query "SELECT sum(samples), sum(ns) FROM net_cost_stage")
is "samples" "${sums%|*}" 200000
is "the sum of all stages" "${sums#*|}" "$(query "SELECT sum(spent_ns) FROM cpu_cost")"
finish
