# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by tests of nettape-serve on tapes that nobody records any more. To be sourced behind tests/cli/lib.sh, which
# defines $work and the functions used here.
# shellcheck disable=SC2154
[[ -x build/nettape-serve ]] || skip "nettape-serve is not made here: bash tests/setup.sh serve"
built build/san/nettape-serve
for tool in curl python3; do command -v $tool >/dev/null || skip "no $tool"; done
server=
stop() { [[ -z $server ]] || { kill "$server" && wait "$server"; } 2>/dev/null || true; server=; }
trap 'stop; rm -rf --one-file-system "$work"' EXIT

# start PROGRAM ARGUMENT...: until it answers; $url is its metrics then, with the token if that was printed
start() {
    rm -f "$work/said" # what the one before said
    "$@" >"$work/said" 2>"$work/complained" &
    server=$!
    for _ in $(seq 1000); do
        url=$(sed -nE 's|^nettape-serve: (http[^ ]*/)(\?[^ ]*) .*|\1metrics\2|p' "$work/said" 2>/dev/null || true)
        [[ $url || -S $work/socket ]] && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.02
    done
    cat "$work/complained"
    bad "nettape-serve did not start"
    finish
}
# asks STATUS CURL-ARGUMENT...: the answer is $work/answer
asks() { is "${*:2}" "$(curl -s -o "$work/answer" -w '%{http_code}' "${@:2}")" "$1"; }
has_figures() { [[ $(curl -s -o "$work/answer" -w '%{http_code}' "$@") == 200 ]]; }
wait_for_figures() {
    for _ in $(seq 1000); do
        has_figures "$@" && return
        sleep 0.02
    done
}
