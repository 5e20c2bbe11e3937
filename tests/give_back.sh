# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Under sudo, gives the files that root made to the user who called it. Else that user could not build there again. To
# be sourced.

# give_back PATH...: what is root's there becomes that user's
give_back() {
    local user=${SUDO_UID:-${PKEXEC_UID:-}}
    [[ $(id -u) == 0 && $user =~ ^[1-9][0-9]*$ ]] || return 0
    find "$@" -xdev -uid 0 -execdir chown -h "$user:$(id -g "$user" 2>/dev/null || echo "$user")" {} + 2>/dev/null ||
        true
}
