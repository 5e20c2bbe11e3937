#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of export html and the pictures of flame and latency at 1400, 800 and 500 pixels, and at 1400 in the dark:
# nothing overlaps or is cut, all text has a contrast of at least 4.5 (tests/browser/layouts.js). As root also of
# a recording of this host.
#
# check-all: it needs a browser
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/may_lose.sh
source tests/may_lose.sh
# shellcheck source=tests/browser/needs.sh
source tests/browser/needs.sh
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes databases"
pictures=build/screenshots
mkdir -p $pictures
files=()

# file NAME ARGUMENT...: what the program writes is looked at
file() {
    report 0 "${@:2}" -o "$work/$1"
    files+=("$work/$1")
}

# Faults, and what is none.
cat >"$work/wrong.html" <<'END'
<!doctype html><meta charset="utf-8"><style>body { margin: 0; background: #fff; color: #222;
font: 14px/1.4 sans-serif } div { position: absolute; white-space: nowrap }</style>
<div style="top: 20px; left: 20px">one</div><div style="top: 24px; left: 30px">other</div>
<div style="top: 60px; left: 20px; width: 40px; overflow: hidden"><span>cut text</span></div>
<div style="top: 100px; left: 20px; color: #999">faint</div>
<div style="top: 140px; left: 20px; width: 200px; height: 30px; background: #333"></div>
<div style="top: 144px; left: 30px">behind</div>
<div style="top: 180px; left: 20px; width: 60px; background: #eee">longer than its box</div>
<svg style="position: absolute; top: 220px; left: 20px" width="60" height="20">
<text x="0" y="14">longer than its picture</text></svg>
<div style="top: 260px; left: 20px">right <small style="color: #666">right as well</small></div>
<div style="top: 282px; left: 20px">right below</div>
<div style="top: 300px; left: 900px; width: 10px; height: 10px"></div>
END
files+=("$work/wrong.html")

file demo.html export html tests/golden/demo.tape
make_tape samples 20
"$PLAIN" import "$work/samples.tape" -o "$work/stacks.db" >/dev/null
stack_samples "$work/stacks.db" 100000
file stacks.html export html "$work/stacks.db"
make_tape markup
file markup.html export html "$work/markup.tape"
# Names that are long, and of letters that are wide.
"$PLAIN" import tests/golden/v1-stacks.tape -o "$work/s.db" >/dev/null 2>&1
sqlite3 "$work/s.db" "UPDATE session SET host = 'W' || replace(hex(zeroblob(60)), '0', 'W');
    UPDATE process SET name = 'MMMMMMMMMMMMMMM'"
file flame.svg flame "$work/s.db"
file flame-process.svg flame "$work/s.db" --by process
file flame-diff.svg flame --diff "$work/s.db" "$work/s.db"
report 0 latency "$work/stacks.db" --svg "$work/latency.svg"
files+=("$work/latency.svg")
sqlite3 "$work/stacks.db" "UPDATE session SET host = (SELECT 'W' || replace(hex(zeroblob(60)), '0', 'W'))"
report 0 latency "$work/stacks.db" --from 3.0001ms --to 3.0003ms --hook ip-start --svg "$work/latency-short.svg"
files+=("$work/latency-short.svg")

# A recording of this host.
if [[ $(id -u) == 0 && -x build/nettape-record ]] &&
    may_lose timeout 300 build/nettape-record -q -d 1 --probes default,stacks,latency,drops -o "$work/live.tape" -- \
        sh -c 'for i in 1 2 3 4 5; do bash -c ": </dev/tcp/127.0.0.1/1" 2>/dev/null; done; :' \
        >/dev/null 2>"$work/why"; then
    file live.html export html "$work/live.tape"
else
    echo "note: no recording of this host: $(head -1 "$work/why" 2>/dev/null || echo not root)"
fi

status=0
timeout 800 node tests/browser/layouts.js "$chromium" $pictures "${files[@]}" >"$work/log" 2>&1 || status=$?
cat "$work/log"
if [[ $status == 124 ]] && ! grep -q '^FAIL' "$work/log"; then
    skip "this machine is too busy: $(grep -c '^ok' "$work/log") looks in 270 seconds, all of them good"
fi
is "the browser's test ends well" "$status" 0
failures=$((failures + $(grep -c '^FAIL' "$work/log" || true)))
finish
