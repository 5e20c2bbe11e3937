#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nettape-serve, of tapes that nobody records any more: what it answers, whom it refuses, clients that it must
# withstand (tests/cli/serve.py), its Unix socket, and command lines that make no sense. live/serve_page has the page
# in a browser.
#
# apart flows: its connections are more new flows a second than a recording beside it tells apart
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/serve_lib.sh
source tests/cli/serve_lib.sh

make_tape loss
"$PLAIN" export prometheus "$work/loss.tape" -o "$work/whole.prom"
# Of a file, but for the label that tells hosts apart.
sed -E -e 's/host="[^"]*",?//; s/\{\}//' "$work/whole.prom" >"$work/wanted"

start build/san/nettape-serve "$work/loss.tape" -l 0 --host good.example
wait_for_figures "$url"
# A scrape has what every recording has, and names only groups that cost something.
is "figures of the file" "$(grep -c '^nettape_cpu_seconds_total{' "$work/answer")" \
    "$(grep -c '^nettape_cpu_seconds_total{' "$work/wanted")"
grep -vE '^nettape_(program|cgroup|port)_' "$work/answer" >"$work/ungrouped"
nothing "of which none differs" "$(grep -vxFf "$work/wanted" "$work/ungrouped")"
bare=${url%\?*} token=${url#*token=}
asks 401 "$bare"
asks 401 "$bare?token=${token:1}"
asks 401 "$bare?token=x$token"
asks 401 -H "Authorization: Bearer wrong" "$bare"
asks 200 -H "Authorization: Bearer $token" "$bare"
asks 403 -H "Host: evil.example" "$url"
asks 200 -H "Host: good.example:80" "$url"
asks 403 -0 -H "Host:" "$url"
asks 404 "${url/metrics/other}"

# The page holds no data; what it asks for is what the tape has.
asks 200 "${url/metrics/}"
has "a page" "$(<"$work/answer")" "fetch("
asks 401 "${bare/metrics/}"
asks 401 "${bare/metrics/live.json?window=60}"
asks 404 "${url/metrics/live.json}&window=61"
asks 200 "${url/metrics/live.json}&window=60"
"$PLAIN" query "$work/loss.tape" "SELECT cpu, owner, ts, dur FROM cpu_slice" --csv >"$work/slices"
is "each step of the page's chart" "$(python3 -B tests/cli/serve_window.py "$work/answer" "$work/slices" \
    "$("$PLAIN" query "$work/loss.tape" "SELECT start_ts FROM session" --csv | tail -1)")" "done"
asks 404 "${url/metrics/..%2f..%2fetc%2fpasswd}"
asks 405 -X POST -d "$token" "$url"
asks 405 -X OPTIONS -H "Origin: http://evil.example" "$url"
curl -s -D "$work/head" -o /dev/null -H "Origin: http://evil.example" "$url"
is "the connection ends" "$(grep -ciE '^connection: close' "$work/head")" 1
lacks "no other page may read it" "$(<"$work/head")" Access-Control
has "nor frame it" "$(<"$work/head")" "frame-ancestors 'none'"
port=${bare##*:} port=${port%/*}
hostile() { python3 -B tests/cli/serve.py "$port" "$token" "$@" 2>&1; }
is "hostile clients" "$(hostile)" "done"
stop
nothing "complaints" "$(cat "$work/complained")"

start build/nettape-serve "$work/loss.tape" -l 0 --token-file "$work/token"
token=$(<"$work/token") bare=$url port=${url##*:} port=${port%/*}
lacks "a token that is kept is not printed" "$(<"$work/said")" "$token"
wait_for_figures -H "Authorization: Bearer $token" "$url"
is "hostile clients, memory, and too many" "$(hostile "$server")" "done"
stop

# A tape that is cut is served as far as it goes.
cp -r "$work/loss.tape" "$work/cut.tape"
chunk=$(find "$work/cut.tape" -name 'chunk-*' | tail -1)
truncate -s "$(($(stat -c %s "$chunk") / 2))" "$chunk"
start build/san/nettape-serve "$work/cut.tape" -l 0
wait_for_figures "$url"
is "a cut tape" "$(sed -n 's/^nettape_recording_whole //p' "$work/answer")" 0
has "which is told" "$(<"$work/complained")" "cut.tape: chunk-"
stop

# Of a directory, the tape that was written last; another one in its place, also of that name, is noticed.
touch "$work/cut.tape/now" # which comes after what loss.tape has
start build/san/nettape-serve "$work" -l 0
wait_for_figures "$url"
is "the last one" "$(sed -n '2s/^nettape-serve: //p' "$work/said")" "shows $work/cut.tape"
rm "$work/cut.tape"/*
cp "$work"/loss.tape/* "$work/cut.tape/"
has_whole() { has_figures "$url" && [[ $(sed -n 's/^nettape_recording_whole //p' "$work/answer") == 1 ]]; }
for _ in $(seq 500); do has_whole && break; sleep 0.02; done
is "the next one" "$(sed -n 's/^nettape_recording_whole //p' "$work/answer")" 1
stop

# One of an earlier server that was killed is replaced; one that is in use is not.
start build/san/nettape-serve "$work/loss.tape" -l "unix:$work/socket"
kill -KILL "$server"
wait "$server" 2>/dev/null || true
holds "a socket is left" test -S "$work/socket"
start build/san/nettape-serve "$work/loss.tape" -l "unix:$work/socket"
wait_for_figures --unix-socket "$work/socket" http://localhost/metrics
asks 200 --unix-socket "$work/socket" http://any.example/metrics
is "mode of the socket" "$(stat -c %a "$work/socket")" 600

# fails STATUS TEXT ARGUMENT...: of nettape-serve, run by $by
by=()
fails() {
    local status=0
    timeout 60 "${by[@]}" build/san/nettape-serve "${@:3}" >"$work/out" 2>"$work/err" || status=$?
    is "exit status of ${*:3}" "$status" "$1"
    has "what it says" "$(<"$work/err")" "$2"
}
fails 1 "$work/socket is in use: --listen gives another path." "$work/loss.tape" -l "unix:$work/socket"
stop
holds "the socket is gone" test ! -e "$work/socket"
fails 1 "is a text file: give the directory" "$work/wanted"
fails 1 "cannot be read" "$work/nowhere"
fails 1 "chmod g-w,o= $work/wanted" "$work/loss.tape" -l 0 --token-file "$work/wanted"
fails 1 "$work/wanted is in use" "$work/loss.tape" -l "unix:$work/wanted"
fails 2 "a tape is missing"
fails 2 "no more" "$work" "$work"
fails 2 "ADDRESS:PORT" "$work" -l nowhere
fails 2 "unknown option" "$work" --tls

# Sockets that listen already.
pass=(python3 -B tests/cli/pass_socket.py)
start "${pass[@]}" 1 0 build/san/nettape-serve "$work/loss.tape"
wait_for_figures "$url"
asks 200 "$url"
asks 401 "${url%\?*}"
stop
by=("${pass[@]}" 2 0)
fails 1 "one socket that listens must be passed on, and no more" "$work/loss.tape"
by=("${pass[@]}" 1 0)
fails 1 "leave --listen out" "$work/loss.tape" -l 0
umask 0
by=("${pass[@]}" 1 "$work/open")
fails 1 "every user reaches $work/open" "$work/loss.tape"
umask 0177
start "${pass[@]}" 1 "$work/socket" build/san/nettape-serve "$work/loss.tape"
wait_for_figures --unix-socket "$work/socket" http://localhost/metrics
asks 200 --unix-socket "$work/socket" http://localhost/metrics
stop
holds "a socket of others is theirs to remove" test -S "$work/socket"
umask 022

is "version" "$(build/san/nettape-serve --version | cut -d ' ' -f 1)" nettape-serve
finish
