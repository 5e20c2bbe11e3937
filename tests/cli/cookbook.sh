#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each question of docs/cookbook.md runs, with nettape-report and, where it can, with plain sqlite3, and gives what the
# text promises; so do its commands.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cookbook.sh
source tests/cookbook.sh

make_tape loss
report 0 import "$work/loss.tape" -o "$work/c.db"
report 0 import tests/golden/v1-samples.tape -o "$work/samples.db"
report 0 import tests/golden/v1-stacks.tape -o "$work/stacks.db"
report 0 import tests/golden/v1-charges.tape -o "$work/charges.db"
cookbook_questions "$work"
# The columns that each answer has at least.
columns=("" at_most_percent percent percent percent longest_ns mean_ns recv_bytes bytes ns_per_megabyte
    network_percent times percent p99_ns p99_wait_ns longest_queue packets mean_bytes p99_ns times mean_cpu_ns ops
    preempted migrations records cpu_ns unnamed at_most_ns ns_per_packet drawn)
for n in {1..29}; do
    [[ -e $work/$n.sql ]] || { bad "question $n has no query"; continue; }
    db=$work/c.db
    if grep -q skb_ "$work/$n.sql"; then db=$work/samples.db; fi
    if grep -q 'rx_cost\|net_cost_flow' "$work/$n.sql"; then db=$work/charges.db; fi
    if grep -q 'net_cost_stage\|FROM symbol\|FROM stack_sample' "$work/$n.sql"; then db=$work/stacks.db; fi
    report 0 query "$db" -f "$work/$n.sql" --csv
    has "question $n has a column ${columns[n]}" ",$(head -1 <<<"$out")," ",${columns[n]},"
    if (($(wc -l <<<"$out") > 1)); then ok "question $n has an answer"; else bad "question $n has no answer"; fi
    if command -v sqlite3 >/dev/null && ! grep -q percentile "$work/$n.sql"; then
        plain=$(sqlite3 -readonly -csv -header "$db" <"$work/$n.sql" 2>&1 | tr -d '\r"' | wc -l) || true
        is "question $n has as many rows in plain sqlite3" "$plain" "$(wc -l <<<"$out")"
    fi
done
is "questions" "$(grep -c '^```sql' docs/cookbook.md)" 29

# Its commands, on the tape of samples; what follows a pipe is not ours.
ln -s "$PWD/tests/golden/v1-samples.tape" "$work/demo.tape"
ln -s "$PWD/tests/golden/v1-stacks.tape" "$work/busy.tape"
echo "4f0c91756358 web" >"$work/names.txt"
commands=0
while read -r line; do
    line=${line/haproxy/responder} # that the tape has
    read -ra words <<<"${line%%|*}"
    (cd "$work" && "$REPORT" "${words[@]:1}" >/dev/null 2>err) || bad "$line: $(<"$work/err")"
    commands=$((commands + 1))
done < <(grep -o '^    nettape-report .*' docs/cookbook.md)
is "commands" "$commands" 22
finish
