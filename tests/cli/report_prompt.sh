#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# query on a terminal: the prompt, its commands, errors and Ctrl-C. A terminal of its own is made by
# tests/cli/prompt.py.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is missing"
make_tape hand
"$PLAIN" import "$work/hand.tape" -o "$work/p.db" 2>/dev/null
status=0
python3 tests/cli/prompt.py "$REPORT" "$work/p.db" || status=$?
is "prompt.py" $status 0
# Without a terminal there is no prompt.
is "standard input that is a file" "$(echo 'SELECT 1 AS one' | "$REPORT" query "$work/p.db" --csv 2>&1)" "one
1"
finish
