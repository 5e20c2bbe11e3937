#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's newest kernel has what the BPF programs read and where they attach: by its types, taken out of its package.
# check-all: it downloads a kernel, which is not the machine's
#
# tests/golden/kernel_types.txt has what the programs depend on beside the fields that they read, by the newest kernel
# that the tree knows. A newer one that differs skips the test: an upload to Debian must not fail a tree that has not
# changed. UPDATE=1 makes the kernel known: look at each line that changed, and whether the programs do right by it.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
known=tests/golden/kernel_types.txt
object=build/bpf/nettape.o

[[ $(uname -m) == x86_64 ]] || skip "the kernel is one for x86-64, this machine is $(uname -m)"
for tool in python3 zstd; do command -v $tool >/dev/null || skip "needs $tool"; done
make -s "$object" build/tools/kernel_types
# Without NT_FETCH, what is there.
kernel=$([[ ${NT_FETCH:-} ]] || export NO_INSTALL=1
    bash tests/vm/guest/kernel.sh --image newest) || skip "${kernel:-no kernel}"
version=$(cut -d. -f1,2 "$kernel/release")
known_version=$(sed -n '1s/^# Linux //p' "$known")
echo "Linux $(<"$kernel/release")"

is_newer() {
    [[ $version != "$known_version" && $(printf '%s\n' "$version" "$known_version" | sort -V) == *"$version" ]]
}

# differs WHAT: fails the test, or skips it
differs() {
    ! is_newer || skip "Linux $version is newer than the tree knows, and differs: $1"
    bad "Linux $version differs from what the tree knows of $known_version: $1"
}

# compare TYPES: $difference says how a kernel's types differ from what the tree wants, a line each
compare() {
    local status=0
    build/tools/kernel_types points "$object" "$1" >"$work/points"
    build/tools/kernel_types faults "$object" "$1" >"$work/faults" || status=$?
    [[ $status == [01] ]]
    difference=$(cat "$work/faults"; diff <(sed 1d "$known") "$work/points" | grep '^[<>]') || true
}

python3 tests/tools/kernel_btf.py "$kernel/vmlinuz" "$work/types" || { differs "its types cannot be read"; finish; }
if [[ ${UPDATE:-} ]]; then
    compare "$work/types"
    { echo "# Linux $version"; cat "$work/points"; } >"$known"
    known_version=$version
fi
compare "$work/types"
if [[ $difference ]]; then differs "${difference//$'\n'/; }"; else ok "it has what the programs read and attach to"; fi

# A field that is read under another name, and one that is asked for.
LC_ALL=C sed -z 's/^on_cpu$/on_cqu/; s/^tstamp_type$/tstamp_kind/' "$work/types" >"$work/renamed"
compare "$work/renamed"
has "a field that has another name" "$difference" "task_struct.on_cpu: the kernel has it not"
has "a field that is asked for and has another name" "$difference" "> field sk_buff.tstamp_type: none"
finish
