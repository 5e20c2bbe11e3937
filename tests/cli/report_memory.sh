#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Importing takes memory for the CPUs, not for the length of the tape: five times the tape, the same memory.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make -s build/nettape-report build/tools/rusage
for ms in 1500 7500; do
    build/tools/make_tape chunks "$work/$ms.tape" $ms
    holds "import of $ms ms" build/tools/rusage "$work/$ms.rusage" build/nettape-report import "$work/$ms.tape" -o "$work/$ms.db"
done
read -r _ _ _ short <"$work/1500.rusage"
read -r _ _ _ long <"$work/7500.rusage"
echo "peak memory: $short KiB, and $long KiB for five times the tape; databases: $(stat -c %s "$work/1500.db" "$work/7500.db" | xargs) bytes"
# SQLite's cache is 32 MiB and full in both.
holds "memory does not grow with the tape" test $((long)) -lt $((short + 2048))
finish
