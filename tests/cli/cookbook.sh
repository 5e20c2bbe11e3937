#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each of the twenty questions of docs/cookbook.md runs, with nettape-report and with plain sqlite3, and gives what the text promises.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

make_tape loss
report 0 import "$work/loss.tape" -o "$work/c.db"
awk -v dir="$work" '/^\*\*[0-9]+\./ { n = $1; gsub(/[^0-9]/, "", n) } /^```sql/ { on = 1; file = dir "/" n ".sql"; next } /^```/ { on = 0 } on { print > file }' \
    docs/cookbook.md
# The columns that each answer has at least.
columns=("" percent at_most_percent percent longest_ns mean_ns percent recv_bytes bytes ns_per_megabyte times network_percent mean_bytes p99_ns times
    mean_cpu_ns ops preempted migrations records cpu_ns)
for n in {1..20}; do
    [[ -e $work/$n.sql ]] || { bad "question $n has no query"; continue; }
    report 0 query "$work/c.db" -f "$work/$n.sql" --csv
    has "question $n has a column ${columns[n]}" ",$(head -1 <<<"$out")," ",${columns[n]},"
    if (($(wc -l <<<"$out") > 1)); then ok "question $n has an answer"; else bad "question $n has no answer"; fi
    if command -v sqlite3 >/dev/null; then
        plain=$(sqlite3 -readonly -csv -header "$work/c.db" <"$work/$n.sql" 2>&1 | tr -d '\r"' | wc -l) || true
        is "question $n has as many rows in plain sqlite3" "$plain" "$(wc -l <<<"$out")"
    fi
done
is "questions" "$(grep -c '^```sql' docs/cookbook.md)" 20
finish
