# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For what comes over the network: one failed download must not fail all tests. To be sourced.

# retry COMMAND...: until it succeeds, at most three times, with RETRY_PAUSES (2 and 10 s) between; its last exit status
retry() {
    local pause status
    for pause in ${RETRY_PAUSES:-2 10} ''; do
        status=0
        "$@" || status=$?
        [[ $status != 0 && $pause ]] || return $status
        sleep "$pause"
    done
}
