#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs what building and testing nettape needs and this machine does not have, after naming it.
#
#   tests/setup.sh [build] [load] [test] [browser] [vm] [perfetto]     default: the first three
#
# Debian and Ubuntu; elsewhere it names what is missing. NO_INSTALL=1: installs nothing, anywhere. What is
# there already, from whatever source, is left as it is: each line below is a test for the thing, not for a package.
set -euo pipefail

has_header() { printf '#include <%s>\n' "$1" | "${CC:-cc}" -E -o /dev/null - 2>/dev/null; }
has_command() { command -v "$1" >/dev/null 2>&1 || [[ -x /usr/sbin/$1 || -x /sbin/$1 ]]; }
# Ubuntu's /usr/sbin/bpftool is a script that works only with the tools of the running kernel; any version will do.
has_bpftool() {
    local tool
    for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
        "$tool" version >/dev/null 2>&1 && return 0
    done
    return 1
}

# Other distributions, and Google, have it under other names.
has_chromium() { has_command chromium || has_command chromium-browser || has_command google-chrome; }

# group | package | test
needs='
build gcc            has_command cc
build make           has_command make
build libc6-dev      has_header stdio.h
build clang          has_command clang
build bpftool        has_bpftool
build libbpf-dev     has_header bpf/libbpf.h
build libelf-dev     has_header libelf.h
build zlib1g-dev     has_header zlib.h
build libiberty-dev  has_header libiberty/demangle.h
build liblz4-dev     has_header lz4.h
build libsqlite3-dev has_header sqlite3.h
load  iproute2       has_command ip
load  iperf3         has_command iperf3
test  libcmocka-dev  has_header cmocka.h
test  sqlite3        has_command sqlite3
test  ethtool        has_command ethtool
test  elfutils       has_command eu-addr2line
test  nftables       has_command nft
test  wireguard-tools has_command wg
browser chromium     has_chromium
browser nodejs       has_command node
browser npm          has_command npm
vm    qemu-system-x86 has_command qemu-system-x86_64
vm    busybox-static has_command busybox
vm    cpio           has_command cpio
vm    zstd           has_command zstd
vm    xz-utils       has_command xz
vm    kmod           has_command depmod
vm    apt            has_command apt-get
perfetto nodejs      has_command node
perfetto npm         has_command npm
perfetto protobuf-compiler has_command protoc
'

missing_packages() {
    local group package test
    while read -r group package test; do
        [[ -n $group && " $* " == *" $group "* ]] || continue
        $test || printf '%s\n' "$package"
    done <<<"$needs"
}

# What is missing, under the names that this distribution has: Ubuntu before 25.10 has no package bpftool.
package_names() {
    local package
    for package in "$@"; do
        if [[ $package == bpftool ]] && ! apt-cache show bpftool 2>/dev/null | grep '^Filename:' >/dev/null; then
            echo linux-tools-common linux-tools-generic
        else
            echo "$package"
        fi
    done
}

groups=${*:-build load test}
# shellcheck disable=SC2086  # words on purpose, here and below
missing=$(missing_packages $groups | tr '\n' ' ')
if [[ -z $missing ]]; then
    exit 0
fi
if [[ -n ${NO_INSTALL:-} ]]; then
    echo "nettape: not installed: $missing(NO_INSTALL is set, so nothing was installed)" >&2
    exit 1
fi
if ! command -v apt-get >/dev/null; then
    echo "nettape: please install what your distribution has for these Debian packages: $missing" >&2
    exit 1
fi
if [[ $(id -u) != 0 ]]; then
    echo "nettape: packages are missing; as root: apt-get install --no-install-recommends $missing" >&2
    exit 1
fi
echo "nettape: these packages will be installed (NO_INSTALL=1 forbids it): $missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# apt COMMAND...: quiet unless it fails
apt() {
    apt-get "$@" >"$log" 2>&1 && return
    tail -20 "$log" >&2
    echo "nettape: apt-get $1 failed" >&2
    exit 1
}
apt update
# shellcheck disable=SC2086
packages=$(package_names $missing | tr '\n' ' ')
[[ $packages == "$missing" ]] || echo "nettape: under the names that this distribution has: $packages"
# shellcheck disable=SC2086
apt install -y --no-install-recommends $packages
echo "nettape: installed"
# shellcheck disable=SC2086
missing=$(missing_packages $groups | tr '\n' ' ')
if [[ -n $missing ]]; then
    echo "nettape: installed, but these do not work: $missing" >&2
    exit 1
fi
