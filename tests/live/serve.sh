#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nettape-serve on a directory of tapes while they are recorded: figures come, and go on after the server was started
# again; a recorder that is killed, and the next one, are noticed. At a tape's end /metrics has what a file of the whole
# tape has. live/followed shows that the same sums are right while the tape grows.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
serve=build/nettape-serve
[[ -x $serve ]] || skip "nettape-serve is not made here: bash tests/setup.sh serve"
type curl >/dev/null || skip "no curl"
tapes=$work/tapes
mkdir "$tapes"

serve_start() {
    "$serve" "$tapes" -l "unix:$work/socket" --queries 1h >"$work/said" 2>>"$work/complained" &
    server=$!
    keep "$server"
}
serve_stop() {
    served=0
    kill -TERM "$server"
    wait "$server" || served=$?
}
# scrape: $work/seen is the answer, and its exit status whether it has figures
scrape() { curl -sf --unix-socket "$work/socket" http://localhost/metrics -o "$work/seen"; }
value() { sed -n "s/^$1 //p" "$work/seen" 2>/dev/null; }
until_changes() {
    scrape || return
    [[ $(value nettape_complete_until_seconds) != "$before" ]]
}
session() { sed -n 's/^nettape_session_info{session="\([0-9a-f]*\)".*/\1/p' "$work/seen"; }
has_next() { scrape && [[ $(session) != "$last" ]]; }
not_whole() { scrape && [[ $(value nettape_recording_whole) == 0 ]]; }

serve_start
says_why() {
    curl -s --unix-socket "$work/socket" http://localhost/metrics -o "$work/seen"
    [[ $(<"$work/seen") == "there is no tape at $tapes yet." ]]
}
wait_for 120 says_why || bad "that there is no tape yet is not said: $(<"$work/seen")"

flood_start "$(scaled 20000)"
recording_start "$tapes/a.tape"
before=
wait_for 120 until_changes
before=$(value nettape_complete_until_seconds)
wait_for 120 until_changes
at_least "it goes on" "$(value nettape_complete_until_seconds)" "$before"
# SQL, up to what is on the tape now: no time of a CPU is missing before.
curl -s --unix-socket "$work/socket" http://localhost/api/query -o "$work/rows" --data-binary "
    SELECT total(lacks) = 0 AS is_whole FROM (SELECT sum(dur) - max(ts + dur) + min(ts) AS lacks FROM cpu_slice
        WHERE ts > (SELECT end_ts - 500000000 FROM session) GROUP BY cpu)"
is "SQL" "$(grep -o '"rows":.*"is_cut":false' "$work/rows")" '"rows":[[1]],"is_cut":false'
is "its problems" "$(grep -o 'still at work' "$work/rows")" "still at work"
serve_stop
is "a signal ends it" "$served" 0
serve_start
wait_for 120 until_changes
at_least "and goes on after a restart" "$(value nettape_complete_until_seconds)" "$before"
recorder_kill
wait_for 120 not_whole
is "a killed recorder is told" "$(value nettape_recording_whole)" 0
at_least "also on stderr" "$(grep -c 'a.tape: ' "$work/complained")" 1

# The next one, at the same place.
last=$(session)
rm -rf "$tapes/a.tape"
recording_start "$tapes/a.tape"
wait_for 120 has_next
recording_stop
"$report" export prometheus "$tapes/a.tape" -o "$work/whole.prom" 2>/dev/null
# But for the label that tells the hosts of files apart, and groups, which are named as they come.
sed -E -e 's/host="[^"]*",?//; s/\{\}//' "$work/whole.prom" >"$work/wanted"
until=$(sed -n 's/^nettape_complete_until_seconds //p' "$work/wanted")
is_at_end() { scrape && [[ $(value nettape_complete_until_seconds) == "$until" ]]; }
wait_for 120 is_at_end
is "CPUs and owners" "$(grep -c '^nettape_cpu_seconds_total{' "$work/seen")" \
    "$(grep -c '^nettape_cpu_seconds_total{' "$work/wanted")"
grep -vE '^nettape_(program|cgroup|port|net_rx)_' "$work/seen" >"$work/ungrouped"
is "figures that the file does not have" "$(grep -vxFf "$work/wanted" "$work/ungrouped" | head -5)" ""
is "what it served" "$(sed -n 's/^nettape-serve: //p' "$work/said" | sed '1d')" "follows $tapes/a.tape
follows $tapes/a.tape"
serve_stop
is "the socket is gone" "$(ls "$work"/socket 2>/dev/null)" ""
finish
