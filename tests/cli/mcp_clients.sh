#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nettape-report mcp with the protocol's official clients (tests/mcp/clients.mjs).
# check-all: it needs packages of npm
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v node >/dev/null || skip "no node: make check-all installs it"
clients=$(bash tests/mcp/clients.sh 2>"$work/why") || skip "$(tail -1 "$work/why")"
make_tape samples
got=$(node tests/mcp/clients.mjs "$clients" "$REPORT" "$work/samples.tape" 2>&1) || true
is "the official clients" "$got" "sdk: all is well
client: all is well
client, 2026-07-28: all is well
client, either: all is well"
finish
