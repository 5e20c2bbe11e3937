# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# apt with lists of its own, below build/vm, for what this machine's does not offer: other releases, other
# architectures. To be sourced, from the project's root.
# shellcheck source=tests/mirror.sh
source tests/mirror.sh
# shellcheck source=tests/retry.sh
source tests/retry.sh

# The options that give apt its lists; none for the machine's own.
apt_options=()

# use_lists NAME ARCHITECTURE RELEASE...: from here on those, kept in build/vm/NAME and brought up to date twice a day.
# If several releases have a package, the first one's is taken. Old lists will do where there is no network.
use_lists() {
    local dir=$PWD/build/vm/$1 architecture=$2 release update
    shift 2
    apt_options=(-o "Dir::State=$dir/state" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache"
        -o APT::Sandbox::User=root -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o "APT::Default-Release=$1")
    mkdir -p "$dir"/{state,cache}
    : >"$dir/status"  # nothing is installed
    [[ -z ${NO_INSTALL:-} && -z $(find "$dir/updated" -mmin -720 2>/dev/null) ]] || return 0
    for release in "$@"; do
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $release main"
    done >"$dir/sources.list"
    update=(apt-get "${apt_options[@]}" --error-on=any update)
    [[ -e $dir/updated ]] || update=(retry "${update[@]}")
    if "${update[@]}" >"$dir/log" 2>&1; then touch "$dir/updated"; fi
}

# use_arm64: the lists of what an arm64 guest takes: its files are Debian 12's, its kernel may be newer.
use_arm64() { use_lists apt-arm64 arm64 bookworm trixie; }

# download LOG PACKAGE...: into the current directory. Lists may name what the mirror has no longer.
download() {
    local log=$1
    shift
    apt-get "${apt_options[@]}" download "$@" >>"$log" 2>&1 || {
        apt-get "${apt_options[@]}" update >>"$log" 2>&1
        retry apt-get "${apt_options[@]}" download "$@" >>"$log" 2>&1
    }
}
