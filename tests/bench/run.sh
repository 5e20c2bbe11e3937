#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All benches, and their results as one table; `make bench` calls it. BENCH_PAIRS=3 for a quick look, BENCHES="import
# perfetto" for some of them. The verdicts are for the reader: missing a bar is no error here, since on a busy machine
# it means nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash tests/setup.sh build load
make -s -j"$(nproc)" all build/bench/floor build/tools/flood build/tools/flood-measure build/tools/rusage \
    build/tools/insert-rate
if [[ $(id -u) != 0 ]]; then
    echo "nettape: the bench records, which needs root" >&2
    exit 1
fi
mkdir -p build/tmp
BENCH_RESULTS=$(mktemp "$PWD/build/tmp/bench-results.XXXXXX")
export BENCH_RESULTS
trap 'rm -f "$BENCH_RESULTS"' EXIT
echo "nettape: $(uname -srm), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
for bench in ${BENCHES:-overhead napi import perfetto}; do bash "tests/bench/$bench.sh"; done
(
    # Only for bench_table: the file is ours, and the shell that sources the library has its own traps.
    source tests/bench/lib.sh
    bench_table
)
