#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs all tests: those of check.sh, with browsers and the programs that they compare with, then those of check-vm.sh.
# `make check-all` calls it.
#
#   tests/check-all.sh [PATTERN]      only the tests whose name (live/stop, 6.12/live/stop) matches the regular
#                                     expression
#
# The last line is the sum of both: "in all: N passed, N failed, N skipped". Exit status 0 if none failed, 2 if no test
# has such a name.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/judge.sh
source tests/judge.sh
pattern=${1:-}
# Of a test that is named, no guest is left out.
short=$([[ $pattern ]] || echo --short)

# count_of SCRIPT [OPTION]: how many of its tests have such a name
count_of() { { bash "$@" --list "$pattern" 2>/dev/null || true; } | wc -l; }
here=$(count_of tests/check.sh)
guests=$(count_of tests/check-vm.sh ${short:+"$short"})
if [[ $((here + guests)) == 0 ]]; then
    echo "nettape: no test's name matches '$pattern': make check-list names them" >&2
    exit 2
fi
echo "nettape: $here tests, and $guests in guests"
if [[ -z $pattern ]]; then
    echo "nettape: they take about half an hour on two CPUs"
    echo "nettape: beside packages they download into build/, once: Perfetto's engine, speedscope's page,"
    echo "nettape: clients of MCP, Prometheus and three kernels; about 400 MB, 900 MB on disk"
fi
bash tests/setup.sh build serve load test
# Where these cannot be had, the tests that need them say so.
bash tests/setup.sh browser perfetto perf vm || true

status=0 results=()
if [[ $here != 0 ]]; then
    bash tests/check.sh --all "$pattern" || status=1
    results+=(build/tmp/check/results)
fi
if [[ $guests != 0 ]]; then
    bash tests/check-vm.sh ${short:+"$short"} "$pattern" || status=1
    results+=(build/vm/results)
fi
sum_of_results "in all: " "${results[@]}"
exit $status
