# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For what comes over the network: one failed download must not fail all tests. To be sourced.

# retry COMMAND...: at most three times, until it succeeds; its last exit status
retry() {
    local pause status
    for pause in 2 10 0; do
        status=0
        "$@" || status=$?
        if ((status == 0)); then return; fi
        sleep $pause
    done
    return $status
}
