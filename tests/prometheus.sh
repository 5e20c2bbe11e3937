#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of a program of Prometheus, promtool or prometheus; fails with a sentence if there is none. Where it
# is not installed it is taken out of Debian's package prometheus, which is not installed: that would start a server. It
# is fetched where NT_FETCH says so and NO_INSTALL does not forbid it.
#
#   tests/prometheus.sh promtool|prometheus
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/retry.sh
source tests/retry.sh
program=$1
if command -v "$program"; then
    exit 0
fi
dir=build/tmp/prometheus
if [[ -x $dir/$program ]]; then
    echo "$PWD/$dir/$program"
    exit 0
fi
[[ ${NT_FETCH:-} && -z ${NO_INSTALL:-} ]] || { echo "$program is not installed: make check-all fetches it" >&2;
    exit 1; }
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    echo "$program is not installed" >&2
    exit 1
fi
mkdir -p "$dir"
new=$(mktemp -d "$dir/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
download() { (cd "$new" && apt-get download prometheus) >"$dir/log" 2>&1; }
if ! { download || { apt-get update >"$dir/log" 2>&1 && retry download; }; } || ! dpkg-deb -x "$new"/prometheus_*.deb \
    "$new/root" 2>"$dir/log"; then
    echo "$program is not installed, and the package prometheus cannot be had: $(tail -1 "$dir/log")" >&2
    exit 1
fi
mv "$new"/root/usr/bin/{promtool,prometheus} "$dir/"
echo "$PWD/$dir/$program"
