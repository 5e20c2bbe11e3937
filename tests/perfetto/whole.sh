#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether a trace is whole, and protoc, where it is installed, knows every field in it: tests/perfetto/whole.sh TRACE
#
# Exit status 0 if so, else it says what is wrong.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! build/tools/perfetto_cat "$1" >"$work/plain"; then
    echo "the trace is not whole"
    exit 1
fi
command -v protoc >/dev/null || exit 0
protoc --decode=nettape.Trace -Itests/perfetto subset.proto <"$work/plain" >"$work/decoded"
if grep -E '^ *[0-9]+[: ]' "$work/decoded"; then
    echo "fields that are not known: they are above"
    exit 1
fi
