#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds nettape, records a few seconds of iperf3 over TCP and UDP between two network namespaces, imports, checks and
# sums up; leaves demo.tape, demo.db and the page demo.html in the current directory. `make demo` calls it.
#
#   DEMO_SECONDS=3   of each of TCP and UDP
#   DEMO_RATE=0      bits a second of each, as iperf3 takes it ("5M"); 0: no limit for TCP, 200M for UDP
#
# Everything is made below build/tmp and put into place at the end, so that an interrupted demo leaves nothing. Where
# nothing can be recorded, the tape that comes with the project is read instead.
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$project/tests/netns.sh"
# shellcheck source=tests/may_lose.sh
source "$project/tests/may_lose.sh"
# shellcheck source=tests/give_back.sh
source "$project/tests/give_back.sh"
seconds=${DEMO_SECONDS:-3}
rate=${DEMO_RATE:-0}

# The traffic: run as the recorder's command, so that the recording is as long as it.
if [[ ${1:-} == --load ]]; then
    client=$2 address=$3
    # copy PROTOCOL OPTION...
    copy() {
        ip netns exec "$client" iperf3 -c "$address" -t "$seconds" -f m "${@:2}" |
            grep -E 'sender|receiver' | sed "s/^/    $1: /"
    }
    # On a full host iperf3 was seen to lose its connection to the server at the second run.
    twice() { "$@" || { sleep 2 && "$@"; }; }
    twice copy tcp -b "$rate"
    [[ $rate != 0 ]] || rate=200M
    twice copy udp -u -b "$rate"
    exit
fi

here=$PWD
cd "$project"
# Paths within the project, as they stand on the tape too.
record=build/nettape-record
report=build/nettape-report
mkdir -p build/tmp
work=$(mktemp -d build/tmp/demo.XXXXXX)
recorder=''

cleanup() {
    local status=$?
    trap - EXIT
    [[ -z $recorder ]] || kill -TERM "$recorder" 2>/dev/null || true
    netns_remove
    [[ -z $recorder ]] || wait "$recorder" 2>/dev/null || true
    rm -rf "$work"
    give_back build
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() { printf '\n== %s\n' "$*"; }

# Earlier output of the demo may be replaced; anything else with these names is somebody's.
made_by_demo="value LIKE '%tests/demo.sh --load%'"
mark_of_page='<!-- made by tests/demo.sh -->'
is_ours() {
    if [[ $1 == demo.html ]]; then
        grep -qxF -- "$mark_of_page" "$here/$1"
    else
        [[ -x $report ]] || make -s report
        "$report" query --csv "$here/$1" "SELECT 'mine' FROM session_meta WHERE key = 'command' AND $made_by_demo" \
            2>/dev/null | grep mine >/dev/null
    fi
}
for old in demo.tape demo.db demo.html; do
    if [[ -e $here/$old ]] && ! is_ours $old; then
        echo "demo: $here/$old exists and is not from an earlier demo: move it away, or use another directory" >&2
        exit 1
    fi
done

bash tests/setup.sh build load
say "building"
make -s -j"$(nproc)" all

# can_record: or says in $why why not
can_record() {
    if ! may_lose "$record" -o "$work/trial.tape" -q -d 0.1 2>"$work/trial.log"; then
        why=$(tail -1 "$work/trial.log")
    elif ! netns_make 2>"$work/trial.log"; then
        why="no network namespaces here: $(tail -1 "$work/trial.log")"
    else
        return 0
    fi
    return 1
}

if can_record; then
    say "recording $((2 * seconds)) s of iperf3, TCP and then UDP, between the network namespaces $netns_a and $netns_b"
    "${in_b[@]}" iperf3 -s -B "$addr_b" >"$work/server.log" 2>&1 &
    disown $!
    listening() { "${in_b[@]}" ss -tln 2>/dev/null | grep ":5201 " >/dev/null; }
    for ((i = 0; i < 100; i++)); do
        if listening; then break; fi
        sleep 0.05
    done
    # In the background, so that Ctrl-C is answered at once, and by us.
    # Its advice what to do next would name a path that is gone by then.
    DEMO_SECONDS=$seconds DEMO_RATE=$rate "$record" -o "$work/demo.tape" -- bash tests/demo.sh --load "$netns_a" \
        "$addr_b" \
        2> >(sed '/^next: /d' >&2) &
    recorder=$!
    status=0
    # Records that were lost leave uncovered time, and the recorder has said so.
    may_lose wait "$recorder" || status=$?
    recorder=''
    if [[ $status != 0 ]]; then
        echo "demo: recording failed with exit status $status" >&2
        exit 1
    fi
else
    say "nothing can be recorded here: $why"
    echo "Reading the tape that comes with the project instead."
    cp -r tests/golden/demo.tape "$work/demo.tape"
fi

say "importing into SQLite"
"$report" import "$work/demo.tape" -o "$work/demo.db"
say "checking that it adds up"
"$report" check "$work/demo.tape"
say "what the network stack cost"
"$report" summary "$work/demo.db"
# Its sentence how to open the page would name a path that is gone by then.
"$report" export html "$work/demo.tape" -o "$work/demo.html" 2>"$work/html.log" || { cat "$work/html.log" >&2; exit 1; }
echo "$mark_of_page" >>"$work/demo.html"

give_back "$work"
for made in demo.tape demo.db demo.html; do
    rm -rf "${here:?}/$made"
    mv "$work/$made" "$here/$made"
done
bin=build
[[ $here == "$project" ]] || bin=$(printf %q "$project/build")
cat <<END

== demo.tape, demo.db and demo.html are in $here. Try next:

  $bin/nettape-report info demo.tape
      the contents of the tape, how it was recorded, and what it does not cover
  $bin/nettape-report query demo.db "SELECT * FROM net_cost_process LIMIT 10"
      the processes that cost the network stack most; any SQL goes, in plain sqlite3 too
  sudo $bin/nettape-record -o mine.tape -d 10 && $bin/nettape-report summary mine.tape
      the same for this host's own traffic

Open demo.html in a browser: xdg-open $(printf %q "$here/demo.html")
It is one file and needs no network. From another machine: scp $HOSTNAME:$(printf %q "$here/demo.html") .
END
