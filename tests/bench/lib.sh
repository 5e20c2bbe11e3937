# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by the benches. To be sourced first. Results are lines "what<TAB>measured<TAB>bar<TAB>verdict" in $results;
# bench_table prints them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/netns.sh
source tests/netns.sh
# shellcheck source=tests/may_lose.sh
source tests/may_lose.sh

# shellcheck disable=SC2034  # for the benches, like the next two
record=$PWD/build/nettape-record
# shellcheck disable=SC2034
report=$PWD/build/nettape-report
# shellcheck disable=SC2034
tools=$PWD/build/tools
mkdir -p build/tmp
work=$(mktemp -d "$PWD/build/tmp/bench.XXXXXX")
results=${BENCH_RESULTS:-$work/results}
background=()

cleanup() {
    local status=$? pid
    trap - EXIT
    for pid in "${background[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    netns_remove
    for pid in "${background[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

keep() { background+=("$1"); }

# calc EXPRESSION: with awk's arithmetic, 4 significant digits
calc() { awk "BEGIN { printf \"%.4g\", $1 }"; }

# result WHAT MEASURED [BAR]: a bar is ">= N" or "<= N" for the first number in MEASURED
result() {
    local verdict=
    if [[ -n ${3:-} ]]; then
        verdict=$(awk -v got="${2%% *}" -v bar="$3" 'BEGIN {
            split(bar, b, " ")
            print (b[1] == ">=" ? got + 0 >= b[2] + 0 : got + 0 <= b[2] + 0) ? "met" : "MISSED" }')
    fi
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "${3:-}" "$verdict" >>"$results"
    printf '  %s: %s%s\n' "$1" "$2" "${3:+  (bar $3: $verdict)}"
}

# quartiles: of the numbers on standard input, one a line: "MEDIAN (quartiles Q1 .. Q3, N pairs)"
quartiles() {
    sort -g | awk '
        function at(q,    p, i) { p = 1 + (NR - 1) * q; i = int(p);
            return i >= NR ? v[NR] : v[i] + (p - i) * (v[i + 1] - v[i]) }
        { v[NR] = $1 }
        END { if (NR) printf "%.3f (quartiles %.3f .. %.3f, %d pairs)", at(0.5), at(0.25), at(0.75), NR }'
}

bench_table() {
    [[ -s $results ]] || return 0
    echo
    awk -F'\t' '{ w[NR] = $1; m[NR] = $2; b[NR] = $3; v[NR] = $4
                  if (length($1) > lw) lw = length($1); if (length($2) > lm) lm = length($2) }
        END { printf "%-*s  %-*s  %-9s\n", lw, "what", lm, "measured", "bar"
              for (i = 1; i <= NR; i++) printf "%-*s  %-*s  %-9s %s\n", lw, w[i], lm, m[i], b[i], v[i] }' "$results"
}

# ---- a flood, and slices of it that are measured ----

slice_ms=500

# flood_start KIND SIZE: udp or tcp. The receiver's pid is in $receiver.
flood_start() {
    "${in_b[@]}" "$tools/flood" "$1-recv" "$addr_b" 9000 2>/dev/null &
    receiver=$!
    keep $receiver
    sleep 0.2
    "${in_a[@]}" "$tools/flood" "$1-send" "$addr_b" 9000 "$2" 2>/dev/null &
    sender=$!
    keep $sender
    sleep 0.5
}
flood_stop() {
    kill "$sender" "$receiver"
    wait "$sender" "$receiver" 2>/dev/null || true
}

# slice KIND FILE [COMMAND PREFIX...]: measures once, below the prefix
slice() {
    local kind=$1 file=$2
    shift 2
    may_lose "$@" "$tools/flood-measure" "$kind" "$receiver" "$slice_ms" "$file"
    sleep 0.05
}
