#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of a promtool, Prometheus' checker of the format that `export prometheus` writes; fails with a sentence if there is
# none. Where the program is not installed it is taken out of Debian's package prometheus, which is not installed: that would
# start a server. NO_INSTALL=1 forbids that too.
set -euo pipefail
cd "$(dirname "$0")/.."
if command -v promtool; then
    exit 0
fi
dir=build/tmp/promtool
if [[ -x $dir/usr/bin/promtool ]]; then
    echo "$PWD/$dir/usr/bin/promtool"
    exit 0
fi
[[ -z ${NO_INSTALL:-} ]] || { echo "promtool is not installed, and NO_INSTALL forbids to fetch it" >&2; exit 1; }
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "promtool is not installed" >&2
    exit 1
fi
mkdir -p "$dir"
(
    cd "$dir"
    apt-get download prometheus >log 2>&1 || { apt-get update && apt-get download prometheus; } >log 2>&1
    dpkg-deb --fsys-tarfile prometheus_*.deb | tar -xf - ./usr/bin/promtool
    rm -f prometheus_*.deb
) >&2 || { echo "promtool is not installed, and the package prometheus cannot be had" >&2; exit 1; }
echo "$PWD/$dir/usr/bin/promtool"
