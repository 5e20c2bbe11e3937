#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs the missing packages that nettape needs. First it names them, and their size.
#
#   tests/setup.sh [--check] GROUP...      --check, or NO_INSTALL=1: names it only, and how to install it; exit status 1
#
# The groups are in the table below; `build` is record and report, `serve` what nettape-serve needs beside them. It
# installs on Debian and Ubuntu; elsewhere it only names what is missing. A line of the table tests for the thing and
# not for the package: it may have any source. CC, CFLAGS, CLANG and BPFTOOL are as for make.
set -euo pipefail
# shellcheck source=tests/retry.sh
source "$(dirname "$0")/retry.sh"
CC=${CC:-cc} CFLAGS=${CFLAGS:-} CLANG=${CLANG:-clang} BPFTOOL=${BPFTOOL:-}

# shellcheck disable=SC2086  # words on purpose: CC may be "ccache gcc"
runs() { $1 --version >/dev/null 2>&1; }
has_cc() { runs "$CC"; }
has_header() {
    # shellcheck disable=SC2086
    if has_cc; then
        printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | $CC $CFLAGS -E -o /dev/null - 2>/dev/null
    else
        compgen -G "/usr/include/$1" >/dev/null || compgen -G "/usr/include/*/$1" >/dev/null ||
            [[ -e /usr/local/include/$1 ]]
    fi
}
has_command() { command -v "$1" >/dev/null 2>&1 || [[ -x /usr/sbin/$1 || -x /sbin/$1 ]]; }
# shellcheck disable=SC2086
has_clang() { $CLANG -target bpf -x c -c -o /dev/null - </dev/null 2>/dev/null; }
has_fuzzer() {
    # shellcheck disable=SC2086
    $CLANG -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null <<<'int LLVMFuzzerTestOneInput(void) { return 0; }'
}
# Ubuntu's /usr/sbin/bpftool is a script that works only with the tools of the running kernel; any version will do.
has_bpftool() {
    local tool
    for tool in ${BPFTOOL:-bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool}; do
        "$tool" version >/dev/null 2>&1 && return 0
    done
    return 1
}
# Other distributions, and Google, have it under other names.
has_chromium() { has_command chromium || has_command chromium-browser || has_command google-chrome; }

# localedef, of libc-bin, makes locales from these.
has_charmaps() { [[ -d /usr/share/i18n/charmaps ]]; }

# groups | package | test
needs='
record,report gcc        has_cc
record,report make       has_command make
record,report libc6-dev  has_header stdio.h
record clang             has_clang
record bpftool           has_bpftool
record libbpf-dev        has_header bpf/bpf_helpers.h
record,report libelf-dev has_header libelf.h
record,report zlib1g-dev has_header zlib.h
record,report liblz4-dev has_header lz4.h
report libiberty-dev     has_header libiberty/demangle.h
report libsqlite3-dev    has_header sqlite3.h
report libjson-c-dev     has_header json-c/json_tokener.h
serve libmicrohttpd-dev  has_header microhttpd.h
load iproute2            has_command ip
load iperf3              has_command iperf3
test libcmocka-dev       has_header cmocka.h
test sqlite3             has_command sqlite3
test,readme python3      has_command python3
test protobuf-compiler   has_command protoc
test ethtool             has_command ethtool
test patch               has_command patch
test tmux                has_command tmux
test locales             has_charmaps
test curl                has_command curl
test elfutils            has_command eu-addr2line
test nftables            has_command nft
test wireguard-tools     has_command wg
test,readme redis-tools  has_command redis-benchmark
browser,readme chromium  has_chromium
browser,perfetto nodejs  has_command node
browser,perfetto npm     has_command npm
perf,readme linux-perf   runs perf
readme pngquant          has_command pngquant
vm qemu-system-x86       has_command qemu-system-x86_64
vm busybox-static        has_command busybox
vm cpio                  has_command cpio
vm zstd                  has_command zstd
vm xz-utils              has_command xz
vm kmod                  has_command depmod
vm apt                   has_command apt-get
arm64 qemu-system-arm    has_command qemu-system-aarch64
arm64 gcc-aarch64-linux-gnu has_command aarch64-linux-gnu-gcc
fuzz libclang-rt-dev     has_fuzzer
fresh debootstrap        has_command debootstrap
fresh git                has_command git
deb dpkg-dev             has_command dpkg-shlibdeps
'

