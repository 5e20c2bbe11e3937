#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether Perfetto's own SQL finds in a trace what nettape's finds in the database of the same tape, to the nanosecond.
#
#   tests/perfetto/compare.sh TRACE DB
#
# Prints a line for each question: "same NAME ROWS", or "differs NAME" and the lines. Then defects that Perfetto found:
# "defect NAME CPU SEVERITY VALUE"; a CPU with losses has a known one, which is no line. Exit status 0: all same and no
# defect.
set -euo pipefail
cd "$(dirname "$0")/../.."
trace=$1 db=$2
engine=$(bash tests/perfetto/engine.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
    printf -- '-- defects\nSELECT 1\n'
    cat tests/perfetto/perfetto.sql
} >"$work/queries"
node tests/perfetto/trace_processor.mjs "$engine" "$trace" "$work/queries" >"$work/perfetto"
sqlite3 -batch -noheader -readonly -separator '|' "$db" <tests/perfetto/nettape.sql | grep -vE '^flows\|0\|$' |
    sort >"$work/nettape.all" || true
grep -v '^defects|' "$work/perfetto" | grep -vE '^flows\|0\|$' | sort >"$work/perfetto.all" || true

status=0
for name in $(sed -n 's/^-- \([a-z_]*\)$/\1/p' tests/perfetto/perfetto.sql); do
    grep "^$name|" "$work/nettape.all" >"$work/ours" || true
    grep "^$name|" "$work/perfetto.all" >"$work/theirs" || true
    if cmp -s "$work/ours" "$work/theirs"; then
        echo "same $name $(wc -l <"$work/ours")"
    else
        echo "differs $name"
        { diff -U0 --label nettape --label perfetto "$work/ours" "$work/theirs" || true; } | tail -n +3 | head -20
        status=1
    fi
done
# Losses of events are told to Perfetto, and by it, CPU by CPU.
sqlite3 -batch -noheader -readonly "$db" "SELECT DISTINCT 'defects|ftrace_cpu_has_data_loss|' || cpu || '|data_loss|1'
    FROM loss
    WHERE kind NOT IN ('latency', 'drop', 'retransmit', 'wakeup', 'stack_sample', 'raise',
        'block_io', 'transmit', 'mem_rss', 'page_fault', 'kmem')" | sort >"$work/known"
grep '^defects|' "$work/perfetto" | sort >"$work/found" || true
if ! cmp -s "$work/known" "$work/found"; then
    comm -13 "$work/known" "$work/found" | sed 's/^defects|/defect /; s/|/ /g'
    comm -23 "$work/known" "$work/found" | sed 's/^defects|/not told: /; s/|/ /g'
    status=1
fi
exit $status
