#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints a directory with the protocol's official clients for Node.js: sdk, which begins with a handshake, and client,
# which speaks the revisions without one. Fails with a sentence if they are missing. They come once from npm into
# build/, if NT_FETCH is set and NO_INSTALL is not.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/retry.sh
source tests/retry.sh
packages=(@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0)
dir=build/tmp/mcp
if [[ ! -d $dir/clients/node_modules ]]; then
    [[ ${NT_FETCH:-} && -z ${NO_INSTALL:-} ]] || { echo "MCP's clients are missing: make check-all fetches them" >&2;
        exit 1; }
    command -v npm >/dev/null ||
        { echo "npm is not installed, which fetches MCP's clients: make check-all installs it" >&2; exit 1; }
    mkdir -p "$dir"
    new=$(mktemp -d "$dir/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    echo '{"private":true}' >"$new/package.json"
    if ! (cd "$new" && retry npm install --loglevel error --no-audit --no-fund --ignore-scripts "${packages[@]}") \
        >"$dir/log" 2>&1; then
        echo "MCP's clients cannot be had from npm: $(head -1 "$dir/log")" >&2
        exit 1
    fi
    # Under its name it is whole. Another test may have been faster.
    mv -T "$new" "$dir/clients" 2>/dev/null || [[ -d $dir/clients/node_modules ]]
fi
echo "$PWD/$dir/clients"
