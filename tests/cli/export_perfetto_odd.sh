#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# export perfetto refuses impossible databases with a sentence and leaves no file. Odd rows in a changed database lose
# only themselves.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/perfetto/lib.sh
source tests/perfetto/lib.sh
for scenario in hand loss chunks; do
    make_tape $scenario
    "$PLAIN" import "$work/$scenario.tape" -o "$work/$scenario.db" >"$work/import" 2>&1
done
"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/stacks.db" >"$work/import" 2>&1

# Misuse, and what cannot be exported.
report 2 export perfetto "$work/hand.tape"
has "no file" "$err" "needs -o FILE"
report 2 export perfetto "$work/hand.tape" -o "$work/x" --by cpu
has "no groups here" "$err" "option '--by' is not for 'export perfetto'"
report 2 export perfetto "$work/hand.tape" -o "$work/x" --cpu one
has "no CPU" "$err" "--cpu one: give a list of CPUs"
report 2 export flamegraph "$work/hand.tape" -o "$work/x"
has "the formats there are" "$err" "'export' needs a format: html, perfetto or prometheus"
for format in html perfetto prometheus; do
    report 2 export $format "$work/chunks.tape" -o "$work/x" --from 30ms --to 20ms
    has "no time for $format" "$err" "--from is not before --to"
done
report 1 export perfetto "$work/none.tape" -o "$work/x"
report 1 export perfetto "$work/hand.tape" -o "$work/x" --from 2 --to 3
has "outside the recording" "$err" "nothing of the recording lies between"
report 1 export perfetto "$work/hand.tape" -o "$work/x" --process nobody
has "a process that is not there" "$err" "there is no process nobody"
report 1 export perfetto "$work/hand.tape" -o "$work/x" --cpu 7-9
has "CPUs that are not there" "$err" "the recording has none of these CPUs: it had 2."
holds "no file of what is not there" test ! -e "$work/x"
cp "$work/hand.db" "$work/two.db"
"$PLAIN" import --append "$work/loss.tape" -o "$work/two.db" >/dev/null
report 1 export perfetto "$work/two.db" -o "$work/x"
has "two hosts' clocks" "$err" "it has several sessions"
sqlite3 "$work/two.db" "DELETE FROM session"
report 1 export perfetto "$work/two.db" -o "$work/x"
has "no session" "$err" "import a tape first"
if [[ -e /dev/full ]]; then
    report 1 export perfetto "$work/chunks.tape" -o /dev/full
    has "a disk that is full" "$err" "/dev/full cannot be written"
fi
# changed SENTENCE SQL: a database that somebody changed so is refused with it
changed() {
    cp "$work/hand.db" "$work/changed.db"
    sqlite3 "$work/changed.db" "PRAGMA writable_schema = ON; $2"
    report 1 export perfetto "$work/changed.db" -o "$work/x"
    has "refused: $2" "$err" "$1"
    holds "no file of it" test ! -e "$work/x"
}
changed "rows of cpu_slice overlap or are not in order" "UPDATE cpu_slice SET ts = ts - 1 WHERE rowid = 5"
changed "rows of sched_slice overlap or are not in order" "UPDATE sched_slice SET dur = dur + 1 WHERE rowid = 1"
changed "there is a CPU 1024, and Perfetto takes none above 1023: choose with --cpu" "UPDATE softirq_slice
    SET cpu = 1024"
changed "there is a CPU -1" "UPDATE sock_op SET cpu = -1"
changed "a row without ts" "UPDATE sock_op SET ts = 'noon'"
changed "holds times that nettape-report did not write" "UPDATE session SET start_ts = -5"
changed "holds times that nettape-report did not write" "UPDATE session SET bucket_ns = 0"
# A view in a table's place may go on for ever.
changed "its table symbol is not as nettape-report made it" "DROP TABLE symbol; CREATE VIEW symbol AS
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT 1 AS session_id, i AS id, 'kernel' AS kind, 'f' AS name, 0 AS address, '' AS module, '' AS build_id,
        0 AS offset, '' AS path FROM n"
