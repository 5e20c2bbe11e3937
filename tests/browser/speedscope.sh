#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of speedscope's own page, for tests of `flame --folded`. Fails with a sentence if it is missing. The
# page comes once from speedscope's npm package, which is unpacked into build/ and not installed. It is fetched if
# NT_FETCH is set and NO_INSTALL is not.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/retry.sh
source tests/retry.sh
version=1.25.0
dir=build/tmp/speedscope
page=$dir/$version/package/dist/release/index.html
if [[ ! -s $page ]]; then
    [[ ${NT_FETCH:-} && -z ${NO_INSTALL:-} ]] || { echo "speedscope is missing: make check-all fetches it" >&2;
        exit 1; }
    command -v npm >/dev/null ||
        { echo "npm is not installed, which fetches speedscope: make check-all installs it" >&2; exit 1; }
    mkdir -p "$dir"
    new=$(mktemp -d "$dir/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    if ! (cd "$new" && retry npm pack --loglevel error "speedscope@$version" && tar -xzf "speedscope-$version.tgz" \
        package/dist/release package/LICENSE) >"$dir/log" 2>&1; then
        echo "speedscope cannot be had from npm: $(head -1 "$dir/log")" >&2
        exit 1
    fi
    # Under its name it is whole. Another test may have been faster.
    rm "$new/speedscope-$version.tgz"
    mv -T "$new" "$dir/$version" 2>/dev/null || [[ -s $page ]]
fi
echo "$PWD/$page"
