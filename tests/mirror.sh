# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For what takes packages of a release that this machine's apt does not list. To be sourced.

# The mirror that this machine uses, if it is one of Debian's.
mirror() {
    local uri
    uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        grep -oE '^(URIs:|deb( \[[^]]*\])?) *https?://[^ ]*/debian/?( |$)' | grep -oE 'https?://[^ ]*' | head -1) ||
            true
    echo "${uri:-http://deb.debian.org/debian}"
}
