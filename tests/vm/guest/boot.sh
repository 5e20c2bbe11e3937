#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots a kernel in QEMU, by software emulation, with this machine's files as its root, and runs a command there. One of
# arm64 has those of root.sh, and for build/ what `make check-vm` built for it in build/arm64.
#
#   tests/vm/guest/boot.sh [-c CPUS] [-m MIB] [-t SECONDS] [-a KERNEL_ARGUMENTS] [-i] SERIES OUT -- COMMAND...
#
# SERIES as for kernel.sh. The command is a line of shell; it runs in the project's directory as root, and sees the
# directory OUT as /mnt (NT_GUEST_OUT). Its output is in OUT/output while it runs, the kernel's messages in OUT/console
# and OUT/dmesg. Files that it writes elsewhere are gone with the guest. Exit status: the command's; 125 if the guest
# did not come up or did not end in time; 77 where there is no such kernel, and a line that says so.
#
# -i: the guest's clock counts its instructions, one a nanosecond, so that nothing else on this host shows in its times;
# it runs some ten times as slowly.
#
# The emulation is plain software on purpose: /dev/kvm may be there on a host where it cannot run a stock kernel. It
# runs the guest's CPUs in turns: with a thread for each, QEMU (7.2 at least) may keep what it has translated of code
# that another CPU has changed since, and a tracepoint that is switched on or off under load brings the guest down
# ("Oops: int3").
set -euo pipefail
cd "$(dirname "$0")/../../.."
cpus=2 memory=2048 limit=600 arguments='' clock=()
while getopts c:m:t:a:i flag; do
    case $flag in
    c) cpus=$OPTARG ;;
    m) memory=$OPTARG ;;
    t) limit=$OPTARG ;;
    a) arguments=$OPTARG ;;
    i) clock=(-icount shift=0) ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [[ $# -lt 4 || $3 != -- ]]; then
    sed -n '6p' "$0" >&2
    exit 2
fi
series=$1 out=$2
shift 3
kernel=$(bash tests/vm/guest/kernel.sh "$series") || {
    echo "$kernel"
    exit 77
}
mkdir -p "$out"
out=$(realpath "$out")
rm -f "$out"/{status,console,dmesg}
: >"$out/output"  # not a new file: somebody may be reading along
printf '%s\n' "$*" >"$out/command"

# Without what only makes the emulator slower, all takes a tenth to a fifth less: it copies a byte at a time where the
# CPU says that it copies bytes fast (erms), ends a block at each access to user memory (smap), and walks a level more
# (la57).
machine=(qemu-system-x86_64 -M q35 -cpu "max,erms=off,smap=off,la57=off") console=ttyS0 root=/
if [[ $series == *-arm64 ]]; then
    machine=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on") console=ttyAMA0
    root=$(bash tests/vm/guest/root.sh)
    arguments+=" nettape.build=build/arm64"
fi
share() {
    echo "-fsdev local,id=$1,path=$2,security_model=none,multidevs=remap$3" \
        "-device virtio-9p-pci,fsdev=$1,mount_tag=$1"; }
project="nettape.project=$PWD nettape.modules=${kernel#"$PWD"/}/lib/modules"
# shellcheck disable=SC2046
timeout --kill-after=5 "$limit" "${machine[@]}" -accel tcg,thread=single "${clock[@]}" -smp "$cpus" \
    -m "$memory" -nographic -no-reboot -nic none -kernel "$kernel/vmlinuz" -initrd "$kernel/initrd" \
    -append "console=$console quiet panic=-1 tsc=reliable mitigations=off $project $arguments" \
    $(share root "$root" ,readonly=on) $(share project "$PWD" ,readonly=on) $(share out "$out" '') \
    >"$out/console" 2>&1 </dev/null || true
if [[ ! -e $out/status ]]; then
    echo "the guest $series gave no result within $limit s; the end of its console:" >&2
    tail -5 "$out/console" >&2
    exit 125
fi
exit "$(cat "$out/status")"
