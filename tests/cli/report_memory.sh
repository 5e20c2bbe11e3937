#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Importing takes memory for the CPUs, not for the length of the tape: three times the tape, the same memory. `latency`,
# percentile() and the export to Prometheus take none for samples: what has no room is in a temporary file.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
built build/tools/rusage
for ms in 1500 4500; do
    build/tools/make_tape chunks "$work/$ms.tape" $ms
    holds "import of $ms ms" build/tools/rusage "$work/$ms.rusage" build/nettape-report import "$work/$ms.tape" \
        -o "$work/$ms.db"
done
read -r _ _ _ short <"$work/1500.rusage"
read -r _ _ _ long <"$work/4500.rusage"
echo "peak memory: $short KiB, and $long KiB for three times the tape; databases: $(stat -c %s "$work/1500.db" \
    "$work/4500.db" | xargs) bytes"
# SQLite's cache is 32 MiB and full in both.
holds "memory does not grow with the tape" test $((long)) -lt $((short + 2048))

# peak_kib SAMPLES COMMAND...: of that command on a database of so many samples
peak_kib() {
    local n=$1
    shift
    [[ -e $work/$n.samples ]] || {
        cp "$work/1500.db" "$work/$n.samples"
        sqlite3 "$work/$n.samples" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $n)
            INSERT INTO skb_latency SELECT 1, i, 0, 'udp-start', i * 7919 % 1000003, i, NULL, NULL, NULL, 100, 0, 1, '',
                NULL FROM n"
    }
    if [[ $1 == percentiles ]]; then
        set -- query "$work/$n.samples" "SELECT percentile(latency_ns, 0.99) FROM skb_latency"
    else
        set -- "$@" "$work/$n.samples"
    fi
    build/tools/rusage "$work/rusage" build/nettape-report "$@" >/dev/null
    awk '{ print $4 }' "$work/rusage"
}
command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
if command -v sqlite3 >/dev/null; then
    few=$(peak_kib 100000 latency) many=$(peak_kib 1100000 latency)
    echo "latency: $few KiB, and $many KiB for a million samples more"
    holds "latency takes no memory for samples" test $((many)) -lt $((few + 2048))
    few=$(peak_kib 100000 percentiles) many=$(peak_kib 2300000 percentiles)
    echo "percentile: $few KiB, and $many KiB for two million samples more"
    # The first million of a group are in memory: there is room for half as many again, 8 bytes each.
    holds "so does percentile" test $((many)) -lt $((few + (1 << 20) * 12 / 1024 + 2048))
    few=$(peak_kib 100000 export prometheus) many=$(peak_kib 1100000 export prometheus)
    echo "export prometheus: $few KiB, and $many KiB"
    holds "the export takes no memory for samples" test $((many)) -lt $((few + 2048))
fi
finish
