#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The output of flame --folded in speedscope's own page: tests/browser/speedscope.js.
#
# check-all: it needs a browser
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/browser/needs.sh
source tests/browser/needs.sh
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"
page=$(bash tests/browser/speedscope.sh 2>"$work/why") || skip "$(<"$work/why")"
mkdir -p build/screenshots

# Names with what the format is made of, and with what pages are.
"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/s.db" >/dev/null 2>&1
sqlite3 "$work/s.db" "UPDATE symbol SET name = 'a; b 17' || char(10) || '<script>document.title = 1</script> ü'
    WHERE id = 4;
    UPDATE stack_sample SET owner = 'net_rx', ts = (SELECT start_ts FROM session) + 10105000 + rowid
        WHERE stack_id IN (1, 2, 9);
    UPDATE stack_sample SET owner = 'send' WHERE stack_id = 7"
report 0 flame "$work/s.db" --folded --owner network,hardirq,task
cp "$work/out" "$work/flood.folded"
has "the name is there" "$out" "<script>document.title = 1</script> ü"
status=0
timeout 800 node tests/browser/speedscope.js "$chromium" "$page" "$work/flood.folded" \
    build/screenshots/speedscope.png >"$work/log" 2>&1 || status=$?
cat "$work/log"
[[ $status != 77 ]] || skip "$(tail -1 "$work/log")"
is "the browser's test ends well" "$status" 0
failures=$((failures + $(grep -c '^FAIL' "$work/log" || true)))
finish