# missing_packages GROUP...
missing_packages() {
    local wanted=" $* " groups group package test
    wanted=${wanted/ build / record report }
    while read -r groups package test; do
        for group in ${groups//,/ }; do
            [[ $wanted == *" $group "* ]] || continue
            $test || printf '%s\n' "$package"
            break
        done
    done <<<"$needs"
}

# apt knows a version of it.
has_package() { [[ $(LC_ALL=C apt-cache policy "$1") == *"Candidate: "[^\(]* ]]; }

# The packages, under the names that this distribution has.
package_names() {
    local package
    for package in "$@"; do
        if [[ $package == @(bpftool|linux-perf) && $distribution == *ubuntu* ]] && ! has_package "$package"; then
            echo linux-tools-common linux-tools-generic
        else
            echo "$package"
        fi
    done | awk '!seen[$0]++' | paste -sd' '
}

# how_to_install GROUP...
how_to_install() {
    local group deps=yes
    if command -v apt-get >/dev/null; then
        for group in "$@"; do [[ $group == @(build|record|report|serve|load) ]] || deps=; done
        echo "    as root:  apt-get update && apt-get install --no-install-recommends $missing"
        if [[ $deps ]]; then
            echo "    or:       make deps    (it also installs what make demo needs)"
        else
            echo "    or:       bash tests/setup.sh $*"
        fi
    else
        echo "    these are Debian's names: please install what your distribution has for them"
    fi
}

# apt COMMAND...: quiet unless it fails
apt() {
    retry apt-get -o Acquire::Retries=3 "$@" >"$work/log" 2>&1 && return
    tail -20 "$work/log" >&2
    echo "nettape: apt-get $1 failed" >&2
    exit 1
}

# Prints how much installing these packages takes, with those that they need.
sizes() {
    local options=(--assume-no --no-install-recommends -o "Dir::Cache::archives=$work")
    { LC_ALL=C apt-get install "${options[@]}" "$@" 2>/dev/null || true; } | sed -n \
        -e 's/^[0-9]* upgraded, \([0-9]* newly installed\),.*/nettape: packages: \1/p' \
        -e 's/^Need to get \(.*\) of archives\./nettape: to download: \1/p' \
        -e 's/^After this operation, \(.*\) of additional disk space.*/nettape: on disk: \1/p' |
        sed -e '2,$s/^nettape: //' | paste -sd, | sed 's/,/, /g'
}

only_check=${NO_INSTALL:-}
if [[ ${1:-} == --check ]]; then
    only_check=1
    shift
fi
[[ $# != 0 ]] || { sed -n 6p "$0" >&2; exit 2; }
# shellcheck disable=SC1091
distribution=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}") || distribution=
# shellcheck disable=SC2046  # words on purpose, here and below
missing=$(package_names $(missing_packages "$@"))
[[ $missing ]] || exit 0
if [[ $only_check || $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    {
        echo "nettape: these packages are missing: $missing"
        how_to_install "$@"
        [[ -z ${NO_INSTALL:-} ]] || echo "    NO_INSTALL is set: nothing was installed"
    } >&2
    exit 1
fi
echo "nettape: these packages will be installed (NO_INSTALL=1 forbids it): $missing"
export DEBIAN_FRONTEND=noninteractive
# A cache of our own: what was downloaded is removed, and nothing else. The user that apt downloads as writes there.
work=$(mktemp -d /var/cache/nettape.XXXXXX)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work"
mkdir "$work/partial"
chown _apt "$work/partial" 2>/dev/null || true
apt update
# One package that this distribution lacks must not keep it from the others.
available=$(for package in $missing; do
    if has_package "$package"; then echo "$package"; fi
done)
if [[ $available ]]; then
    # shellcheck disable=SC2086
    sizes $available
    # shellcheck disable=SC2086
    apt install -y --no-install-recommends -o "Dir::Cache::archives=$work" $available
fi
# shellcheck disable=SC2046
missing=$(package_names $(missing_packages "$@"))
if [[ $missing ]]; then
    echo "nettape: still missing: these packages cannot be had here, or do not work: $missing" >&2
    exit 1
fi
echo "nettape: installed"
