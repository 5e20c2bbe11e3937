# SPDX-License-Identifier: GPL-2.0-only
#
# needs.sh - for a test in a browser, behind the folder's lib.sh: $chromium is a Chromium, and there is node to drive it
# (devtools.js). Else the test is skipped.
# shellcheck shell=bash
for chromium in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    [[ -z $chromium ]] || ! command -v "$chromium" >/dev/null || break
    chromium=''
done
[[ -n $chromium ]] || skip "no chromium: make check-all installs it"
command -v node >/dev/null || skip "no node: make check-all installs it"
