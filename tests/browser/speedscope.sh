#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of speedscope's own page, for tests of `flame --folded`. Fails with a sentence if it is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/npm.sh
source tests/npm.sh
dir=build/tmp/speedscope/1.25.0
from_npm speedscope $dir unpack "speedscope@${dir##*/}" package/dist/release package/LICENSE
echo "$PWD/$dir/package/dist/release/index.html"
