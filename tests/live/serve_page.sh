#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The live page of nettape-serve in a browser, while tapes are recorded (tests/browser/live_page.js): it moves, pauses,
# zooms, survives a restart of the server and the tape's end, and shows the next tape. Then it shows what the tape has.
#
# check-all: it needs a browser
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
serve=build/nettape-serve
[[ -x $serve ]] || skip "nettape-serve is not made here: bash tests/setup.sh serve"
# shellcheck source=tests/browser/needs.sh
source tests/browser/needs.sh
pictures=build/screenshots
tapes=$work/tapes
port=0 n_tapes=0
mkdir -p $pictures "$tapes"

serve_start() {
    : >"$work/said"
    "$serve" "$tapes" -l "127.0.0.1:$port" --token-file "$work/token" >"$work/said" &
    server=$!
    keep "$server"
    wait_for 60 grep -q '^nettape-serve: http' "$work/said"
    port=$(sed -nE 's|^nettape-serve: http://127.0.0.1:([0-9]+)/.*|\1|p' "$work/said")
}
serve_stop() { kill -TERM "$server" && wait "$server"; }
record_start() {
    n_tapes=$((n_tapes + 1))
    recording_start "$tapes/$n_tapes.tape"
}
record_stop() { recording_stop >/dev/null; }
value() { "$report" query "$tapes/$n_tapes.tape" "$1" --csv | tail -n +2; }

flood_start "$(scaled 20000)"
record_start
serve_start
# The browser's test asks for what is to happen.
coproc page { exec timeout 300 node tests/browser/live_page.js "$chromium" \
    "http://127.0.0.1:$port/?token=$(<"$work/token")" "$pictures/live.png"; }
page_pid=$page_PID
answers=${page[0]} asks=${page[1]}
while read -r word rest <&"$answers"; do
    case $word in
    do)
        $rest
        echo done >&"$asks" || break
        ;;
    uuid) uuid=$rest ;;
    shown) shown+=$rest$'\n' ;;
    *)
        echo "$word $rest"
        [[ $word != FAIL: ]] || failures=$((failures + 1))
        ;;
    esac
done
status=0
wait "$page_pid" || status=$?
is "the browser's test ends well" "$status" 0
is "the tape that is shown" "${uuid:-}" "$(value "SELECT uuid FROM session")"
is "time of each owner" "$(LC_ALL=C sort <<<"${shown%$'\n'}")" \
    "$(value "SELECT owner || ' ' || sum(spent_ns) FROM cpu_cost GROUP BY owner" | LC_ALL=C sort)"
finish
