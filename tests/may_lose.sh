# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For scripts that record, where it does not matter whether all records found room. To be sourced.

# may_lose COMMAND...: its exit status, but 0 for the recorder's 3: recorded, and some records found the rings full
may_lose() {
    local status=0
    "$@" || status=$?
    [[ $status != 3 ]] || status=0
    return $status
}
