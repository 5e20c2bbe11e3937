#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Loopback traffic: the softirq that receives runs inside the send. Its time is net_rx, not send, and not in the
# operation's CPU time.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

recording_start "$work/l.tape"
"${in_a[@]}" "$tools/sockmatrix" "$(scaled 40)" >/dev/null
recording_stop
db=$work/l.db
import_tape "$work/l.tape" "$db"
check_whole "$work/l.tape" "$db"

inside=$(sql "$db" "SELECT count(*) FROM softirq_slice WHERE vec = 'NET_RX' AND context = 'op'")
at_least "NET_RX softirqs inside operations" "$inside" "$(scaled 1000)"

# Each nanosecond of such a softirq is owned by net_rx, or by an interrupt that came into it; none by send.
sqlite3 -batch -noheader -readonly "$db" >"$work/owners" <<'SQL'
CREATE TEMP TABLE inside AS SELECT ts, ts + dur AS te, cpu FROM softirq_slice
WHERE vec = 'NET_RX' AND context = 'op' AND dur > 0 ORDER BY cpu, ts LIMIT 3000;
CREATE INDEX inside_at ON inside (cpu, ts);
CREATE TEMP TABLE bounds AS SELECT cpu, min(ts) AS ts, max(te) AS te FROM inside GROUP BY cpu;
CREATE TEMP TABLE slices AS SELECT c.ts, c.ts + c.dur AS te, c.cpu, c.owner FROM cpu_slice c JOIN bounds b
ON c.cpu = b.cpu AND c.ts < b.te AND c.ts + c.dur > b.ts;
CREATE INDEX slices_at ON slices (cpu, ts);
SELECT owner, sum(min(s.te, i.te) - max(s.ts, i.ts)) FROM inside i JOIN slices s
ON s.cpu = i.cpu AND s.ts < i.te AND s.ts > i.ts - 100000000 AND s.te > i.ts GROUP BY owner;
SQL
sed 's/^/    inside those softirqs: /; s/|/ /; s/$/ ns/' "$work/owners"
at_least "time of net_rx in them (ns)" "$(awk -F'|' '$1 == "net_rx" { print $2 }' "$work/owners")" 1
is "other owners than net_rx and hardirq" "$(awk -F'|' '$1 != "net_rx" && $1 != "hardirq"' "$work/owners" | wc -l)" 0

# An operation's CPU time is that of its own slices: per thread, operations that lie whole within the recording
# sum to what send and recv own of the thread's time.
is "threads whose operations' CPU time is not the time that send and recv own" "$(sql "$db" "
    WITH ops AS (SELECT utid, sum(cpu_ns) AS ns, min(dur IS NOT NULL) AS timed FROM sock_op GROUP BY utid),
    own AS (SELECT utid, sum(dur) AS ns FROM cpu_slice WHERE owner IN ('send', 'recv') GROUP BY utid)
    SELECT count(*) FROM ops JOIN own USING (utid) JOIN thread USING (utid)
    WHERE name LIKE 'm-%' AND timed AND ops.ns <> own.ns")" 0
at_least "threads compared" "$(sql "$db" "SELECT count(DISTINCT utid) FROM sock_op JOIN thread USING (utid)
    WHERE name LIKE 'm-%'")" 16
finish