cp "$work/hand.db" "$work/odd.db"
sqlite3 "$work/odd.db" "UPDATE thread SET tid = -5; UPDATE process SET pid = 99999999999, ppid = -1;
    UPDATE softirq_slice SET ts = 9223372036854775807;
    UPDATE irq_slice SET name = CAST(x'61ff0a' AS TEXT), dur = -1;
        UPDATE sock_op SET utid = 999, dur = 9223372036854775807;
    UPDATE clock_snapshot SET boot_ns = 9223372036854775807; UPDATE session SET kernel = 'x', uuid = 'y',
        start_realtime_ns = -1"
report 0 export perfetto "$work/odd.db" -o "$work/odd.pftrace"
is_read "$work/odd.pftrace" "odd numbers and texts"

# whole TRACE: its stack samples, and which of them have no frames
whole() { perfetto "$1" "SELECT count(*), sum(callsite_id IS NULL) FROM perf_sample"; }
# Stacks that nettape-report did not write: one that calls itself, one without a symbol, one with a number that no
# symbol has.
cp "$work/stacks.db" "$work/odd_stacks.db"
sqlite3 "$work/odd_stacks.db" "UPDATE stack SET parent_id = id, symbol_id = -2 WHERE id % 3 = 0;
    UPDATE stack SET symbol_id = 9223372036854775807 WHERE id % 3 = 1;
    UPDATE stack SET symbol_id = NULL WHERE id % 3 = 2"
report 0 export perfetto "$work/odd_stacks.db" -o "$work/odd_stacks.pftrace"
is_read "$work/odd_stacks.pftrace" "odd stacks"
"$REPORT" export perfetto "$work/stacks.db" -o "$work/stacks.pftrace"
[[ -z $engine ]] || is "samples with odd stacks, each with frames" "$(whole "$work/odd_stacks.pftrace")" \
    "$(whole "$work/stacks.pftrace")"
# More stacks than are kept at a time: what was told before is forgotten, and all are found again.
cp "$work/stacks.db" "$work/many_stacks.db"
sqlite3 "$work/many_stacks.db" "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n
    WHERE i < 70100) SELECT i FROM n;
    INSERT INTO stack SELECT 1, i, 2, 'kernel', i % 2 + 1, i % 3 + 1 FROM n;
    INSERT INTO stack_sample(session_id, ts, cpu, utid, owner, context, in_user, stack_id, flags)
        SELECT 1, start_ts + 1000000 + i, 0, 1, 'task', 'task', 0, i, '' FROM n, session;
    UPDATE stack SET depth = 3 WHERE id >= 100 AND parent_id = 2"
report 0 export perfetto "$work/many_stacks.db" -o "$work/many_stacks.pftrace"
is_read "$work/many_stacks.pftrace" "many stacks"
is_same "$work/many_stacks.pftrace" "$work/many_stacks.db" "many stacks"
[[ -z $protoc ]] || is "stacks are told anew" \
    "$(awk '/^packet/ { n = 0 } /sequence_id: 4$/ { n = 1 } n && /sequence_flags: 3/' "$work/decoded" | wc -l)" 2

# Ranges of loss of which one lies in the other: the count of what was lost never goes back.
cp "$work/loss.db" "$work/ranges.db"
sqlite3 "$work/ranges.db" "UPDATE loss SET dur = dur / 2 WHERE kind = 'op'"
report 0 export perfetto "$work/ranges.db" -o "$work/ranges.pftrace"
[[ -z $engine ]] || is "records lost, at last" \
    "$(perfetto "$work/ranges.pftrace" "SELECT DISTINCT t.name, last_value(CAST(value AS INT))
    OVER (PARTITION BY t.name ORDER BY ts, c.id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM counter c
    JOIN track t ON t.id = c.track_id
    WHERE t.name GLOB '*: records' ORDER BY 1")" \
        "$(sqlite3 "$work/ranges.db" "SELECT 'CPU ' || cpu || ': records', sum(count) FROM loss GROUP BY cpu
            ORDER BY 1")"
finish
