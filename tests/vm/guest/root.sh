#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The files of an arm64 guest: Debian 12's packages, downloaded and unpacked below build/vm, never installed. They are
# also what nettape is built against for it.
#
#   tests/vm/guest/root.sh         prints the directory that holds them
#
# The files of an earlier call are used again while this script stays as it is. Exit status 77, and one line that says
# why, where they cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=tests/vm/guest/apt.sh
source tests/vm/guest/apt.sh
root=$PWD/build/vm/root-arm64

# The packages of the guest and its tests, and those that nettape is built with.
packages="base-passwd bash binutils bpftool busybox-static coreutils dash diffutils elfutils ethtool findutils gawk
grep gzip hostname iperf3 iproute2 kmod libbpf-dev libc-bin libc6-dev libcmocka-dev libelf-dev libgcc-12-dev
libiberty-dev libjson-c-dev liblz4-dev libsqlite3-dev mount nftables perl-base procps python3 sed sqlite3 util-linux
zlib1g-dev"

unavailable() {
    echo "$*"
    exit 77
}

# unpack TO: the packages, with all that they depend on, and what their installation would have made of them
unpack() {
    local deb
    mkdir -p "$1" "$1.deb/partial"
    # shellcheck disable=SC2086  # words on purpose
    retry apt-get "${apt_options[@]}" -o "Dir::Cache::archives=$1.deb" install --download-only \
        --no-install-recommends -y $packages >"$1.log" 2>&1
    for deb in "$1.deb"/*.deb; do dpkg-deb -x "$deb" "$1" 2>>"$1.log"; done
    rm -rf "$1.deb"
    cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
    cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
    [[ -e $1/bin/sh ]] || ln -s dash "$1/bin/sh"
    ln -sf gawk "$1/usr/bin/awk"
}

stamp=$(sha256sum tests/vm/guest/root.sh | cut -c1-16)
if [[ ! -e $root/built-$stamp ]]; then
    [[ -z ${NO_INSTALL:-} ]] || unavailable "the files of an arm64 guest are not there, and NO_INSTALL is set"
    echo "nettape: arm64: downloading Debian 12's packages into build/vm (they are not installed)" >&2
    rm -rf "$root" "$root.new"
    # No condition, in which bash would go on after a command that failed.
    trap 'unavailable "the files of an arm64 guest cannot be had: $(tail -1 "$root.new.log")"' EXIT
    use_arm64
    unpack "$root.new" >&2
    touch "$root.new/built-$stamp"
    mv "$root.new" "$root"
    trap - EXIT
fi
echo "$root"
