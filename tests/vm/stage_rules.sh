#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Rules of report/symbols/stages.txt match functions of a tested kernel: in a guest, this leaves the kernel's functions,
# by its own table. Once all guests are done, check-vm.sh compares the rules with those of all kernels
# (tests/vm/guest/stage_rules.sh).
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ -n ${NT_GUEST_OUT:-} ]] || skip "only in a guest of 'make check-vm': its functions are compared on the host"

awk '$2 ~ /[tT]/ { print $3 }' /proc/kallsyms >"$NT_GUEST_OUT/functions.new"
at_least "functions" "$(wc -l <"$NT_GUEST_OUT/functions.new")" 10000
mv "$NT_GUEST_OUT/functions.new" "$NT_GUEST_OUT/functions"
finish
