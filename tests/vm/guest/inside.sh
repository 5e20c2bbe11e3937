#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Process 1 of a guest, once its root is there: runs the command that boot.sh left in the shared directory, leaves its
# output and exit status there, and switches the guest off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
# For the tests: where to leave what the host shall see; and that this machine is slow, and its own.
export NT_EMULATED=1 NT_GUEST_OUT=/mnt
cd "$1" || exit
bash /mnt/command >/mnt/output 2>&1 </dev/null
echo $? >/mnt/status.new
dmesg >/mnt/dmesg 2>/dev/null
mv /mnt/status.new /mnt/status
sync
echo o >/proc/sysrq-trigger
# Process 1 must not end before the machine does.
sleep 60
