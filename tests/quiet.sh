#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Waits until this machine is quiet: for one second its CPUs idle for at least three quarters of their time.
#
#   tests/quiet.sh SECONDS      exit status 1 if it was not quiet within SECONDS
set -euo pipefail

# All ticks of /proc/stat's CPUs, and those of them that were idle. Stolen time is not idle.
ticks() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all, $5 + $6 }' /proc/stat; }

read -r all idle < <(ticks)
for ((second = 0; second < $1; second++)); do
    sleep 1
    read -r all_now idle_now < <(ticks)
    if ((4 * (idle_now - idle) >= 3 * (all_now - all))); then exit 0; fi
    all=$all_now idle=$idle_now
done
exit 1
