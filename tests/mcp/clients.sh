#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints a directory with the official clients of the Model Context Protocol for Node.js: sdk, which begins with a
# handshake, and client, which also speaks the revisions without one. Fails with a sentence if they are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/npm.sh
source tests/npm.sh
sdk=1.32.2 client=2.4.0
dir=build/tmp/mcp/$sdk-$client
from_npm "the client of MCP" $dir install "@modelcontextprotocol/sdk@$sdk" "@modelcontextprotocol/client@$client"
echo "$PWD/$dir"
