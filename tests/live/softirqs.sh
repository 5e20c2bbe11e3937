#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Softirqs against the kernel's own count: per CPU and vector, the change of /proc/softirqs between two snapshots lies
# between the records in the snapshots' inner and outer window. Asked of `check`, and worked out again in SQL.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

flood_start "$(scaled 50000)"
recording_start "$work/s.tape"
sleep 3.2
recording_stop
db=$work/s.db
import_tape "$work/s.tape" "$db"
check_whole "$work/s.tape" "$db"

sqlite3 -batch -noheader -readonly "$db" >"$work/windows" <<'SQL'
CREATE TEMP TABLE snapshot AS SELECT cpu, name, ts_begin, ts_end, value FROM proc_counter
WHERE source = '/proc/softirqs' AND cpu IS NOT NULL;
CREATE TEMP TABLE window AS SELECT * FROM (
    SELECT cpu, name, ts_begin AS outer_begin, ts_end AS inner_begin, value,
           lead(ts_begin) OVER w AS inner_end, lead(ts_end) OVER w AS outer_end, lead(value) OVER w - value AS delta
    FROM snapshot WINDOW w AS (PARTITION BY cpu, name ORDER BY ts_begin))
WHERE delta IS NOT NULL AND outer_begin >= (SELECT start_ts FROM session) AND outer_end <= (SELECT end_ts FROM session);
CREATE TEMP TABLE run AS SELECT cpu, vec, ts FROM softirq_slice;
CREATE TEMP TABLE hole AS SELECT cpu, ts, ts + dur AS te FROM cpu_slice WHERE owner = 'uncovered';
CREATE INDEX run_at ON run (cpu, vec, ts);
SELECT cpu, name, delta,
       (SELECT count(*) FROM run r WHERE r.cpu = w.cpu AND vec = name AND ts BETWEEN inner_begin AND inner_end)
           AS least,
       (SELECT count(*) FROM run r WHERE r.cpu = w.cpu AND vec = name AND ts BETWEEN outer_begin AND outer_end) AS most,
       (SELECT count(*) FROM hole h WHERE h.cpu = w.cpu AND h.ts < outer_end AND h.te > outer_begin) AS holes
FROM window w;
SQL
at_least "windows compared" "$(wc -l <"$work/windows")" 20
at_least "softirqs in them" "$(awk -F'|' '{ n += $3 } END { print n }' "$work/windows")" "$(scaled 10000)"
# Where a stretch is uncovered (a kernel may hide a process of its own from tracing), the kernel may have counted more.
is "windows where the kernel counted otherwise" "$(awk -F'|' '$3 < $4 || ($6 == 0 && $3 > $5)' "$work/windows" |
    tee "$work/otherwise" | wc -l)" 0
sed 's/^/    CPU|vector|counted|least|most|uncovered stretches: /' "$work/otherwise" | head -20
is "windows where it counted over 20 more for each stretch uncovered" \
    "$(awk -F'|' '$3 > $5 + 20 * $6' "$work/windows" | wc -l)" 0
echo "# windows without an uncovered stretch: $(awk -F'|' '$6 == 0' "$work/windows" | wc -l)"
at_most "widest window, in softirqs" "$(awk -F'|' '$5 - $4 > m { m = $5 - $4 } END { print m + 0 }' "$work/windows")" \
    20000
finish
