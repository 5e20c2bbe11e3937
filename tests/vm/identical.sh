#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reports depend on the tape alone, not on the kernel that they are made on: in a guest, this leaves a tape and what
# `summary`, `info` and an import of it give there. check-vm.sh makes them again on the host and compares.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/../live/lib.sh"
[[ -n ${NT_GUEST_OUT:-} ]] || skip "only in a guest of 'make check-vm': its reports are compared with the host's"
needs_recorder
needs_netns

recording_start "$work/guest.tape"
"${in_a[@]}" "$tools/sockmatrix" 3 >/dev/null
recording_stop
rm -rf "$NT_GUEST_OUT/identical"
mkdir "$NT_GUEST_OUT/identical"
cp -r "$work/guest.tape" "$NT_GUEST_OUT/identical/"
succeeds "check of the tape" "$report" check "$work/guest.tape"
succeeds "the reports" bash tests/vm/guest/reports.sh "$work/guest.tape" "$work/reports"
cp -r "$work/reports" "$NT_GUEST_OUT/identical/there"
at_least "lines of the database's dump" "$(wc -l <"$work/reports/import.sql")" 1000
finish
