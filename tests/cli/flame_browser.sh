#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A flame graph in a browser, with a real pointer and real keys: tests/browser/flame.js.
#
# check-all: it needs a browser
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/browser/needs.sh
source tests/browser/needs.sh
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"
mkdir -p build/screenshots

# Names that a browser would run, if they were not escaped.
"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/s.db" >/dev/null 2>&1
sqlite3 "$work/s.db" "UPDATE symbol SET name = '\"><script>document.title = 1</script>' WHERE id = 4;
    UPDATE stack_sample SET owner = 'net_rx', ts = (SELECT start_ts FROM session) + 10105000 + rowid
        WHERE stack_id IN (1, 2, 9);
    UPDATE stack_sample SET owner = 'send' WHERE stack_id = 7"
report 0 flame "$work/s.db" -o "$work/network.svg"
status=0
timeout 800 node tests/browser/flame.js "$chromium" "$work/network.svg" build/screenshots/flame.png >"$work/log" 2>&1 ||
    status=$?
cat "$work/log"
is "the browser's test ends well" "$status" 0
failures=$((failures + $(grep -c '^FAIL' "$work/log" || true)))
finish
