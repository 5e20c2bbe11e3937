#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nettape-report mcp: each tool says what its command says, within bounds; calls can be cancelled; garbage is answered
# or passed over (tests/cli/mcp.py).
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3"

# part PROGRAM PART TAPE
part() {
    local got
    got=$(python3 -B tests/cli/mcp.py "$2" "$1" "$3" 2>"$work/complained") || true
    if [[ $got =~ ^[1-9][0-9]*\ looked\ at$ ]]; then ok "$2: $got"; else
        bad "$2: $got $(tail -5 "$work/complained")"; fi
}
make_tape samples
make_tape wide
part "$REPORT" versions "$work/samples.tape"
part "$REPORT" tools "$work/samples.tape"
cp -r tests/golden/v1-charges.tape "$work"
report 0 import "$work/v1-charges.tape" -o "$work/v1-charges.db"
part "$REPORT" payers "$work/v1-charges.tape"
part "$REPORT" payers "$work/v1-charges.db"
part "$REPORT" bounds "$work/samples.tape"
part "$REPORT" wide "$work/wide.tape"
part "$PLAIN" memory "$work/samples.tape"
part "$REPORT" ends "$work/samples.tape"
part "$REPORT" blocked "$work/samples.tape"
part "$REPORT" garbage "$work/samples.tape"

report 1 mcp "$work/no.tape"
is "a tape that is not there" "$err" "nettape-report: $work/no.tape cannot be read: No such file or directory."
report 2 mcp "$work/samples.tape" --timeout 0
has "a timeout of nothing" "$err" "a number of seconds from 1 to 86400"
finish
